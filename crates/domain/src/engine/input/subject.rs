//! The issue or pull request of a request, with its history. Read only when a request has to be decided.

use std::collections::BTreeSet;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::model::{BranchName, Login, Oid};

/// Prefix of every label of phileas.
pub const LABEL_PREFIX: &str = "phileas:";

/// The issue or pull request of a request. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Its node id.
    pub id: String,
    /// Its number.
    pub number: u64,
    /// Whether it is open.
    pub open: bool,
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Who opened it; `None` when the account is gone.
    pub author: Option<Actor>,
    /// When the description was last edited.
    pub edited_at: Option<Timestamp>,
    /// When it was last updated.
    pub touched_at: Timestamp,
    /// The newest edits of an issue's description, newest first; the original text counts as one.
    pub edits: Vec<SubjectEdit>,
    /// Its phileas labels: the names after [`LABEL_PREFIX`], in lower case.
    pub labels: BTreeSet<String>,
    /// The ends of a pull request; `None` for an issue.
    pub pull: Option<PullEnds>,
    /// Its events that matter to requests, oldest first.
    pub events: Vec<SubjectEvent>,
}

/// The two ends of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEnds {
    /// Its branch.
    pub head: BranchName,
    /// The commit on it.
    pub head_oid: Oid,
    /// The commit of its base.
    pub base_oid: Oid,
    /// Whether the branch is in the same repository, by its id.
    pub same_repository: bool,
}

/// An event of an issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectEvent {
    /// Its node id.
    pub id: String,
    /// When. GitHub gives no reliable time for pushed commits.
    pub at: Option<Timestamp>,
    /// The actor; `None` when the account is gone.
    pub actor: Option<Actor>,
    /// What.
    pub what: SubjectChange,
}

/// One edit of an issue's description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectEdit {
    /// Its node id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// Who; `None` when the account is gone.
    pub actor: Option<Actor>,
    /// [`text_digest`](crate::engine::text_digest) of the text after the edit; `None` where that was not read or was
    /// deleted.
    pub digest: Option<String>,
}

/// The kind of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubjectChange {
    /// A label was added.
    Labelled(String),
    /// A label was removed.
    Unlabelled(String),
    /// The title was changed.
    Renamed,
    /// Commits were pushed.
    Pushed,
}

/// An account as GitHub names it in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The login; those of bots end in `[bot]`.
    pub login: Login,
    /// The account's number.
    pub id: Option<u64>,
    /// Whether it is a bot or another non-person.
    pub bot: bool,
}

/// The permission of an account in the repository, as of this tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    /// The number of the account that has the login now.
    pub id: Option<u64>,
    /// Whether it has write access or more.
    pub writes: bool,
}

impl Subject {
    /// SHA-256 over the content that a request is bound to: title, description and both ends of a pull request.
    #[must_use]
    pub fn digest(&self) -> String {
        let ends = self.pull.as_ref();
        let mut hash = Sha256::new();
        hash.update(b"phileas/content/1\n");
        for part in [
            self.title.as_str(),
            self.body.as_str(),
            ends.map_or("", |ends| ends.head_oid.as_str()),
            ends.map_or("", |ends| ends.base_oid.as_str()),
        ] {
            // The length separates the parts, so that no text can pass as the end of one and the beginning of the next.
            hash.update(format!("{}\n", part.len()));
            hash.update(part);
        }
        format!(
            "sha256:{}",
            data_encoding::HEXLOWER.encode(&hash.finalize())
        )
    }

    /// Returns the newest event that added a label, if the label was not removed since.
    pub(crate) fn label_event(&self, label: &str) -> Option<&SubjectEvent> {
        let about = |event: &&SubjectEvent| match &event.what {
            SubjectChange::Labelled(name) | SubjectChange::Unlabelled(name) => {
                // Compare as labels were lowered: letters beyond ASCII have cases, too.
                name.to_lowercase() == label.to_lowercase()
            }
            SubjectChange::Renamed | SubjectChange::Pushed => false,
        };
        self.events
            .iter()
            .rev()
            .find(about)
            .filter(|event| matches!(event.what, SubjectChange::Labelled(_)))
    }

    /// Whether its text or its commits were changed since a request. GitHub's times are whole seconds, so an edit
    /// within the request's second counts as later.
    pub(crate) fn changed_since(&self, event: Option<&str>, at: Timestamp) -> bool {
        let after = event.and_then(|id| self.events.iter().position(|one| one.id == id));
        let changes = self.events.iter().enumerate().any(|(place, one)| {
            matches!(one.what, SubjectChange::Renamed | SubjectChange::Pushed)
                && match after {
                    Some(after) => place > after,
                    None => one.at.is_some_and(|one| one >= at),
                }
        });
        changes || self.edited_at.is_some_and(|edited| edited >= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(title: &str, body: &str) -> Subject {
        Subject {
            id: "I_1".to_owned(),
            number: 1,
            open: true,
            title: title.to_owned(),
            body: body.to_owned(),
            author: None,
            edited_at: None,
            touched_at: Timestamp::UNIX_EPOCH,
            edits: Vec::new(),
            labels: BTreeSet::new(),
            pull: None,
            events: Vec::new(),
        }
    }

    #[test]
    fn the_digest_covers_every_part_and_its_position() {
        let ends = |head: &str, base: &str| PullEnds {
            head: "topic".into(),
            head_oid: head.into(),
            base_oid: base.into(),
            same_repository: true,
        };
        let pull = |head: &str, base: &str| Subject {
            pull: Some(ends(head, base)),
            ..subject("a", "b")
        };
        let digests = [
            subject("a", "b").digest(),
            subject("ab", "").digest(),
            subject("", "ab").digest(),
            subject("b", "a").digest(),
            pull("1f", "2f").digest(),
            pull("2f", "1f").digest(),
        ];
        for (place, one) in digests.iter().enumerate() {
            assert!(!digests[place + 1..].contains(one), "{place}");
        }
        assert_eq!(subject("a", "b").digest(), digests[0]);
        assert!(digests[0].starts_with("sha256:"));
    }

    #[test]
    fn a_label_is_found_regardless_of_case() {
        let event = |name: &str| SubjectEvent {
            id: name.to_owned(),
            at: None,
            actor: None,
            what: SubjectChange::Labelled(name.to_owned()),
        };
        let mut bearer = subject("a", "b");
        bearer.events = vec![event("Phileas:ÄRGER"), event("phileas:other")];
        let found = bearer
            .label_event("phileas:ärger")
            .map(|one| one.id.as_str());
        assert_eq!(found, Some("Phileas:ÄRGER"));
        assert_eq!(bearer.label_event("phileas:arger"), None);
    }
}
