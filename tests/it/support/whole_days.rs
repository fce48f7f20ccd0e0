//! Whole days of a repository, by the program's process or in this one.

use jiff::SignedDuration;
use phileas::sandbox::{SharedWorld, Timeline, WorldSetup, world_setup};
use phileas_world::books::{Session, Write};
use serde::Deserialize;
use serde_json::Value;

use super::child::Ended;
use super::{Folder, Phileas};

/// Days that the program's process spent in its sandbox, as it exported them.
pub(crate) struct Spent {
    pub(crate) ended: Ended,
    pub(crate) export: Folder,
    pub(crate) books: Books,
    pub(crate) state: Value,
}

/// What the models wrote down.
#[derive(Deserialize)]
pub(crate) struct Books {
    pub(crate) sessions: Vec<Session>,
    pub(crate) github_writes: Vec<Write>,
}

/// Runs `phileas sandbox --headless --json` with these arguments and reads what it exported.
pub(crate) fn headless(arguments: &[&str]) -> Spent {
    let export = Folder::empty();
    let out = export.join("out");
    let fixed = [
        "sandbox",
        "--headless",
        "--json",
        "--export",
        out.to_str().unwrap(),
    ];
    let ended = Phileas::new(&[&fixed, arguments].concat()).run().expect(0);
    let read = |path: &str| {
        let path = out.join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    Spent {
        ended,
        books: serde_json::from_str(&read("world.json")).unwrap(),
        state: serde_json::from_str(&read("branches/jules/.jules/cycle_state.json")).unwrap(),
        export,
    }
}

/// Spends hours of a sandbox in this process, or less when `enough` says so. No tick may fail.
pub(crate) fn spend(
    setup: WorldSetup,
    hours: i64,
    enough: impl Fn(&[Session]) -> bool,
) -> SharedWorld {
    let seed = setup.seed;
    let shared = SharedWorld::new(setup.build_world().unwrap().0);
    let span = SignedDuration::from_hours(hours);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut days = Timeline::new(shared.clone(), world_setup::repository_name(), span, seed);
        while let Some(ticked) = days.next().await {
            assert!(
                ticked.result.is_ok(),
                "the tick at {} failed: {:?}",
                ticked.at,
                ticked.result
            );
            if enough(&shared.lock_world().books().sessions) {
                break;
            }
        }
    });
    shared
}
