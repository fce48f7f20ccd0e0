//! From the types to the file: version 5, two spaces, keys in the order that the format's description shows.
//!
//! The keys of the shape that other programs read (`persona_id`, `session_id`, `pr_number`, `created_at`, `track` of
//! an entry; `persona_id`, `session_id`, `pr_number`, `updated_at` of a track) are always there, null where unknown.

use super::written::{Object, Written, time};
use super::{
    Amendment, BudgetState, Cursors, DashboardState, Genesis, HistoryEntry, Intent, Look,
    MergeState, Pause, PersonaState, PublishingState, Refusal, RefusedEffect, RequestState,
    STATE_VERSION, ScheduleState, State, StatusState, Timing, Told, TrackState, Turn, WatchedPull,
};
use crate::model::Oid;

/// The whole state.
pub(super) fn state(state: &State) -> Written<'_> {
    let mut out = Object::default();
    out.put("version", STATE_VERSION);
    if let Some(born) = &state.genesis {
        out.put("genesis", genesis(born));
    }
    out.table("history", &state.history, entry);
    if !state.amendments.is_empty() {
        out.table("amendments", &state.amendments, amendment);
    }
    out.table("tracks", &state.tracks, track);
    out.table("schedules", &state.schedules, schedule);
    out.table("requests", &state.requests, request);
    if !state.pulls.is_empty() {
        out.table("pulls", &state.pulls, watched);
    }
    out.table("personas", &state.personas, persona);
    out.put("budget", budget(&state.budget));
    out.put("cursors", cursors(&state.cursors));
    out.table("published", &state.published, |number| (*number).into());
    if !state.publishing.is_empty() {
        out.table("publishing", &state.publishing, publishing);
    }
    if !state.refused_effects.is_empty() {
        out.table("refused_effects", &state.refused_effects, refused_effect);
    }
    out.put("dashboard_issue", state.dashboard_issue);
    let shown = state.dashboard.as_ref();
    out.put_if("dashboard", shown.map(dashboard), shown.is_some());
    out.put("sprint", state.sprint);
    out.put("paused", state.paused.as_ref().map(pause));
    out.with(&state.extra)
}

fn genesis(genesis: &Genesis) -> Written<'_> {
    let mut out = Object::default();
    out.put("repository_id", genesis.repository_id.0);
    out.put("born_at", time(&genesis.born_at));
    out.put("nonce", genesis.nonce.as_str());
    out.with(&genesis.extra)
}

/// One history entry.
pub(super) fn entry(entry: &HistoryEntry) -> Written<'_> {
    let mut out = Object::default();
    out.put("persona_id", entry.persona_id.as_str());
    out.text("session_id", entry.session_id.as_ref());
    out.put("pr_number", entry.pr_number.map(|pull| pull.0));
    out.time("created_at", entry.created_at.as_ref());
    out.text("track", entry.track.as_ref());
    out.text_if("turn", entry.turn.as_ref());
    out.put_if("seq", entry.seq, entry.seq.is_some());
    out.text_if("slot", entry.slot.as_ref());
    out.put_if("attempt", entry.attempt, entry.attempt.is_some());
    out.text_if("base_sha", entry.base_sha.as_ref());
    out.text_if("outcome", entry.outcome.as_ref());
    out.time_if("finished_at", entry.finished_at.as_ref());
    if entry.turn.is_some() || !entry.duplicates.is_empty() {
        out.texts("duplicates", &entry.duplicates);
    }
    out.text_if("note", entry.note.as_ref());
    out.with(&entry.extra)
}

fn amendment(amendment: &Amendment) -> Written<'_> {
    let mut out = Object::default();
    out.text_if("outcome", amendment.outcome.as_ref());
    let pull = amendment.pr_number.map(|pull| pull.0);
    out.put_if("pr_number", pull, pull.is_some());
    out.time_if("finished_at", amendment.finished_at.as_ref());
    out.with(&amendment.extra)
}

fn track(track: &TrackState) -> Written<'_> {
    let mut out = Object::default();
    out.text("persona_id", track.persona_id.as_ref());
    out.text("session_id", track.session_id.as_ref());
    out.put("pr_number", track.pr_number.map(|pull| pull.0));
    out.time("updated_at", track.updated_at.as_ref());
    out.put_if("index", track.index, track.index.is_some());
    out.put("seq", track.seq);
    out.put("passes", track.passes);
    out.time_if("last_started", track.last_started.as_ref());
    out.put_if("pass_stalled", true, track.pass_stalled);
    timing(&mut out, &track.timing);
    if !track.base_shas.is_empty() {
        out.table("base_shas", &track.base_shas, |oid| oid.to_string().into());
    }
    if !track.refused.is_empty() {
        out.table("refused", &track.refused, refusal);
    }
    out.text_if("idle_reason", track.idle.as_ref());
    out.table("turns", &track.turns, turn);
    let paused = track.paused.as_ref().map(pause);
    out.put_if("paused", paused, track.paused.is_some());
    out.with(&track.extra)
}

fn refusal(refusal: &Refusal) -> Written<'_> {
    let mut out = Object::default();
    out.put("times", refusal.times);
    out.time("until", Some(&refusal.until));
    out.put("why", refusal.why.as_str());
    out.put_if("notified", true, refusal.notified);
    out.with(&refusal.extra)
}

fn turn(turn: &Turn) -> Written<'_> {
    let mut out = Object::default();
    out.put("turn", turn.turn.as_str());
    out.put("attempt", turn.attempt);
    out.put("persona_id", turn.persona_id.as_str());
    out.put("history_key", turn.history_key);
    out.put("intent", turn.intent.as_ref().map(intent));
    out.text("session_id", turn.session_id.as_ref());
    out.put("pr_number", turn.pr_number.map(|pull| pull.0));
    out.put("nudges", turn.nudges);
    out.time_if("nudged_at", turn.nudged_at.as_ref());
    out.time_if("reminded_at", turn.reminded_at.as_ref());
    out.put_if("repeats", turn.repeats, turn.repeats > 0);
    out.time("listed_empty_at", turn.listed_empty_at.as_ref());
    out.put_if("ambiguous", turn.ambiguous, turn.ambiguous > 0);
    out.put_if("late_finds", turn.late_finds, turn.late_finds > 0);
    out.put_if("failures", turn.failures, turn.failures > 0);
    out.put_if("refusals", turn.refusals, turn.refusals > 0);
    out.text_if("refusal", turn.refusal.as_ref());
    out.time_if("not_before", turn.not_before.as_ref());
    out.time_if("warned_at", turn.warned_at.as_ref());
    out.text_if("base_sha", turn.base_sha.as_ref());
    out.text_if("branch", turn.branch.as_ref());
    if !turn.given.is_empty() {
        out.table("inputs", &turn.given, |digest| digest.clone().into());
    }
    out.put_if("cancel", true, turn.cancel);
    out.text_if("approved_by", turn.approved_by.as_ref());
    out.time_if("approved_at", turn.approved_at.as_ref());
    out.text_if("plan_shown", turn.plan_shown.as_ref());
    out.with(&turn.extra)
}

fn intent(intent: &Intent) -> Written<'_> {
    let mut out = Object::default();
    out.put("created_at", time(&intent.created_at));
    out.put("not_after", time(&intent.not_after));
    out.put("holder", intent.holder.as_str());
    out.put("prompt_sha256", intent.prompt_sha256.as_str());
    out.with(&intent.extra)
}

fn schedule(schedule: &ScheduleState) -> Written<'_> {
    let mut out = Object::default();
    out.time("last_fired", schedule.last_fired.as_ref());
    timing(&mut out, &schedule.timing);
    out.with(&schedule.extra)
}

fn timing(out: &mut Object<'_>, timing: &Timing) {
    out.text_if("expression", timing.expression.as_ref());
    out.time_if("since", timing.since.as_ref());
    if !timing.missed.is_empty() {
        let missed: Vec<_> = timing.missed.iter().map(time).collect();
        out.put("missed", missed);
    }
}

fn request(request: &RequestState) -> Written<'_> {
    let mut out = Object::default();
    out.put("kind", request.kind.as_str());
    out.text_if("subject", request.subject.as_ref());
    out.text_if("digest", request.digest.as_ref());
    out.text_if("actor", request.actor.as_ref());
    out.put_if("actor_id", request.actor_id, request.actor_id.is_some());
    out.put_if("thread", request.thread, request.thread.is_some());
    out.text_if("persona", request.persona.as_ref());
    out.text_if("command", request.command.as_ref());
    out.text_if("outcome", request.outcome.as_ref());
    out.text_if("answer", request.answer.as_ref());
    out.text_if("reason", request.reason.as_ref());
    out.text_if("turn", request.turn.as_ref());
    out.put_if("number", request.number, request.number.is_some());
    out.put_if(
        "comment_id",
        request.comment_id,
        request.comment_id.is_some(),
    );
    let told = request.status.as_ref().map(status);
    out.put_if("status", told, request.status.is_some());
    let merge = request.merge.as_ref().map(merging);
    out.put_if("merge", merge, request.merge.is_some());
    let reviewed = request.reviews_of.as_ref().map(Oid::as_str);
    out.put_if("reviews_of", reviewed, request.reviews_of.is_some());
    out.time_if("requested_at", request.asked_at.as_ref());
    out.time_if("created_at", request.created_at.as_ref());
    out.time_if("finished_at", request.finished_at.as_ref());
    out.with(&request.extra)
}

fn status(status: &StatusState) -> Written<'_> {
    let mut out = Object::default();
    out.put("digest", status.digest.as_str());
    out.text_if("stable_digest", status.calm_digest.as_ref());
    out.put("at", time(&status.at));
    out.put_if("notified", true, status.told);
    out.put_if("repeats", status.repeats, status.repeats > 0);
    out.with(&status.extra)
}

fn merging(merge: &MergeState) -> Written<'_> {
    let mut out = Object::default();
    out.put("head", merge.head.as_str());
    out.time_if("sent_at", merge.sent_at.as_ref());
    out.put_if("attempts", merge.attempts, merge.attempts > 0);
    out.time_if("not_before", merge.not_before.as_ref());
    out.put_if("deferrals", merge.put_off, merge.put_off > 0);
    out.with(&merge.extra)
}

fn watched(pull: &WatchedPull) -> Written<'_> {
    let mut out = Object::default();
    out.put("session_id", pull.session_id.as_str());
    let checks = pull.checks.as_ref().map(said);
    out.put_if("checks", checks, pull.checks.is_some());
    out.put_if("fix_rounds", pull.fix_rounds, pull.fix_rounds > 0);
    heads(&mut out, "notified_heads", &pull.fix_heads);
    let reviews = pull.reviews.as_ref().map(said);
    out.put_if("reviews", reviews, pull.reviews.is_some());
    out.put_if("review_rounds", pull.review_rounds, pull.review_rounds > 0);
    let base = pull.base.as_ref().map(said);
    out.put_if("conflicts", base, pull.base.is_some());
    out.put_if("conflict_rounds", pull.base_rounds, pull.base_rounds > 0);
    heads(&mut out, "conflict_heads", &pull.base_heads);
    out.put_if(
        "next_check",
        pull.look.as_ref().map(look),
        pull.look.is_some(),
    );
    let moved = pull.retargeted.as_ref().map(said);
    out.put_if("retargeted", moved, pull.retargeted.is_some());
    let ready = pull.ready.as_ref().map(said);
    out.put_if("draft_ready", ready, pull.ready.is_some());
    let reminded = pull.reminded.as_ref().map(said);
    out.put_if("reminded", reminded, pull.reminded.is_some());
    out.time_if("closed_at", pull.closed_at.as_ref());
    out.time_if("archive_at", pull.archive_at.as_ref());
    out.put_if("archive_tries", pull.archive_tries, pull.archive_tries > 0);
    out.time_if("notice_opened_at", pull.called_at.as_ref());
    out.put_if("notices_opened", pull.calls, pull.calls > 0);
    out.with(&pull.extra)
}

fn heads<'s>(out: &mut Object<'s>, key: &'static str, heads: &'s [Oid]) {
    let words: Vec<&str> = heads.iter().map(Oid::as_str).collect();
    out.put_if(key, words, !heads.is_empty());
}

fn look(look: &Look) -> Written<'_> {
    let mut out = Object::default();
    out.put("head", look.head.as_str());
    out.put("not_before", time(&look.not_before));
    out.put_if("waits", look.waits, look.waits > 0);
    out.with(&look.extra)
}

fn said(told: &Told) -> Written<'_> {
    let mut out = Object::default();
    out.put("head", told.head.as_str());
    out.put("at", time(&told.at));
    out.put_if("notified", true, told.told);
    out.put_if("repeats", told.repeats, told.repeats > 0);
    out.with(&told.extra)
}

fn publishing(one: &PublishingState) -> Written<'_> {
    let mut out = Object::default();
    out.put("at", time(&one.at));
    out.put_if("repeats", one.repeats, one.repeats > 0);
    out.with(&one.extra)
}

fn refused_effect(one: &RefusedEffect) -> Written<'_> {
    let mut out = Object::default();
    out.put("at", time(&one.at));
    out.put("times", one.times);
    out.with(&one.extra)
}

fn dashboard(shown: &DashboardState) -> Written<'_> {
    let mut out = Object::default();
    out.put_if("requested", true, shown.wanted);
    out.text_if("digest", shown.digest.as_ref());
    out.text_if("before", shown.before.as_ref());
    out.text_if("replaces", shown.replaces.as_ref());
    out.put_if(
        "comments_read",
        shown.heard.clone(),
        !shown.heard.is_empty(),
    );
    out.time_if("at", shown.at.as_ref());
    out.put_if("repeats", shown.repeats, shown.repeats > 0);
    out.with(&shown.extra)
}

fn persona(persona: &PersonaState) -> Written<'_> {
    let mut out = Object::default();
    out.put("no_output_streak", persona.empty_streak);
    out.put("rests_until_pass", persona.rests_until_pass);
    out.time_if("rested_at", persona.rested_at.as_ref());
    out.with(&persona.extra)
}

fn budget(budget: &BudgetState) -> Written<'_> {
    let mut out = Object::default();
    out.put(
        "created",
        budget.created.iter().map(time).collect::<Vec<_>>(),
    );
    out.time("paused_until", budget.paused_until.as_ref());
    out.text("reason", budget.reason.as_ref());
    out.put_if("quota_failures", budget.strikes, budget.strikes > 0);
    out.with(&budget.extra)
}

fn cursors(cursors: &Cursors) -> Written<'_> {
    let mut out = Object::default();
    out.time("comments_since", cursors.comments_since.as_ref());
    out.text_if("summarized_commit", cursors.narrated.as_ref());
    out.with(&cursors.extra)
}

fn pause(pause: &Pause) -> Written<'_> {
    let mut out = Object::default();
    out.time_if("at", pause.at.as_ref());
    out.text_if("by", pause.by.as_ref());
    out.text_if("reason", pause.reason.as_ref());
    out.with(&pause.extra)
}
