//! Text for people and the marks in it. It knows nothing of a decision.

pub(super) mod markdown;
pub(super) mod markers;
pub(super) mod time;
