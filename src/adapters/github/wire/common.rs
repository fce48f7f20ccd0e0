//! Parts of answers that several reads have in common.

use phileas_domain::engine::Checks;
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Rollup {
    pub(crate) state: String,
}

impl Rollup {
    pub(crate) fn checks_verdict(&self) -> Checks {
        match self.state.as_str() {
            "SUCCESS" => Checks::Passed,
            "FAILURE" | "ERROR" => Checks::Failed,
            // An unknown state is not green.
            _ => Checks::Pending,
        }
    }
}

/// The account that opened an issue or wrote a comment.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Opener {
    #[serde(rename = "__typename")]
    pub(crate) kind: String,
    /// Absent if it was not queried.
    #[serde(default)]
    pub(crate) login: Option<String>,
}

impl Opener {
    /// Whether phileas may have used this account before. Apps and workflows open issues only with permission, and a
    /// person's token belonged to a member of this repository. An unauthorized user may copy a marker, and a person
    /// with triage permission may set the label.
    pub(crate) fn may_be_phileas(opener: Option<&Self>, standing: &str) -> bool {
        let is_bot = opener.is_some_and(|opener| opener.kind == "Bot");
        is_bot || ["OWNER", "MEMBER", "COLLABORATOR"].contains(&standing)
    }
}

/// The committer that a commit names.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Committer {
    #[serde(default)]
    email: Option<String>,
}

impl Committer {
    /// Whether it is the account of Jules' App, by the e-mail address that GitHub gives to it.
    /// <https://docs.github.com/en/account-and-profile/reference/email-addresses-reference>
    pub(crate) fn is_jules(&self) -> bool {
        let email = self.email.as_deref().unwrap_or_default();
        email.ends_with("google-labs-jules[bot]@users.noreply.github.com")
    }

    /// Whether it is the account of an App, by that address.
    pub(crate) fn is_bot(&self) -> bool {
        let email = self.email.as_deref().unwrap_or_default();
        email.ends_with("[bot]@users.noreply.github.com")
    }
}
