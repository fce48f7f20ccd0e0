//! Pipeline artifacts: what the agents of a run hand to one another in `.pipeline/<issue-id>/`.
//!
//! | file | question it answers |
//! |---|---|
//! | `shapes/` | what may an artifact say? Validator and JSON Schema are made of it |
//! | `variants/` | how else is it written, and what is the normal form? |
//! | `read` | what does a file say, and what is wrong with it by itself? |

mod artifact;
mod document;
mod issue;
pub mod limits;
mod read;
mod settings;
mod shapes;
mod variants;

pub use artifact::{Artifact, UnknownArtifact};
pub use issue::{IssueId, IssueIdError};
pub use read::{Reading, read};
pub use settings::{SETTINGS_FILE, Settings};
