//! Reads who put a label on an issue.

use serde::Deserialize;

use super::reached::PAGE;
use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

#[derive(Deserialize)]
struct Happened {
    event: String,
    label: Option<Named>,
    actor: Option<Actor>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Actor {
    login: String,
}

impl Client {
    /// The account that last put a label on an issue, according to its first 100 events.
    ///
    /// # Errors
    ///
    /// GitHub did not answer, or refused.
    pub async fn labelled_by(&self, issue: u64, label: &str) -> Result<Option<String>, Failure> {
        let route = routes::LIST_ISSUE_EVENTS;
        let query = format!("?per_page={PAGE}");
        let answer = self
            .read_route(route, &[&issue.to_string()], &query)
            .await?;
        let events: Vec<Happened> = self.parse(route, &require_success(route, answer)?)?;
        let put = |one: &&Happened| {
            let named = one.label.as_ref();
            one.event == "labeled" && named.is_some_and(|it| it.name.eq_ignore_ascii_case(label))
        };
        let last = events.iter().rev().find(put);
        Ok(last.and_then(|one| Some(one.actor.as_ref()?.login.clone())))
    }
}
