//! The archive: old history in separate files, so that the state file stays small.
//!
//! When the state file has more than [`HISTORY_SEGMENT`] entries, [`rotate`] moves the oldest finished ones, as one
//! unbroken run of keys, to `.jules/history/<first>-<last>.json`. A segment is written once and never changed. Later
//! changes of an archived entry stay in the state file as an amendment. The only such change is that a closed
//! pull request is reopened and merged. Rotation therefore leaves an amendment with the pull request's number for each of
//! the newest rejected entries.

mod amend;
#[cfg(test)]
mod archive;
mod format;
mod rotation;

pub use amend::{AmendError, amend};
#[cfg(test)]
pub(super) use archive::{check_archive, load_segment, parse_segment_path};
pub use format::{Segment, save_segment, segment_path};
pub use rotation::{HISTORY_KEPT, HISTORY_SEGMENT, REJECTIONS_TRACKED, rotate};

#[cfg(test)]
mod tests;
