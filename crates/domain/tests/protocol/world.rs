//! Models the world: a ledger branch, Jules' sessions, requests on their way to Jules, three processes, one clock.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    CreateSession, Effect, Event, Listing, Notice, Session, SessionState,
};
use phileas_domain::model::{Holder, Marker, PullNumber};

use crate::ledger::Version;

/// How many processes run ticks for the repository.
pub(crate) const ACTORS: usize = 3;

/// One state of the world.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) now: Timestamp,
    /// The branch.
    pub(crate) head: Arc<Version>,
    /// When the branch last moved.
    pub(crate) moved_at: Timestamp,
    /// Jules' sessions.
    pub(crate) sessions: Vec<Arc<Made>>,
    /// Requests that were sent and have not arrived.
    pub(crate) wire: Vec<Request>,
    pub(crate) actors: [Actor; ACTORS],
    /// Open notices.
    pub(crate) notices: Vec<Notice>,
    /// How many faults may still happen.
    pub(crate) faults: u8,
    /// How often the default branch has moved.
    pub(crate) pushes: u64,
    /// The first violation by a step.
    pub(crate) broken: Option<String>,
}

/// A session at Jules.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) session: Session,
    pub(crate) marker: Marker,
    /// When its holder passed the check of the deadline.
    pub(crate) checked_at: Timestamp,
    /// When its request arrived, by GitHub's clock.
    pub(crate) arrived_at: Timestamp,
}

/// A create that was sent.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) create: Arc<CreateSession>,
    pub(crate) checked_at: Timestamp,
    /// The process that still waits for the response.
    pub(crate) owner: Option<usize>,
}

/// One process.
#[derive(Debug, Clone)]
pub(crate) struct Actor {
    /// Its run, which is its name as a holder.
    pub(crate) holder: Holder,
    pub(crate) phase: Phase,
}

/// A process' position in its tick.
#[derive(Debug, Clone)]
pub(crate) enum Phase {
    /// Between two ticks; it remembers nothing.
    Asleep,
    /// It lost a race and must read again; it still has the events of its effects.
    Beaten { events: Vec<Event> },
    /// Its effects returned events, and it will decide again on what it read before.
    Informed {
        observation: Observation,
        events: Vec<Event>,
    },
    /// Its commit has won; it executes the effects.
    Executing {
        observation: Observation,
        effects: Arc<[Effect]>,
        next: usize,
        /// A create was sent and its response is awaited.
        waiting: bool,
        events: Vec<Event>,
    },
}

/// What a process knows about the world.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    pub(crate) version: Arc<Version>,
    pub(crate) listing: Arc<Listing>,
    /// Every pull request, and when its session was created.
    pub(crate) pulls: Arc<[(PullNumber, Timestamp)]>,
    pub(crate) taken_at: Timestamp,
}

impl World {
    pub(crate) fn new(now: Timestamp, faults: u8) -> Self {
        let actor = |name: &str| Actor {
            holder: format!("{name}:0").into(),
            phase: Phase::Asleep,
        };
        Self {
            now,
            head: Arc::new(Version::missing()),
            moved_at: now,
            sessions: Vec::new(),
            wire: Vec::new(),
            actors: [actor("a"), actor("b"), actor("c")],
            notices: Vec::new(),
            faults,
            pushes: 0,
            broken: None,
        }
    }

    /// Records a violation; the first one counts.
    pub(crate) fn breaks(&mut self, what: impl Into<String>) {
        self.broken.get_or_insert_with(|| what.into());
    }

    /// The time since then.
    pub(crate) fn age(&self, at: Timestamp) -> SignedDuration {
        self.now.duration_since(at)
    }

    /// The number of turns with more than one running session.
    pub(crate) fn doubles(&self) -> usize {
        let live: Vec<_> = self
            .sessions
            .iter()
            .filter(|made| made.is_live())
            .map(|made| &made.marker.turn)
            .collect();
        (0..live.len())
            .filter(|index| live[..*index].contains(&live[*index]))
            .count()
    }

    /// Whether there is a session, or a request for one, of an attempt that the ledger has given up.
    pub(crate) fn is_given_up_in_vain(&self) -> bool {
        let made = self.sessions.iter().map(|made| &made.marker);
        let sent = self.wire.iter().map(|request| &request.create.marker);
        let live = |marker: &Marker| {
            let state = self.head.state()?;
            let mut turns = state.tracks.values().flat_map(|track| track.turns.values());
            turns.find(|turn| turn.turn == marker.turn)
        };
        made.chain(sent)
            .any(|marker| live(marker).is_some_and(|turn| turn.attempt > marker.attempt))
    }

    /// Whether the ledger names a session, as a turn's own or as a duplicate.
    pub(crate) fn is_known(&self, made: &Made) -> bool {
        self.head.state().is_some_and(|state| {
            state
                .history
                .values()
                .any(|entry| entry.session_id.as_ref() == Some(&made.session.id))
                || self.is_duplicate(made)
        })
    }

    /// Whether the ledger names a session as a duplicate.
    pub(crate) fn is_duplicate(&self, made: &Made) -> bool {
        self.head.state().is_some_and(|state| {
            state
                .history
                .values()
                .any(|entry| entry.duplicates.contains(&made.session.id))
        })
    }
}

impl Made {
    /// Whether it is running.
    pub(crate) fn is_live(&self) -> bool {
        !self.session.archived && self.session.state == SessionState::InProgress
    }
}
