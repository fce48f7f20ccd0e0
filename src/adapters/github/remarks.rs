//! What people said of a pull request: in reviews, on single lines, and beside them.
//!
//! Reviews and comments on lines: <https://docs.github.com/en/rest/pulls/reviews>,
//! <https://docs.github.com/en/rest/pulls/comments>. GitHub lists each oldest first.

use phileas_domain::engine::{Actor, Remark};
use phileas_domain::model::PullNumber;
use serde::Deserialize;

use crate::runtime::ports::Failure;

use super::request::success;
use super::{Client, routes};

/// How many of each kind are read: one page of the largest size. Of a pull request that was talked of more, what was said
/// first counts, which is what the review was about.
const PAGE: usize = 100;

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    body: Option<String>,
    /// The file, of a comment on a line.
    #[serde(default)]
    path: Option<String>,
}

#[derive(Deserialize)]
struct User {
    login: String,
    id: u64,
    #[serde(rename = "type", default)]
    kind: String,
}

impl Client {
    /// What was said of a pull request, reviews first, each kind oldest first.
    pub(in super::super) async fn remarks(&self, pull: PullNumber) -> Result<Vec<Remark>, Failure> {
        let id = pull.to_string();
        let mut remarks = Vec::new();
        for route in [
            routes::LIST_REVIEWS,
            routes::LIST_REVIEW_COMMENTS,
            routes::LIST_COMMENTS,
        ] {
            let query = format!("?per_page={PAGE}");
            let answer = success(route, self.read(route, &[&id], &query).await?)?;
            let said: Vec<Said> = self.parse(route, &answer)?;
            remarks.extend(said.into_iter().filter_map(remark));
        }
        Ok(remarks)
    }
}

/// One that somebody said. A review may have no words, and an account may be gone.
fn remark(said: Said) -> Option<Remark> {
    let user = said.user?;
    let text = said.body.filter(|body| !body.trim().is_empty())?;
    Some(Remark {
        actor: Actor {
            bot: user.kind != "User" || user.login.ends_with("[bot]"),
            login: user.login.into(),
            id: Some(user.id),
        },
        path: said.path,
        text,
    })
}
