//! Opens a pull request with one commit on a new branch.

use std::collections::BTreeMap;

use http::StatusCode;
use phileas_domain::model::Oid;
use serde::Deserialize;
use serde_json::json;

use super::objects::Attempt;
use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::{error, routes};
use crate::runtime::ports::{Disposition, Failure};

/// The proposed change.
#[derive(Debug, Clone)]
pub struct Proposal<'a> {
    /// The branch to create.
    pub branch: &'a str,
    /// The branch to merge into.
    pub base: &'a str,
    /// The head of the base branch, as it was read.
    pub at: &'a Oid,
    /// Title of the pull request, and subject of the commit.
    pub title: &'a str,
    /// Text of the pull request.
    pub body: &'a str,
    /// Files by path; `None` removes one.
    pub files: &'a BTreeMap<String, Option<String>>,
}

/// The pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Proposed {
    /// Its number.
    pub number: u64,
    /// Its page.
    #[serde(rename = "html_url")]
    pub url: String,
    /// Whether it was already open.
    #[serde(skip)]
    pub before: bool,
}

/// An entry of a folder.
#[derive(Debug, Clone, Deserialize)]
struct Listed {
    name: String,
    #[serde(rename = "type")]
    kind: String,
}

impl Client {
    /// Creates the branch, the commit and the pull request, each once. It resumes an earlier call that failed
    /// halfway: an open pull request from the branch is returned, and a branch without a commit of its own is used.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused; or the branch holds something else.
    pub async fn open_proposal(&self, proposal: &Proposal<'_>) -> Result<Proposed, Failure> {
        if let Some(open) = self.open_pull_from(proposal.branch).await? {
            return Ok(Proposed {
                before: true,
                ..open
            });
        }
        match self.create_branch(proposal.branch, proposal.at).await {
            Attempt::Done(_) => {}
            Attempt::Stale | Attempt::Doubtful(_) => {
                if self.branch_head(proposal.branch).await?.as_ref() != Some(proposal.at) {
                    return Err(branch_in_use(proposal.branch));
                }
            }
            Attempt::Failed(failure) => return Err(failure),
        }
        let swapped = self
            .commit_on_branch(
                proposal.branch,
                proposal.at,
                proposal.title,
                "",
                proposal.files,
            )
            .await;
        match swapped {
            Attempt::Done(_) => {}
            Attempt::Stale => return Err(branch_in_use(proposal.branch)),
            Attempt::Doubtful(failure) | Attempt::Failed(failure) => return Err(failure),
        }
        let route = routes::CREATE_PULL;
        let request = json!({
            "title": proposal.title,
            "body": proposal.body,
            "head": proposal.branch,
            "base": proposal.base,
        });
        match self.write_route(route, &[], &request).await {
            Ok(answer) => {
                let answer = require_success(route, answer)?;
                self.parse(route, &answer)
            }
            // The pull request may have been opened even so.
            Err(failure) => match self.open_pull_from(proposal.branch).await {
                Ok(Some(open)) => Ok(open),
                _ => Err(failure),
            },
        }
    }

    /// The open pull request from a branch of this repository.
    async fn open_pull_from(&self, branch: &str) -> Result<Option<Proposed>, Failure> {
        let route = routes::LIST_PULLS;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair(
                "head",
                &format!("{}:{branch}", self.address.current_name().owner),
            )
            .append_pair("state", "open")
            .append_pair("per_page", "1")
            .finish();
        let answer = require_success(
            route,
            self.read_route(route, &[], &format!("?{query}")).await?,
        )?;
        let found: Vec<Proposed> = self.parse(route, &answer)?;
        Ok(found.into_iter().next())
    }

    /// The names of the files in a folder at a commit; empty if there is no such folder. GitHub lists at most 1,000.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn list_files(&self, commit: &Oid, path: &str) -> Result<Vec<String>, Failure> {
        let route = routes::READ_CONTENTS;
        let answer = self
            .read_route(route, &[path], &format!("?ref={commit}"))
            .await?;
        if answer.status == StatusCode::NOT_FOUND || answer.body.starts_with(b"{") {
            return Ok(Vec::new());
        }
        let answer = require_success(route, answer)?;
        let listed: Vec<Listed> = self.parse(route, &answer)?;
        let files = listed.into_iter().filter(|one| one.kind == "file");
        Ok(files.map(|one| one.name).collect())
    }
}

fn branch_in_use(branch: &str) -> Failure {
    let said = format!(
        "the branch `{branch}` exists already and has other commits; delete it (git push origin --delete {branch}), and run this again"
    );
    error::local_failure(routes::CREATE_REF, &said, Disposition::Refused)
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{json, set};

    const AT: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    async fn propose(client: &Client) -> Result<Proposed, Failure> {
        let at = Oid::new(AT.to_owned());
        let files = BTreeMap::from([("a".to_owned(), Some("b".to_owned()))]);
        let proposal = Proposal {
            branch: "phileas/init",
            base: "main",
            at: &at,
            title: "Begin",
            body: "",
            files: &files,
        };
        client.open_proposal(&proposal).await
    }

    fn branch(at: &str) -> crate::adapters::github::scripted::Outcome {
        json(200, &value!({ "object": { "sha": at } }))
    }

    #[tokio::test]
    async fn a_branch_without_a_commit_of_its_own_is_gone_on_with() {
        let committed =
            value!({ "data": { "createCommitOnBranch": { "commit": { "oid": "c" } } } });
        let opened = value!({ "number": 7, "html_url": "https://github.com/acme/widget/pull/7" });
        let set = set([
            json(200, &value!([])),
            json(422, &value!({ "message": "Reference already exists" })),
            branch(AT),
            json(200, &committed),
            json(201, &opened),
        ]);
        let proposed = propose(&set.client).await.unwrap();
        assert_eq!((proposed.number, proposed.before), (7, false));
        assert!(set.script.is_used_up());
        let seen = set.script.seen();
        assert!(seen[0].line.contains("/pulls?head="), "{}", seen[0].line);
        assert_eq!(seen[4].body["head"], "phileas/init");
        assert_eq!(seen[4].body["base"], "main");
    }

    #[tokio::test]
    async fn a_branch_that_holds_something_else_is_left_alone() {
        let set = set([
            json(200, &value!([])),
            json(422, &value!({ "message": "Reference already exists" })),
            branch("bbbb"),
        ]);
        let refused = propose(&set.client).await.unwrap_err();
        assert_eq!(refused.disposition, Disposition::Refused);
        assert!(
            refused.detail.contains("git push origin --delete"),
            "{}",
            refused.detail
        );
        assert!(set.script.is_used_up(), "nothing was committed to it");
    }

    #[tokio::test]
    async fn what_is_open_already_is_the_answer() {
        let open = value!([{ "number": 3, "html_url": "https://github.com/acme/widget/pull/3" }]);
        let set = set([json(200, &open)]);
        let proposed = propose(&set.client).await.unwrap();
        assert_eq!((proposed.number, proposed.before), (3, true));
    }
}
