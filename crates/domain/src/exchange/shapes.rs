//! Every kind of artifact.

mod changes;
mod event;
mod feedback;
mod keys;
mod memory;
mod proposal;
mod work;

pub use changes::{CHANGE, CHANGES};
pub(super) use event::DEGREES;
pub use event::EVENT;
pub use feedback::FEEDBACK;
pub(crate) use memory::PERSPECTIVE_V2;
pub use memory::{HISTORY, INNOVATOR_PERSPECTIVE, PERSPECTIVE, PERSPECTIVE_V1};
pub use proposal::PROPOSAL;
pub use work::{ISSUE, REQUIREMENT};

use super::shape::Shape;

/// All of them, in the order of the pipeline.
pub static SHAPES: [&Shape; 11] = [
    &CHANGES,
    &CHANGE,
    &EVENT,
    &PERSPECTIVE,
    &PERSPECTIVE_V1,
    &HISTORY,
    &REQUIREMENT,
    &ISSUE,
    &FEEDBACK,
    &INNOVATOR_PERSPECTIVE,
    &PROPOSAL,
];
