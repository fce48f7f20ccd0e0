//! Configures the template engine for prompts: strict, with limits, and with the files of one commit only.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{Environment, Error, Output, State, Value};

use super::fence::Fence;
use super::files::{Files, Refusal, is_written_by_agents};
use super::jinja::{new_environment, print_value as printed_as_jinja};
use super::limits::{EMITTED_LIMIT_BYTES, PROMPT_LIMIT_BYTES};
use super::percent::with_percent;
use super::syntax::seed_syntax;

/// The paths of the files that were included in a prompt.
pub(super) type Included = Arc<Mutex<BTreeSet<String>>>;

/// Builds the engine of one prompt.
pub(super) fn persona_environment(
    files: &Arc<Files>,
    fence: &Arc<Fence>,
    included: &Included,
) -> Environment<'static> {
    let mut environment = new_environment();
    environment.set_syntax(seed_syntax());
    environment.set_formatter(metered_formatter());
    set_files(&mut environment, files, included);
    for (name, required) in [("include_required", true), ("include_optional", false)] {
        let quote = Quote {
            files: Arc::clone(files),
            fence: Arc::clone(fence),
            included: Arc::clone(included),
            required,
        };
        environment.add_function(name, move |state: &State, path: &str| {
            quote.read_quoted(path, state.name())
        });
    }
    environment
}

/// Records that a file was included.
pub(super) fn note_included(included: &Included, path: &str) {
    included
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(path.to_owned());
}

/// Prints values, and counts the output of captures, which the limit of the prompt's size misses.
pub(super) fn metered_formatter()
-> impl Fn(&mut Output, &mut State, &Value) -> Result<(), Error> + Send + Sync + 'static {
    let emitted = AtomicUsize::new(0);
    move |out, state, value| {
        let printed = value
            .as_str()
            .map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
        let before = emitted.fetch_add(printed.len(), Ordering::Relaxed);
        if before.saturating_add(printed.len()) > EMITTED_LIMIT_BYTES {
            return Err(Refusal::new(
                format!("the template's expressions put out more than {EMITTED_LIMIT_BYTES} bytes"),
                "print less, or leave out what repeats",
            )
            .into());
        }
        match printed_as_jinja(state.auto_escape(), value) {
            Some(text) => Ok(out.write_str(&text)?),
            None => minijinja::escape_formatter(out, state, value),
        }
    }
}

fn set_files(environment: &mut Environment<'static>, files: &Arc<Files>, included: &Included) {
    let finding = Arc::clone(files);
    environment.set_path_join_callback(move |name, parent| {
        // A refused name is refused again, with the reason, when it is loaded.
        match finding.resolve_name(name, parent) {
            Ok(Some(path)) => {
                finding.reach.follow_chain(parent, &path);
                path.into()
            }
            Ok(None) | Err(_) => name.into(),
        }
    });
    let files = Arc::clone(files);
    let included = Arc::clone(included);
    environment.set_loader(move |name| -> Result<Option<String>, Error> {
        let Some(path) = files.resolve_name(name, "")? else {
            return Ok(None);
        };
        files.reach.check_depth(&path)?;
        let text = files.template_text(&path)?;
        note_included(&included, &path);
        Ok(Some(with_percent(&text)))
    });
}

/// `include_required` and `include_optional`: the literal text of a file, never parsed.
struct Quote {
    files: Arc<Files>,
    fence: Arc<Fence>,
    included: Included,
    required: bool,
}

impl Quote {
    fn read_quoted(&self, name: &str, parent: &str) -> Result<String, Error> {
        let Some(path) = self.files.resolve_name(name, parent)? else {
            if self.required {
                return Err(Refusal::new(
                    format!("there is no file `{name}`"),
                    "write it, or use `include_optional` where it may be missing",
                )
                .into());
            }
            return Ok(String::new());
        };
        let text = self.files.file_text(&path)?;
        note_included(&self.included, &path);
        Ok(if is_written_by_agents(&path) {
            self.fence.fenced_block(&format!("the file {path}"), &text)
        } else {
            text.as_ref().to_owned()
        })
    }
}

/// Receives the output of a template, up to the size of a prompt.
#[derive(Debug, Default)]
pub(super) struct Page {
    bytes: Vec<u8>,
}

impl Page {
    pub(super) fn into_text(self) -> String {
        String::from_utf8(self.bytes).expect("templates put out text only")
    }
}

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > PROMPT_LIMIT_BYTES {
            return Err(io::Error::other(Refusal::new(
                format!("the prompt gets longer than {PROMPT_LIMIT_BYTES} bytes"),
                "shorten it, or include less",
            )));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
