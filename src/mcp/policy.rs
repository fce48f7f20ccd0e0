//! Decides which repositories a client may use, and whether it may change anything.

use std::str::FromStr;

use phileas_domain::model::RepositoryName;

use super::tool_error::ToolError;

/// The most repositories that an error lists.
const SHOWN: usize = 10;

/// What this server allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whether nothing may be changed: tools that write are then not offered.
    pub read_only: bool,
    /// The repositories that a client may see and use. Empty: every one that the credentials reach.
    pub allowed: Vec<Allowed>,
}

/// A repository, or all of an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// `owner/name`.
    One(RepositoryName),
    /// `owner/*`, in lower case.
    AllOf(String),
}

/// A text that names no repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no repository; write `owner/name`, or `owner/*` for all of an owner")]
pub struct NotAllowed(String);

impl FromStr for Allowed {
    type Err = NotAllowed;

    fn from_str(text: &str) -> Result<Self, NotAllowed> {
        let text = text.trim();
        if let Some(owner) = text.strip_suffix("/*") {
            // An owner is valid if it makes a valid repository name.
            return match format!("{owner}/x").parse::<RepositoryName>() {
                Ok(_) => Ok(Self::AllOf(owner.to_ascii_lowercase())),
                Err(_) => Err(NotAllowed(text.to_owned())),
            };
        }
        text.parse()
            .map(Self::One)
            .map_err(|_| NotAllowed(text.to_owned()))
    }
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(name) => name.fmt(f),
            Self::AllOf(owner) => write!(f, "{owner}/*"),
        }
    }
}

impl Policy {
    /// Whether a repository may be seen and worked on.
    #[must_use]
    pub fn is_allowed(&self, repository: &RepositoryName) -> bool {
        self.allowed.is_empty()
            || self.allowed.iter().any(|allowed| match allowed {
                Allowed::One(name) => name == repository,
                Allowed::AllOf(owner) => repository
                    .to_string()
                    .split_once('/')
                    .is_some_and(|(of, _)| of.eq_ignore_ascii_case(owner)),
            })
    }

    /// Whether a client may see something of this repository. Something without a repository is
    /// visible only if every repository is.
    #[must_use]
    pub fn is_visible(&self, repository: Option<&RepositoryName>) -> bool {
        repository.map_or(self.allowed.is_empty(), |name| self.is_allowed(name))
    }

    /// Parses a repository that a client wrote.
    ///
    /// # Errors
    ///
    /// When it is no name, or is not allowed here.
    pub fn parse_repository(&self, text: &str) -> Result<RepositoryName, ToolError> {
        let name: RepositoryName = text.trim().parse().map_err(|_| {
            ToolError::input(format!("`{text}` names no repository; write `owner/name`"))
        })?;
        if self.is_allowed(&name) {
            Ok(name)
        } else {
            Err(self.refusal_error(&format!("{name} is not among the repositories")))
        }
    }

    /// The error for a repository that is not allowed.
    #[must_use]
    pub fn refusal_error(&self, what: &str) -> ToolError {
        let shown: Vec<String> = self
            .allowed
            .iter()
            .take(SHOWN)
            .map(ToString::to_string)
            .collect();
        let more = if self.allowed.len() > SHOWN {
            ", …"
        } else {
            ""
        };
        ToolError::new(format!(
            "{what} that this server was started for ({}{more}); a person can start it with another `--allow`",
            shown.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allowed: &[&str]) -> Policy {
        Policy {
            allowed: allowed.iter().map(|text| text.parse().unwrap()).collect(),
            ..Policy::default()
        }
    }

    #[test]
    fn what_is_not_allowed_is_refused_by_name() {
        let one = policy(&["acme/widget", "umbrella/*"]);
        for text in ["acme/widget", "Acme/Widget", "UMBRELLA/any"] {
            assert!(one.parse_repository(text).is_ok(), "{text}");
        }
        for text in ["acme/gadget", "acme/widget-2", "umbrellas/any"] {
            let trouble = one.parse_repository(text).unwrap_err().to_string();
            assert!(trouble.contains("acme/widget, umbrella/*"), "{trouble}");
        }
        assert!(one.parse_repository("nonsense").is_err());
        assert!(policy(&[]).parse_repository("any/thing").is_ok());
    }

    #[test]
    fn what_works_on_nothing_is_shown_only_where_everything_is() {
        assert!(policy(&[]).is_visible(None));
        assert!(!policy(&["acme/*"]).is_visible(None));
    }

    #[test]
    fn what_names_no_repository_is_refused() {
        for text in ["", "acme", "/*", "*/*", "acme/widget/x", "a b/*"] {
            assert!(text.parse::<Allowed>().is_err(), "{text}");
        }
    }
}
