//! What people may do, at this very moment: an event tells what they might do when it happened.

use secrecy::SecretString;
use serde::Deserialize;

use super::request::success;
use super::{Client, routes};
use crate::runtime::ports::{Disposition, Failure};

/// What the login of an App ends in.
const BOT: &str = "[bot]";

#[derive(Deserialize)]
struct Permission {
    /// `admin`, `write`, `read` or `none`; roles with other names are told by the one of these that they build on.
    permission: String,
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
        let route = routes::READ_PERMISSION;
        let answer = match self.read(route, &[login], "").await {
            Ok(answer) => success(route, answer),
            Err(failure) => Err(failure),
        };
        match answer {
            Ok(answer) => {
                let found: Permission = self.parse(route, &answer)?;
                Ok(matches!(found.permission.as_str(), "admin" | "write"))
            }
            Err(failure) if failure.disposition == Disposition::NotFound => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The token that this client has minted for itself, for whoever must keep it out of a log that others can read.
    /// `None`: it uses one that it was given.
    ///
    /// # Errors
    ///
    /// When none can be minted.
    pub async fn minted_token(&self) -> Result<Option<SecretString>, Failure> {
        let token = self.tokens.minted(self).await?;
        Ok(token.map(|token| token.secret().clone()))
    }
}
