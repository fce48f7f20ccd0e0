//! A gate that kills a process at one of its requests.

use std::sync::Mutex;

use bytes::Bytes;
use http::Request;
use phileas_world::Face;
use phileas_world::http::{Gate, GateDecision};

use super::child::Handle;
use super::held;

/// When the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before the request has any effect.
    Before,
    /// After its effect, before the reply.
    After,
}

/// Counts the requests of a process, and kills it at one of them.
pub(crate) struct Killer {
    pub(crate) victim: Handle,
    at: Option<(usize, Moment)>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<String>,
    killed: bool,
}

impl Killer {
    /// Kills at the n-th request, counted from 1; without a place it only counts.
    pub(crate) fn new(at: Option<(usize, Moment)>) -> Self {
        Self {
            victim: Handle::default(),
            at,
            seen: Mutex::default(),
        }
    }

    /// The requests so far, in words.
    pub(crate) fn requests(&self) -> Vec<String> {
        held(&self.seen).requests.clone()
    }

    fn kill_at(&self, moment: Moment) -> GateDecision {
        let mut seen = held(&self.seen);
        if seen.killed || self.at != Some((seen.requests.len(), moment)) {
            return GateDecision::Go;
        }
        let mut victim = held(&self.victim);
        let child = victim.as_mut().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        seen.killed = true;
        GateDecision::Cut
    }
}

impl Gate for Killer {
    fn before_effect(&self, _: u64, face: Face, request: &Request<Bytes>) -> GateDecision {
        let words = format!("{face:?} {} {}", request.method(), request.uri().path());
        held(&self.seen).requests.push(words);
        self.kill_at(Moment::Before)
    }

    fn before_reply(&self, _: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        self.kill_at(Moment::After)
    }
}
