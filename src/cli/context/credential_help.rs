//! Which variables hold a credential, and how to replace a refused one.

use super::env_var::env_value;
use crate::adapters::github::TOKEN_RIGHTS;
use crate::adapters::jules;
use crate::runtime::ports::{Disposition, Failure};
use crate::server::accounts::app::{APP_ID, APP_KEY, OTHER_TOKEN, TOKEN};

/// The variable that is set for a secret: its own, or the one with `_FILE`.
pub(crate) fn variable_name(name: &str) -> String {
    let file = format!("{name}_FILE");
    if env_value(&file).is_some() {
        file
    } else {
        name.to_owned()
    }
}

pub(crate) fn has_secret(name: &str) -> bool {
    env_value(name).is_some() || env_value(&format!("{name}_FILE")).is_some()
}

/// The variables of the GitHub credential.
pub(crate) fn github_variables() -> String {
    if env_value(APP_ID).is_some() {
        format!("{APP_ID} and {}", variable_name(APP_KEY))
    } else if has_secret(TOKEN) {
        variable_name(TOKEN)
    } else {
        variable_name(OTHER_TOKEN)
    }
}

/// How to replace a refused Jules key.
pub(crate) fn jules_key_help() -> String {
    let name = if has_secret(jules::key::VARIABLE) {
        variable_name(jules::key::VARIABLE)
    } else {
        jules::key::OLD_VARIABLE.to_owned()
    };
    format!(
        "the Jules key came from {name}; make a new one at jules.google.com/settings#api, and set it there"
    )
}

/// How to fix a call that failed because of its credential, or because the credential cannot see the repository.
pub(crate) fn credential_help(failure: &Failure) -> Option<String> {
    let of_github = failure.is_of_github();
    match failure.disposition {
        Disposition::Denied if of_github => Some(format!(
            "the credential came from {}; set one that is valid and has these permissions for the repository: {TOKEN_RIGHTS}",
            github_variables()
        )),
        Disposition::Denied => Some(jules_key_help()),
        Disposition::NotFound if of_github => Some(format!(
            "check the name, and that the credential from {} may read the repository",
            github_variables()
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied_by(detail: &str) -> String {
        let failure = Failure {
            disposition: Disposition::Denied,
            detail: detail.to_owned(),
        };
        credential_help(&failure).unwrap()
    }

    #[test]
    fn an_answer_that_names_the_other_service_changes_nothing() {
        let of_jules = "no (GitHub: x) (status 403) (Jules: GET /v1alpha/sources)";
        assert!(denied_by(of_jules).starts_with("the Jules key"));
        let of_github = "no (Jules: x) (GitHub: POST /graphql (Observe): 401)";
        assert!(denied_by(of_github).starts_with("the credential"));
    }
}
