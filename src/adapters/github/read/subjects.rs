//! Reads the issues and pull requests that requests refer to, and the history that shows who made them. Read only
//! when a request must be decided.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use phileas_domain::engine::{Actor, DASHBOARD_KEY, Subject, text_digest};
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{EDITS, SUBJECT_FACTS, is_missing_number};
use crate::adapters::github::http::error;
use crate::adapters::github::notice_marks::notice_key_in;
use crate::adapters::github::wire::subject::{SubjectFacts, Viewer};
use crate::adapters::github::wire::{Connection, present};
use crate::runtime::ports::{Disposition, Failure, Subjects};

/// How many issues and pull requests one query reads.
const CHUNK: usize = 20;
/// For how many dashboards the texts of their edits are read. There is one; others copied its marker.
const DASHBOARDS_READ: usize = 3;
const WHAT: &str = "POST /graphql (Subjects)";

#[derive(Deserialize)]
struct Found {
    viewer: Viewer,
    #[serde(deserialize_with = "present")]
    repository: Option<Repository>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    database_id: Option<u64>,
    #[serde(flatten)]
    subjects: BTreeMap<String, Option<SubjectFacts>>,
}

#[derive(Deserialize)]
struct Edited {
    #[serde(deserialize_with = "present")]
    repository: Option<EditedIssues>,
}

#[derive(Deserialize)]
struct EditedIssues {
    #[serde(deserialize_with = "present")]
    issue: Option<EditedIssue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditedIssue {
    #[serde(deserialize_with = "present")]
    user_content_edits: Option<Connection<EditText>>,
}

#[derive(Deserialize)]
struct EditText {
    id: String,
    /// Null if it was deleted.
    #[serde(deserialize_with = "present")]
    diff: Option<String>,
}

/// The query for this number of issues or pull requests.
pub(crate) fn subjects_document(subjects: usize) -> String {
    let mut text = "query Subjects($owner: String!, $name: String!".to_owned();
    for index in 0..subjects {
        let _ = write!(text, ", $n{index}: Int!");
    }
    text.push_str(
        ") {\n  rateLimit {\n    cost\n  }\n  viewer {\n    login\n    databaseId\n  }\n  \
         repository(owner: $owner, name: $name) {\n    databaseId\n",
    );
    for index in 0..subjects {
        let _ = writeln!(
            text,
            "    s{index}: issueOrPullRequest(number: $n{index}) {{\n      ...SubjectFacts\n    }}"
        );
    }
    text.push_str("  }\n}\n\n");
    text.push_str(SUBJECT_FACTS);
    text
}

impl Client {
    pub(crate) async fn subjects_by_number(
        &self,
        numbers: &BTreeSet<u64>,
    ) -> Result<Subjects, Failure> {
        let numbers: Vec<u64> = numbers.iter().copied().collect();
        let mut viewer = None;
        let mut subjects: BTreeMap<u64, Subject> = BTreeMap::new();
        for chunk in numbers.chunks(CHUNK) {
            let mut variables = self.repository_variables();
            for (index, number) in chunk.iter().enumerate() {
                variables[format!("n{index}")] = (*number).into();
            }
            // A missing number is an error in its own field only.
            let reply = self
                .run_query::<Found>(
                    "Subjects",
                    &subjects_document(chunk.len()),
                    &variables,
                    is_missing_number,
                )
                .await?;
            let repository = reply.data.repository.ok_or_else(|| {
                let said = "the repository is gone";
                error::failure_saying(WHAT, &reply.answer, Disposition::NotFound, said)
            })?;
            viewer = Some(Actor::from(reply.data.viewer));
            let own = repository.database_id;
            let found = repository.subjects.into_values().flatten();
            let found = found.map(|facts| facts.into_subject(own));
            subjects.extend(found.map(|subject| (subject.number, subject)));
        }
        let dashboards = subjects
            .values_mut()
            .filter(|subject| notice_key_in(&subject.body) == Some(DASHBOARD_KEY));
        for dashboard in dashboards.take(DASHBOARDS_READ) {
            self.read_edits(dashboard).await?;
        }
        Ok(Subjects { viewer, subjects })
    }
}

impl Client {
    /// Fills in the text that each edit of an issue left. An edit without its text counts only for itself.
    async fn read_edits(&self, subject: &mut Subject) -> Result<(), Failure> {
        let mut variables = self.repository_variables();
        variables["number"] = subject.number.into();
        let reply = self
            .run_query::<Edited>("Edits", EDITS, &variables, |error| {
                error.has_type("NOT_FOUND") && error.path.len() == 2
            })
            .await?;
        let issue = reply.data.repository.and_then(|found| found.issue);
        let edits = issue.and_then(|issue| issue.user_content_edits);
        for text in edits.into_iter().flatten() {
            let known = subject.edits.iter_mut().find(|edit| edit.id == text.id);
            if let Some(known) = known {
                known.digest = text.diff.as_deref().map(text_digest);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{json, set};

    #[test]
    fn the_documents_shape_is_the_one_that_is_shown() {
        let shown = include_str!("../graphql/subjects.graphql");
        let shown: Vec<&str> = shown
            .split_whitespace()
            .skip_while(|word| *word != "query")
            .collect();
        let built = subjects_document(2);
        let built: Vec<&str> = built.split_whitespace().take(shown.len()).collect();
        assert_eq!(built, shown);
    }

    #[tokio::test]
    async fn one_that_is_missing_hides_no_other() {
        let issue = value!({ "__typename": "Issue", "id": "I", "number": 2, "title": "t", "body": "b",
            "closed": false, "lastEditedAt": null, "updatedAt": "2026-01-05T00:00:00Z", "author": null, "labels": null, "userContentEdits": null, "issueEvents": { "nodes": [] } });
        let body = value!({ "data": { "viewer": { "login": "app[bot]", "databaseId": 9 },
                "repository": { "databaseId": 7, "s0": null, "s1": issue } },
            "errors": [{ "type": "NOT_FOUND", "path": ["repository", "s0"], "message": "no" }] });
        let set = set([json(200, &body)]);
        let read = set.client.subjects_by_number(&[1, 2].into()).await.unwrap();
        assert_eq!(read.subjects.keys().collect::<Vec<_>>(), [&2]);
        let viewer = read.viewer.unwrap();
        assert_eq!(
            (viewer.login.as_str(), viewer.id, viewer.bot),
            ("app[bot]", Some(9), true)
        );
    }
}
