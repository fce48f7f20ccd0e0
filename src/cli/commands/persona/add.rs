//! `phileas persona add`: adds a ready-made persona and its entry in the plan.

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::board::Change;
use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan::limits::MAX_SCHEDULES_BYTES;
use phileas_domain::plan::{self, Cron, PERSONAS_FOLDER, SCHEDULES_PATH};
use serde_json::json;
use toml_edit::{Array, DocumentMut, Item, Table, Value};

use super::plan_folder::{read_plan, run_locations};
use crate::adapters::files::{self, FileWrite};
use crate::cli::commands::track::suggestion_text;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::{findings_exit, print_to_stderr};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table;
use crate::starter::{PACKS, Pack, named_by, schema_address};

/// The schedule of a persona that runs only on request.
const MANUAL: &str = "manual";

pub(super) fn run(
    name: Option<&str>,
    schedule: Option<&str>,
    cycle: bool,
    dir: &Path,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let Some(name) = name else {
        return list_packs(json, screen);
    };
    let Some(pack) = Pack::named(name) else {
        let meant = suggestion_text(name, PACKS.iter().map(|pack| pack.id));
        return Err(CliError::usage(format!(
            "there is no persona `{name}` to add{meant}"
        )));
    };
    let (tree, plan, _) = read_plan(dir)?;
    if let Some(said) = schedule.filter(|said| *said != MANUAL) {
        Cron::parse(said, &plan.defaults.timezone)
            .map_err(|error| CliError::usage(format!("--schedule: {error}; {}", error.help())))?;
    }
    let there = run_locations(&plan, &PersonaId::from(pack.id));
    let mut changes = Vec::new();
    changes.extend(prompt_change(&tree, pack)?);
    let when = match (cycle, schedule) {
        (true, _) => StartRule::Cycle,
        (false, said) => StartRule::Clock(said.unwrap_or(pack.cron)),
    };
    changes.extend(plan_change(&tree, pack, &when)?);
    let found = check_result(&tree, &changes, pack)?;
    let wanted = changes.iter().map(|change| {
        let text = change.text.as_str();
        let is_there = change.from.as_ref() == Some(&change.to);
        let wanted = if is_there {
            FileWrite::Text(text)
        } else {
            FileWrite::New(text)
        };
        (change.to.as_str(), wanted)
    });
    files::change_files(dir, &wanted.collect::<Vec<_>>())?;
    print_changes(&changes, &there, name, json, screen)?;
    print_to_stderr(&found, false)?;
    Ok(findings_exit(&found))
}

/// Prints what was done, and where the persona ran before.
fn print_changes(
    changes: &[Change],
    there: &[String],
    name: &str,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    for change in changes {
        if json {
            screen.print_line(&json!({ "file": change.to, "done": change.done }).to_string())?;
        } else {
            screen.print_line(&format!("{}: {}", change.to, change.done))?;
        }
    }
    // Entries that people have made for it stay, whatever this command asks for.
    if !there.is_empty() {
        if json {
            let line = json!({ "file": SCHEDULES_PATH, "done": null, "runs": there });
            screen.print_line(&line.to_string())?;
        } else {
            let runs = there.join(", ");
            screen.print_line(&format!(
                "{SCHEDULES_PATH}: `{name}` is there already and stays where it is: {runs}"
            ))?;
        }
    }
    if !json && !changes.is_empty() {
        screen.print_line(&format!(
            "read its prompt with phileas prompt render {name}, and adapt it"
        ))?;
    }
    Ok(())
}

fn list_packs(json: bool, screen: &mut Screen<impl Write>) -> Result<Exit, CliError> {
    if json {
        for pack in PACKS {
            let line = json!({ "id": pack.id, "purpose": pack.purpose, "cron": pack.cron });
            screen.print_line(&line.to_string())?;
        }
        return Ok(Exit::Done);
    }
    let mut table =
        table::Table::new(["persona", "usually", "what it does"]).with_max_width(screen.width);
    for pack in PACKS {
        table.push_row([pack.id, pack.cron, pack.purpose].map(str::to_owned));
    }
    screen.print_lines(&table.table_text())?;
    Ok(Exit::Done)
}

/// The change that adds the prompt. `None` if the same prompt exists. Another prompt is an error.
fn prompt_change(tree: &Tree, pack: Pack) -> Result<Option<Change>, CliError> {
    let id = pack.id;
    let to = format!("{PERSONAS_FOLDER}/{id}/prompt.md");
    let text = pack.prompt();
    if tree
        .text(&to)
        .is_some_and(|there| there.replace("\r\n", "\n") == text)
    {
        return Ok(None);
    }
    let folder = format!("{PERSONAS_FOLDER}/{id}");
    let there = tree.below(&folder).next().map(|(path, _)| path.to_owned());
    let there = there.or_else(|| tree.get(&folder).map(|_| folder.clone()));
    if let Some(there) = there {
        return Err(CliError::usage(format!(
            "there is a persona `{id}` already ({there}), and nothing is written over; rename its folder, or add another one"
        )));
    }
    Ok(Some(Change {
        from: None,
        to,
        text,
        done: format!("wrote the prompt of `{id}`: {}", pack.purpose),
    }))
}

enum StartRule<'a> {
    Clock(&'a str),
    Cycle,
}

/// The change that adds an entry to the plan. `None` if the plan names the persona already. All else that people wrote
/// there stays.
fn plan_change(tree: &Tree, pack: Pack, when: &StartRule<'_>) -> Result<Option<Change>, CliError> {
    let id = pack.id;
    if named_by(tree, id) {
        return Ok(None);
    }
    let known = tree
        .read_text(SCHEDULES_PATH, "the plan", MAX_SCHEDULES_BYTES)
        .map_err(|wrong| CliError::finding(wrong.without_severity()))?;
    // Comments above a key belong to it, so there must be a key.
    let begin = match when {
        StartRule::Clock(_) => "[schedules]",
        StartRule::Cycle => "cycle = []",
    };
    let blank = format!(
        "#:schema {}\n# Who works and when. After a change: phileas validate, and phileas simulate.\n\n{begin}\n",
        schema_address("schedules")
    );
    let text = known.unwrap_or(&blank);
    let mut document = parse_plan(text)?;
    if let (StartRule::Clock(_), false) = (when, document.contains_key("schedules"))
        && let Some(begun) = uncomment_schedules(text)
    {
        document = parse_plan(&begun)?;
    }
    if let Some(begun) = insert_below_heading(text, &document, begin) {
        document = parse_plan(&begun)?;
    }
    let done = insert_entry(&mut document, id, when)?;
    Ok(Some(Change {
        from: known.map(|_| SCHEDULES_PATH.to_owned()),
        to: SCHEDULES_PATH.to_owned(),
        text: with_line_breaks_of(known.unwrap_or_default(), &document.to_string()),
        done,
    }))
}

fn wrong_plan(what: &str) -> CliError {
    CliError::finding(format!(
        "{SCHEDULES_PATH}: {what}; phileas validate shows where"
    ))
}

fn parse_plan(text: &str) -> Result<DocumentMut, CliError> {
    text.parse()
        .map_err(|_| wrong_plan("the file is not valid TOML"))
}

/// Inserts the entry, and says what was done.
fn insert_entry(
    document: &mut DocumentMut,
    id: &str,
    when: &StartRule<'_>,
) -> Result<String, CliError> {
    Ok(match when {
        StartRule::Clock(cron) => {
            let table = document
                .entry("schedules")
                .or_insert(Item::Table(Table::new()));
            let table = table
                .as_table_like_mut()
                .ok_or_else(|| wrong_plan("`schedules` is not a table"))?;
            table.insert(id, Item::Value(Value::from(*cron)));
            match *cron {
                MANUAL => format!("`{id}` runs only when a person asks"),
                cron => format!("`{id}` runs at `{cron}`"),
            }
        }
        StartRule::Cycle => {
            let new = || Item::Value(Array::new().into());
            let cycle = document.entry("cycle").or_insert_with(new);
            let cycle = cycle
                .as_array_mut()
                .ok_or_else(|| wrong_plan("`cycle` is not a list"))?;
            push_name(cycle, id);
            format!("`{id}` is the last of the cycle")
        }
    })
}

/// The text with the table `[schedules]` in place of the comment that invites to begin it. Left as a comment, it would
/// begin the table a second time. `None` without this comment, or where keys follow it, which would become part of the
/// table.
fn uncomment_schedules(text: &str) -> Option<String> {
    let mut begins = 0;
    let (at, line) = text.split_inclusive('\n').find_map(|line| {
        let at = begins;
        begins += line.len();
        (line.trim() == "# [schedules]").then_some((at, line))
    })?;
    let (above, below) = (&text[..at], &text[at + line.len()..]);
    let mut following = below.lines().map(str::trim_start);
    let next = following.find(|line| !line.is_empty() && !line.starts_with('#'));
    next.is_none_or(|line| line.starts_with('['))
        .then(|| format!("{above}{}{below}", line.replacen("# ", "", 1)))
}

/// The text with `begin` inserted below the comments at its head, because editors look for their comment in the first
/// line. It handles a text without any key, and `cycle` before the first table. `None` if the new key follows an
/// existing one anyway, or is there already.
fn insert_below_heading(text: &str, document: &DocumentMut, begin: &str) -> Option<String> {
    let table = document.as_table();
    let is_part = |item: &Item| {
        item.as_table().is_some_and(|table| !table.is_dotted()) || item.is_array_of_tables()
    };
    let has_keys = table.iter().any(|(_, item)| !is_part(item));
    let is_key = !begin.starts_with('[');
    if has_keys || table.contains_key("cycle") || !table.is_empty() && !is_key {
        return None;
    }
    let comment = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let head: Vec<&str> = text.split_inclusive('\n').take_while(comment).collect();
    // A comment right above the first table belongs to that table; a comment for editors belongs to the file.
    let blank = head.iter().position(|line| line.trim().is_empty());
    let for_editors = |line: &&&str| line.trim_start().starts_with("#:");
    let kept = match blank {
        Some(blank) => blank,
        None if table.is_empty() => head.len(),
        None => head.iter().take_while(for_editors).count(),
    };
    let length: usize = head[..kept].iter().map(|line| line.len()).sum();
    let (above, below) = text.split_at(length);
    let gap = |part: &str| if part.trim().is_empty() { "" } else { "\n" };
    let end = if above.is_empty() || above.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    Some(format!(
        "{above}{end}{}{begin}\n{}{}",
        gap(above),
        gap(below),
        below.trim_start_matches(['\r', '\n'])
    ))
}

/// The text with the line breaks of another one; the library that edits the plan writes one kind only.
fn with_line_breaks_of(known: &str, text: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    match known.contains("\r\n") {
        true => plain.replace('\n', "\r\n"),
        false => plain,
    }
}

/// Appends a name to a list, on a line of its own if the other names have one.
fn push_name(list: &mut Array, name: &str) {
    let mut value = Value::from(name);
    let indent = list
        .iter()
        .last()
        .and_then(|last| last.decor().prefix()?.as_str())
        .and_then(|prefix| prefix.rsplit_once('\n'))
        .map(|(_, indent)| format!("\n{indent}"));
    match indent {
        Some(indent) => {
            // A comment after the last name stays after it.
            if !list.trailing_comma() {
                list.set_trailing_comma(true);
            }
            value.decor_mut().set_prefix(indent);
            let trailing = list.trailing().as_str().unwrap_or_default().to_owned();
            if let Some((comment, rest)) = trailing.split_once('\n')
                && !comment.trim().is_empty()
            {
                let prefix = value.decor().prefix().and_then(|prefix| prefix.as_str());
                let prefix = format!("{comment}{}", prefix.unwrap_or_default());
                value.decor_mut().set_prefix(prefix);
                list.set_trailing(format!("\n{rest}"));
            }
            list.push_formatted(value);
        }
        None => list.push(name),
    }
}

/// Checks that the changed plan means what it should, before anything is written. Returns what is wrong with it, which it was before.
fn check_result(tree: &Tree, changes: &[Change], pack: Pack) -> Result<Vec<Diagnostic>, CliError> {
    let texts = changes
        .iter()
        .map(|change| (change.to.clone(), Some(change.text.clone())));
    let after = tree.with(&texts.collect());
    let (_, before) = plan::read(tree);
    let (plan, found) = plan::read(&after);
    let new =
        |one: &&Diagnostic| one.is_error() && !before.iter().any(|old| old.message == one.message);
    if let Some(one) = found.iter().find(new) {
        return Err(CliError::finding(format!("{one}; nothing was written")));
    }
    let id = PersonaId::from(pack.id);
    if !plan.personas.contains_key(&id) || !named_by(&after, pack.id) {
        return Err(CliError::finding(format!(
            "the plan cannot be read, so `{id}` cannot be added to it; phileas validate tells why"
        )));
    }
    Ok(found)
}
