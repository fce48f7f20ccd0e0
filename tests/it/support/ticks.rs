//! Ticks in this process, for bringing a world to where a test begins and for many runs of one kind.

use std::time::Duration;

use phileas::runtime::{Settings, Tick, TickReport};
use phileas::sandbox::{Clients, SharedWorld, WorldSetup, world_setup};
use phileas_domain::engine::RunRequest;
use phileas_domain::plan::Driver;
use phileas_world::github::account::{Access, permissions};
use phileas_world::jules::{Scenario, Weights};
use phileas_world::maintainer::ReviewPolicy;

use super::Folder;

/// A minute of the world.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// A world with a repository, without reviews; each session brings a pull request after five minutes unless a
/// scenario says otherwise.
pub(crate) fn quiet_world(repository: &Folder, seed: u64, scenarios: Vec<Scenario>) -> SharedWorld {
    SharedWorld::new(
        quiet_setup(repository, seed, scenarios)
            .build_world()
            .unwrap()
            .0,
    )
}

/// The settings of such a world.
pub(crate) fn quiet_setup(repository: &Folder, seed: u64, scenarios: Vec<Scenario>) -> WorldSetup {
    let mut setup = WorldSetup::new(seed);
    setup.repo = Some(repository.path().to_owned());
    setup.review_policy = ReviewPolicy::absent();
    setup.jules.asks = 0.0;
    setup.jules.weights = Weights::only_changes();
    setup.jules.scenarios = scenarios;
    setup
        .jules
        .scenarios
        .push(Scenario::default().with_minutes(5.0));
    setup
}

/// From here on phileas' token is that of a workflow run, and no longer that of a person.
pub(crate) fn use_workflow_token(shared: &SharedWorld) {
    let mut world = shared.lock_world();
    let github = world.github_mut();
    let repo = github
        .repository_by_name(world_setup::OWNER, world_setup::NAME)
        .unwrap();
    let rights = permissions(&[
        ("contents", Access::Write),
        ("issues", Access::Write),
        ("pull_requests", Access::Write),
        ("checks", Access::Read),
        ("statuses", Access::Read),
    ]);
    github.add_actions_token(world_setup::GITHUB_TOKEN, repo, rights);
}

/// What this run is: no other run has this holder.
pub(crate) fn settings(holder: &str, entropy: u8) -> Settings {
    Settings {
        holder: holder.into(),
        driver: Driver::Any,
        ask: RunRequest::Due,
        entropy: [entropy; 32],
        paused_by_variable: None,
        previous_tick: None,
        renderer: std::sync::Arc::new(phileas_domain::prompt::InProcess),
    }
}

/// One tick of a process that lives for this tick only.
pub(crate) fn tick(shared: &SharedWorld, holder: &str) -> TickReport {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let clients = Clients::new(shared, world_setup::repository_name(), 7);
        let tick = Tick {
            github: &clients.github,
            jules: &clients.jules,
            stopwatch: &clients.time,
        };
        tick.run(&settings(holder, 7)).await.unwrap()
    })
}

/// Moves the world on until its newest session is in this state.
pub(crate) fn pass_until(shared: &SharedWorld, state: &str) {
    const MOST_MINUTES: usize = 24 * 60;
    for _ in 0..MOST_MINUTES {
        let reached = {
            let world = shared.lock_world();
            let session = world.books().sessions.last().unwrap();
            session.states.last().is_some_and(|(_, word)| word == state)
        };
        if reached {
            return;
        }
        shared.advance_time(MINUTE);
    }
    panic!(
        "no session came to {state} within a day: {:?}",
        shared.lock_world().books().sessions
    );
}
