//! What came of the effects of this tick.

use jiff::Timestamp;

use crate::engine::input::session::Session;
use crate::model::{Marker, PullNumber, Slot, TrackName};

/// What came of an effect.
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
    /// A status comment stands as it should.
    StatusTold {
        /// The request that it is about, by its key in the state.
        request: String,
        /// SHA-256 of its text.
        digest: String,
        /// The comment.
        comment_id: u64,
    },
    /// What was to be said to the session of a pull request, or to people on it, was said.
    PullTold {
        /// The pull request.
        pull: PullNumber,
        /// What stood at the end of the text.
        marker: String,
    },
    /// A draft was marked as ready, or somebody else had seen to it.
    PullReadied {
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
    /// A pull request that was to be merged is not, and nothing speaks against asking again: GitHub was not asked, or did
    /// not let it through at this moment.
    MergePutOff {
        /// The request that it is about, by its key in the state.
        request: String,
        /// Before when GitHub does not want to be asked.
        retry_at: Option<Timestamp>,
    },
    /// A proposal is an issue.
    ProposalPublished {
        /// The proposal's key in the state.
        key: String,
        /// The number.
        number: u64,
    },
    /// A work item that waits for a person is an issue.
    WorkOffered {
        /// The work item's key in the state.
        key: String,
        /// The number.
        number: u64,
    },
    /// The issue that showed a work item is closed.
    OfferClosed {
        /// Its number.
        number: u64,
    },
    /// The dashboard issue is open.
    DashboardOpened {
        /// Its number.
        number: u64,
    },
    /// GitHub refused an effect for what it asks, and refuses it again for now.
    EffectRefused {
        /// The effect's [`Effect::refusal_key`](crate::engine::Effect::refusal_key).
        key: String,
    },
    /// Another effect could not be carried out; the next tick sees for itself.
    EffectFailed {
        /// The effect's short name.
        effect: &'static str,
        /// One line, free of secrets.
        detail: String,
    },
}

/// What is known about a create that brought no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateFailure {
    /// It was never sent: the deadline had passed, or its branch could not be made. No session exists.
    NotSent {
        /// One line, free of secrets.
        detail: String,
    },
    /// Jules refused it for the repository (404, …), or phileas may not make its branch. No session exists.
    Refused {
        /// One line, free of secrets.
        detail: String,
    },
    /// It was refused for what this turn says: its prompt, its title or its start branch. Others may start. No session
    /// exists.
    TurnRefused {
        /// One line, free of secrets.
        detail: String,
    },
    /// The quota is spent (429). No session exists.
    Quota {
        /// When Jules says to come back.
        retry_at: Option<Timestamp>,
    },
    /// The key is refused (401, 403). No session exists.
    Credential {
        /// One line, free of secrets.
        detail: String,
    },
    /// Nobody knows: the answer was lost, or was a server error. A session may exist.
    Unknown {
        /// One line, free of secrets.
        detail: String,
    },
}
