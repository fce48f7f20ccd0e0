//! Implements the functions that a layer's template can call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::{Environment, Error};

use super::request::{Include, Notes, Origin, RULES_PATH, Seed, Skipped};
use super::sources::{Found, Sources};
use crate::prompt::fence::Fence;
use crate::prompt::files::{Refusal, is_written_by_agents};

/// Adds the functions.
pub(super) fn add_functions(
    environment: &mut Environment<'static>,
    sources: &Arc<Sources>,
    fence: &Arc<Fence>,
    notes: &Arc<Mutex<Notes>>,
) {
    for (name, required) in [("include_required", true), ("include_optional", false)] {
        let including = IncludeFunctions {
            sources: Arc::clone(sources),
            fence: Arc::clone(fence),
            notes: Arc::clone(notes),
            required,
        };
        environment.add_function(name, move |path: &str| -> Result<String, Error> {
            Ok(including.include_file(path)?)
        });
    }
    let sources = Arc::clone(sources);
    environment.add_function("file_exists", move |path: &str| {
        let found = sources
            .resolve_path(path)
            .and_then(|path| sources.find_file(&path));
        matches!(found, Ok(Found::Text(_) | Found::Unreadable(_)))
    });
    environment.add_function("section", |title: &str, content: &str| {
        section_text(title, content)
    });
}

/// A heading and its content; nothing if the content is blank.
pub(super) fn section_text(title: &str, content: &str) -> String {
    if content.trim().is_empty() {
        return String::new();
    }
    format!("---\n# {title}\n{}\n", content.trim_end())
}

struct IncludeFunctions {
    sources: Arc<Sources>,
    fence: Arc<Fence>,
    notes: Arc<Mutex<Notes>>,
    required: bool,
}

impl IncludeFunctions {
    fn include_file(&self, name: &str) -> Result<String, Refusal> {
        let path = self.sources.resolve_path(name)?;
        if path == RULES_PATH {
            self.note_skipped(path, "it is the first section of every prompt already");
            return Ok(String::new());
        }
        match self.sources.find_file(&path)? {
            Found::Text(text) => {
                let text = self.fenced_text(&path, &text);
                self.note_include(path, Origin::Repository);
                Ok(text)
            }
            Found::Missing(Some(stand)) => {
                let shown = self.fenced_text(&path, &stand.text);
                if let Some(text) = stand.seed {
                    self.add_seed(&path, text);
                }
                self.note_include(path, stand.from);
                Ok(shown)
            }
            Found::Missing(None) if self.required => Err(Refusal::new(
                format!("there is no file `{path}`"),
                "write it, or use `include_optional` where it may be missing",
            )),
            Found::Missing(None) => {
                self.note_skipped(path, "there is no such file");
                Ok(String::new())
            }
            Found::Unreadable(refusal) if self.required => Err(refusal),
            Found::Unreadable(refusal) => {
                self.note_skipped(path, &refusal.message);
                Ok(String::new())
            }
        }
    }

    fn fenced_text(&self, path: &str, text: &str) -> String {
        if is_written_by_agents(path) {
            self.fence.fenced_block(&format!("the file {path}"), text)
        } else {
            text.to_owned()
        }
    }

    fn add_seed(&self, to: &str, text: String) {
        let mut notes = self.lock_notes();
        match notes.seeds.iter_mut().find(|known| known.to == to) {
            Some(known) => known.required |= self.required,
            None => notes.seeds.push(Seed {
                to: to.to_owned(),
                text,
                required: self.required,
            }),
        }
    }

    fn note_include(&self, path: String, from: Origin) {
        let include = Include { path, from };
        let mut notes = self.lock_notes();
        if !notes.included.contains(&include) {
            notes.included.push(include);
        }
    }

    fn note_skipped(&self, path: String, reason: &str) {
        let skipped = Skipped {
            path,
            reason: reason.to_owned(),
        };
        let mut notes = self.lock_notes();
        if !notes.skipped.contains(&skipped) {
            notes.skipped.push(skipped);
        }
    }

    fn lock_notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
