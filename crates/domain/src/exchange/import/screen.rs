//! Rejects files of a change set that are unsafe or too large, before any of them is parsed.

use std::collections::BTreeMap;

use super::change_set::{ChangedFile, FileContent};
use crate::diagnostic::Diagnostic;
use crate::exchange::limits::{ARTIFACT_LIMIT_BYTES, CHANGE_FILES_LIMIT, CHANGE_LIMIT_BYTES};
use crate::model::{Mode, Tree};

/// The longest path, in bytes.
const PATH_LIMIT_BYTES: usize = 255;

/// The files that may be imported, by path, and why the others may not.
pub(super) fn screen_files<'c>(
    changes: &'c [ChangedFile],
    tree: &Tree,
) -> (BTreeMap<&'c str, Option<&'c str>>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut files = BTreeMap::new();
    let total: usize = changes.iter().map(content_size).sum();
    if changes.len() > CHANGE_FILES_LIMIT || total > CHANGE_LIMIT_BYTES {
        let message = format!(
            "the change set has {} files of {total} bytes; more than {CHANGE_FILES_LIMIT} files or {CHANGE_LIMIT_BYTES} bytes are not read",
            changes.len()
        );
        let one = Diagnostic::error(".jules", message);
        return (files, vec![one.help("write only the files of the task")]);
    }
    let mut spellings: BTreeMap<String, String> = tree
        .iter()
        .map(|(path, _)| (path.to_lowercase(), path.to_owned()))
        .collect();
    for one in changes {
        let path = one.path.as_str();
        let shown = path.escape_debug().to_string();
        let mut wrong = |message: String, help: &str| {
            found.push(Diagnostic::error(&shown, message).help(help));
        };
        if let Some(why) = unsafe_path(path) {
            wrong(
                format!("the path is refused: it {why}"),
                "write below .jules, by a plain path",
            );
            continue;
        }
        match spellings.insert(path.to_lowercase(), path.to_owned()) {
            Some(other) if other != path => {
                wrong(
                    format!("`{other}` differs from it in nothing but capitals"),
                    "write the same path",
                );
                spellings.insert(path.to_lowercase(), other);
                continue;
            }
            _ => {}
        }
        if files.contains_key(path) {
            wrong("it is in the change set twice".to_owned(), "write it once");
            continue;
        }
        let text = match &one.content {
            FileContent::Removed => None,
            FileContent::Text(text) if text.len() > ARTIFACT_LIMIT_BYTES => {
                let message = format!(
                    "it has {} bytes, more than {ARTIFACT_LIMIT_BYTES}",
                    text.len()
                );
                wrong(message, "say it shorter");
                continue;
            }
            FileContent::Text(text) => Some(text.as_str()),
            FileContent::Other(Mode::Link) => {
                wrong(
                    "it is a symbolic link, and links are not followed".to_owned(),
                    "write a regular file",
                );
                continue;
            }
            FileContent::Other(_) => {
                wrong(
                    "it is not a text file".to_owned(),
                    "write a text file in UTF-8",
                );
                continue;
            }
        };
        // Never write in the place of a link or submodule.
        if tree.get(path).is_some_and(|entry| entry.mode != Mode::File) {
            wrong(
                "the ledger has no regular file there".to_owned(),
                "write another file",
            );
            continue;
        }
        if let Some((place, _)) = tree.in_the_way(path) {
            wrong(
                format!("the ledger has no folder at `{place}`"),
                "write another file",
            );
            continue;
        }
        files.insert(path, text);
    }
    (files, found)
}

fn content_size(one: &ChangedFile) -> usize {
    match &one.content {
        FileContent::Text(text) => text.len(),
        FileContent::Removed | FileContent::Other(_) => 0,
    }
}

/// Why a path is unsafe.
fn unsafe_path(path: &str) -> Option<&'static str> {
    if path.len() > PATH_LIMIT_BYTES {
        Some("is too long")
    } else if path.contains(char::is_control) {
        Some("contains a control character")
    } else if path.starts_with('/') || path.contains(':') {
        Some("is absolute")
    } else if path.contains('\\') {
        Some("contains a backslash")
    } else if path.split('/').any(|part| part == "..") {
        Some("contains `..`")
    } else if path
        .split('/')
        .any(|part| part.is_empty() || part == "." || part.eq_ignore_ascii_case(".git"))
    {
        Some("is not a plain path")
    } else {
        None
    }
}
