//! The title and prompt of a session, or why there is none.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::prompt::{self, RenderError};

/// How many paths that are read for a prompt a report names.
const PATHS_SHOWN: usize = 3;

/// What a session is told, and under which title.
#[derive(Default)]
pub(crate) struct Words {
    pub(crate) title: String,
    pub(crate) prompt: String,
    /// Whether Jules opens a pull request.
    pub(crate) open_pull: bool,
    /// Files of the ledger that begin with this prompt.
    pub(crate) seeds: BTreeMap<String, Option<String>>,
    /// The digests of the work items that it is given.
    pub(crate) given: BTreeMap<String, String>,
}

/// Why there is no prompt: what it is made from is asked for, what is wrong with it is reported.
pub(crate) fn no_prompt(draft: &mut Draft<'_>, error: RenderError) -> (Reason, String) {
    match error {
        RenderError::Unread(paths) => {
            let text = format!(
                "its prompt waits for files of the default branch to be read: {}",
                listed(&paths)
            );
            draft.needs.sources.extend(paths);
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
            draft.diagnose(diagnostics);
            (Reason::PromptInvalid, text)
        }
    }
}

/// The first paths, and how many more there are.
fn listed(paths: &BTreeSet<String>) -> String {
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
