//! Reads all personas of a commit.

use std::collections::BTreeMap;

use super::definition::Persona;
use super::{folders, keys};
use crate::Diagnostic;
use crate::model::{PersonaId, Tree};

/// Reads all personas of a commit, and what is wrong with the others.
///
/// `prompt.md.j2` counts before `prompt.md`. Folders that begin with `_` or `.`, `blocks` and `partials` hold
/// something else. A persona with a mistake is left out, except where the mistake is only a warning.
#[must_use]
pub fn read_personas(tree: &Tree) -> (BTreeMap<PersonaId, Persona>, Vec<Diagnostic>) {
    let (prompts, mut diagnostics) = folders::prompts(tree);
    let mut personas = BTreeMap::new();
    for prompt in prompts {
        let (persona, found) = keys::read(prompt.id, prompt.path, prompt.text);
        diagnostics.extend(found);
        if let Some(persona) = persona {
            personas.insert(persona.id.clone(), persona);
        }
    }
    (personas, diagnostics)
}
