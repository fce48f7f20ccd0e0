//! What a session starts with, and the reasons for which its prompt is missing.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::prompt::{self, RenderError};

/// Maximum paths that the report names.
const PATHS_SHOWN: usize = 3;

/// The title and prompt of a session.
#[derive(Default)]
pub(crate) struct SessionText {
    pub(crate) title: String,
    pub(crate) prompt: String,
    /// Whether Jules opens a pull request.
    pub(crate) open_pull: bool,
    /// Ledger files that are created with this prompt.
    pub(crate) seeds: BTreeMap<String, Option<String>>,
    /// The digests of the work items in the prompt.
    pub(crate) item_digests: BTreeMap<String, String>,
}

/// Turns a render error into a reason. Requests the missing files, or reports the diagnostics.
pub(crate) fn report_missing_prompt(
    builder: &mut DecisionBuilder<'_>,
    error: RenderError,
) -> (Reason, String) {
    match error {
        RenderError::Unread(paths) => {
            let text = format!(
                "its prompt waits for files of the default branch to be read: {}",
                list_paths(&paths)
            );
            builder.reads.sources.extend(paths);
            (Reason::PromptUnread, text)
        }
        RenderError::Unrendered => {
            let text = "its prompt waits to be rendered".to_owned();
            (Reason::PromptUnread, text)
        }
        RenderError::Unavailable(why) => {
            let text = format!(
                "its prompt was not rendered: {}; the next tick tries again",
                prompt::clean_line(&why)
            );
            (Reason::PromptUnread, text)
        }
        RenderError::Invalid(diagnostics) => {
            let text = diagnostics.first().map_or_else(
                || "its prompt cannot be rendered".to_owned(),
                ToString::to_string,
            );
            builder.add_diagnostics(diagnostics);
            (Reason::PromptInvalid, text)
        }
    }
}

/// The first paths, and how many more there are.
fn list_paths(paths: &BTreeSet<String>) -> String {
    let shown: Vec<String> = paths
        .iter()
        .take(PATHS_SHOWN)
        .map(|path| format!("`{}`", prompt::clean_line(path)))
        .collect();
    let more = paths.len() - shown.len();
    let and = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{and}", shown.join(", "))
}
