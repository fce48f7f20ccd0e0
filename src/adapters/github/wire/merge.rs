//! The answer to `merge_facts.graphql`: a pull request right before it is merged.

use jiff::Timestamp;
use phileas_domain::engine::{
    Checks, MergeFacts, MergeMethod, MergeStatus, Opinion, PullState, ReviewDemand,
};
use phileas_domain::model::Oid;
use serde::Deserialize;

use super::common::{Named, Rollup};
use super::subject::{Account, phileas_labels};
use super::{Connection, present};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Repository {
    merge_commit_allowed: bool,
    squash_merge_allowed: bool,
    rebase_merge_allowed: bool,
    /// Null if there is no pull request of this number.
    #[serde(deserialize_with = "present")]
    pull_request: Option<Pull>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pull {
    state: String,
    is_draft: bool,
    head_ref_oid: String,
    is_cross_repository: bool,
    base_ref_name: String,
    mergeable: String,
    merge_state_status: String,
    /// Null if the base's rules require no review.
    #[serde(deserialize_with = "present")]
    review_decision: Option<String>,
    #[serde(deserialize_with = "present")]
    labels: Option<Connection<Named>>,
    commits: Connection<PullCommit>,
    #[serde(deserialize_with = "present")]
    latest_opinionated_reviews: Option<Connection<Review>>,
}

#[derive(Debug, Deserialize)]
struct PullCommit {
    commit: Commit,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    oid: String,
    committed_date: Timestamp,
    /// Null if there are no checks, or if they are hidden from this token.
    #[serde(deserialize_with = "present")]
    status_check_rollup: Option<Checked>,
}

/// The verdict about a commit, and its checks.
#[derive(Debug, Deserialize)]
struct Checked {
    #[serde(flatten)]
    rollup: Rollup,
    contexts: Connection<Context>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "__typename")]
enum Context {
    CheckRun(Run),
    StatusContext { state: String },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    name: String,
    #[serde(deserialize_with = "present")]
    conclusion: Option<String>,
    #[serde(deserialize_with = "present")]
    started_at: Option<Timestamp>,
    check_suite: Suite,
}

#[derive(Debug, Deserialize)]
struct Suite {
    id: String,
}

impl Checked {
    /// GitHub reports success for a commit whose checks were all skipped, are neutral, or are stale. A commit counts
    /// as green only if at least one check passed, and every other one passed, is neutral or was skipped.
    /// <https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks>
    fn checks_verdict(&self) -> Checks {
        let verdict = self.rollup.checks_verdict();
        if verdict != Checks::Passed {
            return verdict;
        }
        let mut passed = false;
        for context in self.contexts.nodes.iter().flatten() {
            match context {
                Context::CheckRun(run) if self.is_superseded(run) => {}
                Context::CheckRun(run) => match run.conclusion.as_deref() {
                    Some("SUCCESS") => passed = true,
                    Some("NEUTRAL" | "SKIPPED") => {}
                    Some(_) => return Checks::Failed,
                    None => return Checks::Pending,
                },
                Context::StatusContext { state } if state == "SUCCESS" => passed = true,
                Context::StatusContext { .. } => return Checks::Pending,
            }
        }
        match passed {
            // A check that was not read may have a conclusion that is green to GitHub alone.
            _ if self.contexts.next().is_some() => Checks::Pending,
            true => Checks::Passed,
            false => Checks::None,
        }
    }

    /// Whether a run was repeated: GitHub still lists it beside the newer run of the same name and suite.
    fn is_superseded(&self, run: &Run) -> bool {
        let mut all = self.contexts.nodes.iter().flatten();
        all.any(|other| {
            matches!(other, Context::CheckRun(other) if other.name == run.name
                && other.check_suite.id == run.check_suite.id
                && other.started_at > run.started_at)
        })
    }
}

#[derive(Debug, Deserialize)]
struct Review {
    #[serde(deserialize_with = "present")]
    author: Option<Account>,
    state: String,
    /// Null when the commit is gone.
    #[serde(deserialize_with = "present")]
    commit: Option<Reviewed>,
}

#[derive(Debug, Deserialize)]
struct Reviewed {
    oid: String,
}

impl Repository {
    /// The cursor of the next page of the newest commit's checks, where there is one.
    pub(crate) fn next_checks(&self) -> Option<String> {
        let newest = self.pull_request.as_ref()?.newest_commit()?;
        newest.commit.status_check_rollup.as_ref()?.contexts.next()
    }

    /// Adds the next page of the newest commit's checks. Where another commit is the newest by now, its checks are still
    /// to be read.
    pub(crate) fn add_checks(&mut self, more: Self) {
        let Some(pull) = &mut self.pull_request else {
            return;
        };
        let added = more
            .pull_request
            .filter(|more| more.head_ref_oid == pull.head_ref_oid);
        let added = added.and_then(Pull::into_checks);
        match (pull.checks_mut(), added) {
            (Some(known), Some(added)) => {
                known.rollup = added.rollup;
                known.contexts.nodes.extend(added.contexts.nodes);
                known.contexts.page_info = added.contexts.page_info;
            }
            _ => pull.commits.nodes.clear(),
        }
    }

    /// All facts except the files. `None`: the pull request is gone.
    pub(crate) fn into_facts(self) -> Option<MergeFacts> {
        let method = self.merge_method();
        let pull = self.pull_request?;
        let checks = pull.newest_checks();
        let committed_at = pull.newest_commit().map(|one| one.commit.committed_date);
        let labels = phileas_labels(pull.labels.into_iter().flatten());
        let opinions = pull
            .latest_opinionated_reviews
            .map_or(Some(Vec::new()), read_opinions);
        Some(MergeFacts {
            state: match pull.state.as_str() {
                "OPEN" => PullState::Open,
                "MERGED" => PullState::Merged,
                _ => PullState::Closed,
            },
            draft: pull.is_draft,
            head: pull.head_ref_oid.into(),
            committed_at,
            same_repository: !pull.is_cross_repository,
            base: pull.base_ref_name.into(),
            labels,
            checks,
            status: merge_status(&pull.mergeable, &pull.merge_state_status),
            demand: match pull.review_decision.as_deref() {
                None | Some("APPROVED") => ReviewDemand::Met,
                Some("CHANGES_REQUESTED") => ReviewDemand::ChangesAsked,
                Some(_) => ReviewDemand::Missing,
            },
            opinions,
            files: None,
            method,
        })
    }

    /// Prefer a squash: the result is one commit, and rules that require a linear history allow it.
    fn merge_method(&self) -> Option<MergeMethod> {
        let ways = [
            (self.squash_merge_allowed, MergeMethod::Squash),
            (self.merge_commit_allowed, MergeMethod::Merge),
            (self.rebase_merge_allowed, MergeMethod::Rebase),
        ];
        ways.into_iter()
            .find_map(|(allowed, method)| allowed.then_some(method))
    }
}

impl Pull {
    /// The head commit, if GitHub already lists it.
    fn newest_commit(&self) -> Option<&PullCommit> {
        let newest = self.commits.nodes.iter().flatten().next_back();
        newest.filter(|one| one.commit.oid == self.head_ref_oid)
    }

    fn checks_mut(&mut self) -> Option<&mut Checked> {
        let newest = self.commits.nodes.iter_mut().flatten().next_back()?;
        newest.commit.status_check_rollup.as_mut()
    }

    fn into_checks(self) -> Option<Checked> {
        let head = self.head_ref_oid;
        let newest = self.commits.into_iter().last()?;
        (newest.commit.oid == head).then_some(newest.commit.status_check_rollup)?
    }

    /// The verdict about the head commit. A commit that GitHub does not list yet has pending checks.
    fn newest_checks(&self) -> Checks {
        match self.newest_commit() {
            None => Checks::Pending,
            Some(one) => one
                .commit
                .status_check_rollup
                .as_ref()
                .map_or(Checks::None, Checked::checks_verdict),
        }
    }
}

/// The opinions of the reviewers. `None`: there are more than one page.
fn read_opinions(reviews: Connection<Review>) -> Option<Vec<Opinion>> {
    if reviews.next().is_some() {
        return None;
    }
    let opinions = reviews.into_iter().filter_map(|review| {
        let approves = match review.state.as_str() {
            "APPROVED" => true,
            "CHANGES_REQUESTED" => false,
            // It was dismissed.
            _ => return None,
        };
        Some(Opinion {
            actor: review.author.map(Into::into),
            approves,
            commit: review.commit.map(|commit| Oid::new(commit.oid)),
        })
    });
    Some(opinions.collect())
}

/// The merge status that GitHub's two fields describe together.
fn merge_status(can: &str, stands: &str) -> MergeStatus {
    match (can, stands) {
        ("CONFLICTING", _) => MergeStatus::Conflicting,
        ("MERGEABLE", "BEHIND") => MergeStatus::Behind,
        ("MERGEABLE", "BLOCKED") => MergeStatus::Blocked,
        // `UNSTABLE` means that a check failed which the base's rules do not require; all checks are evaluated
        // separately.
        ("MERGEABLE", "CLEAN" | "HAS_HOOKS" | "UNSTABLE" | "DRAFT") => MergeStatus::Yes,
        _ => MergeStatus::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shown(change: impl FnOnce(&mut Value)) -> Option<MergeFacts> {
        let mut repository = json!({
            "mergeCommitAllowed": true, "squashMergeAllowed": true, "rebaseMergeAllowed": true,
            "pullRequest": {
                "state": "OPEN", "isDraft": false, "headRefOid": "1f", "isCrossRepository": false,
                "baseRefName": "main", "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN",
                "reviewDecision": null, "labels": { "nodes": [{ "name": "Phileas:Hold" }, { "name": "bug" }] },
                "commits": { "nodes": [{ "commit": { "oid": "1f", "committedDate": "2026-01-05T00:00:00Z", "statusCheckRollup": {
                    "state": "SUCCESS", "contexts": { "nodes": [{ "__typename": "CheckRun", "name": "a", "conclusion": "SUCCESS",
                        "startedAt": null, "checkSuite": { "id": "S" } }] } } } }] },
                "latestOpinionatedReviews": { "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [
                    { "author": { "__typename": "User", "login": "eve", "databaseId": 5 }, "state": "APPROVED", "commit": { "oid": "1f" } },
                    { "author": null, "state": "DISMISSED", "commit": null }] } } });
        change(&mut repository);
        serde_json::from_value::<Repository>(repository)
            .unwrap()
            .into_facts()
    }

    #[test]
    fn what_speaks_for_it_is_read_as_it_stands() {
        let facts = shown(|_| {}).unwrap();
        assert_eq!(facts.checks, Checks::Passed);
        assert_eq!(facts.status, MergeStatus::Yes);
        assert_eq!(facts.demand, ReviewDemand::Met);
        assert_eq!(facts.method, Some(MergeMethod::Squash));
        assert_eq!(facts.labels, ["hold".to_owned()].into());
        let opinions = facts.opinions.unwrap();
        assert_eq!(opinions.len(), 1, "what was dismissed is none");
        assert!(opinions[0].approves && opinions[0].commit == Some("1f".into()));
        assert_eq!(opinions[0].actor.as_ref().unwrap().id, Some(5));
    }

    #[test]
    fn checks_of_another_commit_say_nothing() {
        let facts = shown(|one| one["pullRequest"]["headRefOid"] = "2f".into());
        assert_eq!(facts.unwrap().checks, Checks::Pending);
        let facts = shown(|one| {
            one["pullRequest"]["commits"]["nodes"][0]["commit"]["statusCheckRollup"] = Value::Null;
        });
        assert_eq!(facts.unwrap().checks, Checks::None);
    }

    /// What GitHub calls a success is green only where a check has really passed.
    #[test]
    fn a_conclusion_counts_for_what_it_says() {
        let run_of = |name: &str, minute: u8, conclusion: Value| {
            json!({ "__typename": "CheckRun", "name": name, "conclusion": conclusion,
                "startedAt": format!("2026-01-05T00:{minute:02}:00Z"), "checkSuite": { "id": "S" } })
        };
        let run = |conclusion: Value| run_of(&conclusion.to_string(), 1, conclusion);
        let status = |state: &str| json!({ "__typename": "StatusContext", "state": state });
        let checks = |nodes: Value| {
            let facts = shown(|one| {
                let commit = &mut one["pullRequest"]["commits"]["nodes"][0]["commit"];
                commit["statusCheckRollup"]["contexts"]["nodes"] = nodes;
            });
            facts.unwrap().checks
        };
        let word = |conclusion: &str| run(conclusion.into());
        for (nodes, is) in [
            (json!([]), Checks::None),
            (json!([word("SKIPPED")]), Checks::None),
            (json!([word("NEUTRAL")]), Checks::None),
            (
                json!([word("SKIPPED"), word("NEUTRAL"), null]),
                Checks::None,
            ),
            (json!([word("SKIPPED"), word("SUCCESS")]), Checks::Passed),
            (json!([word("NEUTRAL"), status("SUCCESS")]), Checks::Passed),
            (json!([word("SUCCESS"), word("STALE")]), Checks::Failed),
            (json!([word("SUCCESS"), word("CANCELLED")]), Checks::Failed),
            (
                json!([word("SUCCESS"), word("ACTION_REQUIRED")]),
                Checks::Failed,
            ),
            (
                json!([word("SUCCESS"), word("SOMETHING_NEW")]),
                Checks::Failed,
            ),
            (json!([word("SUCCESS"), run(Value::Null)]), Checks::Pending),
            (
                json!([word("SUCCESS"), status("EXPECTED")]),
                Checks::Pending,
            ),
            // The newest run of a check counts.
            (
                json!([
                    run_of("a", 1, "CANCELLED".into()),
                    run_of("a", 2, "SUCCESS".into())
                ]),
                Checks::Passed,
            ),
            (
                json!([
                    run_of("a", 2, "SKIPPED".into()),
                    run_of("a", 1, "SUCCESS".into())
                ]),
                Checks::None,
            ),
        ] {
            assert_eq!(checks(nodes.clone()), is, "{nodes}");
        }
    }

    #[test]
    fn only_what_github_calls_good_is_good() {
        for (can, word, is) in [
            ("MERGEABLE", "CLEAN", MergeStatus::Yes),
            ("MERGEABLE", "UNSTABLE", MergeStatus::Yes),
            ("MERGEABLE", "BLOCKED", MergeStatus::Blocked),
            ("MERGEABLE", "BEHIND", MergeStatus::Behind),
            ("MERGEABLE", "UNKNOWN", MergeStatus::Unknown),
            ("MERGEABLE", "SOMETHING_NEW", MergeStatus::Unknown),
            ("CONFLICTING", "DIRTY", MergeStatus::Conflicting),
            ("UNKNOWN", "CLEAN", MergeStatus::Unknown),
        ] {
            assert_eq!(merge_status(can, word), is, "{can} {word}");
        }
    }

    #[test]
    fn what_is_more_than_was_read_or_not_there_is_said_so() {
        let more = shown(|one| {
            one["pullRequest"]["latestOpinionatedReviews"]["pageInfo"] =
                json!({ "hasNextPage": true, "endCursor": "x" });
        });
        assert_eq!(more.unwrap().opinions, None);
        assert_eq!(shown(|one| one["pullRequest"] = Value::Null), None);
        let no_method = shown(|one| {
            for way in [
                "mergeCommitAllowed",
                "squashMergeAllowed",
                "rebaseMergeAllowed",
            ] {
                one[way] = false.into();
            }
        });
        assert_eq!(no_method.unwrap().method, None);
        let asked = shown(|one| one["pullRequest"]["reviewDecision"] = "REVIEW_REQUIRED".into());
        assert_eq!(asked.unwrap().demand, ReviewDemand::Missing);
    }
}
