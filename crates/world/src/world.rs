//! The world: both services, the maintainer, virtual time and faults.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use ::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::json;

use crate::books::{self, Books};
use crate::chance::{Chance, Stream};
use crate::clock::{Clock, Pace};
use crate::faults::{Face, Fault, FaultPlan, Faults, Subject};
use crate::github::hook::{self, DeliveryStatus};
use crate::knobs::Knobs;
use crate::maintainer::{self, Maintainer};
use crate::{github, jules};

/// The most steps of one [`World::advance_to`]; a world that needs more is taken to loop.
const MAX_STEPS: usize = 10_000_000;

/// How a world begins.
#[derive(Debug, Clone)]
pub struct WorldConfig {
    /// The first instant.
    pub start: Timestamp,
    /// The seed of all randomness.
    pub seed: u64,
    /// The knobs.
    pub knobs: Knobs,
    /// The fault plan.
    pub faults: FaultPlan,
    /// How the maintainer behaves.
    pub review_policy: maintainer::ReviewPolicy,
    /// How Jules behaves.
    pub jules: jules::Config,
}

impl Default for WorldConfig {
    fn default() -> Self {
        Self {
            start: Timestamp::from_second(1_767_571_200).expect("2026-01-05T00:00:00Z is in range"),
            seed: 0,
            knobs: Knobs::documented(),
            faults: FaultPlan::default(),
            review_policy: maintainer::ReviewPolicy::default(),
            jules: jules::Config::default(),
        }
    }
}

/// Both services, the maintainer, time and the books.
#[derive(Debug)]
pub struct World {
    clock: Clock,
    knobs: Knobs,
    faults: Faults,
    books: Books,
    github: github::Model,
    jules: jules::Model,
    maintainer: Maintainer,
    latency: Stream,
    requests: u64,
    arrivals: Arc<AtomicU64>,
    /// The index of each delivery in the books.
    delivery_lines: BTreeMap<u64, usize>,
}

/// The outcome of a request for the client, and its latency.
#[derive(Debug)]
pub struct Answer {
    /// Virtual time from the request to the outcome.
    pub latency: Duration,
    /// The outcome.
    pub outcome: Outcome,
}

/// How a request ends for the client.
#[derive(Debug)]
pub enum Outcome {
    /// A reply.
    Reply(Response<Bytes>),
    /// The connection was cut. Only the books say whether the request had an effect.
    Dropped,
    /// No reply ever comes. Only the books say whether the request had an effect.
    TimedOut,
}

impl Answer {
    /// The reply, if there is one.
    #[must_use]
    pub fn reply(self) -> Option<Response<Bytes>> {
        match self.outcome {
            Outcome::Reply(response) => Some(response),
            Outcome::Dropped | Outcome::TimedOut => None,
        }
    }
}

/// A signed delivery that is due. The caller posts it and reports by [`World::delivery_done`].
#[derive(Debug, Clone)]
pub struct WebhookDelivery {
    /// The attempt's number.
    pub id: u64,
    /// The event's GUID: the same for every attempt.
    pub guid: String,
    /// The event.
    pub event: String,
    /// The action.
    pub action: Option<String>,
    /// Where it goes.
    pub url: String,
    /// All headers that GitHub sends with it.
    pub headers: HeaderMap,
    /// The payload.
    pub body: Bytes,
    /// When it was due.
    pub due: Timestamp,
}

impl World {
    /// A world at its first instant, without repositories.
    #[must_use]
    pub fn new(config: WorldConfig) -> Self {
        let chance = Chance::new(config.seed);
        Self {
            clock: Clock::new(config.start),
            faults: Faults::new(config.faults, chance.stream("faults")),
            books: Books::default(),
            github: github::Model::new(chance.stream("github")),
            jules: jules::Model::new(config.jules, chance.stream("jules")),
            maintainer: Maintainer::new(config.review_policy, chance.stream("maintainer")),
            latency: chance.stream("latency"),
            knobs: config.knobs,
            requests: 0,
            arrivals: Arc::default(),
            delivery_lines: BTreeMap::new(),
        }
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Chooses how time moves by itself; see [`World::catch_up`].
    pub fn set_pace(&mut self, pace: Pace) {
        self.clock.set_pace(pace);
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Advances an accelerated world to its virtual time at this real instant; a manual one does not move.
    pub fn catch_up(&mut self, real: std::time::Instant) {
        if let Some(target) = self.clock.real_target(real) {
            self.advance_to(target);
        }
    }

    /// Performs everything that is due up to `until` in order of time, and then moves the clock to `until`.
    pub fn advance_to(&mut self, until: Timestamp) {
        self.record_changes();
        let now = self.clock.now();
        self.jules.react_to_pulls(now, &self.github, &self.knobs);
        for _ in 0..MAX_STEPS {
            let jules = self.jules.next_due();
            let maintainer = self.maintainer.next_due(&self.github, &self.jules);
            let next = [jules, maintainer].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= until) else {
                break;
            };
            self.clock.move_to(next);
            let now = self.clock.now();
            if jules.is_some_and(|due| due <= now) {
                self.jules
                    .advance(now, &mut self.github, &self.knobs, &mut self.books);
            }
            if maintainer.is_some_and(|due| due <= now) {
                self.maintainer
                    .advance(now, &mut self.github, &mut self.jules, &mut self.books);
            }
            self.record_changes();
        }
        self.clock.move_to(until);
        self.record_changes();
    }

    /// The earliest instant at which something is due; never before now.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        [
            self.jules.next_due(),
            self.maintainer.next_due(&self.github, &self.jules),
            self.github.next_due(),
        ]
        .into_iter()
        .flatten()
        .min()
        .map(|due| due.max(self.now()))
    }

    /// Answers a request as `api.github.com` does; git over smart HTTP is at `/{owner}/{repo}.git/`.
    pub fn github_request(&mut self, request: Request<Bytes>) -> Answer {
        self.answer_request(Face::Github, &request)
    }

    /// Answers a request as `jules.googleapis.com` does.
    pub fn jules_request(&mut self, request: Request<Bytes>) -> Answer {
        self.answer_request(Face::Jules, &request)
    }

    fn answer_request(&mut self, face: Face, request: &Request<Bytes>) -> Answer {
        self.record_changes();
        let now = self.now();
        let subject = Subject {
            face,
            method: request.method().as_str(),
            path: request.uri().path(),
            body: request.body(),
        };
        let fault = self.faults.fault_for(subject, now);
        self.requests += 1;
        let mut entry = books::Request {
            n: self.requests,
            at: now,
            face,
            method: request.method().to_string(),
            path: request
                .uri()
                .path_and_query()
                .map_or_else(String::new, ToString::to_string),
            route: String::new(),
            status: None,
            identity: None,
            points: 0,
            fault: fault.clone(),
            took_effect: fault.as_ref().is_none_or(Fault::takes_effect),
            fields: Vec::new(),
        };
        let mut latency =
            self.draw_latency(face) + fault.as_ref().map_or(Duration::ZERO, Fault::reply_delay);
        let mut reply = None;
        match face {
            Face::Github => {
                entry.route = self.github.route_of(request);
                if entry.took_effect {
                    let handled = self.github.handle_request(request, now, &self.knobs);
                    entry.identity = handled.identity;
                    entry.points = handled.points;
                    entry.fields = handled.fields;
                    reply = Some(handled.response);
                }
            }
            Face::Jules => {
                entry.route =
                    jules::route_template(request.method(), request.uri().path()).to_owned();
                entry.identity = self.jules.caller_login(request);
                if entry.took_effect {
                    reply = Some(self.jules.handle_request(
                        request,
                        now,
                        &mut self.github,
                        &self.knobs,
                        &mut self.books,
                    ));
                }
            }
        }
        self.record_changes();
        let outcome = match fault {
            None | Some(Fault::Slow { .. }) => match reply {
                Some(reply) => Outcome::Reply(reply),
                None => Outcome::Dropped,
            },
            Some(Fault::DropBefore {} | Fault::DropAfter {}) => Outcome::Dropped,
            Some(Fault::TimeoutBefore {} | Fault::TimeoutAfter {}) => {
                latency = Duration::MAX;
                Outcome::TimedOut
            }
            Some(Fault::Status {
                status,
                retry_after,
                html,
                ..
            }) => Outcome::Reply(fault_reply(face, status, retry_after, html)),
            Some(Fault::PrimaryLimit {}) => Outcome::Reply(self.github.primary_limit_reply(now)),
            Some(Fault::SecondaryLimit { retry_after }) => {
                Outcome::Reply(github::Model::secondary_limit_reply(retry_after))
            }
        };
        if let Outcome::Reply(reply) = &outcome {
            entry.status = Some(reply.status().as_u16());
        }
        self.books.requests.push(entry);
        Answer { latency, outcome }
    }

    /// The number of requests that have arrived at the faces on TCP, which share it.
    pub(crate) fn arrival_counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.arrivals)
    }

    /// The number in the books of the request that was answered last.
    pub(crate) fn last_request(&self) -> u64 {
        self.requests
    }

    /// Records in the books that the reply to a request, by its number, was never sent.
    pub(crate) fn reply_was_cut(&mut self, n: u64) {
        if let Some(entry) = self.books.requests.iter_mut().rev().find(|r| r.n == n) {
            entry.status = None;
        }
    }

    fn draw_latency(&mut self, face: Face) -> Duration {
        let (name, most) = match face {
            Face::Github => ("github-latency-ms", self.knobs.github_latency_ms),
            Face::Jules => ("jules-latency-ms", self.knobs.jules_latency_ms),
        };
        self.knobs.count_use(name, true);
        Duration::from_millis(self.latency.draw_between(most / 10, most))
    }

    /// The deliveries that are due, in order of time; each is returned once.
    pub fn take_due_deliveries(&mut self) -> Vec<WebhookDelivery> {
        self.record_changes();
        let now = self.now();
        let mut due = Vec::new();
        while let Some((at, id)) = self.github.pending.first().copied()
            && at <= now
        {
            self.github.pending.pop_first();
            self.github.touched.push(id);
            let Some(delivery) = self.github.deliveries.get_mut(&id) else {
                continue;
            };
            delivery.status = DeliveryStatus::Taken;
            due.push(WebhookDelivery {
                id,
                guid: delivery.guid.clone(),
                event: delivery.event.clone(),
                action: delivery.action.clone(),
                url: delivery.target.url.clone(),
                headers: delivery_headers(delivery),
                body: delivery.payload.clone(),
                due: at,
            });
        }
        self.book_deliveries();
        due
    }

    /// Reports what the receiver answered; `None` when it did not answer in time.
    pub fn delivery_done(&mut self, id: u64, status: Option<u16>) {
        if let Some(delivery) = self.github.deliveries.get_mut(&id) {
            delivery.status = DeliveryStatus::Done(status);
            self.github.touched.push(id);
        }
        self.book_deliveries();
    }

    /// GitHub, for judges.
    #[must_use]
    pub fn github(&self) -> &github::Model {
        &self.github
    }

    /// GitHub, for tests that change it. The books record such changes at the next request or advance.
    pub fn github_mut(&mut self) -> &mut github::Model {
        &mut self.github
    }

    /// Jules, for judges.
    #[must_use]
    pub fn jules(&self) -> &jules::Model {
        &self.jules
    }

    /// Jules, for tests that change it.
    pub fn jules_mut(&mut self) -> &mut jules::Model {
        &mut self.jules
    }

    /// Everything that happened, up to the last request, advance or report of a delivery.
    #[must_use]
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Everything that happened, with changes through [`World::github_mut`] since then.
    #[must_use]
    pub fn complete_books(&self) -> Books {
        let mut books = self.books.clone();
        books
            .github_writes
            .extend(self.github.written.iter().cloned());
        books
    }

    /// The books, for notes and for starting a measurement.
    pub fn books_mut(&mut self) -> &mut Books {
        &mut self.books
    }

    /// The knobs.
    #[must_use]
    pub fn knobs(&self) -> &Knobs {
        &self.knobs
    }

    /// The knobs, for changes while the world runs.
    pub fn knobs_mut(&mut self) -> &mut Knobs {
        &mut self.knobs
    }

    /// The fault plan in use.
    pub fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// Records the changes of the models in the books, and plans new deliveries.
    fn record_changes(&mut self) {
        let now = self.now();
        self.books.github_writes.append(&mut self.github.written);
        self.jules.write_books(&mut self.books);
        self.github.plan_deliveries(&self.knobs);
        self.github.remember_states(&self.knobs, now);
        self.book_deliveries();
    }

    /// Updates the entries of changed deliveries in the books.
    fn book_deliveries(&mut self) {
        for id in std::mem::take(&mut self.github.touched) {
            let Some(delivery) = self.github.deliveries.get(&id) else {
                continue;
            };
            let line = books::Delivery {
                id,
                guid: delivery.guid.clone(),
                event: delivery.event.clone(),
                action: delivery.action.clone(),
                repository: delivery.repository.map(|repo| repo.0),
                created_at: delivery.created_at,
                due: delivery.due,
                redelivery: delivery.redelivery,
                state: delivery.status.book_word().to_owned(),
                status: match delivery.status {
                    DeliveryStatus::Done(status) => status,
                    _ => None,
                },
            };
            match self.delivery_lines.get(&id) {
                Some(at) => self.books.deliveries[*at] = line,
                None => {
                    self.delivery_lines.insert(id, self.books.deliveries.len());
                    self.books.deliveries.push(line);
                }
            }
        }
    }
}

/// The headers of a delivery, as GitHub sends them.
fn delivery_headers(delivery: &hook::Delivery) -> HeaderMap {
    let (id, kind, target) = match delivery.source {
        hook::Source::Repository(repo, hook) => (hook, "repository", repo.0),
        hook::Source::App(app) => (app, "integration", app),
    };
    let mut headers = HeaderMap::new();
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    put("accept", "*/*");
    put("content-type", "application/json");
    put("user-agent", "GitHub-Hookshot/2f1d0a7");
    put("x-github-event", &delivery.event);
    put("x-github-delivery", &delivery.guid);
    put("x-github-hook-id", &id.to_string());
    put("x-github-hook-installation-target-type", kind);
    put("x-github-hook-installation-target-id", &target.to_string());
    if let Some(secret) = &delivery.target.secret {
        put(
            "x-hub-signature-256",
            &hook::payload_signature(secret, &delivery.payload),
        );
    }
    headers
}

/// A reply that did not come from the service's own code.
fn fault_reply(face: Face, status: u16, retry_after: Option<u64>, html: bool) -> Response<Bytes> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let reason = status.canonical_reason().unwrap_or("Error");
    let (kind, body) = if html {
        (
            "text/html; charset=utf-8",
            format!("<!DOCTYPE html>\n<html><body><h1>{reason}</h1></body></html>\n"),
        )
    } else if face == Face::Github {
        (
            "application/json; charset=utf-8",
            json!({"message": github_text(status)}).to_string(),
        )
    } else {
        let word = match status.as_u16() {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            409 => "ABORTED",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            504 => "DEADLINE_EXCEEDED",
            _ => "INTERNAL",
        };
        let error = json!({"error": {"code": status.as_u16(), "message": reason, "status": word}});
        ("application/json; charset=UTF-8", error.to_string())
    };
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(seconds) = retry_after {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The message with which GitHub accompanies a status.
fn github_text(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "Bad credentials",
        403 => "Resource not accessible by integration",
        404 => "Not Found",
        409 => "Conflict",
        422 => "Validation Failed",
        _ => "Server Error",
    }
}
