//! `phileas setup`: the tools on the machine on which Jules works.

mod bash;
mod git;
mod list;
mod write;

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::setup::{Compiled, Mode, compile_setup};
use serde_json::json;

use crate::adapters::files;
use crate::cli::arguments::SetupCommand;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use write::ChangeKind;

pub(crate) fn run(
    command: &SetupCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        SetupCommand::Gen {
            dir,
            publish,
            dry_run,
            json,
        } => generate_script(dir, publish, *dry_run, *json, screen),
        SetupCommand::List { dir, detail, json } => {
            list::run(dir, detail.as_deref(), *json, screen)
        }
    }
}

fn generate_script(
    dir: &Path,
    publish: &[String],
    dry_run: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let tree = files::read_tree(dir)?;
    let compiled = match compile_setup(&tree, publish) {
        Ok(compiled) => compiled,
        Err(said) => return print_refusal(&said, json, screen),
    };
    let mut said = compiled.said.clone();
    said.extend(bash::check_syntax(&compiled)?);
    said.extend(git::tracked_secrets(dir, &compiled)?);
    if said.iter().any(Diagnostic::is_error) {
        return print_refusal(&said, json, screen);
    }
    print_diagnostics(&said, json, screen)?;
    let fates = write::write_files(dir, &compiled.files, dry_run)?;
    for (file, fate) in compiled.files.iter().zip(&fates) {
        if json {
            let line =
                json!({ "file": file.path, "action": fate.change_text(), "dry_run": dry_run });
            screen.print_line(&line.to_string())?;
        } else {
            screen.print_line(&format!("  {:<9} {}", fate.change_text(), file.path))?;
        }
    }
    if !dry_run {
        let unignored = git::unignored_secrets(dir, &compiled)?;
        print_diagnostics(&unignored, json, screen)?;
        if !unignored.is_empty() {
            return Ok(Exit::Findings);
        }
    }
    print_next_steps(&compiled, &fates, json, screen)?;
    Ok(Exit::Done)
}

/// Prints the mistakes. A set-up with mistakes writes nothing.
fn print_refusal(
    said: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    print_diagnostics(said, json, screen)?;
    if !json {
        let errors = said.iter().filter(|one| one.is_error()).count();
        screen.print_line(&format!(
            "nothing was written: {}",
            pluralize(errors, "error")
        ))?;
    }
    Ok(Exit::Findings)
}

/// Prints what the person does next.
fn print_next_steps(
    compiled: &Compiled,
    fates: &[ChangeKind],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let order: Vec<&str> = compiled.order.iter().map(|one| one.name.as_str()).collect();
    if json {
        let secrets: Vec<_> = compiled
            .secrets
            .iter()
            .map(|(name, filled)| json!({ "name": name, "filled": filled }))
            .collect();
        screen.print_line(&json!({ "order": order, "secrets": secrets }).to_string())?;
        return Ok(());
    }
    screen.print_line(&format!("installs {}", order.join(", ")))?;
    let script = compiled
        .files
        .iter()
        .zip(fates)
        .find(|(file, _)| file.mode == Mode::Executable);
    if let Some((file, fate)) = script
        && *fate != ChangeKind::Unchanged
    {
        screen.print_line(&format!(
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
        screen.print_line(&format!(
            "Jules must know, as variables of that environment: {}",
            names.join(", ")
        ))?;
    }
    if !empty.is_empty() {
        screen.print_line(&format!(
            "{} has no value yet for {}",
            compiled.layout.path(compiled.layout.private()),
            empty.join(", ")
        ))?;
    }
    Ok(())
}
