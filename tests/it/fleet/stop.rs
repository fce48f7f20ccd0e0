//! A tick that is told to stop: between two effects, without leaving anything half done.

use phileas::runtime::{Tick, TickReport};
use phileas::sandbox::{Clients, SharedWorld, world_setup};
use serde_json::Value;

use crate::support::Folder;
use crate::support::judge::{file_on, made};
use crate::support::ticks::{MINUTE, quiet_world, settings, tick};

const PLAN: &str = "[tracks]\none = [\"alpha\"]\ntwo = [\"beta\"]\nthree = [\"gamma\"]\n\
    [budget]\nmax_active = 5\ndaily_sessions = 20\nmax_open_pulls = 20\n";

/// A tick that is told to stop once so many sessions exist.
fn tick_until(shared: &SharedWorld, holder: &str, sessions: usize) -> TickReport {
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
        let world = shared.clone();
        let stop = move || world.lock_world().books().sessions.len() >= sessions;
        tick.run_until(&settings(holder, 7), &stop).await.unwrap()
    })
}

/// Turns of the ledger that were announced and have no session.
fn announced(shared: &SharedWorld) -> Vec<String> {
    let text = file_on(shared, "jules", ".jules/cycle_state.json").unwrap();
    let state: Value = serde_json::from_str(&text).unwrap();
    let tracks = state["tracks"].as_object().unwrap().values();
    let turns = tracks.flat_map(|track| track["turns"].as_object().into_iter().flatten());
    turns
        .map(|(_, turn)| turn)
        .filter(|turn| turn["intent"].is_object() && turn["session_id"].is_null())
        .map(Value::to_string)
        .collect()
}

#[test]
fn what_was_announced_is_taken_back_and_done_later() {
    let repository = Folder::repository(PLAN, &["alpha", "beta", "gamma"]);
    let shared = quiet_world(&repository, 3, Vec::new());
    let report = tick_until(&shared, "serve:1", 1);
    assert!(report.stopped);
    assert_eq!(
        shared.lock_world().books().sessions.len(),
        1,
        "one of three was created"
    );
    assert!(
        report.commits >= 2,
        "what happened was written down: {report:?}"
    );
    // The next process goes on at once where nothing is open, and after a short pause with what was taken back.
    for n in 0..5 {
        shared.advance_time(MINUTE);
        tick(&shared, &format!("serve:{}", n + 2));
    }
    let sessions = made(&shared.lock_world().books().sessions);
    let mut personas: Vec<&str> = sessions.iter().map(|one| one.persona.as_str()).collect();
    personas.sort_unstable();
    assert_eq!(
        personas,
        ["alpha", "beta", "gamma"],
        "each once, within five minutes"
    );
    assert_eq!(announced(&shared), Vec::<String>::new());
}

#[test]
fn a_tick_that_is_told_at_once_does_nothing() {
    let repository = Folder::repository(PLAN, &["alpha", "beta", "gamma"]);
    let shared = quiet_world(&repository, 3, Vec::new());
    let report = tick_until(&shared, "serve:1", 0);
    assert!(report.stopped);
    assert_eq!(report.commits, 0);
    assert!(shared.lock_world().books().requests.is_empty());
}
