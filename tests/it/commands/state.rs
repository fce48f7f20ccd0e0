//! `phileas state`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bench::{alone, bench, program, run, text_of};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/state")
        .join(name)
}

/// A copy of a fixture in a folder of its own.
fn copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cycle_state.json");
    std::fs::copy(fixture(name), &path).unwrap();
    (folder, path)
}

#[test]
fn an_old_file_is_shown_as_version_5() {
    let expected: Value = serde_json::from_str(&text_of(&fixture("v4-dict.as-v5.json"))).unwrap();
    let path = fixture("v4-dict.json");
    let ran = alone(&["state", "show", path.to_str().unwrap(), "--json"]).done();
    assert_eq!(ran.json(), expected);
    assert_eq!(ran.err, "");
    let ran = alone(&["state", "show", path.to_str().unwrap()]).done();
    assert_eq!(ran.json(), expected, "standard output holds the file alone");
    assert!(ran.err.contains("history"), "{ran:?}");
}

#[test]
fn a_corrupt_file_is_told_where_and_ends_with_5() {
    let path = fixture("corrupt-conflict-markers.json");
    let ran = alone(&["state", "show", path.to_str().unwrap(), "--json"])
        .refused(5, "corrupt-conflict-markers.json:")
        .refused(5, "state repair");
    assert_eq!(ran.out, "");
}

#[test]
fn what_cannot_be_looked_at_is_a_wrong_command_line() {
    alone(&["state", "show"]).refused(2, "--repo");
    alone(&["state", "show", "/there/is/none.json"]).refused(2, "/there/is/none.json");
    alone(&["state", "show", "/"]).refused(2, "not a regular file");
    bench()
        .run(&["state", "show"])
        .refused(1, "acme/widget has no ledger yet");
}

#[test]
fn a_repair_is_shown_first_and_written_when_told_to() {
    let (folder, path) = copy("corrupt-conflict-markers.json");
    let name = path.to_str().unwrap();
    let broken = text_of(&path);
    let ran = alone(&["state", "repair", name]).done();
    assert!(ran.out.contains("proposal: the sides"), "{ran:?}");
    assert!(ran.out.contains("nothing was written"), "{ran:?}");
    assert!(ran.err.contains("conflict markers"), "{ran:?}");
    assert_eq!(text_of(&path), broken);

    let ran = alone(&["state", "repair", name, "--write", "--json"]).done();
    let document = ran.json();
    assert_eq!(document["origin"]["kind"], "sides");
    assert_eq!(document["written"]["file"], name, "{document}");
    assert_eq!(
        document["written"]["kept"],
        format!("{name}.corrupt"),
        "{document}"
    );
    let written: Value = serde_json::from_str(&text_of(&path)).unwrap();
    assert_eq!(written, document["state"]);
    assert_eq!(
        text_of(&folder.path().join("cycle_state.json.corrupt")),
        broken
    );

    let fixed = text_of(&path);
    let ran = alone(&["state", "repair", name, "--write"]).done();
    assert!(ran.out.contains("nothing was written"), "{ran:?}");
    assert_eq!(text_of(&path), fixed);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_file_with_nothing_to_save_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    std::fs::write(&path, "{ not json").unwrap();
    alone(&["state", "repair", path.to_str().unwrap(), "--write"]).refused(5, "state rebuild");
    assert_eq!(text_of(&path), "{ not json");
}

#[test]
fn a_broken_ledger_is_repaired_from_the_branchs_own_past() {
    let bench = bench();
    let good = bench.until(|state| state.history.len() >= 2);
    let text = bench.state_text();
    bench.write_ledger(&text[..text.len() / 2]);
    bench.run(&["state", "show"]).refused(5, "state repair");
    bench.run(&["tick"]).refused(5, "");

    let ran = bench.run(&["state", "repair", "--json"]).done();
    assert_eq!(ran.json()["origin"]["kind"], "earlier");
    let head = bench.head();
    let ran = bench.run(&["state", "repair", "--write"]).done();
    assert!(ran.out.contains("committed to the branch jules"), "{ran:?}");
    assert_ne!(bench.head(), head);
    assert_eq!(bench.state().history, good.history);
    bench.tick();
    bench.run(&["state", "rebuild", "--write"]).done();
    let nothing = bench.run(&["state", "rebuild", "--write", "--json"]).done();
    assert!(nothing.json()["written"].is_null(), "{nothing:?}");
    assert!(nothing.out.contains("can be read"), "{nothing:?}");
}

/// Without answers from outside, the unknown is reported as unknown, and everything local is done.
#[test]
fn without_github_a_file_is_fixed_from_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.json");
    std::fs::write(&cut, "{ not json").unwrap();
    let (_conflict, sides) = copy("corrupt-conflict-markers.json");
    let offline = |command: &str, path: &Path| {
        let mut program = program(&["state", command, path.to_str().unwrap()]);
        program
            .env("GITHUB_REPOSITORY", "acme/widget")
            .env("GITHUB_TOKEN", "test-token")
            .env("GITHUB_API_URL", "http://127.0.0.1:1");
        run(program)
    };
    let shown = offline("show", &cut).refused(5, "could not be read");
    assert!(!shown.err.contains("was found"), "{shown:?}");
    let repair = offline("repair", &cut).refused(4, "could not be read");
    assert!(!repair.err.contains("was found"), "{repair:?}");
    offline("show", &sides).refused(5, "proposes a whole file");
    let fixed = offline("repair", &sides).done();
    assert!(fixed.out.contains("proposal: the side"), "{fixed:?}");
    assert!(fixed.err.contains("could not be read"), "{fixed:?}");
}

#[test]
fn only_what_helps_is_advised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    let name = path.to_str().unwrap();
    std::fs::write(&path, "{ not json").unwrap();
    let shown = alone(&["state", "show", name]).refused(5, "--repo OWNER/NAME");
    assert!(!shown.err.contains("proposes a whole file"), "{shown:?}");
    let (_conflict, sides) = copy("corrupt-conflict-markers.json");
    alone(&["state", "show", sides.to_str().unwrap()]).refused(5, "proposes a whole file");

    let newer = "{\"version\": 6, \"history\": {}}\n";
    std::fs::write(&path, newer).unwrap();
    for command in ["show", "repair"] {
        let ran = alone(&["state", command, name]).refused(5, "newer phileas");
        assert!(!ran.err.contains("state repair"), "{ran:?}");
    }
    let bench = bench();
    bench.write_ledger("{ not json");
    let shown = bench.run(&["state", "show"]).refused(5, "state rebuild");
    assert!(!shown.err.contains("state repair"), "{shown:?}");
    bench.write_ledger(newer);
    let head = bench.head();
    for command in ["show", "repair", "rebuild"] {
        bench.run(&["state", command]).refused(5, "newer phileas");
    }
    for command in ["repair", "rebuild"] {
        bench
            .run(&["state", command, "--write"])
            .refused(5, "newer phileas");
    }
    assert_eq!(bench.head(), head);
}

#[test]
fn a_ledger_that_was_put_back_catches_up_with_jules() {
    let bench = bench();
    bench.until(|state| state.history.len() == 1);
    let old = bench.state_text();
    let whole = bench.until(|state| state.history.len() >= 4);
    bench.write_ledger(&old);
    bench.pass(20);
    bench.run(&["tick"]).refused(5, "");

    let ran = bench.run(&["state", "rebuild"]).done();
    assert!(ran.out.contains("nothing was written"), "{ran:?}");
    assert_eq!(bench.state_text(), old);
    bench.run(&["state", "rebuild", "--write"]).done();
    let rebuilt = bench.state();
    assert_eq!(rebuilt.genesis, whole.genesis);
    let sessions = |state: &phileas_domain::state::State| -> Vec<_> {
        state
            .history
            .values()
            .map(|entry| (entry.session_id.clone(), entry.turn.clone(), entry.seq))
            .collect()
    };
    assert_eq!(sessions(&rebuilt), sessions(&whole));
    bench.tick();
}

#[test]
fn a_lost_ledger_is_rebuilt_from_the_markers() {
    let bench = bench();
    let whole = bench.until(|state| state.history.len() >= 3);
    bench.delete_ledger();
    bench.run(&["tick"]).refused(5, "");
    bench
        .run(&["state", "show"])
        .refused(5, "paused.ledger_rolled_back");
    // Without Jules' list, the file is missing, and that is all that is known.
    let mut keyless = bench.program(&["state", "show"]);
    keyless.env_remove("JULES_API_KEY");
    run(keyless).refused(1, "has no ledger yet");
    bench.run(&["state", "rebuild", "--write"]).done();
    let rebuilt = bench.state();
    assert_eq!(rebuilt.history.len(), whole.history.len());
    for (entry, before) in rebuilt.history.values().zip(whole.history.values()) {
        assert_eq!(entry.session_id, before.session_id);
        assert_eq!(entry.pr_number, before.pr_number);
    }
    bench.until(|state| state.history.len() > whole.history.len());
}

#[test]
fn what_a_newer_phileas_wrote_is_left_as_it_is() {
    let newer = "{\"version\": 6, \"history\": {}}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cycle_state.json");
    std::fs::write(&path, newer).unwrap();
    alone(&["state", "repair", path.to_str().unwrap(), "--write"]).refused(5, "upgrade");
    assert_eq!(text_of(&path), newer);

    let bench = bench();
    bench.until(|state| !state.history.is_empty());
    bench.write_ledger(newer);
    let head = bench.head();
    bench
        .run(&["state", "repair", "--write"])
        .refused(5, "upgrade");
    bench
        .run(&["state", "rebuild", "--write"])
        .refused(5, "upgrade");
    assert_eq!(bench.head(), head);
    assert_eq!(bench.run(&["tick"]).code, 5);
    let world = bench.shared.lock_world();
    let mut issues = world.github().issues(bench.repo);
    assert!(issues.any(|issue| {
        issue
            .body
            .as_ref()
            .is_some_and(|body| body.contains("upgrade this phileas"))
    }));
}
