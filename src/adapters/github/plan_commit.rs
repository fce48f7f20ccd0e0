//! When the files of the plan got their newest commit.
//!
//! `history` with a path lists the commits that touched it, the newest first, and dates each as its committer did:
//! <https://docs.github.com/en/graphql/reference/objects#commit>. A commit that came by a merge was made on its branch
//! before, so where the head is a merge, the merge's own date counts as well.

use jiff::Timestamp;
use phileas_domain::model::Oid;
use serde::Deserialize;

use crate::runtime::ports::Failure;

use super::Client;
use super::graphql::PLAN_COMMIT;
use super::wire::{Connection, present};

#[derive(Deserialize)]
struct Found {
    #[serde(deserialize_with = "present")]
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(deserialize_with = "present")]
    object: Option<Head>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    committed_date: Timestamp,
    parents: Parents,
    schedules: Connection<Dated>,
    config: Connection<Dated>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parents {
    total_count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dated {
    committed_date: Timestamp,
}

impl Client {
    /// `None`: there is no such commit, or none that touched the plan.
    pub(in super::super) async fn plan_commit_at(
        &self,
        commit: &Oid,
    ) -> Result<Option<Timestamp>, Failure> {
        let mut variables = self.repository_variables();
        variables["commit"] = commit.as_str().into();
        let reply = self
            .query::<Found>("PlanCommit", PLAN_COMMIT, &variables, |_| false)
            .await?;
        let head = reply.data.repository.and_then(|found| found.object);
        Ok(head.and_then(newest))
    }
}

fn newest(head: Head) -> Option<Timestamp> {
    let merged = (head.parents.total_count > 1).then_some(head.committed_date);
    let touched = head.schedules.into_iter().chain(head.config);
    let touched = touched.map(|one| one.committed_date).max()?;
    Some(merged.map_or(touched, |merged| merged.max(touched)))
}
