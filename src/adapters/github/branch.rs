//! Branches for sessions, and where pull requests point. Each write is sent once; when its answer says nothing, what
//! is there is looked at instead.

use http::StatusCode;
use phileas_domain::model::{BranchName, Oid, PullNumber};
use serde_json::json;

use crate::runtime::ports::{Disposition, Failure};

use super::request::success;
use super::wire::git::Ref;
use super::wire::issue::PullBase;
use super::{Client, error, routes};

impl Client {
    pub(in super::super) async fn make_branch_once(
        &self,
        name: &BranchName,
        at: &Oid,
    ) -> Result<(), Failure> {
        let route = routes::CREATE_REF;
        let wish = json!({ "ref": format!("refs/heads/{name}"), "sha": at.as_str() });
        let failure = match self.write(route, &[], &wish).await {
            Ok(answer) if answer.status.is_success() => return Ok(()),
            // 422 also means a bad name, a missing commit, or a rule that forbids the branch.
            Ok(answer) if answer.status == StatusCode::UNPROCESSABLE_ENTITY => {
                error::refused(route, &answer, Disposition::Refused)
            }
            Ok(answer) => return success(route, answer).map(drop),
            Err(failure) if failure.disposition == Disposition::Unknown => Failure {
                // A branch that is made twice is made once.
                disposition: Disposition::Retry { after: None },
                ..failure
            },
            Err(failure) => return Err(failure),
        };
        match self.branch_head(name.as_str()).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(failure),
            // It may be there all the same, so that nothing is refused for good.
            Err(unseen) => Err(unseen),
        }
    }

    /// The head of a branch by REST; `None` when there is no such branch.
    pub(in super::super) async fn branch_head(&self, name: &str) -> Result<Option<Oid>, Failure> {
        let route = routes::READ_REF;
        let answer = self.read(route, &[&format!("heads/{name}")], "").await?;
        match answer.status {
            // An empty repository answers 409.
            StatusCode::NOT_FOUND | StatusCode::CONFLICT => Ok(None),
            _ => {
                let answer = success(route, answer)?;
                let found: Ref = self.parse(route, &answer)?;
                Ok(Some(Oid::new(found.object.sha)))
            }
        }
    }

    pub(in super::super) async fn retarget(
        &self,
        pull: PullNumber,
        base: &BranchName,
    ) -> Result<(), Failure> {
        let route = routes::UPDATE_PULL;
        let number = pull.to_string();
        let failure = match self
            .write(route, &[&number], &json!({ "base": base.as_str() }))
            .await
        {
            Ok(answer) if answer.status == StatusCode::UNPROCESSABLE_ENTITY => {
                error::refused(route, &answer, Disposition::Refused)
            }
            Ok(answer) => return success(route, answer).map(drop),
            Err(failure) if failure.disposition == Disposition::Unknown => Failure {
                // Pointing twice at the same base does no harm.
                disposition: Disposition::Retry { after: None },
                ..failure
            },
            Err(failure) => return Err(failure),
        };
        let route = routes::READ_PULL;
        let Ok(answer) = self.read(route, &[&number], "").await else {
            return Err(failure);
        };
        match self.parse::<PullBase>(route, &answer) {
            Ok(found) if found.base.branch == base.as_str() => Ok(()),
            _ => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests;
