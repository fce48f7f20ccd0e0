//! Pull requests.

use jiff::Timestamp;
use phileas_domain::engine::{Checks, Mergeable, Pull, PullState};
use phileas_domain::model::PullNumber;
use serde::Deserialize;

use super::common::{Named, Rollup};
use super::{Connection, present};

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullFacts {
    number: u64,
    state: State,
    is_draft: bool,
    title: String,
    /// Absent if it was not queried.
    #[serde(default)]
    body: String,
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    author: Option<Author>,
    head_ref_name: String,
    head_ref_oid: String,
    is_cross_repository: bool,
    base_ref_name: String,
    created_at: Timestamp,
    #[serde(deserialize_with = "present")]
    closed_at: Option<Timestamp>,
    #[serde(deserialize_with = "present")]
    merged_at: Option<Timestamp>,
    /// This and the next two are absent if GitHub would take too long to compute them.
    #[serde(default)]
    mergeable: String,
    #[serde(default)]
    merge_state_status: String,
    #[serde(default)]
    status_check_rollup: RequestedChecks,
    #[serde(deserialize_with = "present")]
    labels: Option<Connection<Named>>,
    #[serde(deserialize_with = "present")]
    reviews: Option<Connection<Review>>,
}

/// The checks, if they were queried.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Option<Rollup>")]
enum RequestedChecks {
    /// They were not.
    #[default]
    Not,
    /// Null if there are none, or if they are hidden from this token.
    Answered(Option<Rollup>),
}

impl From<Option<Rollup>> for RequestedChecks {
    fn from(answer: Option<Rollup>) -> Self {
        Self::Answered(answer)
    }
}

impl RequestedChecks {
    /// Checks that were not queried are neither green nor red.
    fn checks_verdict(&self) -> Checks {
        match self {
            Self::Not => Checks::Pending,
            Self::Answered(rollup) => rollup.as_ref().map_or(Checks::None, Rollup::checks_verdict),
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum State {
    Open,
    Closed,
    Merged,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Author {
    login: String,
    /// Present for bots only.
    #[serde(default)]
    database_id: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
struct Review {
    author: Option<Reviewer>,
    state: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Reviewer {
    login: String,
    #[serde(rename = "__typename")]
    kind: String,
}

impl Review {
    /// Whether a person other than the pull request's author wrote the review.
    fn is_by_a_person_other_than(&self, author: &str) -> bool {
        self.state != "PENDING"
            && self.author.as_ref().is_some_and(|reviewer| {
                matches!(reviewer.kind.as_str(), "User" | "EnterpriseUserAccount")
                    && !reviewer.login.eq_ignore_ascii_case(author)
                    && !reviewer.login.ends_with("[bot]")
            })
    }
}

impl PullFacts {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Its number and its labels, while it is open.
    pub(crate) fn labels_while_open(&self) -> Option<(u64, Vec<&str>)> {
        let nodes = &self.labels.as_ref()?.nodes;
        let names = nodes.iter().flatten().map(|label| label.name.as_str());
        self.is_open().then(|| (self.number, names.collect()))
    }
}

impl From<PullFacts> for Pull {
    fn from(facts: PullFacts) -> Self {
        let bot_id = facts.author.as_ref().and_then(|author| author.database_id);
        // GitHub shows `ghost` for deleted accounts.
        let author = facts
            .author
            .map_or_else(|| "ghost".to_owned(), |author| author.login);
        let reviewed = facts
            .reviews
            .into_iter()
            .flatten()
            .any(|review| review.is_by_a_person_other_than(&author));
        Self {
            number: PullNumber(facts.number),
            state: match facts.state {
                State::Open => PullState::Open,
                State::Closed => PullState::Closed,
                State::Merged => PullState::Merged,
            },
            draft: facts.is_draft,
            title: facts.title,
            body: facts.body,
            author: author.into(),
            bot_id,
            head: facts.head_ref_name.into(),
            head_oid: facts.head_ref_oid.into(),
            same_repository: !facts.is_cross_repository,
            base: facts.base_ref_name.into(),
            created_at: facts.created_at,
            closed_at: facts.closed_at.or(facts.merged_at),
            reviewed,
            mergeable: mergeable_status(&facts.mergeable, &facts.merge_state_status),
            checks: facts.status_check_rollup.checks_verdict(),
        }
    }
}

/// The status that GitHub's two fields describe together. GitHub reports `BEHIND` only if the base's protection
/// requires up-to-date pull requests, and it knows about conflicts before it knows the rest.
fn mergeable_status(can: &str, stands: &str) -> Mergeable {
    match (can, stands) {
        ("CONFLICTING", _) => Mergeable::Conflicting,
        ("MERGEABLE", "BEHIND") => Mergeable::Behind,
        ("MERGEABLE", _) => Mergeable::Yes,
        _ => Mergeable::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull(author: &str, reviews: &str) -> Pull {
        let facts: PullFacts = serde_json::from_str(&format!(
            r#"{{"number":7,"state":"MERGED","isDraft":false,"title":"t","body":"b","author":{author},
                "headRefName":"h","headRefOid":"1f","isCrossRepository":true,"baseRefName":"main",
                "createdAt":"2026-01-05T00:00:00Z","closedAt":null,"mergedAt":"2026-01-05T01:00:00Z",
                "mergeable":"UNKNOWN","mergeStateStatus":"UNKNOWN","statusCheckRollup":{{"state":"ERROR"}},"labels":{{"nodes":[]}},"reviews":{{"nodes":{reviews}}}}}"#
        ))
        .unwrap();
        facts.into()
    }

    #[test]
    fn only_other_people_review() {
        let ada = r#"{"login":"ada"}"#;
        let review = |login: &str, kind: &str, state: &str| {
            format!(
                r#"[{{"author":{{"login":"{login}","__typename":"{kind}"}},"state":"{state}"}}]"#
            )
        };
        assert!(pull(ada, &review("bob", "User", "COMMENTED")).reviewed);
        assert!(!pull(ada, &review("Ada", "User", "APPROVED")).reviewed);
        assert!(!pull(ada, &review("gemini", "Bot", "APPROVED")).reviewed);
        assert!(!pull(ada, &review("bob", "User", "PENDING")).reviewed);
        assert!(!pull(ada, r#"[{"author":null,"state":"APPROVED"},null]"#).reviewed);
    }

    #[test]
    fn a_bot_is_known_by_its_number() {
        let jules = r#"{"login":"google-labs-jules","databaseId":161369871}"#;
        assert_eq!(pull(jules, "[]").bot_id, Some(161_369_871));
        assert_eq!(pull(r#"{"login":"ada"}"#, "[]").bot_id, None);
    }

    #[test]
    fn only_a_conflict_and_a_demand_to_catch_up_need_the_base() {
        for (can, stands, is) in [
            ("CONFLICTING", "DIRTY", Mergeable::Conflicting),
            ("CONFLICTING", "UNKNOWN", Mergeable::Conflicting),
            ("MERGEABLE", "BEHIND", Mergeable::Behind),
            ("MERGEABLE", "BLOCKED", Mergeable::Yes),
            ("MERGEABLE", "UNKNOWN", Mergeable::Yes),
            ("UNKNOWN", "BEHIND", Mergeable::Unknown),
            ("UNKNOWN", "UNKNOWN", Mergeable::Unknown),
        ] {
            assert_eq!(mergeable_status(can, stands), is, "{can} {stands}");
        }
    }

    #[test]
    fn what_was_not_asked_for_is_not_known_and_no_checks_are_none() {
        let facts = |costly: &str| -> Pull {
            let facts: PullFacts = serde_json::from_str(&format!(
                r#"{{"number":7,"state":"OPEN","isDraft":true,"title":"t","author":null,"headRefName":"h",
                    "headRefOid":"1f","isCrossRepository":false,"baseRefName":"main","createdAt":"2026-01-05T00:00:00Z",
                    "closedAt":null,"mergedAt":null,{costly}"labels":null,"reviews":null}}"#
            ))
            .unwrap();
            facts.into()
        };
        let light = facts("");
        assert_eq!(
            (light.checks, light.mergeable),
            (Checks::Pending, Mergeable::Unknown)
        );
        let whole = facts(
            r#""mergeable":"MERGEABLE","mergeStateStatus":"CLEAN","statusCheckRollup":null,"#,
        );
        assert_eq!(
            (whole.checks, whole.mergeable),
            (Checks::None, Mergeable::Yes)
        );
    }

    #[test]
    fn a_merged_pull_of_a_gone_account_has_an_end() {
        let pull = pull("null", "[]");
        assert_eq!((pull.author.as_str(), pull.bot_id), ("ghost", None));
        assert_eq!(pull.state, PullState::Merged);
        assert!(!pull.same_repository);
        assert_eq!(
            pull.closed_at,
            Some("2026-01-05T01:00:00Z".parse().unwrap())
        );
    }
}
