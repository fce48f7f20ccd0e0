//! The files that prompts quote.

use std::collections::BTreeMap;

use phileas_domain::engine::{Needs, Snapshot};
use phileas_domain::model::{Entry, Mode, Oid};

use crate::runtime::ports::{Failure, ReadGitHub};

/// Reads what prompts quote. Where it cannot be read, they go without it.
pub(super) async fn texts(github: &impl ReadGitHub, snapshot: &mut Snapshot, needs: &Needs) {
    let Some(commit) = snapshot.repository.default_head.clone() else {
        return;
    };
    let texts = match quoted(github, snapshot, needs, &commit).await {
        Ok(texts) => texts,
        Err(failure) => {
            tracing::warn!(%failure, "journals, tasks and papers of the sprint could not be read; the prompt goes without them");
            BTreeMap::new()
        }
    };
    snapshot.papers.read.extend(needs.folders.iter().cloned());
    for path in &needs.texts {
        // What cannot be read counts as empty, so that it is asked for once.
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

/// The texts of files, in one read with everything below folders, which goes into the tree.
async fn quoted(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    needs: &Needs,
    commit: &Oid,
) -> Result<BTreeMap<String, String>, Failure> {
    if needs.folders.is_empty() {
        return github.read_texts(commit, &needs.texts).await;
    }
    let paths: Vec<&str> = needs.folders.iter().map(String::as_str).collect();
    let files: Vec<&str> = needs.texts.iter().map(String::as_str).collect();
    let read = match github.read_folders(commit, &[paths, files].concat()).await {
        Ok(read) => read,
        // Large folders fail first. The journals need not be missing with them.
        Err(failure) => {
            tracing::warn!(%failure, "tasks and papers of the sprint could not be read; the prompt goes without them");
            return github.read_texts(commit, &needs.texts).await;
        }
    };
    let mut texts = BTreeMap::new();
    for (path, entry) in read.iter() {
        if needs.texts.contains(path) {
            texts.extend(
                read.text(path)
                    .map(|text| (path.to_owned(), text.to_owned())),
            );
        } else {
            snapshot.tree.insert(path, entry.clone());
        }
    }
    Ok(texts)
}
