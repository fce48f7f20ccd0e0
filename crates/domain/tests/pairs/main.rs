//! Whether two pull requests are the same work, judged by pairs from public repositories.
//!
//! `pulls.jsonl` has fingerprints of pull requests that Jules opened, their words and paths as hashes
//! (`scripts/pull-diffs`, `examples/fingerprints.rs`); `pairs.tsv` the labels. How the pairs were taken and labelled:
//! docs/design/benchmarks.md.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(
    clippy::print_stdout,
    reason = "it prints the table of docs/design/benchmarks.md"
)]

use std::collections::BTreeMap;

use phileas_domain::work::{Fingerprint, Likeness, Similarity};
use serde::Deserialize;

#[derive(Deserialize)]
struct Pull {
    repository: String,
    pr: u64,
    work: Fingerprint,
}

struct Pair {
    similarity: Similarity,
    /// Whether a reader calls the later one a repeat of the earlier.
    is_same: bool,
}

fn pairs() -> Vec<Pair> {
    let pulls: BTreeMap<(String, u64), Fingerprint> = include_str!("pulls.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Pull>(line).unwrap())
        .map(|pull| ((pull.repository, pull.pr), pull.work))
        .collect();
    let lines = include_str!("pairs.tsv").lines();
    let rows = lines.filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        let [repository, earlier, later, label] = cells[..] else {
            panic!("{row}");
        };
        let work = |number: &str| &pulls[&(repository.to_owned(), number.parse().unwrap())];
        assert!(["same", "related", "different"].contains(&label), "{row}");
        Pair {
            similarity: Similarity::between(work(earlier), work(later)),
            is_same: label == "same",
        }
    })
    .collect()
}

/// How many repeats are found, how many pairs are wrongly called so, and how many repeats there are.
fn count(pairs: &[Pair], calls_same: impl Fn(&Similarity) -> bool) -> (usize, usize, usize) {
    let called = |is_same: bool| {
        let wanted = pairs.iter().filter(|pair| pair.is_same == is_same);
        wanted.filter(|pair| calls_same(&pair.similarity)).count()
    };
    let repeats = pairs.iter().filter(|pair| pair.is_same).count();
    (called(true), called(false), repeats)
}

fn print_row(rule: &str, (found, wrong, repeats): (usize, usize, usize)) {
    let precision = found as f64 / (found + wrong).max(1) as f64;
    let recall = found as f64 / repeats as f64;
    println!("| {rule} | {found} | {wrong} | {precision:.3} | {recall:.3} |");
}

#[test]
fn repeats_are_told_from_related_work() {
    let pairs = pairs();
    let found = count(&pairs, |one| one.likeness() == Likeness::Same);
    println!("{} pairs, {} of them repeats", pairs.len(), found.2);
    println!("| rule | found | wrong | precision | recall |\n|---|--:|--:|--:|--:|");
    print_row("the rule of phileas", found);
    for share in [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8] {
        let words = |one: &Similarity| one.paths >= 0.6 && one.terms >= share;
        print_row(&format!("paths 0.6, words {share}"), count(&pairs, words));
    }
    for share in [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8] {
        let hunks = |one: &Similarity| one.is_substantial && one.hunks >= share;
        print_row(&format!("shingles {share}"), count(&pairs, hunks));
    }
    for share in [0.3, 0.4, 0.5, 0.6, 0.7, 0.8] {
        let titles = |one: &Similarity| one.paths >= 0.5 && one.title >= share;
        print_row(&format!("paths 0.5, titles {share}"), count(&pairs, titles));
    }
    assert_eq!(found, (150, 3, 235));
}
