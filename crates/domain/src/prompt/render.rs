//! Renders a persona's prompt and title.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use minijinja::value::Serde;
use minijinja::{Environment, Value};

use super::context::Context;
use super::environment::{Included, note_included, persona_environment};
use super::error::RenderError;
use super::failure::TemplateFailure;
use super::fence::Fence;
use super::files::Files;
use super::journals::journal_entries;
use super::limits::{MARKER_ROOM_BYTES, PROMPT_LIMIT_BYTES, STACK_BYTES, TEMPLATE_LIMIT_BYTES};
use super::partials::find_partials;
use super::percent::with_percent;
use super::pulls::OpenPulls;
use super::quoted::Quoted;
use super::request::{Rendered, Request};
use super::sections::{note_lines, with_sections};
use super::sprint::sprint_context;
use super::stack::run_on_stack;
use super::subject::subject_text;
use super::tasks::tasks_text;
use super::title::{TITLE_TEMPLATE, render_title};
use super::work::work_text;
use crate::Diagnostic;
use crate::plan::Persona;

/// Renders a persona's title and prompt.
///
/// The same request gives the same bytes.
///
/// # Errors
///
/// The files to read first, if the tree was read in parts; otherwise the mistakes in the templates, with file and line,
/// or the limit that was exceeded.
pub fn render_prompt(request: &Request<'_>) -> Result<Rendered, RenderError> {
    render_on(STACK_BYTES, request)
}

/// Like [`render_prompt`], on a stack of the given size.
pub(super) fn render_on(stack: usize, request: &Request<'_>) -> Result<Rendered, RenderError> {
    let persona = request.persona;
    let files = Files::new(request.tree, persona);
    let rendered = run_on_stack(stack, &persona.path, || render_here(request, &files))?;
    let unread = files.unread_paths();
    if unread.is_empty() {
        rendered.map_err(RenderError::Invalid)
    } else {
        Err(RenderError::Unread(unread))
    }
}

fn render_here(request: &Request<'_>, files: &Arc<Files>) -> Result<Rendered, Vec<Diagnostic>> {
    let persona = request.persona;
    let is_template = persona.path.ends_with(".j2");
    let fence = Fence::for_persona(request.entropy, &persona.id, request.track);
    let partials = if is_template || persona.title.is_some() {
        find_partials(files, &persona.path).map_err(|said| vec![said])?
    } else {
        BTreeMap::new()
    };
    let included = Included::default();
    let quoted = quote_texts(request, &fence);
    let mut environment = persona_environment(files, &fence, &included);
    let broken = add_templates(&mut environment, persona, is_template)?;
    let context = Context::new(
        environment,
        persona.id.as_str().to_owned(),
        context_values(request, &quoted, &fence),
        partials,
    );
    let place = TemplateFailure {
        persona,
        files,
        context: &context,
    };
    let explain = |error| place.diagnose_error(&error);
    if !broken.is_empty() {
        return Err(broken.into_iter().map(explain).collect());
    }

    let body = if is_template {
        context.render_template(&persona.path).map_err(explain)
    } else {
        Ok(persona.body.clone())
    };
    // Checked before the title is rendered, because what only the title uses is missing from the prompt.
    let prompt =
        body.and_then(|body| with_sections(persona, is_template, body.trim(), &quoted, &context));
    let title = render_title(persona, request.track, &context).map_err(explain);
    let (mut prompt, title) = match (prompt, title) {
        (Ok(prompt), Ok(title)) => (prompt, title),
        (prompt, title) => return Err(prompt.err().into_iter().chain(title.err()).collect()),
    };
    if let Some(explanation) = fence.explain_fence() {
        prompt.push_str("\n\n");
        prompt.push_str(&explanation);
    }
    check_length(persona, &prompt, PROMPT_LIMIT_BYTES - MARKER_ROOM_BYTES)?;
    note_quoted(&quoted, &context, &prompt, &included);
    let included = included
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    Ok(Rendered {
        title,
        prompt,
        included: included.into_iter().collect(),
    })
}

/// Adds the templates of the persona to the engine. Returns the errors in them.
fn add_templates(
    environment: &mut Environment<'_>,
    persona: &Persona,
    is_template: bool,
) -> Result<Vec<minijinja::Error>, Vec<Diagnostic>> {
    let mut sources = Vec::new();
    if is_template {
        sources.push((persona.path.as_str(), &persona.body));
    }
    if let Some(title) = &persona.title {
        sources.push((TITLE_TEMPLATE, title));
    }
    let mut broken = Vec::new();
    for (name, source) in sources {
        check_length(persona, source, TEMPLATE_LIMIT_BYTES)?;
        if let Err(error) = environment.add_template_owned(name.to_owned(), with_percent(source)) {
            broken.push(error);
        }
    }
    Ok(broken)
}

/// Records the files of the quoted texts that a prompt contains.
fn note_quoted(quoted: &Quoted, context: &Context, prompt: &str, included: &Included) {
    for (name, section, paths) in [
        ("journal_entries", &quoted.journals, &quoted.journal_paths),
        ("sprint_context_text", &quoted.sprint, &quoted.sprint_paths),
        ("tasks_text", &quoted.tasks, &quoted.task_paths),
    ] {
        if context.was_read(name) || (!section.is_empty() && prompt.contains(section)) {
            paths.iter().for_each(|path| note_included(included, path));
        }
    }
}

fn quote_texts(request: &Request<'_>, fence: &Fence) -> Quoted {
    let id = &request.persona.id;
    let (journals, journal_paths) = journal_entries(request.tree, id, fence);
    let (sprint, sprint_paths) = sprint_context(request.tree, id, request.sprint, fence);
    let (tasks, task_paths) = tasks_text(request.tree, request.persona, fence);
    Quoted {
        journals,
        journal_paths,
        sprint,
        sprint_paths,
        tasks,
        task_paths,
        work: work_text(request.work, fence),
        notes: note_lines(request.notes),
        subject: subject_text(request.subject.as_ref(), fence),
    }
}

/// How many names phileas itself gives to templates.
const OUR_COUNT: usize = 13;

/// The names that phileas itself gives to templates, besides those of the frontmatter.
pub(super) const OUR_NAMES: [&str; OUR_COUNT] = [
    "owner",
    "repo",
    "repo_full",
    "track",
    "open_prs_text",
    "open_prs",
    "journal_entries",
    "sprint",
    "sprint_context_text",
    "tasks_text",
    "work_text",
    "notes",
    "request_text",
];

/// The variables of the context, without partials. The persona's frontmatter takes precedence over our own values, as
/// in seed 004's system; id, emoji and description have a value even without frontmatter.
fn context_values(
    request: &Request<'_>,
    quoted: &Quoted,
    fence: &Arc<Fence>,
) -> BTreeMap<String, Value> {
    let persona = request.persona;
    let pulls = OpenPulls::new(request.open_pulls, fence);
    // In the order of `OUR_NAMES`.
    let ours: [Value; OUR_COUNT] = [
        Value::from(request.repository.owner.as_str()),
        Value::from(request.repository.name.as_str()),
        Value::from(request.repository.to_string()),
        Value::from(request.track.as_str()),
        Value::from(pulls.as_text()),
        Value::from_object(pulls),
        Value::from(quoted.journals.as_str()),
        request.sprint.map_or(Value::from(()), Value::from),
        Value::from(quoted.sprint.as_str()),
        Value::from(quoted.tasks.as_str()),
        Value::from(quoted.work.as_str()),
        Value::from(quoted.notes.clone()),
        Value::from(quoted.subject.as_str()),
    ];
    let own = [
        ("id", Value::from(persona.id.as_str())),
        ("emoji", Value::from(persona.emoji.as_str())),
        ("description", Value::from(persona.description.as_str())),
    ];
    let frontmatter = persona
        .frontmatter
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(Serde(value))));
    let named = |(name, value): (&str, Value)| (name.to_owned(), value);
    let ours = OUR_NAMES.into_iter().zip(ours);
    ours.map(named)
        .chain(frontmatter)
        .chain(own.into_iter().map(named))
        .collect()
}

fn check_length(persona: &Persona, text: &str, limit: usize) -> Result<(), Vec<Diagnostic>> {
    let bytes = text.len();
    if bytes <= limit {
        return Ok(());
    }
    let message = format!("the prompt has {bytes} bytes, more than {limit}");
    let said = Diagnostic::error(&persona.path, message);
    Err(vec![said.help("shorten it, or include less")])
}
