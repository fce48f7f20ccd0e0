//! `phileas upgrade`: what an earlier version wrote into a repository, as this one writes it. What people have changed
//! stays.

use std::collections::BTreeMap;
use std::io::Write;

use phileas_domain::layers::{CONFIG_PIN_PATH, Catalogue, Move, Pin, moves};
use phileas_domain::model::Tree;
use serde_json::json;

use crate::adapters::files::Wanted;
use crate::cli::arguments::{Upgrade, Where};
use crate::cli::context::file_changes::{self, Written};
use crate::cli::context::target::{Change, Place, agreed};
use crate::cli::context::worktree::WorkTree;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::{self, Screen};
use crate::starter::{
    Found, Pin as ActionPin, Seal, UPGRADE_BRANCH, WORKFLOW_PATH, seal_of, sealed_files,
};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const TITLE: &str = "Upgrade phileas";
const BODY: &str = "\
Written by `phileas upgrade`: what an earlier version wrote into this repository, as this one writes it. What people have \
changed stays as it is.
";

pub(crate) async fn run(
    arguments: &Upgrade,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if arguments.pull_request {
        let place = Where {
            dir: arguments.dir.clone(),
            repo: arguments.repo.clone(),
            default_branch: None,
            pull_request: true,
            yes: arguments.yes,
            dry_run: arguments.dry_run,
            json: arguments.json,
        };
        return propose(arguments, &Place::open(&place).await?, screen).await;
    }
    let work = WorkTree::open(&arguments.dir)?;
    let repository = match &arguments.repo {
        Some(repository) => repository.clone(),
        None => work.origin()?.ok_or_else(|| {
            Stopped::usage(
                "no remote `origin` tells the repository's name; name it with --repo OWNER/NAME",
            )
        })?,
    };
    let branch = work.default_branch()?.unwrap_or_else(|| "main".to_owned());
    let all = all(arguments, &work.found(repository, branch)?)?;
    file_changes::show(&all, arguments.dry_run, arguments.json, screen)?;
    if !file_changes::due(&all).is_empty() && !arguments.dry_run {
        if !arguments.yes && !agreed("Write this?", screen)? {
            return Ok(Exit::Done);
        }
        apply(&work, &all)?;
        if !arguments.json {
            screen.line(&format!("staged; git commit --message '{TITLE}'"))?;
        }
    }
    file_changes::sum(&all, VERSION, arguments.dry_run, arguments.json, screen)
}

/// The same by a pull request, without a folder.
async fn propose(
    arguments: &Upgrade,
    place: &Place,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let all = all(arguments, &place.found)?;
    file_changes::show(&all, arguments.dry_run, arguments.json, screen)?;
    if !file_changes::due(&all).is_empty() && !arguments.dry_run {
        if !arguments.yes && !agreed("Open a pull request with this?", screen)? {
            return Ok(Exit::Done);
        }
        let files = file_changes::due(&all).into_iter().map(|(path, wanted)| {
            let text = match wanted {
                Wanted::New(text) | Wanted::Text(text) | Wanted::WithMode(text, _) => {
                    Some(text.to_owned())
                }
                Wanted::Gone => None,
            };
            (path.to_owned(), text)
        });
        let change = Change {
            branch: &format!("{UPGRADE_BRANCH}{VERSION}"),
            title: TITLE,
            body: BODY,
            files: files.collect(),
            staged: Vec::new(),
        };
        if let Some(pull) = place.apply(&change).await? {
            screen.line(&if arguments.json {
                json!({ "pull_request": pull.number, "url": pull.url, "new": !pull.before })
                    .to_string()
            } else {
                format!("pull request #{}: {}", pull.number, pull.url)
            })?;
        }
    }
    file_changes::sum(&all, VERSION, arguments.dry_run, arguments.json, screen)
}

/// What becomes of each file that an earlier version wrote.
fn all(arguments: &Upgrade, found: &Found) -> Result<Vec<Written>, Stopped> {
    let pin = file_changes::pin(&found.tree, CONFIG_PIN_PATH)?;
    let action = arguments.action.clone().or_else(ActionPin::of_this_release);
    let workflow = found.workflows.get(WORKFLOW_PATH);
    match workflow.map(|text| seal_of(text)) {
        Some(Seal::None) => output::beside(&format!(
            "{WORKFLOW_PATH} is left alone: it bears no seal of `phileas init`, so it is yours; its `uses:` line says which \
             version runs"
        ))?,
        Some(_) if action.is_none() => output::beside(&format!(
            "{WORKFLOW_PATH} is left alone: this phileas was not built as a release, so name the action with --action OWNER/NAME@COMMIT"
        ))?,
        _ => {}
    }
    let mut all: Vec<Written> = sealed_files(found, action.as_ref())
        .into_iter()
        .map(Written::from)
        .collect();
    let (of_roles, after) = roles(found, pin.as_ref());
    all.extend(of_roles.into_iter().map(Written::from));
    if found.tree.get(CONFIG_PIN_PATH).is_some() || !after.digests.is_empty() {
        all.push(file_changes::of_text(
            &found.tree,
            CONFIG_PIN_PATH,
            after.text(),
        ));
    }
    Ok(all)
}

/// The copies of the catalogue's roles that `role add --copy` wrote.
fn roles(found: &Found, pin: Option<&Pin>) -> (Vec<Move>, Pin) {
    let wanted: BTreeMap<String, String> = pin
        .iter()
        .flat_map(|pin| pin.digests.keys())
        .filter_map(|path| Some((path.clone(), built_in(path)?.to_owned())))
        .collect();
    let there = |path: &str| found.tree.get(path).map(|_| found.tree.text(path));
    moves(pin, VERSION, &wanted, there)
}

/// The catalogue's text of a role's file.
fn built_in(path: &str) -> Option<&'static str> {
    let rest = path
        .strip_prefix(".jlo/roles/")?
        .strip_suffix("/role.yml")?;
    let (layer, role) = rest.split_once('/')?;
    Catalogue::built_in_role(layer, role)
}

fn apply(work: &WorkTree, all: &[Written]) -> Result<(), Stopped> {
    let due = file_changes::due(all);
    work.change(&due)?;
    let paths = |goes: bool| -> Vec<&str> {
        let fits = due.iter().filter(|one| (one.1 == Wanted::Gone) == goes);
        fits.map(|(path, _)| *path).collect()
    };
    work.stage(&paths(false), &paths(true))
}

/// The pin of a work tree after a file was written beside it.
pub(crate) fn noted(tree: &Tree, path: &str, text: &str) -> Result<Written, Stopped> {
    let mut pin = file_changes::pin(tree, CONFIG_PIN_PATH)?.unwrap_or_else(|| Pin::new(VERSION));
    pin.note(path, text);
    Ok(file_changes::of_text(tree, CONFIG_PIN_PATH, pin.text()))
}

/// The pin of a work tree after a file is no longer phileas' business.
pub(crate) fn forgotten(tree: &Tree, path: &str) -> Result<Option<Written>, Stopped> {
    let Some(mut pin) = file_changes::pin(tree, CONFIG_PIN_PATH)? else {
        return Ok(None);
    };
    let was_there = pin.digests.remove(path).is_some();
    Ok(was_there.then(|| file_changes::of_text(tree, CONFIG_PIN_PATH, pin.text())))
}
