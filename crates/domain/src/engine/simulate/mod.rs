//! Forecasts what a plan would do in the coming days: runs the real [`decide()`](crate::engine::decide()) in a
//! simulated world where sessions take a fixed time and people review after another.
//!
//! Sessions of layers write the files of [`handed`], and the simulation keeps the exchange, so each hop of a pass is
//! the engine's own.

mod handed;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::decide::decide_with_reads;
use super::input::commits::{Commit, CommitSpan, Commits};
use super::input::pull::{Checks, Mergeable, Pull, PullState};
use super::input::session::{KeyUsage, Listing, Session, SessionState, Sessions};
use super::input::snapshot::{ExchangeRead, Ledger, SessionFiles, Snapshot};
use super::lookup::slot::SlotRole;
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

/// Maximum instants of one forecast.
const MAX_STEPS: usize = 20_000;

/// Maximum decisions for the prompts of one instant.
const MAX_RENDERINGS: usize = 1_000;

/// Maximum rounds of one instant.
const MAX_ROUNDS: usize = 16;

/// The delay from which a schedule's turn counts as late.
const LEAST_LATE: SignedDuration = SignedDuration::from_mins(2);

/// How far back the cron slot of a late turn is searched.
const LONGEST_LATE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Assumptions about Jules and people.
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
    /// The persona.
    pub persona: PersonaId,
    /// What delayed it after its turn had come.
    pub held: Option<Delay>,
}

/// What delays a turn that has come: shared limits, or the earlier turn of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delay {
    /// When its turn had come; at the forecast's beginning, it may have come before.
    pub since: Timestamp,
    /// The reasons, in order.
    pub by: Vec<Reason>,
}

/// A forecast of the coming days.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forecast {
    /// Turns in order of their start.
    pub turns: Vec<Planned>,
    /// The most sessions that start within any 24 hours.
    pub most_in_a_day: usize,
    /// The most sessions that are live at once.
    pub most_at_once: usize,
    /// What waits at the end, and why.
    pub waiting: Vec<Line>,
    /// Whether the forecast stopped early because it reached its maximum of instants.
    pub cut: bool,
    /// Whether sessions of layers are omitted, because their output cannot be simulated.
    pub without_layers: bool,
}

/// Simulates from the snapshot's time until `until`. The renderer is called once for each persona and each role of a
/// layer: when a turn starts depends only on whether it has a prompt.
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
        imagined.apply_due();
        let wake = imagined.settle_instant(&mut forecast);
        forecast.most_at_once = forecast.most_at_once.max(imagined.count_live());
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
    /// The first rendered prompt of each request name.
    rendered: BTreeMap<String, RenderAnswer>,
    snapshot: Snapshot,
    assumptions: Assumptions,
    sessions: Vec<ImaginedSession>,
    number: u64,
    /// Whether layers are simulated.
    has_layers: bool,
    /// Delayed turns.
    held: BTreeMap<SlotKey, Delay>,
    /// Why each track last waited: explains a late schedule where no shared limit does.
    waited: BTreeMap<TrackName, Reason>,
}

/// Replaces prompts whose files were not read by plain text: when a turn starts does not depend on its prompt.
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

/// Identifies a turn that would start: track, slot and persona.
type SlotKey = (TrackName, Option<Slot>, PersonaId);

struct ImaginedSession {
    slot: Slot,
    session: Session,
    opens_pull: bool,
    base: BranchName,
    pull: Option<PullNumber>,
}

impl ImaginedSession {
    /// Whether it is live. An archived one keeps its state, but does nothing more.
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
        // Live sessions end as assumed, too.
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
                ImaginedSession {
                    opens_pull: SlotRole::from_slot(&slot)
                        .is_none_or(|slot_role| slot_role.opens_pull()),
                    slot,
                    session,
                    base: base.clone(),
                    pull,
                }
            })
            .collect();
        snapshot.notices.clear();
        // No file of an imagined pull request is known.
        snapshot.plan.novelty.avoid_overlap = false;
        snapshot.activities = BTreeMap::new();
        // The simulated Jules always answers.
        snapshot.unread.clear();
        // Inputs that were not read count as missing.
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
        imagined.set_exchange(exchange);
        imagined.update_listing();
        imagined
    }

    fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    fn count_live(&self) -> usize {
        self.sessions.iter().filter(|one| one.is_live()).count()
    }

    fn ends_at(&self, one: &ImaginedSession) -> Timestamp {
        one.session
            .created_at
            .checked_add(self.assumptions.session)
            .unwrap_or(Timestamp::MAX)
    }

    /// When the simulated world changes next.
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

    /// Applies everything that is due in the simulated world.
    fn apply_due(&mut self) {
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
                self.end_session(index);
            }
        }
        self.update_listing();
    }

    fn end_session(&mut self, index: usize) {
        let now = self.snapshot.now;
        let one = &mut self.sessions[index];
        one.session.state = SessionState::Completed;
        one.session.updated_at = Some(now);
        one.session.has_changes = true;
        if let Some(slot_role) =
            SlotRole::from_slot(&one.slot).filter(|slot_role| !slot_role.opens_pull())
        {
            let (id, slot_tree) = (one.session.id.clone(), self.exchange_tree());
            self.number += 1;
            let day = now.strftime("%Y-%m-%d").to_string();
            let roster = &self.snapshot.plan.roster;
            let files = handed::imagine_files(&slot_role, &slot_tree, roster, (self.number, &day));
            let written = SessionFiles {
                files,
                diagnostics: Vec::new(),
            };
            self.snapshot.session_files.insert(id, written);
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

    /// The simulated exchange.
    fn exchange_tree(&self) -> Tree {
        let read = self.snapshot.exchange.as_ref();
        read.map(|read| read.tree.clone()).unwrap_or_default()
    }

    /// Sets the exchange at the ledger's head.
    fn set_exchange(&mut self, tree: Tree) {
        let head = match &self.snapshot.ledger {
            Ledger::Missing { head } => head.clone(),
            Ledger::Present { head, .. } | Ledger::Corrupt { head, .. } => Some(head.clone()),
        };
        let read = head.filter(|_| self.has_layers);
        self.snapshot.exchange = read.map(|head| ExchangeRead { head, tree });
    }

    /// Adds a commit to summarize whenever the default branch moves.
    fn add_commit(&mut self) {
        let after = match &self.snapshot.ledger {
            Ledger::Present { state, .. } => state.cursors.summarized_commit.clone(),
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
        self.snapshot.commits = vec![Commits {
            span: CommitSpan { after, until },
            whole: true,
            total: 1,
            newest: vec![commit],
            files: vec!["imagined".to_owned()],
            cut: false,
            lines: (1, 0),
        }];
    }

    fn update_listing(&mut self) {
        self.add_commit();
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
            key: KeyUsage {
                active: count(self.count_live()),
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

    /// Decides, and renders every prompt that the decision requests.
    fn decide_with_prompts(&mut self, events: &[Event]) -> Decision {
        let mut decided = decide_with_reads(&self.snapshot, events);
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
            decided = decide_with_reads(&self.snapshot, events);
        }
        self.snapshot.prompts.clear();
        decided.0
    }

    /// Decides until nothing more happens at this instant; returns the time of the next check.
    fn settle_instant(&mut self, forecast: &mut Forecast) -> Option<Timestamp> {
        let mut events: Vec<Event> = Vec::new();
        let mut wake = None;
        for _ in 0..MAX_ROUNDS {
            let decision = self.decide_with_prompts(&events);
            wake = decision.wake_at;
            let quiet = decision.change.is_none();
            if let Some(change) = decision.change {
                let state: Box<State> = change.state;
                let tree = self.exchange_tree().with(&change.files);
                self.snapshot.ledger = Ledger::Present {
                    head: Oid::from("imagined"),
                    state,
                };
                self.set_exchange(tree);
            }
            forecast
                .turns
                .extend(self.record_lines(&decision.report.lines));
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
                .filter_map(|effect| self.execute_effect(effect))
                .collect();
            self.update_listing();
            // A turn that prepares its next attempt changes only the ledger, and continues at once.
            if quiet {
                break;
            }
        }
        wake
    }

    /// The turns that start by a report, each with its delay.
    fn record_lines(&mut self, lines: &[Line]) -> Vec<Planned> {
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
                let held = held.or_else(|| self.late_schedule(track, persona));
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
            // A line about a pull request delays no turn.
            if line.verdict != Verdict::Waiting || line.pr_number.is_some() {
                continue;
            }
            let holds = holds_what_is_due(line.reason);
            let known = before.remove(&place);
            if !holds && !goes_on_at_once(line.reason) {
                continue;
            }
            let fresh = holds.then(|| Delay {
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
        // A turn without a line no longer waits: its slot was missed, or its track moved on.
        started
    }

    /// What has delayed a schedule's turn since its slot: its own earlier turn, which is no shared limit.
    fn late_schedule(&self, track: &TrackName, persona: &PersonaId) -> Option<Delay> {
        let reason = self.waited.get(track)?;
        let schedule = self.snapshot.plan.schedules.get(persona)?;
        if track.as_str() != format!("schedule:{persona}") {
            return None;
        }
        let now = self.now();
        let since = now.checked_sub(LONGEST_LATE).ok()?;
        let slot = schedule.cron.as_ref()?.newest_in(since, now)?;
        (now.duration_since(slot) >= LEAST_LATE).then(|| Delay {
            since: slot,
            by: vec![*reason],
        })
    }

    fn execute_effect(&mut self, effect: &Effect) -> Option<Event> {
        self.number += 1;
        let create = match effect {
            Effect::CreateSession(create) => create,
            // Simulated issues are never approved or closed by people.
            Effect::PublishProposal { key, .. } => {
                let (key, number) = (key.clone(), self.number);
                return Some(Event::ProposalPublished { key, number });
            }
            Effect::OpenWorkItem { key, .. } => {
                let (key, number) = (key.clone(), self.number);
                return Some(Event::WorkItemOpened { key, number });
            }
            Effect::CloseWorkItem { number, .. } => {
                return Some(Event::WorkItemClosed { number: *number });
            }
            _ => return None,
        };
        let session = imagined_session(self.number, create, self.now());
        self.sessions.push(ImaginedSession {
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

/// Whether a reason lasts only for an instant in which the engine reads or commits.
fn goes_on_at_once(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::ExchangeUnread | Reason::NextCommit | Reason::PromptUnread | Reason::RequestUnread
    )
}

/// Whether a reason delays a turn that is due.
fn holds_what_is_due(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::ActorHour
            | Reason::BudgetActive
            | Reason::BudgetDaily
            | Reason::BudgetShare
            | Reason::JulesQuota
            | Reason::DefaultChecksFailed
            | Reason::PersonaBusy
            | Reason::PersonaRefused
            | Reason::PersonaResting
            | Reason::ReviewBacklog
    )
}

/// The slot of a session in the ledger.
fn slot_of(snapshot: &Snapshot, session: &Session) -> Slot {
    let known = match &snapshot.ledger {
        Ledger::Present { state, .. } => state.live_turn(session.id.as_str()),
        _ => None,
    };
    known.map_or_else(|| Slot::from(""), |(_, slot, _)| slot.clone())
}

/// The files of the default branch that declare workstreams.
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
        bot_id: None,
        head: BranchName::new(format!("imagined-{}", session.id)),
        head_oid: Oid::new(format!("{:040x}", number.0)),
        same_repository: true,
        base: base.clone(),
        created_at: now,
        closed_at: None,
        // The simulated people review everything in time.
        reviewed: false,
        checks: Checks::None,
        mergeable: Mergeable::Yes,
    }
}
