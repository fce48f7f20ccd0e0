//! Issues and pull requests of a scenario, the people who label them, and phileas' texts there.

use std::collections::{BTreeMap, BTreeSet};

use phileas_domain::engine::{
    Actor, Comment, LABEL_PREFIX, Permission, PullEnds, PullFile, Subject, SubjectChange,
    SubjectEvent,
};

use crate::support::scenario::Scenario;

/// A person, or a bot where the login ends so. Numbers follow from the login.
pub(crate) fn account(login: &str) -> Actor {
    let id = login.bytes().map(u64::from).sum();
    Actor {
        login: login.into(),
        id: Some(id),
        bot: login.ends_with("[bot]"),
    }
}

impl Scenario {
    /// Gives an account write access from now on.
    pub(crate) fn writer(&mut self, login: &str) -> &mut Self {
        let account = account(login);
        let permission = Permission {
            id: account.id,
            writes: true,
        };
        self.permissions.insert(account.login, permission);
        self
    }

    /// An issue that an unauthorized user has opened.
    pub(crate) fn issue(&mut self, number: u64, title: &str, body: &str) -> &mut Self {
        let subject = Subject {
            id: format!("I_{number}"),
            number,
            open: true,
            title: title.to_owned(),
            body: body.to_owned(),
            author: Some(account("outsider")),
            edited_at: None,
            touched_at: self.now,
            edits: Vec::new(),
            labels: BTreeSet::new(),
            pull: None,
            events: Vec::new(),
        };
        self.subjects.insert(number, subject);
        self
    }

    /// An issue that phileas has opened.
    pub(crate) fn show(&mut self, number: u64, title: &str, body: &str) {
        if !self.subjects.contains_key(&number) {
            self.issue(number, title, body);
        }
    }

    /// A pull request, from this repository or from a fork.
    pub(crate) fn pull_subject(&mut self, number: u64, same_repository: bool) -> &mut Self {
        self.issue(number, "Tidy up", "It tidies up.");
        let subject = self.subject(number);
        subject.id = format!("PR_{number}");
        subject.pull = Some(PullEnds {
            head: "topic".into(),
            head_oid: "1f".into(),
            base_oid: "2f".into(),
            same_repository,
        });
        self
    }

    pub(crate) fn subject(&mut self, number: u64) -> &mut Subject {
        self.subjects.get_mut(&number).expect("a subject")
    }

    /// An account adds `phileas:<word>` now. Returns the event's id.
    pub(crate) fn label(&mut self, number: u64, word: &str, who: &str) -> String {
        let label = SubjectChange::Labelled(format!("{LABEL_PREFIX}{word}"));
        self.happens(number, Some(account(who)), label)
    }

    pub(crate) fn happens(
        &mut self,
        number: u64,
        actor: Option<Actor>,
        what: SubjectChange,
    ) -> String {
        let now = self.now;
        self.subject(number).touched_at = now;
        let events = &mut self.subject(number).events;
        let id = format!("LE_{number}_{}", events.len());
        let at = (what != SubjectChange::Pushed).then_some(now);
        events.push(SubjectEvent {
            id: id.clone(),
            at,
            actor,
            what,
        });
        id
    }

    /// An account writes a comment now. Returns its id.
    pub(crate) fn writes(&mut self, number: u64, body: &str, who: &str) -> String {
        let id = format!("IC_{}", self.said.len());
        self.said.push(Comment {
            id: id.clone(),
            number: 500 + self.said.len() as u64,
            thread: number,
            created_at: self.now,
            edited: false,
            author: Some(account(who)),
            may_belong_to_project: false,
            body: body.to_owned(),
        });
        id
    }

    pub(crate) fn unlabel(&mut self, number: u64, label: &str) {
        let bears = self
            .bears(number)
            .iter()
            .any(|word| label.strip_prefix(LABEL_PREFIX) == Some(word.as_str()));
        if bears {
            self.put_on_unseen.remove(&number);
            self.happens(number, None, SubjectChange::Unlabelled(label.to_owned()));
        }
    }

    /// The names of its labels.
    pub(crate) fn bears(&self, number: u64) -> BTreeSet<String> {
        let mut words = self.put_on_unseen.get(&number).cloned().unwrap_or_default();
        for event in &self.subjects[&number].events {
            let (SubjectChange::Labelled(label) | SubjectChange::Unlabelled(label)) = &event.what
            else {
                continue;
            };
            let label = label.to_lowercase();
            let word = label.strip_prefix(LABEL_PREFIX).unwrap().to_owned();
            if matches!(event.what, SubjectChange::Labelled(_)) {
                words.insert(word);
            } else {
                words.remove(&word);
            }
        }
        words
    }

    pub(crate) fn labelled(&self) -> BTreeMap<u64, BTreeSet<String>> {
        let open = self
            .subjects
            .values()
            .filter(|subject| subject.open && !self.unlisted.contains(&subject.number));
        let words = open.map(|subject| (subject.number, self.bears(subject.number)));
        words.filter(|(_, words)| !words.is_empty()).collect()
    }

    /// The one status comment of a subject.
    #[track_caller]
    pub(crate) fn status(&self, number: u64) -> &str {
        let mut of_it = self.comments.values().filter(|(on, _)| *on == number);
        let (_, text) = of_it.next().expect("a status comment");
        assert_eq!(of_it.next(), None, "one status comment and no more");
        text
    }
}

/// A file with this many new lines.
pub(crate) fn new_file(path: &str, lines: u64) -> PullFile {
    let patch: String = (0..lines)
        .map(|line| format!("+let value = {line};\n"))
        .collect();
    PullFile {
        path: path.to_owned(),
        added: lines,
        removed: 0,
        patch: Some(format!("@@ -0,0 +1,{lines} @@\n{patch}")),
    }
}
