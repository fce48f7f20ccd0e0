//! Diffs in the format of `git diff`, as Jules hands them out: everything that a session changed, in one text.
//!
//! | file | question it answers |
//! |---|---|
//! | [`parts`](mod@parts) | where does the part about one file begin and end? |
//! | [`files`](mod@files) | what is changed, in a line for each file? |
//!
//! What a file becomes by a diff is asked by the exchange, which alone takes files over.

pub mod files;
pub mod parts;

pub use files::{Fate, FileChange, files, of_file};
pub use parts::{HEADER, parts};
