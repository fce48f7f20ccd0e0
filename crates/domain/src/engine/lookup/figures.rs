//! What became of the work, and what it cost: figures for people, out of the same facts that decide.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::exchange_view::at_hand;
use super::{rest, usage};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::Draft;
use crate::model::{PersonaId, SessionId, TrackName};
use crate::plan::{Policy, StepKind};
use crate::state::{HistoryEntry, Outcome};

/// What became of the sessions of one persona, or of all, as far as the history is not archived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Yield {
    /// Sessions, duplicates included. What becomes of them adds up to this: [`at_work`](Self::at_work) to
    /// [`other`](Self::other), without [`ignored`](Self::ignored), which are among the open.
    pub sessions: u32,
    /// How many of them led to a pull request.
    pub pulls: u32,
    /// Sessions of turns that go on, of which nothing has become yet.
    pub at_work: u32,
    /// Pull requests that were merged.
    pub merged: u32,
    /// Pull requests that were closed without a merge.
    pub rejected: u32,
    /// Open pull requests that nobody has looked at for two weeks.
    pub ignored: u32,
    /// Open pull requests, the ignored ones included.
    pub open: u32,
    /// Sessions that ended with changes and, as asked, without a pull request, or whose changes were imported.
    pub completed: u32,
    /// Sessions that ended without anything.
    pub no_output: u32,
    /// Sessions that failed by Jules' own word.
    pub failed: u32,
    /// Sessions that were given up because nothing moved.
    pub stuck: u32,
    /// Sessions that a person ended.
    pub cancelled: u32,
    /// Duplicates, and sessions that are over and whose outcome another program wrote in a word of its own or nobody wrote.
    pub other: u32,
    /// From the start of a session to the merge of its pull request: the lower median over those merges of which both
    /// instants are known.
    pub median_to_merge: Option<SignedDuration>,
    /// Until when the persona rests at the latest.
    pub resting_until: Option<Timestamp>,
}

/// What is spent of each limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BudgetFigures {
    /// Sessions that this repository started within the last 24 hours, announced ones included.
    pub day: u32,
    /// The limit of that.
    pub day_limit: u32,
    /// Sessions of this repository that are live or announced.
    pub live: u32,
    /// The limit of that.
    pub live_limit: u32,
    /// Open pull requests of ours that nobody has looked at.
    pub backlog: u32,
    /// The limit of that.
    pub backlog_limit: u32,
    /// Sessions that the Jules key started within the last 24 hours, over all repositories. `None`: Jules was not asked.
    pub key_day: Option<u32>,
    /// The limit of that.
    pub key_day_limit: u32,
    /// How many of it are kept for people.
    pub key_reserved: u32,
    /// Live sessions of the key. `None`: Jules was not asked.
    pub key_live: Option<u32>,
    /// The limit of that.
    pub key_live_limit: u32,
    /// Until when nothing starts because Jules said that the key is spent.
    pub paused_until: Option<Timestamp>,
}

/// The yield of each persona that has a history or rests, by id.
#[must_use]
pub fn yields(snapshot: &Snapshot) -> BTreeMap<PersonaId, Yield> {
    yields_of(&Draft::new(snapshot, at_hand(snapshot)))
}

/// The same, by what a decision knows so far.
pub(crate) fn yields_of(draft: &Draft<'_>) -> BTreeMap<PersonaId, Yield> {
    let mut entries: BTreeMap<&PersonaId, Vec<&HistoryEntry>> = BTreeMap::new();
    for entry in draft.state.history.values() {
        entries.entry(&entry.persona_id).or_default().push(entry);
    }
    entries
        .into_iter()
        .map(|(persona, entries)| {
            let mut figures = of_entries(draft, &entries);
            figures.resting_until = resting(draft, persona);
            (persona.clone(), figures)
        })
        .collect()
}

/// The yield over all personas.
#[must_use]
pub fn yield_of_all(snapshot: &Snapshot) -> Yield {
    let draft = Draft::new(snapshot, at_hand(snapshot));
    let entries: Vec<&HistoryEntry> = draft.state.history.values().collect();
    of_entries(&draft, &entries)
}

fn of_entries(draft: &Draft<'_>, entries: &[&HistoryEntry]) -> Yield {
    let snapshot = draft.snapshot;
    let tracks = draft.state.tracks.values();
    let turns = tracks.flat_map(|track| track.turns.values());
    let live: BTreeSet<&SessionId> = turns.filter_map(|turn| turn.session_id.as_ref()).collect();
    let is_live = |id: &Option<SessionId>| id.as_ref().is_some_and(|id| live.contains(id));
    let mut figures = Yield::default();
    let mut to_merge = Vec::new();
    for entry in entries {
        let duplicates = u32::try_from(entry.duplicates.len()).unwrap_or(u32::MAX);
        figures.sessions += duplicates;
        figures.other += duplicates;
        // A turn that ended before it had a session, which would show in its session or its pull request.
        if entry.session_id.is_none() && entry.pr_number.is_none() {
            continue;
        }
        figures.sessions += 1;
        figures.pulls += u32::from(entry.pr_number.is_some());
        match &entry.outcome {
            Some(Outcome::Merged) => {
                figures.merged += 1;
                to_merge.extend(until_merge(snapshot, entry));
            }
            Some(Outcome::Rejected) => figures.rejected += 1,
            Some(Outcome::PrOpen) => figures.open += 1,
            Some(Outcome::Completed | Outcome::Imported) => figures.completed += 1,
            Some(Outcome::NoOutput) => figures.no_output += 1,
            Some(Outcome::Failed) => figures.failed += 1,
            Some(Outcome::Stuck) => figures.stuck += 1,
            Some(Outcome::Cancelled) => figures.cancelled += 1,
            None if is_live(&entry.session_id) => figures.at_work += 1,
            Some(Outcome::Duplicate | Outcome::Other(_)) | None => figures.other += 1,
        }
        figures.ignored += u32::from(rest::is_ignored(snapshot, entry));
    }
    to_merge.sort_unstable();
    figures.median_to_merge = to_merge.len().checked_sub(1).map(|last| to_merge[last / 2]);
    figures
}

/// GitHub's own instant of the merge where it is at hand, else when the ledger learned of it.
fn until_merge(snapshot: &Snapshot, entry: &HistoryEntry) -> Option<SignedDuration> {
    let pull = entry
        .pr_number
        .and_then(|number| snapshot.pulls.get(&number));
    let merged_at = pull.and_then(|pull| pull.closed_at).or(entry.finished_at)?;
    let span = merged_at.duration_since(entry.created_at?);
    (!span.is_negative()).then_some(span)
}

/// Until when a persona rests everywhere it would run by itself; the latest of these instants.
fn resting(draft: &Draft<'_>, persona: &PersonaId) -> Option<Timestamp> {
    let plan = &draft.snapshot.plan;
    let kind = StepKind::Persona(persona.clone());
    let in_tracks = plan.tracks.values().flat_map(|track| {
        let steps = track.steps.iter().filter(|step| step.kind == kind);
        steps.map(|step| (track.name.clone(), &step.policy))
    });
    let scheduled = plan
        .schedules
        .get(persona)
        .map(|schedule| (TrackName::of_schedule(persona), &schedule.policy));
    let until = |(track, policy): (TrackName, &Policy)| {
        let passes = draft
            .state
            .tracks
            .get(&track)
            .map_or(0, |known| known.passes);
        rest::resting(draft, &track, passes, persona, policy)
    };
    in_tracks.chain(scheduled).filter_map(until).max()
}

/// What is spent of each limit.
#[must_use]
pub fn budget_figures(snapshot: &Snapshot) -> BudgetFigures {
    budget_of(&Draft::new(snapshot, at_hand(snapshot)))
}

/// The same, by what a decision knows so far.
pub(crate) fn budget_of(draft: &Draft<'_>) -> BudgetFigures {
    let snapshot = draft.snapshot;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let limits = &snapshot.plan.budget;
    let key = limits.key_limits();
    let used = snapshot.listing().map(|listing| listing.key);
    BudgetFigures {
        day: count(usage::recent(draft).len() + usage::announced(draft)),
        day_limit: limits.daily_sessions,
        live: count(usage::live(draft)),
        live_limit: limits.max_active,
        backlog: count(usage::unreviewed(draft).len()),
        backlog_limit: limits.max_open_pulls,
        key_day: used.map(|used| used.created_last_day),
        key_day_limit: key.daily,
        key_reserved: limits.reserve_for_people,
        key_live: snapshot
            .listing()
            .map(|listing| usage::active_of_key(draft, listing)),
        key_live_limit: key.active,
        paused_until: draft
            .state
            .budget
            .paused_until
            .filter(|until| *until > snapshot.now),
    }
}
