//! Reads the files of a pull request by REST, because GraphQL shows neither hunks nor former names.
//! <https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files>

use phileas_domain::engine::PullFile;
use phileas_domain::model::PullNumber;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::error::is_lasting;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

/// How many pages of files are read; each holds [`PAGE`].
const MAX_PAGES: usize = 3;
pub(crate) const PAGE: usize = 100;

/// A file of a pull request.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ListedFile {
    pub(crate) filename: String,
    /// The former name of a renamed file.
    #[serde(default)]
    pub(crate) previous_filename: Option<String>,
    #[serde(default)]
    additions: u64,
    #[serde(default)]
    deletions: u64,
    #[serde(default)]
    patch: Option<String>,
}

/// The first files of a pull request, in the order of their names.
#[derive(Debug, Clone)]
pub(crate) struct ListedFiles {
    pub(crate) files: Vec<ListedFile>,
    /// Whether there are no more.
    pub(crate) all: bool,
}

impl Client {
    pub(crate) async fn list_pull_files(&self, pull: PullNumber) -> Result<ListedFiles, Failure> {
        let route = routes::LIST_PULL_FILES;
        let mut files = Vec::new();
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page={PAGE}&page={page}");
            let answer = self.read_route(route, &[&pull.to_string()], &query).await?;
            let read: Vec<ListedFile> = self.parse(route, &require_success(route, answer)?)?;
            let all = read.len() < PAGE;
            files.extend(read);
            if all {
                return Ok(ListedFiles { files, all });
            }
        }
        Ok(ListedFiles { files, all: false })
    }

    /// The first files of a pull request with their hunks. `None`: GitHub does not list them.
    pub(crate) async fn pull_files(
        &self,
        pull: PullNumber,
    ) -> Result<Option<Vec<PullFile>>, Failure> {
        match self.list_pull_files(pull).await {
            Ok(listed) => Ok(Some(listed.files.into_iter().map(PullFile::from).collect())),
            Err(failure) if is_lasting(&failure) => {
                tracing::warn!(pull = pull.0, %failure, "GitHub does not list the files of a pull request");
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }
}

impl From<ListedFile> for PullFile {
    fn from(file: ListedFile) -> Self {
        Self {
            path: file.filename,
            added: file.additions,
            removed: file.deletions,
            patch: file.patch,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::http::retry::READ_ATTEMPTS;
    use crate::adapters::github::scripted::{json, set};

    #[tokio::test]
    async fn files_come_with_their_hunks_and_a_binary_one_without() {
        let listed = value!([
            { "filename": "a.rs", "additions": 2, "deletions": 1, "patch": "@@ -1 +1,2 @@\n-x\n+y\n+z" },
            { "filename": "b.png", "additions": 0, "deletions": 0 },
        ]);
        let set = set([json(200, &listed)]);
        let files = set.client.pull_files(PullNumber(7)).await.unwrap().unwrap();
        assert_eq!((files[0].added, files[0].removed), (2, 1));
        assert!(files[0].patch.as_ref().unwrap().ends_with("+z"));
        assert_eq!((files[1].path.as_str(), &files[1].patch), ("b.png", &None));
    }

    #[tokio::test]
    async fn what_github_never_lists_has_no_files() {
        for (status, is_final) in [
            (404, true),
            (422, true),
            (502, true),
            (504, true),
            (403, false),
            (500, false),
        ] {
            let replies = (0..READ_ATTEMPTS).map(|_| json(status, &value!({ "message": "no" })));
            let set = set(replies);
            let files = set.client.pull_files(PullNumber(7)).await;
            assert_eq!(files == Ok(None), is_final, "{status}: {files:?}");
        }
    }
}
