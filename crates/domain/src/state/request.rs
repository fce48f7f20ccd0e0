//! The kinds and outcomes of requests, as the state file spells them.

use super::{Outcome, RequestState};

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
