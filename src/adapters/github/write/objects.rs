//! What the ledger's protocol needs of git on GitHub: the compare-and-swap, and objects to look at or to be born with.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use phileas_domain::model::Oid;
use serde::Deserialize;
use serde_json::{Value, json};

use super::branch::rule_violation;
use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{COMMIT, Envelope, GraphError};
use crate::adapters::github::http::answer::Answer;
use crate::adapters::github::http::request::success;
use crate::adapters::github::http::retry::Nature;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::wire::git::{GitCommit, Named};
use crate::runtime::ports::{Disposition, Failure};

const WHAT: &str = "POST /graphql (Commit)";

/// A commit as it stands on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Subject and body.
    pub message: String,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
}

/// What became of one attempt to move or to make a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// It was done; the branch's new head.
    Done(Oid),
    /// The branch is not where it was said to be.
    Stale,
    /// Nobody knows.
    Doubtful(Failure),
    /// It was not done.
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
    /// One commit on top of `base`, by `createCommitOnBranch`: sent once.
    pub async fn swap(
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
                let contents = STANDARD.encode(text.as_ref()?);
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
                "repositoryNameWithOwner": self.place.name().to_string(),
                "branchName": branch,
            },
            "expectedHeadOid": base.as_str(),
            "message": { "headline": headline, "body": body },
            "fileChanges": { "additions": additions, "deletions": deletions },
        }});
        match self
            .post_graph(WHAT, COMMIT, &variables, Nature::Write)
            .await
        {
            Ok(answer) => {
                self.budget.cost(1);
                match self.attempt(&answer) {
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

    /// What a mutation's answer says. Only a plain success and a plain refusal are believed.
    fn attempt(&self, answer: &Answer) -> Attempt {
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
                // GitHub looks at permissions and at the input before it commits anything, and does not carry out
                // what it limits.
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
            None => Attempt::Doubtful(error::told(
                WHAT,
                answer,
                Disposition::Unknown,
                "neither a commit nor an error",
            )),
        }
    }

    /// A commit's message and parents; `None` when it does not exist.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or not so that it is understood.
    pub async fn recorded(&self, oid: &Oid) -> Result<Option<Recorded>, Failure> {
        let route = routes::READ_COMMIT;
        let answer = self.read(route, &[oid.as_str()], "").await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let answer = success(route, answer)?;
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

    /// Writes a commit without parents, which no branch holds yet. Objects that nothing refers to harm nobody, so
    /// that this may be repeated.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused; an empty repository cannot take objects at all.
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
            .object(routes::CREATE_TREE, &json!({ "tree": entries }))
            .await?;
        let wish = json!({ "message": message, "tree": tree, "parents": [] });
        self.object(routes::CREATE_COMMIT, &wish)
            .await
            .map(Oid::new)
    }

    async fn object(&self, route: &str, wish: &Value) -> Result<String, Failure> {
        let answer = self.rest(route, &[], "", Nature::Read, Some(wish)).await?;
        if answer.status == StatusCode::CONFLICT {
            let said = "the repository is empty; push a first commit to its default branch";
            return Err(error::told(route, &answer, Disposition::Refused, said));
        }
        let answer = success(route, answer)?;
        let made: Named = self.parse(route, &answer)?;
        Ok(made.sha)
    }

    /// Makes a branch at a commit: sent once. [`Attempt::Stale`] means that GitHub refused with the status that it
    /// also has for a branch that exists.
    pub async fn create_branch(&self, branch: &str, at: &Oid) -> Attempt {
        let route = routes::CREATE_REF;
        let wish = json!({ "ref": format!("refs/heads/{branch}"), "sha": at.as_str() });
        match self.write(route, &[], &wish).await {
            Ok(answer) if answer.status == StatusCode::UNPROCESSABLE_ENTITY => {
                let said = answer.message().to_ascii_lowercase();
                if said.contains("already exists") {
                    return Attempt::Stale;
                }
                let failure = error::refused(route, &answer, Disposition::Refused);
                Attempt::Failed(self.explain_refusal(branch, failure).await)
            }
            Ok(answer) => match success(route, answer) {
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

/// Whether GitHub says that the branch's head is not the expected one: by its type, else by either of the two texts
/// that were seen (planetscale/ghcommit#153, babarot/gh-infra#163).
fn is_stale(problem: &GraphError) -> bool {
    let said = problem.message.to_ascii_lowercase();
    problem.is("STALE_DATA")
        || (said.contains("expected branch to point to") && said.contains("but it did not"))
        || (said.contains("is at") && said.contains("but expected"))
}

#[cfg(test)]
mod tests;
