//! `issues/index.md`: the list of issues that the workstreams layout keeps for people.

use std::collections::{BTreeMap, BTreeSet};

use super::labels;
use super::read::Stream;
use crate::diagnostic::Diagnostic;

/// A stream's index, as it should be.
pub(super) fn render(stream: &Stream) -> String {
    let mut text = "# Issues\n".to_owned();
    let mut sections: Vec<&str> = labels::USUAL.iter().map(|label| label.name).collect();
    for item in &stream.items {
        let folder = folder(&item.path);
        if !sections.contains(&folder) {
            sections.push(folder);
        }
    }
    for label in sections {
        let mut title = label.to_owned();
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        text.push_str(&format!("\n## {title}\n\n| Issue | Summary |\n|---|---|\n"));
        let mut listed = BTreeSet::new();
        for item in stream
            .items
            .iter()
            .filter(|item| folder(&item.path) == label)
        {
            // With both forms of a workstream, two files can have one entry.
            let entry = entry(&item.path);
            if !listed.insert(entry) {
                continue;
            }
            text.push_str(&format!(
                "| [{}](./{entry}) | {} |\n",
                cell(&item.value.title),
                cell(&item.value.summary)
            ));
        }
        if listed.is_empty() {
            text.push_str("| no open issues | |\n");
        }
    }
    text
}

/// Where a stream's index and its issues differ.
pub(super) fn check(stream: &Stream) -> Vec<Diagnostic> {
    let path = path(stream);
    let Some(index) = &stream.index else {
        // Nothing to list, nothing to miss.
        return if stream.items.is_empty() {
            Vec::new()
        } else {
            vec![Diagnostic::error(path, "the list of issues is missing").mend("`--fix` writes it")]
        };
    };
    let mut listed: BTreeMap<String, u32> = BTreeMap::new();
    let mut found = Vec::new();
    for (line, text) in (1..).zip(index.lines()) {
        let Some(target) = target(text) else { continue };
        let column = u32::try_from(text.find(target).map_or(0, |at| text[..at].chars().count()))
            .unwrap_or(0)
            + 1;
        let error = |message: String| Diagnostic::error(&path, message).at(line, column);
        let entry = target.strip_prefix("./").unwrap_or(target).to_owned();
        if let Some(first) = listed.get(&entry) {
            let message = format!("`{entry}` is listed twice, first on line {first}");
            found.push(error(message).mend("keep one of them; `--fix` writes the list anew"));
            continue;
        }
        listed.insert(entry.clone(), line);
        if !stream
            .items
            .iter()
            .any(|item| self::entry(&item.path) == entry)
        {
            let message = format!("there is no issue `{entry}`");
            found.push(error(message).mend("remove the row; `--fix` writes the list anew"));
        }
    }
    for item in &stream.items {
        let entry = entry(&item.path);
        if !listed.contains_key(entry) {
            let message = format!("`{entry}` is not listed");
            found.push(
                Diagnostic::error(&path, message)
                    .mend("add a row for it; `--fix` writes the list anew"),
            );
        }
    }
    found
}

/// Where a stream's index lies.
pub(super) fn path(stream: &Stream) -> String {
    format!("{}/issues/index.md", stream.home)
}

/// The file that a row of the table links.
fn target(line: &str) -> Option<&str> {
    let row = line.trim_start().strip_prefix('|')?;
    let (_, rest) = row.split_once("](")?;
    let (target, _) = rest.split_once(')')?;
    target.ends_with(".yml").then_some(target)
}

/// What stands for an issue in the list, whichever form of the layout it lies in: `<label>/<name>.yml`.
fn entry(path: &str) -> &str {
    let slashes = path.rmatch_indices('/').map(|(at, _)| at);
    slashes.take(2).last().map_or(path, |at| &path[at + 1..])
}

fn folder(path: &str) -> &str {
    path.rsplit('/').nth(1).unwrap_or_default()
}

/// A text that neither ends a cell nor a link.
fn cell(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '|' | '[' | ']' | '\\' | '<' | '`' => {
                safe.push('\\');
                safe.push(c);
            }
            '\r' | '\n' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
