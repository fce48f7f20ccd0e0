//! `POST /webhook`: verifies a delivery, stores its facts, and only then replies 202.
//!
//! | status | when |
//! |---|---|
//! | 202 | stored, or of a repository that is not on the list |
//! | 200 | stored before, and handled or waiting |
//! | 400 | signed, but no delivery: no JSON, no event, no delivery id |
//! | 401 | no signature, or a wrong one; an empty body |
//! | 408 | the body did not arrive within [`BODY_TIMEOUT`](crate::server::public::listen::BODY_TIMEOUT) |
//! | 413 | larger than [`MAX_BODY`] |
//! | 415 | not `application/json` |
//! | 503 | it cannot be stored now; GitHub shows it as failed, and the redelivery sweep requests it again |
//!
//! The signature is checked over the received bytes before they are parsed. The parsed values do
//! not decide whether a delivery is accepted: a payload of another shape than today's is stored
//! with fewer facts.

mod body;
mod events;
pub(in crate::server) use events::is_relevant;
mod facts;
mod json_values;
mod refused_requests;
mod repository_filter;
mod signature;
mod unlisted_repositories;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use tokio::sync::Notify;
use tracing::{Instrument as _, Span};

pub use body::{LARGE_ROOM, MAX_BODY, SMALL_BODY};
pub use repository_filter::RepositoryFilter;
pub use signature::{MIN_SECRET, Secrets, SecretsError};

use crate::adapters::pause::{Pause, SystemPause};
use crate::runtime::inbox::{Accepted, Inbox};
use crate::server::public::counters::Figures;
use body::{BodyMemory, BodyRefusal};
use facts::Facts;
use refused_requests::{RefusalReason, RefusedRequests};
use unlisted_repositories::UnlistedRepositories;

const EVENT: HeaderName = HeaderName::from_static("x-github-event");
const DELIVERY: HeaderName = HeaderName::from_static("x-github-delivery");
const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// When a refused delivery may be sent again, in seconds.
const RETRY_AFTER: &str = "30";

/// The webhook's settings: which deliveries it accepts, and the inbox that stores them.
#[derive(Debug)]
pub struct Intake<I> {
    inbox: Arc<I>,
    secrets: Secrets,
    listed: RepositoryFilter,
    figures: Arc<Figures>,
    refusals: RefusedRequests,
    unlisted: UnlistedRepositories,
    room: BodyMemory,
    /// The beginning of this process's request ids.
    run: u32,
    requests: AtomicU64,
    /// Notified when a stored delivery may have changed the list of repositories.
    changed: Option<Arc<Notify>>,
    clock: Arc<dyn Pause>,
}

impl<I> Intake<I> {
    /// Accepts deliveries that are signed with one of the secrets and are of listed repositories.
    #[must_use]
    pub fn new(
        inbox: Arc<I>,
        secrets: Secrets,
        listed: RepositoryFilter,
        figures: Arc<Figures>,
    ) -> Self {
        Self {
            inbox,
            secrets,
            listed,
            figures,
            refusals: RefusedRequests::default(),
            unlisted: UnlistedRepositories::default(),
            room: BodyMemory::default(),
            run: fastrand::u32(..),
            requests: AtomicU64::new(0),
            changed: None,
            clock: Arc::new(SystemPause),
        }
    }

    /// Uses another clock than this machine's for the time of deliveries.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Pause>) -> Self {
        self.clock = clock;
        self
    }

    /// Notifies when a stored delivery may have changed the list of repositories.
    #[must_use]
    pub fn with_change_notifier(mut self, changed: Arc<Notify>) -> Self {
        self.changed = Some(changed);
        self
    }
}

/// The route of the webhook.
pub fn webhook_routes<I: Inbox + 'static>(intake: Intake<I>) -> Router {
    Router::new()
        .route("/webhook", post(receive_delivery::<I>))
        .with_state(Arc::new(intake))
}

/// The reply: the status, and a text for the person who set up the webhook. Clients without the
/// secret get no text.
struct Answer {
    status: StatusCode,
    message: &'static str,
}

const fn answer(status: StatusCode, word: &'static str) -> Answer {
    Answer {
        status,
        message: word,
    }
}

async fn receive_delivery<I: Inbox + 'static>(
    State(intake): State<Arc<Intake<I>>>,
    request: Request<Body>,
) -> Response {
    let number = intake.requests.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:08x}-{number:x}", intake.run);
    let (head, body) = request.into_parts();
    let span = tracing::info_span!("webhook", request = id, delivery = tracing::field::Empty);
    let answer = handle_delivery(&intake, &head.headers, body)
        .instrument(span)
        .await;
    let delivery = head.headers.get(DELIVERY).map(HeaderValue::as_bytes);
    // A delivery id is logged only after its signature was verified: any other client could write
    // into the log with it.
    let delivery = delivery
        .filter(|_| answer.status != StatusCode::UNAUTHORIZED)
        .map(String::from_utf8_lossy)
        .unwrap_or_default();
    tracing::debug!(
        request = id,
        delivery = %delivery.escape_debug(),
        status = answer.status.as_u16(),
        "{}",
        if answer.message.is_empty() { "refused" } else { answer.message.trim_end() }
    );
    let mut response = (answer.status, answer.message).into_response();
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    if answer.status == StatusCode::SERVICE_UNAVAILABLE {
        let after = HeaderValue::from_static(RETRY_AFTER);
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response
}

async fn handle_delivery<I: Inbox>(intake: &Intake<I>, headers: &HeaderMap, body: Body) -> Answer {
    let figures = &*intake.figures;
    if !is_json(headers) {
        figures.content_type.count();
        intake
            .refusals
            .count_refusal(RefusalReason::ContentType, Instant::now());
        return answer(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "set the webhook's content type to application/json\n",
        );
    }
    let Some(signature) = headers.get(SIGNATURE).and_then(signature::parse) else {
        // Reading stops for a client that sends no signature.
        figures.unsigned.count();
        intake
            .refusals
            .count_refusal(RefusalReason::Unsigned, Instant::now());
        return answer(StatusCode::UNAUTHORIZED, "");
    };
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    let body = match body::read_body(body, announced, &intake.room).await {
        Ok(body) => body,
        Err(refused) => return refuse_request(figures, refused),
    };
    // GitHub signs no empty body, and its own library refuses one whatever its signature
    // (@octokit/webhooks-methods).
    if body.bytes().is_empty() || !intake.secrets.is_signed(body.bytes(), &signature) {
        figures.wrong_signature.count();
        intake
            .refusals
            .count_refusal(RefusalReason::WrongSignature, Instant::now());
        return answer(StatusCode::UNAUTHORIZED, "");
    }
    let facts = Facts::read_facts(
        headers.get(DELIVERY),
        headers.get(EVENT),
        body.bytes(),
        intake.clock.now(),
    );
    // The payload is dropped before the wait for the disk; the facts are small.
    drop(body);
    let facts = match facts {
        Ok(facts) => facts,
        Err(word) => {
            figures.malformed.count();
            return answer(StatusCode::BAD_REQUEST, word);
        }
    };
    Span::current().record("delivery", facts.delivery.id.as_str());
    if !intake.listed.accepts(&facts.delivery) {
        figures.not_listed.count();
        intake
            .unlisted
            .count_delivery(&facts.delivery, Instant::now());
        return answer(
            StatusCode::ACCEPTED,
            "ignored: phileas.toml does not list the repository\n",
        );
    }
    store_delivery(intake, facts).await
}

async fn store_delivery<I: Inbox>(intake: &Intake<I>, facts: Facts) -> Answer {
    let figures = &*intake.figures;
    match facts.familiar {
        events::EventFamiliarity::Known => {}
        events::EventFamiliarity::UnknownEvent => figures.unknown_event.count(),
        events::EventFamiliarity::UnknownAction => figures.unknown_action.count(),
    }
    let changes = events::changes_repositories(&facts.delivery.event);
    match intake.inbox.accept_delivery(facts.delivery).await {
        Ok(Accepted::Stored) => {
            figures.stored.count();
            if let Some(changed) = intake.changed.as_ref().filter(|_| changes) {
                changed.notify_one();
            }
            answer(StatusCode::ACCEPTED, "accepted\n")
        }
        Ok(Accepted::PassedOver) => {
            figures.passed_over.count();
            // The list is still read, but only a stored delivery gets a success.
            if let Some(changed) = intake.changed.as_ref().filter(|_| changes) {
                changed.notify_one();
            }
            answer(
                StatusCode::SERVICE_UNAVAILABLE,
                "the delivery was not stored, because it wakes no repository and the inbox has little room left\n",
            )
        }
        Ok(Accepted::Duplicate) => {
            figures.duplicate.count();
            answer(StatusCode::OK, "known already\n")
        }
        Ok(Accepted::Overloaded) => {
            figures.overloaded.count();
            answer(
                StatusCode::SERVICE_UNAVAILABLE,
                "the delivery was not stored, because the inbox is full; send it again later\n",
            )
        }
        Err(error) => {
            figures.unavailable.count();
            // The inbox reports the reason once, and not for each delivery.
            tracing::debug!("a delivery could not be stored: {error}");
            answer(
                StatusCode::SERVICE_UNAVAILABLE,
                "the delivery was not stored, because the inbox is unavailable; send it again later\n",
            )
        }
    }
}

fn refuse_request(figures: &Figures, refused: BodyRefusal) -> Answer {
    match refused {
        BodyRefusal::TooLarge => {
            figures.too_large.count();
            answer(StatusCode::PAYLOAD_TOO_LARGE, "")
        }
        BodyRefusal::TooSlow => {
            figures.too_slow.count();
            answer(StatusCode::REQUEST_TIMEOUT, "")
        }
        BodyRefusal::CutOff => {
            figures.too_slow.count();
            answer(StatusCode::BAD_REQUEST, "")
        }
        BodyRefusal::NoRoom => {
            figures.overloaded.count();
            answer(StatusCode::SERVICE_UNAVAILABLE, "")
        }
    }
}

/// A hook may also send forms, which would have to be verified and parsed in another way.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(Ok(kind)) = headers.get(header::CONTENT_TYPE).map(HeaderValue::to_str) else {
        return false;
    };
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
