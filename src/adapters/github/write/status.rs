//! What people see of a request on its issue or pull request: eyes, the label off, and one status comment.
//!
//! The comment is looked for before every write, so that a first one whose answer was lost is found instead of being
//! written twice. GitHub says which comments are ours, and the marker says which of these it is. A listing may be some
//! seconds old: where it does not show the number that the ledger knows, it is looked at again before that comment counts
//! as deleted.
//!
//! Two may be written nevertheless, by replicas that look at the same moment, or by one that stood still between looking
//! and writing. So whoever writes again takes its own younger [copies](candidate) away. The oldest is the one that stays,
//! whoever looks, so that two who do this at once never take away both. Where nothing is left to be said, both stay.
//!
//! One repository may know phileas as several accounts: an App's service, a workflow's token, a person's. What one of
//! them wrote another takes over, where nobody could have forged it who gains by it:
//!
//! - the comment is framed as ours is: the heading is the first line and the marker the whole last one. A quotation, or
//!   words beside a copied marker, are somebody else's;
//! - a bot wrote it, which speaks only where somebody in charge let it in, but not Jules, which says what an agent thinks
//!   up; or a person who may write to the repository at this moment. GitHub lets both edit every comment on it, ours as
//!   well, so that a forged one gives them nothing that they do not have. Being a member, or having been invited to read,
//!   is too little: its author could rewrite what we say.
//!
//! The number that the ledger knows proves nothing and only chooses among these: whoever can put a wrong one there could
//! otherwise make us write over a stranger's words. Where GitHub does not let this account edit the other's, it writes
//! its own, and the ledger hands that number over to all.

mod candidate;

use std::collections::BTreeMap;
use std::time::Duration;

use http::StatusCode;
use phileas_domain::engine::LABEL_PREFIX;
use serde::Deserialize;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::OWN_COMMENTS;
use crate::adapters::github::http::request::success;
use crate::adapters::github::http::retry::Nature;
use crate::adapters::github::http::{error, routes};
use crate::adapters::github::wire::issue::Created;
use crate::adapters::github::wire::present;
use crate::adapters::github::wire::subject::Thread;
use crate::adapters::stopwatch::SystemStopwatch;
use crate::runtime::ports::{Disposition, Failure, Stopwatch};
use candidate::{Author, Candidate, Ours};

/// How many pages of comments are looked through, newest first; each holds 100.
const MAX_PAGES: usize = 10;
/// How many people are asked for who may have written one of them.
const MAX_PEOPLE: usize = 5;
/// The waits before looking again for what may have been written: replicas lag.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// The waits before a comment that was written once and is not listed counts as deleted.
const LOOKS_FOR_KNOWN: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(8),
];
/// How many copies are taken away in one go. What is left waits for the next time.
const MAX_COPIES: usize = 3;
const WHAT: &str = "POST /graphql (OwnComments)";
/// For so long after a comment was written to, what it says is taken to stand there. Whoever was held up for longer takes
/// nothing away: somebody may have deleted that comment, and a copy be what another replica writes to since.
const STANDS: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct Found {
    #[serde(deserialize_with = "present")]
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(deserialize_with = "present")]
    thread: Option<Thread>,
}

/// What was found on a thread.
struct Candidates {
    found: Vec<Candidate>,
    /// Whether there are more comments than are looked through.
    cut: bool,
    /// Whether the known one was among all comments that were looked through, whosever it is.
    is_known_listed: bool,
}

impl Client {
    pub(crate) async fn look_with_eyes(
        &self,
        thread: u64,
        comment: Option<u64>,
    ) -> Result<(), Failure> {
        let (route, id) = match comment {
            Some(comment) => (routes::REACT_TO_COMMENT, comment),
            None => (routes::REACT, thread),
        };
        let wish = json!({ "content": "eyes" });
        success(route, self.write(route, &[&id.to_string()], &wish).await?).map(drop)
    }

    pub(crate) async fn take_off_label(&self, thread: u64, label: &str) -> Result<(), Failure> {
        let route = routes::REMOVE_LABEL;
        if !label.to_ascii_lowercase().starts_with(LABEL_PREFIX) {
            let said = format!("`{label}` is not a label of ours");
            return Err(error::plain(route, &said, Disposition::Refused));
        }
        let values = [&*thread.to_string(), label];
        let answer = self.rest(route, &values, "", Nature::Write, None).await?;
        // It is off already.
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        success(route, answer).map(drop)
    }

    pub(crate) async fn tell_status_once(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        let ours = self.our_comment(thread, known, marker, body).await?;
        if let Some(id) = self.write_over(ours, thread, marker, body).await? {
            return Ok(id);
        }
        let wish = json!({ "body": body });
        let route = routes::CREATE_COMMENT;
        let failure = match self.write(route, &[&thread.to_string()], &wish).await {
            Ok(answer) => {
                let answer = success(route, answer)?;
                let created: Created = self.parse(route, &answer)?;
                return Ok(created.id);
            }
            Err(failure) => failure,
        };
        if failure.disposition == Disposition::Unknown {
            for wait in LOOKS {
                self.pause.pause(wait).await;
                match self.our_comment(thread, known, marker, body).await {
                    Ok(Some(one)) if one.says_it => return Ok(one.id),
                    // Another replica has written one as well, and sooner.
                    Ok(Some(one)) => {
                        let told = self.write_over(Some(one), thread, marker, body).await;
                        return told?.ok_or(failure);
                    }
                    Ok(None) | Err(_) => {}
                }
            }
        }
        Err(failure)
    }

    /// Makes the comment of ours say this, or the next one where that is not to be; `None` where there is none.
    async fn write_over(
        &self,
        mut ours: Option<Ours>,
        thread: u64,
        marker: &str,
        body: &str,
    ) -> Result<Option<u64>, Failure> {
        let wish = json!({ "body": body });
        let route = routes::UPDATE_COMMENT;
        let mut is_second = false;
        while let Some(one) = ours.take() {
            let watch = SystemStopwatch::default();
            let id = one.id.to_string();
            let answer = self.write_if_allowed(route, &[&id], &wish).await;
            // A token that is refused altogether, as for a moment while it is renewed, says nothing of this comment.
            let is_forbidden = answer
                .as_ref()
                .is_ok_and(|answer| answer.status == StatusCode::FORBIDDEN);
            match answer.and_then(|answer| success(route, answer)) {
                Ok(_) => {
                    self.take_away(&one.copies, &watch).await;
                    return Ok(Some(one.id));
                }
                // It is another account's, and this one may not edit it.
                Err(_) if !one.own && is_forbidden => {
                    ours = self.own_comment(thread, marker, body).await?;
                }
                // Another replica has just taken this copy away.
                Err(failure) if !is_second && failure.disposition == Disposition::NotFound => {
                    is_second = true;
                    ours = self.our_comment(thread, None, marker, body).await?;
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

    /// What was to be said is said by now, so that a failure here is none of the tick's: the next time tries again.
    async fn take_away(&self, copies: &[u64], since: &impl Stopwatch) {
        let route = routes::DELETE_COMMENT;
        for id in copies.iter().take(MAX_COPIES) {
            if since.elapsed() >= STANDS {
                return;
            }
            let number = id.to_string();
            let answer = self.rest(route, &[&number], "", Nature::Write, None).await;
            match answer.and_then(|answer| success(route, answer)) {
                Ok(_) => tracing::info!(
                    comment = id,
                    "a younger copy of a comment of ours is deleted"
                ),
                Err(failure) if failure.disposition == Disposition::NotFound => {}
                Err(failure) => {
                    tracing::warn!(comment = id, %failure, "a copy of a comment of ours stays for now");
                    return;
                }
            }
        }
    }

    /// The comment of ours that carries the marker: the known one, or else the oldest.
    async fn our_comment(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> Result<Option<Ours>, Failure> {
        let mut waits = LOOKS_FOR_KNOWN.iter();
        let Candidates { mut found, cut, .. } = loop {
            let candidates = self.candidates(thread, known, marker, body).await?;
            let is_missing = known.is_some() && !candidates.is_known_listed && !candidates.cut;
            match waits.next() {
                Some(wait) if is_missing && candidates.found.is_empty() => {
                    self.pause.pause(*wait).await;
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
            return Ok(Some(Ours::of(one, &found)));
        }
        if cut {
            let said =
                format!("#{thread} has too many comments to tell whether one of them is ours");
            return Err(error::plain(WHAT, &said, Disposition::Refused));
        }
        Ok(None)
    }

    /// The oldest one that this very account wrote.
    async fn own_comment(
        &self,
        thread: u64,
        marker: &str,
        body: &str,
    ) -> Result<Option<Ours>, Failure> {
        let candidates = self.candidates(thread, None, marker, body).await?;
        let own = candidates
            .found
            .iter()
            .filter(|one| one.author == Author::Viewer);
        let oldest = own.min_by_key(|one| one.id);
        Ok(oldest.map(|one| Ours::of(one, &candidates.found)))
    }

    /// All comments that may be ours, on pages that are read until the known one is there.
    async fn candidates(
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
                .query::<Found>("OwnComments", OWN_COMMENTS, &variables, |_| false)
                .await?;
            let gone = |said| error::told(WHAT, &reply.answer, Disposition::NotFound, said);
            let repository = reply.data.repository;
            let repository = repository.ok_or_else(|| gone("the repository is gone"))?;
            let thread = repository.thread;
            let thread = thread.ok_or_else(|| gone("the issue or pull request is gone"))?;
            let comments = thread.comments;
            for one in comments.nodes.into_iter().flatten() {
                is_known_listed |= known_digits.is_some() && one.full_database_id == known_digits;
                found.extend(Candidate::of(one, marker, body));
            }
            // Another's must still be looked into, and may not be ours after all.
            let is_there =
                |one: &Candidate| Some(one.id) == known && !matches!(one.author, Author::Person(_));
            let page = comments.page_info;
            let before = page.start_cursor.filter(|_| page.has_previous_page);
            let Some(before) = before.filter(|_| !found.iter().any(is_there)) else {
                return Ok(Candidates {
                    found,
                    cut: false,
                    is_known_listed,
                });
            };
            variables["before"] = before.into();
        }
        Ok(Candidates {
            found,
            cut: true,
            is_known_listed,
        })
    }
}

#[cfg(test)]
mod tests;
