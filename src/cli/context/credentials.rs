//! The credentials of the environment. Secrets are read from variables and files only, never from arguments.

use secrecy::{ExposeSecret as _, SecretString};

use super::credential_help::{has_secret, variable_name};
use super::env_var::env_value;
use crate::adapters::github::{self, App, Credential, Token};
use crate::adapters::jules::{self, JulesKey};
use crate::cli::exit::CliError;
use crate::server::accounts::app::{APP_ID, APP_KEY, OTHER_TOKEN, TOKEN, is_app_id};
use crate::server::config::{read_secret, secret_origin};

/// The Jules key of the environment.
pub(crate) fn jules_key() -> Result<JulesKey, CliError> {
    let refused = |error: jules::key::KeyError| CliError::credential(error.to_string());
    if let Some(key) = jules_key_from_file()? {
        return JulesKey::new(key.expose_secret()).map_err(refused);
    }
    let (key, warning) = JulesKey::from_variables(env_value).map_err(refused)?;
    log_warning(warning);
    Ok(key)
}

/// The Jules key in the file that `JULES_API_KEY_FILE` names, if it is set.
pub(crate) fn jules_key_from_file() -> Result<Option<SecretString>, CliError> {
    if env_value(&format!("{}_FILE", jules::key::VARIABLE)).is_none() {
        return Ok(None);
    }
    read_secret(jules::key::VARIABLE, env_value)
        .map_err(|error| CliError::credential(error.to_string()))
}

/// Whether a variable holds a GitHub credential.
pub(crate) fn has_github_credential() -> bool {
    [APP_ID, APP_KEY, TOKEN, OTHER_TOKEN]
        .into_iter()
        .any(has_secret)
}

/// Whether a variable holds a Jules key.
pub(crate) fn has_jules_key() -> bool {
    has_secret(jules::key::VARIABLE) || env_value(jules::key::OLD_VARIABLE).is_some()
}

pub(crate) fn log_warning(warning: Option<String>) {
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
    }
}

/// The GitHub credential of this process. Each secret may be in a file that its variable with `_FILE` names.
pub(crate) fn github_credential() -> Result<Credential, CliError> {
    let refused = |name: &str, error: github::CredentialError| {
        CliError::credential(format!("{}: {error}", secret_origin(name, env_value)))
    };
    let half = |set: &str, missing: &str| {
        CliError::credential(format!(
            "{set} is set and {missing} is not; set both ({APP_KEY}_FILE names a file with the key), or neither of them \
             and GITHUB_TOKEN"
        ))
    };
    match (env_value(APP_ID), read_secret(APP_KEY, env_value)?) {
        (Some(id), Some(key)) => {
            if !is_app_id(id.trim()) {
                return Err(CliError::credential(format!(
                    "{APP_ID} is neither an App's number nor its client id (`Iv…`); both stand on the App's page on GitHub"
                )));
            }
            let app = App::new(&id, key.expose_secret());
            return app
                .map(Credential::App)
                .map_err(|error| refused(APP_KEY, error));
        }
        (Some(_), None) => return Err(half(APP_ID, APP_KEY)),
        (None, Some(_)) => return Err(half(&variable_name(APP_KEY), APP_ID)),
        (None, None) => {}
    }
    for name in [TOKEN, OTHER_TOKEN] {
        let Some(token) = read_secret(name, env_value)? else {
            continue;
        };
        let token = Token::new(token.expose_secret()).map_err(|error| refused(name, error))?;
        let in_workflow = env_value("GITHUB_ACTIONS").is_some();
        return Ok(if in_workflow {
            Credential::WorkflowToken(token)
        } else {
            Credential::Token(token)
        });
    }
    Err(CliError::credential(
        "there is no GitHub credential; set GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY (or the same names \
         with _FILE, for files with these secrets)",
    ))
}
