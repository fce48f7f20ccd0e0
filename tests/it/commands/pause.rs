//! `phileas pause`, with and without `--cancel-sessions`, and `phileas resume`.

use phileas_domain::state::{Outcome, codec};

use super::bench::{bench, run};

#[test]
fn everything_of_ours_stops_and_goes_on() {
    let bench = bench();
    bench.until(|state| !state.history.is_empty());
    let lines = bench
        .run(&["pause", "--cancel-sessions", "--json"])
        .done()
        .lines();
    assert_eq!(lines[0]["paused"], true);
    let archived = lines.iter().filter(|line| line["archived"] == true).count();
    assert_eq!(archived, 1, "{lines:?}");
    let ended: Vec<_> = lines
        .iter()
        .filter(|line| line["ended"].is_string())
        .collect();
    assert_eq!(ended.len(), 1, "{lines:?}");
    assert_eq!(ended[0]["outcome"], "cancelled");
    // The ledger knows at once, although Jules' listing leaves archived sessions out.
    let state = bench.state();
    let turns = state.tracks.values().map(|track| track.turns.len());
    assert_eq!(turns.sum::<usize>(), 0);
    let newest = state.history.values().next_back().unwrap();
    assert_eq!(newest.outcome, Some(Outcome::Cancelled));
    assert_eq!(newest.note, None);
    let status = bench.run(&["status"]).done();
    assert!(!status.out.contains("not in Jules' listing"), "{status:?}");
    let pause = state.paused.clone().unwrap();
    assert_eq!(
        pause.reason.as_deref(),
        Some("phileas pause --cancel-sessions")
    );
    assert!(pause.at.is_some());

    let head = bench.head();
    let again = bench.run(&["pause", "--cancel-sessions"]).done();
    assert!(
        again.out.contains("phileas has no live session here"),
        "{again:?}"
    );
    assert!(
        again
            .out
            .starts_with("acme/widget is paused; `phileas resume` ends it\n"),
        "{again:?}"
    );
    assert_eq!(bench.head(), head, "the pause is written once");

    let ran = bench.tick();
    assert!(ran.out.contains("paused.state"), "{ran:?}");
    let created = bench.shared.lock_world().complete_books().sessions.len();
    bench.pass(60);
    bench.tick();
    let now = bench.shared.lock_world().complete_books().sessions.len();
    assert_eq!(created, now, "nothing starts");

    bench.run(&["resume"]).done();
    assert_eq!(bench.state().paused, None);
    let ran = bench.run(&["resume"]).done();
    assert!(ran.out.contains("nothing to resume"), "{ran:?}");
    bench.until(|state| state.history.len() > usize::from(created > 0));
}

#[test]
fn a_pause_alone_leaves_sessions_alive() {
    let bench = bench();
    let ran = bench.run(&["pause"]);
    assert_eq!(ran.code, 1, "nothing holds a pause yet: {ran:?}");
    assert!(
        ran.err
            .contains("NOT paused: acme/widget has no ledger yet"),
        "{ran:?}"
    );
    let mut command = bench.program(&["pause"]);
    command.env("PHILEAS_PAUSED", "1");
    let ran = run(command).done();
    assert!(
        ran.out
            .contains("paused by the variable PHILEAS_PAUSED; there is no ledger yet"),
        "{ran:?}"
    );
    assert_eq!(ran.err, "");
    assert_eq!(
        bench.run(&["resume"]).code,
        1,
        "the same cause has the same code"
    );
    let track = bench.run(&["track", "pause", "default"]);
    assert_eq!(track.code, 1, "{track:?}");
    bench.until(|state| !state.history.is_empty());
    let live = bench.state().tracks["default"].turns[""].session_id.clone();
    let lines = bench.run(&["pause", "--json"]).done().lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["paused"], true);
    let state = bench.state();
    let pause = state.paused.clone().unwrap();
    assert_eq!(pause.reason.as_deref(), Some("phileas pause"));
    assert_eq!(state.tracks["default"].turns[""].session_id, live);
    let ran = bench.tick();
    assert!(ran.out.contains("paused.state"), "{ran:?}");
    bench.run(&["resume"]).done();
    assert_eq!(bench.state().paused, None);
}

#[test]
fn resume_does_not_wait_for_a_quota() {
    let bench = bench();
    bench.until(|state| !state.history.is_empty());
    let mut state = bench.state();
    let now = bench.shared.lock_world().now();
    state.budget.paused_until = Some(now + jiff::SignedDuration::from_hours(9));
    bench.write_ledger(&codec::save(&state));
    let line = bench.run(&["resume", "--json"]).done().json();
    assert_eq!(line["resumed"], false);
    assert!(line["quota_retried"].is_string(), "{line}");
    assert_eq!(bench.state().budget.paused_until, None);
    let line = bench.run(&["resume", "--json"]).done().json();
    assert!(line["quota_retried"].is_null(), "{line}");
}

#[test]
fn a_ledger_that_cannot_be_read_does_not_keep_sessions_alive() {
    let bench = bench();
    bench.until(|state| !state.history.is_empty());
    bench.write_ledger("{ broken");
    let ran = bench.run(&["pause", "--cancel-sessions", "--json"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    let lines = ran.lines();
    assert_eq!(lines[0]["paused"], false);
    assert_eq!(lines[1]["archived"], true);
}

#[test]
fn a_repository_without_a_ledger_is_not_said_to_stand_still() {
    let bench = bench();
    let ran = bench.run(&["pause", "--cancel-sessions"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("NOT paused"), "{ran:?}");
    assert!(ran.err.contains("phileas:pause"), "{ran:?}");
}

/// For the pause GitHub is enough; what Jules would have had to do is named, and has the exit code of its key.
#[test]
fn the_brake_needs_no_jules_key() {
    for key in [None, Some("no-such-key")] {
        let bench = bench();
        bench.until(|state| !state.history.is_empty());
        let live = bench.state().tracks["default"].turns[""].session_id.clone();
        let mut command = bench.program(&["pause", "--cancel-sessions", "--json"]);
        match key {
            None => command.env_remove("JULES_API_KEY"),
            Some(key) => command.env("JULES_API_KEY", key),
        };
        let ran = run(command).refused(3, "JULES_API_KEY");
        assert!(bench.state().paused.is_some(), "{ran:?}");
        let lines = ran.lines();
        assert_eq!(lines[0]["paused"], true);
        assert_eq!(lines[1]["archived"], false);
        assert_eq!(lines[1]["session_id"], live.unwrap().as_str());
    }
}

#[test]
fn a_brake_that_does_not_reach_github_says_that_nothing_is_paused() {
    let bench = bench();
    for token in [None, Some("no-such-token")] {
        let mut command = bench.program(&["pause", "--cancel-sessions"]);
        match token {
            None => command.env_remove("GITHUB_TOKEN"),
            Some(token) => command.env("GITHUB_TOKEN", token),
        };
        let ran = run(command).refused(3, "GITHUB_TOKEN");
        assert!(ran.err.starts_with("error: NOT paused: "), "{ran:?}");
        assert!(ran.err.contains("PHILEAS_PAUSED"), "{ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    }
    // The variable of a repository that does not exist pauses nothing.
    let mut command = bench.program(&["pause", "--repo", "acme/wigdet"]);
    command.env_remove("GITHUB_REPOSITORY");
    let ran = run(command).refused(2, "NOT paused: ");
    assert!(!ran.err.contains("PHILEAS_PAUSED"), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
}
