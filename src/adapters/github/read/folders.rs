//! Reads everything below folders at one commit, with texts, in one query.

use std::fmt::Write as _;

use phileas_domain::model::{Entry, Oid, TEXT_LIMIT_BYTES, Tree};

use super::paths;
use super::plan_files::FileCollector;
use crate::adapters::github::client::Client;
use crate::runtime::ports::Failure;

/// How many levels of folders a query reads: `.jules/workstreams/<name>/exchange/events/pending/` has five below its
/// first.
pub(crate) const DEPTH: usize = 5;
/// How many files that GraphQL does not show whole are read one by one.
const MAX_BLOB_READS: usize = 16;
const NAME: &str = "Folders";

/// The query for this number of folders or files.
pub(crate) fn folders_document(paths: usize) -> String {
    let mut below = "fragment Below on TreeEntry {\n".to_owned();
    for level in 0..DEPTH {
        let indent = "  ".repeat(3 * level + 1);
        let _ = writeln!(
            below,
            "{indent}object {{\n{indent}  ... on Tree {{\n{indent}    entries {{\n{indent}      ...Readable"
        );
    }
    for level in (0..DEPTH).rev() {
        let indent = "  ".repeat(3 * level + 1);
        let _ = writeln!(below, "{indent}    }}\n{indent}  }}\n{indent}}}");
    }
    below.push_str("}\n\n");
    paths::paths_document(NAME, paths, Some(("Below", &below)))
}

impl Client {
    pub(crate) async fn folders_at(&self, commit: &Oid, paths: &[&str]) -> Result<Tree, Failure> {
        let found = self
            .at_paths(NAME, &folders_document(paths.len()), commit, paths)
            .await?;
        let mut files = FileCollector::default();
        for (path, file) in paths.iter().zip(&found) {
            files.note_read(path, file.as_ref());
        }
        let (mut tree, unread) = files.into_parts();
        let small = unread
            .into_iter()
            .filter(|file| file.size <= TEXT_LIMIT_BYTES);
        for file in small.take(MAX_BLOB_READS) {
            if let Some(text) = self.read_blob(&file.oid).await?
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
        let text = folders_document(1);
        assert_eq!(text.matches("entries {").count(), DEPTH);
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(
            text.contains("$p0: String!") && !text.contains("$p1"),
            "{text}"
        );
    }
}
