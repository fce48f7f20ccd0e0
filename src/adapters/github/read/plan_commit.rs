//! Finds out since when the plan's files have been on the default branch in their present form.
//!
//! `history` with a path lists the commits that touched it, newest first, with the committer's date:
//! <https://docs.github.com/en/graphql/reference/objects#commit>. A commit may reach the branch later than its date.
//! If it came by a pull request, the time of the merge counts; if the head is a merge, the date of that merge;
//! otherwise the time of the push, from the repository's activity:
//! <https://docs.github.com/en/graphql/reference/objects#commit>. A commit may be older than its way to the branch. Where it
//! came by a pull request, its merge counts as well, and where the head is a merge, the merge's own date; any other one counts
//! from its push, which GitHub reports by the repository's activity:
//! <https://docs.github.com/en/rest/repos/repos#list-repository-activities>.

use jiff::Timestamp;
use phileas_domain::model::Oid;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::PLAN_COMMIT;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::adapters::github::wire::{Connection, OfRepository, present};
use crate::runtime::ports::Failure;

/// How many pushes are read. Earlier ticks have seen older ones.
const PUSHES_READ: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    #[serde(deserialize_with = "present")]
    default_branch_ref: Option<Branch>,
    #[serde(deserialize_with = "present")]
    object: Option<Head>,
}

#[derive(Deserialize)]
struct Branch {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    committed_date: Timestamp,
    parents: Parents,
    newest: Connection<Listed>,
    schedules: Connection<Touching>,
    config: Connection<Touching>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parents {
    total_count: u64,
}

#[derive(Deserialize)]
struct Listed {
    oid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Touching {
    oid: String,
    committed_date: Timestamp,
    #[serde(deserialize_with = "present")]
    associated_pull_requests: Option<Connection<Merged>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Merged {
    merged_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Push {
    before: String,
    timestamp: Timestamp,
}

impl Client {
    /// The time at which the plan last changed. `None`: the commit does not exist, or none touched the plan.
    pub(crate) async fn plan_commit_at(&self, commit: &Oid) -> Result<Option<Timestamp>, Failure> {
        let mut variables = self.repository_variables();
        variables["commit"] = commit.as_str().into();
        let reply = self
            .run_query::<OfRepository<Repository>>("PlanCommit", PLAN_COMMIT, &variables, |_| false)
            .await?;
        let Some(Repository {
            default_branch_ref,
            object: Some(head),
        }) = reply.data.repository
        else {
            return Ok(None);
        };
        let merged = (head.parents.total_count > 1).then_some(head.committed_date);
        let newest: Vec<String> = head.newest.into_iter().map(|one| one.oid).collect();
        let mut pushed = Vec::new();
        let mut known = Vec::new();
        for one in head.schedules.into_iter().chain(head.config) {
            let pulls = one.associated_pull_requests.into_iter().flatten();
            let merged_at = pulls.filter_map(|pull| pull.merged_at).max();
            known.push(one.committed_date.max(merged_at.unwrap_or(Timestamp::MIN)));
            if merged_at.is_none() {
                pushed.push(one.oid);
            }
        }
        if let (false, Some(branch)) = (pushed.is_empty(), default_branch_ref) {
            match self.list_pushes(&branch.name).await {
                Ok(pushes) => {
                    let brought = pushed
                        .iter()
                        .filter_map(|oid| pushed_at(&pushes, &newest, oid));
                    known.extend(brought);
                }
                Err(failure) => {
                    tracing::warn!(%failure, "the time of the plan's push could not be read; its commit's date is used");
                }
            }
        }
        Ok(known
            .into_iter()
            .max()
            .map(|known| known.max(merged.unwrap_or(known))))
    }

    /// The newest pushes to a branch, newest first.
    async fn list_pushes(&self, branch: &str) -> Result<Vec<Push>, Failure> {
        let route = routes::LIST_ACTIVITY;
        let query = form_urlencoded::Serializer::for_suffix("?".to_owned(), 1)
            .append_pair("ref", &format!("refs/heads/{branch}"))
            .append_pair("per_page", &PUSHES_READ.to_string())
            .finish();
        let answer = require_success(route, self.read_route(route, &[], &query).await?)?;
        self.parse(route, &answer)
    }
}

/// When a commit was pushed: the time of the newest push before which the branch did not have it. `newest`: the
/// branch's newest commits, newest first.
fn pushed_at(pushes: &[Push], newest: &[String], commit: &str) -> Option<Timestamp> {
    let place = |oid: &str| newest.iter().position(|one| one == oid);
    let own = place(commit).unwrap_or(newest.len());
    let was_there = |push: &&Push| place(&push.before).is_some_and(|before| before <= own);
    let push = pushes.iter().find(|push| !was_there(push))?;
    Some(push.timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_was_brought_by_the_push_before_which_it_was_not_there() {
        let at =
            |hour: i8| -> Timestamp { format!("2026-01-05T{hour:02}:00:00Z").parse().unwrap() };
        let push = |before: &str, hour| Push {
            before: before.to_owned(),
            timestamp: at(hour),
        };
        let newest = ["e", "d", "c", "b", "a"].map(str::to_owned);
        let pushes = [push("d", 9), push("b", 8), push("a", 7), push("000", 6)];
        let when = |commit| pushed_at(&pushes, &newest, commit);
        assert_eq!(when("e"), Some(at(9)));
        assert_eq!(when("d"), Some(at(8)), "with c, in one push");
        assert_eq!(when("c"), Some(at(8)));
        assert_eq!(when("b"), Some(at(7)));
        assert_eq!(when("a"), Some(at(6)));
        assert_eq!(when("older than all that are listed"), Some(at(6)));
        assert_eq!(pushed_at(&pushes[..3], &newest, "a"), None);
    }
}
