//! Limits of the exchange's part in a prompt.

/// The number of listed work items, events and pull requests; the rest is counted.
pub const LISTED_LIMIT: usize = 100;
/// A line of such a list, in characters.
pub const LISTED_LINE_CHARS: usize = 400;
/// The events and work items that a decider gets in full, in bytes; the rest waits for the next session.
pub const TRIAGE_LIMIT_BYTES: usize = 66 * 1024;
/// The part of it for existing work items.
pub const TRIAGE_ITEMS_BYTES: usize = 24 * 1024;
/// Events that one session of a decider gets.
pub const TRIAGE_EVENTS: usize = 24;
/// The findings that an implementer gets besides its work item, in bytes.
pub const FINDINGS_LIMIT_BYTES: usize = 16 * 1024;
/// The commits that a narrator gets, in bytes.
pub const COMMITS_LIMIT_BYTES: usize = 24 * 1024;
