//! `phileas prompt`: prints the prompt of a persona or a layer, and its sources.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use phileas_domain::Diagnostic;
use phileas_domain::exchange::{self, Exchange, Layout};
use phileas_domain::layers::{Catalogue, Job, check_included_files};
use phileas_domain::model::Tree;
use phileas_domain::plan::{LAYERS, ROLE_LAYERS, closest};
use phileas_domain::prompt::{
    self, Assembled, Assembly, Include, Origin, RenderError, RenderRequest, SourceFiles,
};
use serde_json::json;

use super::{persona, role};
use crate::adapters::{files, renderer};
use crate::cli::arguments::{PromptCommand, PromptName, RenderPrompt};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::{self, Screen};

pub(crate) fn run(
    command: &PromptCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let PromptCommand::Render(arguments) = command;
    let PromptName { name, is_layer } = &arguments.name;
    if !is_layer && persona::has_persona(&arguments.dir, name)? {
        let (dir, track) = (&arguments.dir, &arguments.track);
        return persona::render(name, dir, &arguments.repo, track, arguments.json, screen);
    }
    let tree = read_tree(&arguments.dir)?;
    let ledger = match &arguments.ledger {
        Some(dir) => read_tree(dir)?,
        None => tree.clone(),
    };
    // An unknown name is a mistake in the command, not in the folder.
    let is_known = prompt::canonical_layer(&arguments.name.name).is_some();
    let layout = Layout::detect(&ledger).map_err(|both| CliError::usage(both.to_string()))?;
    let catalogue = Catalogue::of(&tree, layout.unwrap_or(Layout::Flat));
    let exchange = exchange::check_exchange(&ledger).exchange;
    check_values(arguments, &catalogue, exchange.as_ref())?;
    let error = match assemble_prompt(arguments, &catalogue, &ledger, exchange.as_ref()) {
        Ok(assembled) => {
            let found = own_mistakes(arguments, &catalogue, &tree, &assembled);
            if found.is_empty() {
                return print_prompt(&assembled, &tree, arguments, screen);
            }
            print_mistakes(&found, arguments.json, screen)?;
            return Ok(Exit::Findings);
        }
        Err(RenderError::Unavailable(why)) => {
            return Err(CliError::fault(format!(
                "the prompt was not rendered: {why}"
            )));
        }
        Err(error) => error,
    };
    let found = error.into_diagnostics();
    if let Some(first) = found.first().filter(|_| !is_known) {
        return Err(match is_layer {
            true => CliError::usage(format!("{}; {}", first.message, first.help)),
            false => unknown_name(name, &arguments.dir, &catalogue, &first.help)?,
        });
    }
    // Do not blame the template if arguments were missing.
    let is_theirs = |one: &Diagnostic| tree.get(&one.file).is_some();
    let mut missing = found.iter().filter_map(|one| {
        unknown_task(arguments, one, is_theirs(one))
            .or_else(|| missing_arguments(arguments, &catalogue, is_theirs(one)))
    });
    if let Some(missing) = missing.next() {
        return Err(CliError::usage(missing));
    }
    print_mistakes(&found, arguments.json, screen)?;
    Ok(Exit::Findings)
}

fn print_mistakes(
    found: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    for one in found {
        match json {
            true => screen.print_line(&diagnostic_json(one).to_string())?,
            false => screen.print_line(&one.to_string())?,
        }
    }
    Ok(())
}

/// The mistakes in the role and in the contract and tasks that a prompt includes. A prompt includes their texts as they
/// are, so the template itself finds none of them.
fn own_mistakes(
    arguments: &RenderPrompt,
    catalogue: &Catalogue,
    tree: &Tree,
    assembled: &Assembled,
) -> Vec<Diagnostic> {
    let layer = prompt::canonical_layer(&arguments.name.name).unwrap_or_default();
    let role = arguments.role.as_deref();
    let role = role.and_then(|name| catalogue.role(layer, name)?.source.path());
    let of_role = catalogue.diagnostics().iter();
    let of_role = of_role.filter(|one| role == Some(one.file.as_str()));
    let included = assembled.included.iter().map(|one| one.path.as_str());
    let mut found = check_included_files(tree, layer, included);
    found.extend(of_role.cloned());
    found.retain(Diagnostic::is_error);
    found.sort();
    found
}

/// The error for a name that neither a persona nor a layer has.
fn unknown_name(
    name: &str,
    dir: &Path,
    catalogue: &Catalogue,
    layer_help: &str,
) -> Result<CliError, CliError> {
    let roles = catalogue.roles();
    let role = closest(name, roles.iter().map(|one| one.name.as_str()));
    let role = role.and_then(|role| roles.iter().find(|one| one.name == role));
    let help = match (persona::closest_persona(dir, name)?, role) {
        (Some(id), _) => format!("did you mean the persona `{id}`?"),
        (None, Some(role)) if closest(name, LAYERS).is_none() => format!(
            "did you mean the role `{}`? phileas prompt render {} --role {0}",
            role.name, role.layer
        ),
        _ => layer_help.to_owned(),
    };
    let name = name.escape_debug();
    Ok(CliError::usage(format!(
        "there is no persona and no layer `{name}`; {help}"
    )))
}

/// Checks that the role and the work item of the command line exist.
fn check_values(
    arguments: &RenderPrompt,
    catalogue: &Catalogue,
    exchange: Option<&Exchange>,
) -> Result<(), CliError> {
    let Some(layer) = prompt::canonical_layer(&arguments.name.name) else {
        return Ok(());
    };
    if let Some(name) = &arguments.role
        && ROLE_LAYERS.contains(&layer)
        && catalogue.role(layer, name).is_none()
    {
        return Err(role::unknown_role(catalogue, layer, name));
    }
    match &arguments.item {
        Some(item) if matches!(layer, "planner" | "implementer") => {
            check_item(item, &arguments.stream, exchange)
        }
        _ => Ok(()),
    }
}

/// Checks that a workstream has a work item.
fn check_item(item: &str, stream: &str, exchange: Option<&Exchange>) -> Result<(), CliError> {
    let streams = exchange.iter().flat_map(|one| &one.streams);
    let of_item: Vec<&str> = streams
        .filter(|(_, one)| one.find_item(item).is_some())
        .map(|(name, _)| name.as_str())
        .collect();
    if of_item.contains(&stream) {
        return Ok(());
    }
    let item = item.escape_debug();
    Err(CliError::usage(match of_item.first() {
        Some(name) => {
            format!("the work item `{item}` is in the workstream `{name}`; add --stream {name}")
        }
        None => format!(
            "the ledger has no work item `{item}` that can be read; name one that `phileas exchange inspect` lists"
        ),
    }))
}

/// The mistake in `--task`, if the finding is about the file of a task that does not exist.
fn unknown_task(arguments: &RenderPrompt, one: &Diagnostic, is_theirs: bool) -> Option<String> {
    let file = format!("/tasks/{}.yml", arguments.task.as_ref()?);
    let is_about_it = one.file.ends_with(&file) && !is_theirs;
    is_about_it.then(|| format!("--task: {}: {}; {}", one.file, one.message, one.help))
}

/// Which argument the prompt needs and the command line lacks. A user who sets values of the template may need no
/// other, and sees a mistake in a template of their own.
fn missing_arguments(
    arguments: &RenderPrompt,
    catalogue: &Catalogue,
    is_theirs: bool,
) -> Option<String> {
    if let Some(layer @ ("observers" | "innovators")) =
        prompt::canonical_layer(&arguments.name.name)
        && arguments.role.is_none()
        && arguments.set.is_empty()
        && !is_theirs
    {
        let roles = catalogue.roles().iter().filter(|role| role.layer == layer);
        let names = Vec::from_iter(roles.map(|role| role.name.as_str()));
        return Some(format!(
            "a prompt of the {layer} is one role's: say --role NAME, one of {}",
            names.join(", ")
        ));
    }
    let is_implementer = prompt::canonical_layer(&arguments.name.name) == Some("implementer");
    let has_task = arguments.task.is_some() || arguments.item.is_some();
    if !is_implementer || has_task || !arguments.set.is_empty() {
        return None;
    }
    Some(
        "an implementer's prompt needs a task: --task NAME, such as --task bugs, or --item PATH, the work item whose \
         label names one"
            .to_owned(),
    )
}

/// The prompt with everything that phileas adds, as far as the arguments define it. Values that they set come first.
fn assemble_prompt(
    arguments: &RenderPrompt,
    catalogue: &Catalogue,
    ledger: &Tree,
    exchange: Option<&Exchange>,
) -> Result<Assembled, RenderError> {
    let mut set: BTreeMap<String, String> = arguments.set.iter().cloned().collect();
    if let Some(role) = &arguments.role {
        set.insert("role".to_owned(), role.clone());
    }
    let item = arguments.item.as_deref();
    let label = exchange.and_then(|exchange| exchange.streams.get(&arguments.stream));
    let label = label
        .and_then(|stream| stream.find_item(item?))
        .map(|filed| filed.value.label.as_str());
    let role = set.get("role").map(String::as_str);
    let job = match prompt::canonical_layer(&arguments.name.name) {
        Some("narrator") => Some(Job::Narrator { commits: None }),
        Some("observers") => role.map(Job::Observer),
        Some("decider") => Some(Job::Decider),
        Some("planner") => Some(Job::Planner(item)),
        Some("implementer") => {
            let label = arguments.task.as_deref().or(label);
            label.map(|label| Job::Implementer(label, item))
        }
        Some("innovators") => role.map(Job::Innovator),
        Some("integrator") => Some(Job::Integrator {
            pulls: &[],
            target: "main",
        }),
        _ => None,
    };
    let now = Timestamp::now();
    let entropy = [0; 32]; // The fences of a preview guard nothing, so the same preview may look the same each time.
    let files = SourceFiles::of_default_branch(catalogue.tree());
    let ledger_files = SourceFiles::of_ledger(ledger);
    let renderer = renderer::shared_renderer();
    let Some(job) = job else {
        // Without a subject the template gets the given values only.
        let request = Assembly {
            layer: &arguments.name.name,
            tree: catalogue.tree(),
            ledger,
            variables: &set,
            task: arguments.task.as_deref(),
            attached: &[],
            turn: "",
            now,
            entropy: &entropy,
        };
        let request = RenderRequest::for_layer(&request, &files, &ledger_files);
        return prompt::assemble_by(request, &*renderer);
    };
    let mut brief = catalogue.brief(&arguments.repo, ledger, exchange, &arguments.stream, job)?;
    brief.variables.extend(set);
    if let Some(task) = &arguments.task {
        brief.task = Some(task.clone());
    }
    let request = RenderRequest::for_brief(&brief, (&files, &ledger_files), ("", now), &entropy);
    prompt::assemble_by(request, &*renderer)
}

fn read_tree(dir: &Path) -> Result<Tree, CliError> {
    Ok(files::read_tree(dir)?)
}

/// Prints the prompt as the result, and its sources to standard error.
fn print_prompt(
    assembled: &Assembled,
    tree: &Tree,
    arguments: &RenderPrompt,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    // The catalogue has no file that agents write.
    let built_in = |one: &Include| {
        let written = [
            ".jules/exchange/",
            ".jules/workstations/",
            ".jules/workstreams/",
            ".jules/changes/",
        ];
        let is_written = written.iter().any(|folder| one.path.starts_with(folder));
        one.from == Origin::Repository && tree.get(&one.path).is_none() && !is_written
    };
    if arguments.json {
        let included: Vec<_> = assembled
            .included
            .iter()
            .map(|one| {
                let from = if built_in(one) {
                    "phileas"
                } else {
                    source_text(one)
                };
                json!({ "path": one.path, "from": from, "schema": schema_path(one) })
            })
            .collect();
        let skipped: Vec<_> = assembled
            .skipped
            .iter()
            .map(|one| json!({ "path": one.path, "reason": one.reason }))
            .collect();
        let seeds: Vec<_> = assembled
            .seeds
            .iter()
            .map(|one| json!({ "to": one.to, "text": one.text, "required": one.required }))
            .collect();
        let document = json!({
            "prompt": assembled.prompt, "included": included, "skipped": skipped, "seeds": seeds,
        });
        screen.print_line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    for one in &assembled.included {
        output::print_error(&match &one.from {
            Origin::BuiltIn => format!("included  phileas' own {}", one.path),
            Origin::Repository if built_in(one) => format!("included  phileas' own {}", one.path),
            Origin::Repository => format!("included  {}", one.path),
            Origin::Schema(schema) => {
                format!("included  {schema} in the place of {}", one.path)
            }
            Origin::Seed => format!("included  what {} will begin with", one.path),
        })?;
    }
    for one in &assembled.seeds {
        output::print_error(&format!("seeded    {}", one.to))?;
    }
    for one in &assembled.skipped {
        output::print_error(&format!("skipped   {} ({})", one.path, one.reason))?;
    }
    screen.print_document(&assembled.prompt)?;
    Ok(Exit::Done)
}

/// The source of a text, in one word.
fn source_text(one: &Include) -> &'static str {
    match one.from {
        Origin::Repository => "repository",
        Origin::BuiltIn => "phileas",
        Origin::Schema(_) => "schema",
        Origin::Seed => "seed",
    }
}

fn schema_path(one: &Include) -> Option<&str> {
    match &one.from {
        Origin::Schema(path) => Some(path),
        _ => None,
    }
}
