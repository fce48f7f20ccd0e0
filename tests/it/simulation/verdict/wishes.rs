//! What people ask for by labels, and what they are told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::sessions::Marked;
use super::{Judge, PATIENCE, STILL_LABELLED};

/// Who is asked for by labels.
const WISH: &str = "phileas:fixer";
/// What our status comments bear.
const STATUS: &str = "<!-- phileas:status -->";

/// An issue that bears a wish for longer than anybody has to wait, and what came of it.
#[derive(Debug)]
struct Wish<'a> {
    number: u64,
    /// The turns of the sessions that were given it.
    turns: BTreeSet<&'a str>,
    /// Whether the ledger knows why it has no session yet, or never has one. The comment says it.
    is_explained: bool,
    comments: usize,
    is_labelled: bool,
}

impl Wish<'_> {
    fn findings(&self) -> Vec<String> {
        let number = self.number;
        let mut found = Vec::new();
        if self.turns.len() > 1 {
            found.push(format!("#{number} has several turns: {:?}", self.turns));
        }
        if self.turns.is_empty() && !self.is_explained {
            found.push(format!("the wish on #{number} is lost"));
        }
        if self.comments == 0 {
            found.push(format!("nobody answers on #{number}"));
        }
        if self.is_labelled {
            found.push(format!("the label {WISH} {STILL_LABELLED} #{number}"));
        }
        found
    }
}

impl Judge<'_> {
    /// Each wish by label is taken up once, its label taken off, and told in one comment. A race may write a second one,
    /// which has to go again.
    pub(super) fn wishes(&mut self, state: &Value, ours: &[&Marked<'_>]) {
        let comments = self.comments();
        let mut wrong = Vec::new();
        for (number, authors) in &comments {
            let count: usize = authors.values().sum();
            if count > 1 {
                wrong.push(format!("{count} status comments on #{number}: {authors:?}"));
            }
        }
        let wishes: Vec<Wish<'_>> = self
            .labelled()
            .into_iter()
            .map(|number| {
                let asks = format!(" on issue #{number}. What it describes");
                let of_it = ours.iter().filter(|one| one.session.prompt.contains(&asks));
                let authors = comments.get(&number);
                let issue = self.world.github().issue(self.repo, number);
                let label = |label: &String| label == WISH;
                Wish {
                    number,
                    turns: of_it.map(|one| one.turn).collect(),
                    is_explained: is_explained(state, number),
                    comments: authors.map_or(0, |authors| authors.values().sum()),
                    is_labelled: issue.is_some_and(|issue| issue.thread.labels.iter().any(label)),
                }
            })
            .collect();
        self.verdict.wishes += wishes.iter().filter(|wish| !wish.turns.is_empty()).count();
        wrong.extend(wishes.iter().flat_map(Wish::findings));
        for text in wrong {
            self.find(text);
        }
    }

    /// The status comments that stay, by issue and author. The App and the workflow's token are two authors to GitHub, and
    /// one phileas to people.
    fn comments(&self) -> BTreeMap<u64, BTreeMap<String, usize>> {
        let names = self.names();
        let id = |detail: &Value| detail["id"].as_u64();
        let writes = self.books.github_writes.iter();
        let gone: BTreeSet<_> = writes
            .clone()
            .filter(|write| write.what == "comment.deleted")
            .map(|write| id(&write.detail))
            .collect();
        let mut comments: BTreeMap<u64, BTreeMap<String, usize>> = BTreeMap::new();
        for write in writes {
            let detail = &write.detail;
            let body = detail["body"].as_str().unwrap_or_default();
            let is_status = write.what == "comment.created" && body.contains(STATUS);
            if is_status && names.contains(&write.repository) && !gone.contains(&id(detail)) {
                let number = detail["number"].as_u64().unwrap_or_default();
                let authors = comments.entry(number).or_default();
                *authors.entry(write.actor.clone()).or_default() += 1;
            }
        }
        comments
    }

    /// The issues on which something was wished for long ago.
    fn labelled(&self) -> BTreeSet<u64> {
        let names = self.names();
        let end = self.world.now();
        let writes = self.books.github_writes.iter();
        writes
            .filter(|write| write.what == "label.added" && write.detail["label"] == WISH)
            .filter(|write| names.contains(&write.repository))
            .filter(|write| end.duration_since(write.at) > PATIENCE)
            .filter_map(|write| write.detail["number"].as_u64())
            .collect()
    }
}

/// Whether the ledger has a reason why a wish has no session: it is refused, not let through yet, or its turn waits.
fn is_explained(state: &Value, number: u64) -> bool {
    let requests = state["requests"].as_object().into_iter().flatten();
    let mut of_it = requests
        .map(|(_, request)| request)
        .filter(|request| request["kind"] == "label" && request["thread"] == number);
    let tracks = state["tracks"].as_object().into_iter().flatten();
    let live: BTreeSet<&str> = tracks
        .filter_map(|(_, track)| track["turns"].as_object())
        .flat_map(serde_json::Map::values)
        .filter_map(|turn| turn["turn"].as_str())
        .collect();
    of_it.any(|request| {
        let outcome = request["outcome"].as_str();
        let turn = request["turn"].as_str();
        matches!(outcome, Some("refused" | "pending")) || turn.is_some_and(|id| live.contains(id))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wish() -> Wish<'static> {
        Wish {
            number: 1,
            turns: BTreeSet::from(["a"]),
            is_explained: false,
            comments: 1,
            is_labelled: false,
        }
    }

    #[test]
    fn a_wish_is_taken_up_once_and_answered() {
        let found = |wish: Wish<'_>| wish.findings().len();
        assert_eq!(found(wish()), 0);
        let turns = BTreeSet::from(["a", "b"]);
        assert_eq!(found(Wish { turns, ..wish() }), 1);
        let turns = BTreeSet::new();
        assert_eq!(found(Wish { turns, ..wish() }), 1);
        let waits = Wish {
            turns: BTreeSet::new(),
            is_explained: true,
            ..wish()
        };
        assert_eq!(found(waits), 0);
        let comments = 0;
        assert_eq!(found(Wish { comments, ..wish() }), 1);
        let is_labelled = true;
        let labelled = Wish {
            is_labelled,
            ..wish()
        };
        assert_eq!(found(labelled), 1);
    }

    #[test]
    fn a_wish_that_waits_has_a_turn_that_lives() {
        let state = |outcome: &str, live: &str| {
            json!({
                "requests": {"x": {"kind": "label", "thread": 7, "outcome": outcome, "turn": "a"}},
                "tracks": {"request:1": {"turns": {"": {"turn": live}}}},
            })
        };
        assert!(is_explained(&state("dispatched", "a"), 7));
        assert!(is_explained(&state("refused", "b"), 7));
        assert!(!is_explained(&state("dispatched", "b"), 7));
        assert!(!is_explained(&state("refused", "b"), 8));
    }
}
