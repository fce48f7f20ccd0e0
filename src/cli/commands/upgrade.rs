//! `phileas upgrade`: updates the files that an earlier version wrote. Files that people have changed stay.

use std::collections::BTreeMap;
use std::io::Write;

use phileas_domain::layers::{CONFIG_PIN_PATH, Catalogue, Move, Pin, upgrade_moves};
use phileas_domain::model::Tree;
use serde_json::json;

use crate::adapters::files::FileWrite;
use crate::cli::arguments::{TargetArguments, Upgrade};
use crate::cli::context::file_changes::{self, FileChange};
use crate::cli::context::target::{FileSetChange, Target, confirm};
use crate::cli::context::worktree::WorkTree;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::{self, Screen};
use crate::starter::{
    Pin as ActionPin, RepositoryFiles, Seal, UPGRADE_BRANCH, WORKFLOW_PATH, seal_of, sealed_files,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const PULL_TITLE: &str = "Upgrade phileas";
const PULL_BODY: &str = "\
Written by `phileas upgrade`: what an earlier version wrote into this repository, as this one writes it. What people have \
changed stays as it is, but for the commit that a workflow runs.
";

pub(crate) async fn run(
    arguments: &Upgrade,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if arguments.pull_request {
        let place = TargetArguments {
            dir: arguments.dir.clone(),
            repo: arguments.repo.clone(),
            default_branch: None,
            pull_request: true,
            yes: arguments.yes,
            dry_run: arguments.dry_run,
            json: arguments.json,
        };
        return open_pull(arguments, &Target::open_target(&place).await?, screen).await;
    }
    let work = WorkTree::open_worktree(&arguments.dir)?;
    let repository = match &arguments.repo {
        Some(repository) => repository.clone(),
        None => work.require_origin()?,
    };
    let branch = work.default_branch()?.unwrap_or_else(|| "main".to_owned());
    let all = upgraded_files(arguments, &work.found_files(repository, branch)?)?;
    file_changes::print_changes(&all, arguments.dry_run, arguments.json, screen)?;
    if !file_changes::pending_changes(&all).is_empty() && !arguments.dry_run {
        if !arguments.yes && !confirm("Write this?", screen)? {
            return Ok(Exit::Done);
        }
        apply_changes(&work, &all)?;
        if !arguments.json {
            screen.print_line(&format!("staged; git commit --message '{PULL_TITLE}'"))?;
        }
    }
    file_changes::print_sum(&all, VERSION, arguments.dry_run, arguments.json, screen)
}

/// Opens a pull request with the changes, without a folder.
async fn open_pull(
    arguments: &Upgrade,
    place: &Target,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let all = upgraded_files(arguments, &place.files)?;
    file_changes::print_changes(&all, arguments.dry_run, arguments.json, screen)?;
    if !file_changes::pending_changes(&all).is_empty() && !arguments.dry_run {
        if !arguments.yes && !confirm("Open a pull request with this?", screen)? {
            return Ok(Exit::Done);
        }
        let files = file_changes::pending_changes(&all)
            .into_iter()
            .map(|(path, wanted)| {
                let text = match wanted {
                    FileWrite::New(text) | FileWrite::Text(text) | FileWrite::WithMode(text, _) => {
                        Some(text.to_owned())
                    }
                    FileWrite::Gone => None,
                };
                (path.to_owned(), text)
            });
        let change = FileSetChange {
            branch: &format!("{UPGRADE_BRANCH}{VERSION}"),
            title: PULL_TITLE,
            body: PULL_BODY,
            files: files.collect(),
            staged: Vec::new(),
        };
        if let Some(pull) = place.apply_change(&change).await? {
            screen.print_line(&if arguments.json {
                json!({ "pull_request": pull.number, "url": pull.url, "new": !pull.before })
                    .to_string()
            } else {
                format!("pull request #{}: {}", pull.number, pull.url)
            })?;
        }
    }
    file_changes::print_sum(&all, VERSION, arguments.dry_run, arguments.json, screen)
}

/// The change of each file that an earlier version wrote.
fn upgraded_files(
    arguments: &Upgrade,
    found: &RepositoryFiles,
) -> Result<Vec<FileChange>, CliError> {
    let pin = file_changes::read_pin(&found.tree, CONFIG_PIN_PATH)?;
    let action = arguments.action.clone().or_else(ActionPin::of_this_release);
    let workflow = found.workflows.get(WORKFLOW_PATH);
    match workflow.map(|text| seal_of(text)) {
        Some(Seal::None) => output::print_error(&format!(
            "{WORKFLOW_PATH} is left alone: it bears no seal of `phileas init`, so it is yours; its `uses:` line says which \
             version runs"
        ))?,
        Some(_) if action.is_none() => output::print_error(&format!(
            "{WORKFLOW_PATH} is left alone: this phileas was not built as a release, so name the action with --action OWNER/NAME@COMMIT"
        ))?,
        _ => {}
    }
    let mut all: Vec<FileChange> = sealed_files(found, action.as_ref())
        .into_iter()
        .map(FileChange::from)
        .collect();
    let (of_roles, after) = copied_roles(found, pin.as_ref());
    all.extend(of_roles.into_iter().map(FileChange::from));
    if found.tree.get(CONFIG_PIN_PATH).is_some() || !after.digests.is_empty() {
        all.push(file_changes::own_file(
            &found.tree,
            CONFIG_PIN_PATH,
            after.text(),
        ));
    }
    Ok(all)
}

/// The copies of the catalogue's roles that `role add --copy` wrote.
fn copied_roles(found: &RepositoryFiles, pin: Option<&Pin>) -> (Vec<Move>, Pin) {
    let wanted: BTreeMap<String, String> = pin
        .iter()
        .flat_map(|pin| pin.digests.keys())
        .filter_map(|path| Some((path.clone(), catalogue_text(path)?.to_owned())))
        .collect();
    upgrade_moves(pin, VERSION, &wanted, &found.tree)
}

/// The catalogue's text for a role's file.
fn catalogue_text(path: &str) -> Option<&'static str> {
    let rest = path
        .strip_prefix(".jlo/roles/")?
        .strip_suffix("/role.yml")?;
    let (layer, role) = rest.split_once('/')?;
    Catalogue::built_in_role(layer, role)
}

fn apply_changes(work: &WorkTree, all: &[FileChange]) -> Result<(), CliError> {
    let due = file_changes::pending_changes(all);
    work.change_files(&due)?;
    let paths = |goes: bool| -> Vec<&str> {
        let fits = due.iter().filter(|one| (one.1 == FileWrite::Gone) == goes);
        fits.map(|(path, _)| *path).collect()
    };
    work.stage_paths(&paths(false), &paths(true))
}

/// The pin of a work tree after writing a file.
pub(crate) fn pin_with(tree: &Tree, path: &str, text: &str) -> Result<FileChange, CliError> {
    let mut pin =
        file_changes::read_pin(tree, CONFIG_PIN_PATH)?.unwrap_or_else(|| Pin::new(VERSION));
    pin.note(path, text);
    Ok(file_changes::own_file(tree, CONFIG_PIN_PATH, pin.text()))
}

/// The pin of a work tree after phileas stops maintaining a file.
pub(crate) fn pin_without(tree: &Tree, path: &str) -> Result<Option<FileChange>, CliError> {
    let Some(mut pin) = file_changes::read_pin(tree, CONFIG_PIN_PATH)? else {
        return Ok(None);
    };
    let was_there = pin.digests.remove(path).is_some();
    Ok(was_there.then(|| file_changes::own_file(tree, CONFIG_PIN_PATH, pin.text())))
}
