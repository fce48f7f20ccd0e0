//! Open pull requests.

mod archive;
mod backoff;
mod conflicts;
mod drafts;
mod failed_checks;
mod merge;
mod ownership;
mod reminders;
mod review_feedback;
mod work_marks;
mod work_outcomes;
mod work_records;
