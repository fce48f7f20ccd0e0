//! What people may do, at this very moment: an event tells what they might do when it happened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::Permission;
use phileas_domain::model::{Login, RepositoryName};

use super::request::success;
use super::wire::subject;
use super::{Client, routes};
use crate::runtime::ports::Failure;

/// What the login of an App ends in.
const BOT: &str = "[bot]";
/// How long it is remembered that an account may not write. Somebody who was given the right meanwhile waits so long.
const REFUSAL_KEPT: SignedDuration = SignedDuration::from_mins(15);
/// How many of these are remembered in all repositories of an account; the one that ends first is forgotten.
const MAX_REFUSALS: usize = 20_000;

/// Accounts that may not write, by repository, and until when that is remembered. It spares a look at each of them at each
/// tick while their comments are new; whether somebody may write is asked each time.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<BTreeMap<(String, Login), Timestamp>>);

impl Refusals {
    fn note(&self, repository: &RepositoryName, login: &Login, writes: bool, now: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (repository.to_string(), login.clone());
        if writes {
            known.remove(&key);
            return;
        }
        if known.len() >= MAX_REFUSALS {
            known.retain(|_, until| *until > now);
        }
        if known.len() >= MAX_REFUSALS
            && let Some(first) = known.iter().min_by_key(|(_, until)| **until)
        {
            let first = first.0.clone();
            known.remove(&first);
        }
        known.insert(key, now.checked_add(REFUSAL_KEPT).unwrap_or(now));
    }

    /// Those of a repository.
    pub(super) fn of(&self, repository: &RepositoryName, now: Timestamp) -> BTreeSet<Login> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = repository.to_string();
        let of_it = known
            .iter()
            .filter(|((of, _), until)| *of == name && **until > now);
        of_it.map(|((_, login), _)| login.clone()).collect()
    }
}

impl Client {
    /// Whether a person may write to the repository now. Somebody whom GitHub does not know may not, nor may an App:
    /// what one may do is its installation's matter, and nobody allowed it to ask for work.
    ///
    /// # Errors
    ///
    /// When GitHub does not answer, or not to this credential.
    pub async fn may_write(&self, login: &str) -> Result<bool, Failure> {
        if login.ends_with(BOT) {
            return Ok(false);
        }
        Ok(self.permission_of(&login.into()).await?.writes)
    }

    pub(in super::super) async fn permission_of(
        &self,
        login: &Login,
    ) -> Result<Permission, Failure> {
        let permission = self.permission_once(login).await?;
        let now = self.pause.now();
        self.refusals
            .note(&self.place.name(), login, permission.writes, now);
        Ok(permission)
    }

    async fn permission_once(&self, login: &Login) -> Result<Permission, Failure> {
        let route = routes::READ_PERMISSION;
        let answer = self.read(route, &[login.as_str()], "").await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(Permission {
                id: None,
                writes: false,
            });
        }
        let answer = success(route, answer)?;
        let found: subject::Permission = self.parse(route, &answer)?;
        Ok(Permission {
            id: found.user.map(|user| user.id),
            // The older field knows four words and maps every role onto one of them, those that an organisation made
            // for itself as well: `maintain` reads `write`, `triage` reads `read`.
            writes: matches!(found.permission.as_str(), "admin" | "write"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::super::scripted::{json, set};
    use super::*;
    use crate::runtime::ports::Disposition;

    async fn permission(status: u16, body: Value) -> Result<Permission, Failure> {
        let set = set([json(status, &body)]);
        set.client.permission_of(&"ada".into()).await
    }

    #[tokio::test]
    async fn who_may_not_write_is_remembered_for_a_while_and_a_writer_is_not() {
        let body = |word: &str| value!({ "permission": word, "user": { "id": 5 } });
        let answers = ["read", "write", "read", "write"].map(|word| json(200, &body(word)));
        let set = set(answers);
        let name = "acme/widget".parse().unwrap();
        let refused = || {
            let known = set.client.refusals.of(&name, set.client.pause.now());
            known
                .iter()
                .map(|login| login.to_string())
                .collect::<Vec<_>>()
        };
        for login in ["eve", "ada", "mallory"] {
            set.client.permission_of(&login.into()).await.unwrap();
        }
        assert_eq!(refused(), ["eve", "mallory"]);
        let other = "acme/other".parse().unwrap();
        assert!(
            set.client
                .refusals
                .of(&other, set.client.pause.now())
                .is_empty()
        );
        set.client.permission_of(&"eve".into()).await.unwrap();
        assert_eq!(refused(), ["mallory"], "she was given the right");
        set.clock.pass(std::time::Duration::from_secs(15 * 60));
        assert_eq!(refused(), [""; 0]);
    }

    #[test]
    fn so_many_are_remembered_and_no_more() {
        let refusals = Refusals::default();
        let name = "acme/widget".parse().unwrap();
        let now: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        for number in 0..MAX_REFUSALS + 10 {
            refusals.note(&name, &format!("u{number}").as_str().into(), false, now);
        }
        assert_eq!(refusals.of(&name, now).len(), MAX_REFUSALS);
    }

    #[tokio::test]
    async fn r5_only_what_github_calls_writing_is_writing() {
        for (word, writes) in [
            ("admin", true),
            ("write", true),
            ("read", false),
            ("none", false),
            ("triage", false),
        ] {
            let body = value!({ "permission": word, "role_name": "x", "user": { "id": 5 } });
            let found = permission(200, body).await.unwrap();
            assert_eq!((found.id, found.writes), (Some(5), writes), "{word}");
        }
        let gone = permission(404, value!({ "message": "ada is not a user" }));
        assert!(!gone.await.unwrap().writes);
        let nobody = value!({ "permission": "write", "user": null });
        assert_eq!(permission(200, nobody).await.unwrap().id, None);
        let denied = permission(403, value!({ "message": "Resource not accessible" }));
        assert_eq!(denied.await.unwrap_err().disposition, Disposition::Denied);
    }
}
