//! Reads and writes the labels of a repository.

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::retry::CallKind;
use crate::adapters::github::http::{error, routes};
use crate::runtime::ports::{Disposition, Failure};

/// How many pages of labels are read; each holds 100.
const MAX_PAGES: u32 = 20;
const PAGE: usize = 100;

/// A label of a repository. GitHub takes at most 50 characters of a name and 100 of a description.
/// <https://docs.github.com/en/rest/issues/labels>
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its name; GitHub ignores case.
    pub name: String,
    /// Six hexadecimal digits in lower case.
    pub color: String,
    /// Its description; may be empty.
    pub description: String,
}

#[derive(Deserialize)]
struct ListedLabel {
    name: String,
    color: String,
    #[serde(default)]
    description: Option<String>,
}

impl Client {
    /// All labels of the repository.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused, or there are more than 2,000 labels.
    pub async fn list_labels(&self) -> Result<Vec<Label>, Failure> {
        let route = routes::LIST_LABELS;
        let mut found = Vec::new();
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page={PAGE}&page={page}");
            let answer = require_success(route, self.read_route(route, &[], &query).await?)?;
            let listed: Vec<ListedLabel> = self.parse(route, &answer)?;
            let last = listed.len() < PAGE;
            found.extend(listed.into_iter().map(|one| Label {
                name: one.name,
                color: one.color.to_ascii_lowercase(),
                description: one.description.unwrap_or_default(),
            }));
            if last {
                return Ok(found);
            }
        }
        let said = "the repository has more labels than phileas reads";
        Err(error::local_failure(route, said, Disposition::Refused))
    }

    /// Creates a label. A label that exists already stays as it is.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn create_label(&self, label: &Label) -> Result<(), Failure> {
        let route = routes::CREATE_LABEL;
        let request = json!({
            "name": label.name,
            "color": label.color,
            "description": label.description,
        });
        let answer = self.write_route(route, &[], &request).await?;
        let taken = answer.status == StatusCode::UNPROCESSABLE_ENTITY
            && String::from_utf8_lossy(&answer.body).contains("already_exists");
        if taken {
            return Ok(());
        }
        require_success(route, answer).map(drop)
    }

    /// Sets a label's spelling, color and description; issues keep the label.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn update_label(&self, current: &str, label: &Label) -> Result<(), Failure> {
        let route = routes::UPDATE_LABEL;
        let mut request = json!({ "color": label.color, "description": label.description });
        if current != label.name {
            request["new_name"] = label.name.as_str().into();
        }
        require_success(route, self.write_route(route, &[current], &request).await?).map(drop)
    }

    /// Deletes a label from the repository and from every issue. A missing label is no error.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn delete_label(&self, name: &str) -> Result<(), Failure> {
        let route = routes::DELETE_LABEL;
        let answer = self
            .call_rest(route, &[name], "", CallKind::Write, None)
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        require_success(route, answer).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{json, set};

    fn label(name: &str) -> Label {
        Label {
            name: name.to_owned(),
            color: "5319e7".to_owned(),
            description: String::new(),
        }
    }

    #[tokio::test]
    async fn every_page_is_read() {
        let page: Vec<_> = (0..PAGE)
            .map(|n| value!({ "name": format!("l{n}"), "color": "ABCDEF", "description": null }))
            .collect();
        let set = set([json(200, &value!(page)), json(200, &value!([]))]);
        let found = set.client.list_labels().await.unwrap();
        assert_eq!(found.len(), PAGE);
        assert_eq!(found[0].color, "abcdef");
        assert!(set.script.lines()[1].ends_with("/labels?per_page=100&page=2"));
    }

    #[tokio::test]
    async fn what_is_so_already_is_well() {
        let taken =
            value!({ "message": "Validation Failed", "errors": [{ "code": "already_exists" }] });
        let set = set([
            json(422, &taken),
            json(404, &value!({ "message": "Not Found" })),
            json(
                422,
                &value!({ "message": "Validation Failed", "errors": [{ "code": "invalid" }] }),
            ),
        ]);
        set.client.create_label(&label("phileas:a")).await.unwrap();
        set.client.delete_label("phileas:a").await.unwrap();
        let refused = set.client.create_label(&label("phileas:a")).await;
        assert_eq!(refused.unwrap_err().disposition, Disposition::Refused);
        assert!(set.script.lines()[1].ends_with("/labels/phileas%3Aa"));
    }
}
