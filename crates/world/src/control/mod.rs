//! Steering a served world: `/__world/…` on the GitHub face.
//!
//! It is meant for tests and for the sandbox's own dashboard, has no credentials, and is therefore reachable through a
//! loopback listener only. Every body is JSON; a mistake is answered `{"error": "<what is wrong>"}` with 400 for JSON
//! that does not fit, 404 for things that do not exist, 405 for a wrong method and 409 for an act that is impossible.
//!
//! | request | what it does |
//! |---|---|
//! | `GET books` | the books, deliveries included, as in `world.json` |
//! | `GET now` | `{"now", "next_due"}` |
//! | `POST advance` | `{"by": "10m"}` or `{"to": "2026-01-05T09:00:00Z"}`; at most [`MAX_ADVANCE_DAYS`] days at once |
//! | `POST faults` | a [`crate::FaultPlan`] in place of the present one |
//! | `POST knobs` | single knobs by their names: `{"title": "dropped"}` |
//! | `POST scenario` | a [`crate::jules::Scenario`], or a list of which the first that fits decides |
//! | `POST reset-requests` | forgets the requests in the books, so that a measurement starts from here |
//! | `POST act` | an [`Act`]: what a person does |
//! | `POST deliveries` | hands over the webhook deliveries whose time has come, each once, for the caller to post |
//! | `POST delivered` | `{"id", "status"}`: what the receiver answered; without a status it did not in time |

mod act;
mod apps;
mod deliveries;
mod mistake;
mod perform;
mod time;

use ::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::faults::FaultPlan;
use crate::jules::Scenario;
use crate::world::World;

use mistake::Mistake;

pub use act::{Act, Deed, FilePush};
pub use time::MAX_ADVANCE_DAYS;

/// What the paths of the control begin with.
pub const PREFIX: &str = "/__world/";

/// Answers a request to `/__world/…`. Such requests are not in the books.
pub fn handle(world: &mut World, request: &Request<Bytes>) -> Response<Bytes> {
    match answer(world, request) {
        Ok(body) => reply(StatusCode::OK, &body),
        Err(Mistake(status, what)) => error(status, &what),
    }
}

/// Does what a person does.
///
/// # Errors
/// What cannot be done, and why.
pub fn act(world: &mut World, act: Act) -> Result<(), String> {
    match perform::perform(world, act) {
        Ok(_) => Ok(()),
        Err(Mistake(_, what)) => Err(what),
    }
}

fn answer(world: &mut World, request: &Request<Bytes>) -> Result<Value, Mistake> {
    let path = request.uri().path();
    let name = path.strip_prefix(PREFIX).unwrap_or_default();
    let method = match name {
        "books" | "now" => Method::GET,
        "advance" | "faults" | "knobs" | "scenario" | "reset-requests" | "act" | "deliveries"
        | "delivered" => Method::POST,
        _ => {
            return Err(Mistake::missing(format!(
                "{path}: there is books, now, advance, faults, knobs, scenario, reset-requests, act, deliveries and delivered"
            )));
        }
    };
    if request.method() != method {
        return Err(Mistake(
            StatusCode::METHOD_NOT_ALLOWED,
            format!("{path} takes {method}, not {}", request.method()),
        ));
    }
    let body = request.body();
    match name {
        "books" => Ok(written(&world.complete_books())),
        "now" => Ok(time::now(world)),
        "advance" => time::advance(world, read(body)?),
        "faults" => {
            let plan: FaultPlan = read(body)?;
            let rules = plan.rules.len();
            world.faults_mut().replace(plan);
            Ok(json!({"rules": rules}))
        }
        "knobs" => {
            // A mistake in one of several knobs turns none of them.
            let mut knobs = world.knobs().clone();
            knobs.set(&read(body)?).map_err(Mistake::malformed)?;
            *world.knobs_mut() = knobs;
            Ok(written(world.knobs()))
        }
        "scenario" => {
            let scenarios = scenarios(body)?;
            let count = scenarios.len();
            // Each goes before those that are there, so the last must go first.
            for scenario in scenarios.into_iter().rev() {
                world.jules_mut().script(scenario);
            }
            Ok(json!({"scenarios": count}))
        }
        "reset-requests" => {
            let forgotten = world.books().requests.len();
            world.books_mut().reset_requests();
            Ok(json!({"forgotten": forgotten}))
        }
        "deliveries" => Ok(deliveries::take(world)),
        "delivered" => deliveries::done(world, &read(body)?),
        _ => perform::perform(world, read(body)?),
    }
}

/// One scenario or a list of them; each is read by itself, so that a mistake is named by its place.
fn scenarios(body: &[u8]) -> Result<Vec<Scenario>, Mistake> {
    if body.trim_ascii_start().starts_with(b"[") {
        read(body)
    } else {
        Ok(vec![read(body)?])
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Mistake> {
    serde_json::from_slice(body).map_err(|error| Mistake::malformed(format!("the body: {error}")))
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("books and knobs are JSON")
}

/// A mistake as a reply.
pub(crate) fn error(status: StatusCode, what: &str) -> Response<Bytes> {
    reply(status, &json!({"error": what}))
}

fn reply(status: StatusCode, body: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}
