//! A repository whose every tick kills the process: it alone is suspended.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use jiff::SignedDuration;
use phileas::runtime::inbox::ALONE_AFTER_DEATHS;
use phileas_world::Face;
use phileas_world::http::{Gate, GateDecision};
use serde_json::Value;

use super::rig::{PATIENCE, Process, Rig};
use crate::support::{Phileas, held, print_line};

/// The repository that is fatal, and the one beside it.
const FATAL: &str = "acme/r0";
const OTHER: &str = "sources/github/umbrella/r0";

/// How often the service dies of it.
const DEATHS: u32 = ALONE_AFTER_DEATHS + 1;

/// Kills the service whenever its tick looks at the repository.
#[derive(Default)]
pub(crate) struct Fatal {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    victim: Option<u32>,
    deaths: u32,
}

impl Fatal {
    /// A process of the service begins.
    fn victim(&self, process: u32) {
        held(&self.state).victim = Some(process);
        self.moved.notify_all();
    }

    fn deaths(&self) -> u32 {
        held(&self.state).deaths
    }
}

impl Gate for Fatal {
    fn before_effect(&self, _: u64, face: Face, request: &Request<Bytes>) -> GateDecision {
        if is_look(face, request).as_deref() != Some(FATAL) {
            return GateDecision::Go;
        }
        // The process may be quicker than the test that has started it.
        let state = held(&self.state);
        let unknown = |state: &mut State| state.victim.is_none();
        let (mut state, _) = self
            .moved
            .wait_timeout_while(state, PATIENCE, unknown)
            .unwrap();
        let victim = state.victim.take().unwrap();
        let killed = std::process::Command::new("kill")
            .args(["-KILL", &victim.to_string()])
            .status()
            .unwrap();
        assert!(killed.success());
        state.deaths += 1;
        GateDecision::Cut
    }

    fn before_reply(&self, _: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        GateDecision::Go
    }
}

/// The repository at which a tick looks with this request, if it is such a look.
pub(crate) fn is_look(face: Face, request: &Request<Bytes>) -> Option<String> {
    if face != Face::Github || !request.uri().path().ends_with("/graphql") {
        return None;
    }
    let asked: Value = serde_json::from_slice(request.body()).ok()?;
    asked["query"]
        .as_str()
        .filter(|query| query.contains("query Observe("))?;
    let word = |name: &str| asked["variables"][name].as_str();
    Some(format!("{}/{}", word("owner")?, word("name")?))
}

/// Where the inbox of the service is kept.
pub(crate) struct Kept<'a> {
    /// How a command beside the service is told of it.
    pub(crate) option: [&'a str; 2],
    /// Starts the service.
    pub(crate) start: &'a dyn Fn(&Rig) -> Process,
    /// Time passes for the repository with this id, unless this process holds it.
    pub(crate) hurry: &'a dyn Fn(u64, u32),
}

/// Lets a service be killed at every tick of a repository and begins it again, until that is suspended.
pub(crate) fn is_suspended_alone(fatal: &Arc<Fatal>, rig: &Rig, kept: &Kept<'_>) {
    let id = rig.ground.repositories[0].0;
    let suspended = || -> Vec<Value> {
        let list = Phileas::new(&["service", "suspended", "list", "--json"]).with(&kept.option);
        list.run().expect(0).lines()
    };
    let start = || {
        let process = (kept.start)(rig);
        fatal.victim(process.child.id());
        process
    };
    let begun = Instant::now();
    let mut process = start();
    while suspended().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{} deaths", fatal.deaths());
        if process.child.try_wait().unwrap().is_some() {
            process = start();
        }
        (kept.hurry)(id, process.child.id());
    }
    print_line(&format!(
        "a repository whose every tick kills the service is suspended after {} deaths, {:?}",
        fatal.deaths(),
        begun.elapsed()
    ));
    // The last one while it was ticked alone, which shows that it is to blame.
    assert_eq!(fatal.deaths(), DEATHS);

    // The other one goes on, and so does the service. What is heard of the suspended one revives it not.
    let sessions = || rig.sessions().get(OTHER).copied().unwrap_or(0);
    let (before, heard) = (sessions(), Instant::now());
    let mut posted = 0;
    while sessions() < before + 2 || posted == 0 {
        assert!(heard.elapsed() < PATIENCE, "{before} {}", sessions());
        rig.pass(SignedDuration::from_mins(2));
        rig.stir();
        posted += rig.post_to_either(process.public, process.public).1.len();
        std::thread::sleep(Duration::from_millis(100));
    }
    let list = suspended();
    let [one] = list.as_slice() else {
        panic!("{list:?}")
    };
    assert_eq!(
        (&one["repository_id"], &one["repository"]),
        (&id.into(), &FATAL.into())
    );
    let because = one["because"].as_str().unwrap();
    let reason = format!("the process that ticked it died {DEATHS} times in a row");
    assert!(because.starts_with(&reason), "{because}");
    assert_eq!(fatal.deaths(), DEATHS, "it was revived");
    let (_, code) = process.terminate();
    assert_eq!(code, Some(0));
}
