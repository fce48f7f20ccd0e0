//! What phileas did about an open pull request of one of its sessions.

use jiff::Timestamp;

use super::extra::Extra;
use crate::model::{Oid, SessionId};

/// What phileas did about one pull request.
///
/// An action is recorded before it is taken. The record is dropped when nothing more can follow.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedPull {
    /// The session that opened it.
    pub session_id: SessionId,
    /// The newest message about failed checks.
    pub checks: Option<Told>,
    /// How many such messages phileas sent, over all commits.
    pub fix_rounds: u32,
    /// The earlier commits that such messages were about.
    pub fix_heads: Vec<Oid>,
    /// The newest message about change requests of its reviewers.
    pub reviews: Option<Told>,
    /// How many such messages phileas sent, over all commits.
    pub review_rounds: u32,
    /// The newest message about conflicts with its base branch.
    pub base: Option<Told>,
    /// How many such messages phileas sent, over all commits.
    pub base_rounds: u32,
    /// The earlier commits that such messages were about.
    pub base_heads: Vec<Oid>,
    /// When phileas checks its session and its checks next.
    pub look: Option<Look>,
    /// The change of its base branch to the default branch.
    pub retargeted: Option<Told>,
    /// The change from draft to ready for review.
    pub ready: Option<Told>,
    /// The newest reminder to its reviewers.
    pub reminded: Option<Told>,
    /// When phileas saw that it was merged or closed. From then on only its session is left to archive.
    pub closed_at: Option<Timestamp>,
    /// When phileas tries next to archive its session [a day after the end].
    pub archive_at: Option<Timestamp>,
    /// How often phileas tried to archive its session, or to read it before that.
    pub archive_tries: u32,
    /// When phileas last opened a notice about it.
    pub called_at: Option<Timestamp>,
    /// How many notices phileas opened about it.
    pub calls: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// When phileas next checks what needs a read of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
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
pub struct Told {
    /// The commit.
    pub head: Oid,
    /// When phileas last decided it.
    pub at: Timestamp,
    /// Whether the action is known to have succeeded.
    pub told: bool,
    /// How often phileas decided it again, because it did not succeed.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

impl WatchedPull {
    /// A pull request about which phileas did nothing yet.
    #[must_use]
    pub fn new(session_id: SessionId) -> Self {
        Self {
            session_id,
            checks: None,
            fix_rounds: 0,
            fix_heads: Vec::new(),
            reviews: None,
            review_rounds: 0,
            base: None,
            base_rounds: 0,
            base_heads: Vec::new(),
            look: None,
            retargeted: None,
            ready: None,
            reminded: None,
            closed_at: None,
            archive_at: None,
            archive_tries: 0,
            called_at: None,
            calls: 0,
            extra: Extra::new(),
        }
    }
}

impl Told {
    /// An action that is decided now, for the first time.
    #[must_use]
    pub fn new(head: Oid, at: Timestamp) -> Self {
        Self {
            head,
            at,
            told: false,
            repeats: 0,
            extra: Extra::new(),
        }
    }
}
