//! The state of a request, and the names of its kind and outcome in the file.

use jiff::Timestamp;

use super::entry::Outcome;
use super::extra::Extra;
use crate::model::{Oid, PersonaId, TurnId};

/// A request of a person, and its outcome.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestState {
    /// `label`, `comment`, `dispatch`, …
    pub kind: String,
    /// The node id of the issue or pull request that it was made on.
    pub subject: Option<String>,
    /// The digest of the text that it was made on.
    pub digest: Option<String>,
    /// The login of the person.
    pub actor: Option<String>,
    /// The numeric account id, which survives a rename of the login.
    pub actor_id: Option<u64>,
    /// The number of the issue or pull request that it was made on.
    pub thread: Option<u64>,
    /// The requested persona, where the subject does not name it.
    pub persona: Option<PersonaId>,
    /// The command, if it does not start a session.
    pub command: Option<String>,
    /// `dispatched`, `refused`, …
    pub outcome: Option<String>,
    /// The answer to a command, in phileas' own words.
    pub answer: Option<String>,
    /// Why it was refused: a reason code.
    pub reason: Option<String>,
    /// The turn that it started.
    pub turn: Option<TurnId>,
    /// The number of its track `request:<number>`.
    pub number: Option<u64>,
    /// The status comment, which phileas edits.
    pub comment_id: Option<u64>,
    /// The newest text of that comment. It covers all requests of a subject and belongs to the newest one.
    pub status: Option<StatusState>,
    /// The progress of the merge that it asks for.
    pub merge: Option<MergeState>,
    /// The reviewed commit, if it asks phileas to send the reviewers' change requests to the session.
    pub reviews_of: Option<Oid>,
    /// When the person made the request, by GitHub's clock.
    pub requested_at: Option<Timestamp>,
    /// When phileas accepted it.
    pub created_at: Option<Timestamp>,
    /// When it was finished. It is dropped 30 days later.
    pub finished_at: Option<Timestamp>,
    /// Unknown keys.
    pub extra: Extra,
}

/// The progress of a requested merge.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeState {
    /// The commit to merge, and no other.
    pub head: Oid,
    /// When phileas last decided to ask GitHub for the merge.
    pub sent_at: Option<Timestamp>,
    /// How often phileas decided that.
    pub attempts: u32,
    /// phileas does not check the merge again before this time.
    pub not_before: Option<Timestamp>,
    /// How often phileas deferred the merge, because GitHub could not tell or do it yet.
    pub deferrals: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// The newest text of a status comment.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusState {
    /// SHA-256 of the text.
    pub digest: String,
    /// SHA-256 of the text without the reasons to wait, which change often.
    pub stable_digest: Option<String>,
    /// When phileas last decided to write it.
    pub at: Timestamp,
    /// Whether GitHub has confirmed the write.
    pub notified: bool,
    /// How often phileas decided to write the same text again.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// How a request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// By the command line or a workflow input.
    CommandLine,
    /// By a label.
    Label,
    /// By a comment.
    Comment,
    /// By a checkbox of the dashboard issue.
    Checkbox,
    /// By importing a session that was started outside phileas.
    Import,
}

impl RequestKind {
    /// The name in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CommandLine => "dispatch",
            Self::Label => "label",
            Self::Comment => "comment",
            Self::Checkbox => "box",
            Self::Import => "import",
        }
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It was accepted and has not started.
    Pending,
    /// Its turn was announced.
    Dispatched,
    /// Its command was executed.
    Done,
    /// It was not authorized, or cannot be fulfilled.
    Refused,
    /// Its turn has this outcome, or it was withdrawn.
    Turn(Outcome),
}

impl RequestOutcome {
    /// The name in the file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::Dispatched => "dispatched",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Turn(outcome) => outcome.as_str(),
        }
    }

    /// Parses a name; an unknown one is kept as a turn's outcome.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "pending" => Self::Pending,
            "dispatched" => Self::Dispatched,
            "done" => Self::Done,
            "refused" => Self::Refused,
            other => Self::Turn(Outcome::parse(other)),
        }
    }
}

impl RequestState {
    /// Whether the request was made this way.
    #[must_use]
    pub fn is_of_kind(&self, kind: RequestKind) -> bool {
        self.kind == kind.as_str()
    }

    /// Whether a label or a comment on an issue or pull request made the request.
    #[must_use]
    pub fn is_on_thread(&self) -> bool {
        self.is_of_kind(RequestKind::Label) || self.is_of_kind(RequestKind::Comment)
    }

    /// What became of the request; `None`: the file does not say.
    #[must_use]
    pub fn parsed_outcome(&self) -> Option<RequestOutcome> {
        self.outcome.as_deref().map(RequestOutcome::parse)
    }

    /// Whether the request has this outcome.
    #[must_use]
    pub fn has_outcome(&self, outcome: &RequestOutcome) -> bool {
        self.outcome.as_deref() == Some(outcome.as_str())
    }

    /// Whether the request was accepted and has not started.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.has_outcome(&RequestOutcome::Pending)
    }

    /// Whether the request was refused.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.has_outcome(&RequestOutcome::Refused)
    }

    /// Records what became of the request.
    pub fn set_outcome(&mut self, outcome: &RequestOutcome) {
        self.outcome = Some(outcome.as_str().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_parsed_as_they_are_written() {
        for outcome in [
            RequestOutcome::Pending,
            RequestOutcome::Dispatched,
            RequestOutcome::Done,
            RequestOutcome::Refused,
            RequestOutcome::Turn(Outcome::Merged),
            RequestOutcome::Turn(Outcome::Other("newer".to_owned())),
        ] {
            assert_eq!(RequestOutcome::parse(outcome.as_str()), outcome);
        }
    }
}
