//! Whether GitHub's deliveries reach the service.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::finding::{Findings, Group};
use super::repository::CheckedRepository;
use crate::adapters::github::{Client, Credential, DeliveryAttempt, Hook};
use crate::cli::context::clients;
use crate::cli::context::env_var::env_value;
use crate::cli::exit::CliError;
use crate::server::config::WEBHOOK;
use crate::server::worker::sweep::is_own;

/// GitHub keeps deliveries, and redelivers them, for this long.
/// <https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries>
const DELIVERY_WINDOW: SignedDuration = SignedDuration::from_hours(3 * 24);
/// The most hooks to check: a page of 100 deliveries each.
const MAX_HOOKS: usize = 5;

pub(super) async fn check_deliveries(
    client: &Client,
    credential: &Credential,
    now: Timestamp,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) -> Result<(), CliError> {
    findings.group = Group::Deliveries;
    if let Credential::App(app) = credential {
        let app = clients::app_client(app.clone())?;
        match app.list_deliveries(None).await {
            Ok(page) => report_deliveries(
                &page.attempts,
                "the App's webhook",
                &format!("{}/settings/apps", place.github),
                now,
                findings,
            ),
            Err(failure) => {
                findings.add_unread("deliveries.app", "the deliveries of the App", &failure)
            }
        }
        return Ok(());
    }
    let hooks = match client.list_hooks().await {
        Ok(hooks) => hooks,
        Err(failure) => {
            findings.add_unread(
                "deliveries.hook",
                "webhooks (only administrators may)",
                &failure,
            );
            return Ok(());
        }
    };
    let public = env_value("PHILEAS_PUBLIC_URL");
    let ours = |hook: &&Hook| match &public {
        Some(own) => is_own(&hook.url, own),
        None => hook.url.trim_end_matches('/').ends_with(WEBHOOK),
    };
    for hook in hooks.iter().filter(ours).take(MAX_HOOKS) {
        let page = format!(
            "{}/{}/settings/hooks/{}",
            place.github, place.repository, hook.id
        );
        let name = format!("the webhook to {}", hook.url);
        if !hook.active {
            findings.add_hint("deliveries.off", format!("{name} is off"), page);
            continue;
        }
        if hook.content_type != "json" {
            findings.add_error(
                "deliveries.form",
                format!("{name} has the content type `form`, which is refused"),
                format!("{page}: set application/json"),
            );
        }
        match client.hook_deliveries(hook.id, None).await {
            Ok(found) => report_deliveries(&found.attempts, &name, &page, now, findings),
            Err(failure) => findings.add_unread(
                "deliveries.hook",
                &format!("the deliveries of {name}"),
                &failure,
            ),
        }
    }
    Ok(())
}

/// Reports the deliveries of the last days. A redelivery that succeeded counts as delivered.
fn report_deliveries(
    attempts: &[DeliveryAttempt],
    name: &str,
    page: &str,
    now: Timestamp,
    findings: &mut Findings,
) {
    let since = now.checked_sub(DELIVERY_WINDOW).unwrap_or(Timestamp::MIN);
    let mut events: BTreeMap<&str, (bool, u16)> = BTreeMap::new();
    let lately = |one: &&DeliveryAttempt| one.delivered_at.is_some_and(|at| at >= since);
    for one in attempts.iter().filter(lately) {
        let known = events
            .entry(one.guid.as_str())
            .or_insert((false, one.status_code));
        known.0 |= one.was_accepted();
    }
    let lost: Vec<u16> = events
        .values()
        .filter(|(done, _)| !done)
        .map(|(_, code)| *code)
        .collect();
    let Some(code) = lost.first() else {
        if !events.is_empty() {
            findings.add_good(
                "deliveries.failing",
                format!("{name}: all of the last {} events arrived", events.len()),
            );
        }
        return;
    };
    let answer = match code {
        0 => "no answer".to_owned(),
        code => format!("the answer was {code}"),
    };
    let text = format!(
        "{name}: {} of the last {} events did not arrive ({answer})",
        lost.len(),
        events.len()
    );
    let help =
        format!("{page}: see Recent Deliveries; `phileas service health --ready` on its machine");
    let newest_lost = attempts.first().is_some_and(|one| !one.was_accepted());
    if newest_lost {
        findings.add_error("deliveries.failing", text, help);
    } else {
        findings.add_hint("deliveries.failing", text, help);
    }
}
