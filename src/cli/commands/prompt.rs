//! `phileas prompt`: what exactly a layer is told, and what it is made of.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use phileas_domain::exchange::{self, Layout};
use phileas_domain::layers::{Catalogue, Job};
use phileas_domain::model::Tree;
use phileas_domain::prompt::{
    self, Assembled, Assembly, Include, Origin, RenderError, RenderRequest, SourceFiles,
};
use serde_json::json;

use crate::adapters::{files, renderer};
use crate::cli::arguments::{PromptCommand, RenderPrompt};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::{self, Screen};

pub(crate) fn run(
    command: &PromptCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let PromptCommand::Render(arguments) = command;
    let tree = read(&arguments.dir)?;
    let ledger = match &arguments.ledger {
        Some(dir) => read(dir)?,
        None => tree.clone(),
    };
    // A layer that there is not is a mistake of the command, not of the folder.
    let is_layer = prompt::canonical_layer(&arguments.layer).is_some();
    let layout = Layout::detect(&ledger).map_err(|both| Stopped::usage(both.to_string()))?;
    let catalogue = Catalogue::of(&tree, layout.unwrap_or(Layout::Flat));
    let error = match assembled(arguments, &catalogue, &ledger) {
        Ok(assembled) => return show(&assembled, &tree, arguments, screen),
        Err(RenderError::Unavailable(why)) => {
            return Err(Stopped::fault(format!(
                "the prompt was not rendered: {why}"
            )));
        }
        Err(error) => error,
    };
    // A folder is read as a whole, so that there is one mistake.
    for said in error.into_diagnostics() {
        if !is_layer {
            return Err(Stopped::usage(format!("{}; {}", said.message, said.mend)));
        }
        // The template is not to blame where it was not told what it is about.
        let is_theirs = tree.get(&said.file).is_some();
        if let Some(lacks) = lacking(arguments, &catalogue, is_theirs) {
            return Err(Stopped::usage(lacks));
        }
        match arguments.json {
            true => screen.line(&diagnostic_json(&said).to_string())?,
            false => screen.line(&said.to_string())?,
        }
    }
    Ok(Exit::Findings)
}

/// What the command line does not tell of what a prompt is about. Whoever sets names of the template's own may need
/// nothing else, and a template of their own is shown its mistake.
fn lacking(arguments: &RenderPrompt, catalogue: &Catalogue, is_theirs: bool) -> Option<String> {
    if let Some(layer @ ("observers" | "innovators")) = prompt::canonical_layer(&arguments.layer)
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
    let is_implementer = prompt::canonical_layer(&arguments.layer) == Some("implementer");
    if !is_implementer || arguments.task.is_some() || !arguments.set.is_empty() {
        return None;
    }
    Some(match &arguments.item {
        None => {
            "an implementer's prompt needs a task: --task NAME, such as --task bugs, or --item PATH, the work item whose \
             label names one"
                .to_owned()
        }
        Some(path) => format!(
            "the ledger has no work item `{path}` that can be read, so nothing names the task; mend --item, or say --task \
             NAME, such as --task bugs"
        ),
    })
}

/// The prompt with everything that phileas puts into it, as far as the arguments tell what it is about; what they set
/// counts first.
fn assembled(
    arguments: &RenderPrompt,
    catalogue: &Catalogue,
    ledger: &Tree,
) -> Result<Assembled, RenderError> {
    let mut set: BTreeMap<String, String> = arguments.set.iter().cloned().collect();
    if let Some(role) = &arguments.role {
        set.insert("role".to_owned(), role.clone());
    }
    let exchange = exchange::check(ledger).exchange;
    let item = arguments.item.as_deref();
    let label = exchange
        .iter()
        .flat_map(|exchange| exchange.streams.get(&arguments.stream));
    let label = label
        .flat_map(|stream| &stream.items)
        .find(|filed| Some(filed.path.as_str()) == item)
        .map(|filed| filed.value.label.as_str());
    let role = set.get("role").map(String::as_str);
    let job = match prompt::canonical_layer(&arguments.layer) {
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
    let renderer = renderer::shared();
    let Some(job) = job else {
        // Nothing tells what it is about, so the template has what was set and nothing else.
        let request = Assembly {
            layer: &arguments.layer,
            tree: catalogue.tree(),
            ledger,
            variables: &set,
            task: arguments.task.as_deref(),
            attached: &[],
            turn: "",
            now,
            entropy: &entropy,
        };
        let request = RenderRequest::layer(&request, &files, &ledger_files);
        return prompt::assemble_by(request, &*renderer);
    };
    let exchange = exchange.as_ref();
    let mut brief = catalogue.brief(&arguments.repo, ledger, exchange, &arguments.stream, job)?;
    brief.variables.extend(set);
    if let Some(task) = &arguments.task {
        brief.task = Some(task.clone());
    }
    let request = RenderRequest::brief(&brief, (&files, &ledger_files), ("", now), &entropy);
    prompt::assemble_by(request, &*renderer)
}

fn read(dir: &Path) -> Result<Tree, Stopped> {
    Ok(files::read_tree(dir)?)
}

/// The prompt is the result; where it came from is said beside it.
fn show(
    assembled: &Assembled,
    tree: &Tree,
    arguments: &RenderPrompt,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    // Of what agents write, the catalogue has nothing.
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
                    origin(one)
                };
                json!({ "path": one.path, "from": from, "schema": schema(one) })
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
        screen.line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    for one in &assembled.included {
        output::beside(&match &one.from {
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
        output::beside(&format!("seeded    {}", one.to))?;
    }
    for one in &assembled.skipped {
        output::beside(&format!("skipped   {} ({})", one.path, one.reason))?;
    }
    screen.document(&assembled.prompt)?;
    Ok(Exit::Done)
}

/// Where a text came from, in one word.
fn origin(one: &Include) -> &'static str {
    match one.from {
        Origin::Repository => "repository",
        Origin::BuiltIn => "phileas",
        Origin::Schema(_) => "schema",
        Origin::Seed => "seed",
    }
}

fn schema(one: &Include) -> Option<&str> {
    match &one.from {
        Origin::Schema(path) => Some(path),
        _ => None,
    }
}
