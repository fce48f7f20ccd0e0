//! `phileas track`.

use phileas_domain::model::PersonaId;
use serde_json::Value;

use super::bench::bench;

#[test]
fn the_pointer_is_moved_and_what_runs_next_is_said() {
    let bench = bench();
    bench
        .run(&["track", "set", "default", "1"])
        .refused(1, "no ledger");
    bench.until(|state| {
        let track = state.tracks.get("default");
        track.is_some_and(|track| track.turns.is_empty() && track.seq == 1)
            || !state.history.is_empty()
    });
    let live = bench.state().tracks["default"].turns.len();
    if live > 0 {
        bench
            .run(&["track", "set", "default", "0"])
            .refused(1, "is under way");
    }
    // Held up by a pause, the track stands between two steps.
    bench.run(&["track", "pause", "default"]).done();
    let state = bench.until(|state| state.tracks["default"].turns.is_empty());
    let ran = bench.run(&["track", "set", "default", "tester"]).done();
    assert!(ran.out.contains("is 2 (tester)"), "{ran:?}");
    assert_eq!(
        bench.state().tracks["default"].seq,
        state.tracks["default"].seq
    );
    bench
        .run(&["track", "set", "default", "9"])
        .refused(2, "3 steps, from 0 to 2");
    bench
        .run(&["track", "set", "defualt", "1"])
        .refused(2, "did you mean `default`?");
    bench
        .run(&["track", "set", "default", "testr"])
        .refused(2, "did you mean `tester`?");
    bench.run(&["track", "resume", "default"]).done();
    let state = bench.until(|state| !state.tracks["default"].turns.is_empty());
    let turn = state.tracks["default"].turns.values().next().unwrap();
    assert_eq!(turn.persona_id, PersonaId::from("tester"));
}

#[test]
fn tracks_and_schedules_are_paused_and_listed() {
    let bench = bench();
    bench.tick();
    bench
        .run(&["track", "pause", "default", "--reason", "release week"])
        .done();
    bench.run(&["track", "pause", "schedule:auditor"]).done();
    bench
        .run(&["track", "pause", "schedule:auditr"])
        .refused(2, "did you mean `schedule:auditor`?");
    let head = bench.head();
    bench.run(&["track", "pause", "default"]).done();
    assert_eq!(
        bench.head(),
        head,
        "what is paused already is left as it is"
    );

    let lines = bench.run(&["track", "list", "--json"]).done().lines();
    let of = |name: &str| -> Value {
        let found = lines.iter().find(|line| line["track"] == name);
        found.unwrap().clone()
    };
    assert_eq!(of("default")["paused"]["reason"], "release week");
    assert!(of("default")["next"]["index"].is_u64(), "{lines:?}");
    assert!(of("default")["next"]["step"].is_string(), "{lines:?}");
    assert!(of("schedule:auditor")["paused"].is_object());
    assert_eq!(of("schedule:auditor")["due"], "2026-01-05T04:30:00Z");
    let table = bench.run(&["track", "list"]).done();
    assert!(table.out.contains("paused: release week"), "{table:?}");

    let ran = bench.run(&["explain", "--json"]).done();
    assert!(ran.out.contains("paused.track"), "{ran:?}");
    let ran = bench.run(&["track", "resume", "default"]).done();
    assert_eq!(ran.out, "`default` resumed\n");
    let ran = bench.run(&["track", "resume", "default"]).done();
    assert_eq!(ran.out, "`default` was not paused; nothing changed\n");
    bench.run(&["track", "resume", "schedule:auditor"]).done();
    let state = bench.state();
    assert!(state.tracks.values().all(|track| track.paused.is_none()));
}
