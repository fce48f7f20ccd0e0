//! Changes to a source.

use serde::Deserialize;

use super::lenient::{defaulted, text};

/// Changes to a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChangeSet {
    /// The source's name.
    #[serde(deserialize_with = "text")]
    pub source: String,
    /// The changes.
    #[serde(deserialize_with = "defaulted")]
    pub git_patch: GitPatch,
}

impl ChangeSet {
    /// Whether it changes anything.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.git_patch.unidiff_patch.is_empty()
    }
}

/// Changes in the format of `git diff`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GitPatch {
    /// The changes.
    #[serde(deserialize_with = "text")]
    pub unidiff_patch: String,
    /// The commit that they apply to.
    #[serde(deserialize_with = "text")]
    pub base_commit_id: String,
    /// A message for the commit.
    #[serde(deserialize_with = "text")]
    pub suggested_commit_message: String,
}
