//! `phileas persona journal`: prints a persona's journal, counts the entries, or checks them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use phileas_domain::board::{self, Kind};
use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan::PERSONAS_FOLDER;
use phileas_domain::prompt;
use serde_json::json;

use super::plan_folder::read_plan;
use crate::cli::commands::task::check::{self, CheckOptions};
use crate::cli::commands::track::suggestion_text;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table::Table;

pub(super) fn run(
    id: Option<&str>,
    dir: &Path,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let (tree, ..) = read_plan(dir)?;
    let Some(id) = id else {
        return count_journals(&tree, json, screen);
    };
    check_persona_folder(&tree, id)?;
    let (text, paths) = prompt::shown_journal(&tree, &PersonaId::from(id));
    if json {
        let document = json!({ "persona": id, "entries": paths, "text": text });
        screen.print_line(&document.to_string())?;
    } else if text.is_empty() {
        screen.print_line(&format!("`{id}` has written nothing down"))?;
    } else {
        screen.print_lines(&text)?;
    }
    Ok(Exit::Done)
}

pub(super) fn check_journals(
    id: Option<&str>,
    dir: &Path,
    strict: bool,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if let Some(id) = id {
        check_persona_folder(&read_plan(dir)?.0, id)?;
    }
    let what = CheckOptions {
        kinds: vec![Kind::Journals],
        journals_of: id.map(str::to_owned),
        strict,
        json,
    };
    check::run(dir, &what, false, screen)
}

/// Checks that a persona has a folder, whether or not its prompt can be read.
fn check_persona_folder(tree: &Tree, id: &str) -> Result<(), CliError> {
    let personas = board::persona_names(tree);
    if personas.contains(id) {
        return Ok(());
    }
    let wrong = format!(
        "there is no persona `{id}`{}",
        suggestion_text(id, personas.into_iter())
    );
    Err(CliError::usage(wrong))
}

fn count_journals(
    tree: &Tree,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let mut journals: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (path, _) in tree.below(PERSONAS_FOLDER) {
        let rest = &path[PERSONAS_FOLDER.len() + 1..];
        let Some((persona, file)) = rest.split_once("/journals/") else {
            continue;
        };
        if persona.contains('/') || file.contains('/') || !file.ends_with(".md") {
            continue;
        }
        // Paths are sorted, so the last one is the newest.
        let (count, newest) = journals.entry(persona).or_default();
        *count += 1;
        *newest = file;
    }
    if json {
        for (persona, (entries, newest)) in &journals {
            let line = json!({ "persona": persona, "entries": entries, "newest": newest });
            screen.print_line(&line.to_string())?;
        }
        return Ok(Exit::Done);
    }
    if journals.is_empty() {
        screen.print_line("no persona has a journal yet")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["persona", "entries", "newest"]).with_figures([1]);
    for (persona, (entries, newest)) in journals {
        table.push_row([persona.to_owned(), entries.to_string(), newest.to_owned()]);
    }
    screen.print_lines(&table.table_text())?;
    Ok(Exit::Done)
}
