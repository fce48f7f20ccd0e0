//! From the types to the file: version 5, two spaces, keys in the order that the format's description shows.
//!
//! The keys of the shape that other programs read (`persona_id`, `session_id`, `pr_number`, `created_at`, `track` of
//! an entry; `persona_id`, `session_id`, `pr_number`, `updated_at` of a track) are always there, null where unknown.

use super::written::{JsonObject, JsonValue, format_time};
use super::{
    Amendment, BudgetState, Cursors, DashboardState, Genesis, HistoryEntry, Intent, MergeState,
    NextCheck, Pause, PersonaState, PublishingState, PullAction, Refusal, RefusedEffect,
    RequestState, STATE_VERSION, ScheduleState, State, StatusState, Timing, TrackState,
    TrackedPull, Turn, WorkState,
};
use crate::model::Oid;

/// The whole state.
pub(super) fn write_state(state: &State) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("version", STATE_VERSION);
    if let Some(born) = &state.genesis {
        out.put("genesis", write_genesis(born));
    }
    out.put_table("history", &state.history, write_entry);
    if !state.amendments.is_empty() {
        out.put_table("amendments", &state.amendments, write_amendment);
    }
    out.put_table("tracks", &state.tracks, write_track);
    out.put_table("schedules", &state.schedules, write_schedule);
    out.put_table("requests", &state.requests, write_request);
    if !state.pulls.is_empty() {
        out.put_table("pulls", &state.pulls, write_tracked_pull);
    }
    if state.work != WorkState::default() {
        out.put("work", write_work(&state.work));
    }
    out.put_table("personas", &state.personas, write_persona);
    out.put("budget", write_budget(&state.budget));
    out.put("cursors", write_cursors(&state.cursors));
    out.put_table("published", &state.published, |number| (*number).into());
    if !state.publishing.is_empty() {
        out.put_table("publishing", &state.publishing, write_publishing);
    }
    if !state.refused_effects.is_empty() {
        out.put_table(
            "refused_effects",
            &state.refused_effects,
            write_refused_effect,
        );
    }
    out.put("dashboard_issue", state.dashboard_issue);
    let shown = state.dashboard.as_ref();
    out.put_if("dashboard", shown.map(write_dashboard), shown.is_some());
    out.put("sprint", state.sprint);
    out.put("paused", state.paused.as_ref().map(write_pause));
    out.finish(&state.extra)
}

fn write_genesis(genesis: &Genesis) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("repository_id", genesis.repository_id.0);
    out.put("born_at", format_time(&genesis.born_at));
    out.put("nonce", genesis.nonce.as_str());
    out.finish(&genesis.extra)
}

/// One history entry.
pub(super) fn write_entry(entry: &HistoryEntry) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("persona_id", entry.persona_id.as_str());
    out.put_text("session_id", entry.session_id.as_ref());
    out.put("pr_number", entry.pr_number.map(|pull| pull.0));
    out.put_time("created_at", entry.created_at.as_ref());
    out.put_text("track", entry.track.as_ref());
    out.put_text_if("turn", entry.turn.as_ref());
    out.put_if("seq", entry.seq, entry.seq.is_some());
    out.put_text_if("slot", entry.slot.as_ref());
    out.put_if("attempt", entry.attempt, entry.attempt.is_some());
    out.put_text_if("base_sha", entry.base_sha.as_ref());
    out.put_text_if("outcome", entry.outcome.as_ref());
    out.put_time_if("finished_at", entry.finished_at.as_ref());
    if entry.turn.is_some() || !entry.duplicates.is_empty() {
        out.put_texts("duplicates", &entry.duplicates);
    }
    out.put_text_if("note", entry.note.as_ref());
    out.finish(&entry.extra)
}

fn write_amendment(amendment: &Amendment) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put_text_if("outcome", amendment.outcome.as_ref());
    let pull = amendment.pr_number.map(|pull| pull.0);
    out.put_if("pr_number", pull, pull.is_some());
    out.put_time_if("finished_at", amendment.finished_at.as_ref());
    out.finish(&amendment.extra)
}

fn write_track(track: &TrackState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put_text("persona_id", track.persona_id.as_ref());
    out.put_text("session_id", track.session_id.as_ref());
    out.put("pr_number", track.pr_number.map(|pull| pull.0));
    out.put_time("updated_at", track.updated_at.as_ref());
    out.put_if("index", track.index, track.index.is_some());
    out.put("seq", track.seq);
    out.put("passes", track.passes);
    out.put_time_if("last_started", track.last_started.as_ref());
    out.put_if("pass_stalled", true, track.pass_stalled);
    write_timing(&mut out, &track.timing);
    if !track.base_shas.is_empty() {
        out.put_table("base_shas", &track.base_shas, |oid| oid.to_string().into());
    }
    if !track.refused.is_empty() {
        out.put_table("refused", &track.refused, write_refusal);
    }
    out.put_text_if("idle_reason", track.idle_reason.as_ref());
    out.put_table("turns", &track.turns, write_turn);
    let paused = track.paused.as_ref().map(write_pause);
    out.put_if("paused", paused, track.paused.is_some());
    out.finish(&track.extra)
}

fn write_refusal(refusal: &Refusal) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("times", refusal.times);
    out.put_time("until", Some(&refusal.until));
    out.put("why", refusal.why.as_str());
    out.put_if("notified", true, refusal.notified);
    out.finish(&refusal.extra)
}

fn write_turn(turn: &Turn) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("turn", turn.turn.as_str());
    out.put("attempt", turn.attempt);
    out.put("persona_id", turn.persona_id.as_str());
    out.put("history_key", turn.history_key);
    out.put("intent", turn.intent.as_ref().map(write_intent));
    out.put_text("session_id", turn.session_id.as_ref());
    out.put("pr_number", turn.pr_number.map(|pull| pull.0));
    out.put("nudges", turn.nudges);
    out.put_time_if("nudged_at", turn.nudged_at.as_ref());
    out.put_time_if("reminded_at", turn.reminded_at.as_ref());
    out.put_if("repeats", turn.repeats, turn.repeats > 0);
    out.put_time("listed_empty_at", turn.listed_empty_at.as_ref());
    out.put_if("ambiguous", turn.ambiguous, turn.ambiguous > 0);
    out.put_if("late_finds", turn.late_finds, turn.late_finds > 0);
    out.put_if("failures", turn.failures, turn.failures > 0);
    out.put_if("refusals", turn.refusals, turn.refusals > 0);
    out.put_text_if("refusal", turn.refusal.as_ref());
    out.put_time_if("not_before", turn.not_before.as_ref());
    out.put_time_if("warned_at", turn.warned_at.as_ref());
    out.put_text_if("base_sha", turn.base_sha.as_ref());
    out.put_text_if("branch", turn.branch.as_ref());
    if !turn.inputs.is_empty() {
        out.put_table("inputs", &turn.inputs, |digest| digest.clone().into());
    }
    out.put_if("cancel", true, turn.cancel);
    out.put_text_if("approved_by", turn.approved_by.as_ref());
    out.put_time_if("approved_at", turn.approved_at.as_ref());
    out.put_text_if("plan_shown", turn.plan_shown.as_ref());
    out.finish(&turn.extra)
}

fn write_intent(intent: &Intent) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("created_at", format_time(&intent.created_at));
    out.put("not_after", format_time(&intent.not_after));
    out.put("holder", intent.holder.as_str());
    out.put("prompt_sha256", intent.prompt_sha256.as_str());
    out.finish(&intent.extra)
}

fn write_schedule(schedule: &ScheduleState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put_time("last_fired", schedule.last_fired.as_ref());
    write_timing(&mut out, &schedule.timing);
    out.finish(&schedule.extra)
}

fn write_timing(out: &mut JsonObject<'_>, timing: &Timing) {
    out.put_text_if("expression", timing.expression.as_ref());
    out.put_time_if("since", timing.since.as_ref());
    if !timing.missed.is_empty() {
        let missed: Vec<_> = timing.missed.iter().map(format_time).collect();
        out.put("missed", missed);
    }
}

fn write_request(request: &RequestState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("kind", request.kind.as_str());
    out.put_text_if("subject", request.subject.as_ref());
    out.put_text_if("digest", request.digest.as_ref());
    out.put_text_if("actor", request.actor.as_ref());
    out.put_if("actor_id", request.actor_id, request.actor_id.is_some());
    out.put_if("thread", request.thread, request.thread.is_some());
    out.put_text_if("persona", request.persona.as_ref());
    out.put_text_if("command", request.command.as_ref());
    out.put_text_if("outcome", request.outcome.as_ref());
    out.put_text_if("answer", request.answer.as_ref());
    out.put_text_if("reason", request.reason.as_ref());
    out.put_text_if("turn", request.turn.as_ref());
    out.put_if("number", request.number, request.number.is_some());
    out.put_if(
        "comment_id",
        request.comment_id,
        request.comment_id.is_some(),
    );
    let told = request.status.as_ref().map(write_status);
    out.put_if("status", told, request.status.is_some());
    let merge = request.merge.as_ref().map(write_merge);
    out.put_if("merge", merge, request.merge.is_some());
    let reviewed = request.reviews_of.as_ref().map(Oid::as_str);
    out.put_if("reviews_of", reviewed, request.reviews_of.is_some());
    out.put_time_if("requested_at", request.requested_at.as_ref());
    out.put_time_if("created_at", request.created_at.as_ref());
    out.put_time_if("finished_at", request.finished_at.as_ref());
    out.finish(&request.extra)
}

fn write_status(status: &StatusState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("digest", status.digest.as_str());
    out.put_text_if("stable_digest", status.stable_digest.as_ref());
    out.put("at", format_time(&status.at));
    out.put_if("notified", true, status.notified);
    out.put_if("repeats", status.repeats, status.repeats > 0);
    out.finish(&status.extra)
}

fn write_merge(merge: &MergeState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("head", merge.head.as_str());
    out.put_time_if("sent_at", merge.sent_at.as_ref());
    out.put_if("attempts", merge.attempts, merge.attempts > 0);
    out.put_time_if("not_before", merge.not_before.as_ref());
    out.put_if("deferrals", merge.deferrals, merge.deferrals > 0);
    out.finish(&merge.extra)
}

fn write_tracked_pull(pull: &TrackedPull) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("session_id", pull.session_id.as_str());
    let checks = pull.checks.as_ref().map(write_pull_action);
    out.put_if("checks", checks, pull.checks.is_some());
    out.put_if("fix_rounds", pull.fix_rounds, pull.fix_rounds > 0);
    write_heads(&mut out, "notified_heads", &pull.notified_heads);
    let reviews = pull.reviews.as_ref().map(write_pull_action);
    out.put_if("reviews", reviews, pull.reviews.is_some());
    out.put_if("review_rounds", pull.review_rounds, pull.review_rounds > 0);
    let base = pull.conflicts.as_ref().map(write_pull_action);
    out.put_if("conflicts", base, pull.conflicts.is_some());
    out.put_if(
        "conflict_rounds",
        pull.conflict_rounds,
        pull.conflict_rounds > 0,
    );
    write_heads(&mut out, "conflict_heads", &pull.conflict_heads);
    out.put_if(
        "next_check",
        pull.next_check.as_ref().map(write_next_check),
        pull.next_check.is_some(),
    );
    let moved = pull.retargeted.as_ref().map(write_pull_action);
    out.put_if("retargeted", moved, pull.retargeted.is_some());
    let ready = pull.draft_ready.as_ref().map(write_pull_action);
    out.put_if("draft_ready", ready, pull.draft_ready.is_some());
    let reminded = pull.reminded.as_ref().map(write_pull_action);
    out.put_if("reminded", reminded, pull.reminded.is_some());
    out.put_time_if("closed_at", pull.closed_at.as_ref());
    out.put_time_if("archive_at", pull.archive_at.as_ref());
    out.put_if("archive_tries", pull.archive_tries, pull.archive_tries > 0);
    out.put_time_if("notice_opened_at", pull.notice_opened_at.as_ref());
    out.put_if(
        "notices_opened",
        pull.notices_opened,
        pull.notices_opened > 0,
    );
    out.finish(&pull.extra)
}

fn write_heads<'s>(out: &mut JsonObject<'s>, key: &'static str, heads: &'s [Oid]) {
    let words: Vec<&str> = heads.iter().map(Oid::as_str).collect();
    out.put_if(key, words, !heads.is_empty());
}

fn write_next_check(look: &NextCheck) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("head", look.head.as_str());
    out.put("not_before", format_time(&look.not_before));
    out.put_if("waits", look.waits, look.waits > 0);
    out.finish(&look.extra)
}

fn write_pull_action(told: &PullAction) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("head", told.head.as_str());
    out.put("at", format_time(&told.at));
    out.put_if("notified", true, told.notified);
    out.put_if("repeats", told.repeats, told.repeats > 0);
    out.finish(&told.extra)
}

fn write_publishing(one: &PublishingState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("at", format_time(&one.at));
    out.put_if("repeats", one.repeats, one.repeats > 0);
    out.finish(&one.extra)
}

fn write_refused_effect(one: &RefusedEffect) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("at", format_time(&one.at));
    out.put("times", one.times);
    out.finish(&one.extra)
}

fn write_dashboard(shown: &DashboardState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put_if("requested", true, shown.requested);
    out.put_text_if("digest", shown.digest.as_ref());
    out.put_text_if("before", shown.before.as_ref());
    out.put_text_if("replaces", shown.replaces.as_ref());
    out.put_if(
        "comments_read",
        shown.comments_read.clone(),
        !shown.comments_read.is_empty(),
    );
    out.put_time_if("at", shown.at.as_ref());
    out.put_if("repeats", shown.repeats, shown.repeats > 0);
    out.finish(&shown.extra)
}

fn write_persona(persona: &PersonaState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("no_output_streak", persona.no_output_streak);
    out.put("rests_until_pass", persona.rests_until_pass);
    out.put_time_if("rested_at", persona.rested_at.as_ref());
    out.finish(&persona.extra)
}

fn write_budget(budget: &BudgetState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put(
        "created",
        budget.created.iter().map(format_time).collect::<Vec<_>>(),
    );
    out.put_time("paused_until", budget.paused_until.as_ref());
    out.put_text("reason", budget.reason.as_ref());
    out.put_if(
        "quota_failures",
        budget.quota_failures,
        budget.quota_failures > 0,
    );
    out.finish(&budget.extra)
}

fn write_work(work: &WorkState) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    let open: Vec<u64> = work.open.iter().map(|pull| pull.0).collect();
    out.put("open", open);
    out.put("remembered", work.remembered);
    out.finish(&work.extra)
}

fn write_cursors(cursors: &Cursors) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put_time("comments_since", cursors.comments_since.as_ref());
    out.put_text_if("summarized_commit", cursors.summarized_commit.as_ref());
    out.finish(&cursors.extra)
}

fn write_pause(pause: &Pause) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put_time_if("at", pause.at.as_ref());
    out.put_text_if("by", pause.by.as_ref());
    out.put_text_if("reason", pause.reason.as_ref());
    out.finish(&pause.extra)
}
