//! Open pull requests: settling, failed checks, conflicts, reviews, drafts, reminders, merging, archiving.

pub(super) mod archive;
pub(super) mod backoff;
pub(super) mod conflicts;
pub(super) mod drafts;
mod exhaustion;
pub(super) mod failed_checks;
pub(super) mod merge;
pub(super) mod merge_gates;
pub(super) mod message;
pub(super) mod rebuilt_records;
pub(super) mod refusals;
pub(super) mod reminders;
pub(super) mod reverts;
pub(super) mod review_feedback;
pub(super) mod settle;
pub(super) mod tracked;
pub(super) mod work_facts;
pub(super) mod work_marks;
pub(super) mod work_outcome;
pub(super) mod work_records;
pub(super) mod work_verdict;
