//! From the file to the types: one reader for each kind of object. They serve every version alike, because keys were
//! only ever added; what differs between versions is in [`super::legacy`].

use super::fields::Fields;
use super::issues::{Issues, KeyPath};
use super::values::{parse_history_key, read_session, read_time};
use super::{
    Amendment, BudgetState, Cursors, DashboardState, Genesis, HistoryEntry, Intent, MergeState,
    NextCheck, Outcome, Pause, PersonaState, PublishingState, PullAction, Refusal, RefusedEffect,
    RequestState, ScheduleState, State, StatusState, Timing, TrackState, TrackedPull, Turn,
    WorkState,
};
use crate::json::{Node, Value};
use crate::model::{Oid, PersonaId, PullNumber, RepositoryId, Slot, TrackName, TurnId};

/// Everything but `version`, `history` and `tracks`, whose shape depends on the version.
pub(super) fn read_state_fields(fields: &mut Fields<'_, '_>, state: &mut State) {
    state.genesis = fields.take_object("genesis", read_genesis);
    state.amendments = fields.take_table("amendments", parse_history_key, read_amendment);
    state.schedules = fields.take_table("schedules", parse_text_key, read_schedule);
    state.requests = fields.take_table("requests", parse_text_key, read_request);
    state.pulls = fields.take_table("pulls", parse_pull_key, read_tracked_pull);
    state.work = fields.take_object("work", read_work).unwrap_or_default();
    state.personas = fields.take_table("personas", parse_id_key, read_persona);
    state.budget = fields
        .take_object("budget", read_budget)
        .unwrap_or_default();
    state.cursors = fields
        .take_object("cursors", read_cursors)
        .unwrap_or_default();
    state.published = fields.take_table("published", parse_text_key, read_issue_number);
    state.publishing = fields.take_table("publishing", parse_text_key, read_publishing);
    state.refused_effects =
        fields.take_table("refused_effects", parse_text_key, read_refused_effect);
    state.dashboard_issue = fields.take_number("dashboard_issue");
    state.dashboard = fields.take_object("dashboard", read_dashboard);
    state.sprint = fields.take_number("sprint");
    state.paused = read_pause(fields);
}

/// One history entry.
pub(super) fn read_entry(
    node: Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<HistoryEntry> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let persona_id = fields.require_text("persona_id");
    let entry = HistoryEntry {
        persona_id: PersonaId::new(persona_id.unwrap_or_default()),
        session_id: fields.take_session("session_id"),
        pr_number: fields.take_number("pr_number").map(PullNumber),
        created_at: fields.take_time("created_at"),
        track: fields.take_nonempty("track").map(TrackName::new),
        turn: read_turn_id(&mut fields, "turn"),
        seq: fields.take_number("seq"),
        slot: fields.take_text("slot").map(Slot::new),
        attempt: fields.take_count("attempt"),
        base_sha: fields.take_nonempty("base_sha").map(Oid::new),
        outcome: read_outcome(&mut fields),
        finished_at: fields.take_time("finished_at"),
        duplicates: fields.take_list("duplicates", read_session),
        note: fields.take_text("note"),
        extra: fields.into_extra(),
    };
    Some(entry)
}

/// One track.
pub(super) fn read_track(
    node: Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<TrackState> {
    read_track_fields(Fields::from_node(node, path, issues)?)
}

/// One track, its keys already renamed where an old version called them otherwise.
pub(super) fn read_track_fields(mut fields: Fields<'_, '_>) -> Option<TrackState> {
    Some(TrackState {
        persona_id: fields.take_nonempty("persona_id").map(PersonaId::new),
        session_id: fields.take_session("session_id"),
        pr_number: fields.take_number("pr_number").map(PullNumber),
        updated_at: fields.take_time("updated_at"),
        index: fields.take_number("index"),
        seq: fields.take_number("seq").unwrap_or_default(),
        passes: fields.take_number("passes").unwrap_or_default(),
        last_started: fields.take_time("last_started"),
        pass_stalled: fields.take_flag("pass_stalled"),
        timing: read_timing(&mut fields),
        base_shas: fields.take_table("base_shas", parse_id_key, read_oid),
        refused: fields.take_table("refused", parse_id_key, read_refusal),
        idle_reason: fields.take_nonempty("idle_reason"),
        turns: fields.take_table("turns", parse_id_key, read_turn),
        paused: read_pause(&mut fields),
        extra: fields.into_extra(),
    })
}

fn read_refusal(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Refusal> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let until = fields.require_time("until");
    let why = fields.take_text("why");
    Some(Refusal {
        times: fields.take_count("times").unwrap_or_default(),
        until: until?,
        why: why.unwrap_or_default(),
        notified: fields.take_flag("notified"),
        extra: fields.into_extra(),
    })
}

fn read_turn(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Turn> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let id = read_turn_id(&mut fields, "turn");
    if id.is_none() {
        fields.report_missing("turn");
    }
    let persona = fields.require_text("persona_id");
    let attempt = fields.take_count("attempt");
    if attempt.is_none() {
        fields.report_missing("attempt");
    }
    Some(Turn {
        attempt: attempt.unwrap_or_default(),
        history_key: fields.take_number("history_key"),
        intent: fields.take_object("intent", read_intent),
        session_id: fields.take_session("session_id"),
        pr_number: fields.take_number("pr_number").map(PullNumber),
        nudges: fields.take_count("nudges").unwrap_or_default(),
        nudged_at: fields.take_time("nudged_at"),
        reminded_at: fields.take_time("reminded_at"),
        repeats: fields.take_count("repeats").unwrap_or_default(),
        listed_empty_at: fields.take_time("listed_empty_at"),
        ambiguous: fields.take_count("ambiguous").unwrap_or_default(),
        late_finds: fields.take_count("late_finds").unwrap_or_default(),
        failures: fields.take_count("failures").unwrap_or_default(),
        refusals: fields.take_count("refusals").unwrap_or_default(),
        refusal: fields.take_text("refusal"),
        not_before: fields.take_time("not_before"),
        warned_at: fields.take_time("warned_at"),
        base_sha: fields.take_nonempty("base_sha").map(Oid::new),
        branch: fields.take_nonempty("branch").map(Into::into),
        inputs: fields.take_table("inputs", parse_text_key, read_owned_text),
        cancel: fields.take_flag("cancel"),
        approved_by: fields.take_text("approved_by"),
        approved_at: fields.take_time("approved_at"),
        plan_shown: fields.take_text("plan_shown"),
        extra: fields.into_extra(),
        ..Turn::new(id?, PersonaId::new(persona?))
    })
}

fn read_intent(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Intent> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let created_at = fields.require_time("created_at");
    let not_after = fields.require_time("not_after");
    let holder = fields.require_text("holder");
    let prompt_sha256 = fields.require_text("prompt_sha256");
    Some(Intent {
        created_at: created_at?,
        not_after: not_after?,
        holder: holder?.into(),
        prompt_sha256: prompt_sha256?,
        extra: fields.into_extra(),
    })
}

fn read_genesis(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Genesis> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let repository_id = fields.take_number("repository_id");
    if repository_id.is_none() {
        fields.report_missing("repository_id");
    }
    let born_at = fields.require_time("born_at");
    let nonce = fields.require_text("nonce");
    Some(Genesis {
        repository_id: RepositoryId(repository_id?),
        born_at: born_at?,
        nonce: nonce?,
        extra: fields.into_extra(),
    })
}

/// Later news of an archived entry.
pub(super) fn read_amendment(
    node: Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<Amendment> {
    let mut fields = Fields::from_node(node, path, issues)?;
    Some(Amendment {
        outcome: read_outcome(&mut fields),
        pr_number: fields.take_number("pr_number").map(PullNumber),
        finished_at: fields.take_time("finished_at"),
        extra: fields.into_extra(),
    })
}

fn read_schedule(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<ScheduleState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    Some(ScheduleState {
        last_fired: fields.take_time("last_fired"),
        timing: read_timing(&mut fields),
        extra: fields.into_extra(),
    })
}

fn read_timing(fields: &mut Fields<'_, '_>) -> Timing {
    Timing {
        expression: fields.take_text("expression"),
        since: fields.take_time("since"),
        missed: fields.take_list("missed", read_time),
    }
}

fn read_oid(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Oid> {
    read_owned_text(node, path, issues).map(Oid::new)
}

fn read_request(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<RequestState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    Some(RequestState {
        kind: fields.require_text("kind").unwrap_or_default(),
        subject: fields.take_text("subject"),
        digest: fields.take_text("digest"),
        actor: fields.take_text("actor"),
        actor_id: fields.take_number("actor_id"),
        thread: fields.take_number("thread"),
        persona: fields.take_nonempty("persona").map(PersonaId::new),
        command: fields.take_text("command"),
        outcome: fields.take_text("outcome"),
        answer: fields.take_text("answer"),
        reason: fields.take_text("reason"),
        turn: read_turn_id(&mut fields, "turn"),
        number: fields.take_number("number"),
        comment_id: fields.take_number("comment_id"),
        status: fields.take_object("status", read_status),
        merge: fields.take_object("merge", read_merge),
        reviews_of: fields.take_text("reviews_of").map(Oid::new),
        requested_at: fields.take_time("requested_at"),
        created_at: fields.take_time("created_at"),
        finished_at: fields.take_time("finished_at"),
        extra: fields.into_extra(),
    })
}

fn read_status(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<StatusState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let digest = fields.require_text("digest");
    let at = fields.require_time("at");
    Some(StatusState {
        digest: digest?,
        stable_digest: fields.take_text("stable_digest"),
        at: at?,
        notified: fields.take_flag("notified"),
        repeats: fields.take_count("repeats").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_merge(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<MergeState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let head = fields.require_text("head");
    Some(MergeState {
        head: Oid::new(head?),
        sent_at: fields.take_time("sent_at"),
        attempts: fields.take_count("attempts").unwrap_or_default(),
        not_before: fields.take_time("not_before"),
        deferrals: fields.take_count("deferrals").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_tracked_pull(
    node: Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<TrackedPull> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let session_id = fields.take_session("session_id");
    if session_id.is_none() {
        fields.report_missing("session_id");
    }
    Some(TrackedPull {
        checks: fields.take_object("checks", read_pull_action),
        fix_rounds: fields.take_count("fix_rounds").unwrap_or_default(),
        notified_heads: to_oids(fields.take_list("notified_heads", read_text)),
        reviews: fields.take_object("reviews", read_pull_action),
        review_rounds: fields.take_count("review_rounds").unwrap_or_default(),
        conflicts: fields.take_object("conflicts", read_pull_action),
        conflict_rounds: fields.take_count("conflict_rounds").unwrap_or_default(),
        conflict_heads: to_oids(fields.take_list("conflict_heads", read_text)),
        next_check: fields.take_object("next_check", read_next_check),
        retargeted: fields.take_object("retargeted", read_pull_action),
        draft_ready: fields.take_object("draft_ready", read_pull_action),
        reminded: fields.take_object("reminded", read_pull_action),
        closed_at: fields.take_time("closed_at"),
        archive_at: fields.take_time("archive_at"),
        archive_tries: fields.take_count("archive_tries").unwrap_or_default(),
        notice_opened_at: fields.take_time("notice_opened_at"),
        notices_opened: fields.take_count("notices_opened").unwrap_or_default(),
        extra: fields.into_extra(),
        ..TrackedPull::new(session_id?)
    })
}

fn to_oids(words: Vec<String>) -> Vec<Oid> {
    words.into_iter().map(Oid::new).collect()
}

fn read_next_check(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<NextCheck> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let head = fields.require_text("head");
    let not_before = fields.require_time("not_before");
    Some(NextCheck {
        head: Oid::new(head?),
        not_before: not_before?,
        waits: fields.take_count("waits").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_pull_action(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<PullAction> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let head = fields.require_text("head");
    let at = fields.require_time("at");
    Some(PullAction {
        head: Oid::new(head?),
        at: at?,
        notified: fields.take_flag("notified"),
        repeats: fields.take_count("repeats").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_publishing(
    node: Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<PublishingState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let at = fields.require_time("at");
    Some(PublishingState {
        at: at?,
        repeats: fields.take_count("repeats").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_refused_effect(
    node: Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<RefusedEffect> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let at = fields.require_time("at");
    Some(RefusedEffect {
        at: at?,
        times: fields.take_count("times").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_dashboard(
    node: Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<DashboardState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    Some(DashboardState {
        requested: fields.take_flag("requested"),
        digest: fields.take_nonempty("digest"),
        before: fields.take_nonempty("before"),
        replaces: fields.take_nonempty("replaces"),
        comments_read: fields.take_list("comments_read", read_text),
        at: fields.take_time("at"),
        repeats: fields.take_count("repeats").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_text(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<String> {
    if let Value::Text(text) = &node.value {
        return Some(text.clone().into_owned());
    }
    issues.report_wrong_kind(node, path, "a text");
    None
}

fn read_persona(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<PersonaState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    Some(PersonaState {
        no_output_streak: fields.take_count("no_output_streak").unwrap_or_default(),
        rests_until_pass: fields.take_number("rests_until_pass"),
        rested_at: fields.take_time("rested_at"),
        extra: fields.into_extra(),
    })
}

fn read_budget(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<BudgetState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    Some(BudgetState {
        created: fields.take_list("created", read_time),
        paused_until: fields.take_time("paused_until"),
        reason: fields.take_text("reason"),
        quota_failures: fields.take_count("quota_failures").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_work(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<WorkState> {
    let mut fields = Fields::from_node(node, path, issues)?;
    let open = fields.take_list("open", read_pull_number);
    Some(WorkState {
        open: open.into_iter().collect(),
        remembered: fields.take_number("remembered").unwrap_or_default(),
        extra: fields.into_extra(),
    })
}

fn read_pull_number(
    node: &Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<PullNumber> {
    let number = match &node.value {
        Value::Number(digits) => digits.parse().ok().map(PullNumber),
        _ => None,
    };
    if number.is_none() {
        issues.report_wrong_kind(node, path, "the number of a pull request");
    }
    number
}

fn read_cursors(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Cursors> {
    let mut fields = Fields::from_node(node, path, issues)?;
    Some(Cursors {
        comments_since: fields.take_time("comments_since"),
        summarized_commit: fields.take_nonempty("summarized_commit").map(Oid::new),
        extra: fields.into_extra(),
    })
}

/// A pause. People write it by hand: `true` or a reason will do.
fn read_pause(fields: &mut Fields<'_, '_>) -> Option<Pause> {
    match fields.peek_value("paused") {
        Some(Value::Bool(truth)) => {
            let truth = *truth;
            fields.keep_original("paused", truth);
        }
        Some(Value::Text(reason)) => {
            let reason = reason.clone().into_owned();
            fields.keep_original("paused", reason);
        }
        _ => {}
    }
    fields.take_object("paused", |node, path, issues| match node.value {
        Value::Bool(truth) => truth.then(Pause::default),
        Value::Text(reason) => Some(Pause {
            reason: Some(reason.into_owned()),
            ..Pause::default()
        }),
        _ => {
            let mut fields = Fields::from_node(node, path, issues)?;
            Some(Pause {
                at: fields.take_time("at"),
                by: fields.take_text("by"),
                reason: fields.take_text("reason"),
                extra: fields.into_extra(),
            })
        }
    })
}

fn read_owned_text(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<String> {
    if let Value::Text(text) = node.value {
        return Some(text.into_owned());
    }
    issues.report_wrong_kind(&node, path, "a text");
    None
}

fn read_issue_number(node: Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<u64> {
    let number = match &node.value {
        Value::Number(digits) => digits.parse().ok(),
        _ => None,
    };
    if number.is_none() {
        issues.report_wrong_kind(&node, path, "the number of an issue");
    }
    number
}

fn read_outcome(fields: &mut Fields<'_, '_>) -> Option<Outcome> {
    fields
        .take_nonempty("outcome")
        .map(|word| Outcome::parse(&word))
}

fn read_turn_id(fields: &mut Fields<'_, '_>, key: &str) -> Option<TurnId> {
    fields.take_object(key, |node, path, issues| {
        let id = match &node.value {
            Value::Text(text) => TurnId::parse(text),
            _ => None,
        };
        if id.is_none() {
            let message = "this is not a turn id: 12 characters of lower-case Crockford base32";
            issues.error(node.at, path, message, "");
        }
        id
    })
}

fn parse_pull_key(key: &str) -> Option<PullNumber> {
    parse_history_key(key).map(PullNumber)
}

fn parse_text_key(key: &str) -> Option<String> {
    Some(key.to_owned())
}

/// A key of a table of tracks, slots or personas.
pub(super) fn parse_id_key<T: From<String>>(key: &str) -> Option<T> {
    Some(key.to_owned().into())
}
