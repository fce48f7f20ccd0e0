//! The ledger's branch: its commits, one by one.

use std::collections::BTreeSet;

use phileas_world::github::Oid;

use super::super::play::TAKE_A_NOTE;
use super::super::stage::AGENTS_PATHS;
use super::{BY_FORCE, HOME, Judge};

impl Judge<'_> {
    /// The ledger is one line that begins with an orphan, and each commit of ours touches files of ours alone. Answers
    /// with the turns that it announced.
    pub(super) fn chain(&mut self, head: Oid) -> BTreeSet<(String, u64)> {
        let mut announced = BTreeSet::new();
        let mut wrong = Vec::new();
        let mut imports = 0;
        if let Some(objects) = self.world.github().objects(self.repo) {
            let mut at = Some(head);
            while let Some(oid) = at {
                let Some(commit) = objects.commit(oid) else {
                    wrong.push(format!("commit {oid} of the ledger is not there"));
                    break;
                };
                let parent = commit.parents.first().copied();
                let is_ours = commit.message.contains("Phileas-Holder: ");
                let changed = objects.differences(
                    parent.and_then(|parent| objects.tree_of(parent)),
                    objects.tree_of(oid),
                );
                let foreign = changed.iter().find(|one| !one.path.starts_with(HOME));
                let stranger = commit.headline() == TAKE_A_NOTE;
                match foreign {
                    Some(one) if !stranger => wrong.push(format!(
                        "commit {oid} of the ledger touches {}: {}",
                        one.path,
                        commit.headline()
                    )),
                    _ => {}
                }
                if !is_ours && !stranger {
                    let text = format!(
                        "commit {oid} of the ledger is nobody's: {}",
                        commit.headline()
                    );
                    wrong.push(text);
                }
                if commit.parents.len() > 1 {
                    wrong.push(format!("commit {oid} of the ledger is a merge"));
                }
                let brings = |path: &str| AGENTS_PATHS.iter().any(|below| path.starts_with(below));
                imports += usize::from(changed.iter().any(|one| brings(&one.path)));
                announced.extend(intents(commit.headline()));
                at = parent;
            }
        }
        for write in &self.books.github_writes {
            let detail = &write.detail;
            let name = self.world.github().full_name(self.repo);
            if write.what == "ref.moved"
                && detail["ref"] == "refs/heads/jules"
                && detail["forced"] == true
                && write.repository == name
            {
                wrong.push(format!("the ledger {BY_FORCE} at {}", write.at));
            }
        }
        self.verdict.imports += imports;
        for text in wrong {
            self.find(text);
        }
        announced
    }
}

/// The turns that a commit's headline announces: `intent cycle#7 curator`.
fn intents(headline: &str) -> Vec<(String, u64)> {
    let words: Vec<&str> = headline.split([' ', ';', ',']).collect();
    let after = words.windows(2).filter(|pair| pair[0] == "intent");
    after
        .filter_map(|pair| {
            let (track, seq) = pair[1].rsplit_once('#')?;
            Some((track.to_owned(), seq.parse().ok()?))
        })
        .collect()
}
