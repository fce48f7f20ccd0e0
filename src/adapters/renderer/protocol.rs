//! What parent and child say to one another: one JSON value a line.

use std::borrow::Cow;
use std::sync::Arc;

use phileas_domain::model::Tree;
use phileas_domain::prompt::{RenderAnswer, RenderError, RenderRequest};
use serde::{Deserialize, Serialize};

/// How many sets of files a child keeps. A request draws from two at most.
pub(super) const FILES_KEPT: usize = 4;
/// The longest answer that is read, in bytes: a prompt has 100 KB, and JSON may make six times as much of it.
pub(super) const ANSWER_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// From the parent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToChild<'r> {
    /// Files that the next requests draw from. There is no answer to it.
    Files {
        /// What requests know them by.
        digest: String,
        tree: Arc<Tree>,
        /// The files that make room for them. No request draws from these before they are sent again.
        instead_of: Option<String>,
    },
    /// A prompt to render, without its files.
    Render(Cow<'r, RenderRequest>),
}

/// From the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromChild {
    /// The limits are in force.
    Ready,
    /// They could not be set, and why.
    Unlimited(String),
    /// What came of a request.
    Answer(RenderAnswer),
}

pub(super) fn unavailable(why: impl Into<String>) -> RenderAnswer {
    RenderAnswer::Failed(RenderError::Unavailable(why.into()))
}
