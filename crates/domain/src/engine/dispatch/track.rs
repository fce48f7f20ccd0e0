//! Cycles: which step of a track comes next.

use jiff::Timestamp;

use super::candidate::{Candidate, Cause, Work};
use super::eligibility::{self, reluctance};
use super::layer_step::{self, Due};
use super::{layer_idle, pause, timing};
use crate::engine::input::snapshot::Ask;
use crate::engine::lookup::pointer::pointer;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{DECIDER_BATCHES, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, TrackName};
use crate::plan::{EntryPoint, Policy, Step, StepKind, Track};
use crate::state::{Outcome, TrackState};

/// The next step of each track that has none under way; `only` names one track, which then runs whatever its start
/// time is.
pub(crate) fn candidates(draft: &mut Draft<'_>, only: Option<&TrackName>) -> Vec<Candidate> {
    let snapshot = draft.snapshot;
    if let Some(name) = only.filter(|name| !snapshot.plan.tracks.contains_key(*name)) {
        let text = format!("there is no track `{name}`");
        draft.say(Line::track(name, Verdict::Refused, Reason::Unknown, text).requested());
    }
    let wanted = snapshot
        .plan
        .tracks
        .values()
        .filter(|track| only.is_none_or(|name| track.name == *name));
    wanted
        .filter_map(|track| next(draft, track, forced(only.is_some())))
        .collect()
}

/// The step at which a person wants a pass to begin, whatever its start time is and wherever the pointer stands.
pub(crate) fn entering(draft: &mut Draft<'_>, entry: EntryPoint) -> Option<Candidate> {
    let snapshot = draft.snapshot;
    let Some((track, index)) = snapshot.plan.entry(entry) else {
        let text = format!(
            "no track goes through the layers of the entry point `{}`",
            entry.as_str()
        );
        draft.say(Line::repository(Verdict::Refused, Reason::Unknown, text).requested());
        return None;
    };
    next(draft, track, Call::At(index))
}

/// Why a track is looked at.
#[derive(Debug, Clone, Copy)]
enum Call {
    /// Its turn may have come.
    Due,
    /// A person wants its next step.
    Now,
    /// A person wants a pass to begin at this step.
    At(usize),
}

fn forced(is_forced: bool) -> Call {
    if is_forced { Call::Now } else { Call::Due }
}

/// The next step of a track in which a persona turned out to be unable to run. Who asked for a persona asked for nobody
/// else.
pub(crate) fn instead(draft: &mut Draft<'_>, name: &TrackName) -> Option<Candidate> {
    let snapshot = draft.snapshot;
    let call = match &snapshot.ask {
        Ask::Due => Call::Due,
        Ask::Track(_) => Call::Now,
        Ask::Enter(entry) => return entering(draft, *entry),
        Ask::Persona(_) | Ask::All => return None,
    };
    next(draft, snapshot.plan.tracks.get(name)?, call)
}

fn next(draft: &mut Draft<'_>, plan: &Track, call: Call) -> Option<Candidate> {
    let state = draft
        .state
        .tracks
        .get(&plan.name)
        .cloned()
        .unwrap_or_default();
    if !state.turns.is_empty() {
        return None;
    }
    if let Some(pause) = &state.paused {
        let text = pause::paused_by("track", &plan.name, pause);
        let (verdict, reason) = (Verdict::Paused, Reason::PausedTrack);
        draft.say(Line::track(&plan.name, verdict, reason, text));
        return None;
    }
    if plan.steps.is_empty() {
        draft.say(Line::track(
            &plan.name,
            Verdict::Skipped,
            Reason::TrackEmpty,
            "the track has no steps",
        ));
        return None;
    }
    let mut skipped = Vec::new();
    // Who asks for the track wants to know why nothing is done, and not that it was so before.
    let is_due = matches!(call, Call::Due);
    let sight = layer_idle::sight(draft, plan, state.passes + 1).filter(|_| is_due);
    let idle = sight.is_some() && sight == state.idle;
    let found = walk(draft, plan, &state, (call, idle), &mut skipped);
    match found {
        Walk::Found {
            index,
            passes,
            started,
            work,
            beside,
        } => {
            let step = &plan.steps[index];
            for line in skipped {
                draft.say(line);
            }
            let (index, passes) = (index as u64, passes);
            Some(Candidate {
                track: plan.name.clone(),
                work,
                beside,
                policy: step.policy.clone(),
                due_since: started.or(state.updated_at).unwrap_or(Timestamp::MIN),
                cause: Cause::Track {
                    index,
                    passes,
                    started,
                },
            })
        }
        Walk::Unread(what) => {
            for line in skipped {
                draft.say(line);
            }
            let line = Line::track(&plan.name, Verdict::Waiting, Reason::ExchangeUnread, what);
            draft.say(line.until(draft.after(POLL)));
            None
        }
        Walk::NotDue(until) => {
            for line in skipped {
                draft.say(line);
            }
            let line = Line::track(
                &plan.name,
                Verdict::Waiting,
                Reason::NotDue,
                "its next pass begins later",
            );
            draft.say(match until {
                Some(until) => line.until(until),
                None => line,
            });
            None
        }
        Walk::NobodyCan => {
            // When nobody has work because nothing moved, that is the news; else each reason is.
            let unchanged = skipped.iter().all(|line| line.reason == Reason::Unchanged);
            if !idle {
                layer_idle::remember(draft, plan, state.passes + 1, &skipped);
            }
            if unchanged {
                let text = match idle {
                    true => {
                        "nothing that its layers look at has changed since they had nothing to do"
                    }
                    false => "the default branch has not moved since anybody's last turn",
                };
                draft.say(Line::track(
                    &plan.name,
                    Verdict::Waiting,
                    Reason::Unchanged,
                    text,
                ));
            } else {
                for line in skipped {
                    draft.say(line);
                }
                let text = "no step of the track can run now";
                draft.say(Line::track(
                    &plan.name,
                    Verdict::Waiting,
                    Reason::TrackEmpty,
                    text,
                ));
            }
            None
        }
    }
}

enum Walk {
    Found {
        index: usize,
        passes: u64,
        started: Option<Timestamp>,
        work: Work,
        beside: Vec<Work>,
    },
    /// It takes something to go on that is being read.
    Unread(&'static str),
    NotDue(Option<Timestamp>),
    NobodyCan,
}

/// Walks once round the track from the step after the pointer to the first that can run.
fn walk(
    draft: &mut Draft<'_>,
    plan: &Track,
    state: &TrackState,
    (call, idle): (Call, bool),
    skipped: &mut Vec<Line>,
) -> Walk {
    let all = plan.steps.len();
    let last = pointer(plan, state);
    // What did not fit into one decider's prompt goes to the next one, in the same pass.
    let again = !matches!(call, Call::At(_))
        && last.is_some_and(|last| more_to_decide(draft, plan, state, last));
    let first = match last {
        _ if let Call::At(index) = call => index,
        Some(last) if again => last,
        Some(_) if starts_new_pass(draft, plan, state, call) => all,
        Some(last) => last + 1,
        None => 0,
    };
    let mut passes = state.passes;
    let mut started = None;
    // Whoever says where a pass begins means no other one.
    let count = if let Call::At(index) = call {
        all - index
    } else {
        all
    };
    for step in 0..count {
        let index = (first + step) % all;
        if index == 0 && !(again && step == 0) {
            match pass_start(draft, plan, state, !matches!(call, Call::Due)) {
                Ok(at) => started = at,
                Err(until) => {
                    if step > 0 {
                        pass_over(draft, plan, first);
                    }
                    return Walk::NotDue(until);
                }
            }
            // The very first pass is pass 0; each time the pointer comes round again, one is done.
            if last.is_some() {
                passes = state.passes + 1;
            }
        }
        let work = match &plan.steps[index].kind {
            StepKind::Layer(name) if idle => {
                let text = format!("layer `{name}`: it had nothing to do, and nothing has changed");
                let line = Line::track(&plan.name, Verdict::Skipped, Reason::Unchanged, text);
                skipped.push(line);
                continue;
            }
            StepKind::Layer(name) => match layer_step::due(draft, plan, index, passes, skipped) {
                Due::Ready(work) => work,
                Due::Unread(what) => return Walk::Unread(what),
                Due::Skip { reason, detail } => {
                    let text = format!("layer `{name}`: {detail}");
                    skipped.push(Line::track(&plan.name, Verdict::Skipped, reason, text));
                    continue;
                }
            },
            StepKind::Persona(_) => match evaluate(draft, plan, index, passes) {
                Ok(work) => vec![work],
                Err(line) => {
                    skipped.push(*line);
                    continue;
                }
            },
        };
        let mut work = work.into_iter();
        if let Some(first) = work.next() {
            return Walk::Found {
                index,
                passes,
                started,
                work: first,
                beside: work.collect(),
            };
        }
    }
    Walk::NobodyCan
}

/// Whether the step that ran last was a decider's, something came of it, and events are left that it was not given. That
/// ends, since each time fewer are left.
fn more_to_decide(draft: &Draft<'_>, plan: &Track, state: &TrackState, last: usize) -> bool {
    let is_decider = |step: &Step| matches!(&step.kind, StepKind::Layer(name) if name == "decider");
    if !plan.steps.get(last).is_some_and(is_decider) {
        return false;
    }
    let entries = draft.state.history.values().rev();
    let of_track = entries.filter(|entry| entry.is_of_track(&plan.name));
    let deciders = of_track.take_while(|entry| entry.persona_id.as_str().starts_with("decider"));
    let sound: Vec<_> = deciders
        .take(DECIDER_BATCHES)
        .map(|entry| entry.seq == Some(state.seq) && entry.outcome == Some(Outcome::Imported))
        .collect();
    sound.first() == Some(&true) && sound.len() < DECIDER_BATCHES
}

/// Whether a start has come after a pass that stalled in the middle: then the new pass begins where the plan says, and not
/// where the old one stopped.
fn starts_new_pass(draft: &mut Draft<'_>, plan: &Track, state: &TrackState, call: Call) -> bool {
    state.pass_stalled
        && matches!(call, Call::Due)
        && matches!(pass_start(draft, plan, state, false), Ok(Some(_)))
}

/// Writes down that a pass is over whose last layers had nothing to do. Until the next one begins nobody has to look at
/// the exchange again to know that. A persona that is left out has its turn as soon as it can run, so where one is among
/// the rest of the pass, the pointer stays.
fn pass_over(draft: &mut Draft<'_>, plan: &Track, first: usize) {
    let rest = plan.steps.get(first..).unwrap_or_default();
    let of_layers = |step: &Step| matches!(step.kind, StepKind::Layer(_));
    if rest.is_empty() {
        return;
    }
    let Some(StepKind::Layer(name)) = plan.steps.last().map(|step| &step.kind) else {
        draft.track_mut(&plan.name).pass_stalled = true;
        return;
    };
    if !rest.iter().all(of_layers) {
        draft.track_mut(&plan.name).pass_stalled = true;
        return;
    }
    let persona = PersonaId::from(name.as_str());
    let index = plan.steps.len() as u64 - 1;
    let state = draft.track_mut(&plan.name);
    state.index = Some(index);
    state.persona_id = Some(persona);
    draft.headline(format!("pass of {} is over", plan.name), None);
}

/// Whether a pass may begin: `Ok` with the start slot it answers, `Err` with the time of the next one.
fn pass_start(
    draft: &mut Draft<'_>,
    plan: &Track,
    state: &TrackState,
    forced: bool,
) -> Result<Option<Timestamp>, Option<Timestamp>> {
    let Some(start) = &plan.start else {
        return Ok(None);
    };
    let now = draft.now();
    if forced {
        return Ok(Some(now));
    }
    let Some(last) = state.last_started else {
        // First sight: starts count from now on.
        let expression = timing::written(start);
        let known = draft.track_mut(&plan.name);
        known.last_started = Some(now);
        known.timing.expression = Some(expression);
        return Err(start.next_after(now));
    };
    let timing = draft.state.tracks.get(&plan.name);
    let timing = timing.map(|known| known.timing.clone()).unwrap_or_default();
    if timing::is_unread(&timing, start) {
        return Err(Some(draft.after(POLL)));
    }
    start
        .newest_in(timing::counted_from(&timing, last), now)
        .or_else(|| timing::missed(&timing, last).last().copied())
        .map(Some)
        .ok_or_else(|| start.next_after(now))
}

fn evaluate(draft: &Draft<'_>, plan: &Track, index: usize, passes: u64) -> Result<Work, Box<Line>> {
    let step = &plan.steps[index];
    let policy: &Policy = &step.policy;
    let StepKind::Persona(id) = &step.kind else {
        let text = "the step has no work";
        let line = Line::track(&plan.name, Verdict::Skipped, Reason::TrackEmpty, text);
        return Err(Box::new(line));
    };
    let left_out = |reason, text| {
        let line = Line::track(&plan.name, Verdict::Skipped, reason, text);
        Box::new(line.persona(id))
    };
    let work = eligibility::persona_work(draft.snapshot, id, policy, false)
        .map_err(|(reason, text)| left_out(reason, text))?;
    match reluctance(draft, &plan.name, passes, &work, policy) {
        Some((reason, text)) => Err(left_out(reason, text)),
        None => Ok(work),
    }
}
