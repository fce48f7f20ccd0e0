//! What people said of a pull request: in reviews, on single lines, and beside them.
//!
//! Reviews and comments on lines: <https://docs.github.com/en/rest/pulls/reviews>,
//! <https://docs.github.com/en/rest/pulls/comments>. GitHub lists each oldest first.

use jiff::Timestamp;
use phileas_domain::engine::{Actor, Remark};
use phileas_domain::model::PullNumber;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

/// How many of each kind one page has: the most that GitHub gives.
const PAGE: usize = 100;
/// How many pages of each kind are read beside the first one: the last ones, for what was said last counts, whoever has
/// said how much before.
const LAST_PAGES: u32 = 3;
/// What GitHub calls those who belong to a repository.
const OWN: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    author_association: String,
    /// A review's time.
    #[serde(default)]
    submitted_at: Option<Timestamp>,
    /// A comment's time.
    #[serde(default)]
    created_at: Option<Timestamp>,
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
    /// What was said of a pull request: of each kind the first and the last pages.
    pub(crate) async fn remarks(&self, pull: PullNumber) -> Result<Vec<Remark>, Failure> {
        let id = pull.to_string();
        let mut remarks = Vec::new();
        for route in [
            routes::LIST_REVIEWS,
            routes::LIST_REVIEW_COMMENTS,
            routes::LIST_COMMENTS,
        ] {
            let (said, last) = self.remarks_page(route, &id, 1).await?;
            remarks.extend(said);
            for page in last.saturating_sub(LAST_PAGES).max(1)..last {
                let (said, _) = self.remarks_page(route, &id, page + 1).await?;
                remarks.extend(said);
            }
        }
        Ok(remarks)
    }

    /// One page, and which one is the last.
    async fn remarks_page(
        &self,
        route: &'static str,
        pull: &str,
        page: u32,
    ) -> Result<(Vec<Remark>, u32), Failure> {
        let query = format!("?per_page={PAGE}&page={page}");
        let answer = success(route, self.read(route, &[pull], &query).await?)?;
        let said: Vec<Said> = self.parse(route, &answer)?;
        let last = answer.header("link").and_then(last_page).unwrap_or(page);
        Ok((said.into_iter().filter_map(remark).collect(), last))
    }
}

/// The number of the page that a `Link` header calls `last`.
fn last_page(link: &str) -> Option<u32> {
    let last = link.split(',').find(|part| part.contains("rel=\"last\""))?;
    let address = last.trim().strip_prefix('<')?.split('>').next()?;
    let (_, query) = address.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, page) = pairs.find(|(name, _)| name == "page")?;
    page.parse().ok()
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
        belongs: OWN.contains(&said.author_association.as_str()),
        at: said.submitted_at.or(said.created_at),
        path: said.path,
        text,
    })
}
