//! What phileas did about an open pull request of one of its sessions.

use jiff::Timestamp;

use super::extra::Extra;
use crate::model::{Oid, SessionId};

/// What phileas did about one pull request.
///
/// An action is recorded before it is taken. The record is dropped when nothing more can follow.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackedPull {
    /// The session that opened it.
    pub session_id: SessionId,
    /// The newest message about failed checks.
    pub checks: Option<PullAction>,
    /// How many such messages phileas sent, over all commits.
    pub fix_rounds: u32,
    /// The earlier commits that such messages were about.
    pub notified_heads: Vec<Oid>,
    /// The newest message about change requests of its reviewers.
    pub reviews: Option<PullAction>,
    /// How many such messages phileas sent, over all commits.
    pub review_rounds: u32,
    /// The newest message about conflicts with its base branch.
    pub conflicts: Option<PullAction>,
    /// How many such messages phileas sent, over all commits.
    pub conflict_rounds: u32,
    /// The earlier commits that such messages were about.
    pub conflict_heads: Vec<Oid>,
    /// When phileas checks its session and its checks next.
    pub next_check: Option<NextCheck>,
    /// The change of its base branch to the default branch.
    pub retargeted: Option<PullAction>,
    /// The change from draft to ready for review.
    pub draft_ready: Option<PullAction>,
    /// The newest reminder to its reviewers.
    pub reminded: Option<PullAction>,
    /// When phileas saw that it was merged or closed. From then on only its session is left to archive.
    pub closed_at: Option<Timestamp>,
    /// When phileas tries next to archive its session [a day after the end].
    pub archive_at: Option<Timestamp>,
    /// How often phileas tried to archive its session, or to read it before that.
    pub archive_tries: u32,
    /// When phileas last opened a notice about it.
    pub notice_opened_at: Option<Timestamp>,
    /// How many notices phileas opened about it.
    pub notices_opened: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// When phileas next checks what needs a read of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct NextCheck {
    /// The commit. Another one is checked at once.
    pub head: Oid,
    /// Not before this.
    pub not_before: Timestamp,
    /// How often in a row the check led to no action.
    pub waits: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// A message or a change that phileas makes once for one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct PullAction {
    /// The commit.
    pub head: Oid,
    /// When phileas last decided it.
    pub at: Timestamp,
    /// Whether the action is known to have succeeded.
    pub notified: bool,
    /// How often phileas decided it again, because it did not succeed.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

impl TrackedPull {
    /// A pull request about which phileas did nothing yet.
    #[must_use]
    pub fn new(session_id: SessionId) -> Self {
        Self {
            session_id,
            checks: None,
            fix_rounds: 0,
            notified_heads: Vec::new(),
            reviews: None,
            review_rounds: 0,
            conflicts: None,
            conflict_rounds: 0,
            conflict_heads: Vec::new(),
            next_check: None,
            retargeted: None,
            draft_ready: None,
            reminded: None,
            closed_at: None,
            archive_at: None,
            archive_tries: 0,
            notice_opened_at: None,
            notices_opened: 0,
            extra: Extra::new(),
        }
    }
}

impl PullAction {
    /// An action that is decided now, for the first time.
    #[must_use]
    pub fn new(head: Oid, at: Timestamp) -> Self {
        Self {
            head,
            at,
            notified: false,
            repeats: 0,
            extra: Extra::new(),
        }
    }
}
