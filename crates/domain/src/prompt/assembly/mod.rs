//! Renders the prompt of a layer: its template, and the files that it includes.
//!
//! A layer's folder is `.jules/layers/<layer>` or `.jules/roles/<layer>`. Its `<layer>_prompt.j2` is the template. The
//! older pair `prompt.yml` and `prompt_assembly.yml` is compiled to such a template.
//!
//! | function | result |
//! |---|---|
//! | `include_required(path)` | the text of a file, or of `schemas/<its name>` if the ledger lacks the file |
//! | `include_optional(path)` | the same, or nothing, with an entry in [`Assembled::skipped`] |
//! | `file_exists(path)` | whether the file exists |
//! | `section(title, content)` | the content below a heading; nothing if the content is blank |
//!
//! If a role's own memory does not exist yet, the prompt shows its schema or its initial text, and a [`Seed`] creates it.
//!
//! Paths are relative to the repository's root. The exchange and the memories are read from the ledger, everything else
//! from the default branch. Texts of agents are fenced, wherever they are. Included texts are never parsed as templates.
//! Links, paths that lead out of the repository and undefined names are errors. The first error is reported, with the
//! templates that led to it.
//!
//! The rules for all layers, `.jules/JULES.md`, are the first section of every prompt, whatever the template says. If a
//! repository has none, the built-in rules are used.

mod failure;
mod functions;
mod home;
mod lint;
mod older;
mod request;
mod sources;
#[cfg(test)]
mod tests;

pub use home::canonical_layer;
pub use lint::read_orders;
pub use request::{Assembled, Assembly, Attached, Include, Origin, RULES_PATH, Seed, Skipped};

use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Environment;

use super::environment::{Page, metered_formatter};
use super::error::RenderError;
use super::fence::Fence;
use super::jinja::new_environment;
use super::limits::{MARKER_ROOM_BYTES, PROMPT_LIMIT_BYTES, STACK_BYTES};
use super::percent::with_percent;
use super::stack::run_on_stack;
use super::syntax::seed_syntax;
use crate::Diagnostic;
use crate::model::Tree;
use failure::explain_error;
use home::{Form, Home};
use request::Notes;
use sources::Sources;

/// Renders a layer's prompt. The same request gives the same bytes.
///
/// # Errors
///
/// The files to read first, if the tree was read in parts; otherwise the first mistake, with its file and line, and the
/// templates that led to it.
pub fn assemble_prompt(request: &Assembly<'_>) -> Result<Assembled, RenderError> {
    assemble_on(STACK_BYTES, request)
}

/// Like [`assemble_prompt`], on a stack of the given size.
pub(super) fn assemble_on(stack: usize, request: &Assembly<'_>) -> Result<Assembled, RenderError> {
    let home = Home::of(request.tree, request.layer)?;
    let sources = Arc::new(Sources::new(request, &home));
    let made = run_on_stack(stack, &home.entry_path(), || {
        assemble_here(request, &home, &sources)
    })?;
    let unread = sources.unread_paths();
    if unread.is_empty() {
        Ok(made?)
    } else {
        Err(RenderError::Unread(unread))
    }
}

/// The path of the file with which a layer's prompt begins, or would begin.
pub(super) fn entry_path(tree: &Tree, layer: &str) -> String {
    match Home::of(tree, layer) {
        Ok(home) => home.entry_path(),
        Err(missing) => missing.file,
    }
}

fn assemble_here(
    request: &Assembly<'_>,
    home: &Home,
    sources: &Arc<Sources>,
) -> Result<Assembled, Diagnostic> {
    let role = request.variables.get("role").map_or("", String::as_str);
    let about = format!("{}\n{role}\n{}", home.layer, request.turn);
    let fence = Arc::new(Fence::with_boundary(request.entropy, &about));
    let notes = Arc::new(Mutex::new(Notes::default()));
    let mut variables = request.variables.clone();
    if let Some(task) = request.task {
        variables.insert("task_name".to_owned(), task.to_owned());
        variables.insert("task".to_owned(), sources.task_text(task)?);
    }
    let compiled = match home.form {
        Form::Template => None,
        Form::Pair => Some(older::compile_pair(request.tree, home, &variables)?),
    };
    let entry = home.entry_path();
    let mut environment = layer_environment(sources, &fence, &notes);
    if let Some(compiled) = &compiled {
        for (name, source) in [
            (&entry, &compiled.source),
            (&compiled.base, &compiled.base_text),
        ] {
            environment
                .add_template_owned(name.clone(), with_percent(source))
                .map_err(|error| explain_error(&error, &entry, &variables, Some(compiled)))?;
        }
    }
    let mut page = Page::default();
    environment
        .get_template(&entry)
        .and_then(|template| template.render_captured_to(&variables, &mut page).map(drop))
        .map_err(|error| explain_error(&error, &entry, &variables, compiled.as_ref()))?;
    let (rules, from) = sources.rules_text()?;
    let mut prompt = functions::section_text("Rules for all layers", &rules);
    prompt.push('\n');
    prompt.push_str(page.into_text().trim_matches('\n'));
    for attached in request.attached {
        let text = fence.fenced_block(attached.what, attached.text);
        prompt.push_str(&format!(
            "\n\n{}",
            functions::section_text(attached.title, &text)
        ));
    }
    prompt.truncate(prompt.trim_end().len());
    prompt.push('\n');
    let limit = PROMPT_LIMIT_BYTES - MARKER_ROOM_BYTES;
    if prompt.len() > limit {
        let message = format!("the prompt has {} bytes, more than {limit}", prompt.len());
        return Err(Diagnostic::error(entry, message).help("shorten it, or include less"));
    }
    drop(environment);
    let mut notes = std::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner));
    notes.included.insert(
        0,
        Include {
            path: RULES_PATH.to_owned(),
            from,
        },
    );
    Ok(Assembled {
        prompt,
        included: notes.included,
        skipped: notes.skipped,
        seeds: notes.seeds,
    })
}

fn layer_environment(
    sources: &Arc<Sources>,
    fence: &Arc<Fence>,
    notes: &Arc<Mutex<Notes>>,
) -> Environment<'static> {
    let mut environment = new_environment();
    environment.set_syntax(seed_syntax());
    environment.set_formatter(metered_formatter());
    let following = Arc::clone(sources);
    environment.set_path_join_callback(move |name, parent| {
        following.reach.follow_chain(parent, name);
        name.into()
    });
    let loading = Arc::clone(sources);
    environment
        .set_loader(move |name| Ok(loading.template_text(name)?.map(|text| with_percent(&text))));
    functions::add_functions(&mut environment, sources, fence, notes);
    environment
}
