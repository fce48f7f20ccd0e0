//! The lanes of the review.

use crate::engine::output::limits::{SMALL_FILES, SMALL_LINES};

/// A lane of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneKind {
    /// They do the same as another one, or change nothing.
    Unwanted,
    /// Their checks passed, they are small, and change nothing that is protected.
    Small,
    /// They need a closer look.
    Careful,
    /// Their session, or their checks, have not finished.
    Waiting,
}

impl LaneKind {
    /// Its heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Unwanted => "Twins and no-ops",
            Self::Small => "Green and small",
            Self::Careful => "Large, protected or unchecked",
            Self::Waiting => "Waiting for the session",
        }
    }

    /// Which pull requests stand in it, as the end of a sentence.
    #[must_use]
    pub fn hint(self) -> String {
        match self {
            Self::Unwanted => "the same as another one, or without a change".to_owned(),
            Self::Small => format!(
                "checks passed, at most {SMALL_FILES} files and {SMALL_LINES} lines, nothing protected"
            ),
            Self::Careful => "ready, but they need a closer look".to_owned(),
            Self::Waiting => "their checks or their sessions have not finished".to_owned(),
        }
    }
}
