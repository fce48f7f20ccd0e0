//! The commands `refuse` and `forget`.

use super::command_result::Refusal;
use super::request::Request;
use crate::engine::input::pull::PullState;
use crate::engine::input::subject::PullEnds;
use crate::engine::lookup::dashboard_issue::text_digest;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::PullNumber;
use crate::plan::NoveltyMode;
use crate::state::{Extra, State, WorkRefusal};
use crate::work::{JULES_BOT_ID, RefusalReason};

/// Remembers why a person refuses a pull request; the stage of pull requests then closes it.
pub(crate) fn refuse_work(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    reason: RefusalReason,
    never: bool,
) -> Result<String, Refusal> {
    let pull = recorded_pull(builder, request)?;
    if state_of(builder, request, pull) == PullState::Merged {
        let text = "it is merged, so there is nothing to refuse";
        return Err((Reason::NothingToDo, text.to_owned()));
    }
    let comment = request.comment;
    let shown = builder.snapshot.comments.iter();
    let further = builder.snapshot.comment_coverage.further.iter();
    let mut comments = shown.chain(further.flat_map(|further| &further.comments));
    let text = comments.find(|one| Some(one.number) == comment);
    let refusal = WorkRefusal {
        reason: reason.as_str().to_owned(),
        never,
        comment,
        digest: text.map(|one| format!("sha256:{}", text_digest(&one.body))),
        at: Some(request.at),
        closing: None,
        extra: Extra::new(),
    };
    let work = &mut builder.state.work;
    work.forgotten.remove(&pull);
    work.refused.insert(pull, refusal);
    let never = if never { ", for ever" } else { "" };
    let reason = reason.as_str();
    let closing = match state_of(builder, request, pull) {
        PullState::Open => "phileas closes it, and prompts name it",
        PullState::Closed | PullState::Merged => "prompts name it",
    };
    Ok(format!("refused as `{reason}`{never}; {closing}"))
}

/// Withdraws the refusal of a pull request. It stays closed.
pub(crate) fn forget_refusal(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Result<String, Refusal> {
    let pull = recorded_pull(builder, request)?;
    let state = state_of(builder, request, pull);
    if state == PullState::Open && !builder.state.work.refused.contains_key(&pull) {
        let text = "it is open and not refused, so there is nothing to forget";
        return Err((Reason::NothingToDo, text.to_owned()));
    }
    withdraw_refusal(&mut builder.state, pull);
    let text = match state {
        PullState::Merged => "forgotten: the same work may be done again",
        PullState::Open | PullState::Closed => "forgotten: no prompt names it as refused",
    };
    Ok(text.to_owned())
}

/// Withdraws the refusal of a pull request. The next tick changes the record.
pub fn withdraw_refusal(state: &mut State, pull: PullNumber) {
    state.work.refused.remove(&pull);
    state.work.forgotten.insert(pull);
}

fn state_of(builder: &DecisionBuilder<'_>, request: &Request<'_>, number: PullNumber) -> PullState {
    match builder.snapshot.pulls.get(&number) {
        Some(pull) => pull.state,
        None if request.subject.open => PullState::Open,
        None => PullState::Closed,
    }
}

/// The pull request of a request, where phileas records its work.
fn recorded_pull(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Result<PullNumber, Refusal> {
    let nothing = |text: &str| Err((Reason::NothingToDo, text.to_owned()));
    let pull = PullNumber(request.subject.number);
    let is_here = |ends: &PullEnds| ends.same_repository;
    if !request.subject.pull.as_ref().is_some_and(is_here) {
        return nothing("only a pull request of this repository can be refused");
    }
    if builder.snapshot.plan.novelty.mode == NoveltyMode::Off {
        return nothing("`novelty.mode` is \"off\", so phileas remembers no refusals");
    }
    let history = &builder.state.history;
    let is_of_session = || {
        let mut entries = history.values().rev();
        entries.any(|entry| entry.pr_number == Some(pull) && entry.session_id.is_some())
    };
    // A session that a person started has no entry in the ledger.
    let author = request.subject.author.as_ref();
    let is_of_jules = author.is_some_and(|author| author.bot && author.id == Some(JULES_BOT_ID));
    if !builder.state.work.open.contains(&pull) && !is_of_session() && !is_of_jules {
        return nothing("it is not a pull request of Jules");
    }
    Ok(pull)
}
