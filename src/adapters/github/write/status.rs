//! Shows the state of a request on its issue or pull request: an eyes reaction, the label removed, and one status
//! comment.
//!
//! phileas searches for the comment before every write, so that a first comment whose answer was lost is found
//! instead of written twice. GitHub says which comments are from this account, and the marker says which of them is
//! the status comment. A listing may be some seconds old: if it does not show the comment that the ledger knows, it
//! is read again before that comment counts as deleted.
//!
//! Two comments may be written nevertheless, by replicas that search at the same moment, or by one that paused
//! between searching and writing. So a later write deletes its own account's younger [copies](candidate). The oldest
//! one always stays, so that two replicas never delete both. If no later write follows, both stay.
//!
//! One repository may know phileas as several accounts: an App's service, a workflow's token, a person's token. One
//! of them takes over a comment of another if no one who gains by it could have forged it:
//!
//! - The comment has our form: the same first line, and the marker alone on the last line. A quotation, or text
//!   beside a copied marker, does not count.
//! - Its author is a bot, which needs an installation, but not Jules, whose text comes from an agent; or a person who
//!   may write to the repository now. GitHub lets both edit every comment, so a forged one gives them no new power.
//!   Being a member, or being invited to read, is not enough: the author could rewrite our text.
//!
//! The comment id in the ledger proves nothing and only chooses among these: a wrong id could otherwise make phileas
//! overwrite another user's comment. If GitHub does not let this account edit the other account's comment, it writes
//! its own, and the ledger hands its id to all.

mod candidate;

use std::collections::BTreeMap;
use std::time::Duration;

use http::StatusCode;
use phileas_domain::engine::LABEL_PREFIX;
use serde::Deserialize;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::OWN_COMMENTS;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::retry::CallKind;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::wire::issue::Created;
use crate::adapters::github::wire::subject::Thread;
use crate::adapters::github::wire::{OfRepository, present};
use crate::adapters::stopwatch::SystemStopwatch;
use crate::runtime::ports::{Disposition, Failure, Stopwatch};
use candidate::{Author, Candidate, OwnComment};

/// How many pages of comments are read, newest first; each holds 100.
const MAX_PAGES: usize = 10;
/// For how many authors the permission is read.
const MAX_PEOPLE: usize = 5;
/// The waits before searching again for a comment that may have been written: replicas lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// The waits before a known comment that is not listed counts as deleted.
const LOOKS_FOR_KNOWN: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(8),
];
/// How many copies one write deletes. The next write deletes the rest.
const MAX_COPIES: usize = 3;
const WHAT: &str = "POST /graphql (OwnComments)";
/// How long after a write its comment is known to exist. A process that was held up longer deletes no copies: the
/// comment may have been deleted, and another replica may use a copy since.
const COPY_TTL: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct Repository {
    #[serde(deserialize_with = "present")]
    thread: Option<Thread>,
}

/// The comments that were found on a thread.
struct Candidates {
    comments: Vec<Candidate>,
    /// Whether there are more comments than are read.
    cut: bool,
    /// Whether the known comment was among those read, by any author.
    is_known_listed: bool,
}

impl Client {
    pub(crate) async fn add_eyes(&self, thread: u64, comment: Option<u64>) -> Result<(), Failure> {
        let (route, id) = match comment {
            Some(comment) => (routes::REACT_TO_COMMENT, comment),
            None => (routes::REACT, thread),
        };
        let request = json!({ "content": "eyes" });
        require_success(
            route,
            self.write_route(route, &[&id.to_string()], &request)
                .await?,
        )
        .map(drop)
    }

    pub(crate) async fn remove_label(&self, thread: u64, label: &str) -> Result<(), Failure> {
        let route = routes::REMOVE_LABEL;
        if !label.to_ascii_lowercase().starts_with(LABEL_PREFIX) {
            let said = format!("`{label}` is not a label of ours");
            return Err(error::local_failure(route, &said, Disposition::Refused));
        }
        let values = [&*thread.to_string(), label];
        let answer = self
            .call_rest(route, &values, "", CallKind::Write, None)
            .await?;
        // The label is already removed.
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        require_success(route, answer).map(drop)
    }

    pub(crate) async fn write_status_once(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        let ours = self.find_our_comment(thread, known, marker, body).await?;
        if let Some(id) = self.overwrite_comment(ours, thread, marker, body).await? {
            return Ok(id);
        }
        let request = json!({ "body": body });
        let route = routes::CREATE_COMMENT;
        let failure = match self
            .write_route(route, &[&thread.to_string()], &request)
            .await
        {
            Ok(answer) => {
                let answer = require_success(route, answer)?;
                let created: Created = self.parse(route, &answer)?;
                return Ok(created.id);
            }
            Err(failure) => failure,
        };
        if failure.disposition == Disposition::Unknown {
            for wait in LOOKS {
                self.pause.pause_for(wait).await;
                match self.find_our_comment(thread, known, marker, body).await {
                    Ok(Some(one)) if one.is_up_to_date => return Ok(one.id),
                    // Another replica wrote one earlier.
                    Ok(Some(one)) => {
                        let told = self
                            .overwrite_comment(Some(one), thread, marker, body)
                            .await;
                        return told?.ok_or(failure);
                    }
                    Ok(None) | Err(_) => {}
                }
            }
        }
        Err(failure)
    }

    /// Overwrites our comment, or the next one if this account may not edit it; `None`: there is none.
    async fn overwrite_comment(
        &self,
        mut ours: Option<OwnComment>,
        thread: u64,
        marker: &str,
        body: &str,
    ) -> Result<Option<u64>, Failure> {
        let request = json!({ "body": body });
        let route = routes::UPDATE_COMMENT;
        let mut is_second = false;
        while let Some(one) = ours.take() {
            let watch = SystemStopwatch::default();
            let id = one.id.to_string();
            let answer = self.write_if_allowed(route, &[&id], &request).await;
            // A token that is refused for everything, as while it is renewed, says nothing about this comment.
            let is_forbidden = answer
                .as_ref()
                .is_ok_and(|answer| answer.status == StatusCode::FORBIDDEN);
            match answer.and_then(|answer| require_success(route, answer)) {
                Ok(_) => {
                    self.delete_copies(&one.copies, &watch).await;
                    return Ok(Some(one.id));
                }
                // It is another account's comment, and this account may not edit it.
                Err(_) if !one.own && is_forbidden => {
                    ours = self.find_own_comment(thread, marker, body).await?;
                }
                // Another replica has just deleted this copy.
                Err(failure) if !is_second && failure.disposition == Disposition::NotFound => {
                    is_second = true;
                    ours = self.find_our_comment(thread, None, marker, body).await?;
                    ours.take_if(|again| again.id == one.id);
                    if ours.is_none() {
                        return Err(failure);
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(None)
    }

    /// Deletes copies of the comment. A failure here does not fail the tick, because the status is written already:
    /// the next write tries again.
    async fn delete_copies(&self, copies: &[u64], since: &impl Stopwatch) {
        let route = routes::DELETE_COMMENT;
        for id in copies.iter().take(MAX_COPIES) {
            if since.elapsed() >= COPY_TTL {
                return;
            }
            let number = id.to_string();
            let answer = self
                .call_rest(route, &[&number], "", CallKind::Write, None)
                .await;
            match answer.and_then(|answer| require_success(route, answer)) {
                Ok(_) => tracing::info!(comment = id, "deleted a younger copy of a status comment"),
                Err(failure) if failure.disposition == Disposition::NotFound => {}
                Err(failure) => {
                    tracing::warn!(comment = id, %failure, "could not delete a copy of a status comment");
                    return;
                }
            }
        }
    }

    /// Our comment with the marker: the known one, otherwise the oldest.
    async fn find_our_comment(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> Result<Option<OwnComment>, Failure> {
        let mut waits = LOOKS_FOR_KNOWN.iter();
        let Candidates {
            comments: mut found,
            cut,
            ..
        } = loop {
            let candidates = self.read_candidates(thread, known, marker, body).await?;
            let is_missing = known.is_some() && !candidates.is_known_listed && !candidates.cut;
            match waits.next() {
                Some(wait) if is_missing && candidates.comments.is_empty() => {
                    self.pause.pause_for(*wait).await;
                }
                _ => break candidates,
            }
        };
        found.sort_by_key(|one| (Some(one.id) != known, one.id));
        let mut asked: BTreeMap<&str, bool> = BTreeMap::new();
        for one in &found {
            if let Author::Person(login) = &one.author {
                let writes = match asked.get(&**login) {
                    Some(writes) => *writes,
                    None if asked.len() == MAX_PEOPLE => continue,
                    None => {
                        let writes = self.may_write(login).await?;
                        asked.insert(login, writes);
                        writes
                    }
                };
                if !writes {
                    continue;
                }
            }
            return Ok(Some(OwnComment::choose(one, &found)));
        }
        if cut {
            let said =
                format!("#{thread} has too many comments to tell whether one of them is ours");
            return Err(error::local_failure(WHAT, &said, Disposition::Refused));
        }
        Ok(None)
    }

    /// The oldest comment of this account.
    async fn find_own_comment(
        &self,
        thread: u64,
        marker: &str,
        body: &str,
    ) -> Result<Option<OwnComment>, Failure> {
        let candidates = self.read_candidates(thread, None, marker, body).await?;
        let own = candidates
            .comments
            .iter()
            .filter(|one| one.author == Author::Viewer);
        let oldest = own.min_by_key(|one| one.id);
        Ok(oldest.map(|one| OwnComment::choose(one, &candidates.comments)))
    }

    /// All comments that may be ours, reading pages until the known one is found.
    async fn read_candidates(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> Result<Candidates, Failure> {
        let mut variables = self.repository_variables();
        variables["number"] = thread.into();
        let mut found = Vec::new();
        let mut is_known_listed = false;
        let known_digits = known.map(|id| id.to_string());
        for _ in 0..MAX_PAGES {
            let reply = self
                .run_query::<OfRepository<Repository>>(
                    "OwnComments",
                    OWN_COMMENTS,
                    &variables,
                    |_| false,
                )
                .await?;
            let gone =
                |said| error::failure_saying(WHAT, &reply.answer, Disposition::NotFound, said);
            let repository = reply.data.repository;
            let repository = repository.ok_or_else(|| gone("the repository is gone"))?;
            let thread = repository.thread;
            let thread = thread.ok_or_else(|| gone("the issue or pull request is gone"))?;
            let comments = thread.comments;
            for one in comments.nodes.into_iter().flatten() {
                is_known_listed |= known_digits.is_some() && one.full_database_id == known_digits;
                found.extend(Candidate::from_comment(one, marker, body));
            }
            // A person's comment must still be checked, and may turn out not to be ours.
            let is_there =
                |one: &Candidate| Some(one.id) == known && !matches!(one.author, Author::Person(_));
            let page = comments.page_info;
            let before = page.start_cursor.filter(|_| page.has_previous_page);
            let Some(before) = before.filter(|_| !found.iter().any(is_there)) else {
                return Ok(Candidates {
                    comments: found,
                    cut: false,
                    is_known_listed,
                });
            };
            variables["before"] = before.into();
        }
        Ok(Candidates {
            comments: found,
            cut: true,
            is_known_listed,
        })
    }
}

#[cfg(test)]
mod tests;
