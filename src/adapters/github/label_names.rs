//! The names of a repository's labels.

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::reached::PAGE;
use super::request::success;
use super::{Client, error, routes};
use crate::runtime::ports::{Disposition, Failure};

/// How many pages of labels are read; each holds 100.
const MAX_PAGES: usize = 20;

#[derive(Deserialize)]
struct Listed {
    name: String,
}

#[derive(Deserialize)]
struct Happened {
    event: String,
    label: Option<Listed>,
    actor: Option<Actor>,
}

#[derive(Deserialize)]
struct Actor {
    login: String,
}

impl Client {
    /// The names of all labels of the repository, in lower case: to GitHub upper and lower case are one.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused, or there are more than 2,000 labels.
    pub async fn label_names(&self) -> Result<Vec<String>, Failure> {
        let route = routes::LIST_LABELS;
        let mut names = Vec::new();
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page={PAGE}&page={page}");
            let answer = success(route, self.read(route, &[], &query).await?)?;
            let listed: Vec<Listed> = self.parse(route, &answer)?;
            let last = listed.len() < PAGE;
            names.extend(listed.into_iter().map(|one| one.name.to_lowercase()));
            if last {
                return Ok(names);
            }
        }
        let said = "the repository has more labels than are looked through";
        Err(error::plain(route, said, Disposition::Refused))
    }

    /// Who put a label on an issue last, as far as its first 100 events tell.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn labelled_by(&self, issue: u64, label: &str) -> Result<Option<String>, Failure> {
        let route = routes::LIST_ISSUE_EVENTS;
        let query = format!("?per_page={PAGE}");
        let answer = self.read(route, &[&issue.to_string()], &query).await?;
        let events: Vec<Happened> = self.parse(route, &success(route, answer)?)?;
        let put = |one: &&Happened| {
            let named = one.label.as_ref();
            one.event == "labeled" && named.is_some_and(|it| it.name.eq_ignore_ascii_case(label))
        };
        let last = events.iter().rev().find(put);
        Ok(last.and_then(|one| Some(one.actor.as_ref()?.login.clone())))
    }

    /// Makes a label. One that somebody else made meanwhile is left as it is.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn make_label(
        &self,
        name: &str,
        color: &str,
        description: &str,
    ) -> Result<(), Failure> {
        let route = routes::CREATE_LABEL;
        let wish = json!({ "name": name, "color": color, "description": description });
        let answer = self.write(route, &[], &wish).await?;
        let taken = answer.status == StatusCode::UNPROCESSABLE_ENTITY
            && answer.message().contains("already_exists");
        if taken {
            return Ok(());
        }
        success(route, answer).map(drop)
    }
}
