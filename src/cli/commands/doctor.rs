//! `phileas doctor`: everything that keeps phileas from working in a repository, each with its mend.
//!
//! | what is looked at | file |
//! |---|---|
//! | who are we to GitHub, what may we, is the clock right? | `credential.rs` |
//! | does Jules take the key, and know the repository? | `jules.rs` |
//! | is the ledger there, healthy, writable, protected? | `ledger.rs` |
//! | can git and GitHub hold the branches that phileas makes? | `branches.rs` |
//! | is the plan right, affordable, in its place? | `plan.rs` |
//! | does a workflow call phileas? | `workflow.rs` |
//! | does what GitHub tells arrive? | `deliveries.rs` |
//! | are there labels to put on? | `labels.rs` |
//! | what is paused, asked, outdated? | `standing.rs` |
//!
//! It reads, and with `--fix` does what is safe; nothing is deleted.

mod branches;
mod credential;
mod deliveries;
mod finding;
mod jules;
mod labels;
mod ledger;
mod place;
mod plan;
mod standing;
mod workflow;

use std::io::Write;
use std::path::Path;

use phileas_domain::plan::{CONFIG_PATH, SCHEDULES_PATH};

use crate::adapters::files;
use crate::cli::arguments::Doctor;
use crate::cli::context::clock::local_now;
use crate::cli::context::env_var::variable;
use crate::cli::context::worktree::WorkTree;
use crate::cli::context::{clients, credentials};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::runtime::ledger_of;
use crate::runtime::ports::ReadGitHub as _;
use crate::server::admin::setup::GITHUB;
use finding::{Findings, Group};
use place::Place;

pub(crate) async fn run(
    arguments: &Doctor,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let mut findings = Findings::default();
    let github = variable("GITHUB_SERVER_URL").unwrap_or_else(|| GITHUB.to_owned());
    let reached = match &arguments.repo {
        Some(repository) => {
            let place = Place {
                repository,
                github: &github,
            };
            of_repository(&place, arguments.fix, &mut findings).await?
        }
        None => {
            let origin = WorkTree::open(&arguments.dir)
                .and_then(|tree| tree.origin())
                .ok()
                .flatten();
            let name = origin.map_or_else(|| "owner/name".to_owned(), |name| name.to_string());
            findings.hint(
                "credential.repository",
                "no repository is named, so only a folder and the Jules key are looked at",
                format!("phileas doctor --repo {name}"),
            );
            false
        }
    };
    jules::check(arguments.repo.as_ref(), &mut findings).await;
    if !reached {
        of_folder(&arguments.dir, &mut findings)?;
    }
    let exit = findings.exit();
    findings.print(arguments.json, screen)?;
    screen.flush()?;
    Ok(exit)
}

/// What GitHub tells. Whether it told of the plan.
async fn of_repository(
    place: &Place<'_>,
    fix: bool,
    findings: &mut Findings,
) -> Result<bool, Stopped> {
    let credential = match credentials::credential() {
        Ok(credential) => credential,
        Err(stopped) => {
            let mend = format!(
                "gh auth login && export GITHUB_TOKEN=\"$(gh auth token)\", or make one at {}/settings/tokens",
                place.github
            );
            findings.credential("credential.missing", stopped.message, mend);
            return Ok(false);
        }
    };
    let client = clients::github(place.repository)?;
    let kind = credential::kind(&credential, place, findings).await?;
    let local = local_now();
    let shown = match client.shown().await {
        Ok(shown) => shown,
        Err(failure) => {
            credential::not_shown(&failure, place, findings);
            return Ok(false);
        }
    };
    let is_real = clients::is_real_github()?;
    credential::clock(shown.now, local, is_real, findings);
    credential::rights(&client, &shown, kind, place, findings).await;
    let seen = match client.observe().await {
        Ok(seen) => seen,
        Err(failure) => {
            findings.group = Group::Credential;
            credential::not_shown(&failure, place, findings);
            return Ok(false);
        }
    };
    let now = shown.now.unwrap_or(seen.now);
    let ledger = ledger_of(seen.ledger.clone());
    let state = ledger::health(&ledger, place, findings);
    ledger::protection(&client, state.is_some(), place, findings).await;
    let plan = plan::check(&seen.tree, now, findings)?;
    branches::check(&client, &ledger, &plan, place, findings).await;
    plan::start_branches(&client, &plan, &seen.tree, place, findings).await;
    plan::misplaced(&client, &seen.tree, &shown.default_branch, place, findings).await;
    if let Some(files) = workflow::of_branch(&client, &shown.default_branch, findings).await {
        workflow::check_files(&files, Some(&plan), findings);
        workflow::check_runs(&client, &files, shown.private, fix, now, place, findings).await;
    }
    deliveries::check(&client, &credential, now, place, findings).await?;
    labels::check(&client, &plan, fix, place, findings).await;
    standing::check(&client, &seen, &shown, state, place, findings).await;
    Ok(true)
}

/// What a folder tells without anybody's answer.
fn of_folder(dir: &Path, findings: &mut Findings) -> Result<(), Stopped> {
    findings.group = Group::Plan;
    let has_plan = [SCHEDULES_PATH, CONFIG_PATH]
        .iter()
        .any(|path| dir.join(path).is_file());
    if !has_plan && !dir.join(".jules").is_dir() {
        findings.unknown(
            "plan.folder",
            format!(
                "{} holds no plan that could be looked at instead",
                dir.display()
            ),
        );
        return Ok(());
    }
    let tree = files::read_tree(dir)?;
    findings.unknown(
        "plan.folder",
        format!("as {} has it; what GitHub has may differ", dir.display()),
    );
    let plan = plan::check(&tree, local_now(), findings)?;
    workflow::check_files(&workflow::of_folder(dir), Some(&plan), findings);
    Ok(())
}
