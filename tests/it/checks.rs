//! What becomes of open pull requests, and what their sessions are told of it: on the models, by the program's own
//! process.

use phileas::sandbox::{SharedWorld, world_setup};
use phileas_world::github::{CheckOutput, CheckRemark};
use phileas_world::jules::Scenario;

use crate::support::books::{counted, messages};
use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::{Folder, Served, judge};

/// The job `build` fails on the newest commit of pull request 1.
fn fails(shared: &SharedWorld) {
    let mut world = shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let repo = github.repository_by_name(world_setup::OWNER, world_setup::NAME);
    let repo = repo.unwrap();
    let head = github.pull(repo, 1).unwrap().head.oid;
    let output = CheckOutput {
        title: Some("1 test failed".to_owned()),
        summary: None,
        annotations: vec![CheckRemark {
            path: "src/open.rs".to_owned(),
            line: 7,
            message: "assertion failed".to_owned(),
        }],
        log: Some("2026-01-05T00:00:00.0Z \u{1b}[31m##[error]exit code 101\u{1b}[0m\n".to_owned()),
    };
    github.fail_job(repo, head, "build", output, now);
    drop(world);
    // Jules has its time to fix it by itself.
    shared.advance_time(MINUTE * 21);
}

#[test]
fn r21_failed_checks_are_told_to_their_session_twice_and_then_to_a_person() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    tick(&shared, "settled");
    shared.advance_time(MINUTE * 10);
    // The links of GitHub's answers lead to the server that was the first.
    let served = Served::start(&shared, None);
    assert_eq!(
        counted(&shared, &served),
        (1, 0),
        "an open pull request costs nothing more"
    );
    for round in 1..=2 {
        fails(&shared);
        counted(&shared, &served);
        let said = messages(&shared);
        assert_eq!(said.len(), round, "{said:?}");
        let newest = &said[round - 1];
        for part in [
            "check: build (FAILURE)",
            "1 test failed",
            "src/open.rs:7: assertion failed",
            "\n##[error]exit code 101\n",
        ] {
            assert!(newest.contains(part), "{part}: {newest}");
        }
        // The review needs the files of the newest commit, once.
        counted(&shared, &served);
        assert_eq!(
            counted(&shared, &served),
            (1, 0),
            "what was said is not looked after again"
        );
        shared.advance_time(MINUTE);
        pass_until(&shared, "COMPLETED");
        shared.advance_time(MINUTE);
    }
    let state = judge::state(&shared);
    assert_eq!(state["pulls"]["1"]["fix_rounds"], 2, "{state}");
    fails(&shared);
    counted(&shared, &served);
    counted(&shared, &served);
    assert_eq!(messages(&shared).len(), 2);
    let world = shared.lock_world();
    let repo = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME);
    let issues: Vec<_> = world.github().issues(repo.unwrap()).collect();
    assert_eq!(issues.len(), 1);
    assert!(
        issues[0]
            .title
            .contains("pull request #1 waits for a person")
    );
}

/// The default branch moves on: a person writes this file.
fn moves_on(shared: &SharedWorld, path: &str, protection: &serde_json::Value) {
    let mut world = shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let repo = github.repository_by_name(world_setup::OWNER, world_setup::NAME);
    let repo = repo.unwrap();
    let head = github.branch_head(repo, "main");
    let files = [(path.to_owned(), Some("by hand\n".into()))];
    let commit = github.commit_files(repo, head, &files, "maintainer", "By hand", now);
    github.move_branch(repo, "main", commit, "maintainer", now);
    github.protect_branch(repo, "main", protection);
}

#[test]
fn a_pull_request_that_needs_its_base_is_told_to_its_session_once_a_commit() {
    let strict = serde_json::json!({ "required_status_checks": { "strict": true } });
    let none = serde_json::json!({});
    for (path, protection, problem) in [
        ("notes.md", &none, Some("it conflicts with its base")),
        ("other.md", &strict, Some("it is behind its base")),
        ("other.md", &none, None),
    ] {
        let plan = "cycle = [\"curator\"]\n[budget]\nmax_open_pulls = 1\n";
        let repository = Folder::repository(plan, &["curator"]);
        let scenario = Scenario::default()
            .with_minutes(5.0)
            .with_file("notes.md", "a\n");
        let shared = quiet_world(&repository, 7, vec![scenario]);
        tick(&shared, "prepared");
        pass_until(&shared, "COMPLETED");
        tick(&shared, "settled");
        shared.advance_time(MINUTE * 10);
        moves_on(&shared, path, protection);
        let served = Served::start(&shared, None);
        counted(&shared, &served);
        // GitHub has not worked it out when it is asked first.
        assert_eq!(messages(&shared), [] as [&str; 0]);
        counted(&shared, &served);
        let said = messages(&shared);
        assert_eq!(said.len(), usize::from(problem.is_some()), "{said:?}");
        assert!(said.iter().all(|text| text.contains(problem.unwrap())));
        counted(&shared, &served);
        assert_eq!(messages(&shared).len(), said.len());
    }
}

/// Jules takes the message and its session never reads it: it is not said twice, and a person is called.
#[test]
fn a_message_that_is_never_read_ends_in_a_notice() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    shared.lock_world().knobs_mut().done_message_unread = 1.0;
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    tick(&shared, "settled");
    shared.advance_time(MINUTE * 10);
    fails(&shared);
    tick(&shared, "told");
    assert_eq!(messages(&shared).len(), 1);
    shared.advance_time(MINUTE * 60 * 7);
    tick(&shared, "called");
    tick(&shared, "again");
    assert_eq!(messages(&shared).len(), 1);
    let world = shared.lock_world();
    let repo = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME);
    let issues: Vec<_> = world.github().issues(repo.unwrap()).collect();
    assert_eq!(issues.len(), 1);
    assert!(
        issues[0]
            .title
            .contains("pull request #1 waits for a person")
    );
}
