//! Groups the pull requests that are the same idea.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::past_pull::PastPull;
use super::similarity::{Likeness, Similarity, word_share};

/// An idea with several pull requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repeat {
    /// The title of the first one.
    pub title: String,
    /// Their numbers, ascending.
    pub pulls: Vec<u64>,
    /// How many of them were merged.
    pub merged: usize,
    /// Whether the lines of all of them were compared, and not only titles and files.
    pub by_lines: bool,
}

/// What comparing each pull request with the others says.
#[derive(Debug, Default)]
struct Comparison {
    /// For each, another one of its group; the first of a group stands for itself.
    parents: Vec<usize>,
    /// Those that their lines could tell apart, or join.
    doubtful: BTreeSet<usize>,
}

impl Comparison {
    fn first_of(&mut self, index: usize) -> usize {
        let mut first = index;
        while self.parents[first] != first {
            first = self.parents[first];
        }
        // The next search from here is short.
        self.parents[index] = first;
        first
    }

    fn compare_pair(&mut self, pulls: &[PastPull], one: usize, other: usize) {
        let (first, second) = (self.first_of(one), self.first_of(other));
        if first == second {
            return;
        }
        let similarity = Similarity::between(&pulls[one].fingerprint, &pulls[other].fingerprint);
        let is_same = if has_lines(&pulls[one]) && has_lines(&pulls[other]) {
            similarity.likeness() == Likeness::Same
        } else {
            if similarity.concerns_same_files() {
                self.doubtful.extend([one, other]);
            }
            similarity.is_same_idea()
        };
        if is_same {
            self.parents[first.max(second)] = first.min(second);
        }
    }
}

/// Whether its diff says anything: GitHub does not list each, and binary files have no lines.
fn has_lines(pull: &PastPull) -> bool {
    pull.lines_known && pull.fingerprint.sketch.shingles > 0
}

/// The ideas with more than one pull request, the most frequent first, then the oldest.
pub(super) fn repeats(pulls: &[PastPull]) -> Vec<Repeat> {
    let mut comparison = compare_all(pulls);
    let mut groups: BTreeMap<usize, Vec<&PastPull>> = BTreeMap::new();
    for (index, pull) in pulls.iter().enumerate() {
        groups
            .entry(comparison.first_of(index))
            .or_default()
            .push(pull);
    }
    let mut repeats: Vec<Repeat> = groups
        .into_values()
        .filter(|group| group.len() > 1)
        .filter_map(|mut group| {
            group.sort_by_key(|pull| pull.pr);
            Some(Repeat {
                title: group.first()?.title.clone(),
                pulls: group.iter().map(|pull| pull.pr).collect(),
                merged: group.iter().filter(|pull| pull.merged).count(),
                by_lines: group.iter().all(|pull| has_lines(pull)),
            })
        })
        .collect();
    repeats.sort_by(|one, other| {
        (other.pulls.len(), &one.pulls).cmp(&(one.pulls.len(), &other.pulls))
    });
    repeats
}

/// The pull requests whose lines would say more than their titles and files do, the newest first.
#[must_use]
pub fn worth_reading(pulls: &[PastPull]) -> Vec<u64> {
    let mut comparison = compare_all(pulls);
    let mut wanted = std::mem::take(&mut comparison.doubtful);
    for index in 0..pulls.len() {
        let first = comparison.first_of(index);
        if first != index {
            wanted.extend([first, index]);
        }
    }
    let unread = wanted
        .into_iter()
        .filter(|index| !pulls[*index].lines_known);
    let mut numbers: Vec<u64> = unread.map(|index| pulls[index].pr).collect();
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    numbers
}

/// Compares all that share enough words of their titles. An index of words keeps thousands of pull requests from being
/// compared one with each other.
fn compare_all(pulls: &[PastPull]) -> Comparison {
    let mut comparison = Comparison {
        parents: (0..pulls.len()).collect(),
        doubtful: BTreeSet::new(),
    };
    let mut by_word: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut shared = vec![0_usize; pulls.len()];
    for (index, pull) in pulls.iter().enumerate() {
        let words = &pull.fingerprint.title;
        let mut found = Vec::new();
        for word in words {
            let before = by_word.entry(word).or_default();
            for &other in before.iter() {
                if shared[other] == 0 {
                    found.push(other);
                }
                shared[other] += 1;
            }
            before.push(index);
        }
        for other in found {
            let count = std::mem::take(&mut shared[other]);
            let other_words = pulls[other].fingerprint.title.len();
            if word_share(count, words.len(), other_words) >= Similarity::CLOSE_TITLE {
                comparison.compare_pair(pulls, other, index);
            }
        }
    }
    comparison
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{ChangedFile, Fingerprint, Sketch};

    fn pull(pr: u64, title: &str, path: &str, lines: Option<&str>) -> PastPull {
        let file = ChangedFile {
            path,
            added: 12,
            removed: 0,
            patch: None,
        };
        let mut fingerprint = Fingerprint::from_pull(title, &[file], |_| false);
        if let Some(word) = lines {
            let patch: String = (0..12).map(|line| format!("+{word} {line}\n")).collect();
            fingerprint.sketch =
                Sketch::from_patches([format!("@@ -0,0 +1,12 @@\n{patch}").as_str()]);
        }
        PastPull {
            pr,
            title: title.to_owned(),
            opened_at: "2026-01-01T00:00:00Z".parse().unwrap(),
            closed_at: None,
            merged: pr == 3,
            fingerprint,
            lines_known: lines.is_some(),
        }
    }

    fn numbers(pulls: &[PastPull]) -> Vec<Vec<u64>> {
        repeats(pulls).into_iter().map(|one| one.pulls).collect()
    }

    #[test]
    fn the_same_title_and_file_is_the_same_idea() {
        let pulls = [
            pull(3, "⚡ Bolt: cache parsed templates", "src/parse.rs", None),
            pull(5, "Bolt: Caches the parsed template", "src/parse.rs", None),
            pull(6, "Bolt: cache parsed templates", "src/other.rs", None),
            pull(8, "Escape quotes", "src/parse.rs", None),
            pull(9, "bolt cache parsing of templates", "src/parse.rs", None),
        ];
        assert_eq!(numbers(&pulls), [[3, 5, 9]]);
        let first = &repeats(&pulls)[0];
        assert_eq!((first.merged, first.by_lines), (1, false));
        assert_eq!(worth_reading(&pulls), [9, 5, 3]);
    }

    #[test]
    fn titles_that_share_one_word_are_compared() {
        let pulls = [
            pull(1, "Caching", "src/parse.rs", None),
            pull(2, "Cache", "src/parse.rs", None),
        ];
        assert_eq!(numbers(&pulls), [[1, 2]]);
    }

    #[test]
    fn lines_decide_where_they_are_known() {
        let title = "Cache parsed templates";
        let like = [
            pull(1, title, "src/parse.rs", Some("let cache =")),
            pull(2, title, "src/parse.rs", Some("let cache =")),
            pull(3, title, "src/parse.rs", Some("static LINES")),
        ];
        assert_eq!(numbers(&like), [[1, 2]]);
        assert!(repeats(&like)[0].by_lines);
        assert_eq!(worth_reading(&like), [0_u64; 0]);
        // Half the words are shared: only the lines can tell.
        let apart = [
            pull(1, "Cache parsed templates", "src/parse.rs", None),
            pull(2, "Cache compiled templates", "src/parse.rs", None),
        ];
        assert_eq!(numbers(&apart), [[0_u64; 0]; 0]);
        assert_eq!(worth_reading(&apart), [2, 1]);
    }

    #[test]
    fn a_diff_without_lines_tells_nothing_apart() {
        let title = "Cache parsed templates";
        let mut pulls = [
            pull(1, title, "src/parse.rs", Some("let cache =")),
            pull(2, title, "src/parse.rs", None),
        ];
        pulls[1].lines_known = true;
        assert_eq!(numbers(&pulls), [[1, 2]]);
        assert!(!repeats(&pulls)[0].by_lines);
        assert_eq!(worth_reading(&pulls), [0_u64; 0]);
    }

    #[test]
    fn what_says_nothing_is_like_nothing() {
        let pulls = [pull(1, "🚀", "a", None), pull(2, "🚀", "a", None)];
        assert_eq!(numbers(&pulls), [[0_u64; 0]; 0]);
    }

    #[test]
    fn thousands_of_pull_requests_of_one_title_are_one_idea() {
        let pulls: Vec<PastPull> = (0..2_000)
            .map(|number| pull(number, "Cache parsed templates", "src/parse.rs", None))
            .collect();
        assert_eq!(repeats(&pulls)[0].pulls.len(), 2_000);
    }
}
