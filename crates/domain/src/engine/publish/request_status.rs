//! The status of one request, and of a turn on its issue or pull request.

use crate::engine::lookup::request_origin::newest_request;
use crate::engine::lookup::{pending_reviews, plan_approval, pull_owner, work_items};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{INTENT_VALID, NUMBERS_NAMED};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markdown::{quote_as_code, sanitize_word};
use crate::engine::text::time::since_text;
use crate::engine::view::turn::{TurnStage, link_text, turn_view};
use crate::model::{PullNumber, TrackName};
use crate::state::{HistoryEntry, Outcome, RequestOutcome, RequestState, Turn};

/// The status of one request, or of a turn.
pub(crate) struct RequestStatus {
    /// One sentence.
    pub(crate) text: String,
    /// The text without reasons that change often.
    pub(crate) stable: String,
    /// The plan that waits for approval, as text for people.
    pub(crate) plan: Option<String>,
}

impl RequestStatus {
    /// A status that does not change with reasons to wait.
    fn settled(text: String) -> Self {
        let stable = text.clone();
        let plan = None;
        Self { text, stable, plan }
    }
}

/// The status of one request; `None` while its session is being created.
pub(crate) fn request_status(
    builder: &DecisionBuilder<'_>,
    number: u64,
    request: &RequestState,
) -> Option<RequestStatus> {
    let track = TrackName::of_request(number);
    if request.is_pending() {
        let sent_at = request.merge.as_ref().and_then(|merge| merge.sent_at);
        let is_sent = sent_at.is_some_and(|at| builder.now().duration_since(at) < INTENT_VALID);
        let is_starting = is_sent || pending_reviews::is_being_sent(builder, request);
        return (!is_starting).then(|| pending_status(builder, &track, request));
    }
    let turns = builder.state.tracks.get(&track).map(|track| &track.turns);
    if let Some(turn) = turns.and_then(|turns| turns.values().next()) {
        return turn_status(builder, &track, turn);
    }
    Some(RequestStatus::settled(finished_text(builder, request)))
}

fn pending_status(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    request: &RequestState,
) -> RequestStatus {
    let waits = |line: &&Line| {
        matches!(
            line.verdict,
            Verdict::Waiting | Verdict::Paused | Verdict::Held
        )
    };
    let line = builder.lines_of_track(track).find(waits);
    let since = request.requested_at.or(request.created_at).map(since_text);
    let why = line.map_or_else(
        || " for its turn".to_owned(),
        |line| format!(": {}", line.sentence(true)),
    );
    // A session counts against the limit until its plan is approved.
    let is_full = line.is_some_and(|line| line.reason == Reason::BudgetActive);
    let places = is_full.then(|| {
        plan_approval::approval_places(builder, |track, _| {
            let mut lines = builder.lines_of_track(track);
            lines.any(|line| line.reason == Reason::PlanApproval)
        })
    });
    let places = places.and_then(|places| plan_approval::list_places(&places));
    let places = places.map(|places| format!("; a plan waits for approval at {places}"));
    RequestStatus {
        text: format!(
            "waits{}{why}{}.",
            since.unwrap_or_default(),
            places.unwrap_or_default()
        ),
        stable: "waits".to_owned(),
        plan: None,
    }
}

/// The result of a finished request.
fn finished_text(builder: &DecisionBuilder<'_>, request: &RequestState) -> String {
    let Some(outcome) = request.parsed_outcome() else {
        return "was accepted.".to_owned();
    };
    if outcome == RequestOutcome::Refused {
        return refused_text(builder, request);
    }
    let Some(turn) = &request.turn else {
        return command_result_text(request, &outcome);
    };
    // The entry is missing where the turn never had a session, or where it is archived.
    let Some((_, entry)) = builder.state.entry_named(turn.as_str()) else {
        return match (request.reason.as_deref(), outcome) {
            (Some(code), _) => format!("not started: {} (`{code}`).", refusal_text(code)),
            (None, RequestOutcome::Turn(Outcome::Cancelled)) => {
                "cancelled before it had a session.".to_owned()
            }
            (None, other) => format!("over: {}.", sanitize_word(other.as_str())),
        };
    };
    ended_turn_text(builder, request, entry)
}

/// Why a request was refused.
fn refused_text(builder: &DecisionBuilder<'_>, request: &RequestState) -> String {
    let code = request.reason.as_deref().unwrap_or("refused");
    let is_merge = request.merge.is_some() || request.command.as_deref() == Some("merge");
    let what = match (&request.answer, &request.reviews_of) {
        _ if is_merge => "not merged",
        (Some(_), Some(_)) => "its session got no message",
        (Some(_), None) if request.command.is_some() => "not done",
        _ => "not started",
    };
    match request.answer.as_deref().filter(|_| what != "not started") {
        Some(answer) => format!("{what}: {answer} (`{code}`)."),
        None => {
            let known = persona_names(builder, code);
            format!("{what}: {}{known} (`{code}`).", refusal_text(code))
        }
    }
}

/// Why a request was refused, and what to do about it.
fn refusal_text(code: &str) -> String {
    let reason = Reason::from_code(code);
    reason.map_or_else(
        || "`phileas explain` says why".to_owned(),
        |reason| reason.clause(),
    )
}

/// The result of a request that started no turn.
fn command_result_text(request: &RequestState, outcome: &RequestOutcome) -> String {
    match outcome {
        RequestOutcome::Turn(Outcome::Cancelled) => "withdrawn before it was started.".to_owned(),
        RequestOutcome::Done => match &request.answer {
            Some(answer) => format!("{}.", answer.trim_end_matches('.')),
            None => "done.".to_owned(),
        },
        other => format!("over: {}.", sanitize_word(other.as_str())),
    }
}

/// The result of a request whose turn has ended.
fn ended_turn_text(
    builder: &DecisionBuilder<'_>,
    request: &RequestState,
    entry: &HistoryEntry,
) -> String {
    let session = link_text(entry.session_id.as_ref());
    let Some(outcome) = &entry.outcome else {
        return format!("over; its outcome was not recorded{session}.");
    };
    if let (Outcome::PrOpen, Some(number)) = (outcome, entry.pr_number) {
        return open_pull_text(number, entry);
    }
    let note = entry.note.as_deref();
    let note = note.map(|note| format!("; {}", quote_as_code(note)));
    let came_to_nothing = matches!(
        outcome,
        Outcome::Stuck | Outcome::Failed | Outcome::NoOutput
    );
    let way_out = match came_to_nothing && can_be_retried(builder, request) {
        true => "; say `/phileas retry` here to start it again",
        false => "",
    };
    format!(
        "{}{}{session}{way_out}.",
        sanitize_outcome(outcome, entry.pr_number),
        note.unwrap_or_default(),
    )
}

/// What became of a turn. Another version may have written a word that this one does not know.
fn sanitize_outcome(outcome: &Outcome, pull: Option<PullNumber>) -> String {
    match outcome {
        Outcome::Other(word) => format!("over: {}", sanitize_word(word)),
        known => {
            let text = known.describe(pull);
            match pull {
                Some(pull) if !text.contains('#') => format!("{text}; pull request #{pull}"),
                _ => text,
            }
        }
    }
}

/// Says that the pull request of an ended turn is open.
pub(crate) fn open_pull_text(number: PullNumber, entry: &HistoryEntry) -> String {
    let since = entry.finished_at.map(since_text);
    format!(
        "{}{}{}.",
        Outcome::PrOpen.describe(Some(number)),
        since.unwrap_or_default(),
        link_text(entry.session_id.as_ref())
    )
}

/// Whether `/phileas retry` would repeat this request, as far as is known now.
fn can_be_retried(builder: &DecisionBuilder<'_>, request: &RequestState) -> bool {
    let (Some(subject), Some(persona), Some(thread)) =
        (&request.subject, &request.persona, request.thread)
    else {
        return false;
    };
    let is_newest =
        newest_request(builder, subject).is_some_and(|newest| newest.number == request.number);
    let plan = &builder.snapshot.plan;
    let is_there =
        plan.personas.contains_key(persona) || work_items::implementer_role(persona).is_some();
    // On phileas' own pull request, retry sends reviews instead.
    let is_own_pull = pull_owner::is_own_pull(builder, PullNumber(thread));
    is_newest && is_there && !is_own_pull && plan.budget.requests_per_actor_hour > 0
}

/// The status of a live turn; `None` while its session is being created.
pub(crate) fn turn_status(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    turn: &Turn,
) -> Option<RequestStatus> {
    let view = turn_view(builder, turn, builder.lines_of_track(track));
    if view.stage == TurnStage::Starting {
        return None;
    }
    let reason = view.line.as_ref().map(|line| line.reason);
    let asks_for_plan =
        view.stage == TurnStage::NeedsPerson && reason == Some(Reason::PlanApproval);
    let text = match asks_for_plan {
        true => format!(
            "its plan waits{} for a person with write access to say `/phileas approve` here, or to put on the label \
             `phileas:approve-plan` (`{}`)",
            view.since.map(since_text).unwrap_or_default(),
            Reason::PlanApproval
        ),
        false => view.sentence(true),
    };
    Some(RequestStatus {
        text: format!("{text}{}.", view.link_text()),
        stable: view.stage_name(),
        plan: plan_approval::plan_text(builder, track, turn).filter(|_| asks_for_plan),
    })
}

/// The known personas, for a request for an unknown one.
fn persona_names(builder: &DecisionBuilder<'_>, code: &str) -> String {
    if code != Reason::Unknown.code() {
        return String::new();
    }
    let personas = &builder.snapshot.plan.personas;
    let mut named: Vec<String> = personas
        .keys()
        .take(NUMBERS_NAMED)
        .map(|id| format!("`{id}`"))
        .collect();
    if personas.len() > named.len() {
        named.push("…".to_owned());
    }
    if named.is_empty() {
        "; the plan has no persona".to_owned()
    } else {
        format!("; the personas are {}", named.join(", "))
    }
}
