//! `phileas setup`: the tools on the machine on which Jules works.

mod bash;
mod git;
mod list;
mod write;

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::setup::{Compiled, Mode, compile};
use serde_json::json;

use crate::adapters::files;
use crate::cli::arguments::SetupCommand;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::diagnostics::print;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use write::Fate;

pub(crate) fn run(
    command: &SetupCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        SetupCommand::Gen {
            dir,
            publish,
            dry_run,
            json,
        } => generate(dir, publish, *dry_run, *json, screen),
        SetupCommand::List { dir, detail, json } => {
            list::run(dir, detail.as_deref(), *json, screen)
        }
    }
}

fn generate(
    dir: &Path,
    publish: &[String],
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let tree = files::read_tree(dir)?;
    let compiled = match compile(&tree, publish) {
        Ok(compiled) => compiled,
        Err(said) => return refused(&said, json, screen),
    };
    let mut said = compiled.said.clone();
    said.extend(bash::check(&compiled)?);
    said.extend(git::tracked(dir, &compiled)?);
    if said.iter().any(Diagnostic::is_error) {
        return refused(&said, json, screen);
    }
    print(&said, json, screen)?;
    let fates = write::write(dir, &compiled.files, dry_run)?;
    for (file, fate) in compiled.files.iter().zip(&fates) {
        if json {
            let line = json!({ "file": file.path, "action": fate.word(), "dry_run": dry_run });
            screen.line(&line.to_string())?;
        } else {
            screen.line(&format!("  {:<9} {}", fate.word(), file.path))?;
        }
    }
    if !dry_run {
        let unignored = git::not_ignored(dir, &compiled)?;
        print(&unignored, json, screen)?;
        if !unignored.is_empty() {
            return Ok(Exit::Findings);
        }
    }
    next(&compiled, &fates, json, screen)?;
    Ok(Exit::Done)
}

/// Nothing is written while anything is wrong.
fn refused(
    said: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    print(said, json, screen)?;
    if !json {
        let errors = said.iter().filter(|one| one.is_error()).count();
        screen.line(&format!(
            "nothing was written: {}",
            several(errors, "error")
        ))?;
    }
    Ok(Exit::Findings)
}

/// What is left to a person.
fn next(
    compiled: &Compiled,
    fates: &[Fate],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let order: Vec<&str> = compiled.order.iter().map(|one| one.name.as_str()).collect();
    if json {
        let secrets: Vec<_> = compiled
            .secrets
            .iter()
            .map(|(name, filled)| json!({ "name": name, "filled": filled }))
            .collect();
        screen.line(&json!({ "order": order, "secrets": secrets }).to_string())?;
        return Ok(());
    }
    screen.line(&format!("installs {}", order.join(", ")))?;
    let script = compiled
        .files
        .iter()
        .zip(fates)
        .find(|(file, _)| file.mode == Mode::Executable);
    if let Some((file, fate)) = script
        && *fate != Fate::Unchanged
    {
        screen.line(&format!(
            "paste {} into the set-up script of the repository's environment at https://jules.google.com",
            file.path
        ))?;
    }
    let empty: Vec<&str> = compiled
        .secrets
        .iter()
        .filter(|(_, filled)| !filled)
        .map(|(name, _)| name.as_str())
        .collect();
    if !compiled.secrets.is_empty() {
        let names: Vec<&str> = compiled
            .secrets
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        screen.line(&format!(
            "Jules must know, as variables of that environment: {}",
            names.join(", ")
        ))?;
    }
    if !empty.is_empty() {
        screen.line(&format!(
            "{} has no value yet for {}",
            compiled.layout.path(compiled.layout.private()),
            empty.join(", ")
        ))?;
    }
    Ok(())
}
