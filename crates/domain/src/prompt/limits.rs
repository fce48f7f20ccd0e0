//! Limits of a prompt's size and of the work to render it.

/// A prompt with its marker line, in bytes.
pub const PROMPT_LIMIT_BYTES: usize = 100 * 1024;
/// The part of [`PROMPT_LIMIT_BYTES`] that is reserved for the marker line.
pub const MARKER_ROOM_BYTES: usize = 1024;
/// A session's title with its marker, in characters.
pub const TITLE_LIMIT_CHARS: usize = 120;
/// One template or included file, in bytes.
pub const TEMPLATE_LIMIT_BYTES: usize = 64 * 1024;
/// Steps of one template: a step is about one instruction of the template engine.
pub const FUEL_LIMIT_STEPS: u64 = 100_000;
/// The depth of calls of templates and macros; an include counts ten, a macro four.
pub const RECURSION_LIMIT: usize = 120;
/// The length of a chain of templates that name each other by `extends`, `include` or `import`, below the prompt's own
/// file. A tick reads them one after the other.
pub const TEMPLATE_DEPTH_LIMIT: usize = 16;
/// How many files one prompt may name, including those that do not exist.
pub const SOURCES_LIMIT_FILES: usize = 400;
/// How deep partials may name each other.
pub const PARTIAL_DEPTH_LIMIT: usize = 4;
/// How many partials and blocks a persona can use.
pub const PARTIALS_LIMIT: usize = 200;
/// The output of all `{{ … }}` of one prompt, in bytes, including captures.
pub const EMITTED_LIMIT_BYTES: usize = 4 * PROMPT_LIMIT_BYTES;
/// How many paths one attempt to render a prompt requests; the next attempt requests more.
pub const UNREAD_LIMIT_PATHS: usize = 50;
/// After this many reads, everything that the limits above allow has been read: each partial may begin a chain of
/// templates, and each chain takes one read for each template.
pub const SOURCES_READS: usize = (PARTIAL_DEPTH_LIMIT + 1) * (TEMPLATE_DEPTH_LIMIT + 1)
    + SOURCES_LIMIT_FILES.div_ceil(UNREAD_LIMIT_PATHS);
/// How many journal entries a prompt shows: the newest.
pub const JOURNALS_LIMIT: usize = 10;
/// One journal entry or sprint file, in bytes; longer ones are truncated.
pub const ENTRY_LIMIT_BYTES: usize = 4 * 1024;
/// All journal entries together, in bytes; the oldest are left out.
pub const JOURNALS_LIMIT_BYTES: usize = 24 * 1024;
/// How many files of a sprint a prompt shows.
pub const SPRINT_FILES_LIMIT: usize = 12;
/// All files of a sprint together, in bytes; what does not fit is left out.
pub const SPRINT_LIMIT_BYTES: usize = 16 * 1024;
/// How many tasks a prompt shows: the first ones.
pub const TASKS_LIMIT: usize = 10;
/// One task, in bytes; longer ones are truncated.
pub const TASK_LIMIT_BYTES: usize = 2 * 1024;
/// All tasks together, in bytes; the last ones are left out.
pub const TASKS_LIMIT_BYTES: usize = 12 * 1024;
/// How many open pull requests a prompt lists.
pub const OPEN_PULLS_LIMIT: usize = 50;
/// A pull request's title or branch in a prompt, in characters.
pub const PULL_TEXT_LIMIT_CHARS: usize = 200;
/// The text of the issue or pull request of a request, in bytes; longer ones are truncated.
pub const SUBJECT_LIMIT_BYTES: usize = 16 * 1024;
/// All earlier work in a prompt, in bytes.
pub const WORK_LIMIT_BYTES: usize = 8 * 1024;
/// A title or path of earlier work, in characters.
pub const WORK_TEXT_LIMIT_CHARS: usize = 160;
/// What a person wrote about a refusal, in characters.
pub const WORK_QUOTE_LIMIT_CHARS: usize = 400;
/// How many paths of one pull request are shown: those with the most changed lines.
pub const WORK_PATHS_SHOWN: usize = 4;
/// How many notes on earlier turns a prompt contains: the newest.
pub const NOTES_LIMIT: usize = 20;
/// One note, in characters.
pub const NOTE_LIMIT_CHARS: usize = 500;
/// All files that one prompt can use, in bytes, as they are sent to the renderer. Beyond it, files of agents are left
/// out.
pub const RENDER_FILES_LIMIT_BYTES: usize = 8 * 1024 * 1024;
/// The stack for rendering, in bytes; only the used part takes memory. The engine's parser stops at 150 nested brackets
/// or blocks, but recurses without limit over a chain of operators, and so does its compiler. A stack overflow ends the
/// whole process, so this stack holds the deepest nesting that [`TEMPLATE_LIMIT_BYTES`] allows.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;
/// How many failed checks a message shows.
pub const CHECKS_SHOWN: usize = 10;
/// The summary of a failed check, in bytes; longer ones are truncated.
pub const CHECK_SUMMARY_LIMIT_BYTES: usize = 2 * 1024;
/// How many annotations of one check are shown.
pub const ANNOTATIONS_SHOWN: usize = 20;
/// One annotation, in characters.
pub const ANNOTATION_LIMIT_CHARS: usize = 300;
/// How many lines of a failed job's log are shown: the last before the end or the last error.
pub const LOG_SHOWN_LINES: usize = 80;
/// One line of a log, in characters.
pub const LOG_LINE_LIMIT_CHARS: usize = 400;
/// All lines of a log, in bytes; the first are left out.
pub const LOG_LIMIT_BYTES: usize = 8 * 1024;
/// All reports of failed checks, in bytes.
pub const CHECKS_LIMIT_BYTES: usize = 32 * 1024;
/// How many threads and reviews a message shows.
pub const REMARKS_SHOWN: usize = 30;
/// One comment of a thread or review, in bytes.
pub const REMARK_LIMIT_BYTES: usize = 4 * 1024;
/// The location that a thread is about, in characters.
pub const REMARK_PLACE_LIMIT_CHARS: usize = 300;
/// All threads and reviews, in bytes.
pub const REVIEWS_LIMIT_BYTES: usize = 32 * 1024;
