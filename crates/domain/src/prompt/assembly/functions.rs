//! Implements the functions that a layer's template can call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::{Environment, Error};

use super::request::{Include, Notes, Origin, RULES_PATH, Seed, Skipped};
use super::sources::{Found, Sources};
use crate::prompt::fence::Fence;
use crate::prompt::files::{Refusal, is_written_by_agents};

/// Adds the functions.
pub(super) fn add(
    environment: &mut Environment<'static>,
    sources: &Arc<Sources>,
    fence: &Arc<Fence>,
    notes: &Arc<Mutex<Notes>>,
) {
    for (name, required) in [("include_required", true), ("include_optional", false)] {
        let including = Including {
            sources: Arc::clone(sources),
            fence: Arc::clone(fence),
            notes: Arc::clone(notes),
            required,
        };
        environment.add_function(name, move |path: &str| -> Result<String, Error> {
            Ok(including.include(path)?)
        });
    }
    let sources = Arc::clone(sources);
    environment.add_function("file_exists", move |path: &str| {
        let found = sources.resolve(path).and_then(|path| sources.find(&path));
        matches!(found, Ok(Found::Text(_) | Found::Unreadable(_)))
    });
    environment.add_function("section", |title: &str, content: &str| {
        section(title, content)
    });
}

/// A heading and its content; nothing if the content is blank.
pub(super) fn section(title: &str, content: &str) -> String {
    if content.trim().is_empty() {
        return String::new();
    }
    format!("---\n# {title}\n{}\n", content.trim_end())
}

struct Including {
    sources: Arc<Sources>,
    fence: Arc<Fence>,
    notes: Arc<Mutex<Notes>>,
    required: bool,
}

impl Including {
    fn include(&self, name: &str) -> Result<String, Refusal> {
        let path = self.sources.resolve(name)?;
        if path == RULES_PATH {
            self.skip(path, "it is the first section of every prompt already");
            return Ok(String::new());
        }
        match self.sources.find(&path)? {
            Found::Text(text) => {
                let text = self.shown(&path, &text);
                self.note(path, Origin::Repository);
                Ok(text)
            }
            Found::Missing(Some(stand)) => {
                let shown = self.shown(&path, &stand.text);
                if let Some(text) = stand.seed {
                    self.seed(&path, text);
                }
                self.note(path, stand.from);
                Ok(shown)
            }
            Found::Missing(None) if self.required => Err(Refusal::new(
                format!("there is no file `{path}`"),
                "write it, or use `include_optional` where it may be missing",
            )),
            Found::Missing(None) => {
                self.skip(path, "there is no such file");
                Ok(String::new())
            }
            Found::Unreadable(refusal) if self.required => Err(refusal),
            Found::Unreadable(refusal) => {
                self.skip(path, &refusal.message);
                Ok(String::new())
            }
        }
    }

    fn shown(&self, path: &str, text: &str) -> String {
        if is_written_by_agents(path) {
            self.fence.block(&format!("the file {path}"), text)
        } else {
            text.to_owned()
        }
    }

    fn seed(&self, to: &str, text: String) {
        let mut notes = self.notes();
        match notes.seeds.iter_mut().find(|known| known.to == to) {
            Some(known) => known.required |= self.required,
            None => notes.seeds.push(Seed {
                to: to.to_owned(),
                text,
                required: self.required,
            }),
        }
    }

    fn note(&self, path: String, from: Origin) {
        let include = Include { path, from };
        let mut notes = self.notes();
        if !notes.included.contains(&include) {
            notes.included.push(include);
        }
    }

    fn skip(&self, path: String, reason: &str) {
        let skipped = Skipped {
            path,
            reason: reason.to_owned(),
        };
        let mut notes = self.notes();
        if !notes.skipped.contains(&skipped) {
            notes.skipped.push(skipped);
        }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
