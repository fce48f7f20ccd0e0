//! Reads what people wrote about a pull request: reviews, comments on its lines, and its conversation.
//!
//! Reviews and comments on lines: <https://docs.github.com/en/rest/pulls/reviews>,
//! <https://docs.github.com/en/rest/pulls/comments>. GitHub lists each oldest first.

use jiff::Timestamp;
use phileas_domain::engine::{Actor, Remark};
use phileas_domain::model::PullNumber;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

/// The largest page that GitHub returns.
const PAGE: usize = 100;
/// How many of the last pages of each kind are read beside the first one. The newest remarks matter most, however
/// many came before.
const LAST_PAGES: u32 = 3;
/// The associations that belong to a repository.
const OWN: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

#[derive(Deserialize)]
struct ListedRemark {
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    author_association: String,
    /// The time of a review.
    #[serde(default)]
    submitted_at: Option<Timestamp>,
    /// The time of a comment.
    #[serde(default)]
    created_at: Option<Timestamp>,
    #[serde(default)]
    body: Option<String>,
    /// The file of a comment on a line.
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
    /// The remarks on a pull request: the first and the last pages of each kind.
    pub(crate) async fn read_remarks(&self, pull: PullNumber) -> Result<Vec<Remark>, Failure> {
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

    /// One page, and the number of the last one.
    async fn remarks_page(
        &self,
        route: &'static str,
        pull: &str,
        page: u32,
    ) -> Result<(Vec<Remark>, u32), Failure> {
        let query = format!("?per_page={PAGE}&page={page}");
        let answer = require_success(route, self.read_route(route, &[pull], &query).await?)?;
        let said: Vec<ListedRemark> = self.parse(route, &answer)?;
        let last = answer
            .header_text("link")
            .and_then(last_page)
            .unwrap_or(page);
        Ok((said.into_iter().filter_map(into_remark).collect(), last))
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

/// A remark, unless it has no text or no author. A review may have no text, and an account may be deleted.
fn into_remark(said: ListedRemark) -> Option<Remark> {
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
