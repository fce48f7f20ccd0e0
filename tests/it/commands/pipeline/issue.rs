//! Whole issues, as a planner drives them: `next`, `write`, `status`, `archive`.

use super::{
    BLOCKED, CONTENT, DIAGNOSIS, FAILED, PASSED, PLAN, PROPOSED, WORKER, commit, git, names, on,
    pipeline, repository, write,
};

/// What comes next: the rule, and who or what.
fn next(folder: &crate::support::Folder) -> String {
    let said = on(folder, &["next", "--json"]).done().json();
    let who = said["agent"].as_str().or_else(|| said["action"].as_str());
    format!("{}: {}", said["rule"].as_str().unwrap(), who.unwrap())
}

#[test]
fn an_issue_goes_through_failing_tests_and_a_blocker_to_the_archive() {
    let folder = repository();
    assert_eq!(next(&folder), "plan.missing: jg-subplanner");
    for (artifact, text, expected) in [
        ("plan", PLAN, "plan.ready: jg-worker"),
        ("worker-result", WORKER, "worker.completed: jg-tester"),
        ("test-result", FAILED, "tests.failed: jg-debugger"),
        (
            "debug-diagnosis",
            DIAGNOSIS,
            "diagnosis.fix_target: jg-worker",
        ),
        ("worker-result", WORKER, "worker.completed: jg-tester"),
        ("test-result.json", PASSED, "tests.passed: jg-reviewer"),
        ("review-result", BLOCKED, "review.failed: jg-worker"),
        ("worker-result", WORKER, "worker.completed: jg-tester"),
        ("test-result", PASSED, "tests.passed: jg-reviewer"),
        ("review-result", CONTENT, "review.passed: jg-git"),
        ("git-result", PROPOSED, "git.done: archive"),
    ] {
        write(&folder, artifact, text).done();
        assert_eq!(next(&folder), expected, "{artifact}");
    }
    for stage in ["plan", "test", "debug", "review", "git", "trace"] {
        on(&folder, &["check", "--stage", stage]).done();
    }
    let status = pipeline(folder.path(), &["status"]).done();
    assert!(
        status.out.contains("X-1") && status.out.ends_with("1 run, 0 archived\n"),
        "{status:?}"
    );
    let one = on(&folder, &["status", "--json"]).done().json();
    assert_eq!(one["attempts"].as_array().unwrap().len(), 11);
    assert_eq!(one["attempts"][2]["outcome"], "fail");
    on(&folder, &["archive"]).done();
    assert_eq!(names(&folder.join(".pipeline")), ["completed"]);
    let status = pipeline(folder.path(), &["status"]).done();
    assert_eq!(status.out, "0 runs, 1 archived\n");
    on(&folder, &["next"]).refused(2, "is archived in");
}

#[test]
fn an_issue_that_no_stage_can_fix_ends_with_a_person() {
    let folder = repository();
    write(&folder, "plan", PLAN).done();
    let mut told = Vec::new();
    for _ in 0..6 {
        for (artifact, text) in [
            ("worker-result", WORKER),
            ("test-result", FAILED),
            ("debug-diagnosis", DIAGNOSIS),
        ] {
            write(&folder, artifact, text).done();
        }
        told.push(next(&folder));
    }
    let again = "diagnosis.fix_target: jg-worker";
    let high = "diagnosis.fix_target: jg-worker-high";
    let up = "retries.next_tier: jg-worker-high";
    assert_eq!(
        told,
        [again, again, up, high, high, "retries.exhausted: person"]
    );
    let people = on(&folder, &["next"]).done();
    assert_eq!(
        people.out,
        "a person decides: the diagnosis says how to fix the work; implement was tried 3 times in the tier high: the retries of the highest tier are used up [retries.exhausted]\n"
    );
}

#[test]
fn people_read_which_agent_to_send_and_what_to_hand_over() {
    let folder = repository();
    for (artifact, text) in [
        ("plan", PLAN),
        ("worker-result", WORKER),
        ("test-result", FAILED),
        ("debug-diagnosis", DIAGNOSIS),
    ] {
        write(&folder, artifact, text).done();
    }
    assert_eq!(
        on(&folder, &["next"]).done().out,
        "jg-worker, try 2: the diagnosis says how to fix the work [diagnosis.fix_target]\n  \
         reads  .pipeline/X-1/plan.json\n  reads  .pipeline/X-1/debug-diagnosis.json\n  \
         writes .pipeline/X-1/worker-result.json\n  told   Look before.\n"
    );
}

#[test]
fn an_issue_is_one_safe_part_of_a_path() {
    let folder = repository();
    for id in ["../x", "..", "a/b", "", "completed", "lessons.yaml", "/etc"] {
        let arguments = ["next", &format!("--issue={id}")];
        pipeline(folder.path(), &arguments).refused(2, "is not an issue id");
    }
}

/// Agents that write by themselves leave no trace, and the files of a clone are all of one instant.
#[test]
fn a_finished_run_is_finished_in_a_clone_and_in_a_copy_too() {
    let folder = repository();
    for (name, text) in [
        ("plan.json", PLAN),
        ("debug-diagnosis.json", DIAGNOSIS),
        ("review-result.json", CONTENT),
        ("git-result.json", PROPOSED),
        ("test-result.json", PASSED),
        ("worker-result.json", WORKER),
    ] {
        folder.write(&format!(".pipeline/X-1/{name}"), text);
    }
    assert_eq!(next(&folder), "git.done: archive");
    commit(&folder, "Keep the run");
    let clone = crate::support::Folder::empty();
    git(&clone, &["clone", "--quiet", folder.text(), "."]);
    // The worker's file is the newest one here, whichever file the checkout wrote last.
    let worker = clone.join(".pipeline/X-1/worker-result.json");
    let file = std::fs::File::options().append(true).open(worker).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    file.set_modified(later).unwrap();
    assert_eq!(next(&clone), "git.done: archive");
    on(&clone, &["archive"]).done();
}
