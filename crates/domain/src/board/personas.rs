//! Lists the names of a repository's personas.

use std::collections::BTreeSet;

use crate::model::Tree;
use crate::plan::{PERSONAS_FOLDER, closest};

/// Folders beside the personas' folders that are no personas.
const OTHERS: [&str; 2] = ["blocks", "partials"];

/// The names of all persona folders, whether or not their prompts can be read.
#[must_use]
pub fn persona_names(tree: &Tree) -> BTreeSet<&str> {
    tree.iter()
        .filter_map(|(path, _)| {
            let (name, _) = path
                .strip_prefix(PERSONAS_FOLDER)?
                .strip_prefix('/')?
                .split_once('/')?;
            Some(name)
        })
        .filter(|name| !name.starts_with(['_', '.']) && !OTHERS.contains(name))
        .collect()
}

/// The fix for an unknown persona name.
pub(super) fn suggest_persona(name: &str, personas: &BTreeSet<&str>) -> String {
    match closest(name, personas.iter().copied()) {
        Some(one) => format!("did you mean `{one}`?"),
        None => "name a persona that has a folder in `.jules/personas`".to_owned(),
    }
}
