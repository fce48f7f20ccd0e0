//! Carries out effects in order. It decides nothing: an effect carries every value that it needs.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{CreateFailure, CreateSession, DASHBOARD_KEY, Effect, Event};
use phileas_domain::model::BranchName;

use super::ports::{Disposition, Failure, Issue, ReadGitHub, WriteGitHub, WriteJules};
use super::report::Failed;

/// Carries out effects in order, and tells what came of them, and which could not be carried out. `now` is asked right
/// before each deadline counts, `stop` before each session: one that is not created yet is left, everything else is
/// short and is done.
pub(super) async fn execute(
    github: &impl WriteGitHub,
    jules: &impl WriteJules,
    effects: &[Effect],
    now: impl Fn() -> Timestamp,
    stop: impl Fn() -> bool,
) -> (Vec<Event>, Vec<Failed>) {
    let mut events = Vec::new();
    let mut failed = Vec::new();
    for effect in effects {
        let name = effect.name();
        let done = match effect {
            Effect::CreateSession(create) => {
                events.push(create_session(github, jules, create, &now, &stop).await);
                continue;
            }
            Effect::SendMessage { session, text, .. } => jules.send_message(session, text).await,
            Effect::NotifyPullSession {
                pull,
                session,
                marker,
                text,
                not_after,
            } => {
                let told = match in_time(now(), *not_after) {
                    Ok(()) => jules.send_message(session, text).await,
                    Err(late) => Err(late),
                };
                told.map(|()| {
                    events.push(Event::PullNotified {
                        pull: *pull,
                        marker: marker.clone(),
                    });
                })
            }
            Effect::MarkReady { pull } => github
                .mark_ready(*pull)
                .await
                .map(|()| events.push(Event::PullMarkedReady { pull: *pull })),
            Effect::MergePull {
                request,
                pull,
                head,
                method,
                not_after,
            } => {
                let merged = match in_time(now(), *not_after) {
                    Ok(()) => github.merge_pull(*pull, head, *method).await,
                    Err(late) => Err(late),
                };
                let (event, done) = merged_or_not(request, merged, now());
                events.extend(event);
                done
            }
            Effect::RemindPeople {
                pull,
                marker,
                body,
                not_after,
            } => {
                let told = match in_time(now(), *not_after) {
                    Ok(()) => github.tell_status(pull.0, None, marker, body).await,
                    Err(late) => Err(late),
                };
                told.map(|_| {
                    events.push(Event::PullNotified {
                        pull: *pull,
                        marker: marker.clone(),
                    });
                })
            }
            Effect::ApprovePlan { session } => jules.approve_plan(session).await,
            Effect::ArchiveSession { session } => jules.archive(session).await,
            Effect::RetargetPull { pull, base } => github.retarget_pull(*pull, base).await,
            Effect::OpenNotice { key, title, body } => github
                .open_notice(&key.to_string(), title, body)
                .await
                .map(|_| ()),
            Effect::CloseNotice { number, comment } => github.close_notice(*number, comment).await,
            Effect::CloseWorkItem { number, comment } => github
                .close_notice(*number, comment)
                .await
                .map(|()| events.push(Event::WorkItemClosed { number: *number })),
            Effect::AddReaction { thread, comment } => github.add_reaction(*thread, *comment).await,
            Effect::RemoveLabel { thread, label } => github.remove_label(*thread, label).await,
            Effect::WriteStatus {
                request,
                thread,
                comment_id,
                marker,
                digest,
                body,
                not_after,
            } => {
                let told = match in_time(now(), *not_after) {
                    Ok(()) => github.tell_status(*thread, *comment_id, marker, body).await,
                    Err(late) => Err(late),
                };
                told.map(|comment_id| {
                    events.push(Event::StatusWritten {
                        request: request.clone(),
                        digest: digest.clone(),
                        comment_id,
                    });
                })
            }
            Effect::PublishProposal {
                key,
                title,
                body,
                label,
                marker,
                not_after,
            } => {
                let issue = Issue {
                    title,
                    body,
                    label,
                    about: "A proposal of this innovator",
                    marker,
                    closed_will_do: true,
                };
                let opened = publish(github, &issue, in_time(now(), *not_after)).await;
                opened.map(|number| {
                    let key = key.clone();
                    events.push(Event::ProposalPublished { key, number });
                })
            }
            Effect::OpenWorkItem {
                key,
                title,
                body,
                label,
                marker,
                not_after,
            } => {
                let issue = Issue {
                    title,
                    body,
                    label,
                    about: "Work that waits for a person's word",
                    marker,
                    // A maintainer could not approve the work on a closed issue.
                    closed_will_do: false,
                };
                let opened = publish(github, &issue, in_time(now(), *not_after)).await;
                opened.map(|number| {
                    let key = key.clone();
                    events.push(Event::WorkItemOpened { key, number });
                })
            }
            Effect::OpenDashboard {
                known,
                title,
                marker,
                body,
                not_after,
            } => {
                let opened = match in_time(now(), *not_after) {
                    Ok(()) => github.open_dashboard(*known, title, marker, body).await,
                    Err(late) => Err(late),
                };
                opened.map(|number| events.push(Event::DashboardOpened { number }))
            }
            Effect::EditDashboard {
                number,
                seen,
                body,
                not_after,
            } => match in_time(now(), *not_after) {
                Ok(()) => github.edit_dashboard(*number, seen, body).await,
                Err(late) => Err(late),
            },
        };
        if let Err(Failure {
            detail,
            disposition,
        }) = done
        {
            let about = about(effect);
            tracing::warn!(
                effect.name = name,
                about,
                detail,
                "an effect could not be carried out"
            );
            failed.push(Failed {
                what: name,
                about,
                detail: detail.clone(),
            });
            events.push(Event::EffectFailed {
                effect: name,
                detail,
            });
            let for_good = matches!(
                disposition,
                Disposition::Refused | Disposition::Denied | Disposition::NotFound
            );
            if let Some(key) = effect.refusal_key().filter(|_| for_good) {
                events.push(Event::EffectRefused { key });
            }
        }
    }
    (events, failed)
}

/// What came of a merge. That GitHub refuses it is an answer, which people are told of; that this credential may not ask
/// is a failure besides. What was surely not carried out may be asked again; where the result is unknown, the pull request is read first.
fn merged_or_not(
    request: &str,
    merged: Result<(), Failure>,
    now: Timestamp,
) -> (Option<Event>, Result<(), Failure>) {
    let request = request.to_owned();
    match merged {
        Ok(()) => (Some(Event::PullMerged { request }), Ok(())),
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
            let is_done = failure.disposition == Disposition::Refused;
            (event, if is_done { Ok(()) } else { Err(failure) })
        }
    }
}

/// A process that stood still for long might write beside the successor that took over.
fn in_time(now: Timestamp, not_after: Timestamp) -> Result<(), Failure> {
    if now < not_after {
        return Ok(());
    }
    Err(Failure {
        disposition: Disposition::Retry { after: None },
        detail: "the time for it was over".to_owned(),
    })
}

/// Opens an issue that says what layers have written, unless the time for it is over.
async fn publish(
    github: &impl WriteGitHub,
    issue: &Issue<'_>,
    in_time: Result<(), Failure>,
) -> Result<u64, Failure> {
    in_time?;
    github.publish(issue).await
}

/// What an effect is about, for people and programs.
fn about(effect: &Effect) -> String {
    match effect {
        Effect::CreateSession(create) => format!("turn {}", create.marker),
        Effect::SendMessage { session, .. }
        | Effect::ApprovePlan { session }
        | Effect::ArchiveSession { session } => format!("session {session}"),
        Effect::RetargetPull { pull, .. }
        | Effect::NotifyPullSession { pull, .. }
        | Effect::MergePull { pull, .. }
        | Effect::RemindPeople { pull, .. }
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
        let detail = "this process was told to end before Jules was called".to_owned();
        return not_created(CreateFailure::NotSent { detail });
    }
    if let Some(branch) = &create.make_branch
        && let Err(failure) = github.make_branch(&branch.name, &branch.at).await
    {
        return not_created(branch_failure(&branch.name, failure));
    }
    // The point of no return: after this check Jules is called, once, and only by the holder of the intent.
    if now() >= create.not_after {
        let detail = "the intent's time was over before Jules could be called".to_owned();
        return not_created(CreateFailure::NotSent { detail });
    }
    match jules.create(create).await {
        Ok(session) => Event::SessionCreated {
            track: create.track.clone(),
            slot: create.slot.clone(),
            marker: create.marker.clone(),
            session,
        },
        Err(failure) => not_created(with_branch(github, create, failure).await),
    }
}

/// Jules says only that an argument is invalid when the branch that a session starts from does not exist, so that
/// GitHub is asked for it after a refusal.
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

/// What is said of a start branch that is not there, and what to do.
pub(super) fn missing_branch(name: &BranchName) -> String {
    format!(
        "the branch `{name}` that it starts from does not exist on GitHub; push it, or change `branch` in the plan"
    )
}

/// What a session's branch that cannot be made means for the session. What GitHub refuses once it refuses again, so that
/// a person is called and patience doubles; what it only could not do now is soon tried again.
fn branch_failure(name: &BranchName, failure: Failure) -> CreateFailure {
    let detail = format!("its branch `{name}` cannot be made: {}", failure.detail);
    match failure.disposition {
        // A branch in its way, or a rule about its name: the branches of other personas may be made.
        Disposition::Refused => CreateFailure::TurnRefused { detail },
        Disposition::Denied | Disposition::TooLarge | Disposition::NotFound => {
            CreateFailure::Refused { detail }
        }
        Disposition::Retry { .. } | Disposition::Unknown => CreateFailure::NotSent { detail },
    }
}
