//! Defines why a prompt could not be rendered.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::files::SOURCE_FOLDERS;
use crate::Diagnostic;

/// Why there is no prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RenderError {
    /// These files and folders of the default branch must be read first.
    Unread(BTreeSet<String>),
    /// The mistakes in the templates.
    Invalid(Vec<Diagnostic>),
    /// It is not rendered yet; the decision has requested it.
    Unrendered,
    /// This machine could not render it, for the given reason. The templates are not to blame.
    Unavailable(String),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let diagnostics = self.clone().into_diagnostics();
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl From<Diagnostic> for RenderError {
    fn from(wrong: Diagnostic) -> Self {
        Self::Invalid(vec![wrong])
    }
}

impl RenderError {
    /// The error as diagnostics for people.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        match self {
            Self::Invalid(diagnostics) => diagnostics,
            Self::Unread(paths) => paths
                .into_iter()
                .map(|path| {
                    Diagnostic::error(path, "it was not read, and a prompt is made from it")
                        .help("run this again")
                })
                .collect(),
            Self::Unrendered => vec![
                Diagnostic::error(SOURCE_FOLDERS[0], "the prompt was not rendered yet")
                    .help("run this again"),
            ],
            Self::Unavailable(why) => vec![
                Diagnostic::error(
                    SOURCE_FOLDERS[0],
                    format!("this machine could not render the prompt: {why}"),
                )
                .help("give it more memory or processes, and run this again"),
            ],
        }
    }
}
