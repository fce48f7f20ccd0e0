//! `phileas deinit`: takes away what `phileas init` wrote, as far as nobody has changed it.

use std::io::Write;

use serde_json::json;

use super::labels::{self, How};
use crate::cli::arguments::Deinit;
use crate::cli::context::clients;
use crate::cli::context::target::{Change, Place, agreed};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::starter::{DEINIT_BRANCH, ENVIRONMENT, remnants};

const TITLE: &str = "Take phileas out";
const BODY: &str = "\
Written by `phileas deinit`: removes what `phileas init` wrote and nobody has changed. The branch `jules` with the ledger \
stays.
";

pub(crate) async fn run(
    arguments: &Deinit,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let json = arguments.place.json;
    let dry_run = arguments.place.dry_run;
    let place = Place::open(&arguments.place).await?;
    let remnants = remnants(&place.found);
    for one in &remnants {
        let line = match (&one.stays, json) {
            (why, true) => {
                let action = if why.is_none() { "remove" } else { "leave" };
                json!({ "file": one.path, "action": action, "why": why, "dry_run": dry_run })
                    .to_string()
            }
            (None, false) => format!("  remove  {}", one.path),
            (Some(why), false) => format!("  leave   {:<38} {why}", one.path),
        };
        screen.line(&line)?;
    }
    let files: Vec<&str> = remnants
        .iter()
        .filter(|one| one.stays.is_none())
        .map(|one| one.path.as_str())
        .collect();
    if files.is_empty() && !json {
        screen.line("nothing that phileas init wrote is left unchanged")?;
    }
    if (!files.is_empty() || arguments.labels) && !dry_run {
        let question = if place.is_folder() {
            "Remove this?"
        } else {
            "Open a pull request that removes this?"
        };
        if !arguments.place.yes && !agreed(question, screen)? {
            if !json {
                screen.line("nothing was removed")?;
            }
            return Ok(Exit::Done);
        }
    }
    if !files.is_empty() && !dry_run {
        let change = Change {
            branch: DEINIT_BRANCH,
            title: TITLE,
            body: BODY,
            files: files
                .iter()
                .map(|path| ((*path).to_owned(), None))
                .collect(),
            staged: Vec::new(),
        };
        let line = match (place.apply(&change).await?, json) {
            (Some(pull), true) => {
                json!({ "pull_request": pull.number, "url": pull.url, "new": !pull.before })
                    .to_string()
            }
            (Some(pull), false) => format!("pull request #{}: {}", pull.number, pull.url),
            (None, true) => json!({ "removed": files.len(), "staged": true }).to_string(),
            (None, false) => format!("{} removed, and that staged", several(files.len(), "file")),
        };
        screen.line(&line)?;
    }
    if arguments.labels {
        let client = clients::github(&place.found.repository)?;
        let how = How {
            prune: false,
            dry_run,
            json,
        };
        labels::remove(&client, &place.found.tree, how, screen).await?;
    }
    if !json && !dry_run {
        let repository = &place.found.repository;
        screen.lines(&format!(
            "The branch jules with the ledger stays. The key goes with its environment:\n  \
             gh api --silent -X DELETE repos/{repository}/environments/{ENVIRONMENT}"
        ))?;
    }
    Ok(Exit::Done)
}
