//! Reads pull requests by number, one query for each [`CHUNK`] of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use phileas_domain::engine::Pull;
use phileas_domain::model::PullNumber;
use serde_json::Value;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{PULL_FACTS, is_hidden_check, is_missing_number};
use crate::adapters::github::http::error::is_too_slow;
use crate::adapters::github::wire::pull::PullFacts;
use crate::runtime::ports::Failure;

/// How many pull requests one query asks for.
pub(crate) const CHUNK: usize = 50;

type Found = BTreeMap<String, Option<PullFacts>>;

/// The query for this number of pull requests.
pub(crate) fn pulls_document(pulls: usize) -> String {
    let mut text =
        "query PullsByNumber($owner: String!, $name: String!, $bodies: Boolean!, $costly: Boolean!"
            .to_owned();
    for index in 0..pulls {
        let _ = write!(text, ", $n{index}: Int!");
    }
    text.push_str(
        ") {\n  rateLimit {\n    cost\n  }\n  repository(owner: $owner, name: $name) {\n",
    );
    for index in 0..pulls {
        let _ = writeln!(
            text,
            "    p{index}: pullRequest(number: $n{index}) {{\n      ...PullFacts\n    }}"
        );
    }
    text.push_str("  }\n}\n\n");
    text.push_str(PULL_FACTS);
    text
}

impl Client {
    pub(crate) async fn pulls_by_number(
        &self,
        numbers: &BTreeSet<PullNumber>,
    ) -> Result<BTreeMap<PullNumber, Pull>, Failure> {
        let numbers: Vec<PullNumber> = numbers.iter().copied().collect();
        let mut pulls = BTreeMap::new();
        for chunk in numbers.chunks(CHUNK) {
            let mut variables = self.repository_variables();
            variables["bodies"] = true.into();
            variables["costly"] = true.into();
            for (index, number) in chunk.iter().enumerate() {
                variables[format!("n{index}")] = number.0.into();
            }
            let document = pulls_document(chunk.len());
            let mut reply = self.some_pulls(&document, &variables).await;
            if reply.as_ref().is_err_and(is_too_slow) {
                variables["costly"] = false.into();
                reply = self.some_pulls(&document, &variables).await;
            }
            let found = reply?.into_values().flatten().map(Pull::from);
            pulls.extend(found.map(|pull| (pull.number, pull)));
        }
        Ok(pulls)
    }

    /// Reads some pull requests. A number that is missing, or an issue's, is an error in its own field only.
    async fn some_pulls(&self, document: &str, variables: &Value) -> Result<Found, Failure> {
        self.query_repository("PullsByNumber", document, variables, |error| {
            is_hidden_check(error) || is_missing_number(error)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_shape_is_the_one_that_is_shown() {
        let shown = include_str!("../graphql/pulls_by_number.graphql");
        let shown: Vec<&str> = shown
            .split_whitespace()
            .skip_while(|word| *word != "query")
            .collect();
        let built = pulls_document(2);
        let built: Vec<&str> = built.split_whitespace().take(shown.len()).collect();
        assert_eq!(built, shown);
    }
}
