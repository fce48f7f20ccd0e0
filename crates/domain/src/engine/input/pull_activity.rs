//! What happened on a pull request since it was opened. Read right before phileas labels or closes it.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::subject::Actor;
use crate::model::Oid;

/// What happened on a pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct PullActivity {
    /// The head of its branch.
    pub head: Oid,
    /// Its phileas labels: the names after [`LABEL_PREFIX`](crate::engine::LABEL_PREFIX), in lower case.
    pub labels: BTreeSet<String>,
    /// Its newest events, oldest first.
    pub events: Vec<PullEvent>,
    /// Whether there are more than were read.
    pub more: bool,
    /// Whether phileas works with a person's token. Jules answers comments of its user.
    pub as_person: bool,
}

impl PullActivity {
    /// Whether no other author has committed and no person has requested changes since it was opened; `None`: more
    /// happened than was read.
    pub(crate) fn is_zero_touch(&self, opened_at: Timestamp) -> Option<bool> {
        let is_touch = |event: &PullEvent| match event.what {
            PullChange::Committed { by_bot } => !by_bot && event.at > opened_at,
            PullChange::ForcePushed | PullChange::RequestedChanges => event.is_by_person(),
            _ => false,
        };
        (!self.more).then(|| !self.events.iter().any(is_touch))
    }

    /// The first review of a person; `None`: there is none, or more happened than was read.
    pub(crate) fn first_review(&self) -> Option<Timestamp> {
        let is_review = |event: &&PullEvent| {
            let what = &event.what;
            let kinds = [
                PullChange::Approved,
                PullChange::RequestedChanges,
                PullChange::Reviewed,
            ];
            kinds.contains(what) && event.is_by_person()
        };
        let reviews = self.events.iter().filter(is_review);
        reviews.map(|event| event.at).min().filter(|_| !self.more)
    }
}

impl PullEvent {
    /// Whether a person did it. An account that is gone counts as one.
    pub(crate) fn is_by_person(&self) -> bool {
        self.actor.as_ref().is_none_or(|actor| !actor.bot)
    }
}

/// One event of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEvent {
    /// When.
    pub at: Timestamp,
    /// Who; `None` when the account is gone, or GitHub knows none.
    pub actor: Option<Actor>,
    /// What.
    pub what: PullChange,
}

/// The kind of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullChange {
    /// A comment. Those of phileas itself are left out.
    Commented,
    /// A review that approves.
    Approved,
    /// A review that requests changes.
    RequestedChanges,
    /// Any other review.
    Reviewed,
    /// A commit, at the committer's date. `by_bot`: its author or committer is the account of an App.
    Committed {
        /// Whether Jules or another App made it.
        by_bot: bool,
    },
    /// A forced push.
    ForcePushed,
    /// It was reopened.
    Reopened,
    /// A label was removed; its whole name.
    Unlabelled(String),
}
