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
        let is_doubled = files.contains_key(path);
        let screened = check_path(path, &mut spellings, is_doubled)
            .and_then(|()| check_content(&one.content))
            .and_then(|text| check_place(tree, path).map(|()| text));
        match screened {
            Ok(text) => {
                files.insert(path, text);
            }
            Err((message, help)) => {
                let shown = path.escape_debug().to_string();
                found.push(Diagnostic::error(&shown, message).help(help));
            }
        }
    }
    (files, found)
}

/// What is wrong with a path, and what to do. `spellings`: the known paths, by their lower-case form.
fn check_path(
    path: &str,
    spellings: &mut BTreeMap<String, String>,
    is_doubled: bool,
) -> Result<(), (String, &'static str)> {
    if let Some(why) = unsafe_path(path) {
        let message = format!("the path is refused: it {why}");
        return Err((message, "write below .jules, by a plain path"));
    }
    let known = spellings
        .entry(path.to_lowercase())
        .or_insert_with(|| path.to_owned());
    if known.as_str() != path {
        let message = format!("`{known}` differs from it in nothing but capitals");
        return Err((message, "write the same path"));
    }
    if is_doubled {
        let message = "it is in the change set twice".to_owned();
        return Err((message, "write it once"));
    }
    Ok(())
}

/// The text of a file. `None`: it is removed.
fn check_content(content: &FileContent) -> Result<Option<&str>, (String, &'static str)> {
    let wrong = |message: &str, help| Err((message.to_owned(), help));
    match content {
        FileContent::Removed => Ok(None),
        FileContent::Text(text) if text.len() > ARTIFACT_LIMIT_BYTES => {
            let bytes = text.len();
            let message = format!("it has {bytes} bytes, more than {ARTIFACT_LIMIT_BYTES}");
            wrong(&message, "say it shorter")
        }
        FileContent::Text(text) => Ok(Some(text)),
        FileContent::Other(Mode::Link) => wrong(
            "it is a symbolic link, and links are not followed",
            "write a regular file",
        ),
        FileContent::Other(_) => wrong("it is not a text file", "write a text file in UTF-8"),
    }
}

/// Never write in the place of a link or submodule.
fn check_place(tree: &Tree, path: &str) -> Result<(), (String, &'static str)> {
    let help = "write another file";
    if tree.get(path).is_some_and(|entry| entry.mode != Mode::File) {
        return Err(("the ledger has no regular file there".to_owned(), help));
    }
    match tree.in_the_way(path) {
        Some((place, _)) => Err((format!("the ledger has no folder at `{place}`"), help)),
        None => Ok(()),
    }
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
