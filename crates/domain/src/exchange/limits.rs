//! How much the exchange may be. What is larger is a finding and is never read.

/// One artifact, in bytes.
pub const ARTIFACT_LIMIT_BYTES: usize = 64 * 1024;
/// All files of an exchange.
pub const FILES_LIMIT: usize = 5_000;
/// Findings about one file; the rest is counted, not listed.
pub const FINDINGS_LIMIT: usize = 50;
/// A text of one line, in characters.
pub const LINE_LIMIT_CHARS: usize = 500;
/// A text of several lines, in characters.
pub const TEXT_LIMIT_CHARS: usize = 10_000;
/// What a program printed, in characters.
pub const OUTPUT_LIMIT_CHARS: usize = 200_000;
/// The longest name of a role, a label or a stream, in bytes.
pub const NAME_LIMIT_BYTES: usize = 64;
/// Entries of a list that has no smaller limit of its own.
pub const LIST_LIMIT: usize = 100;
/// Events that one observer may bring in with one session.
pub const EVENTS_PER_SESSION: usize = 3;
/// Proposals that an innovator brings in with one session: neither fewer nor more.
pub const PROPOSALS_PER_SESSION: usize = 3;
/// Entries of the narrator's summary: neither fewer nor more.
pub const SUMMARIES: usize = 5;
/// Commits that a summary of the workstreams layout names at most.
pub const COMMITS_LIMIT: usize = 50;
/// Titles that an innovator remembers; the newest comes first.
pub const RECENT_PROPOSALS_LIMIT: usize = 15;
/// What a text must have to say something, in characters; shorter ones are warned of.
pub const MEANT_TEXT_CHARS: usize = 20;
/// What a criterion must have to say something, in characters.
pub const MEANT_CRITERION_CHARS: usize = 8;
/// Rejections whose lesson an observer's memory always has, the newest: half of [`LIST_LIMIT`], so that there is room for
/// what the observer writes itself.
pub const LESSONS_LIMIT: usize = 50;
/// Files of one change set that are looked at.
pub const CHANGE_FILES_LIMIT: usize = 100;
/// A change set in all, in bytes.
pub const CHANGE_LIMIT_BYTES: usize = 1024 * 1024;
/// A session's patch, in bytes; a larger one is not looked at.
pub const PATCH_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// The title of a GitHub issue, in characters; a longer one is refused.
pub const ISSUE_TITLE_LIMIT_CHARS: usize = 256;
/// The text of a GitHub issue, in characters, likewise.
pub const ISSUE_BODY_LIMIT_CHARS: usize = 65_536;
/// The name of a GitHub label, in characters, likewise.
pub const ISSUE_LABEL_LIMIT_CHARS: usize = 50;
/// A work item as an issue shows it, without what phileas says of it, in characters: the rest of the issue has room beside.
pub const SHOWN_LIMIT_CHARS: usize = 60_000;
/// What the findings may take of it that a work item was made of, in characters together.
pub const SHOWN_FINDINGS_CHARS: usize = 16 * 1024;
/// A longer line of it is broken, in characters: GitHub would show it in part.
pub const SHOWN_LINE_CHARS: usize = 100;
/// How often a requirement goes to an implementer before it is parked.
pub const MAX_ATTEMPTS: u64 = 3;
