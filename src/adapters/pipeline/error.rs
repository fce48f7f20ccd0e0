//! Why a run cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

use phileas_domain::Diagnostic;
use phileas_domain::diagnostic::Mistakes;
use phileas_domain::pipeline::{IssueId, TraceError, UnknownArtifact};

/// Why a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// No artifact has that name.
    #[error(transparent)]
    Unknown(#[from] UnknownArtifact),
    /// The new or the existing artifact is invalid; the findings say why.
    #[error("nothing was written, because of {}; correct what is named, and try again", mistakes_text(.0))]
    Unsound(Vec<Diagnostic>),
    /// The settings are wrong.
    #[error(transparent)]
    Settings(#[from] Mistakes),
    /// The trace cannot be continued.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Lessons belong to no run.
    #[error("lessons belong to no run; add one with `phileas pipeline lessons add`")]
    NotOfARun,
    /// There is no such file.
    #[error("file not found: {}", .0.display())]
    NoFile(PathBuf),
    /// There is no such run.
    #[error("pipeline directory not found: {}", .0.display())]
    NoRun(PathBuf),
    /// The run was archived, and an archived run is not started again.
    #[error(
        "the run of {issue} was archived in {}, so nothing was written; move that folder back to continue, or give the new run \
         another name",
        archive.display()
    )]
    Archived {
        /// The issue.
        issue: IssueId,
        /// Where its run is.
        archive: PathBuf,
    },
    /// A run of this name was archived before.
    #[error("{} exists already and is not overwritten; move it, or give the run another name", .0.display())]
    Taken(PathBuf),
    /// The path cannot be read.
    #[error("{}: {what}", path.display())]
    Refused {
        /// Where.
        path: PathBuf,
        /// What is wrong, and how to fix it.
        what: String,
    },
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    System {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// How many mistakes there are, in words.
fn mistakes_text(found: &[Diagnostic]) -> String {
    match found.iter().filter(|one| one.is_error()).count() {
        0 | 1 => "a mistake".to_owned(),
        many => format!("{many} mistakes"),
    }
}

impl RunsError {
    pub(super) fn from_io(path: &Path, source: io::Error) -> Self {
        Self::System {
            path: path.to_owned(),
            source,
        }
    }
}
