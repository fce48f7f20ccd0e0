//! Collects a decision: the state to commit, effects, report lines and read requests. Knows no rule.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};

use super::decision::{Change, Decision};
use super::effect::{Effect, NoticeKey};
use super::exchange_view::{ExchangeView, LayerMembers};
use super::limits::{EFFECT_PAUSE, EFFECT_PAUSE_LIMIT, HEADLINE_LIMIT};
use super::read_requests::ReadRequests;
use super::report::{Line, Reason, Report, Verdict};
use crate::Diagnostic;
use crate::engine::input::session::{Listing, ListingNeed};
use crate::engine::input::snapshot::{Ledger, Notice, Snapshot};
use crate::engine::text::time::doubled_pause;
use crate::model::{Oid, PersonaId, PullNumber, Slot, TrackName, Tree};
use crate::prompt::{RenderAnswer, RenderError, RenderRequest, SourceFiles};
use crate::state::{HistoryEntry, State, TrackState, Turn};
use crate::work::WorkFile;

/// A decision under construction: a working copy of the state, and everything collected so far.
pub(crate) struct DecisionBuilder<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) state: State,
    pub(crate) reads: ReadRequests,
    /// Pull requests that wait for a review; computed once, because each candidate asks.
    pub(crate) backlog: OnceCell<Vec<PullNumber>>,
    /// The number of ignored pull requests of each persona; counted once, because each candidate asks.
    pub(crate) ignored_pulls: OnceCell<BTreeMap<PersonaId, u32>>,
    /// The records of open and remembered work; parsed once, because each candidate asks.
    pub(crate) hot_records: OnceCell<Option<Rc<WorkFile>>>,
    /// Slots that could not start when their turn had come, with the reason.
    pub(crate) unable_slots: BTreeMap<(TrackName, Slot, PersonaId), (Reason, String)>,
    /// The exchange after this decision, where it was read.
    pub(crate) exchange: Option<Tree>,
    /// The parsed exchange and the members of layers; parsed once, because each layer step asks.
    pub(crate) exchange_view: OnceCell<Rc<ExchangeView>>,
    pub(crate) layer_members: OnceCell<Rc<LayerMembers>>,
    /// The files that prompts of personas are made from; collected once.
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

impl<'a> DecisionBuilder<'a> {
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
            reads: ReadRequests::default(),
            backlog: OnceCell::new(),
            ignored_pulls: OnceCell::new(),
            hot_records: OnceCell::new(),
            unable_slots: BTreeMap::new(),
            exchange,
            exchange_view: OnceCell::new(),
            layer_members: OnceCell::new(),
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

    /// The files of the default branch that prompts of personas are made from.
    pub(crate) fn prompt_sources(&self) -> SourceFiles {
        let make = || SourceFiles::of_default_branch(&self.snapshot.tree);
        self.sources.get_or_init(make).clone()
    }

    /// Returns a rendered prompt, or requests its rendering.
    pub(crate) fn render_prompt(&mut self, request: RenderRequest) -> RenderAnswer {
        let key = request.key();
        if let Some(answer) = self.snapshot.prompts.get(&key) {
            return answer.clone();
        }
        self.reads.prompts.insert(key, request);
        RenderAnswer::Failed(RenderError::Unrendered)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.snapshot.now
    }

    /// `now` plus a span.
    pub(crate) fn now_plus(&self, span: SignedDuration) -> Timestamp {
        self.now().checked_add(span).unwrap_or(Timestamp::MAX)
    }

    pub(crate) fn add_effect(&mut self, effect: Effect) {
        if was_refused_recently(self, &effect) {
            return;
        }
        // Two rules may ask for the same effect.
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    /// Whether this decision creates a session after its commit.
    pub(crate) fn creates_session(&self) -> bool {
        let creates = |effect: &Effect| matches!(effect, Effect::CreateSession(_));
        self.effects.iter().any(creates)
    }

    /// Whether this decision merges a pull request after its commit.
    pub(crate) fn merges_pull(&self) -> bool {
        let merges = |effect: &Effect| matches!(effect, Effect::MergePull { .. });
        self.effects.iter().any(merges)
    }

    /// Whether this decision starts a session after its commit.
    pub(crate) fn starts_session(&self) -> bool {
        let starts = |effect: &Effect| matches!(effect, Effect::CreateSession(_));
        self.effects.iter().any(starts)
    }

    /// Adds a part to the commit's subject, and the turn to its trailers.
    pub(crate) fn add_headline(&mut self, text: String, turn: Option<&crate::model::TurnId>) {
        self.headlines.push(text);
        self.turns.extend(turn.map(ToString::to_string));
    }

    /// Whether the commit's subject has a part.
    pub(crate) fn has_headline(&self) -> bool {
        !self.headlines.is_empty()
    }

    /// Sets the next check to this time, unless an earlier one is set.
    pub(crate) fn wake_by(&mut self, at: Timestamp) {
        self.wake_at = Some(self.wake_at.map_or(at, |known| known.min(at)));
    }

    /// The number of a track's newest turn.
    pub(crate) fn newest_seq(&self, track: &TrackName) -> u64 {
        self.state.newest_seq(track)
    }

    /// A line about a turn of the track's present pass.
    pub(crate) fn turn_line(
        &self,
        track: &TrackName,
        slot: &Slot,
        turn: &Turn,
        verdict: Verdict,
        reason: Reason,
        detail: impl Into<String>,
    ) -> Line {
        Line::about_turn(
            track,
            self.newest_seq(track),
            slot,
            turn,
            verdict,
            reason,
            detail,
        )
    }

    /// Adds a line to the report; its `until` also sets the next check.
    pub(crate) fn report_line(&mut self, line: Line) {
        if let Some(until) = line.until {
            self.wake_by(until.max(self.now()));
        }
        // A track that is walked twice skips the same steps.
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    /// All report lines so far, in order.
    pub(crate) fn all_lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    /// The report lines about a track so far, in order.
    pub(crate) fn lines_of_track(
        &self,
        track: &TrackName,
    ) -> impl DoubleEndedIterator<Item = &Line> {
        let track = track.clone();
        self.lines
            .iter()
            .filter(move |line| line.track.as_ref() == Some(&track))
    }

    /// Adds diagnostics of the plan that only this decision could find.
    pub(crate) fn add_diagnostics(&mut self, found: Vec<Diagnostic>) {
        for one in found {
            if !self.diagnostics.contains(&one) {
                self.diagnostics.push(one);
            }
        }
    }

    /// Opens a notice, unless one with this key is open.
    pub(crate) fn open_notice(&mut self, key: NoticeKey, title: String, body: String) {
        if self.find_notice(&key).is_none() {
            self.add_effect(Effect::OpenNotice { key, title, body });
        }
    }

    /// Replaces the open notice of a key by another one.
    pub(crate) fn replace_notice(
        &mut self,
        key: NoticeKey,
        title: String,
        body: String,
        comment: &str,
    ) {
        self.close_notices(&key, comment);
        self.add_effect(Effect::OpenNotice { key, title, body });
    }

    /// Closes all open notices of a key. Several exist where a later one was opened before GitHub showed the first.
    pub(crate) fn close_notices(&mut self, key: &NoticeKey, comment: &str) {
        let key = key.to_string();
        let snapshot = self.snapshot;
        for notice in snapshot.notices.iter().filter(|notice| notice.key == key) {
            self.add_effect(Effect::CloseNotice {
                number: notice.number,
                comment: comment.to_owned(),
            });
        }
    }

    /// Requests the files of a pull request, unless this tick has failed to read them.
    pub(crate) fn request_pull_files(&mut self, number: PullNumber) {
        if !self.snapshot.unread_pull_files.contains(&number) {
            self.reads.pull_files.insert(number);
        }
    }

    /// Requests a listing of sessions, unless the current one answers already.
    pub(crate) fn request_listing(&mut self, need: ListingNeed) {
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
            // A second listing replaces the first, so it must answer the first question as well.
            let need = match &self.snapshot.sessions {
                Listing::Taken(have) => need.combine(have.covered_range()),
                Listing::NotTaken | Listing::Failed(_) => need,
            };
            self.reads.listing = Some(self.reads.listing.map_or(need, |known| known.combine(need)));
        }
    }

    /// Whether a notice of a key is open.
    pub(crate) fn has_notice(&self, key: &NoticeKey) -> bool {
        self.find_notice(key).is_some()
    }

    fn find_notice(&self, key: &NoticeKey) -> Option<&'a Notice> {
        let key = key.to_string();
        self.snapshot
            .notices
            .iter()
            .find(|notice| notice.key == key)
    }

    pub(crate) fn find_turn(&self, track: &TrackName, slot: &Slot) -> Option<&Turn> {
        self.state.tracks.get(track)?.turns.get(slot)
    }

    pub(crate) fn find_turn_mut(&mut self, track: &TrackName, slot: &Slot) -> Option<&mut Turn> {
        self.state.tracks.get_mut(track)?.turns.get_mut(slot)
    }

    pub(crate) fn track_mut(&mut self, track: &TrackName) -> &mut TrackState {
        let now = self.now();
        let state = self.state.tracks.entry(track.clone()).or_default();
        state.updated_at = Some(now);
        state
    }

    /// Writes exchange files in this decision's commit; `None` removes a file.
    pub(crate) fn write_files(&mut self, files: BTreeMap<String, Option<String>>) {
        // Most sessions write nothing, and the parsed exchange stays valid.
        if files.is_empty() {
            return;
        }
        if let Some(tree) = &mut self.exchange {
            *tree = tree.with(&files);
            self.exchange_view.take();
            self.layer_members.take();
        }
        self.files.extend(files);
    }

    /// Whether this decision's commit changes exchange files.
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

    pub(crate) fn into_decision(self) -> (Decision, ReadRequests) {
        let is_changed = self.is_changed();
        let change = is_changed.then(|| Change {
            base: self.base,
            state: Box::new(self.state),
            files: self.files,
            headline: commit_subject(&self.headlines),
            turns: self.turns,
        });
        let mut effects = self.effects;
        effects.sort_by_key(effect_order);
        let decision = Decision {
            change,
            effects,
            report: Report {
                lines: self.lines,
                diagnostics: self.diagnostics,
            },
            wake_at: self.wake_at,
        };
        // Do not request again what has just failed or does not exist.
        let mut needs = self.reads;
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
            .single_sessions
            .retain(|id| !unread.contains_key(id) && !missing_sessions.contains(id));
        needs.pulls.retain(|number| !missing_pulls.contains(number));
        (decision, needs)
    }
}

/// The order of effects. The right to merge and to create a session expires after two minutes, so these come early;
/// texts for people can wait.
fn effect_order(effect: &Effect) -> u8 {
    match effect {
        Effect::MergePull { .. } => 0,
        Effect::AddReaction { .. }
        | Effect::RemoveLabel { .. }
        | Effect::WriteStatus { .. }
        | Effect::RemindPeople { .. }
        | Effect::AddLabel { .. }
        | Effect::CommentOnPull { .. }
        | Effect::OpenDashboard { .. }
        | Effect::EditDashboard { .. } => 2,
        _ => 1,
    }
}

fn commit_subject(parts: &[String]) -> String {
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
    #[must_use]
    pub fn about_repository(verdict: Verdict, reason: Reason, detail: impl Into<String>) -> Self {
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
    pub(crate) fn about_track(
        track: &TrackName,
        verdict: Verdict,
        reason: Reason,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            track: Some(track.clone()),
            ..Self::about_repository(verdict, reason, detail)
        }
    }

    /// A line about the turn of an entry in the history.
    pub(crate) fn about_entry(entry: &HistoryEntry, reason: Reason, detail: String) -> Self {
        let line = Self::about_track(&entry.track_name(), Verdict::Settled, reason, detail);
        Self {
            seq: entry.seq,
            slot: entry.slot.clone(),
            turn: entry.turn.clone(),
            session_id: entry.session_id.clone(),
            pr_number: entry.pr_number,
            ..line.with_persona(&entry.persona_id)
        }
    }

    /// A line about a live turn.
    pub(crate) fn about_turn(
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
            ..Self::about_track(track, verdict, reason, detail)
        }
    }

    pub(crate) fn with_persona(mut self, persona: &PersonaId) -> Self {
        self.persona = Some(persona.clone());
        self
    }

    pub(crate) fn with_until(mut self, until: Timestamp) -> Self {
        self.until = Some(until);
        self
    }

    /// Marks the line as an answer to this run's own request.
    pub(crate) fn mark_requested(mut self) -> Self {
        self.is_requested = true;
        self
    }
}

/// Whether GitHub refused this effect recently.
fn was_refused_recently(builder: &DecisionBuilder<'_>, effect: &Effect) -> bool {
    if builder.state.refused_effects.is_empty() {
        return false;
    }
    let key = effect.refusal_key();
    let known = key.and_then(|key| builder.state.refused_effects.get(&key));
    known.is_some_and(|known| {
        let pause = doubled_pause(
            EFFECT_PAUSE,
            known.times.saturating_sub(1),
            EFFECT_PAUSE_LIMIT,
        );
        builder.now().duration_since(known.at) < pause
    })
}
