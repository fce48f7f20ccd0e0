//! Reads a repository's webhooks and their deliveries.

use jiff::Timestamp;
use serde::Deserialize;

use super::reached::PAGE;
use crate::adapters::github::client::Client;
use crate::adapters::github::http::answer::Answer;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::retry::CallKind;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

/// The most webhooks of a repository that are read; GitHub allows 20 for each event.
const MAX_HOOKS: usize = 100;

/// A repository's webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Its number.
    pub id: u64,
    /// The address that it posts to.
    pub url: String,
    /// Whether it is on.
    pub active: bool,
    /// The events that it receives; `*` means all.
    pub events: Vec<String>,
    /// `json`, or `form`.
    pub content_type: String,
}

/// One attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DeliveryAttempt {
    /// The attempt's number.
    pub id: u64,
    /// The event's id, the same for all attempts.
    pub guid: String,
    /// When it was made.
    pub delivered_at: Option<Timestamp>,
    /// The receiver's status; 0 if there was no answer.
    #[serde(default)]
    pub status_code: u16,
    /// Whether it was requested by a person or a program.
    #[serde(default)]
    pub redelivery: bool,
    /// The event's name.
    #[serde(default)]
    pub event: String,
    /// The event's action, if it has one.
    #[serde(default)]
    pub action: Option<String>,
}

/// Some attempts, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryPage {
    /// The attempts.
    pub attempts: Vec<DeliveryAttempt>,
    /// The cursor of the next page; `None`: this is the last.
    pub next: Option<String>,
}

#[derive(Deserialize)]
struct ListedHook {
    id: u64,
    #[serde(default)]
    config: Config,
    #[serde(default)]
    active: bool,
    #[serde(default)]
    events: Vec<String>,
}

#[derive(Deserialize, Default)]
struct Config {
    url: Option<String>,
    content_type: Option<String>,
}

impl DeliveryAttempt {
    /// Whether the receiver accepted it.
    #[must_use]
    pub fn was_accepted(&self) -> bool {
        (200..300).contains(&self.status_code)
    }
}

impl Client {
    /// The repository's webhooks.
    ///
    /// # Errors
    ///
    /// When they cannot be read; only administrators may read them.
    pub async fn list_hooks(&self) -> Result<Vec<Hook>, Failure> {
        let route = routes::LIST_HOOKS;
        let query = format!("?per_page={PAGE}");
        let answer = require_success(route, self.read_route(route, &[], &query).await?)?;
        let shown: Vec<ListedHook> = self.parse(route, &answer)?;
        let hooks = shown.into_iter().take(MAX_HOOKS).map(|hook| Hook {
            id: hook.id,
            url: hook.config.url.unwrap_or_default(),
            active: hook.active,
            events: hook.events,
            content_type: hook.config.content_type.unwrap_or_default(),
        });
        Ok(hooks.collect())
    }

    /// Reads one page of a webhook's deliveries, newest first. `next` is the cursor that the previous page returned.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub async fn hook_deliveries(
        &self,
        hook: u64,
        next: Option<&str>,
    ) -> Result<DeliveryPage, Failure> {
        let route = routes::LIST_HOOK_DELIVERIES;
        let hook = hook.to_string();
        let answer = require_success(
            route,
            self.read_route(route, &[&hook], &page_query(next)).await?,
        )?;
        parse_page(self, route, &answer)
    }

    /// Asks GitHub to send a delivery again. A second delivery of the same event does nothing.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, or does not know the delivery any more.
    pub async fn request_hook_redelivery(&self, hook: u64, id: u64) -> Result<(), Failure> {
        let route = routes::REDELIVER;
        let (hook, id) = (hook.to_string(), id.to_string());
        let answer = self
            .call_rest(route, &[&hook, &id], "", CallKind::Read, None)
            .await?;
        require_success(route, answer).map(drop)
    }
}

/// The query string of a page.
pub(crate) fn page_query(next: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("per_page", &PAGE.to_string());
    if let Some(cursor) = next {
        query.append_pair("cursor", cursor);
    }
    format!("?{}", query.finish())
}

/// Parses a page, and the cursor of the next one in its `Link` header.
pub(crate) fn parse_page(
    client: &Client,
    route: &str,
    answer: &Answer,
) -> Result<DeliveryPage, Failure> {
    Ok(DeliveryPage {
        attempts: client.parse(route, answer)?,
        next: answer.header_text("link").and_then(cursor_of),
    })
}

/// The `cursor` of the address that the header calls `next`.
fn cursor_of(link: &str) -> Option<String> {
    let next = link.split(',').find(|part| part.contains("rel=\"next\""))?;
    let address = next.trim().strip_prefix('<')?.split('>').next()?;
    let (_, query) = address.split_once('?')?;
    form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "cursor")
        .map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_taken_from_the_link_that_is_called_next() {
        let link = "<https://api.github.com/app/hook/deliveries?per_page=1&cursor=v1_12%3D>; rel=\"next\", \
                    <https://api.github.com/x?cursor=v1_1>; rel=\"first\"";
        assert_eq!(cursor_of(link).as_deref(), Some("v1_12="));
        assert_eq!(
            cursor_of("<https://api.github.com/x?cursor=1>; rel=\"prev\""),
            None
        );
    }
}
