//! Calls the methods of the API, each as it is documented.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, DATE};
use http::{HeaderValue, Request, Response};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use super::activity_cache::ActivityCache;
use super::error::{Answer, ApiError, Cause, header_time, one_line};
use super::listing_cache::ListingCache;
use super::query::PageQuery;
use super::recent::{Recent, lock_mutex};
use super::retry::{Attempts, MAX_WAIT};
use super::settings::{MAX_CREATES_IN_FLIGHT, Settings};
use super::wire::{ActivityPage, Message, NewSession, Session, SessionPage, Source, SourcePage};
use super::{Base, JulesKey, Pause, key, routes};
use crate::adapters::transport::{Transport, TransportError};
use crate::runtime::ports::Stopwatch;

/// A client for one Jules key, shared by all repositories that use it.
pub struct Client {
    pub(super) transport: Arc<dyn Transport>,
    pause: Arc<dyn Pause>,
    pub(super) stopwatch: Arc<dyn Stopwatch>,
    pub(super) base: Base,
    pub(super) key: JulesKey,
    creates: Semaphore,
    jitter: Mutex<fastrand::Rng>,
    pub(super) requests: AtomicU64,
    answered_at: Mutex<Option<Timestamp>>,
    pub(super) recent: Recent,
    pub(super) activity_cache: ActivityCache,
    pub(super) filter_refused: AtomicBool,
    pub(super) listing_cache: Option<ListingCache>,
    patient: bool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// A request to send.
struct Call<'a> {
    route: &'static str,
    names: &'a [(&'a str, &'a str)],
    query: String,
    body: Option<Bytes>,
}

impl<'a> Call<'a> {
    fn new(route: &'static str, names: &'a [(&'a str, &'a str)]) -> Self {
        Self {
            route,
            names,
            query: String::new(),
            body: None,
        }
    }

    fn with_query(mut self, query: PageQuery<'_>) -> Self {
        self.query = query.encode_query();
        self
    }

    fn with_body(mut self, body: &impl serde::Serialize) -> Self {
        let body = serde_json::to_vec(body).expect("texts and booleans can be written as JSON");
        self.body = Some(body.into());
        self
    }
}

impl Client {
    /// A client. Stopwatch and clock must belong to the same world as the transport.
    #[must_use]
    pub fn new(
        settings: Settings,
        transport: Arc<dyn Transport>,
        stopwatch: Arc<dyn Stopwatch>,
        pause: Arc<dyn Pause>,
    ) -> Self {
        let places = settings.creates_in_flight.clamp(1, MAX_CREATES_IN_FLIGHT);
        Self {
            transport,
            pause,
            stopwatch,
            base: settings.base,
            key: settings.key,
            creates: Semaphore::new(places),
            jitter: Mutex::new(fastrand::Rng::with_seed(settings.seed)),
            requests: AtomicU64::new(0),
            answered_at: Mutex::new(None),
            recent: Recent::default(),
            activity_cache: ActivityCache::default(),
            filter_refused: AtomicBool::new(false),
            listing_cache: settings.shared.then(ListingCache::default),
            patient: settings.patient,
        }
    }

    /// How many requests were sent since the client was created, repeated ones included.
    #[must_use]
    pub fn request_count(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The `Date` of the last answer; `None`: no answer had one yet.
    #[must_use]
    pub fn answered_at(&self) -> Option<Timestamp> {
        *lock_mutex(&self.answered_at)
    }

    /// Reads one page of the account's sources.
    ///
    /// # Errors
    /// [`ApiError`], as for every method here.
    pub async fn list_sources(&self, query: PageQuery<'_>) -> Result<SourcePage, ApiError> {
        self.read_call(Call::new(routes::LIST_SOURCES, &[]).with_query(query))
            .await
    }

    /// Reads a source by its name, `sources/github/owner/repository`.
    ///
    /// [`ApiError`]; 404 if the Jules GitHub App is not installed on the repository.
    pub async fn get_source(&self, name: &str) -> Result<Source, ApiError> {
        let names = [("{source}", name.strip_prefix("sources/").unwrap_or(name))];
        self.read_call(Call::new(routes::GET_SOURCE, &names)).await
    }

    /// Creates a session by one request that is never repeated, and none after `not_after` if the time is known.
    ///
    /// # Errors
    /// [`ApiError`]; [`ApiError::create_failure`] says whether a session may exist nevertheless.
    pub async fn create_session(
        &self,
        new: &NewSession,
        not_after: Option<Timestamp>,
    ) -> Result<Session, ApiError> {
        let route = routes::CREATE_SESSION;
        let fail = |cause| ApiError { route, cause };
        let asked_at = self.stopwatch.elapsed();
        let permit = self.creates.acquire().await;
        let _place = permit.expect("the semaphore is never closed");
        let elapsed = self.stopwatch.elapsed();
        if let Some(cache) = &self.listing_cache
            && let Some(error) = cache.quota_refusal(elapsed)
        {
            return Err(error);
        }
        let late = match self.recent.estimated_now(elapsed).zip(not_after) {
            Some((now, not_after)) => now >= not_after,
            None => elapsed.saturating_sub(asked_at) > MAX_WAIT,
        };
        if late {
            return Err(fail(Cause::TooLate));
        }
        let sent = self.send_once(&Call::new(route, &[]).with_body(new)).await;
        if let (Some(cache), Err(error)) = (&self.listing_cache, &sent) {
            cache.record_refusal(error, self.stopwatch.elapsed());
        }
        let response = sent?;
        let session: Session = self.parse(route, &response)?;
        if session.session_id().is_empty() {
            return Err(fail(Cause::Unreadable {
                status: response.status().as_u16(),
                detail: "the session has no id".to_owned(),
            }));
        }
        let elapsed = self.stopwatch.elapsed();
        self.recent.record_created(session.session_id(), elapsed);
        if let Some(cache) = &self.listing_cache {
            cache.record_created(&session, elapsed);
        }
        Ok(session)
    }

    /// Reads one page of the account's sessions, of all its repositories.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn list_sessions(&self, query: PageQuery<'_>) -> Result<SessionPage, ApiError> {
        self.read_call(Call::new(routes::LIST_SESSIONS, &[]).with_query(query))
            .await
    }

    /// A session.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn get_session(&self, id: &str) -> Result<Session, ApiError> {
        self.read_call(Call::new(routes::GET_SESSION, &[("{session}", id)]))
            .await
    }

    /// Sends a message to a session.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn send_message(&self, id: &str, text: &str) -> Result<(), ApiError> {
        let names = [("{session}", id)];
        let call = Call::new(routes::SEND_MESSAGE, &names);
        let sent = self.call(&call.with_body(&Message { prompt: text })).await;
        match sent {
            Err(error) if error.is_status(404) => Err(self.queued_or(id, error).await),
            sent => sent.map(drop),
        }
    }

    /// Jules answers 404 for a message to a queued session, as if it did not exist. Only a read of the session tells, and
    /// the session may have begun its work before that read.
    async fn queued_or(&self, id: &str, error: ApiError) -> ApiError {
        match self.get_session(id).await {
            Ok(session) if !matches!(session.state.as_str(), "COMPLETED" | "FAILED") => ApiError {
                cause: Cause::Queued,
                ..error
            },
            // That the session is missing is not proven.
            Err(unread) if !unread.is_status(404) => unread,
            Ok(_) | Err(_) => error,
        }
    }

    /// Approves a session's plan, whatever its state: some sessions report `COMPLETED` and wait for the approval all
    /// the same.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn approve_plan(&self, id: &str) -> Result<Option<Session>, ApiError> {
        self.call_verb(routes::APPROVE_PLAN, id).await
    }

    /// Archives a session; one that runs is paused.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn archive_session(&self, id: &str) -> Result<Option<Session>, ApiError> {
        self.call_verb(routes::ARCHIVE_SESSION, id).await
    }

    /// Reads one page of a session's activities.
    ///
    /// # Errors
    /// [`ApiError`].
    pub async fn list_activities(
        &self,
        id: &str,
        query: PageQuery<'_>,
    ) -> Result<ActivityPage, ApiError> {
        let names = [("{session}", id)];
        self.read_call(Call::new(routes::LIST_ACTIVITIES, &names).with_query(query))
            .await
    }

    /// Calls a custom verb. Its answer may be a session, `{}`, or empty.
    async fn call_verb(&self, route: &'static str, id: &str) -> Result<Option<Session>, ApiError> {
        let names = [("{session}", id)];
        let call = Call::new(route, &names).with_body(&serde_json::Map::new());
        let response = self.call(&call).await?;
        let session = serde_json::from_slice::<Session>(response.body()).ok();
        Ok(session.filter(|session| !session.session_id().is_empty()))
    }

    async fn read_call<T: DeserializeOwned>(&self, call: Call<'_>) -> Result<T, ApiError> {
        let response = self.call(&call).await?;
        self.parse(call.route, &response)
    }

    fn parse<T: DeserializeOwned>(
        &self,
        route: &'static str,
        response: &Response<Bytes>,
    ) -> Result<T, ApiError> {
        serde_json::from_slice(response.body()).map_err(|error| ApiError {
            route,
            cause: Cause::Unreadable {
                status: response.status().as_u16(),
                detail: one_line(
                    &format!(
                        "its {} bytes cannot be read: {error}",
                        response.body().len()
                    ),
                    &self.key,
                ),
            },
        })
    }

    /// Sends a call, and repeats it as the retry policy allows.
    async fn call(&self, call: &Call<'_>) -> Result<Response<Bytes>, ApiError> {
        let mut attempts = Attempts::default();
        let begun = self.stopwatch.elapsed();
        let session = call.names.iter().find(|(place, _)| *place == "{session}");
        loop {
            let error = match self.send_once(call).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            // A message to a queued session is answered 404, too, and had no effect.
            let is_read = call.route.starts_with("GET ") || call.route == routes::SEND_MESSAGE;
            let fresh = is_read
                && session
                    .is_some_and(|(_, id)| self.recent.is_fresh(id, self.stopwatch.elapsed()));
            let jitter = lock_mutex(&self.jitter).f64();
            let spent = self.stopwatch.elapsed().saturating_sub(begun);
            let wait = attempts.next(&error, fresh, jitter, spent);
            let Some(wait) = wait.filter(|_| self.patient) else {
                return Err(error);
            };
            tracing::debug!(
                route = call.route,
                status = error.answer().map(|answer| answer.status),
                wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "a call to Jules is repeated"
            );
            self.pause.pause_for(wait).await;
        }
    }

    /// Sends a call once.
    async fn send_once(&self, call: &Call<'_>) -> Result<Response<Bytes>, ApiError> {
        let fail = |cause| ApiError {
            route: call.route,
            cause,
        };
        let request = self.build_request(call).map_err(fail)?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let span = tracing::debug_span!(
            "jules_request",
            route = call.route,
            status = tracing::field::Empty
        );
        let sent = self.transport.send(request).instrument(span.clone()).await;
        let response = sent.map_err(|error| {
            span.record("status", name_of(&error));
            fail(Cause::Transport(self.redact_error(error)))
        })?;
        let response = response.map(|body| self.key.redact_body(body));
        span.record("status", response.status().as_u16());
        if let Some(date) = header_time(response.headers(), DATE) {
            *lock_mutex(&self.answered_at) = Some(date);
        }
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(fail(Cause::Answer(Box::new(Answer::from_response(
                &response, &self.key,
            )))))
        }
    }

    fn build_request(&self, call: &Call<'_>) -> Result<Request<Bytes>, Cause> {
        let (method, path) = routes::fill_route(call.route, call.names).map_err(Cause::BadName)?;
        let mut url = self.base.url_of(&path);
        if !call.query.is_empty() {
            url.push('?');
            url.push_str(&call.query);
        }
        let mut request = Request::builder()
            .method(method)
            .uri(url)
            .header(key::HEADER, self.key.header_value())
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        if call.body.is_some() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(request
            .body(call.body.clone().unwrap_or_default())
            .expect("base, path and query were checked"))
    }

    pub(super) fn redact_error(&self, error: TransportError) -> TransportError {
        match error {
            TransportError::NotSent(text) => TransportError::NotSent(one_line(&text, &self.key)),
            TransportError::Lost(text) => TransportError::Lost(one_line(&text, &self.key)),
            TransportError::TooLarge { limit } => TransportError::TooLarge { limit },
        }
    }
}

fn name_of(error: &TransportError) -> &'static str {
    match error {
        TransportError::NotSent(_) => "not_sent",
        TransportError::Lost(_) => "lost",
        TransportError::TooLarge { .. } => "too_large",
    }
}
