//! From the file to the types: one reader for each kind of object. They serve every version alike, because keys were
//! only ever added; what differs between versions is in [`super::legacy`].

use super::fields::Fields;
use super::issues::{Issues, Path};
use super::values::{history_key, session, time};
use super::{
    Amendment, BudgetState, Cursors, DashboardState, Genesis, HistoryEntry, Intent, Look,
    MergeState, Outcome, Pause, PersonaState, PublishingState, Refusal, RefusedEffect,
    RequestState, ScheduleState, State, StatusState, Timing, Told, TrackState, Turn, WatchedPull,
};
use crate::json::{Node, Value};
use crate::model::{Oid, PersonaId, PullNumber, RepositoryId, Slot, TrackName, TurnId};

/// Everything but `version`, `history` and `tracks`, whose shape depends on the version.
pub(super) fn rest_of_state(fields: &mut Fields<'_, '_>, state: &mut State) {
    state.genesis = fields.object("genesis", genesis);
    state.amendments = fields.table("amendments", history_key, amendment);
    state.schedules = fields.table("schedules", text_key, schedule);
    state.requests = fields.table("requests", text_key, request);
    state.pulls = fields.table("pulls", pull_key, watched);
    state.personas = fields.table("personas", id_key, persona);
    state.budget = fields.object("budget", budget).unwrap_or_default();
    state.cursors = fields.object("cursors", cursors).unwrap_or_default();
    state.published = fields.table("published", text_key, issue_number);
    state.publishing = fields.table("publishing", text_key, publishing);
    state.refused_effects = fields.table("refused_effects", text_key, refused_effect);
    state.dashboard_issue = fields.number("dashboard_issue");
    state.dashboard = fields.object("dashboard", dashboard);
    state.sprint = fields.number("sprint");
    state.paused = paused(fields);
}

/// One history entry.
pub(super) fn entry(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<HistoryEntry> {
    let mut fields = Fields::of(node, path, issues)?;
    let persona_id = fields.required("persona_id");
    let entry = HistoryEntry {
        persona_id: PersonaId::new(persona_id.unwrap_or_default()),
        session_id: fields.session("session_id"),
        pr_number: fields.number("pr_number").map(PullNumber),
        created_at: fields.time("created_at"),
        track: fields.word("track").map(TrackName::new),
        turn: turn_id(&mut fields, "turn"),
        seq: fields.number("seq"),
        slot: fields.text("slot").map(Slot::new),
        attempt: fields.count("attempt"),
        base_sha: fields.word("base_sha").map(Oid::new),
        outcome: outcome(&mut fields),
        finished_at: fields.time("finished_at"),
        duplicates: fields.list("duplicates", session),
        note: fields.text("note"),
        extra: fields.rest(),
    };
    Some(entry)
}

/// One track.
pub(super) fn track(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<TrackState> {
    track_fields(Fields::of(node, path, issues)?)
}

/// One track, its keys already renamed where an old version called them otherwise.
pub(super) fn track_fields(mut fields: Fields<'_, '_>) -> Option<TrackState> {
    Some(TrackState {
        persona_id: fields.word("persona_id").map(PersonaId::new),
        session_id: fields.session("session_id"),
        pr_number: fields.number("pr_number").map(PullNumber),
        updated_at: fields.time("updated_at"),
        index: fields.number("index"),
        seq: fields.number("seq").unwrap_or_default(),
        passes: fields.number("passes").unwrap_or_default(),
        last_started: fields.time("last_started"),
        pass_stalled: fields.flag("pass_stalled"),
        timing: timing(&mut fields),
        base_shas: fields.table("base_shas", id_key, oid),
        refused: fields.table("refused", id_key, refusal),
        idle: fields.word("idle_reason"),
        turns: fields.table("turns", id_key, turn),
        paused: paused(&mut fields),
        extra: fields.rest(),
    })
}

fn refusal(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Refusal> {
    let mut fields = Fields::of(node, path, issues)?;
    let until = fields.required_time("until");
    let why = fields.text("why");
    Some(Refusal {
        times: fields.count("times").unwrap_or_default(),
        until: until?,
        why: why.unwrap_or_default(),
        notified: fields.flag("notified"),
        extra: fields.rest(),
    })
}

fn turn(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Turn> {
    let mut fields = Fields::of(node, path, issues)?;
    let id = turn_id(&mut fields, "turn");
    if id.is_none() {
        fields.missing("turn");
    }
    let persona = fields.required("persona_id");
    let attempt = fields.count("attempt");
    if attempt.is_none() {
        fields.missing("attempt");
    }
    Some(Turn {
        attempt: attempt.unwrap_or_default(),
        history_key: fields.number("history_key"),
        intent: fields.object("intent", intent),
        session_id: fields.session("session_id"),
        pr_number: fields.number("pr_number").map(PullNumber),
        nudges: fields.count("nudges").unwrap_or_default(),
        nudged_at: fields.time("nudged_at"),
        reminded_at: fields.time("reminded_at"),
        repeats: fields.count("repeats").unwrap_or_default(),
        listed_empty_at: fields.time("listed_empty_at"),
        ambiguous: fields.count("ambiguous").unwrap_or_default(),
        late_finds: fields.count("late_finds").unwrap_or_default(),
        failures: fields.count("failures").unwrap_or_default(),
        refusals: fields.count("refusals").unwrap_or_default(),
        refusal: fields.text("refusal"),
        not_before: fields.time("not_before"),
        warned_at: fields.time("warned_at"),
        base_sha: fields.word("base_sha").map(Oid::new),
        branch: fields.word("branch").map(Into::into),
        given: fields.table("inputs", text_key, word),
        cancel: fields.flag("cancel"),
        approved_by: fields.text("approved_by"),
        approved_at: fields.time("approved_at"),
        plan_shown: fields.text("plan_shown"),
        extra: fields.rest(),
        ..Turn::new(id?, PersonaId::new(persona?))
    })
}

fn intent(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Intent> {
    let mut fields = Fields::of(node, path, issues)?;
    let created_at = fields.required_time("created_at");
    let not_after = fields.required_time("not_after");
    let holder = fields.required("holder");
    let prompt_sha256 = fields.required("prompt_sha256");
    Some(Intent {
        created_at: created_at?,
        not_after: not_after?,
        holder: holder?.into(),
        prompt_sha256: prompt_sha256?,
        extra: fields.rest(),
    })
}

fn genesis(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Genesis> {
    let mut fields = Fields::of(node, path, issues)?;
    let repository_id = fields.number("repository_id");
    if repository_id.is_none() {
        fields.missing("repository_id");
    }
    let born_at = fields.required_time("born_at");
    let nonce = fields.required("nonce");
    Some(Genesis {
        repository_id: RepositoryId(repository_id?),
        born_at: born_at?,
        nonce: nonce?,
        extra: fields.rest(),
    })
}

/// Later news of an archived entry.
pub(super) fn amendment(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Amendment> {
    let mut fields = Fields::of(node, path, issues)?;
    Some(Amendment {
        outcome: outcome(&mut fields),
        pr_number: fields.number("pr_number").map(PullNumber),
        finished_at: fields.time("finished_at"),
        extra: fields.rest(),
    })
}

fn schedule(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<ScheduleState> {
    let mut fields = Fields::of(node, path, issues)?;
    Some(ScheduleState {
        last_fired: fields.time("last_fired"),
        timing: timing(&mut fields),
        extra: fields.rest(),
    })
}

fn timing(fields: &mut Fields<'_, '_>) -> Timing {
    Timing {
        expression: fields.text("expression"),
        since: fields.time("since"),
        missed: fields.list("missed", time),
    }
}

fn oid(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Oid> {
    word(node, path, issues).map(Oid::new)
}

fn request(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<RequestState> {
    let mut fields = Fields::of(node, path, issues)?;
    Some(RequestState {
        kind: fields.required("kind").unwrap_or_default(),
        subject: fields.text("subject"),
        digest: fields.text("digest"),
        actor: fields.text("actor"),
        actor_id: fields.number("actor_id"),
        thread: fields.number("thread"),
        persona: fields.word("persona").map(PersonaId::new),
        command: fields.text("command"),
        outcome: fields.text("outcome"),
        answer: fields.text("answer"),
        reason: fields.text("reason"),
        turn: turn_id(&mut fields, "turn"),
        number: fields.number("number"),
        comment_id: fields.number("comment_id"),
        status: fields.object("status", status),
        merge: fields.object("merge", merge),
        reviews_of: fields.text("reviews_of").map(Oid::new),
        asked_at: fields.time("requested_at"),
        created_at: fields.time("created_at"),
        finished_at: fields.time("finished_at"),
        extra: fields.rest(),
    })
}

fn status(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<StatusState> {
    let mut fields = Fields::of(node, path, issues)?;
    let digest = fields.required("digest");
    let at = fields.required_time("at");
    Some(StatusState {
        digest: digest?,
        calm_digest: fields.text("stable_digest"),
        at: at?,
        told: fields.flag("notified"),
        repeats: fields.count("repeats").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn merge(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<MergeState> {
    let mut fields = Fields::of(node, path, issues)?;
    let head = fields.required("head");
    Some(MergeState {
        head: Oid::new(head?),
        sent_at: fields.time("sent_at"),
        attempts: fields.count("attempts").unwrap_or_default(),
        not_before: fields.time("not_before"),
        put_off: fields.count("deferrals").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn watched(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<WatchedPull> {
    let mut fields = Fields::of(node, path, issues)?;
    let session_id = fields.session("session_id");
    if session_id.is_none() {
        fields.missing("session_id");
    }
    Some(WatchedPull {
        checks: fields.object("checks", said),
        fix_rounds: fields.count("fix_rounds").unwrap_or_default(),
        fix_heads: heads(fields.list("notified_heads", text)),
        reviews: fields.object("reviews", said),
        review_rounds: fields.count("review_rounds").unwrap_or_default(),
        base: fields.object("conflicts", said),
        base_rounds: fields.count("conflict_rounds").unwrap_or_default(),
        base_heads: heads(fields.list("conflict_heads", text)),
        look: fields.object("next_check", look),
        retargeted: fields.object("retargeted", said),
        ready: fields.object("draft_ready", said),
        reminded: fields.object("reminded", said),
        closed_at: fields.time("closed_at"),
        archive_at: fields.time("archive_at"),
        archive_tries: fields.count("archive_tries").unwrap_or_default(),
        called_at: fields.time("notice_opened_at"),
        calls: fields.count("notices_opened").unwrap_or_default(),
        extra: fields.rest(),
        ..WatchedPull::new(session_id?)
    })
}

fn heads(words: Vec<String>) -> Vec<Oid> {
    words.into_iter().map(Oid::new).collect()
}

fn look(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Look> {
    let mut fields = Fields::of(node, path, issues)?;
    let head = fields.required("head");
    let not_before = fields.required_time("not_before");
    Some(Look {
        head: Oid::new(head?),
        not_before: not_before?,
        waits: fields.count("waits").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn said(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Told> {
    let mut fields = Fields::of(node, path, issues)?;
    let head = fields.required("head");
    let at = fields.required_time("at");
    Some(Told {
        head: Oid::new(head?),
        at: at?,
        told: fields.flag("notified"),
        repeats: fields.count("repeats").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn publishing(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<PublishingState> {
    let mut fields = Fields::of(node, path, issues)?;
    let at = fields.required_time("at");
    Some(PublishingState {
        at: at?,
        repeats: fields.count("repeats").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn refused_effect(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<RefusedEffect> {
    let mut fields = Fields::of(node, path, issues)?;
    let at = fields.required_time("at");
    Some(RefusedEffect {
        at: at?,
        times: fields.count("times").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn dashboard(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<DashboardState> {
    let mut fields = Fields::of(node, path, issues)?;
    Some(DashboardState {
        wanted: fields.flag("requested"),
        digest: fields.word("digest"),
        before: fields.word("before"),
        replaces: fields.word("replaces"),
        heard: fields.list("comments_read", text),
        at: fields.time("at"),
        repeats: fields.count("repeats").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn text(node: &Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<String> {
    if let Value::Text(text) = &node.value {
        return Some(text.clone().into_owned());
    }
    issues.wrong_kind(node, path, "a text");
    None
}

fn persona(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<PersonaState> {
    let mut fields = Fields::of(node, path, issues)?;
    Some(PersonaState {
        empty_streak: fields.count("no_output_streak").unwrap_or_default(),
        rests_until_pass: fields.number("rests_until_pass"),
        rested_at: fields.time("rested_at"),
        extra: fields.rest(),
    })
}

fn budget(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<BudgetState> {
    let mut fields = Fields::of(node, path, issues)?;
    Some(BudgetState {
        created: fields.list("created", time),
        paused_until: fields.time("paused_until"),
        reason: fields.text("reason"),
        strikes: fields.count("quota_failures").unwrap_or_default(),
        extra: fields.rest(),
    })
}

fn cursors(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<Cursors> {
    let mut fields = Fields::of(node, path, issues)?;
    Some(Cursors {
        comments_since: fields.time("comments_since"),
        narrated: fields.word("summarized_commit").map(Oid::new),
        extra: fields.rest(),
    })
}

/// A pause. People write it by hand: `true` or a reason will do.
fn paused(fields: &mut Fields<'_, '_>) -> Option<Pause> {
    match fields.value("paused") {
        Some(Value::Bool(truth)) => {
            let truth = *truth;
            fields.keep_as_found("paused", truth);
        }
        Some(Value::Text(reason)) => {
            let reason = reason.clone().into_owned();
            fields.keep_as_found("paused", reason);
        }
        _ => {}
    }
    fields.object("paused", |node, path, issues| match node.value {
        Value::Bool(truth) => truth.then(Pause::default),
        Value::Text(reason) => Some(Pause {
            reason: Some(reason.into_owned()),
            ..Pause::default()
        }),
        _ => {
            let mut fields = Fields::of(node, path, issues)?;
            Some(Pause {
                at: fields.time("at"),
                by: fields.text("by"),
                reason: fields.text("reason"),
                extra: fields.rest(),
            })
        }
    })
}

fn word(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<String> {
    if let Value::Text(text) = node.value {
        return Some(text.into_owned());
    }
    issues.wrong_kind(&node, path, "a text");
    None
}

fn issue_number(node: Node<'_>, path: &Path<'_>, issues: &Issues<'_>) -> Option<u64> {
    let number = match &node.value {
        Value::Number(digits) => digits.parse().ok(),
        _ => None,
    };
    if number.is_none() {
        issues.wrong_kind(&node, path, "the number of an issue");
    }
    number
}

fn outcome(fields: &mut Fields<'_, '_>) -> Option<Outcome> {
    fields.word("outcome").map(|word| Outcome::parse(&word))
}

fn turn_id(fields: &mut Fields<'_, '_>, key: &str) -> Option<TurnId> {
    fields.object(key, |node, path, issues| {
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

fn pull_key(key: &str) -> Option<PullNumber> {
    history_key(key).map(PullNumber)
}

fn text_key(key: &str) -> Option<String> {
    Some(key.to_owned())
}

/// A key of a table of tracks, slots or personas.
pub(super) fn id_key<T: From<String>>(key: &str) -> Option<T> {
    Some(key.to_owned().into())
}
