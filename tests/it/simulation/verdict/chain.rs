//! The ledger's branch: its commits, one by one.

use std::collections::BTreeSet;

use phileas_world::github::Oid;
use serde_json::Value;

use super::super::play::TAKE_A_NOTE;
use super::super::stage::AGENTS_PATHS;
use super::branch::branch;
use super::imports::witnesses;
use super::rewritten::{EVERY, holds, rewritten};
use super::secrets::secrets;
use super::{HOME, IS_UNKNOWN, Judge};

/// The state file.
const STATE: &str = ".jules/cycle_state.json";

/// What the commits tell.
#[derive(Debug, Default)]
pub(super) struct CommitFacts {
    /// The turns that were announced.
    pub(super) announced: BTreeSet<(String, u64)>,
    /// The turns that a commit ended before they had a session.
    pub(super) given_up: BTreeSet<(String, u64)>,
    /// The sessions that what was brought in speaks of.
    pub(super) brought: BTreeSet<String>,
}

impl Judge<'_> {
    /// The ledger is one line that begins with an orphan, and each commit of ours touches files of ours alone. What
    /// stands in its state stays.
    pub(super) fn chain(&mut self, head: Oid) -> CommitFacts {
        let mut told = CommitFacts::default();
        let mut wrong = Vec::new();
        let mut imports = 0;
        let mut newer: Option<(Oid, Value)> = None;
        let github = self.world.github();
        if let Some(objects) = github.objects(self.repo) {
            let mut at = Some(head);
            for count in 0.. {
                let Some(oid) = at else {
                    break;
                };
                let Some(commit) = objects.commit(oid) else {
                    wrong.push(format!("commit {oid} of the ledger is not there"));
                    break;
                };
                let parent = commit.parents.first().copied();
                let is_ours = commit.message.contains("Phileas-Holder: ");
                let changed = objects.diff_trees(
                    parent.and_then(|parent| objects.tree_of(parent)),
                    objects.tree_of(oid),
                );
                let foreign = changed.iter().find(|one| !one.path.starts_with(HOME));
                let is_untrusted = commit.headline() == TAKE_A_NOTE;
                match foreign {
                    Some(one) if !is_untrusted => wrong.push(format!(
                        "commit {oid} of the ledger touches {}: {}",
                        one.path,
                        commit.headline()
                    )),
                    _ => {}
                }
                if !is_ours && !is_untrusted {
                    let text = format!("commit {oid} {IS_UNKNOWN}: {}", commit.headline());
                    wrong.push(text);
                }
                if commit.parents.len() > 1 {
                    wrong.push(format!("commit {oid} of the ledger is a merge"));
                }
                let brings = |path: &str| AGENTS_PATHS.iter().any(|below| path.starts_with(below));
                imports += usize::from(changed.iter().any(|one| brings(&one.path)));
                for one in &changed {
                    let Some(text) = one.new.and_then(|(_, oid)| objects.blob(oid)) else {
                        continue;
                    };
                    let text = String::from_utf8_lossy(text);
                    if brings(&one.path) {
                        told.brought.extend(witnesses(&text));
                    }
                    wrong.extend(
                        secrets(&text)
                            .map(|name| format!("{} of commit {oid} holds {name}", one.path)),
                    );
                }
                let state = (count % EVERY == 0 || parent.is_none())
                    .then(|| github.read_file(self.repo, oid, STATE))
                    .flatten()
                    .and_then(|text| serde_json::from_slice(&text).ok());
                if let Some(state) = state {
                    if let Some((at, newer)) = &newer {
                        let files = github.list_files(self.repo, *at);
                        let archived = |key| files.iter().any(|path| holds(path, key));
                        let found = rewritten(&state, newer, archived);
                        wrong.extend(found.into_iter().map(|text| format!("{text}, by {at}")));
                    }
                    newer = Some((oid, state));
                }
                told.announced.extend(named("intent", commit.headline()));
                told.given_up.extend(named("cancelled", commit.headline()));
                at = parent;
            }
        }
        wrong.extend(branch(&self.books.github_writes, &self.names()));
        self.verdict.imports += imports;
        for text in wrong {
            self.find(text);
        }
        told
    }
}

/// The turns behind a word of a commit's headline: `intent cycle#7 curator`.
fn named(word: &str, headline: &str) -> Vec<(String, u64)> {
    let words: Vec<&str> = headline.split([' ', ';', ',']).collect();
    let after = words.windows(2).filter(|pair| pair[0] == word);
    after
        .filter_map(|pair| {
            let (track, seq) = pair[1].rsplit_once('#')?;
            Some((track.to_owned(), seq.parse().ok()?))
        })
        .collect()
}
