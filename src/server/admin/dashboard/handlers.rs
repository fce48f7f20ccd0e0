//! The handlers of the dashboard's pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use phileas_domain::model::RepositoryId;

use super::access::Visitor;
use super::board::BriefSummary;
use super::context::DashboardContext;
use super::forecast::HORIZON;
use super::format::format_moment;
use super::live_updates::Topic;
use super::pages::{self, Frame, page_response};
use super::refused_deliveries::refused_deliveries;
use super::summary::short_line;
use super::view::{deliveries as heard, front as all, repository as one, review};
use crate::runtime::inbox::{Inbox, InboxError, Page, Start};
use crate::server::public::counters::RecentCounter;

/// How many deliveries a page lists.
const DELIVERIES: usize = 50;
/// The longest search, in characters.
const MAX_QUERY: usize = 100;
/// The most pages that can be requested.
const MAX_PAGES: usize = 10_000;

type Shared<I> = State<Arc<DashboardContext<I>>>;

/// Returns one field of a query.
fn query_field(query: Option<&str>, name: &str) -> Option<String> {
    form_urlencoded::parse(query?.as_bytes())
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
}

/// The message about a form's result, by the word in the address to which the form led.
fn action_result(query: Option<&str>) -> Option<&'static str> {
    Some(match query_field(query, "done")?.as_str() {
        "check" => "The check starts now.",
        "check-suspended" => {
            "The repository is suspended and is tried once a day. Resume it first."
        }
        "resume" => "The repository is resumed.",
        "resume-not" => "The repository was not suspended.",
        "replay" => "The delivery runs again: its repository is checked now.",
        "replay-suspended" => "The repository is suspended; resume it first.",
        "replay-no-repository" => "This delivery wakes no repository.",
        "pause" => {
            "The repository is paused: nothing starts in it. The page shows that after the next check."
        }
        "pause-known" => "The repository was paused already.",
        "unpause" => "The pause has ended. What is due starts with the next check.",
        "unpause-none" => "Neither the dashboard nor a command has paused the repository.",
        "replay-unknown" => "This delivery is not stored any more.",
        _ => return None,
    })
}

impl<I> DashboardContext<I> {
    /// The frame of a page without values of the service.
    fn bare_frame(&self, who: Option<&Visitor>) -> Frame {
        let now = self.current_time();
        let csrf = self.dashboard.access.csrf_token(who);
        Frame {
            inside: who.is_some(),
            session: matches!(who, Some(Visitor::Session(_))),
            live: who.is_some(),
            ..Frame::new(format_moment(now, now), csrf)
        }
    }
}

impl<I: Inbox> DashboardContext<I> {
    async fn page_frame(&self, who: Option<&Visitor>) -> Frame {
        let problems = match who {
            Some(_) => self.service_problems().await,
            None => Vec::new(),
        };
        Frame {
            problems,
            ..self.bare_frame(who)
        }
    }
}

async fn inbox_unavailable<I: Inbox>(
    context: &DashboardContext<I>,
    who: &Visitor,
    error: &InboxError,
) -> Response {
    tracing::error!("{error}");
    let status = StatusCode::SERVICE_UNAVAILABLE;
    message_page(
        context,
        Some(who),
        status,
        "The inbox does not answer",
        error.to_string(),
    )
    .await
}

/// A page with one message.
pub(super) async fn message_page<I: Inbox>(
    context: &DashboardContext<I>,
    who: Option<&Visitor>,
    status: StatusCode,
    heading: &'static str,
    text: String,
) -> Response {
    let frame = context.page_frame(who).await;
    let page = pages::Message {
        frame,
        heading,
        text,
    };
    page_response(status, &page)
}

pub(super) async fn front_page<I: Inbox + 'static>(
    State(context): Shared<I>,
    Extension(who): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Response {
    let now = context.current_time();
    let query = query.as_deref();
    let wanted: String = query_field(query, "q")
        .unwrap_or_default()
        .chars()
        .take(MAX_QUERY)
        .collect();
    let page = query_field(query, "page").and_then(|page| page.parse().ok());
    let inbox = &context.dashboard.inbox;
    let (suspended, counts) = match (
        inbox.suspended_repositories().await,
        inbox.read_counts(now).await,
    ) {
        (Ok(suspended), Ok(counts)) => (suspended, counts),
        (Err(error), _) | (_, Err(error)) => {
            return inbox_unavailable(&context, &who, &error).await;
        }
    };
    let suspended: BTreeMap<RepositoryId, String> = suspended
        .iter()
        .filter_map(|wake| {
            Some((
                wake.repository,
                short_line(&wake.suspended.as_ref()?.because),
            ))
        })
        .collect();
    let members = context.repository_names();
    let repositories = context.dashboard.repositories.as_ref();
    let trouble = repositories.and_then(|all| all.problem_text());
    let unreached = repositories
        .map(|all| all.unreachable_entries())
        .unwrap_or_default();
    let view = all::front_view(
        &members,
        &suspended,
        &context.dashboard.board,
        &wanted,
        page.unwrap_or(1).min(MAX_PAGES),
        now,
    );
    let page = pages::Front {
        frame: Frame {
            topic: Some(Topic::Repositories.topic_name()),
            place: "front",
            result: action_result(query),
            ..context.page_frame(Some(&who)).await
        },
        query: form_urlencoded::byte_serialize(view.query.as_bytes()).collect(),
        view,
        inbox: Some(heard::inbox_view(&counts, now)),
        no_repositories_reason: no_repositories_reason(repositories.is_some(), trouble.is_some())
            .to_owned(),
        unreached: unreached
            .iter()
            .map(|one| (one.name.to_string(), short_line(&one.because)))
            .collect(),
    };
    page_response(StatusCode::OK, &page)
}

/// Why there are no repositories to show.
fn no_repositories_reason(has_repositories: bool, trouble: bool) -> &'static str {
    match (has_repositories, trouble) {
        (false, _) => {
            "The service has no GitHub credential, so it stores deliveries but checks no repository. Set GITHUB_APP_ID \
             and GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN, or create an App with phileas serve --setup."
        }
        (true, true) => {
            "No repository is known since the service started. Repositories appear when GitHub replies."
        }
        (true, false) => {
            "Install the GitHub App on a repository, or name one in phileas.toml. If you have done so, GitHub has not \
             replied yet."
        }
    }
}

pub(super) async fn repository_page<I: Inbox + 'static>(
    State(context): Shared<I>,
    Extension(who): Extension<Visitor>,
    number: Number,
    RawQuery(query): RawQuery,
) -> Response {
    let now = context.current_time();
    let Some(repository) = repository_of(&number) else {
        return missing_page(&context, &who).await;
    };
    let id = repository.0;
    let dashboard = &context.dashboard;
    let wake = match dashboard.inbox.read_wake(repository).await {
        Ok(wake) => wake,
        Err(error) => return inbox_unavailable(&context, &who, &error).await,
    };
    let Some(name) = context.name_of(repository, wake.as_ref()) else {
        return missing_page(&context, &who).await;
    };
    let words = dashboard.board.brief_summary(repository);
    let words = words.map_or_else(BriefSummary::not_checked, |words| (*words).clone());
    let whole = dashboard.board.full_summary(repository);
    let facts = whole.as_ref().and_then(|whole| whole.facts.clone());
    let no_forecast = if facts.is_some() {
        "The forecast is being made."
    } else {
        "There is none now; “Check now” makes one."
    };
    let coming = match facts {
        Some(facts) => {
            context
                .forecasts
                .cached_forecast(repository, facts, &dashboard.board)
                .await
        }
        None => None,
    };
    let page = pages::Repository {
        frame: Frame {
            topic: Some(Topic::Repository(repository).topic_name()),
            result: action_result(query.as_deref()),
            ..context.page_frame(Some(&who)).await
        },
        id,
        heartbeat: one::pulse_view(&words, wake.as_ref(), now),
        view: whole.map(|whole| one::RepositoryPage {
            summary: whole.summary,
            github: dashboard.github.clone(),
            now,
        }),
        coming: coming.map(|forecast| one::coming_view(&forecast, now)),
        horizon: HORIZON,
        no_forecast,
        no_summary: no_summary_reason(words.at.is_some()),
        name,
    };
    page_response(StatusCode::OK, &page)
}

pub(super) async fn review_page<I: Inbox + 'static>(
    State(context): Shared<I>,
    Extension(who): Extension<Visitor>,
    number: Number,
) -> Response {
    let Some(repository) = repository_of(&number) else {
        return missing_page(&context, &who).await;
    };
    let dashboard = &context.dashboard;
    let wake = match dashboard.inbox.read_wake(repository).await {
        Ok(wake) => wake,
        Err(error) => return inbox_unavailable(&context, &who, &error).await,
    };
    let Some(name) = context.name_of(repository, wake.as_ref()) else {
        return missing_page(&context, &who).await;
    };
    let words = dashboard.board.brief_summary(repository);
    let is_known = words.is_some_and(|words| words.at.is_some());
    let page = pages::Review {
        frame: Frame {
            topic: Some(Topic::Repository(repository).topic_name()),
            ..context.page_frame(Some(&who)).await
        },
        id: repository.0,
        view: dashboard
            .board
            .full_summary(repository)
            .map(|whole| review::ReviewPage {
                summary: whole.summary,
                github: dashboard.github.clone(),
                now: context.current_time(),
            }),
        no_summary: no_summary_reason(is_known),
        name,
    };
    page_response(StatusCode::OK, &page)
}

/// The part of an address that should be a repository's number.
pub(super) type Number = Result<Path<String>, PathRejection>;

/// Parses the repository of an address. A number outside the range of the inbox (below 2^63) counts
/// as unknown.
pub(super) fn repository_of(number: &Number) -> Option<RepositoryId> {
    let Path(text) = number.as_ref().ok()?;
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let id: i64 = text.parse().ok().filter(|_| is_plain)?;
    u64::try_from(id).ok().map(RepositoryId)
}

/// Why a repository's page is empty.
fn no_summary_reason(is_dropped: bool) -> &'static str {
    if is_dropped {
        "The service dropped this page, because others were viewed since. “Check now” brings it back."
    } else {
        "The service has not checked the repository since it started. “Check now” does so."
    }
}

async fn missing_page<I: Inbox>(context: &DashboardContext<I>, who: &Visitor) -> Response {
    let text = "The service manages no repository with this number.";
    message_page(
        context,
        Some(who),
        StatusCode::NOT_FOUND,
        "No such repository",
        text.to_owned(),
    )
    .await
}

pub(super) async fn deliveries_page<I: Inbox + 'static>(
    State(context): Shared<I>,
    Extension(who): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Response {
    let now = context.current_time();
    let query = query.as_deref();
    let before = query_field(query, "before").and_then(|before| before.parse().ok());
    let inbox = &context.dashboard.inbox;
    let page = Page {
        start: Start::Before(before),
        most: DELIVERIES,
    };
    let (records, suspended) = match (
        inbox.list_deliveries(page).await,
        inbox.suspended_repositories().await,
    ) {
        (Ok(records), Ok(suspended)) => (records, suspended),
        (Err(error), _) | (_, Err(error)) => {
            return inbox_unavailable(&context, &who, &error).await;
        }
    };
    let names = context.repository_names();
    let next = records.last().map(|record| record.place);
    let page = pages::Deliveries {
        frame: Frame {
            topic: before.is_none().then(|| Topic::Inbox.topic_name()),
            place: "deliveries",
            result: action_result(query),
            ..context.page_frame(Some(&who)).await
        },
        suspended: suspended
            .iter()
            .filter_map(|wake| heard::suspended_view(wake, &names, now))
            .collect(),
        before: next.filter(|_| records.len() == DELIVERIES),
        rows: records
            .iter()
            .map(|record| heard::delivery_view(record, &names, now))
            .collect(),
        later: before.is_some(),
        refused: refused_deliveries(&context.dashboard.figures, RecentCounter::total),
    };
    page_response(StatusCode::OK, &page)
}

pub(super) async fn event_stream<I: Inbox + 'static>(
    State(context): Shared<I>,
    RawQuery(query): RawQuery,
) -> Response {
    let topic = query_field(query.as_deref(), "topic").and_then(|topic| Topic::parse(&topic));
    let Some(topic) = topic else {
        return (StatusCode::BAD_REQUEST, "no such topic\n").into_response();
    };
    let dashboard = &context.dashboard;
    context.listeners.stream_events(
        topic,
        dashboard.board.subscribe_changes(),
        dashboard.inbox.watch_changes(),
        dashboard.ending.clone(),
    )
}

pub(super) async fn login_form<I: Inbox + 'static>(
    State(context): Shared<I>,
    RawQuery(query): RawQuery,
) -> Response {
    let next = local_path(query_field(query.as_deref(), "next"));
    if context.dashboard.access.is_guarded() {
        login_page(&context, None, next)
    } else {
        Redirect::to(&next).into_response()
    }
}

/// Returns the page to open after signing in: never an address that a browser takes for another
/// site.
pub(super) fn local_path(wanted: Option<String>) -> String {
    let is_page = |path: &String| {
        let (path, _) = path.split_once('?').unwrap_or((path, ""));
        path == "/" || path == "/deliveries" || path.starts_with("/repositories/")
    };
    let plain = |path: &String| {
        path.bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    wanted
        .filter(is_page)
        .filter(plain)
        .unwrap_or_else(|| "/".to_owned())
}

pub(super) fn login_page<I>(
    context: &DashboardContext<I>,
    wrong: Option<&'static str>,
    next: String,
) -> Response {
    let page = pages::Login {
        frame: context.bare_frame(None),
        wrong,
        next,
    };
    page_response(StatusCode::OK, &page)
}
