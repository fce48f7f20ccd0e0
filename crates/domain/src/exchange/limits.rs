//! Limits of the exchange. Anything larger is reported and never read.

/// One artifact, in bytes.
pub const ARTIFACT_LIMIT_BYTES: usize = 64 * 1024;
/// All files of an exchange.
pub const FILES_LIMIT: usize = 5_000;
/// Diagnostics of one file; the rest is only counted.
pub const FINDINGS_LIMIT: usize = 50;
/// A text of one line, in characters.
pub const LINE_LIMIT_CHARS: usize = 500;
/// A text of several lines, in characters.
pub const TEXT_LIMIT_CHARS: usize = 10_000;
/// The output of a program, in characters.
pub const OUTPUT_LIMIT_CHARS: usize = 200_000;
/// The longest name of a role, a label or a stream, in bytes.
pub const NAME_LIMIT_BYTES: usize = 64;
/// Entries of a list without a smaller limit.
pub const LIST_LIMIT: usize = 100;
/// Events that one observer's session may add.
pub const EVENTS_PER_SESSION: usize = 3;
/// Proposals of one innovator's session: exactly this many.
pub const PROPOSALS_PER_SESSION: usize = 3;
/// Entries of the narrator's summary: exactly this many.
pub const SUMMARIES: usize = 5;
/// Commits that a summary of the workstreams layout may name.
pub const COMMITS_LIMIT: usize = 50;
/// Titles in an innovator's memory; the newest comes first.
pub const RECENT_PROPOSALS_LIMIT: usize = 15;
/// The length from which a text is considered meaningful, in characters; shorter ones cause a warning.
pub const MEANT_TEXT_CHARS: usize = 20;
/// The same for an acceptance criterion.
pub const MEANT_CRITERION_CHARS: usize = 8;
/// Lessons of the newest rejections that an observer's memory always contains: half of [`LIST_LIMIT`], to leave room
/// for the observer's own entries.
pub const LESSONS_LIMIT: usize = 50;
/// Files of one change set.
pub const CHANGE_FILES_LIMIT: usize = 100;
/// The size of a change set, in bytes.
pub const CHANGE_LIMIT_BYTES: usize = 1024 * 1024;
/// The size of a session's patch, in bytes; a larger one is not read.
pub const PATCH_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// The title of a GitHub issue, in characters.
pub const ISSUE_TITLE_LIMIT_CHARS: usize = 256;
/// The body of a GitHub issue, in characters.
pub const ISSUE_BODY_LIMIT_CHARS: usize = 65_536;
/// The name of a GitHub label, in characters.
pub const ISSUE_LABEL_LIMIT_CHARS: usize = 50;
/// A work item as shown in an issue, in characters, without phileas' own text around it.
pub const SHOWN_LIMIT_CHARS: usize = 60_000;
/// The part of it for the findings that the item covers, in characters.
pub const SHOWN_FINDINGS_CHARS: usize = 16 * 1024;
/// The length at which lines are broken, in characters, because GitHub shows longer ones only in part.
pub const SHOWN_LINE_CHARS: usize = 100;
/// How many implementers try a requirement before it is suspended.
pub const MAX_ATTEMPTS: u64 = 3;
