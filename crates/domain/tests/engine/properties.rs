//! Tests properties of random sequences of people's actions, sessions, failures and clocks.
//!
//! Every tick of the scenario checks that the decision is deterministic, that its reads converge, and that each commit
//! keeps the invariants.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    Assumptions, Event, Ledger, Listing, PullState, RunRequest, Session, SessionState, decide,
    simulate,
};
use phileas_domain::model::{Marker, SessionId, TrackName};
use phileas_domain::plan::SCHEDULES_PATH;
use phileas_domain::prompt::InProcess;
use phileas_domain::state::{Pause, ScheduleState, State};
use proptest::prelude::*;

use crate::support::scenario::{Answering, Scenario};

const PERSONAS: [&str; 4] = ["a", "b", "c", "d"];
const MAX_ACTIVE: usize = 2;
const DAILY: usize = 5;
/// The reserve for people's requests.
const RESERVE: usize = 2;
/// Within so many ticks at one instant everything is done that can be done.
const MAX_TICKS: usize = 4;
/// The plans that people change between. Their budgets are the same: a smaller one does not end what runs.
const PLANS: [&str; 5] = [
    "cycle = [\"a\", \"b\", \"c\"]\n",
    "cycle = [\"a\", \"b\", \"a\", \"absent\"]\n[schedules]\nc = \"0 */2 * * *\"\n[defaults]\nskip_unchanged = false\nretry = 1\n[novelty]\nplan = true\navoid_overlap = true\ncount_merged = \"2d\"\n",
    "[tracks]\none = [\"a\", \"b\"]\ntwo = [\"b\", \"c\"]\nthree = [\"d\"]\n[defaults]\nadvance_on = \"merged\"\nskip_unchanged = false\n",
    "[tracks.night]\nsteps = [\"a\", \"d\"]\nstart = \"30 */3 * * *\"\n[schedules.b]\ncron = \"*/30 * * * *\"\ncatch_up = \"all\"\n[schedules.c]\ncron = \"0 * * * *\"\ncatch_up = \"none\"\n[defaults]\nskip_unchanged = false\nplan_approval = \"writers\"\n",
    "[defaults]\nmode = \"observe\"\n",
];

/// Something that happens.
#[derive(Debug, Clone)]
enum WorldEvent {
    Minutes(i64),
    /// The clock is put forward or back.
    Jump(i64),
    Tick(Answering),
    /// A person requests a persona, a track, or all.
    Asks(usize),
    Session(usize, SessionState),
    OpensPull(usize),
    Decides(usize, PullState),
    /// A person archives a session.
    Archives(usize),
    /// A person deletes a session that the ledger knows.
    Deletes(usize),
    Push,
    Listings(bool),
    Plan(usize),
    /// A persona's file goes, or comes back.
    Persona(usize),
    Cancels,
    Pauses(bool),
    /// The answer to a create comes so late that another process has ticked meanwhile.
    Raced,
    /// A create's answer is lost, and no listing shows the session, for however long.
    Vanishes,
    /// Listings show what they did not.
    Appears,
}

fn world_event(jumps: bool) -> impl Strategy<Value = WorldEvent> {
    let answering = prop_oneof![
        6 => Just(Answering::Session),
        1 => Just(Answering::Lost),
        1 => Just(Answering::LostBefore),
        1 => Just(Answering::Quota),
        1 => Just(Answering::Refused),
        1 => Just(Answering::Dies),
    ];
    let state = prop_oneof![
        Just(SessionState::InProgress),
        Just(SessionState::AwaitingPlanApproval),
        Just(SessionState::AwaitingUserFeedback),
        Just(SessionState::Paused),
        Just(SessionState::Completed),
        Just(SessionState::Failed),
        Just(SessionState::Unknown("DREAMING".to_owned())),
    ];
    let pull = prop_oneof![2 => Just(PullState::Merged), 1 => Just(PullState::Closed)];
    let clock = if jumps { -120..=120_i64 } else { 0..=1 };
    // Doubles are outside the budget of a day, which is watched where the clock goes straight.
    let straight = |happening| if jumps { happening } else { WorldEvent::Push };
    prop_oneof![
        6 => (0..=90_i64).prop_map(WorldEvent::Minutes),
        1 => (0..=2_000_i64).prop_map(WorldEvent::Minutes),
        2 => clock.prop_map(WorldEvent::Jump),
        8 => answering.prop_map(WorldEvent::Tick),
        1 => (0..7_usize).prop_map(WorldEvent::Asks),
        3 => (0..4_usize, state).prop_map(|(index, state)| WorldEvent::Session(index, state)),
        4 => (0..4_usize).prop_map(WorldEvent::OpensPull),
        3 => (0..4_usize, pull).prop_map(|(index, state)| WorldEvent::Decides(index, state)),
        1 => (0..3_usize).prop_map(WorldEvent::Archives),
        1 => (0..3_usize).prop_map(WorldEvent::Deletes),
        2 => Just(WorldEvent::Push),
        1 => any::<bool>().prop_map(WorldEvent::Listings),
        1 => (0..PLANS.len()).prop_map(WorldEvent::Plan),
        1 => (0..PERSONAS.len()).prop_map(WorldEvent::Persona),
        1 => Just(WorldEvent::Cancels),
        1 => any::<bool>().prop_map(WorldEvent::Pauses),
        1 => Just(WorldEvent::Raced),
        1 => Just(straight(WorldEvent::Vanishes)),
        1 => Just(straight(WorldEvent::Appears)),
    ]
}

/// One persona works on what all pull requests change.
fn frontmatter(id: &str) -> &'static str {
    match id {
        "c" => "paths: [\"src/**\"]",
        _ => "emoji: \"🔧\"",
    }
}

/// A scenario, and what is remembered beside it.
struct ObservedScenario {
    scenario: Scenario,
    /// Every session that was ever created, and when.
    created: BTreeMap<SessionId, Timestamp>,
    /// Sessions that no listing shows.
    hidden: Vec<Session>,
    jumps: bool,
    before: State,
}

impl ObservedScenario {
    fn new(plan: usize, jumps: bool) -> Self {
        let mut scenario = Scenario::new(PLANS[plan], &PERSONAS);
        for id in PERSONAS {
            scenario.persona(id, frontmatter(id));
        }
        Self {
            scenario,
            created: BTreeMap::new(),
            hidden: Vec::new(),
            jumps,
            before: State::default(),
        }
    }

    fn state(&self) -> State {
        match &self.scenario.ledger {
            Ledger::Present { state, .. } => (**state).clone(),
            Ledger::Missing { .. } | Ledger::Corrupt { .. } => State::default(),
        }
    }

    /// The index of the newest but `back` session that has not ended.
    fn live(&self, back: usize) -> Option<usize> {
        let live = self.scenario.sessions.iter().enumerate().rev();
        live.filter(|(_, session)| session.state.is_live() && !session.archived)
            .map(|(index, _)| index)
            .nth(back)
    }

    fn happens(&mut self, happening: WorldEvent) {
        let scenario = &mut self.scenario;
        match happening {
            WorldEvent::Minutes(minutes) | WorldEvent::Jump(minutes) => scenario.minutes(minutes),
            WorldEvent::Tick(answering) => {
                scenario.answering = answering;
                self.tick();
            }
            WorldEvent::Asks(what) => {
                scenario.answering = Answering::Session;
                scenario.ask = match what {
                    0..=3 => RunRequest::Persona(PERSONAS[what].into()),
                    4 => RunRequest::Track("one".into()),
                    5 => RunRequest::Track("night".into()),
                    _ => RunRequest::All,
                };
                self.tick();
                self.scenario.ask = RunRequest::Due;
            }
            WorldEvent::Session(back, state) => {
                if let Some(index) = self.live(back) {
                    // The scenario's answer is about the newest one.
                    let last = self.scenario.sessions.len() - 1;
                    self.scenario.sessions.swap(index, last);
                    self.scenario.becomes(state);
                    self.scenario.sessions.swap(index, last);
                }
            }
            WorldEvent::OpensPull(back) => {
                if let Some(index) = self.live(back) {
                    self.scenario.opens_pull_of(index);
                }
            }
            WorldEvent::Decides(back, state) => {
                let open = scenario.pulls.values().rev();
                let number = open
                    .filter(|pull| pull.state == PullState::Open)
                    .map(|pull| pull.number)
                    .nth(back);
                match (number, state) {
                    (Some(number), PullState::Merged) => scenario.merge(number),
                    (Some(number), _) => scenario.close(number),
                    (None, _) => {}
                }
            }
            WorldEvent::Archives(back) => {
                if let Some(index) = self.live(back) {
                    let session = &mut self.scenario.sessions[index];
                    session.archived = true;
                    session.state = SessionState::Paused;
                }
            }
            WorldEvent::Deletes(back) => {
                let known = |id: &SessionId| self.before.entry_of_session(id).is_some();
                let index = self
                    .live(back)
                    .filter(|at| known(&self.scenario.sessions[*at].id));
                if let Some(index) = index {
                    self.scenario.sessions.remove(index);
                }
            }
            WorldEvent::Push => scenario.push(),
            WorldEvent::Listings(work) => scenario.listing_works = work,
            WorldEvent::Plan(index) => {
                let plan = PLANS[index].to_owned();
                scenario.files.insert(SCHEDULES_PATH.to_owned(), plan);
            }
            WorldEvent::Persona(index) => {
                let id = PERSONAS[index];
                let path = format!(".jules/personas/{id}/prompt.md");
                if scenario.files.remove(&path).is_none() {
                    scenario.persona(id, frontmatter(id));
                }
            }
            WorldEvent::Cancels => self.edit(|state| {
                let mut turns = state
                    .tracks
                    .values_mut()
                    .flat_map(|track| track.turns.values_mut());
                if let Some(turn) = turns.next() {
                    turn.cancel = true;
                }
            }),
            WorldEvent::Pauses(paused) => self.edit(|state| {
                state.paused = paused.then(Pause::default);
            }),
            WorldEvent::Raced => self.raced(),
            WorldEvent::Vanishes => {
                let known = scenario.sessions.len();
                scenario.answering = Answering::Lost;
                scenario.tick();
                let hidden = scenario.sessions.split_off(known);
                self.hidden.extend(hidden);
            }
            WorldEvent::Appears => {
                let hidden = std::mem::take(&mut self.hidden);
                self.scenario.sessions.extend(hidden);
                self.scenario.answering = Answering::Session;
                self.order_does_not_matter();
                self.tick();
            }
        }
    }

    /// A command of a person, by a commit of its own.
    fn edit(&mut self, change: impl FnOnce(&mut State)) {
        if let Ledger::Present { state, .. } = &mut self.scenario.ledger {
            change(state);
        }
        self.before = self.state();
    }

    fn tick(&mut self) {
        self.scenario.tick();
        self.check();
        // The same facts again: whatever was to be done is done.
        self.scenario.answering = Answering::Session;
        let ask = std::mem::take(&mut self.scenario.ask);
        let mut commits = 0;
        for _ in 0..MAX_TICKS {
            commits = self.scenario.headlines.len();
            self.scenario.tick();
            self.check();
            if self.scenario.headlines.len() == commits && self.scenario.effects.is_empty() {
                break;
            }
        }
        self.scenario.tick();
        self.check();
        assert_eq!(
            self.scenario.headlines[commits..],
            [""; 0],
            "nothing changes, and it is written all the same"
        );
        assert_eq!(self.scenario.effects, []);
        self.scenario.ask = ask;
        self.order_does_not_matter();
    }

    /// Jules promises no order of its listing.
    fn order_does_not_matter(&mut self) {
        let snapshot = self.scenario.full_snapshot();
        let mut reversed = snapshot.clone();
        if let Listing::Taken(listing) = &mut reversed.sessions {
            listing.sessions.reverse();
        }
        assert_eq!(decide(&snapshot, &[]), decide(&reversed, &[]));
    }

    /// A create's answer comes after another process found the session.
    fn raced(&mut self) {
        let sessions = self.scenario.sessions.len();
        self.scenario.answering = Answering::Lost;
        self.tick();
        let made: Vec<_> =
            self.scenario.sessions[sessions.min(self.scenario.sessions.len())..].to_vec();
        self.scenario.answering = Answering::Session;
        self.tick();
        let before = self.state();
        for session in made {
            let line = Marker::from_prompt(session.prompt.as_deref().unwrap()).unwrap();
            if before.entry_of_session(&session.id).is_none() {
                continue;
            }
            let event = Event::SessionCreated {
                track: line.track,
                slot: line.slot,
                marker: line.marker,
                session,
            };
            let decision = decide(&self.scenario.full_snapshot(), &[event]);
            assert_eq!(decision.change, None, "what is known already is no news");
        }
    }

    fn check(&mut self) {
        let state = self.state();
        for session in &self.scenario.sessions {
            self.created
                .entry(session.id.clone())
                .or_insert(session.created_at);
        }
        let keys: Vec<u64> = state.history.keys().copied().collect();
        assert_eq!(keys, (0..keys.len() as u64).collect::<Vec<_>>());
        let turns: Vec<_> = state
            .tracks
            .values()
            .flat_map(|track| track.turns.values())
            .collect();
        let personas: BTreeSet<_> = turns.iter().map(|turn| &turn.persona_id).collect();
        assert_eq!(personas.len(), turns.len(), "a persona has two live turns");
        let live = turns
            .iter()
            .filter(|turn| match &turn.session_id {
                Some(id) => self
                    .scenario
                    .sessions
                    .iter()
                    .any(|one| one.id == *id && one.state.is_live()),
                None => turn.intent.is_some(),
            })
            .count();
        // A session that shows up late is taken although another one has its place meanwhile.
        assert!(self.jumps || live <= MAX_ACTIVE, "{live} sessions are live");
        let markers: Vec<_> = self
            .scenario
            .sessions
            .iter()
            .filter_map(|session| Marker::from_title(&session.title))
            .collect();
        let different: BTreeSet<_> = markers.iter().collect();
        assert_eq!(
            different.len(),
            markers.len(),
            "two sessions of one attempt"
        );
        if !self.jumps {
            for at in self.created.values() {
                let day = self.created.values().filter(|other| {
                    let since = at.duration_since(**other);
                    !since.is_negative() && since < SignedDuration::from_hours(24)
                });
                assert!(
                    day.count() <= DAILY + RESERVE,
                    "too many sessions in the day before {at}"
                );
            }
        }
        self.clocks(&state);
        let wake_at = self.scenario.wake_at.expect("a process comes back");
        assert!(wake_at >= self.scenario.now);
        self.before = state;
    }

    /// A slot is answered once, however the clock jumps.
    fn clocks(&self, state: &State) {
        let fired = |state: &State, name: &str| {
            state
                .schedules
                .get(name)
                .and_then(|one: &ScheduleState| one.last_fired)
        };
        for name in state.schedules.keys() {
            let (was, is) = (fired(&self.before, name), fired(state, name));
            assert!(was <= is, "{name}: from {was:?} back to {is:?}");
            let track = TrackName::from(format!("schedule:{name}").as_str());
            let turns = |state: &State| state.tracks.get(&track).map_or(0, |track| track.seq);
            if turns(state) > turns(&self.before) {
                assert!(was < is, "{name} fired twice at {is:?}");
            }
        }
        for (name, track) in &self.before.tracks {
            if let Some(next) = state.tracks.get(name) {
                assert!(
                    track.last_started <= next.last_started,
                    "{name} starts again"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens(plan in 0..PLANS.len(), story in prop::collection::vec(world_event(false), 1..60)) {
        let mut watched = ObservedScenario::new(plan, false);
        for happening in story {
            watched.happens(happening);
        }
    }

    #[test]
    fn whatever_happens_on_a_clock_that_jumps(
        plan in 0..PLANS.len(),
        story in prop::collection::vec(world_event(true), 1..60),
    ) {
        let mut watched = ObservedScenario::new(plan, true);
        for happening in story {
            watched.happens(happening);
        }
    }

    #[test]
    fn a_forecast_comes_to_an_end(plan in 0..PLANS.len(), story in prop::collection::vec(world_event(false), 0..12), days in 1..4_i64) {
        let mut watched = ObservedScenario::new(plan, false);
        for happening in story {
            watched.happens(happening);
        }
        let snapshot = watched.scenario.full_snapshot();
        let until = snapshot.now.checked_add(SignedDuration::from_hours(24 * days)).unwrap();
        let forecast = simulate(&snapshot, until, Assumptions::default(), &InProcess);
        prop_assert!(!forecast.cut);
        prop_assert!(forecast.turns.iter().all(|turn| turn.at >= snapshot.now && turn.at <= until));
        prop_assert!(forecast.most_in_a_day <= DAILY + RESERVE, "{} in a day", forecast.most_in_a_day);
    }
}
