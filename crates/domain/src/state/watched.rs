//! What was done about a pull request of a session of ours, beside following it to its end.

use jiff::Timestamp;

use super::extra::Extra;
use crate::model::{Oid, SessionId};

/// What was done about one pull request. It is written down before it is done, and dropped when nothing more can come.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedPull {
    /// Whose it is.
    pub session_id: SessionId,
    /// The newest message about checks that failed.
    pub checks: Option<Told>,
    /// How many such messages there were, over all commits.
    pub fix_rounds: u32,
    /// The commits before that one that such messages were about.
    pub fix_heads: Vec<Oid>,
    /// The newest message about what its reviewers want changed.
    pub reviews: Option<Told>,
    /// How many such messages there were, over all commits. States of older versions count them among `fix_rounds`.
    pub review_rounds: u32,
    /// The newest message about merging its base.
    pub base: Option<Told>,
    /// How many such messages there were, over all commits.
    pub base_rounds: u32,
    /// The commits before that one that such messages were about.
    pub base_heads: Vec<Oid>,
    /// When its session and its checks are looked at next.
    pub look: Option<Look>,
    /// That it was pointed at the default branch.
    pub retargeted: Option<Told>,
    /// That it was marked as ready for review.
    pub ready: Option<Told>,
    /// That people were reminded of it.
    pub reminded: Option<Told>,
    /// When it was seen to be merged or closed. From then on only its session is to be archived.
    pub closed_at: Option<Timestamp>,
    /// When its session is looked at next, to be archived; a day after the end where nothing else is said.
    pub archive_at: Option<Timestamp>,
    /// How often its session was to be archived, or could not be read before that.
    pub archive_tries: u32,
    /// When a person was called about it last.
    pub called_at: Option<Timestamp>,
    /// How often a person was called.
    pub calls: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// When what only a look of its own can tell is looked at next.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The commit; another one is looked at at once.
    pub head: Oid,
    /// Not before this.
    pub not_before: Timestamp,
    /// How often in a row nothing could be done.
    pub waits: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// Something that was decided to be said or done once about one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The commit.
    pub head: Oid,
    /// When it was decided, the last time.
    pub at: Timestamp,
    /// Whether it is known to have been said or done.
    pub told: bool,
    /// How often it was decided again, because it did not arrive.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

impl WatchedPull {
    /// One that nothing was done about yet.
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
    /// Decided now, for the first time.
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
