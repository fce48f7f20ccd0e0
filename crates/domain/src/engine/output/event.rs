//! Results of the effects of this tick.

use jiff::Timestamp;

use crate::engine::input::session::Session;
use crate::model::{Marker, PullNumber, Slot, TrackName};

/// The result of an effect.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Jules answered a create with a session.
    SessionCreated {
        /// The track of its turn.
        track: TrackName,
        /// The slot of its turn.
        slot: Slot,
        /// The turn and attempt that it was created for.
        marker: Marker,
        /// The session.
        session: Session,
    },
    /// Jules did not answer a create with a session.
    SessionNotCreated {
        /// The track of its turn.
        track: TrackName,
        /// The slot of its turn.
        slot: Slot,
        /// The turn and attempt.
        marker: Marker,
        /// What is known.
        failure: CreateFailure,
    },
    /// A status comment was written.
    StatusWritten {
        /// The request that it is about, by its key in the state.
        request: String,
        /// SHA-256 of its text.
        digest: String,
        /// The comment.
        comment_id: u64,
    },
    /// A message to the session of a pull request, or a reminder on it, was delivered.
    PullNotified {
        /// The pull request.
        pull: PullNumber,
        /// The marker of the text.
        marker: String,
    },
    /// A draft was marked as ready, by phileas or by a person.
    PullMarkedReady {
        /// The pull request.
        pull: PullNumber,
    },
    /// A pull request has its label.
    LabelAdded {
        /// The pull request.
        pull: PullNumber,
    },
    /// A pull request that was to be closed is closed.
    PullClosed {
        /// The pull request.
        pull: PullNumber,
    },
    /// A pull request that was to be merged is merged.
    PullMerged {
        /// The request that it is about, by its key in the state.
        request: String,
    },
    /// GitHub refused to merge a pull request, and it is not merged.
    MergeRefused {
        /// The request that it is about, by its key in the state.
        request: String,
        /// One line, free of secrets.
        detail: String,
    },
    /// GitHub did not merge a pull request, and a later attempt may succeed: GitHub was not asked, or did not allow it
    /// at that moment.
    MergePostponed {
        /// The request that it is about, by its key in the state.
        request: String,
        /// The earliest time of the next attempt, where GitHub named one.
        retry_at: Option<Timestamp>,
    },
    /// The issue of a proposal is open.
    ProposalPublished {
        /// The proposal's key in the state.
        key: String,
        /// The number.
        number: u64,
    },
    /// The issue of a work item is open.
    WorkItemOpened {
        /// The work item's key in the state.
        key: String,
        /// The number.
        number: u64,
    },
    /// The issue of a work item is closed.
    WorkItemClosed {
        /// Its number.
        number: u64,
    },
    /// The dashboard issue is open.
    DashboardOpened {
        /// Its number.
        number: u64,
    },
    /// GitHub refused an effect for its content, so repeating it at once is useless.
    EffectRefused {
        /// The effect's [`Effect::refusal_key`](crate::engine::Effect::refusal_key).
        key: String,
    },
    /// Another effect failed; the next tick decides again.
    EffectFailed {
        /// The effect's short name.
        effect: &'static str,
        /// One line, free of secrets.
        detail: String,
    },
}

/// Why a create call returned no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateFailure {
    /// It was never sent: the deadline had passed, or its branch could not be created. No session exists.
    NotSent {
        /// One line, free of secrets.
        detail: String,
    },
    /// Jules refused it for the repository (404, …), or phileas may not create its branch. No session exists.
    Refused {
        /// One line, free of secrets.
        detail: String,
    },
    /// Jules refused this turn's content: its prompt, its title or its start branch. Other turns may start. No session
    /// exists.
    TurnRefused {
        /// One line, free of secrets.
        detail: String,
    },
    /// The quota is spent (429). No session exists.
    Quota {
        /// The earliest time of the next attempt, as Jules says.
        retry_at: Option<Timestamp>,
    },
    /// The key is refused (401, 403). No session exists.
    Credential {
        /// One line, free of secrets.
        detail: String,
    },
    /// Unknown: the answer was lost, or was a server error. A session may exist.
    Unknown {
        /// One line, free of secrets.
        detail: String,
    },
}
