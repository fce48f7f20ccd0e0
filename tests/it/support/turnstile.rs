//! Two ticks, one request at a time: whose request comes next is chosen by a script, so that every order can be tried.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas::sandbox::transport::InProcess;
use phileas_world::Face;
use phileas_world::http::{Gate, GateDecision};

use super::held;

/// How often a waiting request looks whether it may go on. Others make progress meanwhile, so this is never reached.
const MOST_LOOKS: usize = 1_000_000;
/// How long a process may take to its next request, or to its end.
const LIMIT: Duration = Duration::from_secs(120);

/// A choice that was made: which of how many.
pub(crate) type Choice = (usize, usize);

/// Lets one request pass at a time, when all who are still running wait for one.
#[derive(Default)]
pub(crate) struct Turnstile {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    waiting: BTreeSet<usize>,
    chosen: Option<usize>,
    script: Vec<usize>,
    taken: Vec<Choice>,
    tickets: usize,
}

impl State {
    /// Chooses when every tick waits. Beyond the script the first is chosen.
    fn choose(&mut self) {
        if self.chosen.is_some() || self.waiting.is_empty() || self.waiting.len() < self.running {
            return;
        }
        let options = self.waiting.len();
        let mut choice = 0;
        if options > 1 {
            choice = self
                .script
                .get(self.taken.len())
                .map_or(0, |wanted| wanted % options);
            self.taken.push((choice, options));
        }
        self.chosen = self.waiting.iter().nth(choice).copied();
    }

    fn passes(&mut self, who: usize) -> bool {
        let mine = self.chosen == Some(who);
        if mine {
            self.chosen = None;
            self.waiting.remove(&who);
        }
        mine
    }
}

impl Turnstile {
    /// For so many ticks, with these choices.
    pub(crate) fn new(running: usize, script: Vec<usize>) -> Arc<Self> {
        let turnstile = Self::default();
        {
            let mut state = held(&turnstile.state);
            state.running = running;
            state.script = script;
        }
        Arc::new(turnstile)
    }

    /// The choices that were made so far.
    pub(crate) fn taken(&self) -> Vec<Choice> {
        held(&self.state).taken.clone()
    }

    /// One of the ticks has ended.
    pub(crate) fn leave(&self) {
        let mut state = held(&self.state);
        state.running -= 1;
        state.choose();
        self.moved.notify_all();
    }

    async fn pass(&self, who: usize) {
        {
            let mut state = held(&self.state);
            state.waiting.insert(who);
            state.choose();
        }
        for _ in 0..MOST_LOOKS {
            if held(&self.state).passes(who) {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("request of tick {who} was never let through");
    }
}

/// Requests of one tick to a world in this process, through the turnstile.
pub(crate) struct Queued {
    pub(crate) who: usize,
    pub(crate) turnstile: Arc<Turnstile>,
    pub(crate) world: InProcess,
}

impl Transport for Queued {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        Box::pin(async move {
            self.turnstile.pass(self.who).await;
            self.world.send(request).await
        })
    }
}

/// Processes have one request under way at a time, so each request that waits belongs to another process.
impl Gate for Turnstile {
    fn before_effect(&self, _: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        let deadline = Instant::now() + LIMIT;
        let mut state = held(&self.state);
        let who = state.tickets;
        state.tickets += 1;
        state.waiting.insert(who);
        state.choose();
        self.moved.notify_all();
        while !state.passes(who) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "no other process came to a request or to its end within {LIMIT:?}"
            );
            state = self.moved.wait_timeout(state, left).unwrap().0;
        }
        GateDecision::Go
    }

    fn before_reply(&self, _: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        GateDecision::Go
    }
}

/// The script that follows a run's choices in the order of all scripts; `None` after the last.
pub(crate) fn next_script(taken: &[Choice]) -> Option<Vec<usize>> {
    let last = taken
        .iter()
        .rposition(|(choice, options)| choice + 1 < *options)?;
    let mut script: Vec<usize> = taken[..=last].iter().map(|(choice, _)| *choice).collect();
    script[last] += 1;
    Some(script)
}
