//! Which variables a credential came from, and how a person replaces one that is refused.

use super::env_var::variable;
use crate::adapters::jules;
use crate::runtime::ports::{Disposition, Failure};
use crate::server::accounts::app::{APP_ID, APP_KEY, OTHER_TOKEN, TOKEN};

/// The variable of a secret that is set: its own, or the one with `_FILE`.
pub(crate) fn name_of(name: &str) -> String {
    let file = format!("{name}_FILE");
    if variable(&file).is_some() {
        file
    } else {
        name.to_owned()
    }
}

pub(crate) fn has_secret(name: &str) -> bool {
    variable(name).is_some() || variable(&format!("{name}_FILE")).is_some()
}

/// The variables that the GitHub credential came from.
pub(crate) fn github_variables() -> String {
    if variable(APP_ID).is_some() {
        format!("{APP_ID} and {}", name_of(APP_KEY))
    } else if has_secret(TOKEN) {
        name_of(TOKEN)
    } else {
        name_of(OTHER_TOKEN)
    }
}

/// How a person mends a Jules key that is refused.
pub(crate) fn mend_of_jules_key() -> String {
    let name = if has_secret(jules::key::VARIABLE) {
        name_of(jules::key::VARIABLE)
    } else {
        jules::key::OLD_VARIABLE.to_owned()
    };
    format!(
        "the Jules key came from {name}; make a new one at jules.google.com/settings#api, and set it there"
    )
}

/// How a person mends a call that failed for its credential, or because what it names is not to be seen.
pub(crate) fn mend_of(failure: &Failure) -> Option<String> {
    let of_github = failure.detail.starts_with("GitHub");
    match failure.disposition {
        Disposition::Denied if of_github => Some(format!(
            "the credential came from {}; set one that is valid and may read and write contents and issues of the repository",
            github_variables()
        )),
        Disposition::Denied => Some(mend_of_jules_key()),
        Disposition::NotFound if of_github => Some(format!(
            "either the repository's name is wrong, or the credential from {} may not see it",
            github_variables()
        )),
        _ => None,
    }
}
