//! Makes Apps from manifests: the form page in the browser, and the exchange of its code.
//! <https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::Value;

use super::{Call, Refusal, Reply};
use crate::clock::later_by;
use crate::github::Model;
use crate::github::account::Permissions;
use crate::github::hook::Target;
use crate::github::new_app::{ConfirmedManifest, NewApp};

/// How long a code can be exchanged (GitHub's documentation: one hour).
const CODE_LIVES: Duration = Duration::from_secs(3_600);
/// The login of the person at the browser.
const PERSON: &str = "maintainer";
/// The permission that an App needs to subscribe to each event, by GitHub's documentation.
/// <https://docs.github.com/en/webhooks/webhook-events-and-payloads>
const EVENT_NEEDS: [(&str, &str); 24] = [
    ("branch_protection_rule", "administration"),
    ("check_run", "checks"),
    ("check_suite", "checks"),
    ("commit_comment", "contents"),
    ("create", "contents"),
    ("delete", "contents"),
    ("deployment", "deployments"),
    ("deployment_status", "deployments"),
    ("fork", "contents"),
    ("issue_comment", "issues"),
    ("issues", "issues"),
    ("label", "metadata"),
    ("milestone", "issues"),
    ("public", "metadata"),
    ("pull_request", "pull_requests"),
    ("pull_request_review", "pull_requests"),
    ("pull_request_review_comment", "pull_requests"),
    ("pull_request_review_thread", "pull_requests"),
    ("push", "contents"),
    ("release", "contents"),
    ("repository", "metadata"),
    ("status", "statuses"),
    ("workflow_job", "actions"),
    ("workflow_run", "actions"),
];

/// The account whose settings a form page belongs to; none when the path is no form page.
fn owner_of(path: &str) -> Option<String> {
    if path == "/settings/apps/new" {
        return Some(PERSON.to_owned());
    }
    let rest = path.strip_prefix("/organizations/")?;
    let owner = rest.strip_suffix("/settings/apps/new")?;
    (!owner.is_empty() && !owner.contains('/')).then(|| owner.to_owned())
}

impl Model {
    /// Answers the form page of `github.com`, as if the person had confirmed it. None for any other path.
    pub(crate) fn new_app_page(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
    ) -> Option<Response<Bytes>> {
        let owner = owner_of(request.uri().path())?;
        if request.method() != Method::POST {
            return Some(page_response(
                StatusCode::METHOD_NOT_ALLOWED,
                "post a manifest",
            ));
        }
        let field = |text: &[u8], name: &str| {
            form_urlencoded::parse(text)
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.into_owned())
        };
        let manifest = field(request.body(), "manifest")
            .and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let Some(manifest) = manifest else {
            return Some(page_response(
                StatusCode::UNPROCESSABLE_ENTITY,
                "no manifest",
            ));
        };
        if let Some(missing) = ["name", "url", "redirect_url"]
            .into_iter()
            .find(|name| manifest[*name].as_str().is_none_or(str::is_empty))
        {
            let text = format!("the manifest has no `{missing}`");
            return Some(page_response(StatusCode::UNPROCESSABLE_ENTITY, &text));
        }
        if events_of(&manifest).any(|event| !is_on_offer(event, &manifest)) {
            let text = "Default events are not supported by permissions";
            return Some(page_response(StatusCode::UNPROCESSABLE_ENTITY, text));
        }
        let state = field(
            request.uri().query().unwrap_or_default().as_bytes(),
            "state",
        );
        let code = format!(
            "{:016x}{:016x}",
            self.chance.random_bits(),
            self.chance.random_bits()
        );
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("code", &code);
        if let Some(state) = &state {
            query.append_pair("state", state);
        }
        let back = manifest["redirect_url"].as_str().unwrap_or_default();
        let location = format!("{back}?{}", query.finish());
        self.manifests.insert(
            code,
            ConfirmedManifest {
                manifest,
                owner,
                until: later_by(now, CODE_LIVES),
            },
        );
        let mut response = page_response(StatusCode::FOUND, "");
        if let Ok(value) = location.parse() {
            response.headers_mut().insert(header::LOCATION, value);
        }
        Some(response)
    }
}

fn events_of(manifest: &Value) -> impl Iterator<Item = &str> {
    let events = manifest["default_events"].as_array();
    events.into_iter().flatten().filter_map(Value::as_str)
}

/// Whether the permissions of a manifest allow it to subscribe to an event.
fn is_on_offer(event: &str, manifest: &Value) -> bool {
    let needs = EVENT_NEEDS.iter().find(|(known, _)| *known == event);
    // Every other permission includes reading metadata.
    needs.is_some_and(|(_, permission)| {
        *permission == "metadata" || manifest["default_permissions"][*permission].is_string()
    })
}

fn page_response(status: StatusCode, text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *response.status_mut() = status;
    response
}

/// Exchanges a code for the App that is made of its manifest: once, within the hour.
pub(super) fn convert_manifest(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let code = call.path_param("code").to_owned();
    let confirmed = call
        .model
        .manifests
        .remove(&code)
        .filter(|confirmed| call.now < confirmed.until)
        .ok_or_else(Refusal::not_found)?;
    let ConfirmedManifest {
        manifest, owner, ..
    } = confirmed;
    let refuse = |text: &str| Refusal::new(422, text);
    let key = call
        .model
        .app_keys
        .pop()
        .ok_or_else(|| refuse("The model has no key left for an App; give it one"))?;
    let permissions: Permissions = match &manifest["default_permissions"] {
        Value::Null => Permissions::new(),
        wanted => serde_json::from_value(wanted.clone()).map_err(|_| {
            refuse("Default permission records resource is not included in the list")
        })?,
    };
    let events: Vec<String> = events_of(&manifest).map(str::to_owned).collect();
    let secret = format!(
        "{:016x}{:016x}",
        call.model.chance.random_bits(),
        call.model.chance.random_bits()
    );
    let url = manifest["hook_attributes"]["url"].as_str();
    let hook = url.map(|url| Target {
        url: url.to_owned(),
        secret: Some(secret.clone()),
        content_type: "json".to_owned(),
    });
    let id = call.model.next_id() % 10_000_019;
    let slug = manifest["name"]
        .as_str()
        .unwrap_or_default()
        .to_lowercase()
        .replace(' ', "-");
    let now = call.now;
    call.model.add_app(
        NewApp {
            id,
            slug,
            owner,
            permissions,
            events,
            hook: hook.clone(),
            public_key: Some(key.public),
        },
        now,
    );
    let app = call.model.apps.get(&id).ok_or_else(Refusal::not_found)?;
    let mut body = call.model.app_json(app);
    body["client_id"] = app.client_id.as_str().into();
    body["client_secret"] = format!("{:016x}", id.wrapping_mul(0x9e37_79b9)).into();
    body["webhook_secret"] = hook.map_or(Value::Null, |_| secret.into());
    body["pem"] = key.pem.into();
    Ok(Reply::Json(201, body))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_on_offer_only_with_its_permission() {
        let manifest = json!({"default_permissions": {"contents": "write", "checks": "read"}});
        for (event, offered) in [
            ("push", true),
            ("check_suite", true),
            ("repository", true),
            ("workflow_run", false),
            ("issues", false),
            ("made_up", false),
        ] {
            assert_eq!(is_on_offer(event, &manifest), offered, "{event}");
        }
        assert!(!is_on_offer("push", &json!({})));
    }
}
