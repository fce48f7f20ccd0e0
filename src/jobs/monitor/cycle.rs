//! Collects the findings of a monitor's cycle before they are written.

use jiff::Timestamp;
use phileas_domain::jobs::{JobId, NewEvent, RetireReason};

/// An account whose jobs a cycle did not check, or not all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedAccount {
    /// The account.
    pub account: String,
    /// Whether Jules refused its key. Otherwise Jules is unreachable, or limits the rate.
    pub refused: bool,
    /// Whether this cycle sent no request, because of an earlier failure.
    pub waits: bool,
    /// When the next request is sent. After a refused key it is sent as soon as another key is
    /// there.
    pub until: Option<Timestamp>,
    /// How many live jobs it has.
    pub jobs: usize,
}

/// The findings of a cycle.
#[derive(Default)]
pub(super) struct CycleFindings {
    pub(super) drafts: Vec<NewEvent>,
    pub(super) retired: Vec<(JobId, RetireReason)>,
    pub(super) unasked: Vec<SkippedAccount>,
}
