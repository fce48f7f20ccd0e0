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
    /// Whether a patch with changes was dropped from it.
    #[serde(skip)]
    patch_dropped: bool,
}

impl ChangeSet {
    /// Whether it changes anything.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.patch_dropped || !self.git_patch.unidiff_patch.is_empty()
    }

    /// Drops the patch, and remembers whether it changes anything.
    pub(super) fn drop_patch(&mut self) {
        self.patch_dropped = self.has_changes();
        self.git_patch = GitPatch::default();
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
