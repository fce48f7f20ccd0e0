//! Handles the forms of the dashboard. The audit log records every action.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use phileas_domain::model::Holder;
use phileas_domain::state::Pause;

use super::access::{AccessRefusal, COOKIE, SESSION};
use super::context::DashboardContext;
use super::form::{OwnForm, RepositoryForm, form_field, inbox_unavailable, refuse_form};
use super::handlers;
use super::request_guard::{RequestId, too_many};
use crate::runtime::inbox::{Inbox, Replayed};
use crate::runtime::ports::WriteGitHub;
use crate::runtime::{Edit, EditError, edit_state};

/// The author of a pause in the ledger: the dashboard knows a token, but no person.
const PAUSED_BY: &str = "the dashboard of the service";

type Shared<I> = State<Arc<DashboardContext<I>>>;

/// Checks the repository now, whatever it waits for. Its plan still decides what starts.
pub(super) async fn check_now<I: Inbox + 'static>(form: RepositoryForm<I>) -> Response {
    let context = &form.form.context;
    // A wake of a repository that is not managed would stay in the inbox forever.
    if !context.repository_names().contains_key(&form.repository) {
        form.record("check", "unknown");
        return StatusCode::NOT_FOUND.into_response();
    }
    let inbox = &context.dashboard.inbox;
    match inbox
        .wake_repository(form.repository, context.current_time())
        .await
    {
        Ok(()) => {
            // A wake does not resume a suspended repository, and the person must learn that.
            let (result, word) = match inbox.read_wake(form.repository).await {
                Ok(Some(wake)) if wake.suspended.is_some() => {
                    ("it is suspended", "check-suspended")
                }
                _ => ("done", "check"),
            };
            form.record("check", result);
            form.redirect(word)
        }
        Err(error) => {
            form.record("check", "failed");
            inbox_unavailable(&error)
        }
    }
}

/// Resumes a suspended repository.
pub(super) async fn resume_repository<I: Inbox + 'static>(form: RepositoryForm<I>) -> Response {
    let context = &form.form.context;
    let resumed = context
        .dashboard
        .inbox
        .resume_repository(form.repository, context.current_time())
        .await;
    let (result, word) = match &resumed {
        Ok(true) => ("done", "resume"),
        Ok(false) => ("was not suspended", "resume-not"),
        Err(_) => ("failed", ""),
    };
    form.record("resume", result);
    match resumed {
        Ok(_) => {
            context.dashboard.board.publish_change(form.repository);
            form.redirect(word)
        }
        Err(error) => inbox_unavailable(&error),
    }
}

/// Pauses a repository: nothing starts in it until a form or a command ends the pause.
pub(super) async fn pause_repository<I: Inbox + 'static>(form: RepositoryForm<I>) -> Response {
    set_paused(form, true).await
}

/// Ends the pause of a repository. Labels and variables still pause it.
pub(super) async fn unpause_repository<I: Inbox + 'static>(form: RepositoryForm<I>) -> Response {
    set_paused(form, false).await
}

async fn set_paused<I: Inbox + 'static>(form: RepositoryForm<I>, paused: bool) -> Response {
    let context = &form.form.context;
    let what = if paused { "pause" } else { "unpause" };
    let repositories = context.dashboard.repositories.as_ref();
    let members = repositories
        .map(|all| all.list_members())
        .unwrap_or_default();
    let member = members
        .into_iter()
        .find(|member| member.id == form.repository);
    let (Some(repositories), Some(member)) = (repositories, member) else {
        form.record(what, "unknown");
        return StatusCode::NOT_FOUND.into_response();
    };
    let github = repositories.client_of(&member);
    match write_pause(&github, &form.form.request, paused).await {
        Ok(changed) => {
            form.record(what, if changed { "done" } else { "nothing changed" });
            // The page shows the result after the next check.
            let inbox = &context.dashboard.inbox;
            if let Err(error) = inbox
                .wake_repository(form.repository, context.current_time())
                .await
            {
                return inbox_unavailable(&error);
            }
            form.redirect(match (paused, changed) {
                (true, true) => "pause",
                (true, false) => "pause-known",
                (false, true) => "unpause",
                (false, false) => "unpause-none",
            })
        }
        Err(error) => {
            form.record(what, "failed");
            let status = StatusCode::BAD_GATEWAY;
            let text = format!(
                "{error}. To pause the repository without the ledger, set its variable PHILEAS_PAUSED, or put the \
                 label phileas:pause on an open issue."
            );
            handlers::message_page(
                context,
                Some(&form.form.visitor),
                status,
                "The ledger was not changed",
                text,
            )
            .await
        }
    }
}

/// Writes a pause into the ledger, or removes it. Returns whether that changed anything.
async fn write_pause(
    github: &impl WriteGitHub,
    request: &RequestId,
    paused: bool,
) -> Result<bool, EditError> {
    let holder = Holder::from(format!("dashboard-{}", request.0));
    let edit_of = Edit {
        headline: if paused { "pause" } else { "resume" },
        holder: &holder,
        moves_pointer_of: None,
    };
    edit_state(github, &edit_of, |state, observation| {
        let changes = state.paused.is_some() != paused;
        if !paused {
            state.paused = None;
        } else if changes {
            state.paused = Some(Pause {
                at: Some(observation.now),
                by: Some(PAUSED_BY.to_owned()),
                ..Pause::default()
            });
        }
        Ok(changes)
    })
    .await
}

/// Runs a delivery again.
pub(super) async fn replay_delivery<I: Inbox + 'static>(form: OwnForm<I>) -> Response {
    let about = form.field("id").unwrap_or_default();
    let Ok(id) = about.parse() else {
        return (
            StatusCode::BAD_REQUEST,
            "this is not the id of a delivery\n",
        )
            .into_response();
    };
    let context = &form.context;
    let replayed = context
        .dashboard
        .inbox
        .replay_delivery(&id, context.current_time())
        .await;
    let (result, word) = match &replayed {
        Ok(Replayed::Woken(_)) => ("done", "replay"),
        Ok(Replayed::Suspended(_)) => ("its repository is suspended", "replay-suspended"),
        Ok(Replayed::WakesNoRepository) => ("it wakes no repository", "replay-no-repository"),
        Ok(Replayed::Unknown) => ("unknown", "replay-unknown"),
        Err(_) => ("failed", ""),
    };
    form.record("replay", Some(&about), result);
    match replayed {
        Ok(_) => Redirect::to(&format!("/deliveries?done={word}")).into_response(),
        Err(error) => inbox_unavailable(&error),
    }
}

/// Signs a person in.
pub(super) async fn sign_in<I: Inbox + 'static>(
    State(context): Shared<I>,
    Extension(request): Extension<RequestId>,
    headers: HeaderMap,
    form: Bytes,
) -> Response {
    let access = &context.dashboard.access;
    if !access.is_guarded() {
        return Redirect::to("/").into_response();
    }
    if !context.is_own_form(None, &form) {
        return refuse_form(&context, None).await;
    }
    let now = Instant::now();
    // A pasted token often ends with a line break.
    let given = form_field(&form, "token").unwrap_or_default();
    let next = handlers::local_path(form_field(&form, "next"));
    match access.sign_in(given.trim(), now) {
        AccessRefusal::Right => {}
        wrong @ (AccessRefusal::Wrong(_) | AccessRefusal::Unauthorized) => {
            if let Some(result) = wrong.audit_text() {
                context.record_action("unknown", "login", None, result, &request);
            }
            let page = handlers::login_page(&context, Some("This is not the admin token."), next);
            return (StatusCode::UNAUTHORIZED, page).into_response();
        }
        AccessRefusal::TooMany => return too_many(),
    }
    let (id, who) = match access.begin_session(now) {
        Ok(begun) => begun,
        Err(error) => {
            tracing::error!("the operating system returned no random bytes: {error}");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    context.record_action(&who.audit_name(), "login", None, "done", &request);
    let mut response = Redirect::to(&next).into_response();
    set_cookie(&mut response, &headers, &id, SESSION.as_secs());
    response
}

/// Signs a person out.
pub(super) async fn sign_out<I: Inbox + 'static>(headers: HeaderMap, form: OwnForm<I>) -> Response {
    form.context.dashboard.access.end_session(&form.visitor);
    form.record("logout", None, "done");
    let mut response = Redirect::to("/login").into_response();
    set_cookie(&mut response, &headers, "", 0);
    response
}

/// Sets the session cookie: no script can read it, no other site sends it, and behind a proxy with
/// TLS it is sent over TLS only.
fn set_cookie(response: &mut Response, headers: &HeaderMap, id: &str, seconds: u64) {
    let tls = headers
        .get("x-forwarded-proto")
        .is_some_and(|proto| proto.as_bytes().eq_ignore_ascii_case(b"https"));
    let secure = if tls { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE}={id}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}
