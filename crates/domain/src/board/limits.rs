//! Limits of tasks, sprint files and journals.

/// The size of a file in bytes; a larger file is reported.
pub const FILE_LIMIT_BYTES: u64 = 64 * 1024;
/// The number of tasks, sprint files and journal entries, each; more are reported.
pub const FILES_LIMIT: usize = 5_000;
/// A task's title, in characters.
pub const TITLE_LIMIT_CHARS: usize = 200;
/// The part of a file name that is made from a title, in characters.
pub const SLUG_LIMIT_CHARS: usize = 60;
/// How many tags a task may have.
pub const TAGS_LIMIT: usize = 50;
/// The highest sprint number.
pub const SPRINT_LIMIT: u64 = 1_000_000;
