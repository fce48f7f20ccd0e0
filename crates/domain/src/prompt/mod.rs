//! Renders the prompts that phileas sends to Jules.
//!
//! A persona's prompt is rendered from the files of **one commit of the default branch** and from facts about the
//! repository. A template can use nothing else.
//!
//! **Templates.** A prompt whose name ends with `.j2` is a Jinja2 template, with the settings of seed 004's system:
//! undefined names are errors, tags remove their line (`trim_blocks`, `lstrip_blocks`), nothing is escaped. A plain
//! `prompt.md` is sent literally.
//!
//! **Names of files** (`{% extends %}`, `{% include %}`, `{% import %}`): `.jules/…` and `.jlo/…` from the repository's
//! root, `./…` beside the template, anything else in the persona's own folder, then in `.jules/personas`, `.jules`,
//! `.jules/templates` and `.jules/jules/templates`. The first file that exists is used.
//!
//! **Variables**: `id emoji description`, every key of the frontmatter, `owner repo repo_full track`,
//! `open_prs open_prs_text journal_entries sprint sprint_context_text tasks_text work_text notes request_text`, every
//! file of a `partials` folder by its name, and every file of a `blocks` folder by its name and `_block`. Partials and blocks are
//! rendered on first use. `empty_queue_celebration` is another name of `celebration`. `password` is derived from the id
//! alone (a version 5 UUID), so it is no secret: it exists because old templates use it.
//! `include_required("path")` and `include_optional("path")` insert the literal text of a file.
//!
//! **Sections that are added.** A prompt without inheritance and blocks gets the sections that it did not use itself: the
//! journal entries, the sprint's files and the tasks. Seed 004's system added the sprint's files only, so such a persona
//! had no memory. Earlier work, notes on earlier turns, and the issue of a request are added if they were not
//! used.
//!
//! **Limits**: see the constants below. The engine cannot limit the memory of a text that a template builds without
//! printing it (`{% set x = x ~ x %}` repeated), nor the time of one filter or comparison. So phileas renders a
//! repository's templates in a child process with its own limits; see [`RenderRequest`]. Rendering uses a large stack,
//! because the template engine recurses over nested expressions.
//!
//! **Trust.** Templates, frontmatter and partials were merged by people with write access to the default branch.
//! Everything else (titles of pull requests, journals, sprint files, tasks, exchange files) is cleaned, fenced with an
//! unpredictable boundary, and never parsed as a template.

mod assembly;
mod call_error;
mod checks;
mod context;
mod cycler;
mod environment;
mod error;
mod failure;
mod fence;
mod files;
mod jinja;
mod journals;
mod limits;
mod marker;
mod partials;
mod percent;
mod pulls;
mod python;
mod quoted;
mod quoted_folders;
mod render;
mod rendering;
mod request;
mod reviews;
mod secrets;
mod sections;
mod sprint;
mod stack;
mod subject;
mod syntax;
mod tasks;
#[cfg(test)]
mod tests;
mod title;
mod untrusted;
mod validate;
mod work;
mod wrap;

pub use assembly::{
    Assembled, Assembly, Attached, Include, Origin, RULES_PATH, Seed, Skipped, assemble_prompt,
    canonical_layer, read_orders,
};
pub use checks::{CheckReport, failed_checks};
pub use error::RenderError;
pub use files::{SOURCE_FOLDERS, is_feedback_of_role, is_source};
pub use journals::{journals_to_read, shown_journal};
pub use limits::*;
pub use marker::{is_sent, prompt_sha256, title_with_marker, with_marker};
pub use quoted_folders::folders_to_read;
pub use render::render_prompt;
pub use rendering::{
    InProcess, LayerPrompt, PersonaPrompt, RenderAnswer, RenderPrompts, RenderRequest, SourceFiles,
    assemble_by, is_plain, render_by,
};
pub use request::{EarlierWork, OpenPull, Rendered, Request, Subject, WorkKind};
pub use reviews::{ReviewRemark, ReviewSaying, review_remarks};
pub use secrets::hide_secrets as without_secrets;
pub use untrusted::{clean_line, clean_text};
pub use validate::{unread_sources, validate_prompt};
