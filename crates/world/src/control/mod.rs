//! Controls a served world through `/__world/…` on the GitHub face.
//!
//! It serves tests and the sandbox's own dashboard. It has no credentials, so only a loopback listener serves it. Every
//! body is JSON. An error is answered `{"error": "<what is wrong>"}`: 400 for JSON that does not fit, 404 for something
//! that does not exist, 405 for a wrong method, and 409 for an act that is impossible.
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
//! | `POST act` | an [`Act`] of a person |
//! | `POST deliveries` | returns the webhook deliveries that are due, each once, for the caller to post |
//! | `POST delivered` | `{"id", "status"}`: the receiver's answer; no status means that it did not answer in time |

mod act;
mod apps;
mod deliveries;
mod error;
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

use error::ControlError;

pub use act::{Act, ActKind, FilePush};
pub use time::MAX_ADVANCE_DAYS;

/// The prefix of the control's paths.
pub const PREFIX: &str = "/__world/";

/// Answers a request to `/__world/…`. The books do not record such requests.
pub fn handle_request(world: &mut World, request: &Request<Bytes>) -> Response<Bytes> {
    match answer_request(world, request) {
        Ok(body) => json_reply(StatusCode::OK, &body),
        Err(ControlError(status, what)) => error_reply(status, &what),
    }
}

/// Performs an act of a person.
///
/// # Errors
/// What cannot be done, and why.
pub fn perform_act(world: &mut World, act: Act) -> Result<(), String> {
    match perform::perform_and_settle(world, act) {
        Ok(_) => Ok(()),
        Err(ControlError(_, what)) => Err(what),
    }
}

fn answer_request(world: &mut World, request: &Request<Bytes>) -> Result<Value, ControlError> {
    let path = request.uri().path();
    let name = path.strip_prefix(PREFIX).unwrap_or_default();
    let method = match name {
        "books" | "now" => Method::GET,
        "advance" | "faults" | "knobs" | "scenario" | "reset-requests" | "act" | "deliveries"
        | "delivered" => Method::POST,
        _ => {
            return Err(ControlError::missing(format!(
                "{path}: there is books, now, advance, faults, knobs, scenario, reset-requests, act, deliveries and delivered"
            )));
        }
    };
    if request.method() != method {
        return Err(ControlError(
            StatusCode::METHOD_NOT_ALLOWED,
            format!("{path} takes {method}, not {}", request.method()),
        ));
    }
    let body = request.body();
    match name {
        "books" => Ok(to_json(&world.complete_books())),
        "now" => Ok(time::now_json(world)),
        "advance" => time::advance_world(world, parse_body(body)?),
        "faults" => {
            let plan: FaultPlan = parse_body(body)?;
            let rules = plan.rules.len();
            world.faults_mut().replace_plan(plan);
            Ok(json!({"rules": rules}))
        }
        "knobs" => {
            // Change no knob when one of several is wrong.
            let mut knobs = world.knobs().clone();
            knobs
                .set(&parse_body(body)?)
                .map_err(ControlError::malformed)?;
            *world.knobs_mut() = knobs;
            Ok(to_json(world.knobs()))
        }
        "scenario" => {
            let scenarios = parse_scenarios(body)?;
            let count = scenarios.len();
            // Each scenario is put before the others, so the last one must be added first.
            for scenario in scenarios.into_iter().rev() {
                world.jules_mut().add_script(scenario);
            }
            Ok(json!({"scenarios": count}))
        }
        "reset-requests" => {
            let forgotten = world.books().requests.len();
            world.books_mut().reset_requests();
            Ok(json!({"forgotten": forgotten}))
        }
        "deliveries" => Ok(deliveries::take_deliveries(world)),
        "delivered" => deliveries::report_delivery(world, &parse_body(body)?),
        _ => perform::perform_and_settle(world, parse_body(body)?),
    }
}

/// Parses one scenario or a list of them. Each is parsed by itself, so that an error names its line.
fn parse_scenarios(body: &[u8]) -> Result<Vec<Scenario>, ControlError> {
    if body.trim_ascii_start().starts_with(b"[") {
        parse_body(body)
    } else {
        Ok(vec![parse_body(body)?])
    }
}

fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, ControlError> {
    serde_json::from_slice(body)
        .map_err(|error| ControlError::malformed(format!("the body: {error}")))
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("books and knobs are JSON")
}

/// The reply for an error.
pub(crate) fn error_reply(status: StatusCode, what: &str) -> Response<Bytes> {
    json_reply(status, &json!({"error": what}))
}

fn json_reply(status: StatusCode, body: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}
