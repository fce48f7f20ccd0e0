//! `phileas deinit`: removes the files that `phileas init` wrote and that are unchanged.

use std::io::Write;

use serde_json::json;

use super::labels::{ExistingLabels, LabelOptions};
use crate::cli::arguments::Deinit;
use crate::cli::context::target::{FileSetChange, Target, confirm};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::starter::{DEINIT_BRANCH, ENVIRONMENT, Remnant, WORKFLOW_PATH, find_remnants};

const PULL_TITLE: &str = "Take phileas out";
const PULL_BODY: &str = "\
Written by `phileas deinit`: removes the unchanged files that `phileas init` wrote. The branch `jules` with the ledger \
stays.
";

pub(crate) async fn run(
    arguments: &Deinit,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let json = arguments.place.json;
    let dry_run = arguments.place.dry_run;
    let place = Target::open_target(&arguments.place).await?;
    // A credential that is missing or refused is found before a file is removed.
    let labels = match arguments.labels {
        true => Some(ExistingLabels::read_labels(&place.files.repository).await?),
        false => None,
    };
    let remnants = find_remnants(&place.files);
    print_remnants(&remnants, arguments, screen)?;
    let files: Vec<&str> = remnants
        .iter()
        .filter(|one| one.stays.is_none())
        .map(|one| one.path.as_str())
        .collect();
    if files.is_empty() && !json {
        screen.print_line("nothing to remove: no file is as phileas init wrote it")?;
    }
    if (!files.is_empty() || arguments.labels) && !dry_run {
        let question = if place.is_worktree() {
            "Remove this?"
        } else {
            "Open a pull request that removes this?"
        };
        if !arguments.place.yes && !confirm(question, screen)? {
            if !json {
                screen.print_line("nothing was removed")?;
            }
            return Ok(Exit::Done);
        }
    }
    if !files.is_empty() && !dry_run {
        remove_files(&place, &files, json, screen).await?;
    }
    if let Some(labels) = &labels {
        let how = LabelOptions {
            prune: false,
            dry_run,
            json,
        };
        labels.remove_labels(&place.files.tree, how, screen).await?;
    }
    if !json {
        print_rest(&remnants, &place, dry_run, screen)?;
    }
    Ok(Exit::Done)
}

/// Lists the files, with the reason for each that stays.
fn print_remnants(
    remnants: &[Remnant],
    arguments: &Deinit,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let dry_run = arguments.place.dry_run;
    for one in remnants {
        let line = match (&one.stays, arguments.place.json) {
            (why, true) => {
                let action = if why.is_none() { "remove" } else { "leave" };
                json!({ "file": one.path, "action": action, "why": why, "dry_run": dry_run })
                    .to_string()
            }
            (None, false) => format!("  remove  {}", one.path),
            (Some(why), false) => format!("  leave   {:<38} {why}", one.path),
        };
        screen.print_line(&line)?;
    }
    Ok(())
}

/// Removes the files in the work tree, or opens a pull request that does.
async fn remove_files(
    place: &Target,
    files: &[&str],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let change = FileSetChange {
        branch: DEINIT_BRANCH,
        title: PULL_TITLE,
        body: PULL_BODY,
        files: files
            .iter()
            .map(|path| ((*path).to_owned(), None))
            .collect(),
        staged: Vec::new(),
    };
    let line = match (place.apply_change(&change).await?, json) {
        (Some(pull), true) => {
            json!({ "pull_request": pull.number, "url": pull.url, "new": !pull.before }).to_string()
        }
        (Some(pull), false) => format!("pull request #{}: {}", pull.number, pull.url),
        (None, true) => json!({ "removed": files.len(), "staged": true }).to_string(),
        (None, false) => format!(
            "removed {} and staged the removal; commit it with `git commit`",
            pluralize(files.len(), "file")
        ),
    };
    screen.print_line(&line)?;
    Ok(())
}

/// Says what remains for the user to do.
fn print_rest(
    remnants: &[Remnant],
    place: &Target,
    dry_run: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let kept = remnants.iter().filter(|one| one.stays.is_some()).count();
    if kept > 0 {
        let stay = if kept == 1 { "stays" } else { "stay" };
        let is_kept = |one: &Remnant| one.stays.is_some() && one.path == WORKFLOW_PATH;
        let first = match remnants.iter().any(is_kept) {
            true => ", the workflow first",
            false => "",
        };
        screen.print_line(&format!(
            "{} {stay}; delete what you no longer need by hand{first}",
            pluralize(kept, "file")
        ))?;
    }
    if !dry_run {
        let repository = &place.files.repository;
        screen.print_lines(&format!(
            "The branch jules with the ledger stays. The key goes with its environment:\n  \
             gh api --silent -X DELETE repos/{repository}/environments/{ENVIRONMENT}"
        ))?;
    }
    Ok(())
}
