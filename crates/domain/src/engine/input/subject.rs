//! What a person's wish was put on, and who put it there: facts that are read only when a wish has to be decided on.

use std::collections::BTreeSet;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::model::{BranchName, Login, Oid};

/// Stands before every label of ours.
pub const LABEL_PREFIX: &str = "phileas:";

/// An issue or a pull request that somebody's wish is about. Its texts are untrusted.
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
    /// When anything was last done to it.
    pub touched_at: Timestamp,
    /// The newest edits of an issue's description, newest first; the text that was written first counts as one.
    pub edits: Vec<SubjectEdit>,
    /// The words behind [`LABEL_PREFIX`] of the labels of ours that it bears, in lower case.
    pub labels: BTreeSet<String>,
    /// The ends of a pull request; `None` for an issue.
    pub pull: Option<Ends>,
    /// What happened to it, oldest first, as far as it bears on wishes.
    pub events: Vec<SubjectEvent>,
}

/// The two ends of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// Its branch.
    pub head: BranchName,
    /// The commit on it.
    pub head_oid: Oid,
    /// The commit that it starts from.
    pub base_oid: Oid,
    /// Whether the branch lives in the very same repository, by its id.
    pub same_repository: bool,
}

/// One thing that happened to an issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectEvent {
    /// Its node id.
    pub id: String,
    /// When. Pushed commits have no time that GitHub vouches for.
    pub at: Option<Timestamp>,
    /// Who did it; `None` when the account is gone.
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
    /// [`text_digest`](crate::engine::text_digest) of the text that it left; `None` where that was not read or was deleted.
    pub digest: Option<String>,
}

/// What happened to an issue or pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubjectChange {
    /// A label was put on.
    Labelled(String),
    /// A label was taken off.
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
    /// Whether it is anything but a person.
    pub bot: bool,
}

/// What an account may do in the repository at the time of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    /// The number of the account that the login belongs to now.
    pub id: Option<u64>,
    /// Whether it may write, maintain or administer.
    pub writes: bool,
}

impl Subject {
    /// SHA-256 over everything that a wish binds to: title, description and the two ends of a pull request.
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
            // The length keeps a text from passing for the end of one part and the beginning of the next.
            hash.update(format!("{}\n", part.len()));
            hash.update(part);
        }
        format!(
            "sha256:{}",
            data_encoding::HEXLOWER.encode(&hash.finalize())
        )
    }

    /// The newest event that put on a label which nobody has taken off since.
    pub(crate) fn labelling(&self, label: &str) -> Option<&SubjectEvent> {
        let about = |event: &&SubjectEvent| match &event.what {
            SubjectChange::Labelled(name) | SubjectChange::Unlabelled(name) => {
                // As the words of labels were made: letters beyond ASCII have cases too.
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

    /// Whether its text or its commits were changed since a wish. Times of GitHub are whole seconds, so an edit within the
    /// second of the wish counts as later: nobody can tell what was read.
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
    fn every_part_of_the_content_counts_and_its_place() {
        let ends = |head: &str, base: &str| Ends {
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
    fn a_label_is_found_in_whatever_case_it_was_put_on() {
        let event = |name: &str| SubjectEvent {
            id: name.to_owned(),
            at: None,
            actor: None,
            what: SubjectChange::Labelled(name.to_owned()),
        };
        let mut bearer = subject("a", "b");
        bearer.events = vec![event("Phileas:ÄRGER"), event("phileas:other")];
        let found = bearer.labelling("phileas:ärger").map(|one| one.id.as_str());
        assert_eq!(found, Some("Phileas:ÄRGER"));
        assert_eq!(bearer.labelling("phileas:arger"), None);
    }
}
