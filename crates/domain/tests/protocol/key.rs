//! Defines when two worlds count as one.
//!
//! Times count by their age, up to the longest that the engine measures. A run's name counts only as "mine", "of
//! another running process", "of no process". Processes are alike, so their order does not count. Snapshots that are
//! behind the head can no longer win a commit.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{CreateFailure, Effect, Event, Listing, NoticeKey};

use crate::ledger::Version;
use crate::world::{Actor, Observation, Phase, World};

/// The grace is 15 minutes. The engine measures no longer time that the model could reach.
const OLDEST: SignedDuration = SignedDuration::from_mins(15);
/// Doubling pauses exceed this only after more faults than the model allows.
const FURTHEST: SignedDuration = SignedDuration::from_mins(120);

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.faults.hash(hasher);
        self.pushes.hash(hasher);
        self.broken.hash(hasher);
        version(&self.head, self.now, hasher);
        if self.faults > 0 {
            age(self.now, self.moved_at).hash(hasher);
        }
        for holder in &self.head.holders {
            let at_work = self
                .actors
                .iter()
                .any(|actor| actor.holds(holder) && !matches!(actor.phase, Phase::Asleep));
            at_work.hash(hasher);
        }
        let mut sessions: Vec<_> = self
            .sessions
            .iter()
            .map(|made| {
                let done = !made.is_live() && self.is_known(made);
                (
                    made.session.id.as_str(),
                    (!done).then(|| age(self.now, made.checked_at)),
                    (!done).then(|| age(self.now, made.arrived_at)),
                    made.session.archived,
                    made.session.state.is_live(),
                )
            })
            .collect();
        sessions.sort_unstable();
        sessions.hash(hasher);
        let mut wire: Vec<_> = self
            .wire
            .iter()
            .map(|request| {
                (
                    request.create.marker.to_string(),
                    age(self.now, request.checked_at),
                    request.owner.is_some(),
                )
            })
            .collect();
        wire.sort_unstable();
        wire.hash(hasher);
        for notice in &self.notices {
            notice.key.hash(hasher);
        }
        let mut actors: Vec<u64> = self.actors.iter().map(|actor| key(self, actor)).collect();
        actors.sort_unstable();
        actors.hash(hasher);
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        fingerprint(self) == fingerprint(other)
    }
}

impl Actor {
    fn holds(&self, holder: &str) -> bool {
        self.holder.as_str() == holder
    }
}

/// A hash of a world, for the caches beside the checker's own.
pub(crate) fn fingerprint(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}

fn age(now: Timestamp, at: Timestamp) -> i64 {
    now.duration_since(at).clamp(-FURTHEST, OLDEST).as_secs()
}

fn version<H: Hasher>(version: &Version, now: Timestamp, hasher: &mut H) {
    version.text.hash(hasher);
    ages(&version.times, now, hasher);
}

fn ages<H: Hasher>(times: &[Timestamp], now: Timestamp, hasher: &mut H) {
    for at in times {
        age(now, *at).hash(hasher);
    }
}

fn key(world: &World, actor: &Actor) -> u64 {
    let mut hasher = DefaultHasher::new();
    let hasher = &mut hasher;
    std::mem::discriminant(&actor.phase).hash(hasher);
    if !matches!(actor.phase, Phase::Asleep) {
        for holder in &world.head.holders {
            actor.holds(holder).hash(hasher);
        }
    }
    match &actor.phase {
        Phase::Asleep => {}
        Phase::Beaten { events } => happened(events, hasher),
        Phase::Informed {
            observation,
            events,
        } => {
            seen(world, observation, hasher);
            happened(events, hasher);
        }
        Phase::Executing {
            observation,
            effects,
            next,
            waiting,
            events,
        } => {
            seen(world, observation, hasher);
            waiting.hash(hasher);
            todo(world, &effects[*next..], hasher);
            happened(events, hasher);
        }
    }
    hasher.finish()
}

fn seen<H: Hasher>(world: &World, observation: &Observation, hasher: &mut H) {
    let behind = !Arc::ptr_eq(&observation.version, &world.head);
    behind.hash(hasher);
    if behind {
        return;
    }
    age(world.now, observation.taken_at).hash(hasher);
    observation.pulls.len().hash(hasher);
    let Listing::Taken(listing) = &*observation.listing else {
        return;
    };
    // A listing counts by how long after an intent it was taken.
    for at in &observation.version.times {
        age(observation.taken_at, *at).hash(hasher);
    }
    listing.archived.hash(hasher);
    listing
        .since
        .map(|since| age(world.now, since))
        .hash(hasher);
    for session in &listing.sessions {
        session.id.as_str().hash(hasher);
        session.archived.hash(hasher);
        session.state.is_live().hash(hasher);
    }
}

fn todo<H: Hasher>(world: &World, effects: &[Effect], hasher: &mut H) {
    for effect in effects {
        effect.name().hash(hasher);
        match effect {
            Effect::CreateSession(create) => {
                create.marker.to_string().hash(hasher);
                age(world.now, create.not_after).hash(hasher);
            }
            Effect::ArchiveSession { session } => session.as_str().hash(hasher),
            Effect::OpenNotice { key, .. } => NoticeKey::to_string(key).hash(hasher),
            Effect::CloseNotice { number, .. } => number.hash(hasher),
            Effect::SendMessage { .. }
            | Effect::NotifyPullSession { .. }
            | Effect::ApprovePlan { .. }
            | Effect::MarkReady { .. }
            | Effect::MergePull { .. }
            | Effect::RemindPeople { .. }
            | Effect::AddLabel { .. }
            | Effect::CommentOnPull { .. }
            | Effect::RetargetPull { .. }
            | Effect::ClosePull { .. }
            | Effect::AddReaction { .. }
            | Effect::RemoveLabel { .. }
            | Effect::WriteStatus { .. }
            | Effect::PublishProposal { .. }
            | Effect::OpenWorkItem { .. }
            | Effect::CloseWorkItem { .. }
            | Effect::OpenDashboard { .. }
            | Effect::EditDashboard { .. } => {}
        }
    }
}

pub(crate) fn happened<H: Hasher>(events: &[Event], hasher: &mut H) {
    for event in events {
        match event {
            Event::SessionCreated { session, .. } => session.id.as_str().hash(hasher),
            Event::SessionNotCreated {
                marker, failure, ..
            } => {
                marker.to_string().hash(hasher);
                std::mem::discriminant::<CreateFailure>(failure).hash(hasher);
            }
            Event::StatusWritten { comment_id, .. } => comment_id.hash(hasher),
            Event::PullNotified { marker, .. } => marker.hash(hasher),
            Event::PullMarkedReady { pull }
            | Event::LabelAdded { pull }
            | Event::PullClosed { pull } => pull.hash(hasher),
            Event::PullMerged { request }
            | Event::MergeRefused { request, .. }
            | Event::MergePostponed { request, .. } => {
                request.hash(hasher);
            }
            Event::DashboardOpened { number }
            | Event::WorkItemClosed { number }
            | Event::WorkItemOpened { number, .. }
            | Event::ProposalPublished { number, .. } => {
                number.hash(hasher);
            }
            Event::EffectFailed { effect, .. } => effect.hash(hasher),
            Event::EffectRefused { key } => key.hash(hasher),
        }
    }
}
