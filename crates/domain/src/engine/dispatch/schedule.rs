//! Schedules: personas that run by the clock.

use jiff::Timestamp;

use super::candidate::{Candidate, Cause};
use super::eligibility::{reluctance, slot_work};
use super::{pause, timing};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{CATCH_UP_TOLERANCE, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::TrackName;
use crate::plan::{CatchUp, Cron, Schedule};

pub(crate) fn candidates(draft: &mut Draft<'_>) -> Vec<Candidate> {
    let snapshot = draft.snapshot;
    snapshot
        .plan
        .schedules
        .values()
        .filter_map(|schedule| next(draft, schedule))
        .collect()
}

fn next(draft: &mut Draft<'_>, schedule: &Schedule) -> Option<Candidate> {
    let persona = &schedule.persona;
    let track = TrackName::of_schedule(persona);
    let Some(cron) = &schedule.cron else {
        let text = "it runs only when asked for";
        draft.say(Line::track(&track, Verdict::Skipped, Reason::Manual, text).persona(persona));
        return None;
    };
    let state = draft.state.tracks.get(&track);
    if state.is_some_and(|state| !state.turns.is_empty()) {
        return None;
    }
    if let Some(pause) = state.and_then(|state| state.paused.as_ref()) {
        let text = pause::paused_by("schedule", &track, pause);
        draft.say(Line::track(&track, Verdict::Paused, Reason::PausedTrack, text).persona(persona));
        return None;
    }
    let (slot, due_since) = slot_due(draft, &track, schedule, cron)?;
    let work = match slot_work(draft, persona, &schedule.policy, false) {
        Ok(work) => work,
        Err((reason, text)) => {
            draft.say(Line::track(&track, Verdict::Skipped, reason, text).persona(persona));
            return None;
        }
    };
    if let Some((reason, text)) = reluctance(draft, &track, 0, &work, &schedule.policy) {
        let line = Line::track(&track, Verdict::Waiting, reason, text).persona(persona);
        draft.say(line);
        return None;
    }
    let policy = schedule.policy.clone();
    Some(Candidate {
        track,
        work,
        beside: Vec::new(),
        policy,
        due_since,
        cause: Cause::Schedule { slot },
    })
}

/// The slot to answer, and since when one has been waiting. Says so when there is none.
fn slot_due(
    draft: &mut Draft<'_>,
    track: &TrackName,
    schedule: &Schedule,
    cron: &Cron,
) -> Option<(Timestamp, Timestamp)> {
    let now = draft.now();
    let persona = &schedule.persona;
    let known = draft
        .state
        .schedules
        .entry(persona.as_str().to_owned())
        .or_default();
    let Some(last) = known.last_fired else {
        // First sight: slots count from now on.
        known.last_fired = Some(now);
        known.timing.expression = Some(timing::written(cron));
        not_due(draft, track, schedule, cron);
        return None;
    };
    if timing::is_unread(&known.timing, cron) {
        let line = Line::track(
            track,
            Verdict::Waiting,
            Reason::NotDue,
            "since when it runs at these times is being read",
        );
        draft.say(line.persona(persona).until(draft.after(POLL)));
        return None;
    }
    let from = timing::counted_from(&known.timing, last);
    let missed = timing::missed(&known.timing, last);
    let newest = cron.newest_in(from, now).or(missed.last().copied());
    let Some(newest) = newest else {
        not_due(draft, track, schedule, cron);
        return None;
    };
    let oldest = missed.first().copied();
    let oldest = oldest.or_else(|| cron.next_after(from)).unwrap_or(newest);
    match schedule.policy.catch_up {
        CatchUp::One => Some((newest, oldest)),
        CatchUp::All => Some((oldest, oldest)),
        CatchUp::None if now.duration_since(newest) <= CATCH_UP_TOLERANCE => Some((newest, newest)),
        CatchUp::None => {
            known.last_fired = Some(newest);
            let text = format!("the slot of {newest} was missed, and missed slots are forgotten");
            draft.say(
                Line::track(track, Verdict::Skipped, Reason::SlotsMissed, text).persona(persona),
            );
            draft.headline(format!("missed {track}"), None);
            None
        }
    }
}

fn not_due(draft: &mut Draft<'_>, track: &TrackName, schedule: &Schedule, cron: &Cron) {
    let line = Line::track(
        track,
        Verdict::Waiting,
        Reason::NotDue,
        format!("runs at `{}`", cron.expression()),
    );
    let line = line.persona(&schedule.persona);
    draft.say(match cron.next_after(draft.now()) {
        Some(until) => line.until(until),
        None => line,
    });
}
