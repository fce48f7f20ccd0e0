//! Starts what is due, as far as gates and budgets allow.

use super::candidate::{Candidate, Cause, SlotWork, waiting_line};
use super::{
    announce, budget, overlap, pause, request_gate, request_rate, requested, schedule, track,
};
use crate::engine::input::snapshot::RunRequest;
use crate::engine::lookup::slot::{self, SlotRole};
use crate::engine::lookup::unknown_persona::unknown_persona_line;
use crate::engine::lookup::{exchange_view, pending_requests, request_origin};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{INTENTS_PER_COMMIT, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::{request, turn};
use crate::model::TrackName;
use crate::plan::Mode;
use crate::state::Turn;

pub(crate) fn start_due(builder: &mut DecisionBuilder<'_>, mut started: usize) {
    let mut candidates = retry_candidates(builder);
    match builder.snapshot.run_request.clone() {
        RunRequest::Due => {
            candidates.extend(requested::request_candidates(builder));
            candidates.extend(track::track_candidates(builder, None));
            candidates.extend(schedule::schedule_candidates(builder));
        }
        RunRequest::Track(name) => candidates.extend(track::track_candidates(builder, Some(&name))),
        RunRequest::Enter(entry) => candidates.extend(track::entry_candidate(builder, entry)),
        RunRequest::Persona(_) | RunRequest::All => {
            candidates.extend(requested::request_candidates(builder))
        }
    }
    let tracks_work = budget::has_track_work(builder, &candidates);
    candidates.sort_by_key(Candidate::sort_key);
    for candidate in candidates {
        let mut next = Some(candidate);
        // A skipped slot is not found again, so this ends with the steps of the track.
        while let Some(candidate) = next.take() {
            // Render only what one commit can announce.
            let begun = started + builder.reads.prompts.len();
            if let Some(line) = find_obstacle(builder, &candidate, begun, tracks_work) {
                builder.report_line(line);
                continue;
            }
            match announce::announce_session(builder, &candidate) {
                Ok(()) => started += 1,
                Err((reason @ Reason::PromptUnread, text)) => {
                    let until = builder.now_plus(POLL);
                    builder.report_line(waiting_line(&candidate, reason, text).with_until(until));
                }
                Err(why) => next = skip_candidate(builder, &candidate, why),
            }
        }
    }
}

/// Skips a candidate that cannot start after all: its track moves to the next step, a turn without a session ends, a
/// request is refused.
fn skip_candidate(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
    (reason, text): (Reason, String),
) -> Option<Candidate> {
    let (track, persona) = (&candidate.track, &candidate.work.persona);
    if let Cause::Request { key } = &candidate.cause {
        request::refuse_request(builder, key, track, persona, reason, text);
        return None;
    }
    if let Some(turn) = builder.find_turn(track, &candidate.work.slot).cloned() {
        let what = format!("given up before it had a session: {text}");
        turn::drop_unstarted(builder, track, &candidate.work.slot, &turn, &what);
        request::note_refusal(builder, track, reason);
    }
    builder.report_line(
        Line::about_track(track, Verdict::Skipped, reason, text.clone()).with_persona(persona),
    );
    let place = (track.clone(), candidate.work.slot.clone(), persona.clone());
    builder.unable_slots.insert(place, (reason, text));
    track::next_after_skip(builder, track)
}

/// Returns what blocks a candidate, cheapest check first: Jules is asked only when nothing else blocks it.
fn find_obstacle(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
    started: usize,
    tracks_work: bool,
) -> Option<Line> {
    if candidate.policy.mode == Mode::Observe {
        let text = "`mode` is \"observe\" here; it is decided and reported, not started";
        return Some(waiting_line(candidate, Reason::ObserveMode, text));
    }
    request_gate::hold_line(builder, candidate)
        .or_else(|| request_rate::rate_limit_line(builder, candidate))
        .or_else(|| busy_line(builder, candidate))
        .or_else(|| budget::default_checks_failed(builder, candidate))
        .or_else(|| budget::repository_limit(builder, candidate))
        .or_else(|| budget::schedule_limit(builder, candidate, tracks_work))
        .or_else(|| budget::quota_pause(builder, candidate))
        .or_else(|| overlap::overlap_line(builder, candidate))
        .or_else(|| budget::key_limit(builder, candidate))
        .or_else(|| {
            (started >= INTENTS_PER_COMMIT).then(|| {
                let now = builder.now();
                waiting_line(
                    candidate,
                    Reason::NextCommit,
                    "one commit starts three sessions; the next commit continues",
                )
                .with_until(now)
            })
        })
        .or_else(|| unread_layers_line(builder, candidate))
        .or_else(|| request_gate::unread_line(builder, candidate))
        .or_else(|| request_gate::reread_hold_line(builder, candidate))
}

/// Blocks a layer's slot while its inputs must be read.
fn unread_layers_line(builder: &mut DecisionBuilder<'_>, candidate: &Candidate) -> Option<Line> {
    let slot_role = SlotRole::from_slot(&candidate.work.slot)?;
    exchange_view::request_inputs(builder, &slot_role).then(|| {
        let text = "the inputs of its prompt are being read";
        waiting_line(candidate, Reason::ExchangeUnread, text).with_until(builder.now_plus(POLL))
    })
}

fn busy_line(builder: &DecisionBuilder<'_>, candidate: &Candidate) -> Option<Line> {
    let persona = &candidate.work.persona;
    // Several implementers and planners may run; only a work item must not be doubled.
    let item = SlotRole::from_slot(&candidate.work.slot)
        .is_some_and(|slot_role| slot_role.item_id().is_some());
    // Of turns that all wait for their session, that of the first track goes first, and one that cannot start yet last.
    let waits = builder
        .find_turn(&candidate.track, &candidate.work.slot)
        .is_some();
    let (busy, _) = builder.state.tracks.iter().find(|(name, track)| {
        let goes_later = |turn: &Turn| {
            let is_later = track.paused.is_some() || **name > candidate.track;
            let is_held = turn.not_before.is_some_and(|at| builder.now() < at);
            waits && is_between_attempts(turn) && (is_later || is_held)
        };
        let mut turns = track.turns.iter();
        // Compare names last: most tracks have no turns.
        turns.any(|(slot, turn)| match item {
            true => *slot == candidate.work.slot,
            false => turn.persona_id == *persona && !goes_later(turn),
        }) && **name != candidate.track
    })?;
    let text = format!("`{persona}` is at work in track `{busy}`");
    Some(waiting_line(candidate, Reason::PersonaBusy, text).with_until(builder.now_plus(POLL)))
}

/// Whether a turn waits for its next attempt.
fn is_between_attempts(turn: &Turn) -> bool {
    turn.session_id.is_none() && turn.intent.is_none() && !turn.cancel
}

/// Whether no attempt of a turn was started yet.
fn is_first_attempt(turn: &Turn) -> bool {
    turn.attempt == 1 && turn.not_before.is_none()
}

/// Live turns whose next attempt is due.
fn retry_candidates(builder: &mut DecisionBuilder<'_>) -> Vec<Candidate> {
    let now = builder.now();
    let mut candidates = Vec::new();
    let mut lines = Vec::new();
    let wanted = |name: &TrackName| match &builder.snapshot.run_request {
        RunRequest::Track(only) => name == only,
        RunRequest::Enter(entry) => {
            let named = builder.snapshot.plan.entry(*entry);
            named.is_some_and(|(track, _)| track.name == *name)
        }
        RunRequest::Due | RunRequest::Persona(_) | RunRequest::All => true,
    };
    for (name, track) in builder.state.tracks.iter().filter(|(name, _)| wanted(name)) {
        for (slot, turn) in &track.turns {
            if !is_between_attempts(turn) || slot::is_of_newer_version(slot) {
                continue;
            }
            let line = |verdict, reason, text: String| {
                Line::about_turn(name, track.seq, slot, turn, verdict, reason, text)
            };
            if let Some(pause) = &track.paused {
                let text = pause::paused_text(name, pause);
                lines.push(line(Verdict::Paused, Reason::PausedTrack, text));
                continue;
            }
            let due_since = turn.not_before.unwrap_or(now);
            if due_since > now {
                let text = "the next attempt waits for its time".to_owned();
                let line = line(Verdict::Waiting, Reason::RetryPause, text);
                lines.push(line.with_until(due_since));
                continue;
            }
            candidates.push(Candidate {
                track: name.clone(),
                work: SlotWork {
                    slot: slot.clone(),
                    persona: turn.persona_id.clone(),
                },
                siblings: Vec::new(),
                policy: request_origin::turn_policy(builder, name, &turn.persona_id),
                due_since,
                cause: if is_first_attempt(turn) && SlotRole::from_slot(slot).is_some() {
                    Cause::Slot
                } else {
                    Cause::Retry
                },
            });
        }
    }
    for line in lines {
        builder.report_line(line);
    }
    candidates
}

/// Reports each track, schedule, turn between two attempts and request while the repository is paused.
pub(crate) fn report_paused(builder: &mut DecisionBuilder<'_>, reason: Reason) {
    let text = "nothing starts while the repository is paused";
    let plan = &builder.snapshot.plan;
    let schedules = plan.schedules.keys().map(TrackName::of_schedule);
    let names: Vec<_> = plan.tracks.keys().cloned().chain(schedules).collect();
    for name in names {
        let track = builder.state.tracks.get(&name);
        if track.is_none_or(|track| track.turns.is_empty()) {
            builder.report_line(Line::about_track(&name, Verdict::Paused, reason, text));
        }
    }
    let mut lines = Vec::new();
    for (name, track) in &builder.state.tracks {
        for (slot, turn) in track
            .turns
            .iter()
            .filter(|(slot, turn)| is_between_attempts(turn) && !slot::is_of_newer_version(slot))
        {
            let (verdict, seq) = (Verdict::Paused, track.seq);
            lines.push(Line::about_turn(
                name, seq, slot, turn, verdict, reason, text,
            ));
        }
    }
    for asked in pending_requests::waiting_requests(builder) {
        let line = Line::about_track(&asked.track, Verdict::Paused, reason, text);
        lines.push(line.with_persona(&asked.persona));
    }
    for line in lines {
        builder.report_line(line);
    }
    let line = match &builder.snapshot.run_request {
        RunRequest::Due | RunRequest::Track(_) | RunRequest::Enter(_) => return,
        RunRequest::Persona(id) if !builder.snapshot.plan.personas.contains_key(id) => {
            unknown_persona_line(&builder.snapshot.plan, id)
        }
        RunRequest::Persona(id) => {
            Line::about_repository(Verdict::Refused, reason, text).with_persona(id)
        }
        RunRequest::All => Line::about_repository(Verdict::Refused, reason, text),
    };
    builder.report_line(line.mark_requested());
}
