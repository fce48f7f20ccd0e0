//! Executes the effects of a decision in order. An effect carries every value that it needs, so
//! nothing is decided here.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{CreateFailure, CreateSession, DASHBOARD_KEY, Effect, Event};
use phileas_domain::model::{BranchName, PullNumber};

use super::ports::{Disposition, Failure, Issue, ReadGitHub, WriteGitHub, WriteJules};
use super::report::FailedEffect;

/// Executes effects in order, and returns the events that they caused and the effects that failed.
/// `now` is read before each deadline, `stop` before each session. After a stop no session is
/// created; all other effects are short and are still executed.
pub(super) async fn execute_effects(
    github: &impl WriteGitHub,
    jules: &impl WriteJules,
    effects: &[Effect],
    now: impl Fn() -> Timestamp,
    stop: impl Fn() -> bool,
) -> (Vec<Event>, Vec<FailedEffect>) {
    let mut events = Vec::new();
    let mut failed = Vec::new();
    for effect in effects {
        let executed = execute_effect(github, jules, effect, &now, &stop).await;
        events.extend(executed.event);
        if let Err(failure) = executed.result {
            failed.push(record_failure(effect, failure, &mut events));
        }
    }
    (events, failed)
}

/// The result of one effect. A merge that GitHub has refused, for example, is an event and may be a
/// failure as well.
struct Executed {
    event: Option<Event>,
    result: Result<(), Failure>,
}

impl Executed {
    fn only_event(event: Event) -> Self {
        Self {
            event: Some(event),
            result: Ok(()),
        }
    }

    /// The result of an effect whose success is no event.
    fn without_event<T>(result: Result<T, Failure>) -> Self {
        Self {
            event: None,
            result: result.map(|_| ()),
        }
    }

    /// The result of an effect whose success is an event.
    fn with_event<T>(result: Result<T, Failure>, event: impl FnOnce(T) -> Event) -> Self {
        match result {
            Ok(answer) => Self::only_event(event(answer)),
            Err(failure) => Self::without_event::<T>(Err(failure)),
        }
    }
}

async fn execute_effect(
    github: &impl WriteGitHub,
    jules: &impl WriteJules,
    effect: &Effect,
    now: &impl Fn() -> Timestamp,
    stop: &impl Fn() -> bool,
) -> Executed {
    match effect {
        Effect::CreateSession(create) => {
            Executed::only_event(create_session(github, jules, create, now, stop).await)
        }
        Effect::SendMessage {
            session,
            text,
            not_after,
            ..
        } => {
            let send = jules.send_message(session, text);
            Executed::without_event(in_time(now(), *not_after, send).await)
        }
        Effect::NotifyPullSession {
            pull,
            session,
            marker,
            text,
            not_after,
        } => {
            let sent = in_time(now(), *not_after, jules.send_message(session, text)).await;
            Executed::with_event(sent, |()| pull_notified(*pull, marker))
        }
        Effect::ApprovePlan { session } => {
            Executed::without_event(jules.approve_plan(session).await)
        }
        Effect::ArchiveSession { session } => {
            Executed::without_event(jules.archive_session(session).await)
        }
        Effect::MergePull {
            request,
            pull,
            head,
            method,
            not_after,
        } => {
            let merge = github.merge_pull(*pull, head, *method);
            let merged = in_time(now(), *not_after, merge).await;
            merge_result(request, merged, now())
        }
        Effect::MarkReady { pull } => {
            let marked = github.mark_ready(*pull).await;
            Executed::with_event(marked, |()| Event::PullMarkedReady { pull: *pull })
        }
        Effect::AddLabel {
            pull,
            label,
            not_after,
        } => {
            let added = in_time(now(), *not_after, github.add_label(*pull, label)).await;
            Executed::with_event(added, |()| Event::LabelAdded { pull: *pull })
        }
        Effect::RemindPeople {
            pull,
            marker,
            body,
            not_after,
        }
        | Effect::CommentOnPull {
            pull,
            marker,
            body,
            not_after,
        } => {
            let write = github.write_status(pull.0, None, marker, body);
            let written = in_time(now(), *not_after, write).await;
            Executed::with_event(written, |_| pull_notified(*pull, marker))
        }
        Effect::ClosePull { pull, not_after } => {
            let closed = in_time(now(), *not_after, github.close_pull(*pull)).await;
            Executed::with_event(closed, |()| Event::PullClosed { pull: *pull })
        }
        Effect::RetargetPull { pull, base } => {
            Executed::without_event(github.retarget_pull(*pull, base).await)
        }
        Effect::OpenNotice { .. }
        | Effect::CloseNotice { .. }
        | Effect::CloseWorkItem { .. }
        | Effect::AddReaction { .. }
        | Effect::RemoveLabel { .. }
        | Effect::WriteStatus { .. }
        | Effect::PublishProposal { .. }
        | Effect::OpenWorkItem { .. }
        | Effect::OpenDashboard { .. }
        | Effect::EditDashboard { .. } => execute_issue_effect(github, effect, now).await,
    }
}

/// Executes an effect on an issue or on the comments of a thread.
async fn execute_issue_effect(
    github: &impl WriteGitHub,
    effect: &Effect,
    now: &impl Fn() -> Timestamp,
) -> Executed {
    match effect {
        Effect::OpenNotice { key, title, body } => {
            Executed::without_event(github.open_notice(&key.to_string(), title, body).await)
        }
        Effect::CloseNotice { number, comment } => {
            Executed::without_event(github.close_notice(*number, comment).await)
        }
        Effect::CloseWorkItem { number, comment } => {
            let closed = github.close_notice(*number, comment).await;
            Executed::with_event(closed, |()| Event::WorkItemClosed { number: *number })
        }
        Effect::AddReaction { thread, comment } => {
            Executed::without_event(github.add_reaction(*thread, *comment).await)
        }
        Effect::RemoveLabel { thread, label } => {
            Executed::without_event(github.remove_label(*thread, label).await)
        }
        Effect::WriteStatus {
            request,
            thread,
            comment_id,
            marker,
            digest,
            body,
            not_after,
        } => {
            let write = github.write_status(*thread, *comment_id, marker, body);
            let written = in_time(now(), *not_after, write).await;
            Executed::with_event(written, |comment_id| Event::StatusWritten {
                request: request.clone(),
                digest: digest.clone(),
                comment_id,
            })
        }
        Effect::PublishProposal {
            key,
            title,
            body,
            label,
            marker,
            not_after,
        }
        | Effect::OpenWorkItem {
            key,
            title,
            body,
            label,
            marker,
            not_after,
        } => {
            let is_proposal = matches!(effect, Effect::PublishProposal { .. });
            let issue = Issue {
                title,
                body,
                label,
                about: match is_proposal {
                    true => "A proposal of this innovator",
                    false => "Work that waits for a maintainer's decision",
                },
                marker,
                // A maintainer could not approve the work on a closed issue.
                closed_will_do: is_proposal,
            };
            let published = in_time(now(), *not_after, github.publish_issue(&issue)).await;
            let key = key.clone();
            Executed::with_event(published, |number| match is_proposal {
                true => Event::ProposalPublished { key, number },
                false => Event::WorkItemOpened { key, number },
            })
        }
        Effect::OpenDashboard {
            known,
            title,
            marker,
            body,
            not_after,
        } => {
            let open = github.open_dashboard(*known, title, marker, body);
            let opened = in_time(now(), *not_after, open).await;
            Executed::with_event(opened, |number| Event::DashboardOpened { number })
        }
        Effect::EditDashboard {
            number,
            seen,
            body,
            not_after,
        } => {
            let edit = github.edit_dashboard(*number, seen, body);
            Executed::without_event(in_time(now(), *not_after, edit).await)
        }
        // `execute_effect` executes every other effect itself.
        _ => Executed::without_event(Ok(())),
    }
}

fn pull_notified(pull: PullNumber, marker: &str) -> Event {
    Event::PullNotified {
        pull,
        marker: marker.to_owned(),
    }
}

/// Logs an effect that failed, and adds the events that report it to the engine.
fn record_failure(effect: &Effect, failure: Failure, events: &mut Vec<Event>) -> FailedEffect {
    let name = effect.name();
    let about = effect_subject(effect);
    let Failure {
        detail,
        disposition,
    } = failure;
    tracing::warn!(effect.name = name, about, detail, "an effect has failed");
    events.push(Event::EffectFailed {
        effect: name,
        detail: detail.clone(),
    });
    let is_final = matches!(
        disposition,
        Disposition::Refused | Disposition::Denied | Disposition::NotFound
    );
    if let Some(key) = effect.refusal_key().filter(|_| is_final) {
        events.push(Event::EffectRefused { key });
    }
    FailedEffect {
        what: name,
        about,
        detail,
    }
}

/// Reports a merge. A refusal by GitHub is a reply for the maintainers; a missing permission of
/// this credential is a failure as well. A merge that was not executed is tried again. If the
/// result is unknown, the pull request is read first.
fn merge_result(request: &str, merged: Result<(), Failure>, now: Timestamp) -> Executed {
    let request = request.to_owned();
    match merged {
        Ok(()) => Executed::only_event(Event::PullMerged { request }),
        Err(failure) => {
            let detail = failure.detail.clone();
            let event = match failure.disposition {
                Disposition::Refused | Disposition::Denied | Disposition::NotFound => {
                    Some(Event::MergeRefused { request, detail })
                }
                Disposition::Retry { after } => {
                    let after = after.and_then(|after| SignedDuration::try_from(after).ok());
                    let retry_at = after.and_then(|after| now.checked_add(after).ok());
                    Some(Event::MergePostponed { request, retry_at })
                }
                Disposition::Unknown | Disposition::TooLarge => None,
            };
            let is_answered = failure.disposition == Disposition::Refused;
            let result = if is_answered { Ok(()) } else { Err(failure) };
            Executed { event, result }
        }
    }
}

/// Makes a call unless its deadline has passed: after a long pause of this process, another one may
/// have started the same.
async fn in_time<T>(
    now: Timestamp,
    not_after: Timestamp,
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    if now >= not_after {
        return Err(Failure {
            disposition: Disposition::Retry { after: None },
            detail: "the deadline had passed".to_owned(),
        });
    }
    call.await
}

/// The subject of an effect, for people and programs.
fn effect_subject(effect: &Effect) -> String {
    match effect {
        Effect::CreateSession(create) => format!("turn {}", create.marker),
        Effect::SendMessage { session, .. }
        | Effect::ApprovePlan { session }
        | Effect::ArchiveSession { session } => format!("session {session}"),
        Effect::RetargetPull { pull, .. }
        | Effect::ClosePull { pull, .. }
        | Effect::NotifyPullSession { pull, .. }
        | Effect::MergePull { pull, .. }
        | Effect::RemindPeople { pull, .. }
        | Effect::AddLabel { pull, .. }
        | Effect::CommentOnPull { pull, .. }
        | Effect::MarkReady { pull } => format!("pull request #{pull}"),
        Effect::OpenNotice { key, .. } => key.to_string(),
        Effect::CloseNotice { number, .. }
        | Effect::CloseWorkItem { number, .. }
        | Effect::EditDashboard { number, .. } => {
            format!("issue #{number}")
        }
        Effect::PublishProposal { key, .. } | Effect::OpenWorkItem { key, .. } => key.clone(),
        Effect::OpenDashboard { .. } => DASHBOARD_KEY.to_owned(),
        Effect::AddReaction { thread, .. }
        | Effect::RemoveLabel { thread, .. }
        | Effect::WriteStatus { thread, .. } => format!("#{thread}"),
    }
}

async fn create_session(
    github: &impl WriteGitHub,
    jules: &impl WriteJules,
    create: &CreateSession,
    now: &impl Fn() -> Timestamp,
    stop: &impl Fn() -> bool,
) -> Event {
    let not_created = |failure| Event::SessionNotCreated {
        track: create.track.clone(),
        slot: create.slot.clone(),
        marker: create.marker.clone(),
        failure,
    };
    if stop() {
        let detail = "this process was stopped before it called Jules".to_owned();
        return not_created(CreateFailure::NotSent { detail });
    }
    if let Some(branch) = &create.make_branch
        && let Err(failure) = github.make_branch(&branch.name, &branch.at).await
    {
        return not_created(branch_failure(&branch.name, failure));
    }
    // After this check Jules is called once, and only by the process that wrote the intent.
    if now() >= create.not_after {
        let detail = "the intent expired before phileas called Jules".to_owned();
        return not_created(CreateFailure::NotSent { detail });
    }
    match jules.create_session(create).await {
        Ok(session) => Event::SessionCreated {
            track: create.track.clone(),
            slot: create.slot.clone(),
            marker: create.marker.clone(),
            session,
        },
        Err(failure) => not_created(with_branch(github, create, failure).await),
    }
}

/// Adds to a refusal of Jules that the start branch does not exist, if GitHub says so. Jules only
/// replies that an argument is invalid.
async fn with_branch(
    github: &impl ReadGitHub,
    create: &CreateSession,
    failure: CreateFailure,
) -> CreateFailure {
    let (CreateFailure::Refused { detail } | CreateFailure::TurnRefused { detail }) = &failure
    else {
        return failure;
    };
    match github.has_branch(&create.branch).await {
        Ok(false) => CreateFailure::TurnRefused {
            detail: format!("{} ({detail})", missing_branch(&create.branch)),
        },
        Ok(true) | Err(_) => failure,
    }
}

/// The message about a start branch that does not exist, and what to do.
pub(super) fn missing_branch(name: &BranchName) -> String {
    format!(
        "the branch `{name}` that it starts from does not exist on GitHub; push it, or change `branch` in the plan"
    )
}

/// The failure of a session whose branch cannot be created. A refusal of GitHub is final, so a
/// notice is opened and the next attempt waits longer. A temporary failure is tried again soon.
fn branch_failure(name: &BranchName, failure: Failure) -> CreateFailure {
    let detail = format!("its branch `{name}` cannot be created: {}", failure.detail);
    match failure.disposition {
        // Another branch or a rule forbids this name; branches of other personas may still be
        // created.
        Disposition::Refused => CreateFailure::TurnRefused { detail },
        Disposition::Denied | Disposition::TooLarge | Disposition::NotFound => {
            CreateFailure::Refused { detail }
        }
        Disposition::Retry { .. } | Disposition::Unknown => CreateFailure::NotSent { detail },
    }
}
