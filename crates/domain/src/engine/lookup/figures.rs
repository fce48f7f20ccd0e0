//! Computes what became of the work and what it cost, from the same facts that decisions use.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::exchange_view::exchange_at_head;
use super::policy::blocking_mistakes;
use super::{rest, usage};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::{PersonaId, PullNumber, SessionId, TrackName};
use crate::plan::{Policy, StepKind};
use crate::state::{HistoryEntry, Outcome};
use crate::work::RefusalReason;

/// What became of the sessions of one persona, or of all, in the history that is not archived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Yield {
    /// Sessions, duplicates included. It is the sum of [`at_work`](Self::at_work) to [`other`](Self::other), without
    /// [`ignored`](Self::ignored), which are among the open ones, [`zero_touch`](Self::zero_touch), which are among the
    /// merged ones, and [`refused`](Self::refused).
    pub sessions: u32,
    /// Sessions with a pull request.
    pub pulls: u32,
    /// Sessions of live turns without a pull request.
    pub at_work: u32,
    /// Pull requests that were merged and kept.
    pub merged: u32,
    /// Pull requests that were merged without a commit of another author and without a requested change.
    pub zero_touch: u32,
    /// Pull requests that were merged, and then reverted.
    pub reverted: u32,
    /// Pull requests that were closed without a merge, without those of the next three.
    pub rejected: u32,
    /// Why people refused pull requests, each reason with how often it was given. They are among the closed ones.
    pub refused: BTreeMap<RefusalReason, u32>,
    /// Pull requests that did the same as an older one, and were closed.
    pub repeated: u32,
    /// Pull requests that changed nothing, and were closed.
    pub no_op: u32,
    /// Pull requests that were closed, while another one with the same change was merged.
    pub superseded: u32,
    /// Open pull requests without a review for two weeks.
    pub ignored: u32,
    /// Open pull requests, the ignored ones included.
    pub open: u32,
    /// Sessions that ended with changes and, as configured, without a pull request, or whose output was imported.
    pub completed: u32,
    /// Sessions that ended without output.
    pub no_output: u32,
    /// Sessions that Jules reports as failed.
    pub failed: u32,
    /// Sessions that were given up for inactivity.
    pub stuck: u32,
    /// Sessions that a person cancelled.
    pub cancelled: u32,
    /// Duplicates, and ended sessions whose outcome is missing or unknown to this version.
    pub other: u32,
    /// From the start of a session to the merge of its pull request: the lower median over the merges with both times.
    pub median_to_merge: Option<SignedDuration>,
    /// From the opening of a pull request to the first review of a person: the lower median.
    pub median_to_review: Option<SignedDuration>,
    /// The latest end of the persona's rest.
    pub resting_until: Option<Timestamp>,
    /// Files of which a change ends that rest. Without any, it ends with time.
    pub resting_for: Vec<String>,
}

impl Yield {
    /// How many merged and kept pull requests a session brought. `None`: there was no session.
    #[must_use]
    pub fn merged_per_session(&self) -> Option<f64> {
        (self.sessions > 0).then(|| f64::from(self.merged) / f64::from(self.sessions))
    }

    /// The same for people; empty without a session.
    #[must_use]
    pub fn merge_rate_text(&self) -> String {
        let rate = self.merged_per_session();
        rate.map_or_else(String::new, |rate| format!("{rate:.2}"))
    }

    /// The reasons of refusals, each with how often it was given, the most frequent first.
    #[must_use]
    pub fn refused_text(&self) -> String {
        let mut reasons: Vec<_> = self.refused.iter().collect();
        reasons.sort_by_key(|(reason, count)| (Reverse(**count), **reason));
        let reasons = reasons.into_iter();
        let reasons = reasons.map(|(reason, count)| format!("{} {count}", reason.as_str()));
        reasons.collect::<Vec<_>>().join(", ")
    }
}

/// What became of a persona's sessions with one version of its prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptYield {
    /// The persona.
    pub persona: PersonaId,
    /// The beginning of the prompt's SHA-256.
    pub prompt: String,
    /// What became of them.
    pub figures: Yield,
}

/// How much of each limit is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BudgetFigures {
    /// Sessions that this repository started within the last 24 hours, announced ones included.
    pub day: u32,
    /// Those of them that people requested. They may exceed the daily limit by what is reserved for people.
    pub day_requested: u32,
    /// Live and announced sessions of this repository.
    pub live: u32,
    /// Open pull requests of phileas without a review.
    pub backlog: u32,
    /// Each of them.
    pub unreviewed: Vec<UnreviewedPull>,
    /// Sessions that the Jules key started within the last 24 hours, over all repositories. `None`: no listing was
    /// read.
    pub key_day: Option<u32>,
    /// Live sessions of the key. `None`: no listing was read.
    pub key_live: Option<u32>,
    /// The plan's limits. `None`: the plan cannot be read there, and nothing starts.
    pub limits: Option<BudgetLimits>,
    /// Until when nothing starts after a quota failure.
    pub paused_until: Option<Timestamp>,
}

/// An open pull request without a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreviewedPull {
    /// Its number.
    pub number: PullNumber,
    /// Whose work it is.
    pub persona: Option<PersonaId>,
}

/// The limits that a plan sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// Of sessions of the repository within 24 hours.
    pub day: u32,
    /// Of live sessions of the repository.
    pub live: u32,
    /// Of open pull requests without a review.
    pub backlog: u32,
    /// Of sessions of the Jules key within 24 hours.
    pub key_day: u32,
    /// Of live sessions of the key.
    pub key_live: u32,
    /// How many sessions within 24 hours are reserved for people.
    pub reserved: u32,
}

impl Yield {
    /// Which change ends the persona's rest. `None`: it ends with time.
    #[must_use]
    pub fn resting_text(&self) -> Option<String> {
        rest::change_text(&self.resting_for)
    }
}

/// The yield of each persona that has a history or rests, by id.
pub(crate) fn yields_so_far(builder: &DecisionBuilder<'_>) -> BTreeMap<PersonaId, Yield> {
    let mut entries: BTreeMap<&PersonaId, Vec<&HistoryEntry>> = BTreeMap::new();
    for entry in builder.state.history.values() {
        entries.entry(&entry.persona_id).or_default().push(entry);
    }
    entries
        .into_iter()
        .map(|(persona, entries)| {
            let mut figures = yield_of_entries(builder, &entries);
            figures.resting_until = rests_until(builder, persona);
            if figures.resting_until.is_some() {
                figures.resting_for = rest::rest_paths(builder, persona).to_vec();
            }
            (persona.clone(), figures)
        })
        .collect()
}

/// The yield of each version of a prompt, in the order of the first session, for personas that have had several.
pub(crate) fn yields_by_prompt(builder: &DecisionBuilder<'_>) -> Vec<PromptYield> {
    let mut prompts: BTreeMap<&PersonaId, Vec<(&str, Vec<&HistoryEntry>)>> = BTreeMap::new();
    for entry in builder.state.history.values() {
        let Some(prompt) = entry.prompt.as_deref() else {
            continue;
        };
        let known = prompts.entry(&entry.persona_id).or_default();
        match known.iter_mut().find(|(one, _)| *one == prompt) {
            Some((_, entries)) => entries.push(entry),
            None => known.push((prompt, vec![entry])),
        }
    }
    let several = prompts.into_iter().filter(|(_, prompts)| prompts.len() > 1);
    let yields = several.flat_map(|(persona, prompts)| {
        let yields = prompts.into_iter().map(|(prompt, entries)| PromptYield {
            persona: persona.clone(),
            prompt: prompt.to_owned(),
            figures: yield_of_entries(builder, &entries),
        });
        yields.collect::<Vec<_>>()
    });
    yields.collect()
}

/// The yield over all personas.
pub(crate) fn total_so_far(builder: &DecisionBuilder<'_>) -> Yield {
    let entries: Vec<&HistoryEntry> = builder.state.history.values().collect();
    yield_of_entries(builder, &entries)
}

fn yield_of_entries(builder: &DecisionBuilder<'_>, entries: &[&HistoryEntry]) -> Yield {
    let snapshot = builder.snapshot;
    let tracks = builder.state.tracks.values();
    let turns = tracks.flat_map(|track| track.turns.values());
    let live: BTreeSet<&SessionId> = turns.filter_map(|turn| turn.session_id.as_ref()).collect();
    let is_live = |id: &Option<SessionId>| id.as_ref().is_some_and(|id| live.contains(id));
    let mut figures = Yield::default();
    let (mut to_merge, mut to_review) = (Vec::new(), Vec::new());
    for entry in entries {
        let duplicates = u32::try_from(entry.duplicates.len()).unwrap_or(u32::MAX);
        figures.sessions += duplicates;
        figures.other += duplicates;
        // Skip a turn that ended before it had a session.
        if entry.session_id.is_none() && entry.pr_number.is_none() {
            continue;
        }
        figures.sessions += 1;
        figures.pulls += u32::from(entry.pr_number.is_some());
        match &entry.outcome {
            Some(Outcome::Merged) => {
                figures.merged += 1;
                to_merge.extend(time_to_merge(snapshot, entry));
            }
            Some(Outcome::Reverted) => figures.reverted += 1,
            Some(Outcome::Rejected) => figures.rejected += 1,
            Some(Outcome::Repeated) => figures.repeated += 1,
            Some(Outcome::NoOp) => figures.no_op += 1,
            Some(Outcome::Superseded) => figures.superseded += 1,
            Some(Outcome::PrOpen) => figures.open += 1,
            Some(Outcome::Completed | Outcome::Imported) => figures.completed += 1,
            Some(Outcome::NoOutput) => figures.no_output += 1,
            Some(Outcome::Failed) => figures.failed += 1,
            Some(Outcome::Stuck) => figures.stuck += 1,
            Some(Outcome::Cancelled) => figures.cancelled += 1,
            None if is_live(&entry.session_id) => figures.at_work += 1,
            Some(Outcome::Duplicate | Outcome::Other(_)) | None => figures.other += 1,
        }
        figures.zero_touch += u32::from(is_zero_touch(entry));
        if let Some(reason) = refusal_reason(entry) {
            *figures.refused.entry(reason).or_default() += 1;
        }
        to_review.extend(entry.review_secs.and_then(|secs| i64::try_from(secs).ok()));
        figures.ignored += u32::from(rest::is_ignored(snapshot, entry));
    }
    figures.median_to_merge = lower_median(to_merge);
    figures.median_to_review = lower_median(to_review).map(SignedDuration::from_secs);
    figures
}

/// Why a person refused it. One that was reopened and merged is refused no more.
fn refusal_reason(entry: &HistoryEntry) -> Option<RefusalReason> {
    let is_closed = entry
        .outcome
        .as_ref()
        .is_some_and(Outcome::is_closed_unmerged);
    let reason = entry.refused.as_deref().filter(|_| is_closed)?;
    RefusalReason::parse(reason)
}

fn is_zero_touch(entry: &HistoryEntry) -> bool {
    entry.outcome == Some(Outcome::Merged) && entry.zero_touch == Some(true)
}

fn lower_median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.len().checked_sub(1).map(|last| values[last / 2])
}

/// Uses GitHub's time of the merge where it is known, else the time when the ledger recorded it.
fn time_to_merge(snapshot: &Snapshot, entry: &HistoryEntry) -> Option<SignedDuration> {
    let pull = entry
        .pr_number
        .and_then(|number| snapshot.pulls.get(&number));
    let merged_at = pull.and_then(|pull| pull.closed_at).or(entry.finished_at)?;
    let span = merged_at.duration_since(entry.created_at?);
    (!span.is_negative()).then_some(span)
}

/// The latest end of a persona's rest over all tracks and its schedule.
fn rests_until(builder: &DecisionBuilder<'_>, persona: &PersonaId) -> Option<Timestamp> {
    let plan = &builder.snapshot.plan;
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
        let passes = builder
            .state
            .tracks
            .get(&track)
            .map_or(0, |known| known.passes);
        rest::rest_of(builder, &track, passes, persona, policy).map(|rest| rest.until)
    };
    in_tracks.chain(scheduled).filter_map(until).max()
}

/// How much of each limit is used.
#[must_use]
pub fn budget_figures(snapshot: &Snapshot) -> BudgetFigures {
    budget_so_far(&DecisionBuilder::new(snapshot, exchange_at_head(snapshot)))
}

/// Like the function above, on a decision under construction.
pub(crate) fn budget_so_far(builder: &DecisionBuilder<'_>) -> BudgetFigures {
    let snapshot = builder.snapshot;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let used = snapshot.listing().map(|listing| listing.key);
    let unreviewed = unreviewed_pulls(builder);
    let day = count(usage::recent_sessions(builder).len() + usage::count_announced(builder));
    BudgetFigures {
        day,
        day_requested: count(usage::count_requested(builder)),
        live: count(usage::count_live(builder)),
        backlog: count(unreviewed.len()),
        unreviewed,
        // Jules' short listing omits archived sessions, and the ledger knows its own.
        key_day: used.map(|used| used.created_last_day.max(day)),
        key_live: snapshot
            .listing()
            .map(|listing| usage::active_of_key(builder, listing)),
        limits: plan_limits(snapshot),
        paused_until: builder
            .state
            .budget
            .paused_until
            .filter(|until| *until > snapshot.now),
    }
}

fn unreviewed_pulls(builder: &DecisionBuilder<'_>) -> Vec<UnreviewedPull> {
    let owner = |number: PullNumber| {
        let mut newest_first = builder.state.history.values().rev();
        let entry = newest_first.find(|entry| entry.pr_number == Some(number));
        entry.map(|entry| entry.persona_id.clone())
    };
    let numbers = usage::unreviewed_pulls(builder).into_iter();
    numbers
        .map(|number| UnreviewedPull {
            number,
            persona: owner(number),
        })
        .collect()
}

/// The limits of the plan; `None` where they cannot be read.
#[must_use]
pub fn plan_limits(snapshot: &Snapshot) -> Option<BudgetLimits> {
    if !blocking_mistakes(&snapshot.plan_diagnostics, &snapshot.tree).is_empty() {
        return None;
    }
    let budget = &snapshot.plan.budget;
    let key = budget.key_limits();
    Some(BudgetLimits {
        day: budget.daily_sessions,
        live: budget.max_active,
        backlog: budget.max_open_pulls,
        key_day: key.daily,
        key_live: key.active,
        reserved: budget.reserve_for_people,
    })
}
