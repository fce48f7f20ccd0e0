//! A live turn: what it does or waits for, since when, and where to see it.

use jiff::Timestamp;

use crate::engine::lookup::waiting_turns::waits_for_person;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::GRACE;
use crate::engine::output::report::{Line, Reason};
use crate::engine::text::markdown::session_link;
use crate::engine::text::time::{format_utc, since_text};
use crate::model::{PersonaId, PullNumber, SessionId, TurnId};
use crate::state::Turn;

/// A live turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnView {
    /// Its id.
    pub turn: TurnId,
    /// The persona, or the role of a layer.
    pub persona: PersonaId,
    /// What it does.
    pub stage: TurnStage,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Its session.
    pub session: Option<SessionId>,
    /// Its pull request.
    pub pull: Option<PullNumber>,
    /// The newest report line about it.
    pub line: Option<Line>,
    /// Whether a person can start its next attempt.
    pub can_retry: bool,
}

/// What a live turn does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStage {
    /// Its session is being created, and the result comes soon.
    Starting,
    /// Whether its session was created is unknown.
    Ambiguous,
    /// Its next attempt has not started.
    Waiting,
    /// Its session is at work.
    AtWork,
    /// Its pull request is open.
    PullOpen,
    /// It waits for a person.
    NeedsPerson,
}

/// The view of a live turn. `lines`: the report lines about its track, in order.
pub(crate) fn turn_view<'l>(
    builder: &DecisionBuilder<'_>,
    turn: &Turn,
    lines: impl DoubleEndedIterator<Item = &'l Line>,
) -> TurnView {
    let now = builder.now();
    let is_about_it = |line: &&Line| line.turn.is_none() || line.turn.as_ref() == Some(&turn.turn);
    let mut lines: Vec<&Line> = lines.filter(is_about_it).collect();
    // A line about the track tells of a turn only while the turn has no session.
    if turn.session_id.is_some() || turn.intent.is_some() {
        lines.retain(|line| line.turn.is_some());
    }
    let intent_at = turn.intent.as_ref().map(|intent| intent.created_at);
    let pull = turn.pr_number.and_then(|n| builder.snapshot.pulls.get(&n));
    let (stage, since) = match (&turn.session_id, intent_at, turn.warned_at) {
        (None, Some(at), _) if now.duration_since(at) < GRACE => (TurnStage::Starting, Some(at)),
        (None, Some(at), _) => (TurnStage::Ambiguous, Some(at)),
        (None, None, _) => (TurnStage::Waiting, None),
        (Some(_), ..) if turn.pr_number.is_some() => {
            (TurnStage::PullOpen, pull.map(|pull| pull.created_at))
        }
        (Some(_), _, Some(at)) => (TurnStage::NeedsPerson, Some(at)),
        (Some(_), ..) => (TurnStage::AtWork, started_at(builder, turn)),
    };
    TurnView {
        turn: turn.turn.clone(),
        persona: turn.persona_id.clone(),
        stage,
        since,
        session: turn.session_id.clone(),
        pull: turn.pr_number,
        line: lines.pop().cloned(),
        can_retry: waits_for_person(turn),
    }
}

/// When the session of a turn was created, or else its creation was decided.
fn started_at(builder: &DecisionBuilder<'_>, turn: &Turn) -> Option<Timestamp> {
    let entry = builder.state.history.get(&turn.history_key?);
    let decided = || Some(turn.intent.as_ref()?.created_at);
    entry.and_then(|entry| entry.created_at).or_else(decided)
}

impl TurnView {
    /// What it does or waits for, and since when. `timed`: see [`Line::sentence`].
    #[must_use]
    pub fn sentence(&self, timed: bool) -> String {
        self.stage_and(|line| line.sentence(timed))
    }

    /// The same for a page that shows the reason's code and its end beside it.
    #[must_use]
    pub fn headline(&self) -> String {
        self.stage_and(|line| line.reason.clause())
    }

    /// The stage, and the reason in these words where it says more.
    fn stage_and(&self, reason_text: impl Fn(&Line) -> String) -> String {
        let stage = self.stage_text();
        let Some(line) = &self.line else {
            return stage;
        };
        match (self.stage, line.reason) {
            // The stage says the same.
            (TurnStage::Starting | TurnStage::Ambiguous, _)
            | (_, Reason::SessionRunning | Reason::PrOpen) => stage,
            (TurnStage::AtWork, _) => {
                let since = self
                    .since
                    .map(|at| format!("; it started at {}", format_utc(at)));
                format!("{}{}", reason_text(line), since.unwrap_or_default())
            }
            _ => format!("{stage}: {}", reason_text(line)),
        }
    }

    /// Whether [`sentence`](Self::sentence) says what a line says.
    #[must_use]
    pub fn is_described_by(&self, line: &Line) -> bool {
        line.turn.as_ref() == Some(&self.turn) || self.line.as_ref() == Some(line)
    }

    /// What it does, and since when, without the reason.
    #[must_use]
    pub fn stage_text(&self) -> String {
        self.stage_since(self.since)
    }

    /// Its stage without times, so that it changes only with the stage.
    pub(crate) fn stage_name(&self) -> String {
        self.stage_since(None)
    }

    fn stage_since(&self, at: Option<Timestamp>) -> String {
        let since = at.map(since_text).unwrap_or_default();
        match (self.stage, self.pull) {
            (TurnStage::Starting, _) => "its session is being started".to_owned(),
            (TurnStage::Ambiguous, _) => {
                let at = at.map(|at| format!(" at {}", format_utc(at)));
                format!(
                    "whether its session was started is not known yet; requested from Jules{}",
                    at.unwrap_or_default()
                )
            }
            (TurnStage::Waiting, _) => "waits".to_owned(),
            (TurnStage::PullOpen, Some(pull)) => format!("pull request #{pull} is open{since}"),
            (TurnStage::AtWork | TurnStage::PullOpen, _) => format!("at work{since}"),
            (TurnStage::NeedsPerson, _) => format!("waits{since} for a person"),
        }
    }

    /// A link to its session, after a semicolon.
    pub(crate) fn link_text(&self) -> String {
        link_text(self.session.as_ref())
    }
}

/// A link to a session, after a semicolon.
pub(crate) fn link_text(session: Option<&SessionId>) -> String {
    session.map_or_else(String::new, |id| format!("; {}", session_link(id)))
}
