//! Runs the real engine once for each different input.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use phileas_domain::engine::{Decision, Event, Listing, decide};

use crate::key::happened;
use crate::ledger::Version;
use crate::observe::{observe, snapshot};
use crate::steps::{Pause, Protocol};
use crate::watch::waking;
use crate::world::{Observation, World};

/// What was read, what was decided, and the resulting version.
#[derive(Debug)]
pub(crate) struct Thought {
    pub(crate) observation: Observation,
    pub(crate) decision: Decision,
    pub(crate) version: Option<Arc<Version>>,
    /// A rule that the decision breaks.
    pub(crate) wrong: Option<&'static str>,
}

/// Decisions, by a digest of everything that they depend on.
pub(crate) type Thoughts = Mutex<BTreeMap<u64, Arc<Thought>>>;

impl Protocol {
    /// A process reads and decides.
    pub(crate) fn think_afresh(
        &self,
        world: &World,
        actor: usize,
        hidden: u32,
        pause: Pause,
        events: &[Event],
    ) -> Arc<Thought> {
        let mut question = DefaultHasher::new();
        self.circumstances(world, actor, events, &mut question);
        world.head.digest.hash(&mut question);
        world.head.number.hash(&mut question);
        (hidden, pause.looked.as_secs(), pause.decided.as_secs()).hash(&mut question);
        for made in &world.sessions {
            made.session.id.as_str().hash(&mut question);
            (made.arrived_at, made.session.archived, made.is_live()).hash(&mut question);
        }
        self.once(question.finish(), || {
            let actor = &world.actors[actor];
            let observation = observe(&self.blank, world, actor, hidden, pause.looked);
            let mut then = world.clone();
            then.now = world.now.checked_sub(pause.decided).unwrap();
            let decision = decide(&snapshot(&self.blank, &then, actor, &observation), events);
            (then.now, observation, decision)
        })
    }

    /// A process decides again on what it read before its effects.
    pub(crate) fn think_again(
        &self,
        world: &World,
        actor: usize,
        observation: &Observation,
        events: &[Event],
    ) -> Arc<Thought> {
        let mut question = DefaultHasher::new();
        self.circumstances(world, actor, events, &mut question);
        observation.version.digest.hash(&mut question);
        observation.version.number.hash(&mut question);
        (observation.taken_at, &observation.pulls).hash(&mut question);
        if let Listing::Taken(listing) = &*observation.listing {
            (listing.since, listing.archived).hash(&mut question);
            for session in &listing.sessions {
                session.id.as_str().hash(&mut question);
                (
                    session.created_at,
                    session.archived,
                    session.state.is_live(),
                )
                    .hash(&mut question);
            }
        }
        self.once(question.finish(), || {
            let snapshot = snapshot(&self.blank, world, &world.actors[actor], observation);
            (world.now, observation.clone(), decide(&snapshot, events))
        })
    }

    fn circumstances<H: Hasher>(
        &self,
        world: &World,
        actor: usize,
        events: &[Event],
        question: &mut H,
    ) {
        (world.now, world.pushes).hash(question);
        world.actors[actor].holder.as_str().hash(question);
        for notice in &world.notices {
            (notice.number, notice.key.as_str()).hash(question);
        }
        happened(events, question);
    }

    fn once(
        &self,
        question: u64,
        think: impl FnOnce() -> (Timestamp, Observation, Decision),
    ) -> Arc<Thought> {
        if let Some(known) = self.thoughts.lock().unwrap().get(&question) {
            return Arc::clone(known);
        }
        let (now, observation, decision) = think();
        let change = decision.change.as_ref();
        let version =
            change.map(|change| Arc::new(observation.version.after((*change.state).clone())));
        let wrong = waking(now, observation.version.state(), &decision);
        let thought = Arc::new(Thought {
            wrong,
            observation,
            decision,
            version,
        });
        let mut known = self.thoughts.lock().unwrap();
        known.insert(question, Arc::clone(&thought));
        thought
    }
}
