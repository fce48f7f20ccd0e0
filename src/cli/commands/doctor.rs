//! `phileas doctor`: finds everything that keeps phileas from working in a repository, each with its fix.
//!
//! | question | file |
//! |---|---|
//! | which credential is it, what may it do, and is the clock right? | `credential.rs` |
//! | does Jules accept the key, and know the repository? | `jules.rs` |
//! | does the ledger exist, is it healthy, writable, protected? | `ledger.rs` |
//! | can git and GitHub hold the branches that phileas creates? | `branches.rs` |
//! | is the plan correct, affordable, in its place? | `plan.rs` |
//! | does a workflow call phileas? | `workflow.rs` |
//! | do GitHub's deliveries arrive? | `deliveries.rs` |
//! | do the labels exist? | `labels.rs` |
//! | what is paused, waiting for an answer, outdated? | `status.rs` |
//!
//! It reads, and with `--fix` makes safe changes; it deletes nothing.

mod branches;
mod credential;
mod deliveries;
mod finding;
mod jules;
mod labels;
mod ledger;
mod plan;
mod repository;
mod status;
mod workflow;

use std::io::Write;
use std::path::Path;

use phileas_domain::model::RepositoryName;
use phileas_domain::plan::{CONFIG_PATH, SCHEDULES_PATH};

use crate::adapters::files;
use crate::cli::arguments::Doctor;
use crate::cli::context::clock::local_now;
use crate::cli::context::github_server::github_server;
use crate::cli::context::worktree::WorkTree;
use crate::cli::context::{clients, credentials};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::ledger_of;
use crate::runtime::ports::ReadGitHub as _;
use finding::{Findings, Group};
use repository::CheckedRepository;

pub(crate) async fn run(
    arguments: &Doctor,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let mut findings = Findings::default();
    let github = github_server();
    let repository = named_repository(arguments, &mut findings);
    let reached = match &repository {
        Some(repository) => {
            let checked = CheckedRepository {
                repository,
                github: &github,
            };
            check_repository(&checked, arguments.fix, &mut findings).await?
        }
        None => false,
    };
    jules::check_key(repository.as_ref(), &mut findings).await;
    if !reached {
        check_folder(&arguments.dir, &mut findings)?;
    }
    let exit = findings.exit_code();
    findings.print_findings(arguments.json, screen)?;
    screen.flush()?;
    Ok(exit)
}

/// The repository that the command line names, else the one that the folder was cloned from.
fn named_repository(arguments: &Doctor, findings: &mut Findings) -> Option<RepositoryName> {
    if let Some(repository) = &arguments.repo {
        return Some(repository.clone());
    }
    let fact = match WorkTree::cloned_repository(&arguments.dir) {
        Ok(Some(origin)) => return Some(origin),
        Ok(None) => "no repository is named".to_owned(),
        Err(error) => error.message,
    };
    findings.add_hint(
        "credential.repository",
        format!("{fact}; only a folder and the Jules key are checked"),
        "phileas doctor --repo owner/name",
    );
    None
}

/// Checks what GitHub shows. Returns whether that included the plan.
async fn check_repository(
    checked: &CheckedRepository<'_>,
    fix: bool,
    findings: &mut Findings,
) -> Result<bool, CliError> {
    let credential = match credentials::github_credential() {
        Ok(credential) => credential,
        Err(error) => {
            let help = format!(
                "gh auth login && export GITHUB_TOKEN=\"$(gh auth token)\", or make one at {}/settings/tokens",
                checked.github
            );
            findings.add_credential("credential.missing", error.message, help);
            return Ok(false);
        }
    };
    let client = clients::github_client(checked.repository)?;
    let kind = credential::check_kind(&credential, checked, findings).await?;
    let local = local_now();
    let shown = match client.read_access().await {
        Ok(shown) => shown,
        Err(failure) => {
            credential::report_unreadable_repository(&failure, checked, findings);
            return Ok(false);
        }
    };
    let is_real = clients::is_real_github()?;
    credential::check_clock(shown.now, local, is_real, findings);
    credential::check_rights(&client, &shown, kind, checked, findings).await;
    let seen = match client.observe_repository().await {
        Ok(seen) => seen,
        Err(failure) => {
            findings.group = Group::Credential;
            credential::report_unreadable_repository(&failure, checked, findings);
            return Ok(false);
        }
    };
    let now = shown.now.unwrap_or(seen.now);
    let ledger = ledger_of(seen.ledger.clone());
    let state = ledger::check_health(&ledger, checked, findings);
    ledger::check_protection(&client, state.is_some(), checked, findings).await;
    let plan = plan::check_plan(&seen.tree, now, findings)?;
    branches::check_branches(&client, &ledger, &plan, checked, findings).await;
    plan::check_start_branches(&client, &plan, &seen.tree, checked, findings).await;
    plan::check_misplaced_files(
        &client,
        &seen.tree,
        &shown.default_branch,
        checked,
        findings,
    )
    .await;
    if let Some(files) =
        workflow::read_branch_workflows(&client, &shown.default_branch, findings).await
    {
        workflow::check_files(&files, Some(&plan), findings);
        workflow::check_runs(&client, &files, shown.private, fix, now, checked, findings).await;
    }
    deliveries::check_deliveries(&client, &credential, now, checked, findings).await?;
    labels::check_labels(&client, &plan, fix, checked, findings).await;
    status::check_status(&client, &seen, &shown, state, checked, findings).await;
    Ok(true)
}

/// Checks what a folder shows without any request.
fn check_folder(dir: &Path, findings: &mut Findings) -> Result<(), CliError> {
    findings.group = Group::Plan;
    let has_plan = [SCHEDULES_PATH, CONFIG_PATH]
        .iter()
        .any(|path| dir.join(path).symlink_metadata().is_ok());
    if !has_plan && !dir.join(".jules").is_dir() {
        findings.add_unknown(
            "plan.folder",
            format!(
                "no plan was checked: none was read from GitHub, and the folder `{}` contains no plan ({SCHEDULES_PATH})",
                dir.display()
            ),
        );
        return Ok(());
    }
    let tree = files::read_tree(dir)?;
    findings.add_unknown(
        "plan.folder",
        format!(
            "the plan in the folder `{}` was checked, because none was read from GitHub, which may have another one",
            dir.display()
        ),
    );
    let plan = plan::check_plan(&tree, local_now(), findings)?;
    workflow::check_files(&workflow::read_folder_workflows(dir), Some(&plan), findings);
    Ok(())
}
