//! Files that change, by their paths.

use std::collections::BTreeMap;

/// What a file becomes: its text, or nothing when it is deleted.
pub type FileTexts = BTreeMap<String, Option<String>>;
