//! What a person asks a tick for: joined, taken back, refused.

use phileas_world::github::Role;

use super::bench::{Bench, bench_with};
use crate::support::Folder;

/// One place, which the first tick gives to `curator`.
fn full() -> Bench {
    let plan = "cycle = [\"curator\"]\n[budget]\nmax_active = 1\n";
    let folder = Folder::repository(plan, &["curator", "auditor"]);
    let bench = bench_with(|setup| setup.repo = Some(folder.path().to_owned()));
    bench.tick();
    bench
}

#[test]
fn a_request_that_waits_is_joined_and_can_be_withdrawn() {
    let bench = full();
    let request = || bench.run(&["tick", "--persona", "auditor"]).done();
    let first = request();
    assert!(first.out.contains("waiting.budget_active"), "{first:?}");
    let head = bench.head();
    let again = request();
    assert!(again.out.contains("skipped.request_open"), "{again:?}");
    assert!(again.out.contains("request:1"), "{again:?}");
    assert_eq!(bench.state().requests.len(), 1);
    assert_eq!(bench.head(), head, "nothing new is written");
    bench
        .run(&["session", "retry", "request:1"])
        .refused(1, "and waits");
    let back = bench.run(&["session", "cancel", "request:1"]).done();
    assert!(
        back.out.contains("`auditor` is no longer requested"),
        "{back:?}"
    );
    let back = bench.run(&["session", "cancel", "request:1"]).done();
    assert!(back.out.contains("over already, as cancelled"), "{back:?}");
    bench
        .run(&["session", "cancel", "request:2"])
        .refused(2, "nor a request `request:2`");
    let idle = bench.run(&["tick"]).done();
    assert!(!idle.out.contains("request:1"), "{idle:?}");
}

#[test]
fn a_request_at_work_is_named_like_its_turn() {
    let plan = "[schedules]\nauditor = \"manual\"\n";
    let folder = Folder::repository(plan, &["auditor"]);
    let bench = bench_with(|setup| setup.repo = Some(folder.path().to_owned()));
    bench.run(&["tick", "--persona", "auditor"]).done();
    let shown = bench
        .run(&["session", "show", "request:1", "--json"])
        .done();
    assert_eq!(shown.json()["track"], "request:1");
    bench.run(&["session", "cancel", "request:1"]).done();
    let mut state = bench.state();
    assert!(state.tracks["request:1"].turns.is_empty());
    let again = ["session", "retry", "request:1"];
    bench.run(&again).done();
    bench
        .run(&again)
        .refused(1, "`auditor` is at work already, as request:2");
    // The text of an issue comes from a request there.
    for request in state.requests.values_mut() {
        request.thread = Some(7);
    }
    bench.write_ledger(&phileas_domain::state::codec::save(&state));
    bench
        .run(&again)
        .refused(1, "comment `/phileas retry` on #7");
}

#[test]
fn a_refused_request_does_not_end_as_done() {
    let bench = full();
    bench.run(&["pause", "--cancel-sessions"]).done();
    for request in [
        &["tick", "--persona", "auditor"][..],
        &["tick", "--track", "default"],
        &["tick", "--all"],
        &["explain", "--persona", "auditor"],
    ] {
        let ran = bench.run(request);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.out.contains("paused.state"), "{ran:?}");
        let said =
            "refused: this request starts nothing: a command paused the repository (paused.state)";
        assert!(ran.err.contains(said), "{ran:?}");
    }
    let due = bench.run(&["tick"]).done();
    assert!(!due.err.contains("refused"), "{due:?}");
    assert!(bench.state().requests.is_empty(), "no request is recorded");
    bench.run(&["resume"]).done();
    bench.run(&["track", "pause", "default"]).done();
    let ran = bench.run(&["tick", "--track", "default"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    bench.run(&["tick", "--persona", "auditor"]).done();
}

/// What other people asked for on issues, and may not, is answered there; a run that asks for something
/// else does not fail by it.
#[test]
fn what_is_refused_to_others_fails_no_run() {
    let plan = "cycle = [\"curator\"]\n[budget]\nmax_active = 5\ndaily_sessions = 9\nreserve_for_people = 0\n";
    let folder = Folder::repository(plan, &["curator", "auditor"]);
    let bench = bench_with(|setup| setup.repo = Some(folder.path().to_owned()));
    bench.tick();
    let says = |body: &str, who: &str| {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let issue = github.open_issue(bench.repo, "It is slow", "Please.", &[], who, now);
        github.comment(bench.repo, issue, body, who, now);
        issue
    };
    let label = |issue: u64, label: &str, who: &str| {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        github.set_role(bench.repo, "triager", Role::Triage);
        github.add_label(bench.repo, issue, label, who, now);
    };
    for ask in [
        &["--persona", "auditor"][..],
        &["--track", "default"],
        &["--all"],
        &[],
    ] {
        // An account that may not ask, a label of one that may only label, and a mistyped command of a writer.
        says("/phileas run auditor", "outsider");
        says("/phileas stauts", "maintainer");
        let issue = says("It is slow indeed.", "outsider");
        label(issue, "phileas:auditor", "triager");
        for command in ["explain", "tick"] {
            let ran = bench.run(&[&[command], ask].concat()).done();
            assert!(ran.out.contains("refused"), "{ran:?}");
        }
    }
    // What this call itself asked for and cannot have is another matter.
    says("/phileas run auditor", "outsider");
    let ran = bench.run(&["tick", "--persona", "absent"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("there is no persona `absent`"), "{ran:?}");
}

/// A pass that is requested in a paused track does not begin, and the request is not recorded.
#[test]
fn a_pass_is_refused_where_its_track_is_paused() {
    let folder = Folder::empty();
    folder.write("README.md", "# Widget\n");
    let config = "[workflow]\ncron = \"17 2 * * *\"\n\n[observers]\nroles = [\"docs\"]\n";
    folder.write(".jlo/config.toml", config);
    let bench = bench_with(|setup| setup.repo = Some(folder.path().to_owned()));
    bench.tick();
    let pause = ["track", "pause", "layers", "--reason", "release week"];
    bench.run(&pause).done();
    let enter = ["--entry-point", "observers"];
    for command in ["tick", "explain"] {
        let ran = bench.run(&[&[command], &enter[..]].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.out.contains("release week"), "{ran:?}");
        let resume = "phileas track resume layers";
        assert!(ran.out.contains(resume), "{ran:?}");
    }
    // What was not requested is not refused.
    bench.run(&["tick"]).done();
    assert!(bench.shared.lock_world().books().sessions.is_empty());
    bench.run(&["track", "resume", "layers"]).done();
    bench.run(&[&["tick"], &enter[..]].concat()).done();
    assert_eq!(bench.shared.lock_world().books().sessions.len(), 1);
}
