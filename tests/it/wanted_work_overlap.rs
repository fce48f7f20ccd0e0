//! A turn waits while an open pull request changes a file that its persona or request names: on the models, by the
//! program's own process.

use phileas::sandbox::SharedWorld;
use phileas_world::Face;
use phileas_world::jules::Scenario;

use crate::support::judge::repo;
use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::{Folder, Phileas, Served};

/// The tester works on the file that the curator's session changes; its pull request is open.
fn opened(settings: &str) -> (Folder, SharedWorld) {
    let plan = format!(
        "cycle = [\"curator\", \"tester\"]\n[budget]\ndaily_sessions = 2\nreserve_for_people = 1\n[novelty]\n{settings}"
    );
    let repository = Folder::repository(&plan, &["curator", "tester"]);
    repository.write(
        ".jules/personas/tester/prompt.md",
        "---\nid: tester\nemoji: \"⚙\"\npaths: [\"src/render/**\"]\n---\nTest it.\n",
    );
    let work = Scenario::default()
        .with_minutes(5.0)
        .with_file("src/render/html.rs", "let escaped = 1;\n");
    let shared = quiet_world(&repository, 7, vec![work]);
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    shared.advance_time(MINUTE);
    (repository, shared)
}

/// One run of the program; how many requests it made of GitHub and of Jules.
fn run(shared: &SharedWorld) -> (usize, usize) {
    shared.lock_world().books_mut().reset_requests();
    let served = Served::start(shared, None);
    Phileas::tick(&served).run().expect(0);
    let world = shared.lock_world();
    let requests = world.books().requests.iter();
    let of_github = requests.filter(|one| one.face == Face::Github).count();
    (of_github, world.books().requests.len() - of_github)
}

fn sessions(shared: &SharedWorld) -> usize {
    shared.lock_world().books().sessions.len()
}

fn shows(shared: &SharedWorld, command: &str) -> String {
    let served = Served::start(shared, None);
    let command = [command, "--repo", "acme/widget"];
    let ended = Phileas::new(&command).within(&served).run();
    ended.expect(0).to_string()
}

fn merge(shared: &SharedWorld, number: u64) {
    let repo = repo(shared);
    let mut world = shared.lock_world();
    let now = world.now();
    let merged = world
        .github_mut()
        .merge_pull(repo, number, "maintainer", now);
    merged.unwrap();
}

#[test]
fn a_persona_waits_until_the_pull_request_is_merged_and_each_command_names_it() {
    let (_repository, shared) = opened("avoid_overlap = true\n");
    for _ in 0..3 {
        run(&shared);
        shared.advance_time(MINUTE * 20);
    }
    assert_eq!(sessions(&shared), 1);
    assert_eq!(run(&shared), (2, 0), "the records, and Jules is not asked");
    for command in ["explain", "status"] {
        let text = shows(&shared, command);
        for part in [
            "waiting.overlap",
            "pull request #1 is open and changes",
            "src/render/html.rs",
        ] {
            assert!(text.contains(part), "{command}: {part}\n{text}");
        }
    }

    merge(&shared, 1);
    shared.advance_time(MINUTE);
    run(&shared);
    assert_eq!(sessions(&shared), 2);
    pass_until(&shared, "COMPLETED");
    for _ in 0..3 {
        shared.advance_time(MINUTE);
        run(&shared);
    }
    shared.advance_time(MINUTE * 20);
    run(&shared);
    let idle = run(&shared);
    let world = shared.lock_world();
    let requests = &world.books().requests;
    assert_eq!(idle, (1, 0), "an idle tick is one request: {requests:?}");
}

#[test]
fn without_the_key_no_persona_waits() {
    let (_repository, shared) = opened("avoid_overlap = false\n");
    run(&shared);
    assert_eq!(sessions(&shared), 2);
}

#[test]
fn a_request_waits_for_the_file_that_its_text_names_and_its_comment_says_so() {
    let (_repository, shared) = opened("avoid_overlap = true\n");
    let repo = repo(&shared);
    let issue = {
        let mut world = shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let body = "Rendering is slow: see `src/render/html.rs`.";
        let issue = github.open_issue(repo, "It is slow", body, &[], "maintainer", now);
        github.add_label(repo, issue, "phileas:curator", "maintainer", now);
        issue
    };
    for _ in 0..2 {
        shared.advance_time(MINUTE);
        run(&shared);
    }
    assert_eq!(sessions(&shared), 1);
    let comments: Vec<String> = {
        let world = shared.lock_world();
        let comments = world.github().comments(repo, issue);
        comments.map(|comment| comment.body.clone()).collect()
    };
    let [comment] = &comments[..] else {
        panic!("{comments:?}");
    };
    let why = format!("#1 is open and changes `src/render/html.rs`, which #{issue} names");
    assert!(comment.contains(&why), "{comment}");

    merge(&shared, 1);
    shared.advance_time(MINUTE);
    run(&shared);
    let world = shared.lock_world();
    let prompts = world.books().sessions.iter();
    let mut requested = prompts.filter(|session| session.prompt.contains("It is slow"));
    assert!(requested.next().is_some() && requested.next().is_none());
}
