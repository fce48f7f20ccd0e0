//! The inputs of a session's encoding, by which it is cached.

use super::state::State;
use crate::knobs::TitleKept;

/// The inputs of a session's encoding.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EncodingKey {
    pub(super) revision: u64,
    pub(super) state: State,
    pub(super) outputs: bool,
    pub(super) title: TitleKept,
    pub(super) prompt: bool,
    pub(super) bare_name: bool,
    pub(super) frozen_update: bool,
    pub(super) environment: bool,
}
