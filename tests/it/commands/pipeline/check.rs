//! `pipeline check`: form, exit codes, and the scope as git tells it.

use super::{PASSED, PLAN, WORKER, commit, git, on, repository, write};

#[test]
fn findings_have_the_form_that_scripts_know() {
    let folder = repository();
    on(&folder, &["check", "--stage", "plan"])
        .refused(2, "pipeline directory not found: .pipeline/X-1");
    write(&folder, "plan", PLAN).done();
    let passed = on(&folder, &["check", "--stage", "plan"]).done();
    assert_eq!(
        passed.out,
        "All invariants passed for stage 'plan' - PASS\n"
    );
    let two = PLAN.replace("[\"src/parse.rs\"]", "[\"src/parse.rs\", \"src/b.rs\"]");
    write(&folder, "plan", &two).done();
    let failed = on(&folder, &["check", "--stage", "plan"]);
    assert_eq!(failed.code, 1);
    assert_eq!(
        failed.out,
        "[ERROR] file_has_step: plan.json:4:5: no step names `src/b.rs`; name it in the step that touches it\n\n1 error(s), 0 warning(s) - FAIL\n"
    );
    let lines = on(&folder, &["check", "--stage", "plan", "--json"]).lines();
    assert_eq!(
        (&lines[0]["check"], &lines[0]["line"]),
        (&"file_has_step".into(), &4.into())
    );
    write(
        &folder,
        "test-result",
        &PASSED
            .replace("PASS\"}}", "PASS\"}}, \"phase_2\": null, \"verdict_of\": 1")
            .replace("\"verdict\": \"PASS\"", "\"verdict\": \"SKIP\""),
    )
    .done();
    let warned = on(&folder, &["check", "--stage", "test"]).done();
    assert!(
        warned
            .out
            .ends_with("\n\n1 warning(s) - PASS with warnings\n"),
        "{warned:?}"
    );
    on(&folder, &["check", "--stage", "deploy"]).refused(2, "possible values: plan, implement");
}

/// The scope: committed, staged, changed and new files count; paths are never quoted; where the caller stands does not
/// matter.
#[test]
fn the_scope_is_what_git_sees_since_the_branch_began() {
    let folder = repository();
    write(&folder, "plan", PLAN).done();
    write(&folder, "worker-result", WORKER).done();
    let check = ["check", "--stage", "implement"];
    let nothing = on(&folder, &check).done();
    assert!(
        nothing
            .out
            .contains("[WARNING] scope_missing: plan.json:3:5: `src/parse.rs` was not changed"),
        "{nothing:?}"
    );
    assert!(
        nothing
            .out
            .contains("[WARNING] files_changed_real: worker-result.json:4:5: "),
        "{nothing:?}"
    );
    folder.write("src/parse.rs", "fn parse() { }\n");
    let clean = "All invariants passed for stage 'implement' - PASS\n";
    assert_eq!(on(&folder, &check).done().out, clean);
    commit(&folder, "Take an empty line");
    assert_eq!(
        on(&folder, &check).done().out,
        clean,
        "committed work is still work"
    );
    let below = folder.join("src");
    let from_below = super::pipeline(&below, &["check", "--stage", "implement", "--issue", "X-1"]);
    assert_eq!(from_below.done().out, clean);
    for step in ["new", "staged", "committed"] {
        folder.write("src/größe.rs", "");
        match step {
            "staged" => git(&folder, &["add", "--all"]),
            "committed" => commit(&folder, "Add more"),
            _ => {}
        }
        let extra = on(&folder, &check);
        assert_eq!(extra.code, 1, "{step}: {extra:?}");
        assert!(
            extra
                .out
                .contains("[ERROR] scope_extra: plan.json:2:21: `src/größe.rs` was changed"),
            "{step}: {extra:?}"
        );
    }
    let based = ["check", "--stage", "implement", "--base", "HEAD"];
    let based = on(&folder, &based).done();
    assert!(based.out.contains("scope_missing"), "{based:?}");
    on(
        &folder,
        &["check", "--stage", "implement", "--base", "nowhere"],
    )
    .refused(
        2,
        "there is no commit `nowhere` here; name a branch or a commit",
    );
}

#[test]
fn without_a_work_tree_the_scope_is_unknown() {
    let folder = crate::support::Folder::empty();
    folder.write(".pipeline/X-1/plan.json", PLAN);
    on(&folder, &["check", "--stage", "plan"]).done();
    let check = ["check", "--stage", "implement"];
    let ran = on(&folder, &check);
    assert!(!ran.err.contains("fatal"), "{ran:?}");
    ran.refused(2, "is in no git work tree");
    // A branch without commits.
    git(&folder, &["init", "--quiet", "--initial-branch", "work"]);
    let ran = on(&folder, &check);
    assert!(!ran.err.contains("fatal"), "{ran:?}");
    ran.refused(2, "the branch `work` has no commit");
    commit(&folder, "Begin");
    git(&folder, &["switch", "--quiet", "--orphan", "other"]);
    folder.write("other", "");
    folder.write(".pipeline/X-1/plan.json", PLAN);
    commit(&folder, "Begin again");
    let unrelated = ["check", "--stage", "implement", "--base", "work"];
    on(&folder, &unrelated).refused(2, "no commit in common");
    git(&folder, &["config", "core.bare", "true"]);
    let ran = on(&folder, &check);
    ran.refused(2, "git does not tell the work tree of");
}
