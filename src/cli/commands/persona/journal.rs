//! `phileas persona journal`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use phileas_domain::board::Kind;
use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan::PERSONAS_FOLDER;
use phileas_domain::prompt;
use serde_json::json;

use super::plan_folder::read;
use crate::cli::commands::task::lint::{self, What};
use crate::cli::commands::track::meant;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table::Table;

pub(super) fn run(
    id: Option<&str>,
    dir: &Path,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let (tree, ..) = read(dir)?;
    let Some(id) = id else {
        return count(&tree, json, screen);
    };
    known(&tree, id)?;
    let (text, paths) = prompt::shown_journal(&tree, &PersonaId::from(id));
    if json {
        let document = json!({ "persona": id, "entries": paths, "text": text });
        screen.line(&document.to_string())?;
    } else if text.is_empty() {
        screen.line(&format!("`{id}` has written nothing down"))?;
    } else {
        screen.lines(&text)?;
    }
    Ok(Exit::Done)
}

pub(super) fn lint(
    id: Option<&str>,
    dir: &Path,
    strict: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if let Some(id) = id {
        known(&read(dir)?.0, id)?;
    }
    let what = What {
        kinds: vec![Kind::Journals],
        journals_of: id.map(str::to_owned),
        strict,
        json,
    };
    lint::run(dir, &what, false, screen)
}

/// A persona has a folder, whether its prompt can be read or not.
fn known(tree: &Tree, id: &str) -> Result<(), Stopped> {
    let folders = || {
        let rest = tree.below(PERSONAS_FOLDER);
        let rest = rest.map(|(path, _)| &path[PERSONAS_FOLDER.len() + 1..]);
        rest.filter_map(|rest| rest.split_once('/').map(|(folder, _)| folder))
    };
    if folders().any(|folder| folder == id) {
        return Ok(());
    }
    let wrong = format!("there is no persona `{id}`{}", meant(id, folders()));
    Err(Stopped::usage(wrong))
}

fn count(tree: &Tree, json: bool, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let mut journals: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (path, _) in tree.below(PERSONAS_FOLDER) {
        let rest = &path[PERSONAS_FOLDER.len() + 1..];
        let Some((persona, file)) = rest.split_once("/journals/") else {
            continue;
        };
        if persona.contains('/') || file.contains('/') || !file.ends_with(".md") {
            continue;
        }
        // Paths come in order, so the last one is the newest.
        let (count, newest) = journals.entry(persona).or_default();
        *count += 1;
        *newest = file;
    }
    if json {
        for (persona, (entries, newest)) in &journals {
            let line = json!({ "persona": persona, "entries": entries, "newest": newest });
            screen.line(&line.to_string())?;
        }
        return Ok(Exit::Done);
    }
    if journals.is_empty() {
        screen.line("nobody has written anything down")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["PERSONA", "ENTRIES", "NEWEST"]).figures([1]);
    for (persona, (entries, newest)) in journals {
        table.row([persona.to_owned(), entries.to_string(), newest.to_owned()]);
    }
    screen.lines(&table.text())?;
    Ok(Exit::Done)
}
