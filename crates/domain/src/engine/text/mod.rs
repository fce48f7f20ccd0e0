//! Text for people, and the markers in it. Knows nothing of decisions.

pub(super) mod markdown;
pub(super) mod markers;
pub(super) mod time;
