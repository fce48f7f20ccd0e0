//! `phileas status`.

use std::process::{Command, Stdio};

use super::bench::{Bench, bench, bench_with, run};
use crate::support::Folder;
use phileas_domain::state::{HistoryEntry, Outcome, State};

/// `phileas status` at a terminal of so many columns, which `script` (of util-linux) plays.
fn at_a_terminal(bench: &Bench, columns: &str) -> Command {
    let phileas = bench.program(&["status"]);
    let line = format!("{} status", phileas.get_program().display());
    let mut terminal = Command::new("script");
    terminal
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .stdin(Stdio::null());
    for (name, value) in phileas.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }
    terminal.env("COLUMNS", columns).env("NO_COLOR", "1");
    terminal
}

/// The decision needs nothing of Jules, but the use of the key does.
#[test]
fn status_names_a_refused_key_after_what_it_knows() {
    let bench = bench();
    bench.until(|state| state.history.len() >= 2);
    let mut status = bench.program(&["status", "--json"]);
    status.env("JULES_API_KEY", "no-such-key");
    let ran = run(status).refused(3, "the Jules key came from JULES_API_KEY");
    assert_eq!(ran.json()["repo"], "acme/widget");
}

#[test]
fn status_shows_tracks_yield_and_budget_and_writes_nothing() {
    let bench = bench();
    let fresh = bench.run(&["status", "--json"]).done().json();
    assert_eq!(fresh["yield"]["all"]["sessions"], 0);
    bench.until(|state| state.history.len() >= 2);
    let open = |entry: &&HistoryEntry| entry.outcome == Some(Outcome::PrOpen);
    let pulls = bench.state().history.values().filter(open).count();
    let head = bench.head();
    let writes = bench
        .shared
        .lock_world()
        .complete_books()
        .github_writes
        .len();
    let document = bench.run(&["status", "--json"]).done().json();
    assert_eq!(bench.head(), head);
    let now = bench
        .shared
        .lock_world()
        .complete_books()
        .github_writes
        .len();
    assert_eq!(writes, now);
    assert_eq!(document["yield"]["all"]["open"], pulls);
    let live = |entry: &&HistoryEntry| entry.outcome.is_none();
    let live = bench.state().history.values().filter(live).count();
    assert!(live > 0, "one is at work");
    assert_eq!(document["yield"]["all"]["at_work"], live);
    assert_eq!(document["yield"]["all"]["other"], 0);
    assert_eq!(document["budget"]["day"]["limit"], 12);
    let created = bench.shared.lock_world().complete_books().sessions.len();
    assert_eq!(document["budget"]["key_day"]["used"], created);
    let tracks = document["tracks"].as_array().unwrap();
    let default = tracks.iter().find(|line| line["track"] == "default");
    assert!(default.unwrap()["reason"].is_string(), "{document}");

    let text = bench.run(&["status"]).done();
    for word in [
        "tracks",
        "budget",
        "yield of the last",
        "at work",
        "merged",
        "curator",
        " of 12 sessions",
    ] {
        assert!(text.out.contains(word), "{word}: {text:?}");
    }
    // Where the table has no room, each persona has a sentence, and no word is cut.
    let narrow = run(at_a_terminal(&bench, "60")).done();
    let all = narrow.out.lines().find(|line| line.starts_with("all: "));
    let sessions = format!("all: {} sessions, ", document["yield"]["all"]["sessions"]);
    assert!(all.unwrap().starts_with(&sessions), "{narrow:?}");
    let (_, yields) = narrow.out.split_once("yield of the last").unwrap();
    let widest = yields.lines().map(|line| line.chars().count()).max();
    assert!(widest.unwrap() <= 60, "{narrow:?}");
    // A column is there where it says something.
    let headings = text.out.lines().find(|line| line.contains("sessions  "));
    let headings = headings.unwrap();
    let nothing = &document["yield"]["all"];
    for (name, key) in [
        ("stuck", "stuck"),
        ("cancelled", "cancelled"),
        ("reverted", "reverted"),
        ("no-op", "no_op"),
    ] {
        assert_eq!(headings.contains(name), nothing[key] != 0, "{headings}");
    }
    bench
        .run(&["track", "pause", "default", "--reason", "release week"])
        .done();
    bench
        .run(&[
            "track",
            "pause",
            "default",
            "--reason",
            "release\u{1b}]0;x\u{7}\nweek",
        ])
        .done();
    for command in [
        &["status"][..],
        &["track", "list"],
        &["state", "show"],
        &["tick"],
    ] {
        let ran = bench.run(command).done();
        for text in [&ran.out, &ran.err] {
            let steers = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(steers), "{command:?}: {text:?}");
        }
        let row = ran.out.lines().find(|line| line.contains("release"));
        assert!(
            row.is_none_or(|row| row.contains("week")),
            "{command:?}: {ran:?}"
        );
    }
    bench
        .run(&["track", "pause", "default", "--reason", "release week"])
        .done();
    let busy = bench.run(&["status"]).done();
    assert!(
        busy.out.contains("(paused.track): release week;"),
        "{busy:?}"
    );
    bench.write_ledger("{ broken");
    let text = bench.run(&["status"]).refused(5, "");
    for word in ["? of 12 sessions", "unknown: the ledger cannot be read"] {
        assert!(text.out.contains(word), "{word}: {text:?}");
    }
    assert!(!text.out.contains("no persona has run yet"), "{text:?}");
    let ran = bench.run(&["status", "--json"]).refused(5, "");
    let document = ran.json();
    for unknown in [
        &document["yield"]["all"],
        &document["yield"]["entries"],
        &document["budget"]["day"]["used"],
        &document["budget"]["backlog"]["used"],
    ] {
        assert!(unknown.is_null(), "{document}");
    }
}

#[test]
fn what_was_archived_counts_for_the_key_as_far_as_the_ledger_knows_it() {
    let bench = bench();
    bench.tick();
    bench.run(&["pause", "--cancel-sessions"]).done();
    let document = bench.run(&["status", "--json"]).done().json();
    assert_eq!(document["budget"]["key_day"]["used"], 1, "{document}");
    assert_eq!(document["budget"]["key_day"]["at_least"], true);
    let text = bench.run(&["status"]).done();
    assert!(
        text.out
            .contains("the Jules key: at least 1 of 100 sessions"),
        "{text:?}"
    );
}

#[test]
fn a_forecast_is_told_from_an_action() {
    let bench = bench();
    let explained = bench.run(&["explain"]).done();
    assert!(explained.out.contains("would start"), "{explained:?}");
    assert!(!explained.out.contains("dispatched"), "{explained:?}");
    let status = bench.run(&["status"]).done();
    assert!(status.out.contains("would start: "), "{status:?}");
    let dry = bench.run(&["tick", "--dry-run", "--json"]).done().lines();
    assert_eq!(dry[0]["decision"], "dispatched");
    assert!(
        dry.iter()
            .all(|line| line["forecast"] == true || line["summary"]["forecast"] == true)
    );
    let done = bench.run(&["tick", "--json"]).done().lines();
    assert_eq!(done[0]["decision"], "dispatched");
    assert_eq!(done[0]["forecast"], false);
}

/// The ledger learns of it by the next tick.
#[test]
fn a_session_that_has_ended_is_not_shown_at_work() {
    let bench = bench();
    bench.tick();
    let at_work = bench.run(&["status"]).done();
    assert!(at_work.out.contains("at work since"), "{at_work:?}");
    let has_ended = |bench: &Bench| {
        bench.pass(300);
        let explained = bench.run(&["explain"]).done();
        explained.out.contains("would end") || explained.out.contains("would settle")
    };
    assert!((0..100).any(|_| has_ended(&bench)));
    let status = bench.run(&["status"]).done();
    assert!(status.out.contains("would end: "), "{status:?}");
    assert!(!status.out.contains("at work since"), "{status:?}");
}

#[test]
fn issues_that_a_tick_opens_and_closes_are_named() {
    let bench = bench();
    bench.tick();
    let whole = bench.state_text();
    bench.write_ledger("{ broken");
    let explained = bench.run(&["explain"]).refused(5, "");
    assert!(
        explained
            .out
            .contains("an issue would be opened: phileas: "),
        "{explained:?}"
    );
    let lines = bench.run(&["tick", "--json"]).refused(5, "").lines();
    let issue = lines.iter().find(|line| line["issue"].is_object()).unwrap();
    assert_eq!(issue["issue"]["did"], "opened");
    assert_eq!(lines.last().unwrap()["summary"]["issues_opened"], 1);
    let again = bench.run(&["tick"]).refused(5, "");
    assert!(!again.out.contains("opened"), "{again:?}");
    bench.write_ledger(&whole);
    let fixed = bench.run(&["tick"]).done();
    assert!(fixed.out.contains("issue #1 closed"), "{fixed:?}");
}

/// The tick that closes it goes on to the next step, and decides once more about the same look at the world.
#[test]
fn an_issue_is_closed_once() {
    let plan = "cycle = [\"curator\", \"refactor\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let folder = Folder::repository(plan, &["curator", "refactor"]);
    let bench = bench_with(|setup| setup.repo = Some(folder.path().to_owned()));
    let closes = |bench: &Bench| {
        let world = bench.shared.lock_world();
        let requests = &world.books().requests;
        requests
            .iter()
            .filter(|one| one.route.ends_with("/issues/{issue_number}"))
            .count()
    };
    let called = |state: &State| {
        let mut turns = state.tracks.values().flat_map(|track| track.turns.values());
        turns.any(|turn| turn.warned_at.is_some())
    };
    let state = bench.until(called);
    let mut elsewhere = bench.program(&["status"]);
    elsewhere.env("GITHUB_SERVER_URL", "https://git.example/");
    let shown = run(elsewhere).done();
    let page = "https://git.example/acme/widget/issues/";
    assert!(shown.out.contains(page), "{shown:?}");
    let turn = state.tracks["default"].turns.values().next().unwrap();
    let session = turn.session_id.clone().unwrap();
    bench.run(&["session", "approve", session.as_str()]).done();
    bench.pass(120);
    bench.shared.lock_world().books_mut().reset_requests();
    let lines = bench.tick().lines();
    let closed = lines.iter().filter(|line| line["issue"]["did"] == "closed");
    assert_eq!(closed.count(), 1, "{lines:?}");
    assert!(
        lines.iter().any(|line| line["decision"] == "dispatched"),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap()["summary"]["issues_closed"], 1);
    assert!(closes(&bench) <= 2, "one look at the issue, one change");
}
