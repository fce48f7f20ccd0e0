//! Creates, schedules, repeats and lists webhook deliveries.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::hook::{Delivery, DeliveryStatus, Source, Target};
use super::{Model, RepoId};
use crate::clock::{earlier_by, later_by};
use crate::knobs::Knobs;

/// How long a delivery can be listed and repeated (GitHub's documentation: three days).
const REDELIVERY_WINDOW: Duration = Duration::from_secs(3 * 24 * 3600);

/// The shortest time between an event and its delivery.
const SHORTEST_DELIVERY: Duration = Duration::from_millis(300);

impl Model {
    /// Sends an event to every hook that subscribes to it. The payload is built only when there is such a hook.
    pub(crate) fn emit_event(
        &mut self,
        repo: RepoId,
        event: &str,
        action: Option<&str>,
        actor: u64,
        now: Timestamp,
        extra: impl FnOnce(&Self) -> Value,
    ) {
        let Some(repository) = self.repositories.get(&repo) else {
            return;
        };
        let wanted = |events: &[String]| events.iter().any(|name| name == event || name == "*");
        let hooks: Vec<(Source, Target)> = repository
            .hooks
            .values()
            .filter(|hook| hook.active && wanted(&hook.events))
            .map(|hook| (Source::Repository(repo, hook.id), hook.target.clone()))
            .collect();
        let apps: Vec<(Source, Target, u64)> = self
            .installations
            .values()
            .filter(|installation| {
                installation.suspended_at.is_none() && self.installation_reaches(installation, repo)
            })
            .filter_map(|installation| {
                let app = self.apps.get(&installation.app)?;
                let target = app.hook.clone()?;
                // An App gets events about its own installation without a subscription.
                let always = event.starts_with("installation");
                (always || wanted(&app.events)).then_some((
                    Source::App(app.id),
                    target,
                    installation.id,
                ))
            })
            .collect();
        if hooks.is_empty() && apps.is_empty() {
            return;
        }
        let mut payload = serde_json::Map::new();
        if let Some(action) = action {
            payload.insert("action".to_owned(), action.into());
        }
        if let Value::Object(extra) = extra(self) {
            payload.extend(extra);
        }
        payload.insert("repository".to_owned(), self.webhook_repository(repo));
        payload.insert("sender".to_owned(), self.simple_user(actor));
        let hooks = hooks
            .into_iter()
            .map(|(source, target)| (source, target, None));
        for (source, target, installation) in
            hooks.chain(apps.into_iter().map(|(s, t, i)| (s, t, Some(i))))
        {
            let mut payload = payload.clone();
            if let Some(id) = installation {
                let node =
                    super::node_id::encode_id("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", repo, id);
                payload.insert(
                    "installation".to_owned(),
                    serde_json::json!({"id": id, "node_id": node}),
                );
            }
            self.queue_delivery(
                source,
                target,
                event,
                action,
                &Value::Object(payload),
                Some(repo),
                installation,
                now,
            );
        }
    }

    /// Queues a new delivery of a payload.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a fact of the delivery, and there is one place that calls it"
    )]
    pub(crate) fn queue_delivery(
        &mut self,
        source: Source,
        target: Target,
        event: &str,
        action: Option<&str>,
        payload: &Value,
        repository: Option<RepoId>,
        installation: Option<u64>,
        now: Timestamp,
    ) -> u64 {
        let id = self.next_id();
        let guid = self.chance.random_uuid();
        self.deliveries.insert(
            id,
            Delivery {
                id,
                guid,
                source,
                target,
                event: event.to_owned(),
                action: action.map(str::to_owned),
                payload: payload.to_string().into(),
                repository,
                installation,
                created_at: now,
                due: None,
                redelivery: false,
                status: DeliveryStatus::New,
            },
        );
        self.unplanned.push(id);
        id
    }

    /// Decides for every new delivery when it is posted, whether it is lost, and whether it is doubled.
    pub(crate) fn plan_deliveries(&mut self, knobs: &Knobs) {
        for id in std::mem::take(&mut self.unplanned) {
            self.touched.push(id);
            let lost = self.chance.happens(knobs.webhook_lost);
            let doubled = self.chance.happens(knobs.webhook_doubled);
            let mut due = |created: Timestamp| {
                let late = self
                    .chance
                    .draw_between(0, knobs.webhook_late_seconds * 1_000);
                knobs.count_use("webhook-late-seconds", late > 0);
                later_by(created, SHORTEST_DELIVERY + Duration::from_millis(late))
            };
            let Some(created) = self.deliveries.get(&id).map(|delivery| delivery.created_at) else {
                continue;
            };
            let (first, second) = (due(created), due(created));
            let Some(delivery) = self.deliveries.get_mut(&id) else {
                continue;
            };
            if knobs.count_use("webhook-lost", lost && !delivery.redelivery) {
                delivery.status = DeliveryStatus::Lost;
                continue;
            }
            delivery.due = Some(first);
            delivery.status = DeliveryStatus::Planned;
            self.pending.insert((first, id));
            if knobs.count_use("webhook-doubled", doubled) {
                let mut copy = delivery.clone();
                copy.id = self.next_id();
                copy.due = Some(second);
                self.pending.insert((second, copy.id));
                self.touched.push(copy.id);
                self.deliveries.insert(copy.id, copy);
            }
        }
    }

    /// Repeats a delivery: a new attempt with the same GUID. None when it is unknown or too old.
    pub(crate) fn repeat_delivery(&mut self, id: u64, now: Timestamp) -> Option<u64> {
        let old = self.deliveries.get(&id)?;
        if old.created_at < earlier_by(now, REDELIVERY_WINDOW) {
            return None;
        }
        let mut copy = old.clone();
        copy.id = self.next_id();
        copy.created_at = now;
        copy.redelivery = true;
        copy.due = None;
        copy.status = DeliveryStatus::New;
        let new = copy.id;
        self.deliveries.insert(new, copy);
        self.unplanned.push(new);
        Some(new)
    }

    /// The attempts of a hook that can still be listed, newest first; `below` limits them to smaller numbers.
    pub(crate) fn listed_deliveries(
        &self,
        source: Source,
        now: Timestamp,
        below: Option<u64>,
    ) -> impl Iterator<Item = &Delivery> {
        let oldest = earlier_by(now, REDELIVERY_WINDOW);
        let attempts = self.deliveries.range(..below.unwrap_or(u64::MAX)).rev();
        attempts
            .map(|(_, delivery)| delivery)
            .filter(move |delivery| {
                delivery.source == source
                    && matches!(delivery.status, DeliveryStatus::Done(_))
                    && delivery.due.is_some_and(|due| due >= oldest)
            })
    }
}
