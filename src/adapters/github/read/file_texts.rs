//! Reads the texts of named files at one commit, one query for each [`CHUNK`] of them.

use std::collections::{BTreeMap, BTreeSet};

use phileas_domain::model::Oid;

use super::paths;
use crate::adapters::github::client::Client;
use crate::adapters::github::wire::file::{EntryKind, Text};
use crate::runtime::ports::Failure;

/// How many files one query reads.
pub(crate) const CHUNK: usize = 50;
const NAME: &str = "Texts";

/// The query for this number of files.
pub(crate) fn texts_document(files: usize) -> String {
    paths::paths_document(NAME, files, None)
}

impl Client {
    pub(crate) async fn texts_at(
        &self,
        commit: &Oid,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let mut texts = BTreeMap::new();
        for chunk in paths.chunks(CHUNK) {
            let found = self
                .at_paths(NAME, &texts_document(chunk.len()), commit, chunk)
                .await?;
            for (path, file) in chunk.iter().zip(found) {
                if let Some(file) = file
                    && file.listed.entry_kind() == EntryKind::File
                    && let Text::Whole(text) = file.blob_text()
                {
                    texts.insert((*path).to_owned(), text.to_owned());
                }
            }
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_shape_is_the_one_that_is_shown() {
        let shown = include_str!("../graphql/texts.graphql");
        let shown: Vec<&str> = shown
            .split_whitespace()
            .skip_while(|word| *word != "query")
            .collect();
        let built = texts_document(2);
        let built: Vec<&str> = built.split_whitespace().take(shown.len()).collect();
        assert_eq!(built, shown);
    }
}
