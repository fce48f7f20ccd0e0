//! The prompt of a layer: its template, and the files that it puts in.
//!
//! A layer's folder is `.jules/layers/<layer>` or `.jules/roles/<layer>`. In it, `<layer>_prompt.j2` says what the agent
//! gets; the older pair `prompt.yml` and `prompt_assembly.yml` is compiled to such a template.
//!
//! | function | what it gives |
//! |---|---|
//! | `include_required(path)` | a file's text; where the ledger has none, that of `schemas/<its name>` |
//! | `include_optional(path)` | the same, or nothing, with an entry in [`Assembled::skipped`] |
//! | `file_exists(path)` | whether there is such a file |
//! | `section(title, content)` | the content below a heading; nothing where the content is blank |
//!
//! A role's own memory that does not exist yet is shown like that, or as it will begin; a [`Seed`] says what it begins
//! with.
//!
//! Paths count from the repository's root. The exchange and the memories are read from the ledger, everything else from
//! the default branch; what agents write stands inside a fence, wherever it lies. Nothing that is put in is parsed as a template, links and paths that
//! lead out are refused, and an undefined name is an error. The first thing that goes wrong is told, with the templates
//! that lead to it.
//!
//! The rules for all layers, `.jules/JULES.md`, are the first section of every prompt, whatever the template says.
//! Where a repository has none, phileas has its own.

mod failure;
mod functions;
mod home;
mod lint;
mod older;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use minijinja::Environment;
use serde::{Deserialize, Serialize};

pub use home::canonical_layer;
pub use lint::read_orders;

use super::RenderError;
use super::environment::{Page, metered, seed_syntax};
use super::fence::Fence;
use super::jinja::engine;
use super::limits::{MARKER_ROOM_BYTES, PROMPT_LIMIT_BYTES, STACK_BYTES};
use super::percent::with_percent;
use super::stack::deep;
use crate::Diagnostic;
use crate::layers::RULES;
use crate::model::Tree;
use failure::explain;
use home::{Form, Home};
use sources::Sources;

/// The rules for all layers, from the repository's root.
pub const RULES_PATH: &str = ".jules/JULES.md";

/// Everything that a layer's prompt is made from.
#[derive(Debug, Clone, Copy)]
pub struct Assembly<'a> {
    /// The layer, in any spelling: `observers`, `observer`.
    pub layer: &'a str,
    /// The files of the default branch: templates, contracts, tasks, schemas, roles.
    pub tree: &'a Tree,
    /// The files of the ledger: the exchange and the roles' memory.
    pub ledger: &'a Tree,
    /// What the template may name, such as `role` or `run_mode`.
    pub variables: &'a BTreeMap<String, String>,
    /// The task whose text is `task` and whose name is `task_name`: a file of the layer's folder `tasks`.
    pub task: Option<&'a str>,
    /// What is added below the template's own sections. Others wrote it, so it is fenced.
    pub attached: &'a [Attached<'a>],
    /// What this prompt alone is about, such as the id of its turn: no two prompts of one tick have the same boundary.
    pub turn: &'a str,
    /// The present time, with which a memory begins.
    pub now: Timestamp,
    /// Randomness that nobody could know when they wrote what the prompt quotes.
    pub entropy: &'a [u8; 32],
}

/// A text of others that belongs to one turn, such as the requirement that it is about.
#[derive(Debug, Clone, Copy)]
pub struct Attached<'a> {
    /// Its heading.
    pub title: &'a str,
    /// What it is, where it is quoted: `the file .jules/exchange/requirements/x.yml`.
    pub what: &'a str,
    /// The text.
    pub text: &'a str,
}

/// A layer's prompt without its marker, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assembled {
    /// The prompt.
    pub prompt: String,
    /// The files that were put in, in the order in which it happened, each once.
    pub included: Vec<Include>,
    /// Files that were asked for and left out, in the order in which it happened.
    pub skipped: Vec<Skipped>,
    /// Memories to write into the ledger, because they were asked for and do not exist yet.
    pub seeds: Vec<Seed>,
}

/// A file that was put in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Include {
    /// From the repository's root.
    pub path: String,
    /// Whose text was put in.
    pub from: Origin,
}

/// Where the text of an [`Include`] came from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    /// The file itself, on the default branch or on the ledger.
    Repository,
    /// phileas' own text of that name, for the repository has none.
    BuiltIn,
    /// The schema at this path stands for the file, which does not exist yet.
    Schema(String),
    /// What the file will begin with: it does not exist yet, and has no schema.
    Seed,
}

/// A file that was left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// From the repository's root.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A memory that is to be written. Assembling writes nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seed {
    /// The file.
    pub to: String,
    /// The text: [`crate::exchange::seed`]'s, which the exchange's checks find sound.
    pub text: String,
    /// Whether the prompt could not do without it.
    pub required: bool,
}

/// What the functions of one template note.
#[derive(Debug, Default)]
struct Notes {
    included: Vec<Include>,
    skipped: Vec<Skipped>,
    seeds: Vec<Seed>,
}

/// Makes a layer's prompt. The same request gives the same bytes.
///
/// # Errors
///
/// What must be read first, where the tree was read in parts; else the first thing that is wrong, with its file and line,
/// and the templates that lead there.
pub fn assemble(request: &Assembly<'_>) -> Result<Assembled, RenderError> {
    assemble_on(STACK_BYTES, request)
}

/// Like [`assemble`], on a stack of this size.
pub(super) fn assemble_on(stack: usize, request: &Assembly<'_>) -> Result<Assembled, RenderError> {
    let home = Home::of(request.tree, request.layer)?;
    let sources = Arc::new(Sources::new(request, &home));
    let made = deep(stack, &home.entry(), || {
        assemble_here(request, &home, &sources)
    })?;
    let unread = sources.unread();
    if unread.is_empty() {
        Ok(made?)
    } else {
        Err(RenderError::Unread(unread))
    }
}

/// The file that a layer's prompt begins with, or would begin with.
pub(super) fn entry_path(tree: &Tree, layer: &str) -> String {
    match Home::of(tree, layer) {
        Ok(home) => home.entry(),
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
    let fence = Arc::new(Fence::around(request.entropy, &about));
    let notes = Arc::new(Mutex::new(Notes::default()));
    let mut variables = request.variables.clone();
    if let Some(task) = request.task {
        variables.insert("task_name".to_owned(), task.to_owned());
        variables.insert("task".to_owned(), sources.task(task)?);
    }
    let compiled = match home.form {
        Form::Template => None,
        Form::Pair => Some(older::compile(request.tree, home, &variables)?),
    };
    let entry = home.entry();
    let mut environment = environment(sources, &fence, &notes);
    if let Some(compiled) = &compiled {
        for (name, source) in [
            (&entry, &compiled.source),
            (&compiled.base, &compiled.base_text),
        ] {
            environment
                .add_template_owned(name.clone(), with_percent(source))
                .map_err(|error| explain(&error, &entry, &variables, Some(compiled)))?;
        }
    }
    let mut page = Page::default();
    environment
        .get_template(&entry)
        .and_then(|template| template.render_captured_to(&variables, &mut page).map(drop))
        .map_err(|error| explain(&error, &entry, &variables, compiled.as_ref()))?;
    let (rules, from) = sources.rules()?;
    let mut prompt = functions::section("Rules for all layers", &rules);
    prompt.push('\n');
    prompt.push_str(page.into_text().trim_matches('\n'));
    for attached in request.attached {
        let text = fence.block(attached.what, attached.text);
        prompt.push_str(&format!(
            "\n\n{}",
            functions::section(attached.title, &text)
        ));
    }
    prompt.truncate(prompt.trim_end().len());
    prompt.push('\n');
    let limit = PROMPT_LIMIT_BYTES - MARKER_ROOM_BYTES;
    if prompt.len() > limit {
        let message = format!(
            "the prompt has {} bytes, more than PROMPT_LIMIT_BYTES less MARKER_ROOM_BYTES ({limit})",
            prompt.len()
        );
        return Err(Diagnostic::error(entry, message).mend("shorten it, or include less"));
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

fn environment(
    sources: &Arc<Sources>,
    fence: &Arc<Fence>,
    notes: &Arc<Mutex<Notes>>,
) -> Environment<'static> {
    let mut environment = engine();
    environment.set_syntax(seed_syntax());
    environment.set_formatter(metered());
    let following = Arc::clone(sources);
    environment.set_path_join_callback(move |name, parent| {
        following.reach.follow(parent, name);
        name.into()
    });
    let loading = Arc::clone(sources);
    environment.set_loader(move |name| Ok(loading.template(name)?.map(|text| with_percent(&text))));
    functions::add(&mut environment, sources, fence, notes);
    environment
}
