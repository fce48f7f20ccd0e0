//! Parses diffs in the format of `git diff`, as Jules returns them: one text with all changes of a session.
//!
//! | file | question it answers |
//! |---|---|
//! | [`parts`](mod@parts) | Where does the part of one file begin and end? |
//! | [`files`](mod@files) | Which files does a diff change, and by how many lines? |
//!
//! The exchange alone applies a diff to files.

pub mod files;
pub mod parts;

pub use files::{ChangeKind, FileChange, changed_files, of_file};
pub use parts::{HEADER, split_parts};
