//! Reads what a person may do now. An event's payload only says what they could do when it happened.

use http::StatusCode;
use phileas_domain::engine::Permission;
use phileas_domain::model::Login;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::adapters::github::wire::subject;
use crate::runtime::ports::Failure;

/// The suffix of an App's login.
const BOT: &str = "[bot]";

impl Client {
    /// Whether a person may write to the repository now. An unknown account may not, and neither may an App: its
    /// permissions belong to its installation, and no maintainer allowed it to request work.
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

    pub(crate) async fn permission_of(&self, login: &Login) -> Result<Permission, Failure> {
        let permission = self.permission_once(login).await?;
        let now = self.pause.now();
        self.refusal_cache.record_permission(
            &self.address.current_name(),
            login,
            permission.writes,
            now,
        );
        Ok(permission)
    }

    async fn permission_once(&self, login: &Login) -> Result<Permission, Failure> {
        let route = routes::READ_PERMISSION;
        let answer = self.read_route(route, &[login.as_str()], "").await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(Permission {
                id: None,
                writes: false,
            });
        }
        let answer = require_success(route, answer)?;
        let found: subject::Permission = self.parse(route, &answer)?;
        Ok(Permission {
            id: found.user.map(|user| user.id),
            // The `permission` field has four values, and GitHub maps every role onto one of them, custom roles
            // included: `maintain` becomes `write`, `triage` becomes `read`.
            writes: matches!(found.permission.as_str(), "admin" | "write"),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;
    use crate::adapters::github::scripted::{json, set};
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
            let known = set
                .client
                .refusal_cache
                .refused_logins(&name, set.client.pause.now());
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
                .refusal_cache
                .refused_logins(&other, set.client.pause.now())
                .is_empty()
        );
        set.client.permission_of(&"eve".into()).await.unwrap();
        assert_eq!(refused(), ["mallory"], "she was given the right");
        set.clock.pass(std::time::Duration::from_secs(15 * 60));
        assert_eq!(refused(), [""; 0]);
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
        let unknown = value!({ "permission": "write", "user": null });
        assert_eq!(permission(200, unknown).await.unwrap().id, None);
        let denied = permission(403, value!({ "message": "Resource not accessible" }));
        assert_eq!(denied.await.unwrap_err().disposition, Disposition::Denied);
    }
}
