//! What happens in the world while its replicas work: deliveries, runs of the workflow, and what people do.

use std::sync::Arc;

use axum::body::Body;
use http::Request;
use jiff::SignedDuration;
use phileas::sandbox::world_setup;
use phileas_domain::model::RepositoryName;
use phileas_world::WebhookDelivery;
use phileas_world::jules::Installed;
use sha2::{Digest as _, Sha256};
use tower::ServiceExt as _;

use super::super::{disturbances, stage};
use super::{Act, Play, Post, REPLICAS, TAKE_A_NOTE};

/// The name of the first repository while it is another.
const RENAMED: &str = "sprocket";
/// What another writer puts on the ledger's branch.
const UNTRUSTED_FILE: &str = "notes/untrusted.md";

impl Play<'_> {
    /// Whatever has changed in the inbox, its replicas hear within a second, each at its own time.
    pub(super) fn spread_news(&mut self) {
        if self.news.has_changed().unwrap() {
            self.news.mark_unchanged();
            for who in 0..REPLICAS {
                let after = self.chance.draw_between(1, 1_000);
                let after = SignedDuration::from_millis(after as i64);
                self.plan(Act::Hear(who), after);
            }
        }
    }

    /// Hands over the deliveries that are due, each to any replica that lives. Some start the workflow, too.
    pub(super) fn deliver(&mut self) {
        let due = self.world.lock_world().take_due_deliveries();
        for delivery in due {
            // What the service is told once more starts no workflow once more.
            if self.notified_events.insert(delivery.guid.clone()) && self.chance.happens(0.2) {
                self.ask_workflow();
            }
            let living = self.replicas.iter().enumerate();
            let living: Vec<usize> = living
                .filter_map(|(who, replica)| replica.as_ref().map(|_| who))
                .collect();
            let which = self.chance.draw_below(living.len() as u64) as usize;
            let replica = living
                .get(which)
                .and_then(|who| self.replicas[*who].as_ref());
            let Some(replica) = replica else {
                self.world.lock_world().delivery_done(delivery.id, None);
                continue;
            };
            let id = delivery.id;
            self.posts.push(Post {
                id,
                life: replica.process.life,
                answer: tokio::spawn(post(replica.webhook.clone(), delivery)),
            });
        }
    }

    /// The workflow runs one at a time; one more waits.
    pub(super) fn ask_workflow(&mut self) {
        if self.workflow.is_some() {
            self.queued = true;
            return;
        }
        self.workflow_runs += 1;
        let process = self.process(REPLICAS, 60);
        let name = self
            .world
            .lock_world()
            .github()
            .full_name(self.repositories[0]);
        let name: RepositoryName = name.parse().unwrap();
        let entropy = Sha256::new()
            .chain_update(self.case.seed.to_be_bytes())
            .chain_update(self.count.to_be_bytes())
            .finalize()
            .into();
        let run = stage::workflow(
            Arc::clone(&process),
            name,
            self.count,
            self.sabotage,
            entropy,
            self.count,
        );
        self.workflow = Some((process, run));
    }

    pub(super) fn rename(&mut self) {
        let repo = self.repositories[0];
        let mut world = self.world.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let name = match github.full_name(repo).ends_with(RENAMED) {
            true => world_setup::NAME,
            false => RENAMED,
        };
        github.rename_repository(repo, name, "maintainer", now);
        let installed = Installed::new(world_setup::OWNER, name);
        world.jules_mut().install_app("maintainer", installed);
    }

    /// Adds a file of no business of ours to the ledger's branch, as an agent might that disobeys.
    pub(super) fn write_as_another(&mut self) {
        let repo = self.repositories[0];
        let mut world = self.world.lock_world();
        let now = world.now();
        let github = world.github_mut();
        if let Some(head) = github.branch_head(repo, "jules") {
            let text = format!("It is {now}.\n");
            let files = [(UNTRUSTED_FILE.to_owned(), Some(text.into()))];
            let note = github.commit_files(repo, Some(head), &files, "outsider", TAKE_A_NOTE, now);
            github.move_branch(repo, "jules", note, "outsider", now);
            self.course.struck(disturbances::UNTRUSTED_COMMITS);
        }
    }
}

/// Brings a delivery to a webhook.
async fn post(webhook: axum::Router, delivery: WebhookDelivery) -> Option<u16> {
    let mut request = Request::post("/webhook")
        .body(Body::from(delivery.body))
        .ok()?;
    *request.headers_mut() = delivery.headers;
    let answer = webhook.oneshot(request).await.ok()?;
    Some(answer.status().as_u16())
}
