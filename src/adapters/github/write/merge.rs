//! Reads a pull request once more, and merges it.
//!
//! The request names the commit, so GitHub refuses it if another one was pushed meanwhile. It is sent once. If its
//! answer is lost or a refusal, the pull request is read to see whether it is merged.
//! <https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request>

use std::time::Duration;

use http::StatusCode;
use phileas_domain::engine::{MergeFacts, MergeMethod, MergeStatus, PullState};
use phileas_domain::model::{Oid, PullNumber};
use serde::Deserialize;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{MERGE_FACTS, is_hidden_check, is_missing_number};
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::adapters::github::wire::merge::Repository;
use crate::runtime::ports::{Disposition, Failure};

/// How many pages of checks of the newest commit are read; each holds 100. A commit with more is never green.
const MAX_CHECK_PAGES: usize = 5;
/// The waits before reading again whether it can be merged, or was: GitHub computes the former later, and replicas
/// lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// GitHub's message while the base has just moved.
const BASE_MOVED: &str = "Base branch was modified";

#[derive(Deserialize)]
struct Merged {
    merged: bool,
}

impl Client {
    /// The facts that decide whether a pull request may be merged; `None`: there is no such pull request.
    pub(crate) async fn merge_facts(
        &self,
        pull: PullNumber,
    ) -> Result<Option<MergeFacts>, Failure> {
        let mut facts = self.merge_facts_once(pull).await?;
        for wait in LOOKS {
            let is_unknown = |facts: &MergeFacts| {
                facts.state == PullState::Open && facts.status == MergeStatus::Unknown
            };
            if !facts.as_ref().is_some_and(is_unknown) {
                break;
            }
            self.pause.pause_for(wait).await;
            facts = self.merge_facts_once(pull).await?;
        }
        if let Some(facts) = &mut facts
            && facts.state == PullState::Open
        {
            facts.files = self.read_pull_paths(pull).await?;
        }
        Ok(facts)
    }

    async fn merge_facts_once(&self, pull: PullNumber) -> Result<Option<MergeFacts>, Failure> {
        let mut repository = self.merge_facts_page(pull, None).await?;
        for _ in 1..MAX_CHECK_PAGES {
            let Some(after) = repository.next_checks() else {
                break;
            };
            let more = self.merge_facts_page(pull, Some(&after)).await?;
            repository.add_checks(more);
        }
        Ok(repository.into_facts())
    }

    /// Everything but the files, with the checks behind this cursor.
    async fn merge_facts_page(
        &self,
        pull: PullNumber,
        checks_after: Option<&str>,
    ) -> Result<Repository, Failure> {
        let mut variables = self.repository_variables();
        variables["number"] = pull.0.into();
        variables["checksAfter"] = checks_after.into();
        self.query_repository("MergeFacts", MERGE_FACTS, &variables, |problem| {
            is_hidden_check(problem) || is_missing_number(problem)
        })
        .await
    }

    /// Every path that it touches. `None`: there are too many.
    async fn read_pull_paths(&self, pull: PullNumber) -> Result<Option<Vec<String>>, Failure> {
        let listed = self.list_pull_files(pull).await?;
        let paths = listed.files.into_iter().flat_map(|file| {
            let former = file.previous_filename;
            std::iter::once(file.filename).chain(former)
        });
        Ok(listed.all.then(|| paths.collect()))
    }

    pub(crate) async fn merge_once(
        &self,
        pull: PullNumber,
        head: &Oid,
        method: MergeMethod,
    ) -> Result<(), Failure> {
        let route = routes::MERGE_PULL;
        let request = json!({ "sha": head.as_str(), "merge_method": method.as_str() });
        let asked = self
            .write_route(route, &[&pull.to_string()], &request)
            .await;
        // 409: GitHub knows a newer commit. The next tick decides again.
        let is_other = asked
            .as_ref()
            .is_ok_and(|answer| answer.status == StatusCode::CONFLICT);
        let failure = match asked.and_then(|answer| require_success(route, answer)) {
            Ok(_) => return Ok(()),
            Err(failure) => failure,
        };
        let passes_by = is_other || has_just_moved(&failure);
        let looks: &[Duration] = match failure.disposition {
            // The merge was not attempted.
            Disposition::Retry { .. } => return Err(failure),
            Disposition::Unknown => &LOOKS,
            // GitHub also refuses a pull request that was merged meanwhile.
            _ => &LOOKS[..1],
        };
        for wait in looks {
            self.pause.pause_for(*wait).await;
            if self.is_merged(pull).await {
                return Ok(());
            }
        }
        if passes_by {
            let disposition = Disposition::Retry { after: None };
            return Err(Failure {
                disposition,
                ..failure
            });
        }
        Err(failure)
    }

    async fn is_merged(&self, pull: PullNumber) -> bool {
        let route = routes::READ_PULL;
        let Ok(answer) = self.read_route(route, &[&pull.to_string()], "").await else {
            return false;
        };
        self.parse::<Merged>(route, &answer)
            .is_ok_and(|found| found.merged)
    }
}

/// GitHub answers 405 while the base has just moved, and accepts the merge a moment later.
/// <https://github.com/cli/cli/issues/12748>
fn has_just_moved(failure: &Failure) -> bool {
    failure.disposition == Disposition::Refused && failure.detail.contains(BASE_MOVED)
}

#[cfg(test)]
mod tests {
    use phileas_domain::engine::Checks;
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::read::pull_files::PAGE;
    use crate::adapters::github::scripted::{json, lost, set};

    const PULL: PullNumber = PullNumber(7);

    async fn merge(set: &crate::adapters::github::scripted::Set) -> Result<(), Failure> {
        let head = Oid::from("1f");
        set.client
            .merge_once(PULL, &head, MergeMethod::Squash)
            .await
    }

    fn shows(merged: bool) -> Value {
        value!({ "number": 7, "merged": merged })
    }

    #[tokio::test]
    async fn the_commit_and_the_way_are_told_and_a_yes_is_believed() {
        let set = set([json(
            200,
            &value!({ "sha": "2f", "merged": true, "message": "" }),
        )]);
        merge(&set).await.unwrap();
        let seen = set.script.seen();
        assert!(seen[0].line.starts_with("PUT"), "{}", seen[0].line);
        assert!(seen[0].line.ends_with("/pulls/7/merge"), "{}", seen[0].line);
        assert_eq!(
            seen[0].body,
            value!({ "sha": "1f", "merge_method": "squash" })
        );
    }

    #[tokio::test]
    async fn a_lost_answer_is_looked_up_and_never_repeated() {
        for merged in [true, false] {
            let set = set([lost(), json(200, &shows(false)), json(200, &shows(merged))]);
            let failure = merge(&set).await.err();
            let disposition = failure.map(|failure| failure.disposition);
            let expected = (!merged).then_some(Disposition::Unknown);
            assert_eq!(disposition, expected);
            let lines = set.script.lines();
            let asked = lines.iter().filter(|line| line.starts_with("PUT"));
            assert_eq!(asked.count(), 1);
        }
    }

    #[tokio::test]
    async fn a_refusal_is_one_unless_it_is_merged_all_the_same() {
        for status in [405, 422] {
            let said = value!({ "message": "Squash merges are not allowed" });
            let refusing = set([json(status, &said), json(200, &shows(false))]);
            let failure = merge(&refusing).await.unwrap_err();
            assert_eq!(failure.disposition, Disposition::Refused, "{status}");
            assert!(failure.detail.contains("Squash merges"), "{failure}");
            let merged = set([json(status, &said), json(200, &shows(true))]);
            merge(&merged).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_branch_that_has_just_moved_is_no_refusal() {
        for (status, branch) in [(405, "Base"), (409, "Head")] {
            let said = format!("{branch} branch was modified. Review and try the merge again.");
            let said = value!({ "message": said });
            let set = set([json(status, &said), json(200, &shows(false))]);
            let failure = merge(&set).await.unwrap_err();
            let expected = Disposition::Retry { after: None };
            assert_eq!(failure.disposition, expected, "{status}");
        }
    }

    #[tokio::test]
    async fn a_renamed_file_counts_by_both_names_and_too_many_are_said_so() {
        let renamed = value!([{ "filename": "b", "previous_filename": "a" }, { "filename": "c" }]);
        let few = set([json(200, &renamed)]);
        let files = few.client.read_pull_paths(PULL).await.unwrap();
        let expected = ["b", "a", "c"].map(str::to_owned);
        assert_eq!(files, Some(expected.to_vec()));
        let page: Vec<Value> = (0..PAGE)
            .map(|at| value!({ "filename": at.to_string() }))
            .collect();
        let page = value!(page);
        let many = set([json(200, &page), json(200, &page), json(200, &page)]);
        assert_eq!(many.client.read_pull_paths(PULL).await.unwrap(), None);
        let whole = set([json(200, &page), json(200, &value!([]))]);
        let files = whole.client.read_pull_paths(PULL).await.unwrap();
        assert_eq!(files.unwrap().len(), PAGE);
    }

    /// One page of a commit's checks, with these conclusions.
    fn checks_page(head: &str, conclusions: &[&str], is_last: bool) -> Value {
        let runs = conclusions.iter().enumerate().map(|(at, conclusion)| {
            value!({ "__typename": "CheckRun", "name": format!("{conclusion}{at}"), "conclusion": conclusion,
                "startedAt": null, "checkSuite": { "id": "S" } })
        });
        let runs: Vec<Value> = runs.collect();
        let commit = value!({ "oid": head, "committedDate": "2026-01-05T00:00:00Z", "statusCheckRollup": {
            "state": "SUCCESS", "contexts": { "nodes": runs,
                "pageInfo": { "hasNextPage": !is_last, "endCursor": "c" } } } });
        value!({ "data": { "rateLimit": { "cost": 1 }, "repository": {
            "mergeCommitAllowed": true, "squashMergeAllowed": true, "rebaseMergeAllowed": true,
            "pullRequest": {
                "state": "OPEN", "isDraft": false, "headRefOid": head, "isCrossRepository": false,
                "baseRefName": "main", "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN",
                "reviewDecision": null, "labels": { "nodes": [] },
                "commits": { "nodes": [{ "commit": commit }] },
                "latestOpinionatedReviews": null } } } })
    }

    async fn checks_of(pages: Vec<Value>) -> (Checks, usize) {
        let set = set(pages.iter().map(|page| json(200, page)).collect::<Vec<_>>());
        let facts = set.client.merge_facts_once(PULL).await.unwrap();
        (facts.unwrap().checks, set.script.seen().len())
    }

    /// GitHub's own verdict calls a stale check a success, so every page counts.
    #[tokio::test]
    async fn checks_beyond_the_first_page_are_judged_too() {
        let green = |is_last| checks_page("1f", &["SUCCESS"], is_last);
        let last = |conclusion| checks_page("1f", &[conclusion], true);
        let read = checks_of(vec![green(false), green(false), last("SKIPPED")]).await;
        assert_eq!(read, (Checks::Passed, 3));
        let read = checks_of(vec![green(false), last("STALE")]).await;
        assert_eq!(read, (Checks::Failed, 2));
        let read = checks_of(vec![green(false), checks_page("2f", &["SUCCESS"], true)]).await;
        assert_eq!(
            read,
            (Checks::Pending, 2),
            "another commit was pushed meanwhile"
        );
        let many = vec![green(false); MAX_CHECK_PAGES];
        assert_eq!(checks_of(many).await, (Checks::Pending, MAX_CHECK_PAGES));
    }
}
