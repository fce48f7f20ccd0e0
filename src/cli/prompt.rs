//! `phileas prompt`: what exactly a layer is told, and what it is made of.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use phileas_domain::model::Tree;
use phileas_domain::prompt::{self, Assembled, Assembly, Include, Origin};
use serde_json::json;

use super::arguments::{PromptCommand, RenderPrompt};
use super::exit::{Exit, Stopped};
use super::output::{self, Screen};
use super::validate::diagnostic_json;
use crate::adapters::files;

pub(super) fn run(
    command: &PromptCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let PromptCommand::Render(arguments) = command;
    let tree = read(&arguments.dir)?;
    let ledger = match &arguments.ledger {
        Some(dir) => read(dir)?,
        None => tree.clone(),
    };
    let mut variables: BTreeMap<String, String> = arguments.set.iter().cloned().collect();
    if let Some(role) = &arguments.role {
        variables.insert("role".to_owned(), role.clone());
    }
    let assembled = prompt::assemble(&Assembly {
        layer: &arguments.layer,
        tree: &tree,
        ledger: &ledger,
        variables: &variables,
        task: arguments.task.as_deref(),
        attached: &[],
        turn: "",
        now: Timestamp::now(),
        // The fences of a preview guard nothing, so the same preview may look the same each time.
        entropy: &[0; 32],
    });
    match assembled {
        // A layer that there is not is a mistake of the command, not of the folder.
        Err(said) if prompt::canonical_layer(&arguments.layer).is_none() => {
            Err(Stopped::usage(format!("{}; {}", said.message, said.mend)))
        }
        Ok(assembled) => show(&assembled, arguments, screen),
        Err(said) if arguments.json => {
            screen.line(&diagnostic_json(&said).to_string())?;
            Ok(Exit::Findings)
        }
        Err(said) => {
            screen.line(&said.to_string())?;
            Ok(Exit::Findings)
        }
    }
}

fn read(dir: &Path) -> Result<Tree, Stopped> {
    files::read_tree(dir).map_err(|error| Stopped::usage(error.to_string()))
}

/// The prompt is the result; where it came from is said beside it.
fn show(
    assembled: &Assembled,
    arguments: &RenderPrompt,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if arguments.json {
        let included: Vec<_> = assembled
            .included
            .iter()
            .map(|one| json!({ "path": one.path, "from": origin(one), "schema": schema(one) }))
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
            Origin::Repository => format!("included  {}", one.path),
            Origin::BuiltIn => format!("included  phileas' own {}", one.path),
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
