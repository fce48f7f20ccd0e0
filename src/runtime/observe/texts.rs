//! Reads the sources of prompts, and the files that prompts quote.

use std::collections::{BTreeMap, BTreeSet};

use phileas_domain::engine::{ReadRequests, Snapshot};
use phileas_domain::model::{Entry, Mode, Oid, Tree};

use crate::runtime::ports::{Failure, ReadGitHub};

/// How many source files and folders of prompts one query reads.
const SOURCES_READ: usize = 50;

/// Reads what prompts quote and their sources. If a quoted file cannot be read, the prompt goes
/// without it; if a source cannot, the prompt waits.
pub(super) async fn read_texts(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    needs: &ReadRequests,
) {
    let Some(commit) = snapshot.repository.default_head.clone() else {
        return;
    };
    let texts = match read_quoted(github, snapshot, needs, &commit).await {
        Ok(texts) => texts,
        Err(failure) => {
            tracing::warn!(%failure, "journals, tasks and files of the sprint could not be read; the prompt goes without them");
            BTreeMap::new()
        }
    };
    if let Err(failure) =
        read_prompt_sources(github, &mut snapshot.tree, &commit, &needs.sources).await
    {
        tracing::warn!(%failure, "the sources of prompts could not be read; the prompts wait");
    }
    snapshot
        .working_docs
        .read
        .extend(needs.folders.iter().cloned());
    for path in &needs.texts {
        // A text that cannot be read counts as empty, so that it is read once.
        let text = texts.get(path).map_or("", String::as_str);
        let known = snapshot.tree.get(path).cloned();
        let entry = known.unwrap_or(Entry {
            mode: Mode::File,
            oid: String::new(),
            size: 0,
            text: None,
        });
        snapshot.tree.insert(
            path.clone(),
            Entry {
                text: Some(text.into()),
                ..entry
            },
        );
    }
}

/// Reads source files and folders of prompts that were not read before.
pub(crate) async fn read_prompt_sources(
    github: &impl ReadGitHub,
    tree: &mut Tree,
    commit: &Oid,
    paths: &BTreeSet<String>,
) -> Result<(), Failure> {
    let unread = paths.iter().map(String::as_str);
    let unread: Vec<&str> = unread
        .filter(|path| tree.is_unread(path) || tree.is_unlisted(path))
        .collect();
    for chunk in unread.chunks(SOURCES_READ) {
        let read = github.read_folders(commit, chunk).await?;
        take_in(tree, &read, chunk);
    }
    Ok(())
}

/// Adds the result of a read of paths. A path without a result is missing or no text, and is not
/// read again.
fn take_in(tree: &mut Tree, read: &Tree, paths: &[&str]) {
    tree.take_in(read);
    for path in paths {
        tree.note_read(path);
    }
}

/// Reads the texts of files, everything below folders and the first sources of prompts in one
/// request. The sources go into the tree.
async fn read_quoted(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    needs: &ReadRequests,
    commit: &Oid,
) -> Result<BTreeMap<String, String>, Failure> {
    if needs.folders.is_empty() && needs.sources.is_empty() {
        return github.read_texts(commit, &needs.texts).await;
    }
    let paths: Vec<&str> = needs.folders.iter().map(String::as_str).collect();
    let files: Vec<&str> = needs.texts.iter().map(String::as_str).collect();
    let sources = needs.sources.iter().map(String::as_str);
    let sources: Vec<&str> = sources.take(SOURCES_READ).collect();
    let all = [paths, files, sources.clone()].concat();
    let read = match github.read_folders(commit, &all).await {
        Ok(read) => read,
        // Large folders fail first, and the journals can be read without them.
        Err(failure) => {
            tracing::warn!(%failure, "tasks and files of the sprint could not be read; the prompt goes without them");
            if needs.texts.is_empty() {
                return Ok(BTreeMap::new());
            }
            return github.read_texts(commit, &needs.texts).await;
        }
    };
    take_in(&mut snapshot.tree, &read, &sources);
    let text = |path: &String| Some((path.clone(), read.text(path)?.to_owned()));
    Ok(needs.texts.iter().filter_map(text).collect())
}
