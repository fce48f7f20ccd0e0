//! What people ask for by labels, and what they are told.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use serde_json::Value;

use super::sessions::Marked;
use super::{Judge, PATIENCE, RESERVED_SESSIONS, STILL_LABELLED};

/// Who is asked for by labels.
const WISH: &str = "phileas:fixer";
/// With fewer sessions a day even a small account has room.
const FEW_OF_KEY: usize = 6;
/// What our status comments bear.
const STATUS: &str = "<!-- phileas:status -->";

/// An issue that bears a wish for longer than anybody has to wait, and what came of it.
#[derive(Debug)]
struct Wish<'a> {
    number: u64,
    /// How often it was asked for.
    asked: usize,
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
        if self.turns.len() > self.asked {
            let (asked, turns) = (self.asked, &self.turns);
            found.push(format!(
                "#{number} was asked for {asked} times and has the turns {turns:?}"
            ));
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
        let has_room = self.has_room(state, ours);
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
            .map(|(number, asked)| {
                let asks = ["issue", "pull request"]
                    .map(|kind| format!(" on {kind} #{number}. What it describes"));
                let of_it = ours.iter().filter(|one| {
                    let prompt = &one.session.prompt;
                    asks.iter().any(|asks| prompt.contains(asks))
                });
                let authors = comments.get(&number);
                let github = self.world.github();
                let issue = github.issue(self.repo, number).map(|issue| &issue.thread);
                let pull = github.pull(self.repo, number).map(|pull| &pull.thread);
                let label = |label: &String| label == WISH;
                Wish {
                    number,
                    asked,
                    turns: of_it.map(|one| one.turn).collect(),
                    is_explained: is_explained(state, number, has_room),
                    comments: authors.map_or(0, |authors| authors.values().sum()),
                    is_labelled: issue
                        .or(pull)
                        .is_some_and(|one| one.labels.iter().any(label)),
                }
            })
            .collect();
        self.verdict.wishes += wishes.iter().filter(|wish| !wish.turns.is_empty()).count();
        wrong.extend(wishes.iter().flat_map(Wish::findings));
        for text in wrong {
            self.find(text);
        }
    }

    /// Whether for as long as anybody has to wait there was room for one session more that a person asks for: in the day
    /// and at once, by the plan and by the account. Open pull requests hold up nobody who is asked for.
    fn has_room(&self, state: &Value, ours: &[&Marked<'_>]) -> bool {
        let end = self.world.now();
        let since = end - PATIENCE - SignedDuration::from_hours(24);
        let lately = ours.iter().filter(|one| one.at > since).count();
        let tracks = state["tracks"].as_object().into_iter().flatten();
        let live: usize = tracks
            .filter_map(|(_, track)| track["turns"].as_object())
            .map(serde_json::Map::len)
            .sum();
        let began = ours.iter().filter(|one| one.at > end - PATIENCE).count();
        let all = self.books.sessions.iter();
        let of_key = all
            .filter(|one| one.created_at.is_some_and(|at| at > since))
            .count();
        lately < self.allowed.daily_sessions + RESERVED_SESSIONS
            && live + began < self.allowed.at_once
            && of_key < FEW_OF_KEY
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

    /// The issues and pull requests on which something was wished for long ago, and how often.
    fn labelled(&self) -> BTreeMap<u64, usize> {
        let names = self.names();
        let end = self.world.now();
        let writes = self.books.github_writes.iter();
        let mut labelled = BTreeMap::new();
        let wishes = writes
            .filter(|write| write.what == "label.added" && write.detail["label"] == WISH)
            .filter(|write| names.contains(&write.repository));
        for write in wishes {
            if let Some(number) = write.detail["number"].as_u64() {
                let (count, first) = labelled.entry(number).or_insert((0, write.at));
                *count += 1;
                *first = write.at.min(*first);
            }
        }
        labelled.retain(|_, (_, first)| end.duration_since(*first) > PATIENCE);
        let counts = labelled.into_iter();
        counts.map(|(number, (count, _))| (number, count)).collect()
    }
}

/// Whether the ledger has a reason why a wish has no session: it is refused, its turn waits, or it was withdrawn because
/// what it is about has changed. One that was taken up and has no turn yet is only explained where there is no room.
fn is_explained(state: &Value, number: u64, has_room: bool) -> bool {
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
        let withdrawn = outcome == Some("cancelled") && request["reason"].is_string();
        let waits = outcome == Some("pending") && !has_room;
        let lives = turn.is_some_and(|id| live.contains(id));
        outcome == Some("refused") || withdrawn || waits || lives
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wish() -> Wish<'static> {
        Wish {
            number: 1,
            asked: 1,
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
        let twice = Wish {
            asked: 2,
            turns: BTreeSet::from(["a", "b"]),
            ..wish()
        };
        assert_eq!(found(twice), 0);
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
        let explained = |state, number| is_explained(&state, number, true);
        assert!(explained(state("dispatched", "a"), 7));
        assert!(explained(state("refused", "b"), 7));
        assert!(!explained(state("dispatched", "b"), 7));
        assert!(!explained(state("refused", "b"), 8));
        assert!(!explained(state("cancelled", "b"), 7), "nobody says why");
        assert!(!explained(state("pending", "b"), 7), "there is room");
        assert!(is_explained(&state("pending", "b"), 7, false));
    }
}
