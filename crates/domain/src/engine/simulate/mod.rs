//! What a plan would do in the coming days, before anything runs: the real [`decide()`](crate::engine::decide()) on an imagined world where
//! sessions take a fixed time and people review after another.
//!
//! Sessions of layers write what [`handed`] says, and the exchange is carried on in the imagination: so each hop of a pass
//! is the engine's own, with the time that its sessions take.

mod handed;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::decide::decide_with_needs;
use super::input::commits::{Commit, CommitSpan, Commits};
use super::input::pull::{Checks, Mergeable, Pull, PullState};
use super::input::session::{KeyUse, Listing, Session, SessionState, Sessions};
use super::input::snapshot::{ExchangeRead, Ledger, Snapshot, Written};
use super::lookup::slot::Seat;
use super::output::decision::Decision;
use super::output::effect::{CreateSession, Effect};
use super::output::event::Event;
use super::output::report::{Line, Reason, Verdict};
use crate::model::{
    BranchName, Login, Oid, PersonaId, PullNumber, SessionId, Slot, TrackName, Tree,
};
use crate::prompt::RenderAnswer::{self, Failed};
use crate::prompt::{self, RenderError, RenderPrompts, SourceFiles};
use crate::state::State;

/// No forecast looks at more instants than this.
const MAX_STEPS: usize = 20_000;

/// No decision is made more often than this because it asks for prompts.
const MAX_RENDERINGS: usize = 1_000;

/// No instant decides more often than this.
const MAX_ROUNDS: usize = 16;

/// From how much on a schedule's turn counts as late.
const LEAST_LATE: SignedDuration = SignedDuration::from_mins(2);

/// How far back the slot of a late turn is looked for.
const LONGEST_LATE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What is imagined of Jules and of the people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumptions {
    /// How long a session takes.
    pub session: SignedDuration,
    /// How long after its opening a pull request is merged.
    pub review: SignedDuration,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            session: SignedDuration::from_mins(30),
            review: SignedDuration::from_hours(2),
        }
    }
}

/// A turn that would start.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// When.
    pub at: Timestamp,
    /// In which track.
    pub track: TrackName,
    /// Its number in the track.
    pub seq: u64,
    /// Who.
    pub persona: PersonaId,
    /// What kept it from starting when its turn had come.
    pub held: Option<Held>,
}

/// What keeps a turn that has come from starting: limits that others share, or the earlier turn of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// When its turn had come; where that is the forecast's beginning, it may have come before.
    pub since: Timestamp,
    /// What held it, the first first.
    pub by: Vec<Reason>,
}

/// What the coming days would bring.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forecast {
    /// Turns in order of their start.
    pub turns: Vec<Planned>,
    /// The most sessions that start within any 24 hours.
    pub most_in_a_day: usize,
    /// The most sessions that are live at once.
    pub most_at_once: usize,
    /// What waits, and why, at the end.
    pub waiting: Vec<Line>,
    /// Whether the forecast stopped early because it looked at too many instants.
    pub cut: bool,
    /// Whether sessions of layers are left out, because what they would write cannot be imagined.
    pub without_layers: bool,
}

/// Imagines what happens from the snapshot's time until `until`. The renderer is asked once for each persona and each role
/// of a layer: when a turn starts depends on its prompt only in so far as there is one.
#[must_use]
pub fn simulate(
    snapshot: &Snapshot,
    until: Timestamp,
    assumptions: Assumptions,
    renderer: &dyn RenderPrompts,
) -> Forecast {
    let mut imagined = Imagined::new(snapshot, assumptions, renderer);
    let mut forecast = Forecast {
        cut: true,
        without_layers: !imagined.has_layers,
        ..Forecast::default()
    };
    for _ in 0..MAX_STEPS {
        imagined.bring_about();
        let wake = imagined.settle(&mut forecast);
        forecast.most_at_once = forecast.most_at_once.max(imagined.live());
        let next = imagined
            .next_change()
            .into_iter()
            .chain(wake)
            .filter(|at| *at > imagined.now())
            .min();
        let Some(next) = next.filter(|next| *next <= until) else {
            forecast.cut = false;
            break;
        };
        imagined.snapshot.now = next;
    }
    forecast.most_in_a_day = most_in_a_day(&forecast.turns);
    forecast
}

fn most_in_a_day(turns: &[Planned]) -> usize {
    let day = SignedDuration::from_hours(24);
    (0..turns.len())
        .map(|first| {
            turns[first..]
                .iter()
                .take_while(|turn| turn.at.duration_since(turns[first].at) < day)
                .count()
        })
        .max()
        .unwrap_or(0)
}

struct Imagined<'r> {
    renderer: &'r dyn RenderPrompts,
    /// What came of the first prompt of each, by the name of its request.
    rendered: BTreeMap<String, RenderAnswer>,
    snapshot: Snapshot,
    assumptions: Assumptions,
    sessions: Vec<Imaginary>,
    number: u64,
    /// Whether layers work in it.
    has_layers: bool,
    /// The turns that have come and may not start.
    held: BTreeMap<Place, Held>,
    /// Why each track last waited: what makes a schedule's turn late where no shared limit does.
    waited: BTreeMap<TrackName, Reason>,
}

/// When a turn starts does not depend on its prompt. One whose files were not read is imagined to be a plain text.
fn plain_where_unread(snapshot: &mut Snapshot, renderer: &dyn RenderPrompts) {
    if !snapshot.tree.is_in_parts() {
        return;
    }
    let files = SourceFiles::of_default_branch(&snapshot.tree);
    for persona in snapshot.plan.personas.values_mut() {
        if !prompt::unread_sources(persona, &files, renderer).is_empty() {
            persona.path = persona.path.trim_end_matches(".j2").to_owned();
            persona.title = None;
        }
    }
    let tree = std::mem::take(&mut snapshot.tree);
    snapshot.tree = tree.as_whole();
}

/// Where a turn would start: track, slot and persona.
type Place = (TrackName, Option<Slot>, PersonaId);

struct Imaginary {
    slot: Slot,
    session: Session,
    opens_pull: bool,
    base: BranchName,
    pull: Option<PullNumber>,
}

impl Imaginary {
    /// Whether it is at work. An archived one keeps its state, and does nothing more.
    fn is_live(&self) -> bool {
        self.session.state.is_live() && !self.session.archived
    }
}

impl<'r> Imagined<'r> {
    fn new(snapshot: &Snapshot, assumptions: Assumptions, renderer: &'r dyn RenderPrompts) -> Self {
        let mut snapshot = snapshot.clone();
        let highest = snapshot
            .pulls
            .keys()
            .map(|number| number.0)
            .max()
            .unwrap_or(0);
        // Sessions that are under way end as imagined, too.
        let sessions = snapshot
            .listing()
            .map(|listing| listing.sessions.clone())
            .unwrap_or_default();
        let base = snapshot.repository.default_branch.clone();
        let sessions = sessions
            .into_iter()
            .map(|session| {
                let pull = session.pulls.first().copied();
                let slot = slot_of(&snapshot, &session);
                Imaginary {
                    opens_pull: Seat::of(&slot).is_none_or(|seat| seat.opens_pull()),
                    slot,
                    session,
                    base: base.clone(),
                    pull,
                }
            })
            .collect();
        snapshot.notices.clear();
        snapshot.activities = BTreeMap::new();
        // The imagined Jules answers: when to ask again for what could not be read is no time of the forecast's.
        snapshot.unread.clear();
        // What waits to be read is taken as not there.
        let exchange = snapshot.exchange.take();
        let exchange = exchange.map(|read| read.tree).unwrap_or_default();
        let has_layers = handed::can_be_imagined(&exchange.with(&streams(&snapshot.tree)));
        snapshot.layers_read = has_layers;
        plain_where_unread(&mut snapshot, renderer);
        let mut imagined = Self {
            renderer,
            rendered: BTreeMap::new(),
            has_layers,
            snapshot,
            assumptions,
            sessions,
            number: highest + 100_000,
            held: BTreeMap::new(),
            waited: BTreeMap::new(),
        };
        imagined.hand_over(exchange);
        imagined.show();
        imagined
    }

    fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    fn live(&self) -> usize {
        self.sessions.iter().filter(|one| one.is_live()).count()
    }

    fn ends_at(&self, one: &Imaginary) -> Timestamp {
        one.session
            .created_at
            .checked_add(self.assumptions.session)
            .unwrap_or(Timestamp::MAX)
    }

    /// When the imagined world next changes by itself.
    fn next_change(&self) -> Option<Timestamp> {
        let ends = self
            .sessions
            .iter()
            .filter(|one| one.is_live())
            .map(|one| self.ends_at(one));
        let reviews = self
            .snapshot
            .pulls
            .values()
            .filter(|pull| pull.state == PullState::Open)
            .map(|pull| {
                pull.created_at
                    .checked_add(self.assumptions.review)
                    .unwrap_or(Timestamp::MAX)
            });
        ends.chain(reviews).min()
    }

    /// Everything that is due in the imagined world happens.
    fn bring_about(&mut self) {
        let now = self.now();
        for pull in self.snapshot.pulls.values_mut() {
            let due = pull
                .created_at
                .checked_add(self.assumptions.review)
                .is_ok_and(|at| at <= now);
            if pull.state == PullState::Open && due {
                pull.state = PullState::Merged;
                pull.closed_at = Some(now);
                self.snapshot.repository.default_head =
                    Some(Oid::new(format!("{:040x}", pull.number.0)));
            }
        }
        for index in 0..self.sessions.len() {
            if self.sessions[index].is_live() && self.ends_at(&self.sessions[index]) <= now {
                self.end(index);
            }
        }
        self.show();
    }

    fn end(&mut self, index: usize) {
        let now = self.snapshot.now;
        let one = &mut self.sessions[index];
        one.session.state = SessionState::Completed;
        one.session.updated_at = Some(now);
        one.session.has_changes = true;
        if let Some(seat) = Seat::of(&one.slot).filter(|seat| !seat.opens_pull()) {
            let (id, slot_tree) = (one.session.id.clone(), self.exchange());
            self.number += 1;
            let day = now.strftime("%Y-%m-%d").to_string();
            let roster = &self.snapshot.plan.roster;
            let files = handed::wrote(&seat, &slot_tree, roster, (self.number, &day));
            let written = Written {
                files,
                found: Vec::new(),
            };
            self.snapshot.written.insert(id, written);
            return;
        }
        if !one.opens_pull || one.pull.is_some() {
            return;
        }
        self.number += 1;
        let number = PullNumber(self.number);
        one.pull = Some(number);
        one.session.pulls.push(number);
        self.snapshot
            .pulls
            .insert(number, imagined_pull(number, &one.session, &one.base, now));
    }

    /// The exchange as it is imagined to be.
    fn exchange(&self) -> Tree {
        let read = self.snapshot.exchange.as_ref();
        read.map(|read| read.tree.clone()).unwrap_or_default()
    }

    /// The exchange lies at the ledger's head.
    fn hand_over(&mut self, tree: Tree) {
        let head = match &self.snapshot.ledger {
            Ledger::Missing { head } => head.clone(),
            Ledger::Present { head, .. } | Ledger::Corrupt { head, .. } => Some(head.clone()),
        };
        let read = head.filter(|_| self.has_layers);
        self.snapshot.exchange = read.map(|head| ExchangeRead { head, tree });
    }

    /// Each time that the default branch moves, there is something to tell of.
    fn narrate(&mut self) {
        let after = match &self.snapshot.ledger {
            Ledger::Present { state, .. } => state.cursors.narrated.clone(),
            _ => None,
        };
        let Some(until) = self.snapshot.repository.default_head.clone() else {
            return;
        };
        let commit = Commit {
            oid: until.clone(),
            at: Some(self.snapshot.now),
            subject: "Imagined".to_owned(),
        };
        self.snapshot.commits = Some(Commits {
            span: CommitSpan { after, until },
            whole: true,
            total: 1,
            newest: vec![commit],
            files: vec!["imagined".to_owned()],
            cut: false,
            lines: (1, 0),
        });
    }

    fn show(&mut self) {
        self.narrate();
        let day = SignedDuration::from_hours(24);
        let now = self.now();
        let fresh = self
            .sessions
            .iter()
            .filter(|one| now.duration_since(one.session.created_at) < day)
            .count();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.snapshot.sessions = Listing::Taken(Sessions {
            taken_at: now,
            since: None,
            archived: true,
            sessions: self
                .sessions
                .iter()
                .map(|one| one.session.clone())
                .collect(),
            key: KeyUse {
                active: count(self.live()),
                created_last_day: count(fresh),
            },
        });
        let ids: Vec<_> = self
            .sessions
            .iter()
            .map(|one| one.session.id.clone())
            .collect();
        for id in ids {
            self.snapshot.activities.entry(id).or_default();
        }
    }

    /// Decides, with every prompt that it asks for.
    fn decide(&mut self, events: &[Event]) -> Decision {
        let mut decided = decide_with_needs(&self.snapshot, events);
        for _ in 0..MAX_RENDERINGS {
            if decided.1.prompts.is_empty() {
                break;
            }
            for (key, request) in std::mem::take(&mut decided.1.prompts) {
                let known = self.rendered.entry(request.name());
                let answer = known.or_insert_with(|| {
                    let answers = self.renderer.render(std::slice::from_ref(&request));
                    let none = || Failed(RenderError::Unavailable("no answer".to_owned()));
                    answers.into_iter().next().unwrap_or_else(none)
                });
                self.snapshot.prompts.insert(key, answer.clone());
            }
            decided = decide_with_needs(&self.snapshot, events);
        }
        self.snapshot.prompts.clear();
        decided.0
    }

    /// Decides until nothing more happens at this instant; answers with the time to look again.
    fn settle(&mut self, forecast: &mut Forecast) -> Option<Timestamp> {
        let mut events: Vec<Event> = Vec::new();
        let mut wake = None;
        for _ in 0..MAX_ROUNDS {
            let decision = self.decide(&events);
            wake = decision.wake_at;
            let quiet = decision.change.is_none();
            if let Some(change) = decision.change {
                let state: Box<State> = change.state;
                let tree = self.exchange().with(&change.files);
                self.snapshot.ledger = Ledger::Present {
                    head: Oid::from("imagined"),
                    state,
                };
                self.hand_over(tree);
            }
            forecast.turns.extend(self.heed(&decision.report.lines));
            forecast.waiting = decision
                .report
                .lines
                .into_iter()
                .filter(|line| {
                    !matches!(
                        line.verdict,
                        Verdict::Dispatched | Verdict::Advanced | Verdict::Settled
                    )
                })
                .collect();
            events = decision
                .effects
                .iter()
                .filter_map(|effect| self.carry_out(effect))
                .collect();
            self.show();
            // A turn that makes ready for its next attempt changes the ledger alone, and goes on at once.
            if quiet {
                break;
            }
        }
        wake
    }

    /// The turns that start by a report, each with what held it until then.
    fn heed(&mut self, lines: &[Line]) -> Vec<Planned> {
        let now = self.now();
        let mut before = std::mem::take(&mut self.held);
        let mut started = Vec::new();
        for line in lines {
            let (Some(track), Some(persona)) = (&line.track, &line.persona) else {
                continue;
            };
            let place = (track.clone(), line.slot.clone(), persona.clone());
            if line.verdict == Verdict::Dispatched {
                let held = before.remove(&place).filter(|held| held.since < now);
                let held = held.or_else(|| self.late(track, persona));
                self.waited.remove(track);
                started.push(Planned {
                    at: now,
                    track: track.clone(),
                    seq: line.seq.unwrap_or(0),
                    persona: persona.clone(),
                    held,
                });
                continue;
            }
            if line.verdict == Verdict::Waiting && line.reason != Reason::NotDue {
                self.waited.insert(track.clone(), line.reason);
            }
            // What is said of a pull request holds no turn.
            if line.verdict != Verdict::Waiting || line.pr_number.is_some() {
                continue;
            }
            let holds = holds_what_is_due(line.reason);
            let known = before.remove(&place);
            if !holds && !goes_on_at_once(line.reason) {
                continue;
            }
            let fresh = holds.then(|| Held {
                since: now,
                by: Vec::new(),
            });
            if let Some(mut held) = known.or(fresh) {
                if holds && held.by.last() != Some(&line.reason) {
                    held.by.push(line.reason);
                }
                self.held.insert(place, held);
            }
        }
        // What is no longer told of waits no longer: its slot was missed, or its track has turned to something else.
        started
    }

    /// What has kept a schedule's turn since its slot: its own earlier turn, which is no limit that others share.
    fn late(&self, track: &TrackName, persona: &PersonaId) -> Option<Held> {
        let reason = self.waited.get(track)?;
        let schedule = self.snapshot.plan.schedules.get(persona)?;
        if track.as_str() != format!("schedule:{persona}") {
            return None;
        }
        let now = self.now();
        let since = now.checked_sub(LONGEST_LATE).ok()?;
        let slot = schedule.cron.as_ref()?.newest_in(since, now)?;
        (now.duration_since(slot) >= LEAST_LATE).then(|| Held {
            since: slot,
            by: vec![*reason],
        })
    }

    fn carry_out(&mut self, effect: &Effect) -> Option<Event> {
        self.number += 1;
        let create = match effect {
            Effect::CreateSession(create) => create,
            // Nobody is imagined to say yes to them, and nobody has to look for them again.
            Effect::PublishProposal { key, .. } => {
                let (key, number) = (key.clone(), self.number);
                return Some(Event::ProposalPublished { key, number });
            }
            Effect::OfferWork { key, .. } => {
                let (key, number) = (key.clone(), self.number);
                return Some(Event::WorkOffered { key, number });
            }
            Effect::CloseOffer { number, .. } => {
                return Some(Event::OfferClosed { number: *number });
            }
            _ => return None,
        };
        let session = imagined_session(self.number, create, self.now());
        self.sessions.push(Imaginary {
            slot: create.slot.clone(),
            session: session.clone(),
            opens_pull: create.open_pull,
            base: create.branch.clone(),
            pull: None,
        });
        Some(Event::SessionCreated {
            track: create.track.clone(),
            slot: create.slot.clone(),
            marker: create.marker.clone(),
            session,
        })
    }
}

/// Whether a reason lasts for an instant only, in which the engine reads or commits.
fn goes_on_at_once(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::ExchangeUnread | Reason::NextCommit | Reason::PromptUnread | Reason::RequestUnread
    )
}

/// Whether a reason keeps a turn back that has come, and would start but for it.
fn holds_what_is_due(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::ActorHour
            | Reason::BudgetActive
            | Reason::BudgetDaily
            | Reason::BudgetShare
            | Reason::JulesQuota
            | Reason::MainRed
            | Reason::PersonaBusy
            | Reason::PersonaRefused
            | Reason::PersonaResting
            | Reason::ReviewBacklog
    )
}

/// The slot that the ledger knows a session by.
fn slot_of(snapshot: &Snapshot, session: &Session) -> Slot {
    let known = match &snapshot.ledger {
        Ledger::Present { state, .. } => state.live_turn(session.id.as_str()),
        _ => None,
    };
    known.map_or_else(|| Slot::from(""), |(_, slot, _)| slot.clone())
}

/// Where the default branch says that there are workstreams.
fn streams(tree: &Tree) -> BTreeMap<String, Option<String>> {
    let below = tree.below(".jules/workstreams");
    below
        .filter_map(|(path, entry)| {
            Some((path.to_owned(), Some(entry.text.as_deref()?.to_owned())))
        })
        .collect()
}

fn imagined_session(number: u64, create: &CreateSession, now: Timestamp) -> Session {
    Session {
        id: SessionId::new(format!("{number:017}")),
        state: SessionState::InProgress,
        title: create.title.clone(),
        prompt: Some(create.prompt.clone()),
        source: Some(create.source.clone()),
        elsewhere: false,
        created_at: now,
        updated_at: Some(now),
        archived: false,
        pulls: Vec::new(),
        has_changes: false,
    }
}

fn imagined_pull(number: PullNumber, session: &Session, base: &BranchName, now: Timestamp) -> Pull {
    Pull {
        number,
        state: PullState::Open,
        draft: false,
        title: session.title.clone(),
        body: String::new(),
        author: Login::from("google-labs-jules[bot]"),
        head: BranchName::new(format!("imagined-{}", session.id)),
        head_oid: Oid::new(format!("{:040x}", number.0)),
        same_repository: true,
        base: base.clone(),
        created_at: now,
        closed_at: None,
        // The imagined people look at everything in time.
        reviewed: false,
        checks: Checks::None,
        mergeable: Mergeable::Yes,
    }
}
