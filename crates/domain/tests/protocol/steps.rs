//! Defines the steps of the world around the real `decide`. What the runtime does in sequence is one step each here, so
//! that anything may happen in between.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    CreateFailure, CreateSession, Effect, Event, Ledger, Listing, Notice, Session, SessionState,
    Snapshot,
};
use phileas_domain::model::{PullNumber, SessionId};
use phileas_domain::state::invariant;

use crate::observe;
use crate::think::{Thought, Thoughts};
use crate::watch;
use crate::world::{Made, Phase, Request, World};

/// The resolution of time: within the deadline (0), past it (7.5 min), at the end of the grace and later (15 min).
pub(crate) const STEP: SignedDuration = SignedDuration::from_secs(450);
/// No pause; one past the grace before deciding; pauses past the deadline and past the grace before committing.
const PAUSES: [Pause; 4] = [
    pause(SignedDuration::ZERO, SignedDuration::ZERO),
    pause(STEP, STEP),
    pause(SignedDuration::from_mins(15), SignedDuration::ZERO),
    pause(SignedDuration::from_mins(15), SignedDuration::from_mins(15)),
];

const fn pause(looked: SignedDuration, decided: SignedDuration) -> Pause {
    Pause { looked, decided }
}

/// The grace minus the validity of an intent: within this time after the check of the deadline, a complete listing
/// taken after the grace is still too early to be trusted.
pub(crate) const SEEN_AFTER: SignedDuration = SignedDuration::from_mins(13);
/// How far Jules' clock is behind GitHub's; the engine tolerates two minutes.
const JULES_BEHIND: SignedDuration = SignedDuration::from_secs(90);

/// Neither budgets nor inactivity end a turn here.
const AMPLE: &str = "[defaults]\nabandon_after = \"720h\"\n[budget]\nmax_active = 50\ndaily_sessions = 1000\n\
    max_open_pulls = 100\nkey_daily = 1000\nkey_active = 100\nreserve_for_people = 0\n";

/// The model: a plan, the number of faults, and everything that stays constant.
pub(crate) struct Protocol {
    pub(crate) blank: Snapshot,
    pub(crate) start: Timestamp,
    pub(crate) faults: u8,
    /// The window that cannot be closed: for one fault, a listing lacks a session, or a request is delayed, for longer
    /// than [`SEEN_AFTER`].
    pub(crate) beyond_grace: bool,
    /// Whether sessions end, so that a track continues with its next turn.
    pub(crate) sessions_end: bool,
    /// A cache of decisions: the engine is deterministic.
    pub(crate) thoughts: Thoughts,
    /// Worlds that are known to settle.
    pub(crate) settling: Mutex<BTreeSet<u64>>,
}

/// How long before the commit the process has read, and decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pause {
    pub(crate) looked: SignedDuration,
    pub(crate) decided: SignedDuration,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Time passes.
    Pass,
    /// A process reads, decides and commits. The listing lacks the sessions of the bits of `hidden`.
    Tick {
        actor: usize,
        hidden: u32,
        pause: Pause,
    },
    /// A process decides again with the events of its effects, and commits.
    Settle(usize),
    /// A process executes its next effect; for a create this is the check of the deadline and the call.
    Next(usize),
    /// A request arrives and creates a session; its owner gets the response if it still waits.
    Arrive(usize),
    /// A request without an owner is lost.
    Vanish(usize),
    /// Jules answers a request with 429.
    Refuse(usize),
    /// A process stops waiting for the response.
    GiveUp(usize),
    /// A process crashes and forgets everything.
    Crash(usize),
    /// A session ends with a pull request.
    End(usize),
}

impl Step {
    /// A tick that reads everything as it is.
    pub(crate) fn tick(actor: usize) -> Self {
        let pause = PAUSES[0];
        Self::Tick {
            actor,
            hidden: 0,
            pause,
        }
    }
}

impl Protocol {
    pub(crate) fn new(schedules: &str, faults: u8, beyond_grace: bool, sessions_end: bool) -> Self {
        let schedules = format!("{schedules}{AMPLE}");
        let start = "2026-01-05T00:00:00Z".parse().unwrap();
        Self {
            blank: observe::blank(&schedules, start),
            start,
            faults,
            beyond_grace,
            sessions_end,
            thoughts: Thoughts::default(),
            settling: Mutex::default(),
        }
    }

    pub(crate) fn init(&self) -> World {
        World::new(self.start, self.faults)
    }

    /// All possible steps.
    pub(crate) fn possible(&self, world: &World, steps: &mut Vec<Step>) {
        if self.price_of_time(world) <= world.faults {
            steps.push(Step::Pass);
        }
        let mut asleep = 0;
        for (actor, one) in world.actors.iter().enumerate() {
            match &one.phase {
                Phase::Asleep => {
                    // All sleeping processes are alike.
                    if asleep == 0 {
                        self.add_observations(world, actor, steps);
                    }
                    asleep += 1;
                }
                Phase::Beaten { .. } => self.add_observations(world, actor, steps),
                Phase::Informed { .. } => steps.push(Step::Settle(actor)),
                Phase::Executing { waiting: false, .. } => steps.push(Step::Next(actor)),
                Phase::Executing { waiting: true, .. } if world.faults > 0 => {
                    steps.push(Step::GiveUp(actor));
                }
                Phase::Executing { .. } => {}
            }
            if world.faults > 0 && !matches!(one.phase, Phase::Asleep) {
                steps.push(Step::Crash(actor));
            }
        }
        for (index, request) in world.wire.iter().enumerate() {
            steps.push(Step::Arrive(index));
            if request.owner.is_none() {
                steps.push(Step::Vanish(index));
            } else if world.faults > 0 {
                steps.push(Step::Refuse(index));
            }
        }
        if self.sessions_end {
            let live = world.sessions.iter().enumerate();
            steps.extend(
                live.filter(|(_, made)| made.is_live())
                    .map(|(index, _)| Step::End(index)),
            );
        }
    }

    /// A tick for each set of sessions that a listing may lack, now and before a pause. What was read before the head
    /// last moved cannot win a commit.
    fn add_observations(&self, world: &World, actor: usize, steps: &mut Vec<Step>) {
        for pause in PAUSES {
            let ago = pause.looked;
            if ago > SignedDuration::ZERO && world.faults == 0 {
                return;
            }
            if ago > world.age(world.moved_at) {
                continue;
            }
            let young: Vec<usize> = world
                .sessions
                .iter()
                .enumerate()
                .filter(|(_, made)| world.age(made.arrived_at) >= ago)
                .filter(|(_, made)| made.is_live() || !world.is_known(made))
                .filter(|(_, made)| {
                    let lags = world.age(made.checked_at) - ago < SEEN_AFTER;
                    lags || (self.beyond_grace && world.faults > u8::from(pause != PAUSES[0]))
                })
                .map(|(index, _)| index)
                .collect();
            for choice in 0..1_u32 << young.len() {
                let hidden = young
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| choice & (1 << place) != 0)
                    .fold(0, |hidden, (_, index)| hidden | (1 << index));
                steps.push(Step::Tick {
                    actor,
                    hidden,
                    pause,
                });
            }
        }
    }

    /// The world after a step.
    ///
    /// `None`: it would be the same, because a process reads and has nothing to do.
    pub(crate) fn after(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Pass => {
                next.faults = next.faults.saturating_sub(self.price_of_time(world));
                next.now = next.now.checked_add(STEP).unwrap();
            }
            Step::Tick {
                actor,
                hidden,
                pause,
            } => {
                let too_late = |(index, made): (usize, &Arc<Made>)| {
                    hidden & (1 << index) != 0
                        && world.age(made.checked_at) - pause.looked >= SEEN_AFTER
                };
                let beyond = world.sessions.iter().enumerate().any(too_late);
                next.faults -= u8::from(pause != PAUSES[0]) + u8::from(beyond);
                self.tick(&mut next, actor, hidden, pause);
                let idle = |world: &World| matches!(world.actors[actor].phase, Phase::Asleep);
                let moved = next.head.number != world.head.number;
                if !moved && idle(world) && idle(&next) && next.broken.is_none() {
                    return None;
                }
            }
            Step::Settle(actor) => self.settle(&mut next, actor),
            Step::Next(actor) => carry_out(&mut next, actor),
            Step::Arrive(index) => arrive(&mut next, index),
            Step::Vanish(index) => {
                next.wire.remove(index);
            }
            Step::Refuse(index) => {
                next.faults -= 1;
                let request = next.wire.remove(index);
                let failure = CreateFailure::Quota { retry_at: None };
                answer(&mut next, &request, not_created(&request.create, failure));
            }
            Step::GiveUp(actor) => {
                next.faults -= 1;
                let place = next.wire.iter().position(|one| one.owner == Some(actor));
                let index = place.expect("who waits has sent a request");
                let request = next.wire[index].clone();
                next.wire[index].owner = None;
                let detail = "no answer".to_owned();
                let event = not_created(&request.create, CreateFailure::Unknown { detail });
                answer(&mut next, &request, event);
            }
            Step::Crash(actor) => {
                next.faults -= 1;
                next.actors[actor].phase = Phase::Asleep;
                for request in &mut next.wire {
                    if request.owner == Some(actor) {
                        request.owner = None;
                    }
                }
            }
            Step::End(index) => end(&mut next, index),
        }
        Some(next)
    }

    /// The cost in faults of passing time. A process that misses the deadline of its next create stalls, which is a
    /// fault; otherwise a turn could have attempts for ever. A request that is delayed for longer than allowed is a
    /// fault, too, or impossible.
    fn price_of_time(&self, world: &World) -> u8 {
        let stalls = world.actors.iter().filter(|actor| match &actor.phase {
            Phase::Executing {
                effects,
                next,
                waiting: false,
                ..
            } => {
                matches!(&effects[*next], Effect::CreateSession(create) if world.now < create.not_after)
            }
            _ => false,
        });
        let late = world
            .wire
            .iter()
            .any(|request| world.age(request.checked_at) + STEP >= SEEN_AFTER);
        let stalls = u8::try_from(stalls.count()).expect("three at most");
        match (late, self.beyond_grace) {
            (false, _) => stalls,
            (true, true) => stalls + 1,
            (true, false) => u8::MAX,
        }
    }

    fn tick(&self, world: &mut World, actor: usize, hidden: u32, pause: Pause) {
        let events = match std::mem::replace(&mut world.actors[actor].phase, Phase::Asleep) {
            Phase::Beaten { events } => events,
            _ => {
                rename(world, actor);
                Vec::new()
            }
        };
        let thought = self.think_afresh(world, actor, hidden, pause, &events);
        commit(world, actor, events, &thought);
    }

    fn settle(&self, world: &mut World, actor: usize) {
        let phase = std::mem::replace(&mut world.actors[actor].phase, Phase::Asleep);
        let Phase::Informed {
            observation,
            events,
        } = phase
        else {
            unreachable!("only who has news decides again");
        };
        let thought = self.think_again(world, actor, &observation, &events);
        commit(world, actor, events, &thought);
    }
}

/// A new run has a name that no intent contains.
fn rename(world: &mut World, actor: usize) {
    loop {
        let run = world.actors[actor].holder.as_str();
        if world.head.holders.iter().all(|holder| holder != run) {
            return;
        }
        let (name, number) = run.split_once(':').expect("a name and a number");
        let number: u32 = number.parse().expect("a number");
        world.actors[actor].holder = format!("{name}:{}", number + 1).into();
    }
}

/// Compare-and-swap: the commit wins only on the head that was read.
fn commit(world: &mut World, actor: usize, events: Vec<Event>, thought: &Thought) {
    if let Some(wrong) = thought.wrong {
        world.breaks(wrong);
    }
    let mut observation = thought.observation.clone();
    if let (Some(change), Some(version)) = (&thought.decision.change, &thought.version) {
        if change.base.as_ref() != world.head.head() {
            // The events of effects are kept only if there are any.
            world.actors[actor].phase = if events.is_empty() {
                Phase::Asleep
            } else {
                Phase::Beaten { events }
            };
            return;
        }
        let mut broken = invariant::check_state(&change.state);
        if let Ledger::Present { state, .. } = &world.head.ledger {
            broken.extend(invariant::check_step(state, &change.state));
            watch::attempts(world, state.clone(), &change.state, &observation, &events);
        }
        if let Some(first) = broken.first() {
            world.breaks(format!("invariant: {first}"));
        }
        world.head = Arc::clone(version);
        world.moved_at = world.now;
        observation.version = Arc::clone(version);
    }
    let effects = &thought.decision.effects;
    world.actors[actor].phase = if effects.is_empty() {
        Phase::Asleep
    } else {
        Phase::Executing {
            observation,
            effects: Arc::from(effects.as_slice()),
            next: 0,
            waiting: false,
            events: Vec::new(),
        }
    };
}

/// The next effect. A create is only sent here; its arrival is another step.
fn carry_out(world: &mut World, actor: usize) {
    let Phase::Executing { effects, next, .. } = &world.actors[actor].phase else {
        unreachable!("only who has committed acts");
    };
    let effect = effects[*next].clone();
    match effect {
        Effect::CreateSession(create) if world.now >= create.not_after => {
            let detail = "the intent's time was over".to_owned();
            let event = not_created(&create, CreateFailure::NotSent { detail });
            done(world, actor, Some(event));
        }
        Effect::CreateSession(create) => {
            world.wire.push(Request {
                create: Arc::from(create),
                checked_at: world.now,
                owner: Some(actor),
            });
            if let Phase::Executing { waiting, .. } = &mut world.actors[actor].phase {
                *waiting = true;
            }
        }
        Effect::ArchiveSession { session } => {
            for made in &mut world.sessions {
                if made.session.id == session {
                    Arc::make_mut(made).session.archived = true;
                }
            }
            done(world, actor, None);
        }
        Effect::OpenNotice { key, title, .. } => {
            let key = key.to_string();
            watch::notice(world, &key);
            if world.notices.iter().all(|notice| notice.key != key) {
                let number = world.notices.len() as u64 + 1;
                world.notices.push(Notice { number, key, title });
            }
            done(world, actor, None);
        }
        Effect::CloseNotice { number, .. } => {
            world.notices.retain(|notice| notice.number != number);
            done(world, actor, None);
        }
        Effect::SendMessage { .. }
        | Effect::PublishProposal { .. }
        | Effect::OpenWorkItem { .. }
        | Effect::CloseWorkItem { .. }
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
        | Effect::OpenDashboard { .. }
        | Effect::EditDashboard { .. } => {
            done(world, actor, None);
        }
    }
}

/// An effect is finished; after the last one the process decides again if there are events.
fn done(world: &mut World, actor: usize, event: Option<Event>) {
    let phase = std::mem::replace(&mut world.actors[actor].phase, Phase::Asleep);
    let Phase::Executing {
        observation,
        effects,
        next,
        mut events,
        ..
    } = phase
    else {
        unreachable!("only who acts is done");
    };
    events.extend(event);
    let next = next + 1;
    world.actors[actor].phase = if next < effects.len() {
        Phase::Executing {
            observation,
            effects,
            next,
            waiting: false,
            events,
        }
    } else if events.is_empty() {
        Phase::Asleep
    } else {
        Phase::Informed {
            observation,
            events,
        }
    };
}

/// Delivers a response to its owner, if there still is one.
fn answer(world: &mut World, request: &Request, event: Event) {
    if let Some(actor) = request.owner {
        done(world, actor, Some(event));
    }
}

fn arrive(world: &mut World, index: usize) {
    let request = world.wire.remove(index);
    let create = &request.create;
    let before = world
        .sessions
        .iter()
        .filter(|made| made.marker == create.marker)
        .count();
    if before > 0 {
        world.breaks(format!("two sessions of {}", create.marker));
    }
    let session = Session {
        id: SessionId::new(format!("{}-{before}", create.marker)),
        state: SessionState::InProgress,
        title: create.title.clone(),
        prompt: Some(create.prompt.clone()),
        source: Some(create.source.clone()),
        elsewhere: false,
        created_at: world.now.checked_sub(JULES_BEHIND).unwrap(),
        updated_at: Some(world.now),
        archived: false,
        pulls: Vec::new(),
        has_changes: false,
    };
    world.sessions.push(Arc::new(Made {
        session: session.clone(),
        marker: create.marker.clone(),
        checked_at: request.checked_at,
        arrived_at: world.now,
    }));
    let event = Event::SessionCreated {
        track: create.track.clone(),
        slot: create.slot.clone(),
        marker: create.marker.clone(),
        session,
    };
    answer(world, &request, event);
}

fn not_created(create: &CreateSession, failure: CreateFailure) -> Event {
    Event::SessionNotCreated {
        track: create.track.clone(),
        slot: create.slot.clone(),
        marker: create.marker.clone(),
        failure,
    }
}

/// A session ends with a pull request that has its number.
fn end(world: &mut World, index: usize) {
    let number = PullNumber(index as u64 + 1);
    let session = &mut Arc::make_mut(&mut world.sessions[index]).session;
    session.state = SessionState::Completed;
    session.has_changes = true;
    session.pulls.push(number);
}

/// Whether a listing can prove that a session does not exist.
pub(crate) fn complete(listing: &Listing, since: Timestamp, taken_after: Timestamp) -> bool {
    matches!(listing, Listing::Taken(taken) if taken.covers(since) && taken.taken_at >= taken_after)
}
