//! What people ask for by labels, and what they are told.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::sessions::Marked;
use super::{Judge, PATIENCE, RESERVED_SESSIONS, STILL_LABELLED};

/// Who is asked for by labels.
const REQUEST_LABEL: &str = "phileas:fixer";
/// With fewer sessions a day even a small account has room.
const FEW_OF_KEY: usize = 6;
/// A label counts on what is open. A user who closes it this soon may be faster than any poll: where deliveries are lost, the
/// repository is suspended for an hour and the next poll is an hour away.
const SEEN_WITHIN: SignedDuration = SignedDuration::from_hours(3);
/// What our status comments bear.
const STATUS: &str = "<!-- phileas:status -->";

/// An issue that bears a request for longer than any_process has to wait, and what came of it.
#[derive(Debug)]
struct LabelRequest<'a> {
    number: u64,
    /// How often it was asked for.
    request_count: usize,
    /// The turns of the sessions that were given it.
    turns: BTreeSet<&'a str>,
    /// Whether the ledger knows why it has no session yet, or never has one. The comment says it.
    is_explained: bool,
    comments: usize,
    is_labelled: bool,
    /// Whether the ledger has a request of it.
    is_known: bool,
    /// Whether it was closed so soon that no tick may have seen the label.
    is_closed_soon: bool,
    /// Whether it was closed while the label was still to be taken off.
    is_closed_meanwhile: bool,
}

impl LabelRequest<'_> {
    fn findings(&self) -> Vec<String> {
        let number = self.number;
        let mut found = Vec::new();
        let has_trace = self.is_known || self.comments > 0 || !self.turns.is_empty();
        if self.is_closed_soon && !has_trace {
            return found;
        }
        if self.turns.len() > self.request_count {
            let (asked, turns) = (self.request_count, &self.turns);
            found.push(format!(
                "#{number} was asked for {asked} times and has the turns {turns:?}"
            ));
        }
        if self.turns.is_empty() && !self.is_explained {
            found.push(format!("the request on #{number} is lost"));
        }
        if self.comments == 0 {
            found.push(format!("no comment answers on #{number}"));
        }
        if self.is_labelled && !self.is_closed_meanwhile {
            found.push(format!(
                "the label {REQUEST_LABEL} {STILL_LABELLED} #{number}"
            ));
        }
        found
    }
}

impl Judge<'_> {
    /// Each request by label is taken up once, its label taken off, and told in one comment. A race may write a second one,
    /// which has to go again.
    pub(super) fn label_requests(&mut self, state: &Value, ours: &[&Marked<'_>]) {
        let comments = self.comments();
        let has_room = self.has_room(state, ours);
        let mut wrong = Vec::new();
        for (number, authors) in &comments {
            let count: usize = authors.values().sum();
            if count > 1 {
                wrong.push(format!("{count} status comments on #{number}: {authors:?}"));
            }
        }
        let label_requests: Vec<LabelRequest<'_>> = self
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
                let thread = issue.or(pull);
                let closed = thread.and_then(|thread| thread.closed_at);
                let is_closed_within =
                    |time| closed.is_some_and(|at| at.duration_since(asked.last) < time);
                let label = |label: &String| label == REQUEST_LABEL;
                LabelRequest {
                    number,
                    request_count: asked.times,
                    turns: of_it.map(|one| one.turn).collect(),
                    is_explained: is_explained(state, number, has_room),
                    comments: authors.map_or(0, |authors| authors.values().sum()),
                    is_labelled: thread.is_some_and(|thread| thread.labels.iter().any(label)),
                    is_known: of_thread(state, number).next().is_some(),
                    is_closed_soon: is_closed_within(SEEN_WITHIN),
                    is_closed_meanwhile: is_closed_within(PATIENCE),
                }
            })
            .collect();
        self.verdict.label_requests += label_requests
            .iter()
            .filter(|label_request| !label_request.turns.is_empty())
            .count();
        wrong.extend(label_requests.iter().flat_map(LabelRequest::findings));
        for text in wrong {
            self.find(text);
        }
    }

    /// Whether for as long as any_process has to wait there was room for one session more that a person asks for: in the day
    /// and at once, by the plan and by the account. Open pull requests delay no requested session.
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

    /// The issues and pull requests on which something was requested long ago.
    fn labelled(&self) -> BTreeMap<u64, Asked> {
        let names = self.names();
        let end = self.world.now();
        let writes = self.books.github_writes.iter();
        let mut labelled: BTreeMap<u64, Asked> = BTreeMap::new();
        let label_requests = writes
            .filter(|write| write.what == "label.added" && write.detail["label"] == REQUEST_LABEL)
            .filter(|write| names.contains(&write.repository));
        for write in label_requests {
            if let Some(number) = write.detail["number"].as_u64() {
                let asked = labelled.entry(number).or_insert(Asked {
                    times: 0,
                    first: write.at,
                    last: write.at,
                });
                asked.times += 1;
                asked.first = asked.first.min(write.at);
                asked.last = asked.last.max(write.at);
            }
        }
        labelled.retain(|_, asked| end.duration_since(asked.first) > PATIENCE);
        labelled
    }
}

/// How often something was requested, and when.
#[derive(Debug, Clone, Copy)]
struct Asked {
    times: usize,
    first: Timestamp,
    last: Timestamp,
}

/// Whether the ledger has a reason why a request has no session: it is refused, its turn waits, or it was withdrawn because
/// what it is about has changed. One that was taken up and has no turn yet is only explained where there is no room.
fn is_explained(state: &Value, number: u64, has_room: bool) -> bool {
    let tracks = state["tracks"].as_object().into_iter().flatten();
    let live: BTreeSet<&str> = tracks
        .filter_map(|(_, track)| track["turns"].as_object())
        .flat_map(serde_json::Map::values)
        .filter_map(|turn| turn["turn"].as_str())
        .collect();
    of_thread(state, number).any(|request| {
        let outcome = request["outcome"].as_str();
        let turn = request["turn"].as_str();
        let withdrawn = outcome == Some("cancelled") && request["reason"].is_string();
        let waits = outcome == Some("pending") && !has_room;
        let lives = turn.is_some_and(|id| live.contains(id));
        outcome == Some("refused") || withdrawn || waits || lives
    })
}

/// What the ledger knows of the requests by label on an issue or a pull request.
fn of_thread(state: &Value, number: u64) -> impl Iterator<Item = &Value> {
    let requests = state["requests"].as_object().into_iter().flatten();
    requests
        .map(|(_, request)| request)
        .filter(move |request| request["kind"] == "label" && request["thread"] == number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn label_request() -> LabelRequest<'static> {
        LabelRequest {
            number: 1,
            request_count: 1,
            turns: BTreeSet::from(["a"]),
            is_explained: false,
            comments: 1,
            is_labelled: false,
            is_known: true,
            is_closed_soon: false,
            is_closed_meanwhile: false,
        }
    }

    #[test]
    fn a_request_is_accepted_once_and_answered() {
        let found = |label_request: LabelRequest<'_>| label_request.findings().len();
        assert_eq!(found(label_request()), 0);
        let turns = BTreeSet::from(["a", "b"]);
        assert_eq!(
            found(LabelRequest {
                turns,
                ..label_request()
            }),
            1
        );
        let twice = LabelRequest {
            request_count: 2,
            turns: BTreeSet::from(["a", "b"]),
            ..label_request()
        };
        assert_eq!(found(twice), 0);
        let turns = BTreeSet::new();
        assert_eq!(
            found(LabelRequest {
                turns,
                ..label_request()
            }),
            1
        );
        let waits = LabelRequest {
            turns: BTreeSet::new(),
            is_explained: true,
            ..label_request()
        };
        assert_eq!(found(waits), 0);
        let comments = 0;
        assert_eq!(
            found(LabelRequest {
                comments,
                ..label_request()
            }),
            1
        );
        let is_labelled = true;
        let labelled = LabelRequest {
            is_labelled,
            ..label_request()
        };
        assert_eq!(found(labelled), 1);
    }

    #[test]
    fn what_is_closed_before_it_is_seen_wants_no_answer() {
        let closed = |is_known, comments| LabelRequest {
            turns: BTreeSet::new(),
            comments,
            is_labelled: true,
            is_known,
            is_closed_soon: true,
            is_closed_meanwhile: true,
            ..label_request()
        };
        let found = |label_request: LabelRequest<'_>| label_request.findings().len();
        assert_eq!(found(closed(false, 0)), 0);
        assert_eq!(found(closed(true, 0)), 2, "it was taken up, and lost");
        assert_eq!(found(closed(false, 1)), 1, "nothing came of an answer");
        let later = LabelRequest {
            is_closed_soon: false,
            is_closed_meanwhile: false,
            ..closed(false, 0)
        };
        assert_eq!(found(later), 3);
        let begun = |is_closed_meanwhile| LabelRequest {
            is_labelled: true,
            is_closed_soon: true,
            is_closed_meanwhile,
            ..label_request()
        };
        assert_eq!(
            found(begun(true)),
            0,
            "no tick comes back to what is closed"
        );
        assert_eq!(found(begun(false)), 1, "there was time enough");
    }

    #[test]
    fn a_request_that_waits_has_a_live_turn() {
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
        assert!(!explained(state("cancelled", "b"), 7), "no reason is given");
        assert!(!explained(state("pending", "b"), 7), "there is room");
        assert!(is_explained(&state("pending", "b"), 7, false));
    }
}
