//! Builds the manifest of an App with the least permissions.
//! <https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>

use phileas_domain::model::RepositoryName;
use serde_json::{Map, Value, json};

use crate::server::admin::check::{EVENTS, PERMISSIONS};
use crate::server::config::{WEBHOOK, public_url};

/// The address of GitHub's pages.
pub const GITHUB: &str = "https://github.com";

/// The service's address, and the owner of the App.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AppRequest {
    /// The public address, without a slash at its end.
    pub(super) url: String,
    /// The organisation; `None`: the account of the person who clicks.
    owner: Option<String>,
}

impl AppRequest {
    /// Reads a form's fields. An error names the field, the problem and the fix. `github` is the
    /// GitHub that creates the App: a GitHub on this machine can reach local addresses.
    pub(super) fn from_fields(url: &str, owner: &str, github: &str) -> Result<Self, String> {
        let url = public_url(url).map_err(|wrong| wrong.to_string())?;
        if github == GITHUB && !url.starts_with("https://") {
            return Err(format!(
                "GitHub cannot reach {url}, which is an address of this machine; give a public address such as \
                 https://phileas.example.com"
            ));
        }
        let owner = owner.trim();
        if !owner.is_empty() && !is_account(owner) {
            return Err(format!("`{owner}` is not a valid name of an organisation"));
        }
        Ok(Self {
            url,
            owner: (!owner.is_empty()).then(|| owner.to_owned()),
        })
    }

    /// The address to which the form is posted.
    pub(super) fn form_action(&self, github: &str, state: &str) -> String {
        match &self.owner {
            Some(owner) => {
                format!("{github}/organizations/{owner}/settings/apps/new?state={state}")
            }
            None => format!("{github}/settings/apps/new?state={state}"),
        }
    }
}

/// The App's manifest: private, and without permissions to change workflows, settings or secrets.
/// `origin` is where GitHub sends the browser afterwards.
#[must_use]
pub fn app_manifest(url: &str, origin: &str) -> Value {
    let permissions: Map<String, Value> = PERMISSIONS
        .into_iter()
        .map(|(name, access, _)| (name.to_owned(), access.into()))
        .collect();
    json!({
        "name": "phileas",
        "url": url,
        "description": "Runs Jules on repositories on a schedule",
        "hook_attributes": { "url": format!("{url}{WEBHOOK}"), "active": true },
        "redirect_url": format!("{origin}/setup/done"),
        "public": false,
        "default_permissions": permissions,
        "default_events": EVENTS.map(|(event, _)| event),
    })
}

/// An account's name follows the same rules as the owner of a repository.
fn is_account(text: &str) -> bool {
    format!("{text}/x").parse::<RepositoryName>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r17_the_app_asks_for_what_it_uses_and_for_nothing_else() {
        let manifest = app_manifest("https://phileas.example.com", "http://127.0.0.1:9090");
        let asked: Vec<String> = manifest["default_permissions"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, access)| format!("{name}: {}", access.as_str().unwrap()))
            .collect();
        assert_eq!(
            asked,
            [
                "contents: write",
                "issues: write",
                "pull_requests: write",
                "metadata: read",
                "checks: read",
                "statuses: read"
            ]
        );
        assert_eq!(manifest["public"], false);
        // GitHub refuses a manifest with an event whose permission is missing.
        for (event, needs) in EVENTS {
            let asked = &manifest["default_permissions"][needs];
            assert!(asked.is_string(), "{event} needs {needs}");
        }
        assert_eq!(
            manifest["hook_attributes"]["url"],
            "https://phileas.example.com/webhook"
        );
    }

    #[test]
    fn addresses_that_would_leak_or_mislead_are_refused() {
        let own = "http://127.0.0.1:3000";
        assert!(AppRequest::from_fields("https://phileas.example.com/", "", GITHUB).is_ok());
        assert!(AppRequest::from_fields("http://127.0.0.1:8080", "acme", own).is_ok());
        assert!(AppRequest::from_fields("http://127.0.0.1:8080", "acme", GITHUB).is_err());
        for url in [
            "",
            "phileas.example.com",
            "http://phileas.example.com",
            "https://me:pass@phileas.example.com",
            "https://phileas.example.com/?x=1",
            "javascript:alert(1)",
        ] {
            assert!(AppRequest::from_fields(url, "", GITHUB).is_err(), "{url}");
        }
        assert!(AppRequest::from_fields("https://a.example", "../settings", GITHUB).is_err());
    }
}
