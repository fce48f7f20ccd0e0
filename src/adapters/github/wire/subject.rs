//! Issues and pull requests that requests refer to, and the comments on them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use phileas_domain::engine::{
    Actor, Comment as Command, LABEL_PREFIX, PullEnds, Subject, SubjectChange, SubjectEdit,
    SubjectEvent, parse_command,
};
use phileas_domain::model::Login;
use serde::Deserialize;

use super::common::{Named, Opener};
use super::{Connection, present};

/// The suffix of every bot's login in REST and in the plan. GraphQL leaves it out.
const BOT_SUFFIX: &str = "[bot]";

/// The account of this client's token.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Viewer {
    login: String,
    #[serde(deserialize_with = "present")]
    database_id: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Account {
    #[serde(rename = "__typename")]
    kind: String,
    login: String,
    /// Present for people and bots only.
    #[serde(default)]
    database_id: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "__typename")]
pub(crate) enum SubjectFacts {
    Issue(IssueFacts),
    PullRequest(PullFacts),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    id: String,
    number: u64,
    title: String,
    body: String,
    closed: bool,
    #[serde(deserialize_with = "present")]
    last_edited_at: Option<Timestamp>,
    updated_at: Timestamp,
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    #[serde(deserialize_with = "present")]
    labels: Option<Connection<Named>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueFacts {
    #[serde(flatten)]
    content: Content,
    issue_events: Connection<TimelineItem>,
    /// Null if it was never edited.
    #[serde(deserialize_with = "present")]
    user_content_edits: Option<Connection<ContentEdit>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContentEdit {
    id: String,
    edited_at: Timestamp,
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    editor: Option<Account>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullFacts {
    #[serde(flatten)]
    content: Content,
    head_ref_name: String,
    head_ref_oid: String,
    base_ref_oid: String,
    is_cross_repository: bool,
    /// Null when the fork is gone.
    #[serde(deserialize_with = "present")]
    head_repository: Option<HeadRepository>,
    pull_events: Connection<TimelineItem>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadRepository {
    #[serde(deserialize_with = "present")]
    database_id: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "__typename")]
enum TimelineItem {
    LabeledEvent(LabelEvent),
    UnlabeledEvent(LabelEvent),
    RenamedTitleEvent(TimedEvent),
    HeadRefForcePushedEvent(TimedEvent),
    PullRequestCommit { id: String },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LabelEvent {
    #[serde(flatten)]
    event: TimedEvent,
    label: Named,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TimedEvent {
    id: String,
    created_at: Timestamp,
    #[serde(deserialize_with = "present")]
    actor: Option<Account>,
}

/// The newest comments on an issue or pull request.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentThread {
    total_count: usize,
    nodes: Vec<Option<ThreadComment>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadComment {
    id: String,
    #[serde(deserialize_with = "present")]
    full_database_id: Option<String>,
    created_at: Timestamp,
    #[serde(deserialize_with = "present")]
    last_edited_at: Option<Timestamp>,
    /// What the author is to the repository.
    #[serde(default)]
    author_association: String,
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    /// Left out where it was not asked for.
    #[serde(default)]
    body: Option<String>,
}

impl CommentThread {
    /// Time and id of each comment that came without its text.
    pub(crate) fn without_text(&self) -> impl Iterator<Item = (Timestamp, &str)> {
        let shown = self.nodes.iter().flatten();
        shown
            .filter(|comment| comment.body.is_none())
            .map(|comment| (comment.created_at, comment.id.as_str()))
    }

    /// Fills in texts that were read separately.
    pub(crate) fn fill_in_texts(&mut self, texts: &BTreeMap<String, String>) {
        for comment in self.nodes.iter_mut().flatten() {
            let text = texts.get(&comment.id).cloned();
            comment.body = comment.body.take().or(text);
        }
    }

    /// The time after which every comment is shown with its text; `None`: all are.
    pub(crate) fn truncated_at(&self) -> Option<Timestamp> {
        let shown = self.nodes.iter().flatten();
        let oldest = shown.map(|comment| comment.created_at).min();
        let is_cut = self.total_count > self.nodes.len();
        let unread = self.without_text().map(|(at, _)| at).max();
        oldest.filter(|_| is_cut).max(unread)
    }

    /// The comments with a command for phileas.
    pub(crate) fn into_commands(self, thread: u64) -> impl Iterator<Item = Command> {
        let comments = self.nodes.into_iter().flatten();
        comments.filter_map(move |comment| {
            let body = comment.body?;
            parse_command(&body)?;
            Some(Command {
                id: comment.id,
                number: comment.full_database_id?.parse().ok()?,
                thread,
                created_at: comment.created_at,
                edited: comment.last_edited_at.is_some(),
                author: comment.author.map(Actor::from),
                may_belong_to_project: is_insider(&comment.author_association),
                body,
            })
        })
    }
}

/// Whether an author association belongs to the repository. GitHub may report members with private membership as
/// contributors.
/// <https://docs.github.com/en/graphql/reference/enums#commentauthorassociation>
pub(crate) fn is_insider(association: &str) -> bool {
    ["OWNER", "MEMBER", "COLLABORATOR"].contains(&association)
}

/// One of the comments that `own_comments.graphql` shows.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comment {
    /// A number of more than 32 bits, as text.
    #[serde(deserialize_with = "present")]
    pub(crate) full_database_id: Option<String>,
    pub(crate) viewer_did_author: bool,
    /// What the author is to the repository.
    pub(crate) author_association: String,
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    pub(crate) author: Option<Opener>,
    /// The last editor; null if it was never edited, or the account is gone.
    #[serde(deserialize_with = "present")]
    pub(crate) editor: Option<Opener>,
    pub(crate) created_at: Timestamp,
    #[serde(deserialize_with = "present")]
    pub(crate) last_edited_at: Option<Timestamp>,
    pub(crate) body: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comments {
    pub(crate) page_info: PreviousPage,
    pub(crate) nodes: Vec<Option<Comment>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviousPage {
    pub(crate) has_previous_page: bool,
    pub(crate) start_cursor: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Thread {
    pub(crate) comments: Comments,
}

/// A person's permission, in a REST answer.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Permission {
    pub(crate) permission: String,
    pub(crate) user: Option<Numbered>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Numbered {
    pub(crate) id: u64,
}

impl From<Viewer> for Actor {
    fn from(viewer: Viewer) -> Self {
        Self {
            bot: viewer.login.ends_with(BOT_SUFFIX),
            login: viewer.login.into(),
            id: viewer.database_id,
        }
    }
}

impl From<Account> for Actor {
    fn from(account: Account) -> Self {
        let bot = account.kind != "User";
        let bare = account.login.trim_end_matches(BOT_SUFFIX);
        let login = match account.kind.as_str() {
            "Bot" => Login::new(format!("{bare}{BOT_SUFFIX}")),
            _ => Login::new(account.login),
        };
        Self {
            login,
            id: account.database_id,
            bot,
        }
    }
}

impl SubjectFacts {
    /// The subject as the engine sees it. `repository` is the id of the queried repository.
    pub(crate) fn into_subject(self, repository: Option<u64>) -> Subject {
        let mut edits = Vec::new();
        let (content, pull, events) = match self {
            Self::Issue(issue) => {
                let all = issue.user_content_edits.into_iter().flatten();
                edits.extend(all.map(SubjectEdit::from));
                // GitHub documents no order; edits of the same instant keep theirs.
                edits.sort_by_key(|edit: &SubjectEdit| std::cmp::Reverse(edit.at));
                (issue.content, None, issue.issue_events)
            }
            Self::PullRequest(pull) => {
                let head = pull.head_repository.and_then(|head| head.database_id);
                let ends = PullEnds {
                    head: pull.head_ref_name.into(),
                    head_oid: pull.head_ref_oid.into(),
                    base_oid: pull.base_ref_oid.into(),
                    // Names may be reused, ids never are.
                    same_repository: !pull.is_cross_repository
                        && repository.is_some()
                        && head == repository,
                };
                (pull.content, Some(ends), pull.pull_events)
            }
        };
        Subject {
            id: content.id,
            number: content.number,
            open: !content.closed,
            title: content.title,
            body: content.body,
            author: content.author.map(Actor::from),
            edited_at: content.last_edited_at,
            touched_at: content.updated_at,
            edits,
            labels: phileas_labels(content.labels.into_iter().flatten()),
            pull,
            events: events.into_iter().map(SubjectEvent::from).collect(),
        }
    }
}

/// The `phileas:` labels, without their prefix. GitHub ignores the case of labels.
pub(super) fn phileas_labels(labels: impl Iterator<Item = Named>) -> BTreeSet<String> {
    let names = labels.map(|label| label.name.to_lowercase());
    names
        .filter_map(|name| Some(name.strip_prefix(LABEL_PREFIX)?.to_owned()))
        .collect()
}

impl From<ContentEdit> for SubjectEdit {
    fn from(edit: ContentEdit) -> Self {
        Self {
            id: edit.id,
            at: edit.edited_at,
            actor: edit.editor.map(Actor::from),
            digest: None,
        }
    }
}

impl From<TimelineItem> for SubjectEvent {
    fn from(event: TimelineItem) -> Self {
        let timed = |event: TimedEvent, what| Self {
            id: event.id,
            at: Some(event.created_at),
            actor: event.actor.map(Actor::from),
            what,
        };
        match event {
            TimelineItem::LabeledEvent(one) => {
                timed(one.event, SubjectChange::Labelled(one.label.name))
            }
            TimelineItem::UnlabeledEvent(one) => {
                timed(one.event, SubjectChange::Unlabelled(one.label.name))
            }
            TimelineItem::RenamedTitleEvent(one) => timed(one, SubjectChange::Renamed),
            TimelineItem::HeadRefForcePushedEvent(one) => timed(one, SubjectChange::Pushed),
            TimelineItem::PullRequestCommit { id } => Self {
                id,
                at: None,
                actor: None,
                what: SubjectChange::Pushed,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn facts(kind: &str, more: Value) -> Subject {
        let mut value = json!({ "__typename": kind, "id": "X_1", "number": 7, "title": "t", "body": "b",
            "closed": false, "lastEditedAt": null, "updatedAt": "2026-01-05T00:00:00Z", "author": null,
            "labels": { "nodes": [{ "name": "Phileas:Hold" }, { "name": "bug" }] } });
        for (key, one) in more.as_object().expect("an object") {
            value[key] = one.clone();
        }
        let facts: SubjectFacts = serde_json::from_value(value).expect("facts");
        facts.into_subject(Some(42))
    }

    fn pull(cross: bool, head: Value) -> Subject {
        facts(
            "PullRequest",
            json!({ "headRefName": "h", "headRefOid": "1f", "baseRefOid": "2f", "isCrossRepository": cross,
                "headRepository": head, "pullEvents": { "nodes": [{ "__typename": "PullRequestCommit", "id": "C" }] } }),
        )
    }

    #[test]
    fn r29_only_the_very_same_repository_is_the_same() {
        let same = |subject: Subject| subject.pull.expect("a pull request").same_repository;
        assert!(same(pull(false, json!({ "databaseId": 42 }))));
        for other in [
            pull(true, json!({ "databaseId": 42 })),
            pull(false, json!({ "databaseId": 43 })),
            pull(false, json!({ "databaseId": null })),
            pull(false, Value::Null),
        ] {
            assert!(!same(other));
        }
    }

    #[test]
    fn r23_edits_are_told_newest_first_with_their_editors() {
        let edit = |id: &str, hour: u8, editor: Value| json!({ "id": id, "editedAt": format!("2026-01-05T0{hour}:00:00Z"), "editor": editor });
        let ada = json!({ "__typename": "User", "login": "ada", "databaseId": 5 });
        let nodes = json!([
            edit("E1", 1, ada),
            null,
            edit("E3", 3, Value::Null),
            edit("E2", 2, Value::Null)
        ]);
        let more =
            json!({ "userContentEdits": { "nodes": nodes }, "issueEvents": { "nodes": [] } });
        let edits = facts("Issue", more).edits;
        let told = edits
            .iter()
            .map(|one| (one.id.as_str(), one.actor.is_some()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [("E3", false), ("E2", false), ("E1", true)]
        );
    }

    #[test]
    fn labels_of_ours_are_read_in_whatever_case() {
        let subject = facts(
            "Issue",
            json!({ "userContentEdits": null, "issueEvents": { "nodes": [] } }),
        );
        assert_eq!(Vec::from_iter(&subject.labels), ["hold"]);
    }

    #[test]
    fn bots_are_told_from_people_by_their_kind_and_named_as_in_the_plan() {
        let event = |actor: Value| {
            let node = json!({ "__typename": "LabeledEvent", "id": "LE", "createdAt": "2026-01-05T00:00:00Z",
                "actor": actor, "label": { "name": "phileas:a" } });
            let subject = facts(
                "Issue",
                json!({ "userContentEdits": null, "issueEvents": { "nodes": [node, null] } }),
            );
            subject.events[0].actor.clone()
        };
        let actor = |login: &str, id, bot| Actor {
            login: login.into(),
            id,
            bot,
        };
        for (written, read) in [
            (
                json!({ "__typename": "User", "login": "ada", "databaseId": 5 }),
                Some(actor("ada", Some(5), false)),
            ),
            (
                json!({ "__typename": "Bot", "login": "google-labs-jules", "databaseId": 6 }),
                Some(actor("google-labs-jules[bot]", Some(6), true)),
            ),
            (
                json!({ "__typename": "Mannequin", "login": "old" }),
                Some(actor("old", None, true)),
            ),
            (Value::Null, None),
        ] {
            assert_eq!(event(written), read);
        }
    }
}
