//! One session: its record, its state, its log and its outputs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::activity::{Activity, Artifact, ChangeSet, Kind, Plan};
use super::beat::Beat;
use super::encoding_key::EncodingKey;
use super::ideas::Idea;
use super::question::Question;
use super::record::{Act, SessionRecord, Via};
use super::sample_texts;
use super::scenario::Scenario;
use super::state::State;
use crate::chance::Stream;
use crate::github::{Oid, RepoId};
use crate::knobs::Knobs;

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
    /// The remaining beats.
    pub(super) beats: VecDeque<Beat>,
    /// When the next beat is due.
    pub(super) due: Option<Timestamp>,
    /// Created above the concurrent limit and not started yet.
    pub(super) held: bool,
    pub(super) plan: Option<String>,
    /// The idea that it plans or works on.
    pub(super) idea: Option<Idea>,
    /// An approval carries forward to later plans.
    pub(super) approved: bool,
    /// The state to resume after a pause, and the time until the next beat.
    pub(super) paused_from: Option<(State, Option<SignedDuration>)>,
    pub(super) checkout: Option<Checkout>,
    pub(super) changes: BTreeMap<String, Option<Bytes>>,
    pub(super) patch: String,
    pub(super) outputs: Outputs,
    /// Messages that came after completion.
    pub(super) follow_ups: usize,
    /// A state that no client knows, shown in place of IN_PROGRESS.
    pub(super) unknown_state: Option<String>,
    pub(super) questions: Vec<Question>,
    /// Its own commits whose failed checks it has repaired.
    pub(super) fixed: BTreeSet<Oid>,
    /// The newest comment on its pull request that it knows.
    pub(super) comments_seen: u64,
    last_instant: Option<Timestamp>,
    pub(super) encoded: Option<(EncodingKey, String)>,
    pub(super) revision: u64,
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
            idea: None,
            approved: false,
            paused_from: None,
            checkout: None,
            changes: BTreeMap::new(),
            patch: String::new(),
            outputs: Outputs::default(),
            follow_ups: 0,
            unknown_state: None,
            questions: Vec::new(),
            fixed: BTreeSet::new(),
            comments_seen: 0,
            last_instant: None,
            encoded: None,
            revision: 0,
        }
    }

    /// The id, 17 to 20 decimal digits.
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// The true state, without the lag that a knob adds.
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

    /// Whether the session counts against the concurrent limit of its account.
    pub(super) fn takes_capacity(&self) -> bool {
        self.state().is_active() && !self.held && !(self.deleted && self.beats.is_empty())
    }

    /// The books about this session.
    pub fn record(&self) -> &SessionRecord {
        &self.record
    }

    pub(super) fn enter_state(&mut self, state: State, now: Timestamp) {
        if self.state() != state {
            self.record.states.push((now, state));
            self.mark_changed(now);
        }
    }

    /// Marks the session as changed at an instant.
    pub(super) fn mark_changed(&mut self, now: Timestamp) {
        self.updated = self.updated.max(now);
        self.revision += 1;
    }

    pub(super) fn record_act(&mut self, what: &'static str, via: Via, text: &str, now: Timestamp) {
        self.record.acts.push(Act {
            at: now,
            what,
            via,
            text: text.to_owned(),
        });
    }

    /// Adds an activity to the log. Activities of the service at one instant share a timestamp.
    /// Each act of a person has its own.
    pub(super) fn log_activity(
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
            Some(last) => {
                draw_timestamp(now, &mut self.chance).max(last + SignedDuration::from_micros(1))
            }
            None => draw_timestamp(now, &mut self.chance),
        };
        let missing = |chance: &mut Stream| {
            knobs.count_use(
                "originator-missing",
                chance.happens(knobs.originator_missing),
            )
        };
        let hidden = self.scenario.no_originator || missing(&mut self.chance);
        let id = format!(
            "{:016x}{:016x}",
            self.chance.random_bits(),
            self.chance.random_bits()
        );
        self.last_instant = Some(now);
        self.activities.push(Activity {
            id,
            at,
            originator: if hidden { "" } else { originator },
            kind,
            artifacts,
        });
        self.mark_changed(at);
    }

    pub(super) fn make_plan(&mut self, now: Timestamp) -> Plan {
        let steps = match self.idea {
            Some(idea) => idea.plan_steps(),
            None => sample_texts::plan_steps(&mut self.chance),
        };
        let mut id = || format!("{:016x}", self.chance.random_bits());
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

    /// The title that the client sent, or else one that the service made.
    pub(super) fn own_title(&self) -> String {
        if self.record.title.is_empty() {
            sample_texts::title_of_prompt(&self.record.prompt)
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
}

/// The instant with a fraction of 0, 3, 6 or 9 digits, as the service's clock gives it.
pub(super) fn draw_timestamp(now: Timestamp, chance: &mut Stream) -> Timestamp {
    let unit = *chance
        .pick(&[1_000_000_000, 1_000_000, 1_000, 1])
        .expect("four units");
    let nanos = chance.draw_below(1_000_000_000 / unit) * unit;
    now.checked_add(SignedDuration::from_nanos(
        i64::try_from(nanos).unwrap_or(0),
    ))
    .unwrap_or(now)
}
