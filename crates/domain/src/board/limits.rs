//! How much of it is read.

/// One file, in bytes; a larger one is a finding.
pub const PAPER_LIMIT_BYTES: u64 = 64 * 1024;
/// How many tasks, papers or journal entries are looked at, each; what is more is a finding.
pub const PAPERS_LIMIT: usize = 5_000;
/// A task's title, in characters.
pub const TITLE_LIMIT_CHARS: usize = 200;
/// The part of a file's name that is made of a title, in characters.
pub const SLUG_LIMIT_CHARS: usize = 60;
/// How many tags a task may have.
pub const TAGS_LIMIT: usize = 50;
/// The highest number of a sprint.
pub const SPRINT_LIMIT: u64 = 1_000_000;
