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
    pub(crate) fn verdict(&self) -> Checks {
        match self.state.as_str() {
            "SUCCESS" => Checks::Green,
            "FAILURE" | "ERROR" => Checks::Red,
            // What is not known yet is not green.
            _ => Checks::Pending,
        }
    }
}

/// The account that has opened an issue, or written a comment.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Opener {
    #[serde(rename = "__typename")]
    pub(crate) kind: String,
    /// Left out where it was not asked for.
    #[serde(default)]
    pub(crate) login: Option<String>,
}

impl Opener {
    /// Whether phileas may have been this account, under this name or another: Apps and workflows open issues only where
    /// they were given the right to, and the token of another person was one of this repository's own people. A stranger
    /// may copy a marker, and whoever triages may set its label.
    pub(crate) fn may_be_ours(opener: Option<&Self>, standing: &str) -> bool {
        let is_bot = opener.is_some_and(|opener| opener.kind == "Bot");
        is_bot || ["OWNER", "MEMBER", "COLLABORATOR"].contains(&standing)
    }
}

/// Who has committed a commit, by what it says itself.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Committer {
    #[serde(default)]
    email: Option<String>,
}

impl Committer {
    /// Whether it is the account of Jules' App: GitHub gives it an address of its own.
    /// <https://docs.github.com/en/account-and-profile/reference/email-addresses-reference>
    pub(crate) fn is_jules(&self) -> bool {
        let email = self.email.as_deref().unwrap_or_default();
        email.ends_with("google-labs-jules[bot]@users.noreply.github.com")
    }
}
