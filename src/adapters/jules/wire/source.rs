//! Repositories that Jules may work on.

use serde::Deserialize;

use super::lenient::{defaulted, if_readable, text};

/// A repository on which the Jules GitHub App is installed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// `sources/github/owner/repository`.
    #[serde(deserialize_with = "text")]
    pub name: String,
    /// The name without its first segment.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// The repository.
    #[serde(deserialize_with = "if_readable")]
    pub github_repo: Option<GitHubRepo>,
}

/// A source's repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GitHubRepo {
    /// The account that owns it, in the case that Jules stored.
    #[serde(deserialize_with = "text")]
    pub owner: String,
    /// Its name, in the case that Jules stored.
    #[serde(deserialize_with = "text")]
    pub repo: String,
    /// Whether it is private.
    #[serde(deserialize_with = "defaulted")]
    pub is_private: bool,
    /// Its default branch.
    #[serde(deserialize_with = "if_readable")]
    pub default_branch: Option<Branch>,
    /// Its branches; more than five hundred were seen on one repository.
    #[serde(deserialize_with = "defaulted")]
    pub branches: Vec<Branch>,
}

/// A branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Branch {
    /// Its name, without `refs/heads/`.
    #[serde(deserialize_with = "text")]
    pub display_name: String,
}
