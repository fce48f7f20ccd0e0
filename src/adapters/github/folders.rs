//! Everything below folders at one commit, with texts: one query for all of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use phileas_domain::model::{Entry, Oid, Tree};
use serde::Deserialize;

use crate::runtime::ports::{Disposition, Failure};

use super::graphql::FILE_FACTS;
use super::plan_files::Files;
use super::wire::file::File;
use super::wire::present;
use super::{Client, error};

/// How many folders deep a query looks: `.jules/workstreams/<name>/exchange/events/pending/` has five below its first.
pub(super) const DEPTH: usize = 5;
/// How many files that GraphQL does not show whole are read one by one.
const MAX_BLOB_READS: usize = 16;
/// The largest of them, in bytes.
const FILE_LIMIT_BYTES: u64 = 1 << 20;
const NAME: &str = "Folders";

#[derive(Deserialize)]
struct Found {
    #[serde(deserialize_with = "present")]
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(deserialize_with = "present")]
    object: Option<BTreeMap<String, Option<File>>>,
}

/// The query for so many folders or files.
pub(super) fn document(paths: usize) -> String {
    let mut text =
        "query Folders($owner: String!, $name: String!, $commit: GitObjectID!".to_owned();
    for index in 0..paths {
        let _ = write!(text, ", $p{index}: String!");
    }
    text.push_str(
        ") {\n  rateLimit {\n    cost\n  }\n  repository(owner: $owner, name: $name) {\n    \
         object(oid: $commit) {\n      ... on Commit {\n",
    );
    for index in 0..paths {
        let _ = writeln!(
            text,
            "        f{index}: file(path: $p{index}) {{\n          ...Readable\n          ...Below\n        }}"
        );
    }
    text.push_str("      }\n    }\n  }\n}\n\nfragment Below on TreeEntry {\n");
    for level in 0..DEPTH {
        let indent = "  ".repeat(3 * level + 1);
        let _ = writeln!(
            text,
            "{indent}object {{\n{indent}  ... on Tree {{\n{indent}    entries {{\n{indent}      ...Readable"
        );
    }
    for level in (0..DEPTH).rev() {
        let indent = "  ".repeat(3 * level + 1);
        let _ = writeln!(text, "{indent}    }}\n{indent}  }}\n{indent}}}");
    }
    text.push_str("}\n\n");
    text.push_str(FILE_FACTS);
    text
}

impl Client {
    pub(in super::super) async fn folders_at(
        &self,
        commit: &Oid,
        paths: &[&str],
    ) -> Result<Tree, Failure> {
        let mut variables = self.repository_variables();
        variables["commit"] = commit.as_str().into();
        for (index, path) in paths.iter().enumerate() {
            variables[format!("p{index}")] = (*path).into();
        }
        let reply = self
            .query::<Found>(NAME, &document(paths.len()), &variables, |_| false)
            .await?;
        let missing = |said: &str| {
            let what = "POST /graphql (Folders)";
            error::told(what, &reply.answer, Disposition::NotFound, said)
        };
        let found = reply
            .data
            .repository
            .as_ref()
            .ok_or_else(|| missing("the repository is gone"))?
            .object
            .as_ref()
            .ok_or_else(|| missing("the commit does not exist"))?;
        let mut files = Files::default();
        for (index, path) in paths.iter().enumerate() {
            if let Some(Some(file)) = found.get(&format!("f{index}")) {
                files.add(path, file);
            }
        }
        let (mut tree, unread) = files.into_parts();
        let small = unread
            .into_iter()
            .filter(|file| file.size <= FILE_LIMIT_BYTES);
        for file in small.take(MAX_BLOB_READS) {
            if let Some(text) = self.blob(&file.oid).await?
                && let Some(entry) = tree.get(&file.path)
            {
                let entry = Entry {
                    text: Some(text.into()),
                    ..entry.clone()
                };
                tree.insert(file.path, entry);
            }
        }
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape is the one that is shown to GitHub's schema.
    #[test]
    fn a_query_looks_as_deep_as_it_says() {
        let text = document(1);
        assert_eq!(text.matches("entries {").count(), DEPTH);
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(
            text.contains("$p0: String!") && !text.contains("$p1"),
            "{text}"
        );
    }
}
