//! A gate before the models at which a chosen process dies, stands still, or waits.

use std::process::Command;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request};
use phileas_world::Face;
use phileas_world::http::{Gate, Verdict};

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What happens to a process that is about to create a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// SIGKILL; the request never arrives.
    Dies,
    /// SIGSTOP; the request arrives, and nobody hears the answer.
    StandsStill,
    /// The request waits until [`Stalled::go_on`].
    Waits,
}

/// Strikes once. At that moment the process has announced a turn in the ledger and holds the repository's lease.
#[derive(Debug, Default)]
pub(crate) struct Stalled {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct State {
    plan: Option<(Fate, Option<u32>)>,
    struck: Option<Instant>,
    waits: bool,
    /// When a tick looked at the repository.
    looks: Vec<Instant>,
}

impl Stalled {
    pub(crate) fn new(fate: Fate) -> Self {
        let stalled = Self::default();
        stalled.state().plan = Some((fate, None));
        stalled
    }

    /// Whom it strikes.
    pub(crate) fn victim(&self, process: u32) {
        if let Some((_, victim)) = self.state().plan.as_mut() {
            *victim = Some(process);
        }
        self.moved.notify_all();
    }

    /// Waits until it has struck.
    pub(crate) fn struck(&self) -> Instant {
        self.wait(|state| state.struck)
    }

    /// Waits until a tick looks at the repository after an instant.
    pub(crate) fn looked_after(&self, instant: Instant) -> Instant {
        self.wait(|state| state.looks.iter().find(|look| **look > instant).copied())
    }

    /// Lets the waiting request arrive.
    pub(crate) fn go_on(&self) {
        self.state().waits = false;
        self.moved.notify_all();
    }

    fn wait<T>(&self, what: impl Fn(&State) -> Option<T>) -> T {
        let begun = Instant::now();
        let mut state = self.state();
        loop {
            if let Some(found) = what(&state) {
                return found;
            }
            assert!(begun.elapsed() < PATIENCE, "{state:?}");
            let waited = self.moved.wait_timeout(state, Duration::from_secs(1));
            state = waited.unwrap().0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Gate for Stalled {
    fn before(&self, _: u64, face: Face, request: &Request<Bytes>) -> Verdict {
        let path = request.uri().path();
        if face == Face::Github && path.ends_with("/graphql") {
            self.state().looks.push(Instant::now());
            self.moved.notify_all();
        }
        let creates =
            face == Face::Jules && *request.method() == Method::POST && path.ends_with("/sessions");
        if !creates || self.state().plan.is_none() {
            return Verdict::Go;
        }
        // The process may be quicker than the test that has started it.
        let (fate, victim) = self.wait(|state| {
            let (fate, victim) = state.plan?;
            Some((fate, victim?))
        });
        let mut state = self.state();
        state.plan = None;
        state.struck = Some(Instant::now());
        state.waits = fate == Fate::Waits;
        drop(state);
        match fate {
            Fate::Dies => signal("KILL", victim),
            Fate::StandsStill => signal("STOP", victim),
            Fate::Waits => {}
        }
        self.moved.notify_all();
        if fate == Fate::Dies {
            return Verdict::Cut;
        }
        self.wait(|state| (!state.waits).then_some(()));
        Verdict::Go
    }

    fn after(&self, _: u64, _: Face, _: &Request<Bytes>) -> Verdict {
        Verdict::Go
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(name: &str, process: u32) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}
