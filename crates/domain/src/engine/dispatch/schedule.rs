//! Schedules: personas that start at cron times.

use jiff::Timestamp;

use super::candidate::{Candidate, Cause};
use super::eligibility::{persona_work, skip_reason};
use super::exhaustion::check_rest;
use super::pause;
use super::timing::{self, SlotDue};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::TrackName;
use crate::plan::{Cron, Schedule};

pub(crate) fn schedule_candidates(builder: &mut DecisionBuilder<'_>) -> Vec<Candidate> {
    let snapshot = builder.snapshot;
    snapshot
        .plan
        .schedules
        .values()
        .filter_map(|schedule| next_candidate(builder, schedule))
        .collect()
}

fn next_candidate(builder: &mut DecisionBuilder<'_>, schedule: &Schedule) -> Option<Candidate> {
    let persona = &schedule.persona;
    let track = TrackName::of_schedule(persona);
    let Some(cron) = &schedule.cron else {
        let text = "it runs only on request";
        builder.report_line(
            Line::about_track(&track, Verdict::Skipped, Reason::Manual, text).with_persona(persona),
        );
        return None;
    };
    let state = builder.state.tracks.get(&track);
    if state.is_some_and(|state| !state.turns.is_empty()) {
        return None;
    }
    if let Some(pause) = state.and_then(|state| state.paused.as_ref()) {
        let text = pause::paused_text(&track, pause);
        builder.report_line(
            Line::about_track(&track, Verdict::Paused, Reason::PausedTrack, text)
                .with_persona(persona),
        );
        return None;
    }
    let (slot, due_since) = slot_due(builder, &track, schedule, cron)?;
    let work = match persona_work(builder.snapshot, persona, &schedule.policy, false) {
        Ok(work) => work,
        Err((reason, text)) => {
            builder.report_line(
                Line::about_track(&track, Verdict::Skipped, reason, text).with_persona(persona),
            );
            return None;
        }
    };
    check_rest(builder, persona);
    if let Some((reason, text)) = skip_reason(builder, &track, 0, &work, &schedule.policy) {
        let line = Line::about_track(&track, Verdict::Waiting, reason, text).with_persona(persona);
        builder.report_line(line);
        return None;
    }
    let policy = schedule.policy.clone();
    Some(Candidate {
        track,
        work,
        siblings: Vec::new(),
        policy,
        due_since,
        cause: Cause::Schedule { slot },
    })
}

/// The cron slot to start, and since when one has been waiting. Reports when there is none.
fn slot_due(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    schedule: &Schedule,
    cron: &Cron,
) -> Option<(Timestamp, Timestamp)> {
    let now = builder.now();
    let persona = &schedule.persona;
    let known = builder
        .state
        .schedules
        .entry(persona.as_str().to_owned())
        .or_default();
    let Some(last) = known.last_fired else {
        // A new schedule: slots count from now on.
        known.last_fired = Some(now);
        known.timing.expression = Some(timing::format_cron(cron));
        report_not_due(builder, track, schedule, cron);
        return None;
    };
    if timing::is_change_unread(&known.timing, cron) {
        let line = Line::about_track(
            track,
            Verdict::Waiting,
            Reason::NotDue,
            "the time of the last change of this schedule is being read",
        );
        builder.report_line(
            line.with_persona(persona)
                .with_until(builder.now_plus(POLL)),
        );
        return None;
    }
    match timing::slot_due(&known.timing, last, cron, schedule.policy.catch_up, now) {
        SlotDue::Not => {
            report_not_due(builder, track, schedule, cron);
            None
        }
        SlotDue::Now { slot, since } => Some((slot, since)),
        SlotDue::Missed(slot) => {
            known.last_fired = Some(slot);
            let text = format!("the slot of {slot} was missed, and the plan skips missed slots");
            builder.report_line(
                Line::about_track(track, Verdict::Skipped, Reason::SlotsMissed, text)
                    .with_persona(persona),
            );
            builder.add_headline(format!("missed {track}"), None);
            None
        }
    }
}

fn report_not_due(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    schedule: &Schedule,
    cron: &Cron,
) {
    let line = Line::about_track(
        track,
        Verdict::Waiting,
        Reason::NotDue,
        format!("runs at `{}`", cron.expression()),
    );
    let line = line.with_persona(&schedule.persona);
    builder.report_line(match cron.next_after(builder.now()) {
        Some(until) => line.with_until(until),
        None => line,
    });
}
