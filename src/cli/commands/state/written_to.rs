//! Where a proposed state was written, for people and programs.

use std::fmt;
use std::path::PathBuf;

use phileas_domain::model::Oid;
use serde_json::json;

use crate::runtime::ports::LEDGER_BRANCH;

/// Where a proposal was written.
pub(super) enum WrittenTo {
    /// To the named file.
    File {
        path: PathBuf,
        /// The path of the old file.
        kept: PathBuf,
    },
    /// To the ledger branch.
    Commit(Oid),
}

impl WrittenTo {
    /// As JSON.
    pub(super) fn written_json(&self) -> serde_json::Value {
        match self {
            Self::File { path, kept } => json!({
                // A path may not be UTF-8.
                "file": path.display().to_string(),
                "kept": kept.display().to_string(),
            }),
            Self::Commit(head) => json!({ "commit": head.as_str() }),
        }
    }
}

impl fmt::Display for WrittenTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, kept } => write!(
                f,
                "written to {}; the old file is {}",
                path.display(),
                kept.display()
            ),
            Self::Commit(head) => write!(f, "committed to the branch {LEDGER_BRANCH} as {head}"),
        }
    }
}
