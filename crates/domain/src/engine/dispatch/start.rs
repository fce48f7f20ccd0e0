//! What is due is started, as far as gates and budgets allow.

use super::candidate::{Candidate, Cause, Work, wait};
use super::{announce, budget, pause, request_gate, request_rate, requested, schedule, track};
use crate::engine::input::snapshot::Ask;
use crate::engine::lookup::slot::{self, Seat};
use crate::engine::lookup::{exchange_view, pending_requests, request_origin};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{INTENTS_PER_COMMIT, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::{request, turn};
use crate::model::TrackName;
use crate::plan::Mode;
use crate::state::Turn;

pub(crate) fn due(draft: &mut Draft<'_>, mut started: usize) {
    let mut candidates = retries(draft);
    match draft.snapshot.ask.clone() {
        Ask::Due => {
            candidates.extend(requested::candidates(draft));
            candidates.extend(track::candidates(draft, None));
            candidates.extend(schedule::candidates(draft));
        }
        Ask::Track(name) => candidates.extend(track::candidates(draft, Some(&name))),
        Ask::Enter(entry) => candidates.extend(track::entering(draft, entry)),
        Ask::Persona(_) | Ask::All => candidates.extend(requested::candidates(draft)),
    }
    let tracks_work = budget::tracks_work(draft, &candidates);
    candidates.sort_by_key(Candidate::order);
    for candidate in candidates {
        let mut next = Some(candidate);
        // Who is left out once is not found again, so this ends with the steps of the track.
        while let Some(candidate) = next.take() {
            // Only what one commit can announce is rendered.
            let begun = started + draft.needs.prompts.len();
            if let Some(line) = obstacle(draft, &candidate, begun, tracks_work) {
                draft.say(line);
                continue;
            }
            match announce::start(draft, &candidate) {
                Ok(()) => started += 1,
                Err((reason @ Reason::PromptUnread, text)) => {
                    let until = draft.after(POLL);
                    draft.say(wait(&candidate, reason, text).until(until));
                }
                Err(why) => next = leave_out(draft, &candidate, why),
            }
        }
    }
}

/// Leaves out a persona that cannot run after all: its track goes on to the next step, which is the answer; a turn of it
/// that has no session is given up, a request refused.
fn leave_out(
    draft: &mut Draft<'_>,
    candidate: &Candidate,
    (reason, text): (Reason, String),
) -> Option<Candidate> {
    let (track, persona) = (&candidate.track, &candidate.work.persona);
    if let Cause::Request { key } = &candidate.cause {
        request::refuse(draft, key, track, persona, reason, text);
        return None;
    }
    if let Some(turn) = draft.turn(track, &candidate.work.slot).cloned() {
        let what = format!("given up before it had a session: {text}");
        turn::drop_unstarted(draft, track, &candidate.work.slot, &turn, &what);
        request::note_refusal(draft, track, reason);
    }
    draft.say(Line::track(track, Verdict::Skipped, reason, text.clone()).persona(persona));
    let place = (track.clone(), candidate.work.slot.clone(), persona.clone());
    draft.unable.insert(place, (reason, text));
    track::instead(draft, track)
}

/// What stands in the way of a candidate, cheapest question first: Jules is asked only when nothing else does.
fn obstacle(
    draft: &mut Draft<'_>,
    candidate: &Candidate,
    started: usize,
    tracks_work: bool,
) -> Option<Line> {
    if candidate.policy.mode == Mode::Observe {
        let text = "`mode` is \"observe\" here; it is decided and reported, not started";
        return Some(wait(candidate, Reason::ObserveMode, text));
    }
    request_gate::on_hold(draft, candidate)
        .or_else(|| request_rate::spent(draft, candidate))
        .or_else(|| busy_elsewhere(draft, candidate))
        .or_else(|| budget::red(draft, candidate))
        .or_else(|| budget::of_repository(draft, candidate))
        .or_else(|| budget::of_schedules(draft, candidate, tracks_work))
        .or_else(|| budget::of_key(draft, candidate))
        .or_else(|| {
            (started >= INTENTS_PER_COMMIT).then(|| {
                let now = draft.now();
                wait(
                    candidate,
                    Reason::NextCommit,
                    "one commit starts three sessions; the next one goes on",
                )
                .until(now)
            })
        })
        .or_else(|| unread_layers(draft, candidate))
        .or_else(|| request_gate::unread(draft, candidate))
        .or_else(|| request_gate::still_on_hold(draft, candidate))
}

/// Whether what a layer's prompt is made of is still to be read.
fn unread_layers(draft: &mut Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let seat = Seat::of(&candidate.work.slot)?;
    exchange_view::unread_for(draft, &seat).then(|| {
        let text = "what its prompt is made of is being read";
        wait(candidate, Reason::ExchangeUnread, text).until(draft.after(POLL))
    })
}

fn busy_elsewhere(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let persona = &candidate.work.persona;
    // Implementers and planners are many: what must not be doubled there is the work item.
    let item = Seat::of(&candidate.work.slot).is_some_and(|seat| seat.item().is_some());
    let (busy, _) = draft.state.tracks.iter().find(|(name, track)| {
        let mut turns = track.turns.iter();
        // Most tracks have no turns, and names take longer to compare.
        turns.any(|(slot, turn)| match item {
            true => *slot == candidate.work.slot,
            false => turn.persona_id == *persona,
        }) && **name != candidate.track
    })?;
    let text = format!("`{persona}` is at work in track `{busy}`");
    Some(wait(candidate, Reason::PersonaBusy, text).until(draft.after(POLL)))
}

/// Whether a turn's next attempt is still to be started.
fn is_between(turn: &Turn) -> bool {
    turn.session_id.is_none() && turn.intent.is_none() && !turn.cancel
}

/// Whether no attempt at a turn was begun yet.
fn is_first(turn: &Turn) -> bool {
    turn.attempt == 1 && turn.not_before.is_none()
}

/// Live turns whose next attempt is due.
fn retries(draft: &mut Draft<'_>) -> Vec<Candidate> {
    let now = draft.now();
    let mut candidates = Vec::new();
    let mut lines = Vec::new();
    let wanted = |name: &TrackName| match &draft.snapshot.ask {
        Ask::Track(only) => name == only,
        Ask::Enter(entry) => {
            let named = draft.snapshot.plan.entry(*entry);
            named.is_some_and(|(track, _)| track.name == *name)
        }
        Ask::Due | Ask::Persona(_) | Ask::All => true,
    };
    for (name, track) in draft.state.tracks.iter().filter(|(name, _)| wanted(name)) {
        for (slot, turn) in &track.turns {
            if !is_between(turn) || slot::is_of_newer_version(slot) {
                continue;
            }
            if let Some(pause) = &track.paused {
                let text = pause::paused_by("track", name, pause);
                lines.push(Line::turn(
                    name,
                    track.seq,
                    slot,
                    turn,
                    Verdict::Paused,
                    Reason::PausedTrack,
                    text,
                ));
                continue;
            }
            let due_since = turn.not_before.unwrap_or(now);
            if due_since > now {
                let text = "the next attempt waits for its time";
                let line = Line::turn(
                    name,
                    track.seq,
                    slot,
                    turn,
                    Verdict::Waiting,
                    Reason::RetryPause,
                    text,
                );
                lines.push(line.until(due_since));
                continue;
            }
            candidates.push(Candidate {
                track: name.clone(),
                work: Work {
                    slot: slot.clone(),
                    persona: turn.persona_id.clone(),
                },
                beside: Vec::new(),
                policy: request_origin::policy_of(draft, name, track.index, &turn.persona_id),
                due_since,
                cause: if is_first(turn) && Seat::of(slot).is_some() {
                    Cause::Slot
                } else {
                    Cause::Retry
                },
            });
        }
    }
    for line in lines {
        draft.say(line);
    }
    candidates
}

/// While everything is paused, each track and schedule still has its line, so have turns between two attempts, and so has
/// what a person asked for.
pub(crate) fn say_paused(draft: &mut Draft<'_>, reason: Reason) {
    let text = "nothing starts while the repository is paused";
    let plan = &draft.snapshot.plan;
    let schedules = plan.schedules.keys().map(TrackName::of_schedule);
    let names: Vec<_> = plan.tracks.keys().cloned().chain(schedules).collect();
    for name in names {
        let track = draft.state.tracks.get(&name);
        if track.is_none_or(|track| track.turns.is_empty()) {
            draft.say(Line::track(&name, Verdict::Paused, reason, text));
        }
    }
    let mut lines = Vec::new();
    for (name, track) in &draft.state.tracks {
        for (slot, turn) in track
            .turns
            .iter()
            .filter(|(slot, turn)| is_between(turn) && !slot::is_of_newer_version(slot))
        {
            let (verdict, seq) = (Verdict::Paused, track.seq);
            lines.push(Line::turn(name, seq, slot, turn, verdict, reason, text));
        }
    }
    for asked in pending_requests::pending(draft) {
        let line = Line::track(&asked.track, Verdict::Paused, reason, text);
        lines.push(line.persona(&asked.persona));
    }
    for line in lines {
        draft.say(line);
    }
    let line = match &draft.snapshot.ask {
        Ask::Due | Ask::Track(_) | Ask::Enter(_) => return,
        Ask::Persona(id) => Line::repository(Verdict::Refused, reason, text).persona(id),
        Ask::All => Line::repository(Verdict::Refused, reason, text),
    };
    draft.say(line.requested());
}
