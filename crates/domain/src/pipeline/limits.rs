//! How much a run may be. What is larger is a finding and is never read.

/// One artifact, in bytes.
pub const ARTIFACT_LIMIT_BYTES: usize = 1024 * 1024;
/// Entries of a list or a map of an artifact.
pub const ENTRIES_LIMIT: usize = 1_000;
/// Findings about one file; the rest is counted, not listed.
pub const FINDINGS_LIMIT: usize = 50;
/// The longest issue id, in bytes.
pub const ISSUE_LIMIT_BYTES: usize = 100;
/// Lessons that are kept; the oldest go first.
pub const LESSONS_LIMIT: usize = 50;
/// Stages of one trace. A run that needs more is in need of a person.
pub const TRACE_LIMIT: usize = 500;
/// Retries of a stage that a configuration may ask for.
pub const RETRIES_LIMIT: u32 = 10;
/// The longest part of a criterion that a message shows, in characters.
pub const CRITERION_SHOWN_CHARS: usize = 80;
