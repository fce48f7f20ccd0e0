//! Finds the next step of each track, and records what the walk shows: the end of a pass, and idleness.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::candidate::{Candidate, Cause, SlotWork};
use super::eligibility::{self, skip_reason};
use super::exhaustion::check_rest;
use super::layer_step::{self, FanOut};
use super::timing::{self, SlotDue};
use super::{layer_idle, pause};
use crate::engine::input::snapshot::RunRequest;
use crate::engine::lookup::pointer::last_step_index;
use crate::engine::lookup::slot::SlotRole;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{DECIDER_BATCHES, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{EntryPoint, Policy, Step, StepKind, Track};
use crate::state::{Outcome, TrackState};

/// The next step of each track without live turns. `only` names one track, which then runs regardless of its start
/// time.
pub(crate) fn track_candidates(
    builder: &mut DecisionBuilder<'_>,
    only: Option<&TrackName>,
) -> Vec<Candidate> {
    let snapshot = builder.snapshot;
    if let Some(name) = only.filter(|name| !snapshot.plan.tracks.contains_key(*name)) {
        let text = format!("there is no track `{name}`");
        builder.report_line(
            Line::about_track(name, Verdict::Refused, Reason::Unknown, text).mark_requested(),
        );
    }
    let wanted = snapshot
        .plan
        .tracks
        .values()
        .filter(|track| only.is_none_or(|name| track.name == *name));
    wanted
        .filter_map(|track| next_candidate(builder, track, trigger_of(only.is_some())))
        .collect()
}

/// The step at which a person starts a pass, regardless of start time and pointer.
pub(crate) fn entry_candidate(
    builder: &mut DecisionBuilder<'_>,
    entry: EntryPoint,
) -> Option<Candidate> {
    let snapshot = builder.snapshot;
    let Some((track, index)) = snapshot.plan.entry(entry) else {
        let text = format!(
            "no track goes through the layers of the entry point `{}`",
            entry.as_str()
        );
        builder.report_line(
            Line::about_repository(Verdict::Refused, Reason::Unknown, text).mark_requested(),
        );
        return None;
    };
    next_candidate(builder, track, Trigger::At(index))
}

/// Why a track is checked.
#[derive(Debug, Clone, Copy)]
enum Trigger {
    /// Its next step may be due.
    Due,
    /// A person requests its next step.
    Now,
    /// A person requests a pass from this step on.
    At(usize),
}

fn trigger_of(is_forced: bool) -> Trigger {
    if is_forced {
        Trigger::Now
    } else {
        Trigger::Due
    }
}

/// The next step of a track after one that could not start. A request for one persona has no alternative.
pub(crate) fn next_after_skip(
    builder: &mut DecisionBuilder<'_>,
    name: &TrackName,
) -> Option<Candidate> {
    let snapshot = builder.snapshot;
    let trigger = match &snapshot.run_request {
        RunRequest::Due => Trigger::Due,
        RunRequest::Track(_) => Trigger::Now,
        RunRequest::Enter(entry) => return entry_candidate(builder, *entry),
        RunRequest::Persona(_) | RunRequest::All => return None,
    };
    next_candidate(builder, snapshot.plan.tracks.get(name)?, trigger)
}

fn next_candidate(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    trigger: Trigger,
) -> Option<Candidate> {
    let state = builder
        .state
        .tracks
        .get(&plan.name)
        .cloned()
        .unwrap_or_default();
    if !state.turns.is_empty() {
        return None;
    }
    if let Some(line) = line_of_held(plan, &state) {
        builder.report_line(line);
        return None;
    }
    let mut skipped = Vec::new();
    // A person's request gets the reasons, not just that nothing has changed.
    let is_due = matches!(trigger, Trigger::Due);
    let digest = layer_idle::inputs_digest(builder, plan, state.passes + 1).filter(|_| is_due);
    let idle = digest.is_some() && digest == state.idle_reason;
    let found = walk_steps(builder, plan, &state, (trigger, idle), &mut skipped);
    if let Walk::NoneEligible = found {
        report_none_eligible(builder, plan, &state, idle, skipped);
        return None;
    }
    for line in skipped {
        builder.report_line(line);
    }
    match found {
        Walk::Found {
            index,
            passes,
            started,
            work,
            siblings,
        } => Some(Candidate {
            track: plan.name.clone(),
            work,
            siblings,
            policy: plan.steps[index].policy.clone(),
            due_since: started.or(state.updated_at).unwrap_or(Timestamp::MIN),
            cause: Cause::Track {
                index: index as u64,
                passes,
                started,
            },
        }),
        Walk::Unread(what) => {
            let (verdict, reason) = (Verdict::Waiting, Reason::ExchangeUnread);
            let line = Line::about_track(&plan.name, verdict, reason, what);
            builder.report_line(line.with_until(builder.now_plus(POLL)));
            None
        }
        Walk::NotDue(until) => {
            let text = "its next pass begins later";
            let line = Line::about_track(&plan.name, Verdict::Waiting, Reason::NotDue, text);
            builder.report_line(match until {
                Some(until) => line.with_until(until),
                None => line,
            });
            None
        }
        Walk::NoneEligible => None,
    }
}

/// Why a track starts nothing, whatever its steps say.
fn line_of_held(plan: &Track, state: &TrackState) -> Option<Line> {
    let (verdict, reason, text) = if let Some(pause) = &state.paused {
        let text = pause::paused_text(&plan.name, pause);
        (Verdict::Paused, Reason::PausedTrack, text)
    } else if plan.steps.is_empty() {
        let text = "the track has no steps".to_owned();
        (Verdict::Skipped, Reason::TrackEmpty, text)
    } else {
        return None;
    };
    Some(Line::about_track(&plan.name, verdict, reason, text))
}

/// Reports a track of which no step can run. If nothing changed, reports one line; otherwise one for each
/// step.
fn report_none_eligible(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    state: &TrackState,
    idle: bool,
    skipped: Vec<Line>,
) {
    if !idle {
        layer_idle::record_idle(builder, plan, state.passes + 1, &skipped);
    }
    let (reason, text) = if skipped.iter().any(|line| line.reason != Reason::Unchanged) {
        for line in skipped {
            builder.report_line(line);
        }
        (Reason::TrackEmpty, "no step of the track can run now")
    } else if idle {
        let text = "the inputs of its layers have not changed since they had nothing to do";
        (Reason::Unchanged, text)
    } else {
        let text = "the default branch has not moved since the last turns of its personas";
        (Reason::Unchanged, text)
    };
    builder.report_line(Line::about_track(
        &plan.name,
        Verdict::Waiting,
        reason,
        text,
    ));
}

enum Walk {
    Found {
        index: usize,
        passes: u64,
        started: Option<Timestamp>,
        work: SlotWork,
        siblings: Vec<SlotWork>,
    },
    /// An input is being read.
    Unread(&'static str),
    NotDue(Option<Timestamp>),
    NoneEligible,
}

/// Walks the track once, from the step after the pointer to the first step that can run.
fn walk_steps(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    state: &TrackState,
    (trigger, idle): (Trigger, bool),
    skipped: &mut Vec<Line>,
) -> Walk {
    let all = plan.steps.len();
    let last = last_step_index(plan, state);
    // Events that did not fit into one decider's prompt go to another decider in the same pass.
    let again = !matches!(trigger, Trigger::At(_))
        && last.is_some_and(|last| more_to_decide(builder, plan, state, last));
    let first = match last {
        _ if let Trigger::At(index) = trigger => index,
        Some(last) if again => last,
        Some(_) if starts_new_pass(builder, plan, state, trigger) => all,
        Some(last) => last + 1,
        None => 0,
    };
    let mut passes = state.passes;
    let mut started = None;
    // A requested start ends with its pass.
    let count = if let Trigger::At(index) = trigger {
        all - index
    } else {
        all
    };
    for step in 0..count {
        let index = (first + step) % all;
        if index == 0 && !(again && step == 0) {
            match pass_start(builder, plan, state, !matches!(trigger, Trigger::Due)) {
                Ok(at) => started = at,
                Err(until) => {
                    if step > 0 {
                        end_pass(builder, plan, first);
                    }
                    return Walk::NotDue(until);
                }
            }
            // The first pass is pass 0; each return to the first step completes one.
            if last.is_some() {
                passes = state.passes + 1;
            }
        }
        let mut work = match step_work(builder, plan, (index, passes), idle, skipped) {
            Ok(work) => work.into_iter(),
            Err(what) => return Walk::Unread(what),
        };
        if let Some(first) = work.next() {
            return Walk::Found {
                index,
                passes,
                started,
                work: first,
                siblings: work.collect(),
            };
        }
    }
    Walk::NoneEligible
}

/// The sessions that a step would start now. A step that starts none leaves the reason in `skipped`.
///
/// # Errors
///
/// The input that is still being read.
fn step_work(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    (index, passes): (usize, u64),
    idle: bool,
    skipped: &mut Vec<Line>,
) -> Result<Vec<SlotWork>, &'static str> {
    let name = match &plan.steps[index].kind {
        StepKind::Layer(name) => name,
        StepKind::Persona(id) => {
            check_rest(builder, id);
            return Ok(match evaluate_step(builder, plan, index, passes) {
                Ok(work) => vec![work],
                Err(line) => {
                    skipped.push(*line);
                    Vec::new()
                }
            });
        }
    };
    let found = match idle {
        true => FanOut::Skip {
            reason: Reason::Unchanged,
            detail: "it had nothing to do, and nothing has changed".to_owned(),
        },
        false => layer_step::fan_out(builder, plan, index, passes, skipped),
    };
    match found {
        FanOut::Ready(work) => Ok(work),
        FanOut::Unread(what) => Err(what),
        FanOut::Skip { reason, detail } => {
            let text = format!("layer `{name}`: {detail}");
            skipped.push(Line::about_track(
                &plan.name,
                Verdict::Skipped,
                reason,
                text,
            ));
            Ok(Vec::new())
        }
    }
}

/// Whether the decider runs once more in this pass: an output of its newest turn was imported, and no stream had
/// [`DECIDER_BATCHES`] sessions since the pass began, which ends this.
fn more_to_decide(
    builder: &DecisionBuilder<'_>,
    plan: &Track,
    state: &TrackState,
    last: usize,
) -> bool {
    let is_decider = |step: &Step| matches!(&step.kind, StepKind::Layer(name) if name == "decider");
    if !plan.steps.get(last).is_some_and(is_decider) {
        return false;
    }
    let entries = builder.state.history.values().rev();
    let mut batches: BTreeMap<&Slot, usize> = BTreeMap::new();
    let mut has_imported = false;
    for entry in entries.filter(|entry| entry.is_of_track(&plan.name)) {
        let is_newest = entry.seq == Some(state.seq);
        let is_of_pass = is_newest || entry.created_at >= state.last_started;
        let slot = entry.slot.as_ref();
        let Some(slot) = slot.filter(|slot| is_of_pass && is_decider_slot(slot)) else {
            break;
        };
        *batches.entry(slot).or_default() += 1;
        has_imported |= is_newest && entry.outcome == Some(Outcome::Imported);
    }
    has_imported && batches.values().all(|count| *count < DECIDER_BATCHES)
}

fn is_decider_slot(slot: &Slot) -> bool {
    matches!(SlotRole::from_slot(slot), Some(SlotRole::Decider { .. }))
}

/// Whether a start time has come after a pass that stalled: then the new pass begins at the first step.
fn starts_new_pass(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    state: &TrackState,
    trigger: Trigger,
) -> bool {
    state.pass_stalled
        && matches!(trigger, Trigger::Due)
        && matches!(pass_start(builder, plan, state, false), Ok(Some(_)))
}

/// Ends a pass whose last layers had nothing to do, so that later ticks need not read the exchange. A skipped persona
/// may run later, so where the rest of the pass has one, the pointer stays.
fn end_pass(builder: &mut DecisionBuilder<'_>, plan: &Track, first: usize) {
    let rest = plan.steps.get(first..).unwrap_or_default();
    let of_layers = |step: &Step| matches!(step.kind, StepKind::Layer(_));
    if rest.is_empty() {
        return;
    }
    let Some(StepKind::Layer(name)) = plan.steps.last().map(|step| &step.kind) else {
        builder.track_mut(&plan.name).pass_stalled = true;
        return;
    };
    if !rest.iter().all(of_layers) {
        builder.track_mut(&plan.name).pass_stalled = true;
        return;
    }
    let persona = PersonaId::from(name.as_str());
    let index = plan.steps.len() as u64 - 1;
    let state = builder.track_mut(&plan.name);
    // The plan may have become shorter since; the index never falls within a pass.
    state.index = state.index.max(Some(index));
    state.persona_id = Some(persona);
    builder.add_headline(format!("pass of {} is over", plan.name), None);
}

/// Whether a pass may begin: `Ok` with its start time, `Err` with the next one.
fn pass_start(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    state: &TrackState,
    forced: bool,
) -> Result<Option<Timestamp>, Option<Timestamp>> {
    let Some(start) = &plan.start else {
        return Ok(None);
    };
    let now = builder.now();
    if forced {
        return Ok(Some(now));
    }
    let Some(last) = state.last_started else {
        // A new start time: starts count from now on.
        let expression = timing::format_cron(start);
        let known = builder.track_mut(&plan.name);
        known.last_started = Some(now);
        known.timing.expression = Some(expression);
        return Err(start.next_after(now));
    };
    let timing = builder.state.tracks.get(&plan.name);
    let timing = timing.map(|known| known.timing.clone()).unwrap_or_default();
    if timing::is_change_unread(&timing, start) {
        return Err(Some(builder.now_plus(POLL)));
    }
    match timing::slot_due(&timing, last, start, plan.policy.catch_up, now) {
        SlotDue::Now { slot, .. } => Ok(Some(slot)),
        SlotDue::Not => Err(start.next_after(now)),
        SlotDue::Missed(slot) => {
            let next = start.next_after(now);
            builder.track_mut(&plan.name).last_started = Some(slot);
            let text = format!("the pass of {slot} was missed, and the plan skips missed slots");
            let (verdict, reason) = (Verdict::Skipped, Reason::SlotsMissed);
            builder.report_line(Line::about_track(&plan.name, verdict, reason, text));
            builder.add_headline(format!("missed {}", plan.name), None);
            Err(next)
        }
    }
}

fn evaluate_step(
    builder: &DecisionBuilder<'_>,
    plan: &Track,
    index: usize,
    passes: u64,
) -> Result<SlotWork, Box<Line>> {
    let step = &plan.steps[index];
    let policy: &Policy = &step.policy;
    let StepKind::Persona(id) = &step.kind else {
        let text = "the step has no work";
        let line = Line::about_track(&plan.name, Verdict::Skipped, Reason::TrackEmpty, text);
        return Err(Box::new(line));
    };
    let left_out = |reason, text| {
        let line = Line::about_track(&plan.name, Verdict::Skipped, reason, text);
        Box::new(line.with_persona(id))
    };
    let work = eligibility::persona_work(builder.snapshot, id, policy, false)
        .map_err(|(reason, text)| left_out(reason, text))?;
    match skip_reason(builder, &plan.name, passes, &work, policy) {
        Some((reason, text)) => Err(left_out(reason, text)),
        None => Ok(work),
    }
}
