//! Which folders are personas, and which file is their prompt.

use std::collections::{BTreeMap, BTreeSet};

use crate::Diagnostic;
use crate::model::{Mode, Tree};
use crate::plan::constants::{LAYERS, PERSONAS_FOLDER, RESERVED_IDS};

/// The largest prompt that is read, in bytes.
pub const MAX_PROMPT_BYTES: u64 = 64 * 1024;
/// The most personas of one repository.
pub const MAX_PERSONAS: usize = 500;
/// The longest id in bytes: a label `phileas:<id>` has at most 50 characters on GitHub.
pub const MAX_ID_BYTES: usize = 42;
/// The names of a prompt, the one that counts first.
pub const PROMPT_FILES: [&str; 2] = ["prompt.md.j2", "prompt.md"];
/// Words in the name of a folder or of a prompt by which people switch a persona off and keep its text.
const OFF_WORDS: [&str; 24] = [
    "archive",
    "archived",
    "backup",
    "bak",
    "deleted",
    "deprecated",
    "disable",
    "disabled",
    "draft",
    "example",
    "hold",
    "ignore",
    "inactive",
    "off",
    "old",
    "orig",
    "parked",
    "paused",
    "removed",
    "retired",
    "sample",
    "save",
    "skip",
    "unused",
];
/// Endings of files that hold texts. A prompt with another one behind its own is kept, and not used.
const TEXT_ENDINGS: [&str; 8] = [
    "htm", "html", "j2", "jinja", "jinja2", "markdown", "md", "txt",
];
/// Folders among the personas that hold pieces of prompts.
const PIECES: [&str; 2] = ["blocks", "partials"];

/// A prompt that can be read.
pub(super) struct Prompt<'t> {
    pub(super) id: &'t str,
    pub(super) path: &'t str,
    pub(super) text: &'t str,
}

/// The folder below the personas' folder that a path lies in, and the rest of the path.
pub(in crate::plan) fn folder_of(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix(PERSONAS_FOLDER)?
        .strip_prefix('/')?
        .split_once('/')
}

/// Whether a text can be a persona's id.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() <= MAX_ID_BYTES
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Whether a new persona can have this id: it is no command and no layer.
#[must_use]
pub fn is_persona_id(text: &str) -> bool {
    is_id(text) && !RESERVED_IDS.contains(&text) && !LAYERS.contains(&text)
}

/// Whether a file is a prompt whose name says that it is not in use: `prompt.md.j2.disabled`, `prompt.md.bak`,
/// `prompt.off.md`, `prompt.md~`, `_prompt.md`.
pub(in crate::plan) fn is_prompt_switched_off(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_set_aside = name.starts_with(['_', '.', '#']) || name.ends_with(['~', '#']);
    let bare = name.trim_matches(['_', '.', '#', '~']);
    let mut words = bare.split(['.', '-', '_', ' ', '~', '(', ')']);
    if words.clone().all(|word| word != "prompt") {
        return false;
    }
    let has_further_ending = || {
        let further = PROMPT_FILES
            .iter()
            .find_map(|file| bare.strip_prefix(file)?.strip_prefix('.'));
        let last = further.and_then(|further| further.rsplit('.').next());
        last.is_some_and(|last| !last.is_empty() && !TEXT_ENDINGS.contains(&last))
    };
    is_set_aside || words.any(|word| OFF_WORDS.contains(&word)) || has_further_ending()
}

/// The id of the persona whose folder was renamed to switch it off: `curator` for `curator.disabled`, `_curator`,
/// `.curator` and `curator~`.
pub(in crate::plan) fn folder_switched_off(folder: &str) -> Option<&str> {
    let bare = folder.trim_matches(['_', '.', '~']);
    let id = match bare.split_once('.') {
        Some((id, rest))
            if rest
                .split('.')
                .any(|word| OFF_WORDS.contains(&&*word.to_lowercase())) =>
        {
            id
        }
        Some(_) => return None,
        None if bare.len() < folder.len() => bare,
        None => return None,
    };
    is_id(id).then_some(id)
}

/// All prompts that can be read, and what is wrong with the others.
pub(super) fn prompts(tree: &Tree) -> (Vec<Prompt<'_>>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let folders = folders(tree, &mut diagnostics);
    let mut spellings: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for folder in folders.keys() {
        spellings
            .entry(folder.to_lowercase())
            .or_default()
            .insert(folder);
    }
    let mut prompts = Vec::new();
    for (folder, files) in &folders {
        let Some(path) = prompt_file(folder, files, &mut diagnostics) else {
            continue;
        };
        if prompts.len() >= MAX_PERSONAS {
            let more = format!("there are more than {MAX_PERSONAS} personas; the rest is left out");
            diagnostics.push(Diagnostic::error(path, more).help("move some to `_archived`"));
            break;
        }
        let namesake = spellings[&folder.to_lowercase()]
            .iter()
            .find(|other| *other != folder);
        if let Some(diagnostic) = wrong_folder(folder, path, namesake.copied()) {
            diagnostics.push(diagnostic);
            continue;
        }
        match tree.read_text(path, "the prompt", MAX_PROMPT_BYTES) {
            Ok(text) => prompts.extend(text.map(|text| Prompt {
                id: folder,
                path,
                text,
            })),
            Err(wrong) => diagnostics.push(*wrong),
        }
    }
    (prompts, diagnostics)
}

/// What lies directly in a folder: its name and its path.
type Files<'t> = Vec<(&'t str, &'t str)>;

/// What lies directly in each folder that could be a persona's. A folder counts where a prompt belongs.
fn folders<'t>(tree: &'t Tree, diagnostics: &mut Vec<Diagnostic>) -> BTreeMap<&'t str, Files<'t>> {
    let mut folders: BTreeMap<&str, Files<'_>> = BTreeMap::new();
    for (path, entry) in tree.below(PERSONAS_FOLDER) {
        match folder_of(path) {
            Some((folder, name)) if is_persona_folder(folder) => {
                let files = folders.entry(folder).or_default();
                match name.split_once('/') {
                    None => files.push((name, path)),
                    Some((name, rest)) if PROMPT_FILES.contains(&name) => {
                        files.push((name, &path[..path.len() - rest.len() - 1]));
                    }
                    Some(_) => {}
                }
            }
            None if !matches!(entry.mode, Mode::File | Mode::Folder) => {
                let message =
                    "a link, a submodule or a special file among the personas is not read";
                diagnostics
                    .push(Diagnostic::error(path, message).help("put a folder with a prompt here"));
            }
            _ => {}
        }
    }
    folders
}

fn is_persona_folder(folder: &str) -> bool {
    !folder.starts_with(['_', '.'])
        && !PIECES.contains(&folder)
        && folder_switched_off(folder).is_none()
}

/// The file that counts.
fn prompt_file<'t>(
    folder: &str,
    files: &Files<'t>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<&'t str> {
    let mut found = PROMPT_FILES
        .iter()
        .filter_map(|wanted| files.iter().find(|(name, _)| name == wanted));
    let Some((_, path)) = found.next() else {
        diagnostics.extend(without_prompt(folder, files));
        return None;
    };
    if let Some((_, ignored)) = found.next() {
        diagnostics.push(
            Diagnostic::warning(
                *ignored,
                format!("`{}` counts, this file is not read", PROMPT_FILES[0]),
            )
            .help("remove one of the two"),
        );
    }
    Some(path)
}

/// A folder without a prompt is nothing, except where a person meant to write one, or switched one off.
fn without_prompt(folder: &str, files: &Files<'_>) -> Option<Diagnostic> {
    let is_off = |name: &str| is_prompt_switched_off(name);
    let meant = files
        .iter()
        .find(|(name, _)| name.to_lowercase().starts_with("prompt") && !is_off(name));
    if let Some((name, path)) = meant {
        let message = format!("`{name}` is not read as the prompt of `{folder}`");
        return Some(
            Diagnostic::error(*path, message).help("call it `prompt.md.j2` or `prompt.md`"),
        );
    }
    let (name, path) = files.iter().find(|(name, _)| is_off(name))?;
    let message = format!("the persona `{folder}` is switched off: its prompt is called `{name}`");
    Some(
        Diagnostic::warning(*path, message)
            .help("to switch it on, call it `prompt.md.j2` or `prompt.md`"),
    )
}

/// What is wrong with the folder itself.
fn wrong_folder(folder: &str, path: &str, namesake: Option<&str>) -> Option<Diagnostic> {
    let error = |message: String, help: &str| Some(Diagnostic::error(path, message).help(help));
    if RESERVED_IDS.contains(&folder) {
        return error(
            format!("`{folder}` is a command and cannot be a persona's id"),
            "rename the folder and the `id`",
        );
    }
    if !is_id(folder) {
        return error(
            format!("`{folder}` cannot be a persona's id"),
            "use letters, digits, `_` and `-`, begin with a letter or digit, and keep to 42 characters",
        );
    }
    let other = namesake?;
    error(
        format!(
            "the folders `{folder}` and `{other}` differ only in upper and lower case; neither is read"
        ),
        "rename one of them",
    )
}
