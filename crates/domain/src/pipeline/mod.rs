//! Pipeline artifacts: what the agents of a run hand to one another in `.pipeline/<issue-id>/`.
//!
//! | file | question it answers |
//! |---|---|
//! | `shapes/` | what may an artifact say? Validator and JSON Schema are made of it |
//! | `variants/` | how else is it written, and what is the normal form? |
//! | `read` | what does a file say, and what is wrong with it by itself? |
//! | `run` | which attempts do the files of an issue and its trace tell of? |
//! | `check/` | what must hold between them? |
//! | `next`, `rule`, `tiers` | who comes next, and why? |
//! | `overview` | where does a run stand, in one document? |
//! | `trace`, `lessons` | what does phileas write? |

mod artifact;
mod check;
mod document;
mod issue;
mod lessons;
pub mod limits;
mod next;
mod outcome;
mod overview;
mod read;
mod rule;
mod run;
mod settings;
mod shapes;
mod tiers;
mod trace;
pub mod values;
mod variants;

pub use artifact::{Artifact, UnknownArtifact};
pub use check::{BrokenInvariant, CheckStage, check_stage};
pub use issue::{IssueId, IssueIdError};
pub use lessons::{Lesson, add_lesson, list_lessons, read_lessons};
pub use next::{Dispatch, Next, Step, next};
pub use overview::run_overview;
pub use read::{Reading, read_artifact};
pub use rule::Rule;
pub use run::{Attempt, Run, RunFile};
pub use settings::{SETTINGS_FILE, Settings};
pub use trace::{Made, TraceError, add_to_trace};
pub use values::{Outcome, Stage, Tier};
