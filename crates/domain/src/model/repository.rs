//! `owner/name`.

use std::fmt;
use std::str::FromStr;

/// A repository's full name. Equality ignores ASCII case, as GitHub and Jules do.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct RepositoryName {
    /// The account that owns it.
    pub owner: String,
    /// Its name in that account.
    pub name: String,
}

/// Why a text is not `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a repository name; write it as `owner/name`")]
pub struct RepositoryNameError {
    /// The text as given.
    pub text: String,
}

impl FromStr for RepositoryName {
    type Err = RepositoryNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || RepositoryNameError {
            text: text.to_owned(),
        };
        let (owner, name) = text.split_once('/').ok_or_else(wrong)?;
        let legal = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part.len() <= 100
                && part
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        if legal(owner) && legal(name) {
            Ok(Self {
                owner: owner.to_owned(),
                name: name.to_owned(),
            })
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl PartialEq for RepositoryName {
    fn eq(&self, other: &Self) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }
}

impl Eq for RepositoryName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_name() {
        for wrong in ["", "a", "a/", "/b", "a/b/c", "a/..", "a b/c"] {
            assert!(wrong.parse::<RepositoryName>().is_err(), "{wrong}");
        }
        assert_eq!(
            "Acme/Widget".parse::<RepositoryName>().unwrap(),
            "acme/widget".parse().unwrap()
        );
    }
}
