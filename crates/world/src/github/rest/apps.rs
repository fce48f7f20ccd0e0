//! Routes for Apps, installations, deliveries, and the caller itself.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Call, Refusal, Reply};
use crate::clock::later_by;
use crate::github::account::{Access, Permissions};
use crate::github::hook::{Delivery, DeliveryStatus, Source};
use crate::github::limits::{Resource, primary_limit};
use crate::github::render::format_timestamp;
use crate::github::{Identity, RepoId, TokenKind};

/// The default number of deliveries on a page.
const DELIVERIES: usize = 30;

impl Call<'_> {
    fn own_app(&self) -> Result<u64, Refusal> {
        match self.identity.as_ref().map(|identity| &identity.kind) {
            Some(TokenKind::App { app }) => Ok(*app),
            _ => Err(Refusal::new(401, "A JSON web token could not be decoded")),
        }
    }
}

pub(super) fn get_user(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    if call.is_bot() {
        return Err(Refusal::new(403, "Resource not accessible by integration"));
    }
    Ok(Reply::Json(200, public_user(call, call.actor_account())))
}

pub(super) fn user_by_login(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let account = call
        .model
        .find_account(call.path_param("username"))
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, public_user(call, account)))
}

fn public_user(call: &Call<'_>, account: u64) -> Value {
    let mut user = call.model.simple_user(account);
    for name in [
        "bio", "blog", "company", "email", "hireable", "location", "name",
    ] {
        user[name] = Value::Null;
    }
    for name in ["followers", "following", "public_gists", "public_repos"] {
        user[name] = 0.into();
    }
    user["created_at"] = "2020-01-01T00:00:00Z".into();
    user["updated_at"] = "2020-01-01T00:00:00Z".into();
    user
}

pub(super) fn user_repositories(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let actor = call.actor_account();
    let all: Vec<RepoId> = call
        .model
        .repositories()
        .filter(|repository| {
            repository.owner == actor || repository.collaborators.contains_key(&actor)
        })
        .map(|repository| repository.id)
        .collect();
    let page = call.page_of(all);
    Ok(Reply::Json(
        200,
        page.into_iter()
            .map(|repo| call.model.webhook_repository(repo))
            .collect(),
    ))
}

pub(super) fn rate_limit(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let name = call
        .identity
        .as_ref()
        .map_or_else(|| "anonymous".to_owned(), |identity| identity.name.clone());
    let limit = primary_limit(call.identity.as_ref(), call.knobs);
    let now = call.now;
    let mut show = |resource| {
        let limit_status = call.model.limits.limit_status(&name, resource, limit, now);
        json!({"limit": limit_status.limit, "used": limit_status.used, "remaining": limit_status.remaining_points(), "reset": limit_status.reset.as_second()})
    };
    let (core, graphql) = (show(Resource::Core), show(Resource::Graphql));
    let search = json!({"limit": 30, "used": 0, "remaining": 30, "reset": now.as_second() + 60});
    Ok(Reply::Json(
        200,
        json!({"resources": {"core": core, "graphql": graphql, "search": search}, "rate": core}),
    ))
}

pub(super) fn get_meta(_: &mut Call<'_>) -> Result<Reply, Refusal> {
    Ok(Reply::Json(
        200,
        json!({
            "verifiable_password_authentication": false, "hooks": ["127.0.0.0/8", "::1/128"], "web": ["127.0.0.0/8"],
            "api": ["127.0.0.0/8"], "git": ["127.0.0.0/8"], "actions": ["127.0.0.0/8"],
        }),
    ))
}

pub(super) fn get_app(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let app = call.own_app()?;
    let app = call.model.apps.get(&app).ok_or_else(Refusal::not_found)?;
    let mut body = call.model.app_json(app);
    body["client_id"] = app.client_id.as_str().into();
    Ok(Reply::Json(200, body))
}

pub(super) fn hook_config(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let app = call.own_app()?;
    let hook = call
        .model
        .apps
        .get(&app)
        .and_then(|app| app.hook.as_ref())
        .ok_or_else(Refusal::not_found)?;
    let mut config =
        json!({"url": hook.url, "content_type": hook.content_type, "insecure_ssl": "0"});
    if hook.secret.is_some() {
        config["secret"] = "********".into();
    }
    Ok(Reply::Json(200, config))
}

pub(super) fn list_installations(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let app = call.own_app()?;
    let all: Vec<u64> = call
        .model
        .installations
        .values()
        .filter(|installation| installation.app == app)
        .map(|i| i.id)
        .collect();
    let page = call.page_of(all);
    let list: Vec<Value> = page
        .iter()
        .filter_map(|id| call.model.installations.get(id))
        .map(|installation| call.model.installation_json(installation))
        .collect();
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn get_installation(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (app, id) = (call.own_app()?, call.number_param("installation_id")?);
    let found = call
        .model
        .installations
        .get(&id)
        .filter(|installation| installation.app == app);
    Ok(Reply::Json(
        200,
        call.model
            .installation_json(found.ok_or_else(Refusal::not_found)?),
    ))
}

pub(super) fn repository_installation(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let app = call.own_app()?;
    let repo = call
        .model
        .repository_by_name(call.path_param("owner"), call.path_param("repo"))
        .ok_or_else(Refusal::not_found)?;
    let found = call
        .model
        .installations
        .values()
        .find(|i| i.app == app && call.model.installation_reaches(i, repo));
    Ok(Reply::Json(
        200,
        call.model
            .installation_json(found.ok_or_else(Refusal::not_found)?),
    ))
}

pub(super) fn create_token(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (app, id) = (call.own_app()?, call.number_param("installation_id")?);
    let found = call
        .model
        .installations
        .get(&id)
        .filter(|installation| installation.app == app);
    let installation = found.ok_or_else(Refusal::not_found)?.clone();
    if installation.suspended_at.is_some() {
        return Err(Refusal::new(403, "This installation has been suspended"));
    }
    let app = call
        .model
        .apps
        .get(&app)
        .ok_or_else(Refusal::not_found)?
        .clone();
    let mut permissions: Permissions = app.permissions.clone();
    permissions.insert("metadata".to_owned(), Access::Read);
    if let Some(wanted) = call.body["permissions"].as_object() {
        let wanted: Permissions =
            serde_json::from_value(Value::Object(wanted.clone())).map_err(|_| {
                Refusal::new(
                    422,
                    "The permissions requested are not granted to this installation.",
                )
            })?;
        let granted = wanted
            .iter()
            .all(|(name, access)| permissions.get(name).is_some_and(|given| given >= access));
        if !granted {
            return Err(Refusal::new(
                422,
                "The permissions requested are not granted to this installation.",
            ));
        }
        permissions = wanted;
        permissions.insert("metadata".to_owned(), Access::Read);
    }
    let mut chosen: Option<std::collections::BTreeSet<RepoId>> = None;
    if let Some(ids) = call.body["repository_ids"].as_array() {
        chosen = Some(ids.iter().filter_map(Value::as_u64).map(RepoId).collect());
    } else if let Some(names) = call.body["repositories"].as_array() {
        let owner = call.model.login(installation.account).to_owned();
        let find = |name: &Value| call.model.repository_by_name(&owner, name.as_str()?);
        chosen = Some(names.iter().map(find).collect::<Option<_>>().ok_or_else(|| {
            Refusal::new(422, "There is at least one repository that does not exist or is not accessible to the parent installation.")
        })?);
    }
    let expires_at = token_end(call.now);
    // The form that installation tokens have taken since 2026: opaque, long, of varying length.
    let filler: String = (0..32)
        .map(|_| format!("{:016x}", call.model.chance.random_bits()))
        .collect();
    let length = 380 + usize::try_from(call.model.chance.draw_below(120)).unwrap_or_default();
    let token = format!("ghs_{}_{}", app.id, &filler[..length]);
    let identity = Identity {
        account: app.account,
        kind: TokenKind::Installation {
            app: app.id,
            installation: id,
            repositories: chosen.clone(),
            permissions: permissions.clone(),
        },
        expires_at: Some(expires_at),
        name: format!("installation:{id}"),
    };
    call.model.tokens.insert(token.clone(), identity);
    let selected = chosen.is_some() || installation.repositories.is_some();
    let mut body = json!({
        "token": token, "expires_at": format_timestamp(expires_at), "permissions": permissions,
        "repository_selection": if selected { "selected" } else { "all" },
    });
    if let Some(chosen) = chosen {
        body["repositories"] = chosen
            .into_iter()
            .map(|repo| call.model.webhook_repository(repo))
            .collect();
    }
    Ok(Reply::Json(201, body))
}

pub(super) fn installation_repositories(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let Some(TokenKind::Installation {
        installation,
        repositories,
        ..
    }) = call.identity.as_ref().map(|identity| identity.kind.clone())
    else {
        return Err(Refusal::new(
            403,
            "You must authenticate with an installation access token in order to list repositories for an installation.",
        ));
    };
    let installation = call
        .model
        .installations
        .get(&installation)
        .ok_or_else(Refusal::not_found)?;
    let selection = if installation.repositories.is_some() {
        "selected"
    } else {
        "all"
    };
    let all: Vec<RepoId> = call
        .model
        .repositories()
        .map(|repository| repository.id)
        .filter(|repo| call.model.installation_reaches(installation, *repo))
        .filter(|repo| {
            repositories
                .as_ref()
                .is_none_or(|chosen| chosen.contains(repo))
        })
        .collect();
    let total = all.len();
    let page = call.page_of(all);
    let list: Vec<Value> = page
        .into_iter()
        .map(|repo| call.model.webhook_repository(repo))
        .collect();
    Ok(Reply::Json(
        200,
        json!({"total_count": total, "repository_selection": selection, "repositories": list}),
    ))
}

// ---- deliveries --------------------------------------------------------------------------------------------------

/// `hook-delivery-item`.
pub(super) fn delivery_item(delivery: &Delivery) -> Value {
    let (status, code) = match delivery.status {
        DeliveryStatus::Done(Some(code)) => (
            if code < 300 {
                "OK".to_owned()
            } else {
                format!("Invalid HTTP Response: {code}")
            },
            code,
        ),
        _ => ("failed to connect to host".to_owned(), 0),
    };
    json!({
        "id": delivery.id, "guid": delivery.guid, "delivered_at": delivery.due.map(format_timestamp), "redelivery": delivery.redelivery,
        "duration": 0.2, "status": status, "status_code": code, "event": delivery.event, "action": delivery.action,
        "installation_id": delivery.installation, "repository_id": delivery.repository, "throttled_at": null,
    })
}

/// `hook-delivery`.
pub(super) fn delivery_json(delivery: &Delivery) -> Value {
    let mut out = delivery_item(delivery);
    let payload: Value = serde_json::from_slice(&delivery.payload).unwrap_or(Value::Null);
    let headers = json!({
        "X-GitHub-Delivery": delivery.guid, "X-GitHub-Event": delivery.event, "Content-Type": "application/json",
    });
    out["url"] = delivery.target.url.as_str().into();
    out["request"] = json!({"headers": headers, "payload": payload});
    out["response"] = json!({"headers": {}, "payload": null});
    out
}

pub(super) fn list_deliveries(call: &mut Call<'_>, source: Source) -> Result<Reply, Refusal> {
    let size = call
        .query_param("per_page")
        .and_then(|text| text.parse().ok())
        .unwrap_or(DELIVERIES)
        .clamp(1, 100);
    let below: Option<u64> = match call.query_param("cursor") {
        Some(text) => {
            let id = text.strip_prefix("v1_").and_then(|text| text.parse().ok());
            Some(id.ok_or_else(|| Refusal::new(422, "Invalid cursor"))?)
        }
        None => None,
    };
    let failed_only = call.query_param("status") == Some("failure");
    let good_only = call.query_param("status") == Some("success");
    let listed = call.model.listed_deliveries(source, call.now, below);
    // One delivery more than a page holds shows whether there is a next page.
    let matching: Vec<&Delivery> = listed
        .filter(|delivery| {
            let good = matches!(delivery.status, DeliveryStatus::Done(Some(200..=299)));
            !(failed_only && good || good_only && !good)
        })
        .take(size + 1)
        .collect();
    let list: Vec<Value> = matching
        .iter()
        .take(size)
        .map(|delivery| delivery_item(delivery))
        .collect();
    if matching.len() > size
        && let Some(last) = matching.get(size - 1)
    {
        let url = format!(
            "{}{}?per_page={size}&cursor=v1_{}",
            call.model.api_url, call.path, last.id
        );
        call.link = Some(format!("<{url}>; rel=\"next\""));
    }
    Ok(Reply::Json(200, list.into()))
}

pub(super) fn list_app_deliveries(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let app = call.own_app()?;
    list_deliveries(call, Source::App(app))
}

fn own_delivery(call: &Call<'_>) -> Result<u64, Refusal> {
    let (app, id) = (call.own_app()?, call.number_param("delivery_id")?);
    let delivery = call
        .model
        .deliveries
        .get(&id)
        .ok_or_else(Refusal::not_found)?;
    if delivery.source == Source::App(app) {
        Ok(id)
    } else {
        Err(Refusal::not_found())
    }
}

pub(super) fn get_app_delivery(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let id = own_delivery(call)?;
    let delivery = call
        .model
        .deliveries
        .get(&id)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(200, delivery_json(delivery)))
}

pub(super) fn redeliver_app_delivery(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let (id, now) = (own_delivery(call)?, call.now);
    call.model
        .repeat_delivery(id, now)
        .ok_or_else(Refusal::not_found)?;
    Ok(Reply::Json(202, json!({})))
}

/// The end of a token that lives an hour.
fn token_end(now: Timestamp) -> Timestamp {
    later_by(now, Duration::from_secs(3_600))
}
