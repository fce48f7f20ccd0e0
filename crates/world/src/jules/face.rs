//! The HTTP face: authentication, routing, replies.

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::body::{self, NewSession};
use super::filter;
use super::model::{Model, within};
use super::query::{self, Query};
use super::quota;
use super::record::Via;
use super::refusal::{Refusal, json_reply};
use super::route::Route;
use super::wire;
use crate::books::Books;
use crate::github;
use crate::knobs::{Knobs, ListingOrder, VerbReply};

/// Entries on a page when no size is asked for.
const SOURCES_A_PAGE: usize = 30;
const SESSIONS_A_PAGE: usize = 30;
const ACTIVITIES_A_PAGE: usize = 50;

/// A request with everything that answering it takes.
struct Call<'a> {
    now: Timestamp,
    knobs: &'a Knobs,
    github: &'a mut github::Model,
    query: Query,
    body: &'a Bytes,
    key: String,
    account: usize,
}

impl Model {
    /// Answers one request. The path is that of `jules.googleapis.com`.
    pub fn handle(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
        github: &mut github::Model,
        knobs: &Knobs,
        books: &mut Books,
    ) -> Response<Bytes> {
        let reply = self
            .answer(request, now, github, knobs)
            .unwrap_or_else(|refusal| refusal.reply());
        self.write_books(books);
        reply
    }

    /// The login behind the key of a request, for the books.
    pub fn identity(&self, request: &Request<Bytes>) -> Option<String> {
        let key = request.headers().get("x-goog-api-key")?.to_str().ok()?;
        let account = self
            .config
            .accounts
            .iter()
            .find(|account| account.keys.iter().any(|known| known == key))?;
        Some(account.login.clone())
    }

    fn answer(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
        github: &mut github::Model,
        knobs: &Knobs,
    ) -> Result<Response<Bytes>, Refusal> {
        let uri = request.uri();
        let route = Route::parse(request.method(), uri.path())?;
        let (key, account) = self.authenticate(request, knobs)?;
        let query = Query::parse(uri.query(), &route)?;
        if route != Route::CreateSession {
            self.usage[account].calm(now, knobs)?;
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
                let index = self.find(id, &call)?;
                Ok(text_reply(
                    self.sessions[index].encode(false, now, knobs).to_owned(),
                ))
            }
            Route::DeleteSession(id) => {
                let index = self.find(id, &call)?;
                self.change(index, now, |session| session.delete(Via::Api, now, knobs))?;
                Ok(json_reply(StatusCode::OK, &json!({})))
            }
            Route::SendMessage(id) => {
                let index = self.find(id, &call)?;
                let text = body::message(call.body)?;
                self.change(index, now, |session| {
                    session.message(&text, Via::Api, now, knobs)
                })?;
                Ok(self.verb_reply(index, knobs.message_reply, false, &call))
            }
            Route::ApprovePlan(id) => {
                let index = self.find(id, &call)?;
                body::nothing(call.body)?;
                self.change(index, now, |session| session.approve(Via::Api, now, knobs));
                Ok(self.verb_reply(index, knobs.approve_reply, false, &call))
            }
            Route::Archive(id) => {
                let index = self.find(id, &call)?;
                body::nothing(call.body)?;
                self.change(index, now, |session| session.archive(Via::Api, now));
                Ok(self.verb_reply(index, knobs.archive_reply, true, &call))
            }
            Route::Unarchive(id) => {
                let index = self.find(id, &call)?;
                body::nothing(call.body)?;
                self.change(index, now, |session| {
                    session.unarchive(Via::Api, now, knobs)
                });
                Ok(self.verb_reply(index, knobs.archive_reply, true, &call))
            }
            Route::ListActivities(id) => self.list_activities(id, &call),
            Route::GetActivity(id, activity) => self.get_activity(id, activity, &call),
        }
    }

    fn authenticate(
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
                if knobs.bad_key_is_400 {
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
    fn find(&self, id: &str, call: &Call<'_>) -> Result<usize, Refusal> {
        let index = *self.by_id.get(id).ok_or_else(Refusal::not_found)?;
        let session = &self.sessions[index];
        let fresh = within(
            call.now,
            session.created,
            call.knobs.fresh_session_404_seconds,
        );
        if session.account != call.account || session.deleted || fresh {
            return Err(Refusal::not_found());
        }
        Ok(index)
    }

    fn verb_reply(
        &mut self,
        index: usize,
        form: VerbReply,
        with_source: bool,
        call: &Call<'_>,
    ) -> Response<Bytes> {
        let session = &mut self.sessions[index];
        match form {
            VerbReply::EmptyBody => Response::new(Bytes::new()),
            VerbReply::EmptyObject => json_reply(StatusCode::OK, &json!({})),
            VerbReply::Session if with_source => {
                text_reply(session.encode(false, call.now, call.knobs).to_owned())
            }
            VerbReply::Session => text_reply(session.encode_without_source(call.now, call.knobs)),
        }
    }

    fn create_session(&mut self, call: &mut Call<'_>) -> Result<Response<Bytes>, Refusal> {
        let (now, knobs, account) = (call.now, call.knobs, call.account);
        self.usage[account].attempt(now, knobs)?;
        let new = NewSession::parse(call.body)?;
        let length = new.prompt.chars().count() as u64;
        if knobs.prompt_limit > 0 && length > knobs.prompt_limit {
            return Err(Refusal::invalid());
        }
        let owner = &self.config.accounts[account];
        if let Some((source, branch)) = &new.context {
            let installed = owner.installation(source).ok_or_else(Refusal::not_found)?;
            let repo = call
                .github
                .repository_by_name(&installed.owner, &installed.repo)
                .ok_or_else(Refusal::not_found)?;
            call.github
                .branch_head(repo, branch)
                .ok_or_else(Refusal::invalid)?;
        }
        let (daily, concurrent) = (owner.daily_limit(), owner.concurrent_limit());
        if self.usage[account].today(now, knobs.quota_window) >= daily {
            return Err(quota::over(knobs));
        }
        let full = self.active(account) >= concurrent;
        if full && !knobs.over_concurrency_queued {
            return Err(quota::over(knobs));
        }
        let index = self.create(account, &call.key, new, Via::Api, full, now, knobs);
        if self.draws.happens(knobs.create_refused_after_effect) {
            self.sessions[index].record.refused_after_effect = true;
            return Err(Refusal::unavailable());
        }
        Ok(text_reply(
            self.sessions[index].encode(false, now, knobs).to_owned(),
        ))
    }

    fn list_sessions(&mut self, call: &Call<'_>) -> Result<Response<Bytes>, Refusal> {
        let size = call.query.page_size(SESSIONS_A_PAGE, call.knobs)?;
        let wanted = call
            .query
            .filter
            .as_deref()
            .map(filter::archived)
            .transpose()?;
        let (now, knobs) = (call.now, call.knobs);
        // A token holds the number of the session that comes next, so that newer sessions do not shift pages.
        let position = call.query.position("sessions")?;
        let mut listed: Vec<usize> = Vec::new();
        let next = match knobs.listing_order {
            ListingOrder::NewestFirst => {
                let below = position.map_or(usize::MAX, |position| position + 1);
                let mut next = None;
                for index in self.of_account[call.account].iter().rev().copied() {
                    if index >= below || !self.is_listed(index, wanted, now, knobs) {
                        continue;
                    }
                    if listed.len() == size {
                        next = Some(index);
                        break;
                    }
                    listed.push(index);
                }
                next
            }
            order => {
                let mut all: Vec<usize> = self.of_account[call.account]
                    .iter()
                    .copied()
                    .filter(|index| self.is_listed(*index, wanted, now, knobs))
                    .collect();
                match order {
                    ListingOrder::RecentlyUpdated => {
                        all.sort_by_key(|index| {
                            std::cmp::Reverse((self.sessions[*index].updated, *index))
                        });
                    }
                    // Ids are random, and their last digits are as good as a shuffled deck.
                    _ => all.sort_by_cached_key(|index| {
                        self.sessions[*index].id().chars().rev().collect::<String>()
                    }),
                }
                let start = position.unwrap_or(0);
                listed.extend(all.iter().skip(start).take(size));
                (start + listed.len() < all.len()).then_some(start + listed.len())
            }
        };
        for index in &listed {
            self.sessions[*index].encode(true, now, knobs);
        }
        let token = next.map(|next| query::token("sessions", next));
        let entries = listed.iter().map(|index| self.sessions[*index].encoded());
        Ok(text_reply(wire::listing(
            "sessions",
            entries,
            token.as_deref(),
        )))
    }

    fn is_listed(
        &self,
        index: usize,
        archived: Option<bool>,
        now: Timestamp,
        knobs: &Knobs,
    ) -> bool {
        let session = &self.sessions[index];
        let wanted = match archived {
            Some(archived) => session.archived == archived,
            None => !session.archived || knobs.archived_listed,
        };
        wanted && !session.deleted && !within(now, session.created, knobs.listing_lag_seconds)
    }

    fn list_activities(&mut self, id: &str, call: &Call<'_>) -> Result<Response<Bytes>, Refusal> {
        self.usage[call.account].read_activities(call.now, call.knobs)?;
        let index = self.find(id, call)?;
        let session = &self.sessions[index];
        if within(
            call.now,
            session.created,
            call.knobs.fresh_activities_404_seconds,
        ) {
            return Err(Refusal::not_found());
        }
        let size = call.query.page_size(ACTIVITIES_A_PAGE, call.knobs)?;
        let start = call.query.position("activities")?.unwrap_or(0);
        let newer = match &call.query.filter {
            Some(_) if !call.knobs.activity_filter => return Err(Refusal::invalid()),
            Some(text) => Some(filter::newer_than(text)?),
            None => None,
        };
        let entries: Vec<String> = session
            .activities
            .iter()
            .filter(|activity| newer.is_none_or(|newer| activity.at > newer))
            .skip(start)
            .take(size + 1)
            .map(|activity| activity.wire(id, call.knobs).to_string())
            .collect();
        let token = (entries.len() > size).then(|| query::token("activities", start + size));
        let page = entries.iter().take(size).map(String::as_str);
        Ok(text_reply(wire::listing(
            "activities",
            page,
            token.as_deref(),
        )))
    }

    fn get_activity(
        &mut self,
        id: &str,
        activity: &str,
        call: &Call<'_>,
    ) -> Result<Response<Bytes>, Refusal> {
        self.usage[call.account].read_activities(call.now, call.knobs)?;
        let index = self.find(id, call)?;
        let found = self.sessions[index]
            .activities
            .iter()
            .find(|known| known.id == activity);
        Ok(json_reply(
            StatusCode::OK,
            &found.ok_or_else(Refusal::not_found)?.wire(id, call.knobs),
        ))
    }

    fn list_sources(&self, call: &Call<'_>) -> Result<Response<Bytes>, Refusal> {
        let size = call.query.page_size(SOURCES_A_PAGE, call.knobs)?;
        let start = call.query.position("sources")?.unwrap_or(0);
        let names = call
            .query
            .filter
            .as_deref()
            .map(filter::source_names)
            .transpose()?;
        let all: Vec<String> = self.config.accounts[call.account]
            .installed
            .iter()
            .filter(|installed| {
                let name = installed.source();
                names.as_ref().is_none_or(|names| {
                    names
                        .iter()
                        .any(|wanted| wanted.eq_ignore_ascii_case(&name))
                })
            })
            .filter_map(|installed| source(installed, call.github, call.knobs))
            .map(|source| source.to_string())
            .collect();
        let page: Vec<&str> = all
            .iter()
            .skip(start)
            .take(size)
            .map(String::as_str)
            .collect();
        let token =
            (start + page.len() < all.len()).then(|| query::token("sources", start + page.len()));
        Ok(text_reply(wire::listing(
            "sources",
            page.into_iter(),
            token.as_deref(),
        )))
    }

    fn get_source(&self, name: &str, call: &Call<'_>) -> Result<Response<Bytes>, Refusal> {
        let installed = self.config.accounts[call.account]
            .installation(name)
            .ok_or_else(Refusal::not_found)?;
        let source = source(installed, call.github, call.knobs).ok_or_else(Refusal::not_found)?;
        Ok(json_reply(StatusCode::OK, &source))
    }
}

/// The Source resource; none when the repository is gone.
fn source(installed: &super::Installed, github: &github::Model, knobs: &Knobs) -> Option<Value> {
    let id = github.repository_by_name(&installed.owner, &installed.repo)?;
    let repository = github.repository(id)?;
    let branch = |name: &str| json!({ "displayName": name });
    let mut branches: Vec<Value> = repository
        .branches()
        .map(|(name, _)| branch(name))
        .collect();
    branches.extend((0..installed.more_branches).map(|n| branch(&format!("topic/{n:05}"))));
    let shown = if knobs.source_case_changed {
        installed.in_other_case()
    } else {
        installed.clone()
    };
    let (owner, name) = (shown.owner, shown.repo);
    let mut repo = Map::new();
    repo.insert("owner".to_owned(), json!(owner));
    repo.insert("repo".to_owned(), json!(name));
    wire::put_flag(&mut repo, "isPrivate", repository.private);
    repo.insert(
        "defaultBranch".to_owned(),
        branch(&repository.default_branch),
    );
    if !branches.is_empty() {
        repo.insert("branches".to_owned(), Value::Array(branches));
    }
    Some(json!({
        "name": format!("sources/github/{owner}/{name}"),
        "id": format!("github/{owner}/{name}"),
        "githubRepo": repo,
    }))
}

/// A reply that carries JSON text.
fn text_reply(text: String) -> Response<Bytes> {
    let mut reply = Response::new(Bytes::from(text));
    reply.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json; charset=UTF-8"),
    );
    reply
}
