//! What the encoded form of a session depends on.

use super::state::State;
use crate::knobs::TitleKept;

/// What the encoded form of a session depends on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) revision: u64,
    pub(super) state: State,
    pub(super) outputs: bool,
    pub(super) title: TitleKept,
    pub(super) prompt: bool,
    pub(super) bare_name: bool,
    pub(super) frozen_update: bool,
    pub(super) environment: bool,
}
