//! How much of the exchange a prompt shows.

/// Work items, events and pull requests that are listed by a line each; the rest is counted.
pub const LISTED_LIMIT: usize = 100;
/// A line of such a list, in characters.
pub const LISTED_LINE_CHARS: usize = 400;
/// Events and work items that a decider gets whole, in bytes together; what does not fit waits for the next session.
pub const TRIAGE_LIMIT_BYTES: usize = 66 * 1024;
/// Of these, what work items may take that are there already.
pub const TRIAGE_ITEMS_BYTES: usize = 24 * 1024;
/// Events that one session of a decider gets.
pub const TRIAGE_EVENTS: usize = 24;
/// The findings that an implementer gets beside its work item, in bytes together.
pub const FINDINGS_LIMIT_BYTES: usize = 16 * 1024;
/// Commits that a narrator is shown, in bytes.
pub const COMMITS_LIMIT_BYTES: usize = 24 * 1024;
