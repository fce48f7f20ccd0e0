//! Opens issues for proposals and work items: one for each marker, after searching for an existing one.
//!
//! The search reads issues with the label of the kind. For proposals it includes closed issues, because people close
//! what they do not want; for work items only open ones, because a closed one cannot be approved. The marker must end
//! the text, so that a marker that agents wrote further up does not count. Setting a label needs triage permission,
//! so an unauthorized user's issue with a copied marker does not count, either.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::adapters::github::read::labels::Label;
use crate::adapters::github::wire::issue::Issue as Shown;
use crate::runtime::ports::{Disposition, Failure, Issue};

/// The color of the labels that phileas creates for them.
const COLOR: &str = "bfd4f2";
/// How many pages of issues are read; each holds 100.
const MAX_PAGES: u32 = 5;
/// The waits before searching again for an issue that may have been opened: replicas lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

impl Client {
    pub(crate) async fn publish_once(&self, issue: &Issue<'_>) -> Result<u64, Failure> {
        if let Some(number) = self.find_published(issue).await? {
            return Ok(number);
        }
        self.create_label(&Label {
            name: issue.label.to_owned(),
            color: COLOR.to_owned(),
            description: issue.about.to_owned(),
        })
        .await?;
        let route = routes::CREATE_ISSUE;
        let request = json!({ "title": issue.title, "body": issue.body, "labels": [issue.label] });
        let failure = match self.write_route(route, &[], &request).await {
            Ok(answer) => {
                let answer = require_success(route, answer)?;
                let opened: Shown = self.parse(route, &answer)?;
                return Ok(opened.number);
            }
            Err(failure) => failure,
        };
        if failure.disposition == Disposition::Unknown {
            for wait in LOOKS {
                self.pause.pause_for(wait).await;
                if let Ok(Some(number)) = self.find_published(issue).await {
                    return Ok(number);
                }
            }
        }
        Err(failure)
    }

    async fn find_published(&self, issue: &Issue<'_>) -> Result<Option<u64>, Failure> {
        let route = routes::LIST_ISSUES;
        let label = utf8_percent_encode(issue.label, NON_ALPHANUMERIC);
        let state = if issue.closed_will_do { "all" } else { "open" };
        for page in 1..=MAX_PAGES {
            let query = format!("?labels={label}&state={state}&per_page=100&page={page}");
            let answer = require_success(route, self.read_route(route, &[], &query).await?)?;
            let issues: Vec<Shown> = self.parse(route, &answer)?;
            let last = issues.len() < 100;
            let found = issues.iter().find(|one| {
                let body = one.body.as_deref().unwrap_or_default();
                one.pull_request.is_none() && body.trim_end().ends_with(issue.marker)
            });
            if found.is_some() || last {
                return Ok(found.map(|one| one.number));
            }
        }
        Ok(None)
    }
}
