//! The credentials of the environment. Secrets are read from variables and files only, never from arguments.

use secrecy::{ExposeSecret as _, SecretString};

use super::credential_help::{has_secret, name_of};
use super::env_var::variable;
use crate::adapters::github::{self, App, Credential, Token};
use crate::adapters::jules::{self, JulesKey};
use crate::cli::exit::Stopped;
use crate::server::accounts::app::{APP_ID, APP_KEY, OTHER_TOKEN, TOKEN, is_app_id};
use crate::server::config::{origin, secret};

/// The Jules key of the environment.
pub(crate) fn jules_key() -> Result<JulesKey, Stopped> {
    let refused = |error: jules::key::KeyError| Stopped::credential(error.to_string());
    if let Some(key) = jules_key_of_file()? {
        return JulesKey::new(key.expose_secret()).map_err(refused);
    }
    let (key, warning) = JulesKey::from_variables(variable).map_err(refused)?;
    warn(warning);
    Ok(key)
}

/// The Jules key, where a file holds it that `JULES_API_KEY_FILE` names.
pub(crate) fn jules_key_of_file() -> Result<Option<SecretString>, Stopped> {
    if variable(&format!("{}_FILE", jules::key::VARIABLE)).is_none() {
        return Ok(None);
    }
    secret(jules::key::VARIABLE, variable).map_err(|error| Stopped::credential(error.to_string()))
}

/// Whether a variable holds a credential of GitHub.
pub(crate) fn has_github_credential() -> bool {
    [APP_ID, APP_KEY, TOKEN, OTHER_TOKEN]
        .into_iter()
        .any(has_secret)
}

/// Whether a variable holds a Jules key.
pub(crate) fn has_jules_key() -> bool {
    has_secret(jules::key::VARIABLE) || variable(jules::key::OLD_VARIABLE).is_some()
}

pub(crate) fn warn(warning: Option<String>) {
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
}

/// Who this process is to GitHub. Each secret may stand in a file that its variable with `_FILE` names.
pub(crate) fn credential() -> Result<Credential, Stopped> {
    let refused = |name: &str, error: github::CredentialError| {
        Stopped::credential(format!("{}: {error}", origin(name, variable)))
    };
    let half = |set: &str, missing: &str| {
        Stopped::credential(format!(
            "{set} is set and {missing} is not; set both ({APP_KEY}_FILE names a file with the key), or neither of them \
             and GITHUB_TOKEN"
        ))
    };
    match (variable(APP_ID), secret(APP_KEY, variable)?) {
        (Some(id), Some(key)) => {
            if !is_app_id(id.trim()) {
                return Err(Stopped::credential(format!(
                    "{APP_ID} is neither an App's number nor its client id (`Iv…`); both stand on the App's page on GitHub"
                )));
            }
            let app = App::new(&id, key.expose_secret());
            return app
                .map(Credential::App)
                .map_err(|error| refused(APP_KEY, error));
        }
        (Some(_), None) => return Err(half(APP_ID, APP_KEY)),
        (None, Some(_)) => return Err(half(&name_of(APP_KEY), APP_ID)),
        (None, None) => {}
    }
    for name in [TOKEN, OTHER_TOKEN] {
        let Some(token) = secret(name, variable)? else {
            continue;
        };
        let token = Token::new(token.expose_secret()).map_err(|error| refused(name, error))?;
        let in_workflow = variable("GITHUB_ACTIONS").is_some();
        return Ok(if in_workflow {
            Credential::WorkflowToken(token)
        } else {
            Credential::Token(token)
        });
    }
    Err(Stopped::credential(
        "there is no GitHub credential; set GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY (or the same names \
         with _FILE, for files with these secrets)",
    ))
}
