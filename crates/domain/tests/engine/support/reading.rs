//! Reads the line of a track, its turn, and the messages to its session.

use jiff::SignedDuration;
use phileas_domain::engine::{ActivityKind, CreateSession, Effect, Line, Reason, Verdict};
use phileas_domain::model::{SessionId, Slot, TrackName};
use phileas_domain::state::Turn;

use crate::support::scenario::Scenario;

impl Scenario {
    pub(crate) fn seconds(&mut self, seconds: i64) {
        self.pass(SignedDuration::from_secs(seconds));
    }

    /// One tick, so many seconds later.
    pub(crate) fn tick_after(&mut self, seconds: i64) -> &mut Self {
        self.seconds(seconds);
        self.tick()
    }

    /// This tick's only line about a track.
    pub(crate) fn line(&self, track: &str) -> &Line {
        let track = TrackName::from(track);
        let mut lines = self.lines.iter();
        let line = lines.find(|line| line.track.as_ref() == Some(&track));
        line.unwrap_or_else(|| panic!("no line of {track}: {:?}", self.lines))
    }

    /// The line of a track: the verdict, the reason, and in how many seconds it may change.
    pub(crate) fn line_facts(&self, track: &str) -> (Verdict, Reason, Option<i64>) {
        let line = self.line(track);
        let until = line.until.map(|at| at.duration_since(self.now).as_secs());
        (line.verdict, line.reason, until)
    }

    /// The live turn of a track.
    pub(crate) fn turn(&self, track: &str) -> &Turn {
        &self.state().tracks[&TrackName::from(track)].turns[&Slot::from("")]
    }

    /// The sessions that this tick created.
    pub(crate) fn created_sessions(&self) -> Vec<&CreateSession> {
        let creates = self.effects.iter().filter_map(|effect| match effect {
            Effect::CreateSession(create) => Some(&**create),
            _ => None,
        });
        creates.collect()
    }

    /// All messages to a session, by their last line.
    pub(crate) fn messages_to(&self, session: &SessionId) -> Vec<&str> {
        let log = self.activities.get(session).into_iter().flatten();
        let said = log.filter_map(|activity| match &activity.kind {
            ActivityKind::UserMessaged(text) => text.lines().last(),
            _ => None,
        });
        said.collect()
    }

    /// How many messages this tick decided on, whether they arrive or not.
    pub(crate) fn sending(&self) -> usize {
        let message = |effect: &&Effect| matches!(effect, Effect::SendMessage { .. });
        self.effects.iter().filter(message).count()
    }

    /// The notes in the history, oldest first.
    pub(crate) fn notes(&self) -> Vec<&str> {
        let entries = self.state().history.values();
        entries.filter_map(|entry| entry.note.as_deref()).collect()
    }
}
