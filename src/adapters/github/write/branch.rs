//! Creates branches for sessions, and changes the base of pull requests. Each write is sent once; if its answer is
//! lost, the branch is read instead.

use http::StatusCode;
use phileas_domain::diagnostic::shell_word;
use phileas_domain::model::{BranchName, Oid, PullNumber};
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::read::protection::Rule;
use crate::adapters::github::wire::git::{ListedRef, Ref};
use crate::adapters::github::wire::issue::PullBase;
use crate::runtime::ports::{Disposition, Failure};

/// GitHub's message if a ruleset or protection refuses a change, without the rest of the failure.
pub(crate) fn rule_violation(failure: &Failure) -> Option<&str> {
    let starts = [
        "Repository rule violations found",
        "Protected branch update failed",
    ];
    let mut starts = starts.iter().filter_map(|start| failure.detail.find(start));
    let said = &failure.detail[starts.next()?..];
    Some(said.split_once(" (request ").map_or(said, |(said, _)| said))
}

/// The first of these branches that git cannot hold beside one of this name.
#[must_use]
pub fn find_blocking_branch<'b>(name: &str, branches: &'b [String]) -> Option<&'b str> {
    let is_inside = |inner: &str, outer: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let mut names = branches.iter().map(String::as_str);
    names.find(|one| is_inside(one, name) || is_inside(name, one))
}

/// Explains which branch blocks another one.
#[must_use]
pub fn blocked_text(branch: &str, blocking: &str) -> String {
    format!(
        "git cannot hold the branch `{branch}` beside the branch `{}`",
        error::sanitize(blocking)
    )
}

impl Client {
    pub(crate) async fn create_branch_once(
        &self,
        name: &BranchName,
        at: &Oid,
    ) -> Result<(), Failure> {
        let route = routes::CREATE_REF;
        let request = json!({ "ref": format!("refs/heads/{name}"), "sha": at.as_str() });
        let failure = match self.write_route(route, &[], &request).await {
            Ok(answer) if answer.status.is_success() => return Ok(()),
            // 422 also stands for a bad name, a missing commit, a blocking branch, or a rule that forbids the branch.
            Ok(answer) if answer.status == StatusCode::UNPROCESSABLE_ENTITY => {
                error::answer_failure(route, &answer, Disposition::Refused)
            }
            Ok(answer) => return require_success(route, answer).map(drop),
            Err(failure) if failure.disposition == Disposition::Unknown => Failure {
                // Creating the same branch twice does no harm.
                disposition: Disposition::Retry { after: None },
                ..failure
            },
            Err(failure) => return Err(failure),
        };
        match self.branch_head(name.as_str()).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) if failure.disposition == Disposition::Refused => {
                Err(self.explain_refusal(name.as_str(), failure).await)
            }
            Ok(None) => Err(failure),
            // The branch may exist, so this is not a final refusal.
            Err(unseen) => Err(unseen),
        }
    }

    /// The head of a branch by REST; `None`: there is no such branch.
    pub(crate) async fn branch_head(&self, name: &str) -> Result<Option<Oid>, Failure> {
        let route = routes::READ_REF;
        let answer = self
            .read_route(route, &[&format!("heads/{name}")], "")
            .await?;
        match answer.status {
            // An empty repository answers 409.
            StatusCode::NOT_FOUND | StatusCode::CONFLICT => Ok(None),
            _ => {
                let answer = require_success(route, answer)?;
                let found: Ref = self.parse(route, &answer)?;
                Ok(Some(Oid::new(found.object.sha)))
            }
        }
    }

    /// The branch that keeps git from holding one of this name: git stores `a/b` inside a folder `a`, so no branch
    /// `a` can exist beside it. <https://git-scm.com/docs/git-check-ref-format>
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or the credential may not read the repository.
    pub async fn blocking_branch(&self, name: &str) -> Result<Option<String>, Failure> {
        let root = name.split('/').next().unwrap_or_default();
        let listed = self.branches_from(root).await?;
        Ok(find_blocking_branch(name, &listed).map(str::to_owned))
    }

    /// The branches whose names have this prefix.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or the credential may not read the repository.
    pub async fn branches_from(&self, start: &str) -> Result<Vec<String>, Failure> {
        let route = routes::LIST_MATCHING_REFS;
        let answer = self
            .read_route(route, &[&format!("heads/{start}")], "")
            .await?;
        // An empty repository answers 409.
        if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::CONFLICT) {
            return Ok(Vec::new());
        }
        let listed: Vec<ListedRef> = self.parse(route, &require_success(route, answer)?)?;
        let names = listed.iter();
        let names = names.filter_map(|one| one.name.strip_prefix("refs/heads/"));
        Ok(names.map(str::to_owned).collect())
    }

    /// Adds to a refusal which branch or rule blocks it, and what to do.
    pub(crate) async fn explain_refusal(&self, branch: &str, failure: Failure) -> Failure {
        if let Some(said) = rule_violation(&failure) {
            return Failure {
                detail: self.rules_text(branch, said).await,
                ..failure
            };
        }
        match self.blocking_branch(branch).await {
            Ok(Some(blocking)) => Failure {
                detail: format!(
                    "{}: {}; {}",
                    failure.detail,
                    blocked_text(branch, &blocking),
                    self.rename_command(&blocking)
                ),
                ..failure
            },
            // Nothing more is known than GitHub's message.
            Ok(None) | Err(_) => failure,
        }
    }

    /// The message if rules refuse a change: the branch, the rules, and the command that explains more.
    async fn rules_text(&self, branch: &str, said: &str) -> String {
        let repository = self.address.current_name();
        let rules = self.list_rules(branch).await.unwrap_or_default();
        let is_in_the_way =
            |rule: &&Rule| !matches!(rule.kind.as_str(), "deletion" | "non_fast_forward");
        let rules: Vec<String> = rules
            .iter()
            .filter(is_in_the_way)
            .map(Rule::describe_rule)
            .collect();
        let rules = match rules.as_slice() {
            [] => "a rule or protection that the credential may not read".to_owned(),
            rules => format!("the rules in force are {}", rules.join(", ")),
        };
        format!(
            "the branch `{branch}` of {repository}: {said} (GitHub); {rules}; leave the branch out of them, or let phileas bypass them; phileas doctor --repo {repository} says more"
        )
    }

    /// The commands that rename or delete a blocking branch. GitHub keeps its pull requests.
    #[must_use]
    pub fn rename_command(&self, blocking: &str) -> String {
        let blocking = error::sanitize(blocking);
        format!(
            "rename it (gh api -X POST {} -f {}) or delete it (git push origin --delete {})",
            shell_word(&format!(
                "repos/{}/branches/{blocking}/rename",
                self.address.current_name()
            )),
            shell_word(&format!("new_name=moved-{}", blocking.replace('/', "-"))),
            shell_word(&blocking)
        )
    }

    pub(crate) async fn retarget_pull(
        &self,
        pull: PullNumber,
        base: &BranchName,
    ) -> Result<(), Failure> {
        let route = routes::UPDATE_PULL;
        let number = pull.to_string();
        let failure = match self
            .write_route(route, &[&number], &json!({ "base": base.as_str() }))
            .await
        {
            Ok(answer) if answer.status == StatusCode::UNPROCESSABLE_ENTITY => {
                error::answer_failure(route, &answer, Disposition::Refused)
            }
            Ok(answer) => return require_success(route, answer).map(drop),
            Err(failure) if failure.disposition == Disposition::Unknown => Failure {
                // Setting the same base twice does no harm.
                disposition: Disposition::Retry { after: None },
                ..failure
            },
            Err(failure) => return Err(failure),
        };
        let route = routes::READ_PULL;
        let Ok(answer) = self.read_route(route, &[&number], "").await else {
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
