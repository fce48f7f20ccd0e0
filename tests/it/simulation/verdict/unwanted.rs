//! Labels, comments and closings of unwanted pull requests: each once, and none where a person has acted.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_world::books::Write;

use super::super::stage::OURS;
use super::{Judge, PATIENCE};

/// What phileas labels unwanted pull requests with.
const LABELS: [&str; 2] = ["phileas:duplicate", "phileas:no-op"];
/// What ends its comment there.
const MARKER: &str = "<!-- phileas:unwanted -->";
/// What lets it close a pull request at once.
const REFUSE: &str = "/phileas refuse";
/// So long after its comment a pull request is closed at the earliest.
const CLOSED_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// What happened on one pull request.
#[derive(Debug, Default)]
struct Acts {
    labels: Vec<Timestamp>,
    comments: Vec<Timestamp>,
    closings: Vec<Timestamp>,
    /// The first act of a person that says that the pull request is theirs now.
    person: Option<Timestamp>,
    is_refused: bool,
}

impl Acts {
    fn add(&mut self, write: &Write) {
        let body = write.detail["body"].as_str().unwrap_or_default();
        let is_ours = OURS.contains(&write.actor.as_str());
        let is_person = !is_ours && !write.actor.ends_with("[bot]");
        match write.what.as_str() {
            "label.added" if is_ours => {
                let label = write.detail["label"].as_str().unwrap_or_default();
                if LABELS.contains(&label) {
                    self.labels.push(write.at);
                }
            }
            "comment.created" if is_ours && body.contains(MARKER) => self.comments.push(write.at),
            "pull.closed" if is_ours => self.closings.push(write.at),
            "comment.created" if is_person && body.starts_with(REFUSE) => self.is_refused = true,
            "comment.created" | "pull.reviewed" | "pull.reopened" if is_person => {
                self.person.get_or_insert(write.at);
            }
            _ => {}
        }
    }

    fn findings(&self) -> Vec<String> {
        let mut found = Vec::new();
        let kinds = [
            ("labelled as unwanted", &self.labels),
            ("told of", &self.comments),
            ("closed by phileas", &self.closings),
        ];
        for (what, at) in kinds {
            if at.len() > 1 {
                found.push(format!("was {what} {} times", at.len()));
            }
            // What happened on it is read right before, but a process may stand still in between.
            let late = |at: &&Timestamp| {
                self.person
                    .is_some_and(|person| at.duration_since(person) > PATIENCE)
            };
            if let Some(at) = at.iter().find(late).filter(|_| !self.is_refused) {
                found.push(format!("was {what} at {at}, after a person had acted"));
            }
        }
        let told = self.comments.first();
        let early = |at: &&Timestamp| {
            told.is_none_or(|told| at.duration_since(*told) < CLOSED_AFTER - PATIENCE)
        };
        if let Some(at) = self
            .closings
            .iter()
            .find(early)
            .filter(|_| !self.is_refused)
        {
            found.push(format!("was closed at {at}, without a day's notice"));
        }
        found
    }
}

impl Judge<'_> {
    pub(super) fn unwanted(&mut self) {
        let names = self.names();
        let github = self.world.github();
        let mut acts: BTreeMap<u64, Acts> = BTreeMap::new();
        for write in &self.books.github_writes {
            let number = write.detail["number"].as_u64();
            let number = number.filter(|number| github.pull(self.repo, *number).is_some());
            if let Some(number) = number.filter(|_| names.contains(&write.repository)) {
                acts.entry(number).or_default().add(write);
            }
        }
        let marked = acts.values().filter(|acts| !acts.labels.is_empty());
        self.verdict.marked_pulls += marked.count();
        for (number, acts) in &acts {
            for finding in acts.findings() {
                self.find(format!("#{number} {finding}"));
            }
        }
    }
}

#[test]
fn what_is_doubled_late_or_early_is_found() {
    let hour = |hour: i64| Timestamp::from_second(1_767_571_200 + hour * 3_600).unwrap();
    let count = |acts: Acts| acts.findings().len();
    let sound = || Acts {
        labels: vec![hour(0)],
        comments: vec![hour(0)],
        closings: vec![hour(24)],
        ..Acts::default()
    };
    assert_eq!(count(sound()), 0);
    for at in [25, 30] {
        let person = Some(hour(at));
        assert_eq!(count(Acts { person, ..sound() }), 0, "after everything");
    }
    let person = Some(hour(2));
    assert_eq!(
        count(Acts { person, ..sound() }),
        1,
        "only its closing is late"
    );
    let labels = vec![hour(0), hour(1)];
    assert_eq!(count(Acts { labels, ..sound() }), 1);
    let comments = vec![hour(0), hour(1)];
    assert_eq!(
        count(Acts {
            comments,
            ..sound()
        }),
        1
    );
    let closings = vec![hour(3)];
    assert_eq!(
        count(Acts {
            closings,
            ..sound()
        }),
        1
    );
    let (comments, closings) = (vec![], vec![hour(30)]);
    let untold = Acts {
        comments,
        closings,
        ..sound()
    };
    assert_eq!(count(untold), 1, "nothing says the way back");
    let refused = Acts {
        closings: vec![hour(3)],
        person,
        is_refused: true,
        ..sound()
    };
    assert_eq!(count(refused), 0, "a person asked for it");
}
