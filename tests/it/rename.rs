//! A repository is renamed while a session of it is at work.

use phileas::adapters::jules::RepositoryJules;
use phileas::runtime::Tick;
use phileas::sandbox::{Clients, SharedWorld, world_setup};
use phileas_domain::model::RepositoryName;
use phileas_domain::state::{STATE_PATH, State, codec};
use phileas_world::jules::Installed;

use crate::support::Folder;
use crate::support::ticks::{MINUTE, pass_until, quiet_world, settings, tick};

/// The name after the rename.
const RENAMED: &str = "sprocket";

fn renamed(shared: &SharedWorld) {
    let mut world = shared.lock_world();
    let now = world.now();
    let repo = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME);
    let github = world.github_mut();
    github.rename_repository(repo.unwrap(), RENAMED, "maintainer", now);
    world
        .jules_mut()
        .install_app("maintainer", Installed::new(world_setup::OWNER, RENAMED));
}

/// One tick of a process that was started with this name.
fn tick_by(shared: &SharedWorld, name: &RepositoryName, holder: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let clients = Clients::new(shared, name.clone(), 7);
        let tick = Tick {
            github: &clients.github,
            jules: &RepositoryJules::new(clients.jules_client.clone(), name.clone()),
            stopwatch: &clients.time,
        };
        tick.run(&settings(holder, 7)).await.unwrap();
    });
}

fn state(shared: &SharedWorld) -> State {
    let world = shared.lock_world();
    let github = world.github();
    let repo = github
        .repository_by_name(world_setup::OWNER, RENAMED)
        .unwrap();
    let head = github.branch_head(repo, "jules").unwrap();
    let bytes = github.read_file(repo, head, STATE_PATH).unwrap();
    codec::load(std::str::from_utf8(&bytes).unwrap())
        .unwrap()
        .state
}

/// Whichever name a process was started with, it follows the session that was created under the old one to its end,
/// and the one that is created under the new one after it.
#[test]
fn sessions_of_both_names_are_followed() {
    for name in [world_setup::NAME, RENAMED] {
        let name: RepositoryName = format!("{}/{name}", world_setup::OWNER).parse().unwrap();
        let repository = Folder::repository(
            "cycle = [\"curator\", \"refactor\"]\n",
            &["curator", "refactor"],
        );
        let shared = quiet_world(&repository, 7, Vec::new());
        tick(&shared, "before");
        pass_until(&shared, "IN_PROGRESS");
        renamed(&shared);
        pass_until(&shared, "COMPLETED");
        // Long enough that a session which is not listed counts as gone.
        shared.advance_time(MINUTE * 20);
        for number in 0..3 {
            tick_by(&shared, &name, &format!("after:{number}"));
            shared.advance_time(MINUTE * 20);
        }
        let state = state(&shared);
        let entries: Vec<_> = state
            .history
            .values()
            .map(|entry| (entry.persona_id.as_str(), entry.outcome.as_ref()))
            .map(|(persona, outcome)| (persona, outcome.map(|outcome| outcome.as_str())))
            .collect();
        assert_eq!(
            entries[..2],
            [("curator", Some("pr_open")), ("refactor", Some("pr_open"))],
            "{name}"
        );
    }
}
