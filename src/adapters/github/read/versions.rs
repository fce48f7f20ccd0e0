//! Reads earlier versions of a file of a branch.

use http::StatusCode;
use jiff::Timestamp;
use phileas_domain::model::Oid;

use super::observe::STATE_LIMIT_BYTES;
use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::adapters::github::wire::git::{Contents, ListedCommit};
use crate::runtime::ports::Failure;

/// The most versions that are read; one page of GitHub's listing.
pub const MAX_VERSIONS: usize = 100;

/// A file as one commit left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    /// The commit.
    pub oid: Oid,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// The text, with invalid UTF-8 replaced.
    pub text: String,
}

impl Client {
    /// The versions of a file on a branch, newest first: at most `limit`, and at most [`MAX_VERSIONS`]. Commits that
    /// removed it or replaced it by something other than a file are left out, and so are files above the limit of a
    /// state file.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn file_versions(
        &self,
        branch: &str,
        path: &str,
        limit: usize,
    ) -> Result<Vec<FileVersion>, Failure> {
        let route = routes::LIST_COMMITS;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("sha", branch)
            .append_pair("path", path)
            .append_pair("per_page", &limit.clamp(1, MAX_VERSIONS).to_string())
            .finish();
        let answer = self.read_route(route, &[], &format!("?{query}")).await?;
        // The branch does not exist, or the repository has no commits.
        if matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::CONFLICT) {
            return Ok(Vec::new());
        }
        let answer = require_success(route, answer)?;
        let commits: Vec<ListedCommit> = self.parse(route, &answer)?;
        let mut versions = Vec::new();
        for listed in commits.into_iter().take(limit) {
            let committed_at = listed.commit.committer.and_then(|by| by.date);
            if let Some(text) = self.file_at(&listed.sha, path).await? {
                versions.push(FileVersion {
                    oid: Oid::new(listed.sha),
                    committed_at: committed_at.unwrap_or(Timestamp::UNIX_EPOCH),
                    text,
                });
            }
        }
        Ok(versions)
    }

    /// A file's text at a commit or branch; `None` when there is no such file, or it is above the limit.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn file_at(&self, commit: &str, path: &str) -> Result<Option<String>, Failure> {
        let route = routes::READ_CONTENTS;
        let answer = self
            .read_route(route, &[path], &format!("?ref={commit}"))
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let answer = require_success(route, answer)?;
        // GitHub answers with a list for a folder.
        if answer.body.starts_with(b"[") {
            return Ok(None);
        }
        let contents: Contents = self.parse(route, &answer)?;
        if contents.kind != "file" || contents.size > STATE_LIMIT_BYTES {
            return Ok(None);
        }
        self.read_blob_lossy(&contents.sha).await.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{json, set};

    #[tokio::test]
    async fn versions_are_read_commit_by_commit_and_missing_ones_left_out() {
        let commits = value!([
            { "sha": "2b", "commit": { "committer": { "date": "2026-01-06T00:00:00Z" } } },
            { "sha": "1a", "commit": { "committer": { "date": "2026-01-05T00:00:00Z" } } },
        ]);
        let set = set([
            json(200, &commits),
            json(404, &value!({ "message": "Not Found" })),
            json(200, &value!({ "type": "file", "sha": "b10b", "size": 3 })),
            json(200, &value!({ "content": "e30K\n", "encoding": "base64" })),
        ]);
        let found = set
            .client
            .file_versions("jules", ".jules/a b.json", 7)
            .await
            .unwrap();
        let expected = FileVersion {
            oid: "1a".into(),
            committed_at: "2026-01-05T00:00:00Z".parse().unwrap(),
            text: "{}\n".to_owned(),
        };
        assert_eq!(found, [expected]);
        let seen = set.script.lines();
        assert!(
            seen[0].ends_with("/commits?sha=jules&path=.jules%2Fa+b.json&per_page=7"),
            "{seen:?}"
        );
        assert!(
            seen[1].ends_with("/contents/.jules/a%20b.json?ref=2b"),
            "{seen:?}"
        );
        assert!(seen[3].ends_with("/git/blobs/b10b"), "{seen:?}");
    }

    #[tokio::test]
    async fn a_branch_that_is_not_there_has_no_versions() {
        let set = set([json(404, &value!({ "message": "Not Found" }))]);
        let found = set.client.file_versions("jules", "a", 7).await.unwrap();
        assert_eq!(found, []);
    }
}
