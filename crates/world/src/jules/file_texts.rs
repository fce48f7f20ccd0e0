//! The texts of changed files, by path.

use std::collections::BTreeMap;

/// The new text of each file, by path; none for a deleted file.
pub type FileTexts = BTreeMap<String, Option<String>>;
