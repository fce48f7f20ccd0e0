//! What is done about open pull requests beside talking to their sessions, on the models, by the program's own process.

use std::time::Duration;

use phileas::sandbox::{SharedWorld, world_setup};
use phileas_world::Face;
use phileas_world::jules::Scenario;

use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::{Folder, Phileas, Served};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A session is done, and its pull request is open.
fn opened(draft: bool) -> (Folder, SharedWorld) {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let scenario = Scenario {
        draft: Some(draft),
        ..Scenario::default().with_minutes(5.0)
    };
    let shared = quiet_world(&repository, 7, vec![scenario]);
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    tick(&shared, "settled");
    shared.advance_time(MINUTE * 10);
    (repository, shared)
}

/// One run of the program; how many requests it made.
fn run(shared: &SharedWorld, served: &Served) -> (usize, usize) {
    shared.lock_world().books_mut().reset_requests();
    Phileas::tick(served).run().expect(0);
    let world = shared.lock_world();
    let count = |face| {
        let requests = world.books().requests.iter();
        requests.filter(|one| one.face == face).count()
    };
    (count(Face::Github), count(Face::Jules))
}

fn is_draft(shared: &SharedWorld) -> bool {
    let world = shared.lock_world();
    let repo = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME);
    world.github().pull(repo.unwrap(), 1).unwrap().draft
}

#[test]
fn a_draft_is_marked_as_ready_once_and_a_person_may_turn_it_back() {
    let (_repository, shared) = opened(true);
    // The tick that settled the turn has seen that its session is done.
    let served = Served::start(&shared, None);
    run(&shared, &served);
    assert!(!is_draft(&shared));
    {
        let mut world = shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let repo = github.repository_by_name(world_setup::OWNER, world_setup::NAME);
        github.set_draft(repo.unwrap(), 1, true, "maintainer", now);
    }
    for _ in 0..3 {
        shared.advance_time(MINUTE * 20);
        assert_eq!(run(&shared, &served), (1, 0));
        assert!(is_draft(&shared));
    }
}

#[test]
fn people_are_reminded_of_a_pull_request_once() {
    let (_repository, shared) = opened(false);
    let reminders = |shared: &SharedWorld| {
        let world = shared.lock_world();
        let repo = world
            .github()
            .repository_by_name(world_setup::OWNER, world_setup::NAME);
        let comments = world.github().comments(repo.unwrap(), 1);
        let said: Vec<String> = comments.map(|one| one.body.clone()).collect();
        said
    };
    shared.advance_time(DAY * 3 - MINUTE * 30);
    let served = Served::start(&shared, None);
    assert_eq!(run(&shared, &served), (1, 0));
    assert_eq!(reminders(&shared), [] as [&str; 0]);
    shared.advance_time(MINUTE * 30);
    run(&shared, &served);
    let said = reminders(&shared);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("`curator`"), "{said:?}");
    shared.advance_time(DAY);
    assert_eq!(run(&shared, &served), (1, 0));
    assert_eq!(reminders(&shared), said);
}
