//! A gate before the models at which a process is caught in the middle of a tick: it dies there, stands still, or waits.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Method, Request};
use phileas_world::Face;
use phileas_world::http::{Gate, GateDecision};

use crate::fleet::fatal::is_look;
use crate::server::Database;

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Catches the process that creates a session. At that moment it has announced a turn in the ledger and holds the lease of
/// the only repository, which is how it is known which process it is.
pub(crate) struct Stalled {
    database: Arc<Database>,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: Next,
    /// Whose token is whose: each process has one of its own.
    tokens: BTreeMap<String, u32>,
    /// When a tick looked at the repository, and in which process.
    reads: Vec<(Instant, u32)>,
    /// The looks of this process wait.
    held: Option<u32>,
}

/// What becomes of the next request that creates a session.
#[derive(Debug, Default, Clone, Copy)]
enum Next {
    #[default]
    Passes,
    IsCaught,
    /// It waits. Of which process it is, is known soon.
    Waits(Option<u32>),
    PullEnds(GateDecision),
}

impl Stalled {
    pub(crate) fn new(database: &Arc<Database>) -> Self {
        Self {
            database: Arc::clone(database),
            state: Mutex::default(),
            moved: Condvar::new(),
        }
    }

    /// The process that creates a session next is caught.
    pub(crate) fn catch_next(&self) {
        self.state().next = Next::IsCaught;
    }

    /// Waits until a process was caught, for a moment.
    pub(crate) fn caught_within(&self, patience: Duration) -> Option<u32> {
        let caught = |state: &State| match state.next {
            Next::Waits(process) => process,
            _ => None,
        };
        let state = self.state();
        let waits = |state: &mut State| caught(state).is_none();
        let (state, _) = self
            .moved
            .wait_timeout_while(state, patience, waits)
            .unwrap();
        caught(&state)
    }

    /// Waits until a process was caught.
    pub(crate) fn caught(&self) -> u32 {
        self.caught_within(PATIENCE).unwrap()
    }

    /// The caught process dies, and its request never arrives.
    pub(crate) fn kill(&self) -> Instant {
        self.send_signal("KILL", GateDecision::Cut)
    }

    /// The caught process stands still. Its request arrives, and it does not hear the answer.
    pub(crate) fn stop(&self) -> Instant {
        self.send_signal("STOP", GateDecision::Go)
    }

    /// The caught process goes on.
    pub(crate) fn let_go(&self) {
        self.state().next = Next::PullEnds(GateDecision::Go);
        self.moved.notify_all();
    }

    /// Answers with when it was done.
    fn send_signal(&self, name: &str, verdict: GateDecision) -> Instant {
        signal(name, self.caught());
        let struck = Instant::now();
        self.state().next = Next::PullEnds(verdict);
        self.moved.notify_all();
        struck
    }

    /// Looks of a process wait from now on.
    pub(crate) fn hold_looks(&self, process: u32) {
        self.state().held = Some(process);
    }

    /// Waiting looks go on.
    pub(crate) fn let_looks_go(&self) {
        self.state().held = None;
        self.moved.notify_all();
    }

    /// Waits until a tick of a process looks at the repository after an instant.
    pub(crate) fn looked_after(&self, instant: Instant, process: u32) -> Instant {
        let wanted = |(at, by): &&(Instant, u32)| *at > instant && *by == process;
        self.wait(|state| state.reads.iter().find(wanted).map(|(at, _)| *at))
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

    /// Which process holds the lease. Its holder is named `serve:<process>:<mark>`.
    fn holder(&self) -> Option<u32> {
        let holder = self
            .database
            .sql("SELECT lease_owner FROM phileas.wake WHERE lease_owner IS NOT NULL");
        holder.split(':').nth(1)?.parse().ok()
    }

    /// Notes a check. Its process holds the lease at its first check at least, and is known by its token from then on.
    fn note(&self, request: &Request<Bytes>) {
        let at = Instant::now();
        let token = request.headers()[AUTHORIZATION].to_str().unwrap();
        let known = self.state().tokens.get(token).copied();
        let Some(process) = known.or_else(|| self.holder()) else {
            return;
        };
        let mut state = self.state();
        state.tokens.insert(token.to_owned(), process);
        state.reads.push((at, process));
        drop(state);
        self.moved.notify_all();
        self.wait(|state| (state.held != Some(process)).then_some(()));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Gate for Stalled {
    fn before_effect(&self, _: u64, face: Face, request: &Request<Bytes>) -> GateDecision {
        if is_look(face, request).is_some() {
            self.note(request);
        }
        let creates = face == Face::Jules
            && *request.method() == Method::POST
            && request.uri().path().ends_with("/sessions");
        let mut state = self.state();
        if !creates || !matches!(state.next, Next::IsCaught) {
            return GateDecision::Go;
        }
        state.next = Next::Waits(None);
        drop(state);
        let holder = self.holder();
        self.state().next = Next::Waits(holder);
        self.moved.notify_all();
        let verdict = self.wait(|state| match state.next {
            Next::PullEnds(verdict) => Some(verdict),
            _ => None,
        });
        self.state().next = Next::Passes;
        verdict
    }

    fn before_reply(&self, _: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        GateDecision::Go
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
