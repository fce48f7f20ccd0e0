//! Manages subscriptions to resources. A client of the current revision listens by one open
//! request; an older one subscribes to one address after another.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;

use super::changes::{Change, EVENTS, JOBS, LOOK, RUNS};
use super::monitor_files::MonitorFiles;
use super::resources;
use super::tool_context::ToolContext;
use super::tool_error::ToolError;
use super::watch_files::FileMarks;
use crate::adapters::pipeline::Runs;

/// How many clients may be about to listen; the oldest is forgotten.
const MAX_EXPECTED: usize = 16;
/// How many addresses one client may subscribe to.
const MAX_ADDRESSES: usize = 200;

/// Returns the part of a subscription that is granted: addresses that may exist, and lists of
/// resources. Tools and prompts never change.
pub(super) fn accepted_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|addresses| {
        let known = addresses.iter().filter(|uri| resources::is_known(uri));
        known.take(MAX_ADDRESSES).cloned().collect()
    });
    accepted
}

/// Clients that are about to listen. They also get the changes between the reply that grants the
/// subscription and their first read.
#[derive(Clone, Default)]
pub(super) struct ExpectedListeners(Arc<Mutex<VecDeque<(SubscriptionFilter, PendingChanges)>>>);

impl ExpectedListeners {
    /// Prepares a listener before the reply grants its subscription.
    pub(super) fn expect_listener(&self, context: &ToolContext, requested: &SubscriptionFilter) {
        let mut expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if expected.len() == MAX_EXPECTED {
            expected.pop_front();
        }
        expected.push_back((requested.clone(), PendingChanges::new(context)));
    }

    /// Begins the subscription of a client that was expected.
    fn begin_listening(
        &self,
        context: &ToolContext,
        requested: &SubscriptionFilter,
    ) -> PendingChanges {
        let mut expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = expected.iter().position(|(filter, _)| filter == requested);
        let news = place.and_then(|place| expected.remove(place));
        news.map_or_else(|| PendingChanges::new(context), |(_, news)| news)
    }
}

/// Notifies one client of the current revision until it stops or disconnects. A pending
/// notification is dropped when the client leaves, because it could never arrive.
pub(super) async fn serve_listener(
    context: &ToolContext,
    expected: &ExpectedListeners,
    subscription: &SubscriptionContext,
) {
    let news = expected.begin_listening(context, subscription.requested());
    tokio::select! {
        () = send_accepted(news, subscription) => {}
        () = subscription.cancelled() => {}
        () = context.changes.wait_for_end() => {}
    }
}

async fn send_accepted(mut news: PendingChanges, subscription: &SubscriptionContext) {
    let accepted = subscription.accepted();
    let wanted: BTreeSet<&String> = accepted.resource_subscriptions.iter().flatten().collect();
    loop {
        for change in news.next().await {
            if accepted.resources_list_changed == Some(true)
                && change.list
                && subscription
                    .sink()
                    .notify_resource_list_changed()
                    .await
                    .is_err()
            {
                return;
            }
            if wanted.contains(&change.uri)
                && subscription
                    .sink()
                    .notify_resource_updated(change.uri)
                    .await
                    .is_err()
            {
                return;
            }
        }
    }
}

/// The changes of this process and of other programs.
struct PendingChanges {
    queue: MonitorFiles,
    runs: Runs,
    changes: tokio::sync::broadcast::Receiver<Change>,
    mark: FileMarks,
}

impl PendingChanges {
    fn new(context: &ToolContext) -> Self {
        Self {
            queue: context.queue.clone(),
            runs: context.runs.clone(),
            changes: context.changes.subscribe_changes(),
            mark: FileMarks::read_marks(&context.queue, &context.runs),
        }
    }

    /// Returns the next changes; waits until there are some.
    async fn next(&mut self) -> Vec<Change> {
        loop {
            tokio::select! {
                told = self.changes.recv() => match told {
                    Ok(change) => return vec![change],
                    // A client that missed changes reads the lists again.
                    Err(RecvError::Lagged(_)) => return self.all_changes(),
                    Err(RecvError::Closed) => std::future::pending::<()>().await,
                },
                () = tokio::time::sleep(LOOK) => {
                    let changes = self.check_files();
                    if !changes.is_empty() {
                        return changes;
                    }
                }
            }
        }
    }

    fn all_changes(&self) -> Vec<Change> {
        [JOBS, EVENTS, RUNS]
            .map(|uri| Change {
                uri: uri.to_owned(),
                list: uri != EVENTS,
            })
            .into()
    }

    /// Returns what the monitor or another program has written. A job with a new event has changed,
    /// too.
    fn check_files(&mut self) -> Vec<Change> {
        let now = FileMarks::read_marks(&self.queue, &self.runs);
        let (jobs, events) = now.changed_files(&self.mark);
        let written = now.changed_artifacts(&self.mark);
        self.mark = now;
        let mut changes = Vec::new();
        let mut add = |uri: String, list: bool| changes.push(Change { uri, list });
        if jobs {
            add(JOBS.to_owned(), true);
        }
        if events {
            add(EVENTS.to_owned(), false);
            for id in self.queue.newest_jobs() {
                add(format!("{JOBS}/{id}"), false);
                add(format!("{JOBS}/{id}/messages"), false);
                add(format!("{JOBS}/{id}/diff"), false);
            }
        }
        if !written.is_empty() {
            add(RUNS.to_owned(), true);
        }
        let mut told = BTreeSet::new();
        for (issue, file) in written {
            add(format!("{RUNS}/{issue}/{file}"), false);
            if told.insert(issue.clone()) {
                add(format!("{RUNS}/{issue}"), false);
            }
        }
        changes
    }
}

/// The subscriptions of one client of an older revision. The first one starts the task that
/// notifies the client.
#[derive(Debug, Clone, Default)]
pub(super) struct Subscribers(Arc<Mutex<SubscriberList>>);

#[derive(Debug, Default)]
struct SubscriberList {
    addresses: BTreeSet<String>,
    notified: bool,
}

impl Subscribers {
    pub(super) fn add_subscriber(
        &self,
        context: &ToolContext,
        uri: &str,
        peer: &Peer<RoleServer>,
    ) -> Result<(), ToolError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.addresses.len() >= MAX_ADDRESSES {
            return Err(ToolError::new(format!(
                "the subscription was refused: a client may subscribe to {MAX_ADDRESSES} resources; unsubscribe from \
                 some"
            )));
        }
        known.addresses.insert(uri.to_owned());
        if !known.notified {
            known.notified = true;
            let (news, known, peer) = (
                PendingChanges::new(context),
                Arc::clone(&self.0),
                peer.clone(),
            );
            tokio::spawn(notify_subscribers(news, known, peer));
        }
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.addresses.remove(uri);
    }
}

/// Notifies a client of an older revision until it disconnects.
async fn notify_subscribers(
    mut news: PendingChanges,
    known: Arc<Mutex<SubscriberList>>,
    peer: Peer<RoleServer>,
) {
    loop {
        for change in news.next().await {
            let wanted = {
                let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                known.addresses.contains(&change.uri)
            };
            if change.list && peer.notify_resource_list_changed().await.is_err() {
                return;
            }
            let update = ResourceUpdatedNotificationParam::new(change.uri);
            if wanted && peer.notify_resource_updated(update).await.is_err() {
                return;
            }
        }
        if peer.is_transport_closed() {
            return;
        }
    }
}
