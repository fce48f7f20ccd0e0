//! Renders and checks `issues/index.md`, the list of issues in the workstreams layout.

use std::collections::{BTreeMap, BTreeSet};

use super::labels;
use super::model::Stream;
use crate::diagnostic::Diagnostic;

/// The correct list of a stream.
pub(super) fn render_index(stream: &Stream) -> String {
    let mut text = "# Issues\n".to_owned();
    let mut sections: Vec<&str> = labels::USUAL.iter().map(|label| label.name).collect();
    for item in &stream.items {
        let folder = folder_of(&item.path);
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
            .filter(|item| folder_of(&item.path) == label)
        {
            // If a workstream has both forms, two files may have the same entry.
            let entry = entry_name(&item.path);
            if !listed.insert(entry) {
                continue;
            }
            text.push_str(&format!(
                "| [{}](./{entry}) | {} |\n",
                table_cell(&item.value.title),
                table_cell(&item.value.summary)
            ));
        }
        if listed.is_empty() {
            text.push_str("| no open issues | |\n");
        }
    }
    text
}

/// The differences between a stream's list and its issues.
pub(super) fn check_index(stream: &Stream) -> Vec<Diagnostic> {
    let path = index_path(stream);
    let Some(index) = &stream.index else {
        // Without issues no list is needed.
        return if stream.items.is_empty() {
            Vec::new()
        } else {
            vec![Diagnostic::error(path, "the list of issues is missing").help("`--fix` writes it")]
        };
    };
    let mut listed: BTreeMap<String, u32> = BTreeMap::new();
    let mut found = Vec::new();
    for (line, text) in (1..).zip(index.lines()) {
        let Some(target) = link_target(text) else {
            continue;
        };
        let column = u32::try_from(text.find(target).map_or(0, |at| text[..at].chars().count()))
            .unwrap_or(0)
            + 1;
        let error = |message: String| Diagnostic::error(&path, message).at(line, column);
        let entry = target.strip_prefix("./").unwrap_or(target).to_owned();
        if let Some(first) = listed.get(&entry) {
            let message = format!("`{entry}` is listed twice, first on line {first}");
            found.push(error(message).help("keep one of them; `--fix` writes the list again"));
            continue;
        }
        listed.insert(entry.clone(), line);
        if !stream
            .items
            .iter()
            .any(|item| entry_name(&item.path) == entry)
        {
            let message = format!("there is no issue `{entry}`");
            found.push(error(message).help("remove the row; `--fix` writes the list again"));
        }
    }
    for item in &stream.items {
        let entry = entry_name(&item.path);
        if !listed.contains_key(entry) {
            let message = format!("`{entry}` is not listed");
            found.push(
                Diagnostic::error(&path, message)
                    .help("add a row for it; `--fix` writes the list again"),
            );
        }
    }
    found
}

/// The path of a stream's list.
pub(super) fn index_path(stream: &Stream) -> String {
    format!("{}/issues/index.md", stream.home)
}

/// The file that a row of the table links to.
fn link_target(line: &str) -> Option<&str> {
    let row = line.trim_start().strip_prefix('|')?;
    let (_, rest) = row.split_once("](")?;
    let (target, _) = rest.split_once(')')?;
    target.ends_with(".yml").then_some(target)
}

/// An issue's entry in the list, whichever form its folder has: `<label>/<name>.yml`.
fn entry_name(path: &str) -> &str {
    let slashes = path.rmatch_indices('/').map(|(at, _)| at);
    slashes.take(2).last().map_or(path, |at| &path[at + 1..])
}

fn folder_of(path: &str) -> &str {
    path.rsplit('/').nth(1).unwrap_or_default()
}

/// A text that ends neither a cell nor a link.
fn table_cell(text: &str) -> String {
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
