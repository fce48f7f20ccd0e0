//! The messages between parent and child: one JSON value a line.

use std::borrow::Cow;
use std::sync::Arc;

use phileas_domain::model::Tree;
use phileas_domain::prompt::{RenderAnswer, RenderError, RenderRequest};
use serde::{Deserialize, Serialize};

/// How many sets of files a child keeps. A request uses at most two.
pub(super) const FILES_KEPT: usize = 4;
/// The longest answer that is read, in bytes: a prompt has 100 KB, and JSON may need six times as much.
pub(super) const ANSWER_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// A message from the parent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ChildRequest<'r> {
    /// Files for the next requests. It has no answer.
    Files {
        /// The digest by which requests refer to them.
        digest: String,
        tree: Arc<Tree>,
        /// The files that they replace. No request uses those before they are sent again.
        instead_of: Option<String>,
    },
    /// A prompt to render, without its files.
    Render(Cow<'r, RenderRequest>),
}

/// A message from the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ChildResponse {
    /// The limits are in force.
    Ready,
    /// They could not be set, and why.
    Unlimited(String),
    /// The answer to a request.
    Answer(RenderAnswer),
}

pub(super) fn unavailable_answer(why: impl Into<String>) -> RenderAnswer {
    RenderAnswer::Failed(RenderError::Unavailable(why.into()))
}
