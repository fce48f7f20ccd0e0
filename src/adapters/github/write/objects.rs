//! Git operations for the ledger: the compare-and-swap commit, reading commits, and creating the first one.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use http::StatusCode;
use phileas_domain::model::Oid;
use serde::Deserialize;
use serde_json::{Value, json};

use super::branch::rule_violation;
use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{COMMIT, Envelope, GraphError};
use crate::adapters::github::http::answer::Answer;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::retry::CallKind;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::wire::git::{GitCommit, Named};
use crate::runtime::ports::{Disposition, Failure};

const WHAT: &str = "POST /graphql (Commit)";

/// A commit on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Subject and body.
    pub message: String,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
}

/// The result of one attempt to move or create a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// It succeeded; the branch's new head.
    Done(Oid),
    /// The branch's head is not the expected one.
    Stale,
    /// It is unknown whether it took effect.
    Doubtful(Failure),
    /// It had no effect.
    Failed(Failure),
}

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "createCommitOnBranch")]
    created: Option<Payload>,
}

#[derive(Deserialize)]
struct Payload {
    commit: Option<CommitOid>,
}

#[derive(Deserialize)]
struct CommitOid {
    oid: String,
}

impl Client {
    /// Adds one commit on top of `base` by `createCommitOnBranch`, sent once.
    pub async fn commit_on_branch(
        &self,
        branch: &str,
        base: &Oid,
        headline: &str,
        body: &str,
        files: &BTreeMap<String, Option<String>>,
    ) -> Attempt {
        let additions: Vec<Value> = files
            .iter()
            .filter_map(|(path, text)| {
                let contents = BASE64.encode(text.as_ref()?.as_bytes());
                Some(json!({ "path": path, "contents": contents }))
            })
            .collect();
        let deletions: Vec<Value> = files
            .iter()
            .filter(|(_, text)| text.is_none())
            .map(|(path, _)| json!({ "path": path }))
            .collect();
        let variables = json!({ "input": {
            "branch": {
                "repositoryNameWithOwner": self.address.current_name().to_string(),
                "branchName": branch,
            },
            "expectedHeadOid": base.as_str(),
            "message": { "headline": headline, "body": body },
            "fileChanges": { "additions": additions, "deletions": deletions },
        }});
        match self
            .post_graph(WHAT, COMMIT, &variables, CallKind::Write)
            .await
        {
            Ok(answer) => {
                self.budget.count_points(1);
                match self.read_attempt(&answer) {
                    Attempt::Failed(failure) if rule_violation(&failure).is_some() => {
                        Attempt::Failed(self.explain_refusal(branch, failure).await)
                    }
                    attempt => attempt,
                }
            }
            Err(failure) if failure.disposition == Disposition::Unknown => {
                Attempt::Doubtful(failure)
            }
            Err(failure) => Attempt::Failed(failure),
        }
    }

    /// The result that a mutation's answer reports. Only a clear success or a clear refusal is believed.
    fn read_attempt(&self, answer: &Answer) -> Attempt {
        let envelope: Envelope<Created> = match self.parse(WHAT, answer) {
            Ok(envelope) => envelope,
            Err(failure) => return Attempt::Doubtful(failure),
        };
        if envelope.errors.iter().any(is_stale) {
            return Attempt::Stale;
        }
        if let Some(problem) = envelope.errors.first() {
            let failure = self.graph_failure(WHAT, answer, problem);
            return match failure.disposition {
                // GitHub checks permissions and input before it commits anything, and does not execute requests that
                // it rate-limits.
                Disposition::Denied
                | Disposition::NotFound
                | Disposition::Refused
                | Disposition::TooLarge
                | Disposition::Retry { after: Some(_) } => Attempt::Failed(failure),
                Disposition::Retry { after: None } | Disposition::Unknown => {
                    Attempt::Doubtful(failure)
                }
            };
        }
        let oid = envelope
            .data
            .and_then(|data| data.created)
            .and_then(|payload| payload.commit);
        match oid {
            Some(commit) => Attempt::Done(Oid::new(commit.oid)),
            None => Attempt::Doubtful(error::failure_saying(
                WHAT,
                answer,
                Disposition::Unknown,
                "neither a commit nor an error",
            )),
        }
    }

    /// A commit's message and parents; `None`: it does not exist.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or its answer cannot be read.
    pub async fn read_commit(&self, oid: &Oid) -> Result<Option<Recorded>, Failure> {
        let route = routes::READ_COMMIT;
        let answer = self.read_route(route, &[oid.as_str()], "").await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let answer = require_success(route, answer)?;
        let commit: GitCommit = self.parse(route, &answer)?;
        Ok(Some(Recorded {
            message: commit.message,
            parents: commit
                .parents
                .into_iter()
                .map(|parent| Oid::new(parent.sha))
                .collect(),
        }))
    }

    /// Writes a commit without parents and without a branch. Unreferenced objects do no harm, so this may be
    /// repeated.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused; an empty repository accepts no objects.
    pub async fn write_orphan(
        &self,
        message: &str,
        files: &BTreeMap<String, Option<String>>,
    ) -> Result<Oid, Failure> {
        let entries: Vec<Value> = files
            .iter()
            .filter_map(|(path, text)| {
                let content = text.as_ref()?;
                Some(json!({ "path": path, "mode": "100644", "type": "blob", "content": content }))
            })
            .collect();
        let tree = self
            .create_object(routes::CREATE_TREE, &json!({ "tree": entries }))
            .await?;
        let request = json!({ "message": message, "tree": tree, "parents": [] });
        self.create_object(routes::CREATE_COMMIT, &request)
            .await
            .map(Oid::new)
    }

    async fn create_object(&self, route: &str, request: &Value) -> Result<String, Failure> {
        let answer = self
            .call_rest(route, &[], "", CallKind::Read, Some(request))
            .await?;
        if answer.status == StatusCode::CONFLICT {
            let said = "the repository is empty; push a first commit to its default branch";
            return Err(error::failure_saying(
                route,
                &answer,
                Disposition::Refused,
                said,
            ));
        }
        let answer = require_success(route, answer)?;
        let made: Named = self.parse(route, &answer)?;
        Ok(made.sha)
    }

    /// Creates a branch at a commit, sent once. [`Attempt::Stale`] means that GitHub refused because the branch
    /// exists.
    pub async fn create_branch(&self, branch: &str, at: &Oid) -> Attempt {
        let route = routes::CREATE_REF;
        let request = json!({ "ref": format!("refs/heads/{branch}"), "sha": at.as_str() });
        match self.write_route(route, &[], &request).await {
            Ok(answer) if answer.status == StatusCode::UNPROCESSABLE_ENTITY => {
                let said = answer.error_message().to_ascii_lowercase();
                if said.contains("already exists") {
                    return Attempt::Stale;
                }
                let failure = error::answer_failure(route, &answer, Disposition::Refused);
                Attempt::Failed(self.explain_refusal(branch, failure).await)
            }
            Ok(answer) => match require_success(route, answer) {
                Ok(_) => Attempt::Done(at.clone()),
                Err(failure) => Attempt::Failed(failure),
            },
            Err(failure) if failure.disposition == Disposition::Unknown => {
                Attempt::Doubtful(failure)
            }
            Err(failure) => Attempt::Failed(failure),
        }
    }
}

/// Whether GitHub reports that the branch's head is not the expected one: by its type, or by one of the two texts
/// that were observed (planetscale/ghcommit#153, babarot/gh-infra#163).
fn is_stale(problem: &GraphError) -> bool {
    let said = problem.message.to_ascii_lowercase();
    problem.has_type("STALE_DATA")
        || (said.contains("expected branch to point to") && said.contains("but it did not"))
        || (said.contains("is at") && said.contains("but expected"))
}

#[cfg(test)]
mod tests;
