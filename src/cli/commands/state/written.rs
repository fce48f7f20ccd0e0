//! Where a proposed state was written, for people and programs.

use std::fmt;
use std::path::PathBuf;

use phileas_domain::model::Oid;
use serde_json::json;

use crate::runtime::ports::LEDGER_BRANCH;

/// Where a proposal was written.
pub(super) enum Written {
    /// Into the file that was named.
    File {
        path: PathBuf,
        /// What stood in it before.
        kept: PathBuf,
    },
    /// Onto the ledger's branch.
    Commit(Oid),
}

impl Written {
    /// As programs read it.
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::File { path, kept } => json!({
                // A path need not be UTF-8.
                "file": path.display().to_string(),
                "kept": kept.display().to_string(),
            }),
            Self::Commit(head) => json!({ "commit": head.as_str() }),
        }
    }
}

impl fmt::Display for Written {
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
