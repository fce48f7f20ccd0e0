//! Texts of named files at one commit: one query for each [`CHUNK`] of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use phileas_domain::model::Oid;
use serde::Deserialize;

use crate::runtime::ports::{Disposition, Failure};

use super::graphql::FILE_FACTS;
use super::wire::file::{File, Form, Text};
use super::wire::present;
use super::{Client, error};

/// How many files one query asks for.
pub(super) const CHUNK: usize = 50;
const NAME: &str = "Texts";

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

/// The query for so many files.
pub(super) fn document(files: usize) -> String {
    let mut text = "query Texts($owner: String!, $name: String!, $commit: GitObjectID!".to_owned();
    for index in 0..files {
        let _ = write!(text, ", $p{index}: String!");
    }
    text.push_str(
        ") {\n  rateLimit {\n    cost\n  }\n  repository(owner: $owner, name: $name) {\n    \
         object(oid: $commit) {\n      ... on Commit {\n",
    );
    for index in 0..files {
        let _ = writeln!(
            text,
            "        f{index}: file(path: $p{index}) {{\n          ...Readable\n        }}"
        );
    }
    text.push_str("      }\n    }\n  }\n}\n\n");
    text.push_str(FILE_FACTS);
    text
}

impl Client {
    pub(in super::super) async fn texts_at(
        &self,
        commit: &Oid,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let paths: Vec<&String> = paths.iter().collect();
        let mut texts = BTreeMap::new();
        for chunk in paths.chunks(CHUNK) {
            let mut variables = self.repository_variables();
            variables["commit"] = commit.as_str().into();
            for (index, path) in chunk.iter().enumerate() {
                variables[format!("p{index}")] = path.as_str().into();
            }
            let reply = self
                .query::<Found>(NAME, &document(chunk.len()), &variables, |_| false)
                .await?;
            let missing = |said: &str| {
                error::told(
                    "POST /graphql (Texts)",
                    &reply.answer,
                    Disposition::NotFound,
                    said,
                )
            };
            let files = reply
                .data
                .repository
                .as_ref()
                .ok_or_else(|| missing("the repository is gone"))?
                .object
                .as_ref()
                .ok_or_else(|| missing("the commit does not exist"))?;
            for (index, path) in chunk.iter().enumerate() {
                if let Some(Some(file)) = files.get(&format!("f{index}"))
                    && file.listed.form() == Form::File
                    && let Text::Whole(text) = file.text()
                {
                    texts.insert((*path).clone(), text.to_owned());
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
        let shown = include_str!("graphql/texts.graphql");
        let shown: Vec<&str> = shown
            .split_whitespace()
            .skip_while(|word| *word != "query")
            .collect();
        let built = document(2);
        let built: Vec<&str> = built.split_whitespace().take(shown.len()).collect();
        assert_eq!(built, shown);
    }
}
