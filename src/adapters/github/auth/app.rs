//! What an App can read about itself, with its own JSON Web Token instead of an installation's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use phileas_domain::model::RepositoryName;
use serde::Deserialize;

use super::account::Credential;
use super::installation::call_as_app;
use super::token::App;
use crate::adapters::github::client::{Client, Settings};
use crate::adapters::github::http::api_url::Base;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::read::hooks::{DeliveryPage, parse_page};
use crate::adapters::github::read::reached::{MAX_READINGS, PAGE};
use crate::adapters::pause::Pause;
use crate::adapters::transport::Transport;
use crate::runtime::ports::{Disposition, Failure};

/// The most pages of 100 installations that are read.
pub const MAX_PAGES: usize = 200;

/// A client that authenticates as the App itself.
#[derive(Debug)]
pub struct AppClient {
    app: App,
    client: Client,
}

/// An App's identity, as GitHub shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AppIdentity {
    /// Its number.
    pub id: u64,
    /// The last part of its page's address.
    pub slug: String,
    /// The permissions that it asks for: name, and `read` or `write`.
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    /// The events that its webhook receives.
    #[serde(default)]
    pub events: Vec<String>,
    /// Its owner.
    #[serde(default)]
    pub owner: Option<Owner>,
}

/// One installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Its number.
    pub id: u64,
    /// The account that it is installed on.
    pub account: String,
    /// Whether that account is an organization, whose settings have other addresses.
    pub organisation: bool,
    /// The permissions that it was granted.
    pub permissions: BTreeMap<String, String>,
    /// Whether its account has suspended it; a suspended installation may do nothing.
    pub suspended: bool,
}

#[derive(Deserialize)]
struct ListedInstallation {
    id: u64,
    account: Option<Owner>,
    #[serde(default)]
    permissions: BTreeMap<String, String>,
    suspended_at: Option<String>,
}

/// An account that owns something.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Owner {
    /// Its name; an enterprise has none here.
    pub login: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl Owner {
    /// Its name if it is an organization.
    #[must_use]
    pub fn organization_name(&self) -> Option<&str> {
        let is = self.kind.as_deref() == Some("Organization");
        self.login.as_deref().filter(|_| is)
    }
}

/// Where an App's webhooks go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AppHook {
    /// The address.
    pub url: Option<String>,
    /// `json`, or `form`.
    pub content_type: Option<String>,
}

impl AppClient {
    /// A client that has sent no request yet. Must be created within a Tokio runtime.
    #[must_use]
    pub fn new(
        app: App,
        base: Base,
        transport: Arc<dyn Transport>,
        pause: Arc<dyn Pause>,
        seed: u64,
    ) -> Self {
        let client = Client::new(Settings {
            // Routes of the App itself name no repository.
            repository: RepositoryName {
                owner: "-".to_owned(),
                name: "-".to_owned(),
            },
            credential: Credential::App(app.clone()),
            base,
            transport,
            pause,
            seed,
        });
        Self { app, client }
    }

    /// Reads this App's identity.
    ///
    /// # Errors
    ///
    /// [`Disposition::Denied`] when the key is not the App's; otherwise when GitHub does not answer.
    pub async fn read_identity(&self) -> Result<AppIdentity, Failure> {
        let route = routes::READ_APP;
        let answer = call_as_app(&self.app, &self.client, route, &[], "", None).await;
        let answer = answer.map_err(with_denied_disposition)?;
        self.client.parse(route, &answer)
    }

    /// Reads all installations.
    ///
    /// When one is removed while pages are read, later ones move up and one of them appears on no page. GitHub tells no
    /// total here, so a list of several pages counts when two readings in a row show the same.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, the list never holds still, or there are more than [`MAX_PAGES`] pages.
    pub async fn list_installations(&self) -> Result<Vec<Installation>, Failure> {
        let mut before = None;
        for _ in 0..=MAX_READINGS {
            let all = self.installations_once().await?;
            let ids: BTreeSet<u64> = all.iter().map(|one| one.id).collect();
            if all.len() < PAGE || before.as_ref() == Some(&ids) {
                return Ok(all);
            }
            before = Some(ids);
        }
        let said = "the list of installations changes while it is read";
        let again = Disposition::Retry { after: None };
        Err(error::local_failure(
            routes::LIST_INSTALLATIONS,
            said,
            again,
        ))
    }

    /// Reads all pages once, each installation once.
    async fn installations_once(&self) -> Result<Vec<Installation>, Failure> {
        let route = routes::LIST_INSTALLATIONS;
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let query = format!("?per_page={PAGE}&page={page}");
            let answer = call_as_app(&self.app, &self.client, route, &[], &query, None).await;
            let page: Vec<ListedInstallation> = self
                .client
                .parse(route, &answer.map_err(with_denied_disposition)?)?;
            let last = page.len() < PAGE;
            let new = page.into_iter().filter(|one| seen.insert(one.id));
            all.extend(new.map(ListedInstallation::into_installation));
            if last {
                return Ok(all);
            }
        }
        let said = format!("more than {} installations", MAX_PAGES * PAGE);
        Err(error::local_failure(route, &said, Disposition::Refused))
    }

    /// Reads the address of the App's webhook. `None`: it has no webhook.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer.
    pub async fn read_hook(&self) -> Result<Option<AppHook>, Failure> {
        let route = routes::READ_APP_HOOK;
        match call_as_app(&self.app, &self.client, route, &[], "", None).await {
            Ok(answer) => self.client.parse(route, &answer).map(Some),
            Err(failure) if failure.disposition == Disposition::NotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Reads one page of the App's webhook deliveries, newest first. `next` is the cursor that the previous page
    /// returned.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer.
    pub async fn list_deliveries(&self, next: Option<&str>) -> Result<DeliveryPage, Failure> {
        let route = routes::LIST_APP_DELIVERIES;
        let query = crate::adapters::github::read::hooks::page_query(next);
        let answer = call_as_app(&self.app, &self.client, route, &[], &query, None).await?;
        parse_page(&self.client, route, &answer)
    }

    /// Asks GitHub to send a delivery again.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, or does not know the delivery any more.
    pub async fn request_redelivery(&self, id: u64) -> Result<(), Failure> {
        let route = routes::REDELIVER_TO_APP;
        let id = id.to_string();
        let answer = call_as_app(&self.app, &self.client, route, &[&id], "", None).await;
        answer.map(drop)
    }
}

/// Treats an unknown App as a denied credential: its id is wrong, whatever the status.
fn with_denied_disposition(failure: Failure) -> Failure {
    match failure.disposition {
        Disposition::NotFound => Failure {
            disposition: Disposition::Denied,
            ..failure
        },
        _ => failure,
    }
}

impl ListedInstallation {
    fn into_installation(self) -> Installation {
        let owner = self.account;
        Installation {
            id: self.id,
            organisation: owner.as_ref().and_then(Owner::organization_name).is_some(),
            account: owner.and_then(|owner| owner.login).unwrap_or_default(),
            permissions: self.permissions,
            suspended: self.suspended_at.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;
    use crate::adapters::github::scripted::{Outcome, Set, app, json, set_as};

    /// A page with the installations of these numbers.
    fn page(ids: impl IntoIterator<Item = u64>) -> Outcome {
        let shown = ids
            .into_iter()
            .map(|id| value!({ "id": id, "account": { "login": "acme" } }));
        json(200, &shown.collect())
    }

    fn client(replies: impl IntoIterator<Item = Outcome>) -> (AppClient, Set) {
        let (app, _) = app();
        let set = set_as(Credential::App(app.clone()), replies);
        let transport = Arc::clone(&set.script) as _;
        let pause = Arc::clone(&set.clock) as _;
        let client = AppClient::new(app, Base::default(), transport, pause, 7);
        (client, set)
    }

    async fn ids(client: &AppClient) -> Vec<u64> {
        let all = client.list_installations().await.unwrap();
        all.iter().map(|one| one.id).collect()
    }

    #[tokio::test]
    async fn a_list_of_one_page_is_read_once() {
        let (client, set) = client([page(1..=99)]);
        assert_eq!(ids(&client).await, (1..=99).collect::<Vec<_>>());
        assert!(set.script.is_used_up());
    }

    #[tokio::test]
    async fn a_list_that_shifts_under_its_pages_is_read_until_it_holds_still() {
        let (client, set) = client([
            page(1..=100),
            // The first one has gone: 101 has moved to the first page.
            page(102..=150),
            page(2..=101),
            page(102..=150),
            page(2..=101),
            page(102..=150),
        ]);
        assert_eq!(ids(&client).await, (2..=150).collect::<Vec<_>>());
        assert!(set.script.is_used_up());
    }

    #[tokio::test]
    async fn a_list_that_never_holds_still_is_a_failure() {
        let readings = (0..=u64::from(MAX_READINGS)).map(|n| [page(n..n + 100), page([])]);
        let (client, set) = client(readings.flatten());
        let failure = client.list_installations().await.unwrap_err();
        assert_eq!(failure.disposition, Disposition::Retry { after: None });
        assert!(set.script.is_used_up());
    }
}
