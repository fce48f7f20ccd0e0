//! Which work records are not complete.

use std::collections::BTreeSet;

use super::extra::Extra;
use crate::model::PullNumber;

/// What the state knows of the work records. The records themselves lie in files of their own, which an idle tick does
/// not read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkState {
    /// Pull requests whose record is not complete: they are open, or their end is still to be recorded.
    pub open: BTreeSet<PullNumber>,
    /// How many records are open or remembered. A state that was rebuilt does not know and has 1, so that they are read.
    pub remembered: u64,
    /// Unknown keys.
    pub extra: Extra,
}
