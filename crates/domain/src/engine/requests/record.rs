//! Records requests in the state, and acknowledges them on GitHub.

use jiff::Timestamp;

use super::acceptance::Acceptance;
use super::command_result::CommandResult;
use super::request::{Command, Request};
use crate::engine::lookup::pending_reviews::{PendingReview, pending_reviews};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{MESSAGE_REPEATS, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::review_request::refuse_review_request;
use crate::model::{Oid, PersonaId, PullNumber, TrackName};
use crate::state::{Extra, MergeState, RequestKind, RequestOutcome, RequestState};

/// Records what becomes of a request, and acknowledges it.
pub(crate) fn record_acceptance(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    acceptance: Acceptance,
) {
    match acceptance {
        Acceptance::Known { was_refused } => acknowledge_request(builder, request, !was_refused),
        Acceptance::Unread(text) => {
            let line = Line::about_repository(Verdict::Waiting, Reason::RequestUnread, text);
            builder.report_line(line.with_until(builder.now_plus(POLL)));
        }
        Acceptance::Ignored(reason, text) => {
            let text = format!("on #{}: {text}", request.subject.number);
            builder.report_line(Line::about_repository(Verdict::Refused, reason, text));
        }
        Acceptance::Refused(reason, text) => {
            acknowledge_request(builder, request, false);
            record_refusal(builder, request, reason, &text);
        }
        Acceptance::Executed(result) => {
            acknowledge_request(builder, request, true);
            record_result(builder, request, result);
        }
    }
}

fn record_result(builder: &mut DecisionBuilder<'_>, request: &Request<'_>, result: CommandResult) {
    match result {
        CommandResult::NeedsRead => {}
        CommandResult::Executed(answer) => record_executed(builder, request, answer),
        CommandResult::StartSession(persona) => {
            record_session_request(builder, request, &persona);
        }
        CommandResult::Refused(reason, text) => record_refusal(builder, request, reason, &text),
        CommandResult::Merge(head) => record_merge(builder, request, head),
        CommandResult::SendReviews(head) => record_reviews(builder, request, head),
    }
}

fn record_refusal(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    reason: Reason,
    text: &str,
) {
    let track = record_request(builder, request, |stored, now| {
        stored.set_outcome(&RequestOutcome::Refused);
        stored.reason = Some(reason.code().to_owned());
        // The state keeps the text where it depends on the command or the plan, or quotes the unknown command.
        let says_more = matches!(reason, Reason::NothingToDo | Reason::MergeOff)
            || matches!(request.command, Command::Unknown(_));
        stored.answer = says_more.then(|| text.to_owned());
        stored.finished_at = Some(now);
    });
    builder.add_headline(format!("refused {track}"), None);
    let text = format!("on #{}: {text}", request.subject.number);
    builder.report_line(Line::about_track(&track, Verdict::Refused, reason, text));
}

fn record_session_request(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    persona: &PersonaId,
) {
    let track = record_request(builder, request, |stored, _| {
        stored.set_outcome(&RequestOutcome::Pending);
        stored.persona = Some(persona.clone());
    });
    builder.add_headline(format!("{track} {persona}"), None);
}

/// Records a request whose command was executed, with its answer.
fn record_executed(builder: &mut DecisionBuilder<'_>, request: &Request<'_>, answer: String) {
    let track = record_request(builder, request, |stored, now| {
        stored.set_outcome(&RequestOutcome::Done);
        stored.answer = Some(answer).filter(|answer| !answer.is_empty());
        stored.finished_at = Some(now);
    });
    let verb = request.command.verb_name();
    builder.add_headline(format!("{verb} {track}"), None);
    let text = format!("`{verb}` on #{}", request.subject.number);
    let (verdict, reason) = (Verdict::Settled, Reason::CommandExecuted);
    builder.report_line(Line::about_track(&track, verdict, reason, text));
}

/// Reacts with eyes to an accepted request, and removes the label. Both are harmless when repeated.
fn acknowledge_request(builder: &mut DecisionBuilder<'_>, request: &Request<'_>, heard: bool) {
    let thread = request.subject.number;
    // The dashboard's text answers a checkbox.
    if heard && request.kind != RequestKind::Checkbox {
        let comment = request.comment;
        builder.add_effect(Effect::AddReaction { thread, comment });
    }
    if let Some(label) = request.label.clone() {
        builder.add_effect(Effect::RemoveLabel { thread, label });
    }
}

/// Records a request in the state, and returns its track.
fn record_request(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    complete: impl FnOnce(&mut RequestState, Timestamp),
) -> TrackName {
    let now = builder.now();
    let number = builder.state.next_request_number();
    let subject = request.subject;
    let is_box = request.kind == RequestKind::Checkbox;
    // The dashboard's text is phileas' own and changes without people.
    let is_bound = builder.state.dashboard_issue != Some(subject.number);
    let mut same: Vec<_> = builder
        .state
        .requests
        .values()
        .filter(|one| one.subject.as_deref() == Some(subject.id.as_str()))
        .filter_map(|one| Some((one.number, one.comment_id?)))
        .collect();
    same.sort_unstable();
    let mut stored = RequestState {
        kind: request.kind.as_str().to_owned(),
        subject: Some(subject.id.clone()),
        digest: is_bound.then(|| subject.digest()),
        actor: request.actor.map(|actor| actor.login.to_string()),
        actor_id: request.actor.and_then(|actor| actor.id),
        // The dashboard itself shows the requests of its checkboxes.
        thread: (!is_box).then_some(subject.number),
        persona: match &request.command {
            Command::Run(persona) => Some(persona.clone()),
            _ => None,
        },
        command: match &request.command {
            Command::Run(_) => None,
            what => Some(what.verb_name().to_owned()),
        },
        number: Some(number),
        comment_id: same.last().map(|(_, id)| *id),
        requested_at: Some(request.at),
        created_at: Some(now),
        ..RequestState::default()
    };
    complete(&mut stored, now);
    builder
        .state
        .requests
        .insert(request.key.clone().into_owned(), stored);
    TrackName::of_request(number)
}

/// Records a request to merge a commit.
fn record_merge(builder: &mut DecisionBuilder<'_>, request: &Request<'_>, head: Oid) {
    let track = record_request(builder, request, |stored, _| {
        stored.set_outcome(&RequestOutcome::Pending);
        stored.merge = Some(MergeState {
            head,
            sent_at: None,
            attempts: 0,
            not_before: None,
            deferrals: 0,
            extra: Extra::new(),
        });
    });
    let pull = request.subject.number;
    builder.add_headline(format!("{track} merge of pull request #{pull}"), None);
}

/// Records a request to send the reviews of a commit to the session of its open pull request.
fn record_reviews(builder: &mut DecisionBuilder<'_>, request: &Request<'_>, head: Oid) {
    let pull = PullNumber(request.subject.number);
    let is_same = |one: &PendingReview| one.pull == pull && one.head == head;
    let is_pending = pending_reviews(builder).iter().any(is_same);
    let known = builder.state.pulls.get_mut(&pull);
    let mut is_told = false;
    if let Some(known) = known {
        // A new request checks the session now.
        known.next_check = None;
        if let Some(told) = known.reviews.as_mut().filter(|told| told.head == head) {
            is_told = told.notified;
            // A message that was given up is tried once more for each request.
            told.repeats = told.repeats.min(MESSAGE_REPEATS - 1);
        }
    }
    let track = record_request(builder, request, |stored, _| {
        stored.set_outcome(&RequestOutcome::Pending);
        stored.reviews_of = Some(head.clone());
    });
    builder.add_headline(format!("{track} reviews of pull request #{pull}"), None);
    let open = PendingReview {
        key: request.key.clone().into_owned(),
        track,
        pull,
        head,
    };
    if is_pending {
        refuse_review_request(
            builder,
            &open,
            Reason::NothingToDo,
            "it is requested already",
        );
    } else if is_told {
        let text = "it was told of the reviews of this commit before; once it has pushed another one, say \
                    `/phileas retry` again for what was said since";
        refuse_review_request(builder, &open, Reason::NothingToDo, text);
    }
}
