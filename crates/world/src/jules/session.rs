//! One session: what it was asked, where it stands, what it has produced.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::activity::{Activity, Artifact, ChangeSet, Kind, Plan};
use super::beat::Beat;
use super::record::{Act, SessionRecord, Via};
use super::scenario::Scenario;
use super::state::State;
use super::wire::{put, put_flag, put_time};
use super::words;
use crate::books;
use crate::chance::Stream;
use crate::github::{Oid, RepoId};
use crate::knobs::{Knobs, TitleKept};

/// What a title is cut to where a knob asks for it.
const TRUNCATED_TITLE: usize = 60;

/// The repository as the session's machine has cloned it.
#[derive(Debug, Clone)]
pub(super) struct Checkout {
    pub(super) repo: RepoId,
    pub(super) base: Oid,
}

/// What the session has produced, as its outputs show it.
#[derive(Debug, Clone, Default)]
pub(super) struct Outputs {
    pub(super) at: Option<Timestamp>,
    pub(super) shown: Vec<Value>,
}

/// A question on its way into the books.
#[derive(Debug)]
struct Question {
    at: Timestamp,
    text: String,
    /// Where it stands in the books.
    place: Option<usize>,
    answer: Option<(Timestamp, String)>,
}

/// One session.
#[derive(Debug)]
pub struct Session {
    pub(super) record: SessionRecord,
    pub(super) account: usize,
    /// The source's name as Jules stores it; empty without one.
    pub(super) source: String,
    pub(super) created: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) archived: bool,
    pub(super) deleted: bool,
    pub(super) activities: Vec<Activity>,
    pub(super) scenario: Scenario,
    pub(super) chance: Stream,
    /// What is still to come.
    pub(super) beats: VecDeque<Beat>,
    /// When the next thing happens by itself.
    pub(super) due: Option<Timestamp>,
    /// Created above the concurrent limit and not started yet.
    pub(super) held: bool,
    pub(super) plan: Option<String>,
    /// An approval carries forward to later plans.
    pub(super) approved: bool,
    /// Where to go on after a pause, and how long it is until the next beat.
    pub(super) paused_from: Option<(State, Option<SignedDuration>)>,
    pub(super) checkout: Option<Checkout>,
    pub(super) changes: BTreeMap<String, Option<Bytes>>,
    pub(super) patch: String,
    pub(super) outputs: Outputs,
    /// Messages that came after completion.
    pub(super) follow_ups: usize,
    /// A state that no client knows, shown in place of IN_PROGRESS.
    pub(super) unknown_state: Option<String>,
    questions: Vec<Question>,
    last_instant: Option<Timestamp>,
    encoded: Option<(Shown, String)>,
    revision: u64,
}

/// What the encoded form of a session depends on.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    revision: u64,
    state: State,
    outputs: bool,
    title: TitleKept,
    prompt: bool,
    bare_name: bool,
}

impl Session {
    pub(super) fn new(
        record: SessionRecord,
        account: usize,
        source: String,
        chance: Stream,
    ) -> Session {
        let created = record.created;
        Session {
            record,
            account,
            source,
            created,
            updated: created,
            archived: false,
            deleted: false,
            activities: Vec::new(),
            scenario: Scenario::default(),
            chance,
            beats: VecDeque::new(),
            due: None,
            held: false,
            plan: None,
            approved: false,
            paused_from: None,
            checkout: None,
            changes: BTreeMap::new(),
            patch: String::new(),
            outputs: Outputs::default(),
            follow_ups: 0,
            unknown_state: None,
            questions: Vec::new(),
            last_instant: None,
            encoded: None,
            revision: 0,
        }
    }

    /// The id, 17 to 20 decimal digits.
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// The true state, whatever lag a knob puts before it.
    pub fn state(&self) -> State {
        self.record.state()
    }

    /// The log, oldest first.
    pub fn activities(&self) -> &[Activity] {
        &self.activities
    }

    /// Whether the session is archived.
    pub fn is_archived(&self) -> bool {
        self.archived
    }

    /// Whether the session takes one of the places of its account.
    pub(super) fn occupies(&self) -> bool {
        self.state().is_active() && !self.held && !(self.deleted && self.beats.is_empty())
    }

    /// The books about this session.
    pub fn record(&self) -> &SessionRecord {
        &self.record
    }

    pub(super) fn enter(&mut self, state: State, now: Timestamp) {
        if self.state() != state {
            self.record.states.push((now, state));
            self.touch(now);
        }
    }

    /// Marks the session as changed at an instant.
    pub(super) fn touch(&mut self, now: Timestamp) {
        self.updated = self.updated.max(now);
        self.revision += 1;
    }

    pub(super) fn act(&mut self, what: &'static str, via: Via, text: &str, now: Timestamp) {
        self.record.acts.push(Act {
            at: now,
            what,
            via,
            text: text.to_owned(),
        });
    }

    /// Adds to the log. What the service itself logs at one instant shares one timestamp; what a person does has
    /// a timestamp of its own.
    pub(super) fn log(
        &mut self,
        originator: &'static str,
        kind: Kind,
        artifacts: Vec<Artifact>,
        now: Timestamp,
        knobs: &Knobs,
    ) {
        let last = self.activities.last().map(|activity| activity.at);
        let at = match last {
            Some(last) if self.last_instant == Some(now) && originator != "user" => last,
            Some(last) => stamp(now, &mut self.chance).max(last + SignedDuration::from_micros(1)),
            None => stamp(now, &mut self.chance),
        };
        let hidden = self.scenario.no_originator || self.chance.happens(knobs.originator_missing);
        let id = format!("{:016x}{:016x}", self.chance.bits(), self.chance.bits());
        self.last_instant = Some(now);
        self.activities.push(Activity {
            id,
            at,
            originator: if hidden { "" } else { originator },
            kind,
            artifacts,
        });
        self.touch(at);
    }

    pub(super) fn make_plan(&mut self, now: Timestamp) -> Plan {
        let steps = words::plan(&mut self.chance);
        let mut id = || format!("{:016x}", self.chance.bits());
        Plan {
            id: id(),
            steps: steps
                .into_iter()
                .map(|(title, text)| (id(), title, text))
                .collect(),
            at: now,
        }
    }

    /// The cumulative change set, none without changes.
    pub(super) fn change_set(&self) -> Option<ChangeSet> {
        (!self.patch.is_empty()).then(|| ChangeSet {
            source: self.source.clone(),
            base: self
                .checkout
                .as_ref()
                .map(|checkout| checkout.base.to_string())
                .unwrap_or_default(),
            patch: self.patch.clone(),
            message: self.commit_message(),
        })
    }

    /// The title that the service made or was given.
    pub(super) fn own_title(&self) -> String {
        if self.record.title.is_empty() {
            words::title(&self.record.prompt)
        } else {
            self.record.title.clone()
        }
    }

    pub(super) fn commit_message(&self) -> String {
        format!(
            "{}\n\nDone by Jules in session {}.",
            self.own_title(),
            self.record.id
        )
    }

    /// The state as a reply shows it at this instant.
    pub(super) fn shown_state(&self, now: Timestamp, knobs: &Knobs) -> State {
        let lag =
            SignedDuration::from_secs(i64::try_from(knobs.state_lag_seconds).unwrap_or(i64::MAX));
        let seen = now.checked_sub(lag).unwrap_or(Timestamp::MIN);
        let states = &self.record.states;
        let shown = states
            .iter()
            .rev()
            .find(|(at, _)| *at <= seen)
            .or(states.first());
        shown.map_or(State::Queued, |(_, state)| *state)
    }

    /// The resource as JSON text, for a listing or for a reply about this session alone.
    pub(super) fn encode(&mut self, listed: bool, now: Timestamp, knobs: &Knobs) -> &str {
        let lag =
            SignedDuration::from_secs(i64::try_from(knobs.outputs_lag_seconds).unwrap_or(i64::MAX));
        let shown = Shown {
            revision: self.revision,
            state: self.shown_state(now, knobs),
            outputs: self
                .outputs
                .at
                .is_some_and(|at| at.checked_add(lag).is_ok_and(|due| due <= now)),
            title: knobs.title,
            prompt: !(listed && knobs.listing_without_prompt),
            bare_name: knobs.session_name_bare,
        };
        if self.encoded.as_ref().is_none_or(|(of, _)| *of != shown) {
            let text = self.wire(&shown, true).to_string();
            self.encoded = Some((shown, text));
        }
        self.encoded.as_ref().map_or("", |(_, text)| text)
    }

    /// What [`Session::encode`] made last.
    pub(super) fn encoded(&self) -> &str {
        self.encoded.as_ref().map_or("", |(_, text)| text)
    }

    /// Brings the world's books up to date about this session.
    pub(super) fn write_into(&self, entry: &mut books::Session) {
        let record = &self.record;
        if entry.id.is_empty() {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            entry.id.clone_from(&record.id);
            entry.account.clone_from(&record.account);
            entry.source = some(&record.source);
            entry.starting_branch = some(&record.starting_branch);
            entry.title = some(&record.title);
            entry.prompt.clone_from(&record.prompt);
            entry.created_at = Some(record.created);
            entry.foreign = record.via == Via::WebApp;
        }
        entry.reply_lost = record.refused_after_effect;
        let known = entry.states.len();
        entry.states.extend(
            record.states[known..]
                .iter()
                .map(|(at, state)| (*at, state.name().to_owned())),
        );
        entry.pull = record.pull;
        entry.archived = self.archived;
        entry.deleted = self.deleted;
    }

    /// Brings the world's books up to date about this session's questions.
    pub(super) fn write_questions(&mut self, books: &mut Vec<books::Question>) {
        for question in &mut self.questions {
            let place = *question.place.get_or_insert_with(|| {
                books.push(books::Question {
                    at: question.at,
                    session: self.record.id.clone(),
                    text: question.text.clone(),
                    answered_at: None,
                    answer: None,
                });
                books.len() - 1
            });
            if let (Some(entry), Some((at, answer))) = (books.get_mut(place), &question.answer) {
                entry.answered_at = Some(*at);
                entry.answer = Some(answer.clone());
            }
        }
        self.questions.retain(|question| question.answer.is_none());
    }

    /// Notes a question for the books.
    pub(super) fn asked(&mut self, text: &str, now: Timestamp) {
        self.questions.push(Question {
            at: now,
            text: text.to_owned(),
            place: None,
            answer: None,
        });
    }

    /// The questions that nobody has answered yet, with the instants at which they were asked.
    pub fn open_questions(&self) -> impl Iterator<Item = (Timestamp, &str)> {
        self.questions
            .iter()
            .filter(|question| question.answer.is_none())
            .map(|question| (question.at, question.text.as_str()))
    }

    /// Notes the answer to whatever is open.
    pub(super) fn answered(&mut self, text: &str, now: Timestamp) {
        for question in &mut self.questions {
            question
                .answer
                .get_or_insert_with(|| (now, text.to_owned()));
        }
    }

    /// The resource without its source, as one verb was seen to answer.
    pub(super) fn encode_without_source(&self, now: Timestamp, knobs: &Knobs) -> String {
        let shown = Shown {
            revision: self.revision,
            state: self.shown_state(now, knobs),
            outputs: false,
            title: knobs.title,
            prompt: true,
            bare_name: knobs.session_name_bare,
        };
        self.wire(&shown, false).to_string()
    }

    fn wire(&self, shown: &Shown, with_source: bool) -> Value {
        let id = &self.record.id;
        let mut map = Map::new();
        let name = if shown.bare_name {
            id.clone()
        } else {
            format!("sessions/{id}")
        };
        put(&mut map, "name", &name);
        put(&mut map, "id", id);
        let title = match shown.title {
            TitleKept::Verbatim => self.own_title(),
            TitleKept::Truncated => self.own_title().chars().take(TRUNCATED_TITLE).collect(),
            TitleKept::Rewritten => words::title(&self.record.prompt),
            TitleKept::Dropped => String::new(),
        };
        put(&mut map, "title", &title);
        if shown.prompt {
            put(&mut map, "prompt", &self.record.prompt);
        }
        if with_source && !self.source.is_empty() {
            map.insert(
                "sourceContext".to_owned(),
                json!({
                    "source": self.source,
                    "githubRepoContext": { "startingBranch": self.record.starting_branch },
                }),
            );
        }
        put_time(&mut map, "createTime", self.created);
        put_time(&mut map, "updateTime", self.updated);
        let state = match &self.unknown_state {
            Some(unknown) if shown.state == State::InProgress => unknown.as_str(),
            _ => shown.state.name(),
        };
        put(&mut map, "state", state);
        put(
            &mut map,
            "url",
            &format!("https://jules.google.com/session/{id}"),
        );
        if shown.outputs && !self.outputs.shown.is_empty() {
            map.insert(
                "outputs".to_owned(),
                Value::Array(self.outputs.shown.clone()),
            );
        }
        put_flag(&mut map, "archived", self.archived);
        Value::Object(map)
    }
}

/// The instant with a fraction of 0, 3, 6 or 9 digits, as the service's clock gives it.
pub(super) fn stamp(now: Timestamp, chance: &mut Stream) -> Timestamp {
    let unit = *chance
        .pick(&[1_000_000_000, 1_000_000, 1_000, 1])
        .expect("four units");
    let nanos = chance.below(1_000_000_000 / unit) * unit;
    now.checked_add(SignedDuration::from_nanos(
        i64::try_from(nanos).unwrap_or(0),
    ))
    .unwrap_or(now)
}
