//! Answers requests to Jules: authentication, routing, replies.

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::json;

use super::model::{Model, is_within};
use super::query::Query;
use super::quota;
use super::record::Via;
use super::refusal::{Refusal, json_reply};
use super::request_body::{self, NewSession};
use super::route::Route;
use super::state::State;
use crate::books::Books;
use crate::github;
use crate::knobs::{Knobs, VerbReply};

/// A request with everything that is needed to answer it.
pub(super) struct Call<'a> {
    pub(super) now: Timestamp,
    pub(super) knobs: &'a Knobs,
    pub(super) github: &'a mut github::Model,
    pub(super) query: Query,
    pub(super) body: &'a Bytes,
    pub(super) key: String,
    pub(super) account: usize,
}

impl Model {
    /// Answers one request. The path is that of `jules.googleapis.com`.
    pub fn handle_request(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
        github: &mut github::Model,
        knobs: &Knobs,
        books: &mut Books,
    ) -> Response<Bytes> {
        let reply = self
            .answer_request(request, now, github, knobs)
            .unwrap_or_else(|refusal| refusal.to_reply());
        self.write_books(books);
        reply
    }

    /// The login behind the key of a request, for the books.
    pub fn caller_login(&self, request: &Request<Bytes>) -> Option<String> {
        let key = request.headers().get("x-goog-api-key")?.to_str().ok()?;
        let account = self
            .config
            .accounts
            .iter()
            .find(|account| account.keys.iter().any(|known| known == key))?;
        Some(account.login.clone())
    }

    fn answer_request(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
        github: &mut github::Model,
        knobs: &Knobs,
    ) -> Result<Response<Bytes>, Refusal> {
        let uri = request.uri();
        let route = Route::parse(request.method(), uri.path())?;
        let (key, account) = self.authenticate_key(request, knobs)?;
        let query = Query::parse(uri.query(), &route)?;
        if route != Route::CreateSession {
            self.usage[account].check_burst(now, knobs)?;
        }
        let mut call = Call {
            now,
            knobs,
            github,
            query,
            body: request.body(),
            key,
            account,
        };
        match &route {
            Route::ListSources => self.list_sources(&call),
            Route::GetSource(name) => self.get_source(name, &call),
            Route::CreateSession => self.create_session(&mut call),
            Route::ListSessions => self.list_sessions(&call),
            Route::GetSession(id) => {
                let index = self.find_session(id, &call)?;
                Ok(text_reply(
                    self.sessions[index]
                        .encode_session(false, now, knobs)
                        .to_owned(),
                ))
            }
            Route::DeleteSession(id) => {
                let index = self.find_session(id, &call)?;
                self.change_session(index, now, |session| session.delete(Via::Api, now, knobs))?;
                Ok(json_reply(StatusCode::OK, &json!({})))
            }
            Route::SendMessage(id) => {
                let index = self.find_session(id, &call)?;
                let text = request_body::parse_message(call.body)?;
                let queued = self.sessions[index].state() == State::Queued;
                if knobs.count_use("queued-message-404", queued && knobs.queued_message_404) {
                    return Err(Refusal::not_found());
                }
                self.change_session(index, now, |session| {
                    session.receive_message(&text, Via::Api, now, knobs)
                })?;
                Ok(self.verb_reply(index, "message-reply", false, &call))
            }
            Route::ApprovePlan(id) => {
                let index = self.find_session(id, &call)?;
                request_body::expect_empty(call.body)?;
                self.change_session(index, now, |session| {
                    session.approve_plan(Via::Api, now, knobs)
                });
                Ok(self.verb_reply(index, "approve-reply", false, &call))
            }
            Route::Archive(id) => {
                let index = self.find_session(id, &call)?;
                request_body::expect_empty(call.body)?;
                self.change_session(index, now, |session| session.archive(Via::Api, now));
                Ok(self.verb_reply(index, "archive-reply", true, &call))
            }
            Route::Unarchive(id) => {
                let index = self.find_session(id, &call)?;
                request_body::expect_empty(call.body)?;
                self.change_session(index, now, |session| {
                    session.unarchive(Via::Api, now, knobs)
                });
                Ok(self.verb_reply(index, "archive-reply", true, &call))
            }
            Route::ListActivities(id) => self.list_activities(id, &call),
            Route::GetActivity(id, activity) => self.get_activity(id, activity, &call),
        }
    }

    fn authenticate_key(
        &self,
        request: &Request<Bytes>,
        knobs: &Knobs,
    ) -> Result<(String, usize), Refusal> {
        let header = request
            .headers()
            .get("x-goog-api-key")
            .ok_or_else(Refusal::no_credentials)?;
        let key = header.to_str().unwrap_or_default();
        let account = self
            .config
            .accounts
            .iter()
            .position(|account| account.keys.iter().any(|known| known == key))
            .ok_or_else(|| {
                if knobs.count_use("bad-key-is-400", knobs.bad_key_is_400) {
                    Refusal::invalid_key()
                } else {
                    Refusal::wrong_credentials()
                }
            })?;
        if self.config.accounts[account]
            .disabled_keys
            .iter()
            .any(|disabled| disabled == key)
        {
            return Err(Refusal::disabled_key());
        }
        Ok((key.to_owned(), account))
    }

    /// The session of this id in the caller's account, once it can be read.
    pub(super) fn find_session(&self, id: &str, call: &Call<'_>) -> Result<usize, Refusal> {
        let index = *self.by_id.get(id).ok_or_else(Refusal::not_found)?;
        let session = &self.sessions[index];
        let fresh = is_within(
            call.now,
            session.created,
            call.knobs.fresh_session_404_seconds,
        );
        let fresh = call.knobs.count_use("fresh-session-404-seconds", fresh);
        if session.account != call.account || session.deleted || fresh {
            return Err(Refusal::not_found());
        }
        Ok(index)
    }

    fn verb_reply(
        &mut self,
        index: usize,
        knob: &'static str,
        with_source: bool,
        call: &Call<'_>,
    ) -> Response<Bytes> {
        let (form, documented) = match knob {
            "archive-reply" => (call.knobs.archive_reply, VerbReply::Session),
            "approve-reply" => (call.knobs.approve_reply, VerbReply::EmptyObject),
            _ => (call.knobs.message_reply, VerbReply::EmptyObject),
        };
        call.knobs.count_use(knob, form != documented);
        let session = &mut self.sessions[index];
        match form {
            VerbReply::EmptyBody => Response::new(Bytes::new()),
            VerbReply::EmptyObject => json_reply(StatusCode::OK, &json!({})),
            VerbReply::Session if with_source => text_reply(
                session
                    .encode_session(false, call.now, call.knobs)
                    .to_owned(),
            ),
            VerbReply::Session => text_reply(session.encode_without_source(call.now, call.knobs)),
        }
    }

    fn create_session(&mut self, call: &mut Call<'_>) -> Result<Response<Bytes>, Refusal> {
        let (now, knobs, account) = (call.now, call.knobs, call.account);
        self.usage[account].count_attempt(now, knobs)?;
        let new = NewSession::parse(call.body)?;
        let length = new.prompt.chars().count() as u64;
        let long = knobs.prompt_limit > 0 && length > knobs.prompt_limit;
        if knobs.count_use("prompt-limit", long) {
            return Err(Refusal::invalid_argument());
        }
        let owner = &self.config.accounts[account];
        if let Some((source, branch)) = &new.context {
            let installed = owner
                .find_installation(source)
                .ok_or_else(Refusal::not_found)?;
            let repo = call
                .github
                .repository_by_name(&installed.owner, &installed.repo)
                .ok_or_else(Refusal::not_found)?;
            call.github
                .branch_head(repo, branch)
                .ok_or_else(Refusal::invalid_argument)?;
        }
        let (daily, concurrent) = (owner.daily_limit(), owner.concurrent_limit());
        if self.usage[account].count_today(now, knobs) >= daily {
            return Err(quota::limit_reached(knobs));
        }
        let full = self.active_sessions(account) >= concurrent;
        let queued = full && knobs.over_concurrency_queued;
        if full && !knobs.count_use("over-concurrency-queued", queued) {
            return Err(quota::limit_reached(knobs));
        }
        let index = self.insert_session(account, &call.key, new, Via::Api, full, now, knobs);
        let refused = self.draws.happens(knobs.create_refused_after_effect);
        if knobs.count_use("create-refused-after-effect", refused) {
            self.sessions[index].record.refused_after_effect = true;
            return Err(Refusal::unavailable());
        }
        Ok(text_reply(
            self.sessions[index]
                .encode_session(false, now, knobs)
                .to_owned(),
        ))
    }
}

/// A reply that carries JSON text.
pub(super) fn text_reply(text: String) -> Response<Bytes> {
    let mut reply = Response::new(Bytes::from(text));
    reply.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json; charset=UTF-8"),
    );
    reply
}
