//! Decides which comment is ours, and which ones are its copies.
//!
//! Deleting cannot be undone, so only what a race can leave is a copy: written by this account within minutes of the
//! one that stays, edited by no other account, and with our first and last line.

use jiff::{SignedDuration, Timestamp};

use crate::adapters::github::wire::common::Opener;
use crate::adapters::github::wire::subject::Comment;

/// The longest time between a comment and its copy. A comment that this account writes later is intentional; the
/// account may be a person's.
const RACE: SignedDuration = SignedDuration::from_mins(10);
/// The login of Jules' bot in GraphQL.
pub(super) const JULES: &str = "google-labs-jules";

/// A comment that may be ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) id: u64,
    pub(super) author: Author,
    written_at: Timestamp,
    /// Whether it has our form and no one but its author edited it.
    is_untouched: bool,
    /// Whether it says already what is to be said.
    is_up_to_date: bool,
}

/// Who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Author {
    /// This very account.
    Viewer,
    Bot,
    /// Counts if this person may write.
    Person(String),
}

/// A comment that is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnComment {
    pub(super) id: u64,
    /// Whether this very account wrote it.
    pub(super) own: bool,
    /// Whether it says already what is to be said.
    pub(super) is_up_to_date: bool,
    /// Its younger copies that this very account wrote, oldest first.
    pub(super) copies: Vec<u64>,
}

impl Candidate {
    pub(super) fn from_comment(comment: Comment, marker: &str, body: &str) -> Option<Self> {
        let is_framed = is_framed(&comment.body, marker, body);
        let editor = comment.editor.as_ref().map(|editor| &editor.login);
        let is_foreign = comment.last_edited_at.is_some()
            && editor != comment.author.as_ref().map(|author| &author.login);
        let author = if comment.viewer_did_author {
            comment.body.contains(marker).then_some(Author::Viewer)?
        } else if is_framed
            && Opener::may_be_phileas(comment.author.as_ref(), &comment.author_association)
        {
            let Opener { kind, login } = comment.author?;
            match (kind.as_str(), login?) {
                ("Bot", login) if login != JULES => Author::Bot,
                ("User", login) => Author::Person(login),
                _ => return None,
            }
        } else {
            return None;
        };
        Some(Self {
            id: comment.full_database_id?.parse().ok()?,
            author,
            written_at: comment.created_at,
            is_untouched: is_framed && !is_foreign,
            is_up_to_date: comment.body.lines().eq(body.lines()),
        })
    }

    /// Whether this account wrote it and its text is still ours.
    fn is_own_and_untouched(&self) -> bool {
        self.author == Author::Viewer && self.is_untouched
    }
}

impl OwnComment {
    /// Chooses the comment to write to. Of several by this account it is the oldest, whichever is known, so that all
    /// replicas agree.
    pub(super) fn choose(chosen: &Candidate, found: &[Candidate]) -> Self {
        let own = chosen.author == Author::Viewer;
        let untouched = || found.iter().filter(|one| one.is_own_and_untouched());
        let stays = untouched()
            .filter(|one| own && one.id < chosen.id)
            .min_by_key(|one| one.id)
            .unwrap_or(chosen);
        let is_copy = |one: &&Candidate| {
            one.id > stays.id && one.written_at.duration_since(stays.written_at) <= RACE
        };
        let mut copies = Vec::from_iter(untouched().filter(is_copy).map(|one| one.id));
        copies.sort_unstable();
        Self {
            id: stays.id,
            own,
            is_up_to_date: stays.is_up_to_date,
            copies,
        }
    }
}

/// Whether a text starts with the same line as the new body, and its last line is the marker alone.
fn is_framed(text: &str, marker: &str, body: &str) -> bool {
    let first = |text: &str| text.lines().next().map(|line| line.trim_end().to_owned());
    let last = text.trim_end().lines().next_back();
    first(text) == first(body) && last == Some(marker) && text.matches(marker).count() == 1
}
