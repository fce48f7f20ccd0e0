//! A tick that has more to start than one commit announces.

use phileas::sandbox::{SharedWorld, WorldSetup};
use phileas_domain::engine::Reason;
use phileas_domain::state::{STATE_PATH, State, codec};
use phileas_world::jules::Tier;
use phileas_world::maintainer::ReviewPolicy;

use crate::support::Folder;
use crate::support::ticks::tick;

/// A track for each of so many personas, each with a journal, and room for all of them at once.
fn world_with_sessions(count: usize) -> SharedWorld {
    let names: Vec<String> = (0..count).map(|number| format!("p{number:02}")).collect();
    let mut plan = String::from(
        "[budget]\nmax_active = 60\ndaily_sessions = 90\ntier = \"ultra\"\n[tracks]\n",
    );
    for name in &names {
        plan.push_str(&format!("of-{name} = [\"{name}\"]\n"));
    }
    let ids: Vec<&str> = names.iter().map(String::as_str).collect();
    let repository = Folder::repository(&plan, &ids);
    for name in &names {
        let path = format!(".jules/personas/{name}/journals/2026-01-04.md");
        repository.write(&path, &format!("What {name} learned.\n"));
    }
    let mut setup = WorldSetup::new(7);
    setup.repo = Some(repository.path().to_owned());
    setup.review_policy = ReviewPolicy::absent();
    setup.tier = Tier::Ultra;
    SharedWorld::new(setup.build_world().unwrap().0)
}

fn state(shared: &SharedWorld) -> State {
    let world = shared.lock_world();
    let github = world.github();
    let repo = github.repository_by_name("acme", "widget").unwrap();
    let head = github.branch_head(repo, "jules").unwrap();
    let bytes = github.read_file(repo, head, STATE_PATH).unwrap();
    codec::load(std::str::from_utf8(&bytes).unwrap())
        .unwrap()
        .state
}

#[test]
fn later_rounds_of_a_tick_know_the_journals_too() {
    let shared = world_with_sessions(5);
    tick(&shared, "one");
    let world = shared.lock_world();
    let sessions = &world.books().sessions;
    assert_eq!(sessions.len(), 5);
    for session in sessions {
        let learned = session.prompt.contains("What p0") && session.prompt.contains(" learned.");
        assert!(learned, "{}", session.prompt);
    }
}

#[test]
fn the_last_round_of_a_tick_starts_nothing_that_it_could_not_write_down() {
    let shared = world_with_sessions(26);
    let report = tick(&shared, "one");
    let known = state(&shared);
    let started = shared.lock_world().books().sessions.len();
    assert_eq!(known.history.len(), started, "each answer is written down");
    let turns = known.tracks.values().flat_map(|track| track.turns.values());
    assert!(turns.into_iter().all(|turn| turn.session_id.is_some()));
    let waits = report
        .waiting
        .iter()
        .filter(|(_, line)| line.reason == Reason::NextCommit);
    assert_eq!(started + waits.count(), 26, "and the rest is not forgotten");
    assert!(report.wake_at.unwrap() <= report.now, "it is due at once");

    tick(&shared, "two");
    assert_eq!(shared.lock_world().books().sessions.len(), 26);
}
