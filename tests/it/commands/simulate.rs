//! `phileas simulate --repo`.

use super::bench::bench;

#[test]
fn sessions_that_were_stopped_hold_no_place_in_a_forecast() {
    let bench = bench();
    bench.tick();
    bench.run(&["tick", "--persona", "tester"]).done();
    let stopped = bench
        .run(&["pause", "--cancel-sessions", "--json"])
        .done()
        .lines();
    let archived = stopped.iter().filter(|line| line["archived"] == true);
    assert_eq!(archived.count(), 2, "{stopped:?}");
    bench.run(&["resume"]).done();
    let forecast = bench.run(&["simulate", "--json"]).done().lines();
    let summary = &forecast.last().unwrap()["summary"];
    assert!(
        summary["most_at_once"].as_u64() <= summary["max_active"].as_u64(),
        "{summary}"
    );
}
