//! The decision while it is being made.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};

use super::decision::{Change, Decision};
use super::effect::{Effect, NoticeKey};
use super::exchange_view::{Cast, Picture};
use super::limits::{EFFECT_PAUSE, EFFECT_PAUSE_LIMIT, HEADLINE_LIMIT};
use super::needs::Needs;
use super::report::{Line, Reason, Report, Verdict};
use crate::Diagnostic;
use crate::engine::input::session::{Listing, ListingNeed};
use crate::engine::input::snapshot::{Ledger, Notice, Snapshot};
use crate::engine::text::time::doubled;
use crate::model::{Oid, PersonaId, PullNumber, Slot, TrackName, Tree};
use crate::prompt::{RenderAnswer, RenderError, RenderRequest, SourceFiles};
use crate::state::{State, TrackState, Turn};

/// The decision while it is being made: a working copy of the state, and everything said so far.
pub(crate) struct Draft<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) state: State,
    pub(crate) needs: Needs,
    /// What waits for a review; looked for once, since each candidate asks.
    pub(crate) backlog: OnceCell<Vec<PullNumber>>,
    /// How many ignored pull requests each persona has; counted once, for the same reason.
    pub(crate) ignored: OnceCell<BTreeMap<PersonaId, u32>>,
    /// Who turned out to be unable to run in a track when its turn had come, and why.
    pub(crate) unable: BTreeMap<(TrackName, Slot, PersonaId), (Reason, String)>,
    /// The exchange as this decision leaves it, where it was read.
    pub(crate) exchange: Option<Tree>,
    /// How it reads, and who takes part; read once, since each step of a layer asks.
    pub(crate) picture: OnceCell<Rc<Picture>>,
    pub(crate) cast: OnceCell<Rc<Cast>>,
    /// What prompts of personas draw from; put together once.
    sources: OnceCell<SourceFiles>,
    files: BTreeMap<String, Option<String>>,
    base: Option<Oid>,
    diagnostics: Vec<Diagnostic>,
    effects: Vec<Effect>,
    lines: Vec<Line>,
    wake_at: Option<Timestamp>,
    headlines: Vec<String>,
    turns: Vec<String>,
}

impl<'a> Draft<'a> {
    /// `exchange`: the exchange at the ledger's head, where it was read.
    pub(crate) fn new(snapshot: &'a Snapshot, exchange: Option<Tree>) -> Self {
        let (base, state) = match &snapshot.ledger {
            Ledger::Missing { head } => (head.clone(), State::default()),
            Ledger::Present { head, state } => (Some(head.clone()), (**state).clone()),
            Ledger::Corrupt { head, .. } => (Some(head.clone()), State::default()),
        };
        Self {
            snapshot,
            state,
            needs: Needs::default(),
            backlog: OnceCell::new(),
            ignored: OnceCell::new(),
            unable: BTreeMap::new(),
            exchange,
            picture: OnceCell::new(),
            cast: OnceCell::new(),
            sources: OnceCell::new(),
            files: BTreeMap::new(),
            base,
            diagnostics: Vec::new(),
            effects: Vec::new(),
            lines: Vec::new(),
            wake_at: None,
            headlines: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// The files of the default branch that prompts of personas draw from.
    pub(crate) fn sources(&self) -> SourceFiles {
        let make = || SourceFiles::of_default_branch(&self.snapshot.tree);
        self.sources.get_or_init(make).clone()
    }

    /// A prompt that was rendered, or the request for it.
    pub(crate) fn rendered(&mut self, request: RenderRequest) -> RenderAnswer {
        let key = request.key();
        if let Some(answer) = self.snapshot.prompts.get(&key) {
            return answer.clone();
        }
        self.needs.prompts.insert(key, request);
        RenderAnswer::Failed(RenderError::Unrendered)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    /// `now` and a span later.
    pub(crate) fn after(&self, span: SignedDuration) -> Timestamp {
        self.now().checked_add(span).unwrap_or(Timestamp::MAX)
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        if is_refused_lately(self, &effect) {
            return;
        }
        // Two rules may come to the same conclusion.
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    /// Whether a session is created after this very decision's commit.
    pub(crate) fn is_creating(&self) -> bool {
        let creates = |effect: &Effect| matches!(effect, Effect::CreateSession(_));
        self.effects.iter().any(creates)
    }

    /// Whether a pull request is merged after this very decision's commit.
    pub(crate) fn is_merging(&self) -> bool {
        let merges = |effect: &Effect| matches!(effect, Effect::MergePull { .. });
        self.effects.iter().any(merges)
    }

    /// Adds a part to the commit's subject, and the turn to its trailers.
    pub(crate) fn headline(&mut self, text: String, turn: Option<&crate::model::TurnId>) {
        self.headlines.push(text);
        self.turns.extend(turn.map(ToString::to_string));
    }

    /// Whether the commit's subject has a part.
    pub(crate) fn has_headline(&self) -> bool {
        !self.headlines.is_empty()
    }

    /// Looks again no later than this.
    pub(crate) fn wake(&mut self, at: Timestamp) {
        self.wake_at = Some(self.wake_at.map_or(at, |known| known.min(at)));
    }

    /// The number of a track's newest turn.
    pub(crate) fn seq(&self, track: &TrackName) -> u64 {
        self.state.seq(track)
    }

    /// A line about a turn of the track's present pass.
    pub(crate) fn line(
        &self,
        track: &TrackName,
        slot: &Slot,
        turn: &Turn,
        verdict: Verdict,
        reason: Reason,
        detail: impl Into<String>,
    ) -> Line {
        Line::turn(track, self.seq(track), slot, turn, verdict, reason, detail)
    }

    /// Adds a line to the report; its `until` also wakes.
    pub(crate) fn say(&mut self, line: Line) {
        if let Some(until) = line.until {
            self.wake(until.max(self.now()));
        }
        // A track that is gone through again leaves out the same steps.
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// Everything that was said so far, in order.
    pub(crate) fn all_lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    /// What was said about a track so far, in order.
    pub(crate) fn lines_of(&self, track: &TrackName) -> impl DoubleEndedIterator<Item = &Line> {
        let track = track.clone();
        self.lines
            .iter()
            .filter(move |line| line.track.as_ref() == Some(&track))
    }

    /// Adds what is wrong with the plan and was found only now.
    pub(crate) fn diagnose(&mut self, found: Vec<Diagnostic>) {
        for one in found {
            if !self.diagnostics.contains(&one) {
                self.diagnostics.push(one);
            }
        }
    }

    /// Calls a person by an issue, unless one is open.
    pub(crate) fn call(&mut self, key: NoticeKey, title: String, body: String) {
        if self.notice(&key).is_none() {
            self.effect(Effect::OpenNotice { key, title, body });
        }
    }

    /// Calls a person by another issue in the place of the one that is open.
    pub(crate) fn call_anew(&mut self, key: NoticeKey, title: String, body: String, comment: &str) {
        self.dismiss(&key, comment);
        self.effect(Effect::OpenNotice { key, title, body });
    }

    /// Closes the issues of a key that are open. There are several where some were opened before others could be seen.
    pub(crate) fn dismiss(&mut self, key: &NoticeKey, comment: &str) {
        let key = key.to_string();
        let snapshot = self.snapshot;
        for notice in snapshot.notices.iter().filter(|notice| notice.key == key) {
            self.effect(Effect::CloseNotice {
                number: notice.number,
                comment: comment.to_owned(),
            });
        }
    }

    /// Asks for a listing of sessions, unless the one at hand answers already.
    pub(crate) fn need_listing(&mut self, need: ListingNeed) {
        let answered = match (&self.snapshot.sessions, need) {
            (Listing::Failed(_), _) => true,
            (Listing::NotTaken, _) => false,
            (Listing::Taken(have), ListingNeed::Since(since)) => {
                have.since.is_none_or(|from| from <= since)
            }
            (Listing::Taken(have), ListingNeed::CompleteSince(since)) => have.covers(since),
            (Listing::Taken(have), ListingNeed::Everything) => have.covers(Timestamp::MIN),
        };
        if !answered {
            // A second listing takes the place of the first, so it must answer what that one did as well.
            let need = match &self.snapshot.sessions {
                Listing::Taken(have) => need.and(have.reach()),
                Listing::NotTaken | Listing::Failed(_) => need,
            };
            self.needs.listing = Some(self.needs.listing.map_or(need, |known| known.and(need)));
        }
    }

    /// Whether an issue of a key is open.
    pub(crate) fn is_called(&self, key: &NoticeKey) -> bool {
        self.notice(key).is_some()
    }

    fn notice(&self, key: &NoticeKey) -> Option<&'a Notice> {
        let key = key.to_string();
        self.snapshot
            .notices
            .iter()
            .find(|notice| notice.key == key)
    }

    pub(crate) fn turn(&self, track: &TrackName, slot: &Slot) -> Option<&Turn> {
        self.state.tracks.get(track)?.turns.get(slot)
    }

    pub(crate) fn turn_mut(&mut self, track: &TrackName, slot: &Slot) -> Option<&mut Turn> {
        self.state.tracks.get_mut(track)?.turns.get_mut(slot)
    }

    pub(crate) fn track_mut(&mut self, track: &TrackName) -> &mut TrackState {
        let now = self.now();
        let state = self.state.tracks.entry(track.clone()).or_default();
        state.updated_at = Some(now);
        state
    }

    /// Writes files of the exchange, and (without a text) removes them, in this decision's commit.
    pub(crate) fn write(&mut self, files: BTreeMap<String, Option<String>>) {
        // Most sessions are given nothing, and what was read of the exchange stands.
        if files.is_empty() {
            return;
        }
        if let Some(tree) = &mut self.exchange {
            *tree = tree.with(&files);
            self.picture.take();
            self.cast.take();
        }
        self.files.extend(files);
    }

    /// Whether this decision's commit brings files of the exchange.
    pub(crate) fn writes_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether there is something to commit.
    pub(crate) fn is_changed(&self) -> bool {
        let is_state_changed = match &self.snapshot.ledger {
            Ledger::Present { state, .. } => **state != self.state,
            Ledger::Missing { .. } => self.state != State::default(),
            Ledger::Corrupt { .. } => false,
        };
        is_state_changed || !self.files.is_empty()
    }

    pub(crate) fn finish(self) -> (Decision, Needs) {
        let is_changed = self.is_changed();
        let change = is_changed.then(|| Change {
            base: self.base,
            state: Box::new(self.state),
            files: self.files,
            headline: subject(&self.headlines),
            turns: self.turns,
        });
        let mut effects = self.effects;
        effects.sort_by_key(place);
        let decision = Decision {
            change,
            effects,
            report: Report {
                lines: self.lines,
                diagnostics: self.diagnostics,
            },
            wake_at: self.wake_at,
        };
        // Asking again at once for what has just failed, or is not there, would bring nothing new.
        let mut needs = self.needs;
        let Snapshot {
            unread,
            missing_sessions,
            missing_pulls,
            ..
        } = self.snapshot;
        needs
            .sessions
            .retain(|id| !unread.contains_key(id) && !missing_sessions.contains(id));
        needs
            .alone
            .retain(|id| !unread.contains_key(id) && !missing_sessions.contains(id));
        needs.pulls.retain(|number| !missing_pulls.contains(number));
        (decision, needs)
    }
}

/// When an effect has its turn. The right to merge and to create a session lasts two minutes, and a merge is short; what
/// only tells people can come later.
fn place(effect: &Effect) -> u8 {
    match effect {
        Effect::MergePull { .. } => 0,
        Effect::AddReaction { .. }
        | Effect::RemoveLabel { .. }
        | Effect::TellStatus { .. }
        | Effect::RemindPeople { .. }
        | Effect::OpenDashboard { .. }
        | Effect::EditDashboard { .. } => 2,
        _ => 1,
    }
}

fn subject(parts: &[String]) -> String {
    if parts.is_empty() {
        return "bookkeeping".to_owned();
    }
    let joined = parts.join(", ");
    if joined.chars().count() <= HEADLINE_LIMIT {
        return joined;
    }
    let cut: String = joined.chars().take(HEADLINE_LIMIT - 1).collect();
    format!("{cut}…")
}

impl Line {
    /// A line about the whole repository.
    pub(crate) fn repository(verdict: Verdict, reason: Reason, detail: impl Into<String>) -> Self {
        Self {
            track: None,
            seq: None,
            slot: None,
            persona: None,
            verdict,
            reason,
            turn: None,
            session_id: None,
            pr_number: None,
            detail: detail.into(),
            until: None,
            is_requested: false,
        }
    }

    /// A line about a track or schedule.
    pub(crate) fn track(
        track: &TrackName,
        verdict: Verdict,
        reason: Reason,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            track: Some(track.clone()),
            ..Self::repository(verdict, reason, detail)
        }
    }

    /// A line about a live turn.
    pub(crate) fn turn(
        track: &TrackName,
        seq: u64,
        slot: &Slot,
        turn: &Turn,
        verdict: Verdict,
        reason: Reason,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            seq: Some(seq),
            slot: Some(slot.clone()),
            persona: Some(turn.persona_id.clone()),
            turn: Some(turn.turn.clone()),
            session_id: turn.session_id.clone(),
            pr_number: turn.pr_number,
            ..Self::track(track, verdict, reason, detail)
        }
    }

    pub(crate) fn persona(mut self, persona: &PersonaId) -> Self {
        self.persona = Some(persona.clone());
        self
    }

    pub(crate) fn until(mut self, until: Timestamp) -> Self {
        self.until = Some(until);
        self
    }

    /// It answers what this very run was asked to do.
    pub(crate) fn requested(mut self) -> Self {
        self.is_requested = true;
        self
    }
}

/// Whether GitHub refused an effect a short while ago.
fn is_refused_lately(draft: &Draft<'_>, effect: &Effect) -> bool {
    if draft.state.refused_effects.is_empty() {
        return false;
    }
    let key = effect.refusal_key();
    let known = key.and_then(|key| draft.state.refused_effects.get(&key));
    known.is_some_and(|known| {
        let pause = doubled(
            EFFECT_PAUSE,
            known.times.saturating_sub(1),
            EFFECT_PAUSE_LIMIT,
        );
        draft.now().duration_since(known.at) < pause
    })
}
