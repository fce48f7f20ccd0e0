//! `phileas status`.

use super::bench::bench;

#[test]
fn status_shows_tracks_yield_and_budget_and_writes_nothing() {
    let bench = bench();
    let fresh = bench.run(&["status", "--json"]).done().json();
    assert_eq!(fresh["yield"]["all"]["sessions"], 0);
    bench.until(|state| state.history.len() >= 2);
    let pulls = bench.state().open_entries().count();
    let head = bench.head();
    let writes = bench.shared.world().complete_books().github_writes.len();
    let document = bench.run(&["status", "--json"]).done().json();
    assert_eq!(bench.head(), head);
    let now = bench.shared.world().complete_books().github_writes.len();
    assert_eq!(writes, now);
    assert_eq!(document["yield"]["all"]["open"], pulls);
    assert_eq!(document["budget"]["day"]["limit"], 12);
    let created = bench.shared.world().complete_books().sessions.len();
    assert_eq!(document["budget"]["key_day"]["used"], created);
    let tracks = document["tracks"].as_array().unwrap();
    let default = tracks.iter().find(|line| line["track"] == "default");
    assert!(default.unwrap()["reason"].is_string(), "{document}");

    let text = bench.run(&["status"]).done();
    for word in [
        "tracks",
        "budget",
        "yield of the last",
        "curator",
        "/12 sessions",
    ] {
        assert!(text.out.contains(word), "{word}: {text:?}");
    }
    bench.write_ledger("{ broken");
    bench.run(&["status"]).refused(5, "");
}
