//! Reads several paths at one commit by one query, each under its own alias.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use phileas_domain::model::Oid;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::FILE_FACTS;
use crate::adapters::github::http::error;
use crate::adapters::github::wire::file::File;
use crate::adapters::github::wire::{OfRepository, present};
use crate::runtime::ports::{Disposition, Failure};

#[derive(Deserialize)]
struct Repository {
    #[serde(deserialize_with = "present")]
    object: Option<BTreeMap<String, Option<File>>>,
}

/// The query of this name for this number of paths. `further`: the name and text of one more fragment for each path.
pub(crate) fn paths_document(name: &str, paths: usize, further: Option<(&str, &str)>) -> String {
    let mut text = format!("query {name}($owner: String!, $name: String!, $commit: GitObjectID!");
    for index in 0..paths {
        let _ = write!(text, ", $p{index}: String!");
    }
    text.push_str(
        ") {\n  rateLimit {\n    cost\n  }\n  repository(owner: $owner, name: $name) {\n    \
         object(oid: $commit) {\n      ... on Commit {\n",
    );
    let more = further.map_or_else(String::new, |(fragment, _)| {
        format!("          ...{fragment}\n")
    });
    for index in 0..paths {
        let _ = writeln!(
            text,
            "        f{index}: file(path: $p{index}) {{\n          ...Readable\n{more}        }}"
        );
    }
    text.push_str("      }\n    }\n  }\n}\n\n");
    if let Some((_, fragment)) = further {
        text.push_str(fragment);
    }
    text.push_str(FILE_FACTS);
    text
}

impl Client {
    /// Reads these paths with such a query, and returns what is at each, in their order.
    pub(crate) async fn at_paths(
        &self,
        name: &'static str,
        document: &str,
        commit: &Oid,
        paths: &[&str],
    ) -> Result<Vec<Option<File>>, Failure> {
        let mut variables = self.repository_variables();
        variables["commit"] = commit.as_str().into();
        for (index, path) in paths.iter().enumerate() {
            variables[format!("p{index}")] = (*path).into();
        }
        let mut reply = self
            .run_query::<OfRepository<Repository>>(name, document, &variables, |_| false)
            .await?;
        let missing = |said: &str| {
            let what = format!("POST /graphql ({name})");
            error::failure_saying(&what, &reply.answer, Disposition::NotFound, said)
        };
        let mut found = reply
            .data
            .repository
            .take()
            .ok_or_else(|| missing("the repository is gone"))?
            .object
            .ok_or_else(|| missing("the commit does not exist"))?;
        let aliases = (0..paths.len()).map(|index| format!("f{index}"));
        Ok(aliases.map(|alias| found.remove(&alias)?).collect())
    }
}
