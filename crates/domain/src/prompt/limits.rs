//! How much a prompt may be, and how much work it may make.

/// A prompt with its marker line, in bytes.
pub const PROMPT_LIMIT_BYTES: usize = 100 * 1024;
/// What is kept free in [`PROMPT_LIMIT_BYTES`] for the marker line.
pub const MARKER_ROOM_BYTES: usize = 1024;
/// A session's title with its marker, in characters.
pub const TITLE_LIMIT_CHARS: usize = 120;
/// One template or included file, in bytes.
pub const TEMPLATE_LIMIT_BYTES: usize = 64 * 1024;
/// Steps of one template: a step is about one instruction of the template engine.
pub const FUEL_LIMIT_STEPS: u64 = 100_000;
/// How deep templates and macros may call each other; an include counts ten, a macro four.
pub const RECURSION_LIMIT: usize = 120;
/// How many templates in a row may name the next one, by `extends`, `include` or `import`, below the prompt's own file.
/// A tick reads one of them after the other.
pub const TEMPLATE_DEPTH_LIMIT: usize = 16;
/// How many files one prompt may name, those that do not exist included.
pub const SOURCES_LIMIT_FILES: usize = 400;
/// How deep partials may name each other.
pub const PARTIAL_DEPTH_LIMIT: usize = 4;
/// How many partials and blocks a persona can see.
pub const PARTIALS_LIMIT: usize = 200;
/// What all `{{ … }}` of one prompt may put out together, in bytes, captured or not.
pub const EMITTED_LIMIT_BYTES: usize = 4 * PROMPT_LIMIT_BYTES;
/// How many paths one attempt to make a prompt asks for; more are asked for by the next one.
pub const UNREAD_LIMIT_PATHS: usize = 50;
/// After so many reads of what a prompt asked for, everything that the limits above allow has been read: each partial
/// may begin a chain of templates, and each chain takes a read a template.
pub const SOURCES_READS: usize = (PARTIAL_DEPTH_LIMIT + 1) * (TEMPLATE_DEPTH_LIMIT + 1)
    + SOURCES_LIMIT_FILES.div_ceil(UNREAD_LIMIT_PATHS);
/// How many journal entries a prompt shows: the last ones.
pub const JOURNALS_LIMIT: usize = 10;
/// One journal entry or sprint paper, in bytes; the rest is cut.
pub const ENTRY_LIMIT_BYTES: usize = 4 * 1024;
/// All journal entries together, in bytes; the oldest are left out.
pub const JOURNALS_LIMIT_BYTES: usize = 24 * 1024;
/// How many papers of a sprint a prompt shows.
pub const SPRINT_PAPERS_LIMIT: usize = 12;
/// All papers of a sprint together, in bytes; what does not fit is left out.
pub const SPRINT_LIMIT_BYTES: usize = 16 * 1024;
/// How many tasks a prompt shows: the first ones.
pub const TASKS_LIMIT: usize = 10;
/// One task, in bytes; the rest is cut.
pub const TASK_LIMIT_BYTES: usize = 2 * 1024;
/// All tasks together, in bytes; the last ones are left out.
pub const TASKS_LIMIT_BYTES: usize = 12 * 1024;
/// How many open pull requests a prompt lists.
pub const OPEN_PULLS_LIMIT: usize = 50;
/// A pull request's title or branch in a prompt, in characters.
pub const PULL_TEXT_LIMIT_CHARS: usize = 200;
/// The text of the issue or pull request that somebody asked on, in bytes; the rest is cut.
pub const SUBJECT_LIMIT_BYTES: usize = 16 * 1024;
/// How many notes on earlier turns a prompt carries: the last ones.
pub const NOTES_LIMIT: usize = 20;
/// One note, in characters.
pub const NOTE_LIMIT_CHARS: usize = 500;
/// The files that one prompt can draw from, all together, in bytes, as they are handed to where it is rendered. What agents
/// wrote is left out beyond it.
pub const RENDER_FILES_LIMIT_BYTES: usize = 8 * 1024 * 1024;
/// The stack that a prompt is rendered on where nothing else is limited, in bytes; only what is used of it takes memory. The engine's parser
/// stops at 150 brackets or blocks in each other, but follows a chain of signs by recursion without a limit, as its
/// compiler follows everything, and a stack that runs over ends the whole process: this one holds the deepest nesting
/// that [`TEMPLATE_LIMIT_BYTES`] allows.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;
/// How many failed checks a message shows.
pub const CHECKS_SHOWN: usize = 10;
/// What a failed check says of itself is cut here.
pub const CHECK_SUMMARY_LIMIT_BYTES: usize = 2 * 1024;
/// How many remarks on single lines are shown of one check.
pub const ANNOTATIONS_SHOWN: usize = 20;
/// Each of them is cut here.
pub const ANNOTATION_LIMIT_CHARS: usize = 300;
/// How many lines of a failed job's log are shown, the last ones before the end or the last error.
pub const LOG_SHOWN_LINES: usize = 80;
/// Each of them is cut here.
pub const LOG_LINE_LIMIT_CHARS: usize = 400;
/// The lines together are cut here, at their beginning.
pub const LOG_LIMIT_BYTES: usize = 8 * 1024;
/// Everything that failed checks say is cut here.
pub const CHECKS_LIMIT_BYTES: usize = 32 * 1024;
/// How many threads and reviews a message shows.
pub const REMARKS_SHOWN: usize = 30;
/// What one person said in one of them is cut here.
pub const REMARK_LIMIT_BYTES: usize = 4 * 1024;
/// The place that it is about is cut here.
pub const REMARK_PLACE_LIMIT_CHARS: usize = 300;
/// Everything that reviewers say is cut here.
pub const REVIEWS_LIMIT_BYTES: usize = 32 * 1024;
