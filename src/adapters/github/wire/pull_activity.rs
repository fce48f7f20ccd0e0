//! The answer to `pull_activity.graphql`: what happened on a pull request.

use jiff::Timestamp;
use phileas_domain::engine::{Actor, PullActivity, PullChange, PullEvent};
use phileas_domain::model::Oid;
use serde::Deserialize;

use super::common::{Committer, Named};
use super::subject::{Account, phileas_labels};
use super::{Connection, present};

/// Begins the marker in each comment of phileas.
const MARKER: &str = "<!-- phileas:";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pull {
    head_ref_oid: String,
    #[serde(deserialize_with = "present")]
    labels: Option<Connection<Named>>,
    timeline_items: Timeline,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timeline {
    page_info: PageInfo,
    nodes: Vec<Option<Item>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_previous_page: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "__typename")]
enum Item {
    IssueComment(Comment),
    PullRequestReview(Review),
    PullRequestCommit { commit: Commit },
    HeadRefForcePushedEvent(Act),
    ReopenedEvent(Act),
    UnlabeledEvent(Act),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Comment {
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    created_at: Timestamp,
    viewer_did_author: bool,
    body: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    created_at: Timestamp,
    state: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    committed_date: Timestamp,
    #[serde(deserialize_with = "present")]
    author: Option<Committer>,
    #[serde(deserialize_with = "present")]
    committer: Option<Committer>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Act {
    #[serde(deserialize_with = "present")]
    actor: Option<Account>,
    created_at: Timestamp,
    /// Of a removed label only.
    #[serde(default)]
    label: Option<Named>,
}

impl Pull {
    /// The pull request as the engine sees it. `viewer`: the account of this client's token.
    pub(crate) fn into_activity(self, viewer: &Actor) -> PullActivity {
        let items = self.timeline_items.nodes.into_iter().flatten();
        PullActivity {
            head: Oid::new(self.head_ref_oid),
            labels: phileas_labels(self.labels.into_iter().flatten()),
            events: items.filter_map(Item::into_event).collect(),
            more: self.timeline_items.page_info.has_previous_page,
            as_person: !viewer.bot,
        }
    }
}

impl Item {
    /// The event; `None`: a comment of phileas itself.
    fn into_event(self) -> Option<PullEvent> {
        let act = |act: Act, what| PullEvent {
            at: act.created_at,
            actor: act.actor.map(Actor::from),
            what,
        };
        Some(match self {
            Self::IssueComment(comment) => {
                // A person whose token phileas uses is still a person.
                if comment.viewer_did_author && comment.body.contains(MARKER) {
                    return None;
                }
                PullEvent {
                    at: comment.created_at,
                    actor: comment.author.map(Actor::from),
                    what: PullChange::Commented,
                }
            }
            Self::PullRequestReview(review) => PullEvent {
                at: review.created_at,
                actor: review.author.map(Actor::from),
                what: match review.state.as_str() {
                    "APPROVED" => PullChange::Approved,
                    "CHANGES_REQUESTED" => PullChange::RequestedChanges,
                    _ => PullChange::Reviewed,
                },
            },
            Self::PullRequestCommit { commit } => {
                let mut made_by = commit.author.iter().chain(&commit.committer);
                PullEvent {
                    at: commit.committed_date,
                    actor: None,
                    what: PullChange::Committed {
                        by_bot: made_by.any(Committer::is_bot),
                    },
                }
            }
            Self::HeadRefForcePushedEvent(event) => act(event, PullChange::ForcePushed),
            Self::ReopenedEvent(event) => act(event, PullChange::Reopened),
            Self::UnlabeledEvent(mut event) => {
                let label = event.label.take().map(|label| label.name);
                act(event, PullChange::Unlabelled(label.unwrap_or_default()))
            }
        })
    }
}
