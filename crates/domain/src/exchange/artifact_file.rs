//! Reads the file of one artifact: its text, its YAML, and all mistakes against its shape.

use super::artifact::Filed;
use super::limits::{ARTIFACT_LIMIT_BYTES, FINDINGS_LIMIT};
use super::shape::Shape;
use super::validate::validate_node;
use crate::diagnostic::Diagnostic;
use crate::model::Tree;
use crate::yaml::{self, Node};

/// The text of a file, or why it is not read.
pub(super) fn artifact_text<'t>(tree: &'t Tree, path: &str) -> Result<&'t str, Box<Diagnostic>> {
    let text = tree.read_text(path, "it", ARTIFACT_LIMIT_BYTES as u64)?;
    Ok(text.unwrap_or_default())
}

/// Reads an artifact; `None` if the YAML cannot be parsed.
pub(super) fn read_artifact<T>(
    shape: &Shape,
    path: &str,
    text: &str,
    found: &mut Vec<Diagnostic>,
    value: impl FnOnce(&Node) -> T,
) -> Option<Filed<T>> {
    let (root, mistakes) = yaml::parse(text);
    let mut here: Vec<Diagnostic> = mistakes
        .into_iter()
        .map(|one| {
            Diagnostic::error(path, one.message)
                .at(one.line, one.column)
                .help(one.help)
        })
        .collect();
    if root.is_none() && here.is_empty() {
        let empty = Diagnostic::error(path, "there is nothing in it").at(1, 1);
        here.push(empty.help(format!("fill in the template of `{}`", shape.name)));
    }
    if let Some(root) = &root {
        here.extend(validate_node(shape, path, root));
    }
    let sound = here.is_empty();
    here.sort_by_key(|one| (one.line, one.column));
    let more = here.len().saturating_sub(FINDINGS_LIMIT);
    here.truncate(FINDINGS_LIMIT);
    if more > 0 {
        let message = format!("there are {more} further findings in it");
        here.push(Diagnostic::error(path, message).help("fix those above first"));
    }
    found.extend(here);
    let node = root?;
    Some(Filed {
        path: path.to_owned(),
        sound,
        value: value(&node),
        node,
    })
}

impl Shape {
    /// All mistakes of one file: YAML errors, and violations of the shape.
    #[must_use]
    pub fn validate(&self, file: &str, text: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        read_artifact(self, file, text, &mut found, |_| ());
        found
    }
}
