//! Checks the journals of personas.
//!
//! A prompt shows the newest entries by file name, so a name without a date, or with a future date, puts an entry in
//! the wrong place. The frontmatter's date only confirms or contradicts the name.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::file_names::{is_unexpanded, journal_day};
use super::limits::{FILE_LIMIT_BYTES, FILES_LIMIT};
use super::markdown::MarkdownDocument;
use super::tasks::is_time;
use crate::Diagnostic;
use crate::model::Tree;
use crate::plan::PERSONAS_FOLDER;

/// The keys of an entry's frontmatter.
const KEYS: [&str; 4] = ["title", "date", "author", "type"];
/// The value of `type`.
const TYPE: &str = "journal";

/// Checks the journals of all personas, or of one.
pub(super) fn check_journals(
    tree: &Tree,
    only: Option<&str>,
    today: Date,
    found: &mut Vec<Diagnostic>,
) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, _) in tree.below(PERSONAS_FOLDER) {
        let rest = &path[PERSONAS_FOLDER.len() + 1..];
        let Some((persona, inside)) = rest.split_once('/') else {
            continue;
        };
        let Some(file) = inside.strip_prefix("journals/") else {
            continue;
        };
        if only.is_some_and(|only| only != persona) || file.starts_with('.') {
            continue;
        }
        let count = counts.entry(persona).or_default();
        *count += 1;
        if *count > FILES_LIMIT {
            if *count == FILES_LIMIT + 1 {
                let wrong =
                    format!("there are more than {FILES_LIMIT} entries; the rest is left out");
                let folder = format!("{PERSONAS_FOLDER}/{persona}/journals");
                found.push(Diagnostic::error(folder, wrong).help("remove the oldest"));
            }
            continue;
        }
        check_journal(tree, path, persona, file, today, found);
    }
}

/// Checks the name of an entry, and returns its day.
fn check_name(path: &str, file: &str, today: Date, found: &mut Vec<Diagnostic>) -> Option<Date> {
    let named = journal_day(file);
    if is_unexpanded(file) {
        let wrong = "its name contains an unfilled placeholder";
        let help = "rename it to its time and a few words: `YYYY-MM-DD-HHMM-Title.md`";
        found.push(Diagnostic::error(path, wrong).help(help));
    } else if named.is_none() {
        let wrong =
            "its name does not begin with its day, so it has no place in the order of entries";
        let help = "call it `YYYY-MM-DD-HHMM-Title.md`";
        found.push(Diagnostic::warning(path, wrong).help(help));
    }
    // Time zones differ by at most a day.
    let tomorrow = today.tomorrow().unwrap_or(Date::MAX);
    if let Some(day) = named.filter(|day| *day > tomorrow) {
        let wrong =
            format!("its name says {day}, which is to come: it stays the newest until then");
        found.push(
            Diagnostic::error(path, wrong).help("rename it to the day on which it was written"),
        );
    }
    named
}

fn check_journal(
    tree: &Tree,
    path: &str,
    persona: &str,
    file: &str,
    today: Date,
    found: &mut Vec<Diagnostic>,
) {
    if file.contains('/') {
        let wrong = Diagnostic::warning(path, "it lies deeper than entries do, and is not read");
        found.push(wrong.help(format!(
            "move it to `{PERSONAS_FOLDER}/{persona}/journals/`"
        )));
        return;
    }
    if !file.ends_with(".md") {
        let wrong = Diagnostic::warning(path, "it is not Markdown, and is not read");
        found.push(wrong.help("give its name the ending `.md`, or move it elsewhere"));
        return;
    }
    let named = check_name(path, file, today, found);
    let text = match tree.read_text(path, "it", FILE_LIMIT_BYTES) {
        Ok(text) => text.unwrap_or_default(),
        Err(wrong) => {
            found.push(*wrong);
            return;
        }
    };
    if text.trim().is_empty() {
        let wrong = Diagnostic::error(path, "nothing stands in it");
        found.push(wrong.at(1, 1).help("write it, or remove it"));
        return;
    }
    let document = MarkdownDocument::read_document(path, text, found);
    if !document.has_head() {
        let wrong = Diagnostic::error(path, "it does not begin with frontmatter");
        let help = format!(
            "let it begin with the lines `---`, `title: …`, `date: {}`, `author: {persona}`, `type: {TYPE}`, `---`",
            named.unwrap_or(today)
        );
        found.push(wrong.at(1, 1).help(help));
    }
    if !document.is_read() {
        return;
    }
    for key in KEYS {
        if document.get(key).is_none() {
            let wrong = format!("`{key}` is missing");
            let wrong = Diagnostic::warning(path, wrong).at(1, 1).key(key);
            found.push(wrong.help(format!("write `{key}: …` into the frontmatter")));
        }
    }
    check_keys(&document, persona, named, found);
    if document.body.trim().is_empty() {
        let wrong = Diagnostic::warning(path, "nothing stands below its frontmatter");
        found.push(wrong.help("write what was seen, what was done, and what it means"));
    }
}

fn check_keys(
    document: &MarkdownDocument<'_>,
    persona: &str,
    named: Option<Date>,
    found: &mut Vec<Diagnostic>,
) {
    document.text_value("title", found);
    if let (Some(said), Some(field)) = (document.text_value("date", found), document.get("date")) {
        let day = said
            .trim()
            .get(..10)
            .and_then(|day| day.parse::<Date>().ok());
        match (day.filter(|_| is_time(&said)), named) {
            (None, _) => {
                let wrong = document.error_at(&field, "date", format!("`{said}` is not a date"));
                found.push(wrong.help("write it as `2026-01-05`"));
            }
            // A difference of one day is a time zone.
            (Some(day), Some(named)) if days_apart(day, named) > 1 => {
                let wrong = format!("the date is {day}, and the file's name says {named}");
                let wrong = document.error_at(&field, "date", wrong);
                found.push(
                    wrong.help("write the day on which it was written; the name decides the order"),
                );
            }
            _ => {}
        }
    }
    if let (Some(said), Some(field)) =
        (document.text_value("author", found), document.get("author"))
        && !said.eq_ignore_ascii_case(persona)
    {
        let wrong = format!("the author is `{said}`, and the journal is that of `{persona}`");
        let wrong = document.warning_at(&field, "author", wrong);
        found.push(wrong.help(format!(
            "write `author: {persona}`, or move the file to its author"
        )));
    }
    if let (Some(said), Some(field)) = (document.text_value("type", found), document.get("type"))
        && said != TYPE
    {
        let wrong = document.warning_at(&field, "type", format!("the type is `{said}`"));
        found.push(wrong.help(format!("write `type: {TYPE}`")));
    }
}

/// The number of days between two dates.
fn days_apart(a: Date, b: Date) -> i32 {
    a.since(b)
        .map_or(i32::MAX, |span| span.get_days().saturating_abs())
}
