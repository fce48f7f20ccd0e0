//! What a cycle of the monitor gathers before it writes.

use jiff::Timestamp;
use phileas_domain::jobs::{JobId, NewEvent, RetireReason};

/// An account that was not asked about its jobs in a cycle, or not about all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedAccount {
    /// The account.
    pub account: String,
    /// Its key was refused. Otherwise Jules is out of reach, or asks for patience.
    pub refused: bool,
    /// It was left alone in this cycle, because of the result of an earlier one.
    pub waits: bool,
    /// When it is asked again. A key that was refused is asked with sooner where it has been replaced by another.
    pub until: Option<Timestamp>,
    /// How many live jobs it has.
    pub jobs: usize,
}

/// What a cycle gathers before anything is written.
#[derive(Default)]
pub(super) struct CycleFindings {
    pub(super) drafts: Vec<NewEvent>,
    pub(super) retired: Vec<(JobId, RetireReason)>,
    pub(super) unasked: Vec<SkippedAccount>,
}
