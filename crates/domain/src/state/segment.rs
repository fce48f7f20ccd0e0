//! The archive: old history in files of its own, so that the state file stays small however old a project gets.
//!
//! When more than [`HISTORY_SEGMENT`] entries are in the state file, [`rotate`] moves the oldest finished ones, as one
//! unbroken run of keys, to `.jules/history/<first>-<last>.json`. A segment is written once and never again, so that an
//! archive can be trusted by its first commit; what becomes known of an archived entry later stays in the state file as
//! an [amendment](amend). Only one thing can: a pull request that was closed is reopened and merged. So rotation leaves
//! an amendment behind for each of the newest rejected entries, which says by its pull request's number what to look for.

mod amend;
mod archive;
mod format;
mod rotation;

pub use amend::{AmendError, amend};
pub use archive::check_archive;
pub use format::{Segment, load_segment, parse_segment_path, save_segment, segment_path};
pub use rotation::{HISTORY_SEGMENT, REJECTIONS_WATCHED, rotate};

#[cfg(test)]
mod tests;
