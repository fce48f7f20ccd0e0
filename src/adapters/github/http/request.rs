//! Sends one call, repeats it where that is safe, follows renames of the repository, and judges the answer.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::budget::Api;
use super::channel::Channel;
use super::retry::{CallKind, LONGEST_CALL, LONGEST_WAIT, MAX_REDIRECTS, READ_ATTEMPTS};
use super::{error, routes};
use crate::adapters::github::auth::token::Token;
use crate::adapters::github::client::Client;
use crate::adapters::transport::TransportError;
use crate::runtime::ports::{Disposition, Failure};

/// A request to send.
pub(crate) struct Call<'a> {
    /// Its name in failures and logs: a route, or `POST /graphql (Observe)`.
    pub(crate) what: &'a str,
    pub(crate) face: Api,
    pub(crate) nature: CallKind,
    pub(crate) body: Option<Bytes>,
    /// Whether the caller handles a 403 itself. Otherwise it is a failure, like a refused token.
    pub(crate) may_be_forbidden: bool,
}

impl<'a> Call<'a> {
    fn rest_call(route: &'a str, nature: CallKind, body: Option<&serde_json::Value>) -> Self {
        Self {
            what: route,
            face: Api::Rest,
            nature,
            body: body.map(|body| Bytes::from(body.to_string())),
            may_be_forbidden: false,
        }
    }
}

/// The result of one request.
pub(crate) enum Sent {
    Answer(Answer),
    Nothing(TransportError),
}

/// What to do next after one request.
enum Step {
    Done(Answer),
    Fail(Failure),
    /// Nothing took effect, or repeating does no harm: try again after backing off.
    Again(Failure),
    /// GitHub asks for a short pause.
    Wait(Duration, Failure),
    Redirected(Answer),
    Unauthorized(Answer),
}

impl Client {
    /// Calls a REST route. Statuses that answer the caller's question are returned as answers: success, 404, 409, 410
    /// and 422.
    pub(crate) async fn call_rest(
        &self,
        route: &str,
        values: &[&str],
        query: &str,
        nature: CallKind,
        body: Option<&serde_json::Value>,
    ) -> Result<Answer, Failure> {
        let call = Call::rest_call(route, nature, body);
        self.call(&call, |root| {
            let (method, mut path) = routes::expand_route(route, root, values);
            path.push_str(query);
            (method, path)
        })
        .await
    }

    /// Calls a REST route that only reads.
    pub(crate) async fn read_route(
        &self,
        route: &str,
        values: &[&str],
        query: &str,
    ) -> Result<Answer, Failure> {
        self.call_rest(route, values, query, CallKind::Read, None)
            .await
    }

    /// Calls a REST route that writes: sent once.
    pub(crate) async fn write_route(
        &self,
        route: &str,
        values: &[&str],
        body: &serde_json::Value,
    ) -> Result<Answer, Failure> {
        self.call_rest(route, values, "", CallKind::Write, Some(body))
            .await
    }

    /// Calls a REST route that only some accounts may use: a 403 is returned as an answer.
    pub(crate) async fn write_if_allowed(
        &self,
        route: &str,
        values: &[&str],
        body: &serde_json::Value,
    ) -> Result<Answer, Failure> {
        let call = Call {
            may_be_forbidden: true,
            ..Call::rest_call(route, CallKind::Write, Some(body))
        };
        self.call(&call, |root| routes::expand_route(route, root, values))
            .await
    }

    pub(crate) async fn call(
        &self,
        call: &Call<'_>,
        target: impl Fn(&str) -> (Method, String),
    ) -> Result<Answer, Failure> {
        let begun = self.pause.now();
        let mut attempt = 1;
        let mut redirects = 0;
        let mut renewed = false;
        loop {
            if let Some(left) = self.budget.pause_left(call.face, self.pause.now()) {
                let after = Some(left);
                let said = "not asked: its rate limit is spent";
                return Err(error::local_failure(
                    call.what,
                    said,
                    Disposition::Retry { after },
                ));
            }
            let token = self.current_token().await?;
            let (method, path) = target(&self.address.root_path());
            let sent = self
                .send_once(call.face, method, &path, call.body.clone(), &token)
                .await;
            let (wait, failure) = match self.next_step(call, sent) {
                Step::Done(answer) => return Ok(answer),
                Step::Fail(failure) => return Err(failure),
                Step::Again(failure) => (self.backoff.wait_after(attempt), failure),
                Step::Wait(length, failure) => (length, failure),
                Step::Redirected(answer) => {
                    self.follow_redirect(call, &answer, &mut redirects)?;
                    continue;
                }
                Step::Unauthorized(answer) => {
                    if renewed || !self.tokens.drop_refused(&token).await {
                        return Err(error::answer_failure(
                            call.what,
                            &answer,
                            Disposition::Denied,
                        ));
                    }
                    // A request with a refused token took no effect, so even a write may be sent again with a new
                    // token.
                    renewed = true;
                    continue;
                }
            };
            let spent = self.pause.now().duration_since(begun);
            if attempt == READ_ATTEMPTS || spent.unsigned_abs() >= LONGEST_CALL {
                return Err(failure);
            }
            self.pause.pause_for(wait).await;
            attempt += 1;
        }
    }

    /// Sends one request, and notes the limits in its answer.
    pub(crate) async fn send_once(
        &self,
        face: Api,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        token: &Token,
    ) -> Sent {
        let channel = match face {
            Api::Rest => &self.rest,
            Api::Graph => &self.graph,
        };
        let sent = self.send_through(channel, method, path, body, token).await;
        if let Sent::Answer(answer) = &sent {
            self.budget.record_limits(face, answer);
        }
        sent
    }

    /// Sends one request that counts against other limits than this account's.
    pub(crate) async fn send_outside_budget(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        token: &Token,
    ) -> Sent {
        self.send_through(&self.rest, method, path, body, token)
            .await
    }

    async fn send_through(
        &self,
        channel: &Channel,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        token: &Token,
    ) -> Sent {
        match channel.send(method.clone(), path, body, token).await {
            Ok(answer) => {
                self.budget.count_request();
                tracing::debug!(%method, path, status = answer.status.as_u16(), "GitHub answered");
                Sent::Answer(answer)
            }
            Err(failure) => {
                if !matches!(failure, TransportError::NotSent(_)) {
                    self.budget.count_request();
                }
                tracing::debug!(%method, path, %failure, "GitHub did not answer");
                Sent::Nothing(failure)
            }
        }
    }

    /// The path below the address of REST that a redirect names.
    pub(crate) fn redirect_of(&self, answer: &Answer) -> Option<String> {
        if !matches!(answer.status.as_u16(), 301 | 302 | 307 | 308) {
            return None;
        }
        self.base
            .rest_address()
            .path_below(answer.location_header()?)
    }

    /// Reads a JSON answer.
    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        what: &str,
        answer: &Answer,
    ) -> Result<T, Failure> {
        serde_json::from_slice(&answer.body).map_err(|problem| {
            let said = format!("the answer is not understood: {problem}");
            error::failure_saying(what, answer, Disposition::Retry { after: None }, &said)
        })
    }

    /// Follows a redirect. The redirected request took no effect, so even a write may be sent to the new address, but
    /// only if that is this very repository. `Place` remembers the id, and the next attempt builds its path from it.
    fn follow_redirect(
        &self,
        call: &Call<'_>,
        answer: &Answer,
        redirects: &mut u32,
    ) -> Result<(), Failure> {
        *redirects += 1;
        if *redirects > MAX_REDIRECTS {
            let said = "redirected in a circle";
            return Err(error::failure_saying(
                call.what,
                answer,
                Disposition::Refused,
                said,
            ));
        }
        let followed = call.face == Api::Rest
            && self
                .redirect_of(answer)
                .is_some_and(|path| self.address.follow_redirect(&path));
        if followed {
            return Ok(());
        }
        let said = "redirected to something other than this repository";
        Err(error::failure_saying(
            call.what,
            answer,
            Disposition::NotFound,
            said,
        ))
    }

    fn next_step(&self, call: &Call<'_>, sent: Sent) -> Step {
        let retry = || Disposition::Retry { after: None };
        let answer = match sent {
            Sent::Answer(answer) => answer,
            Sent::Nothing(failure) => {
                let said = failure.to_string();
                return match (failure, call.nature) {
                    (TransportError::NotSent(_), _) | (TransportError::Lost(_), CallKind::Read) => {
                        Step::Again(error::local_failure(call.what, &said, retry()))
                    }
                    (TransportError::TooLarge { .. }, CallKind::Read) => Step::Fail(
                        error::local_failure(call.what, &said, Disposition::TooLarge),
                    ),
                    (_, CallKind::Write) => {
                        Step::Fail(error::local_failure(call.what, &said, Disposition::Unknown))
                    }
                };
            }
        };
        // Do not search a success for messages about limits: a commit message may contain such words.
        if answer.status.is_success() {
            return Step::Done(answer);
        }
        if let Some(after) = answer.rate_limit_wait(&answer.error_message(), self.pause.now()) {
            return self.on_rate_limit(call, &answer, after);
        }
        match answer.status.as_u16() {
            404 | 409 | 410 | 422 => Step::Done(answer),
            301 | 302 | 307 | 308 => Step::Redirected(answer),
            401 => Step::Unauthorized(answer),
            403 if call.may_be_forbidden => Step::Done(answer),
            403 => Step::Fail(error::answer_failure(
                call.what,
                &answer,
                Disposition::Denied,
            )),
            500..=599 if call.nature == CallKind::Write => Step::Fail(error::answer_failure(
                call.what,
                &answer,
                Disposition::Unknown,
            )),
            500..=599 => match answer.retry_after() {
                Some(after) if after > LONGEST_WAIT => {
                    let after = Some(after);
                    Step::Fail(error::answer_failure(
                        call.what,
                        &answer,
                        Disposition::Retry { after },
                    ))
                }
                _ => Step::Again(error::answer_failure(call.what, &answer, retry())),
            },
            _ => Step::Fail(error::answer_failure(
                call.what,
                &answer,
                Disposition::Refused,
            )),
        }
    }

    /// Handles a rate limit. The limited request took no effect. A short pause is waited for here; a longer one is
    /// left to the runtime.
    fn on_rate_limit(&self, call: &Call<'_>, answer: &Answer, after: Duration) -> Step {
        let disposition = Disposition::Retry { after: Some(after) };
        let failure = error::answer_failure(call.what, answer, disposition);
        if call.nature == CallKind::Read && after <= LONGEST_WAIT {
            return Step::Wait(after, failure);
        }
        self.pause_api(call.face, answer, after);
        Step::Fail(failure)
    }

    /// Sends no further request until the limit is over.
    pub(crate) fn pause_api(&self, face: Api, answer: &Answer, after: Duration) {
        let now = self.pause.now();
        let primary = answer.retry_after().is_none() && answer.time_to_reset(now).is_some();
        let faces: &[Api] = if primary {
            &[face]
        } else {
            &[Api::Rest, Api::Graph]
        };
        self.budget.pause_requests(faces, now, after);
    }
}

/// Turns every answer other than a success into a failure.
pub(crate) fn require_success(what: &str, answer: Answer) -> Result<Answer, Failure> {
    if answer.status.is_success() {
        return Ok(answer);
    }
    let disposition = match answer.status {
        StatusCode::NOT_FOUND | StatusCode::GONE => Disposition::NotFound,
        StatusCode::FORBIDDEN => Disposition::Denied,
        _ => Disposition::Refused,
    };
    Err(error::answer_failure(what, &answer, disposition))
}

#[cfg(test)]
mod tests;
