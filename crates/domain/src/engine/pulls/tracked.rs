//! The open pull requests of sessions of ours: what is looked after beside following them to their end.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::request_kind::HOLD;
use crate::engine::lookup::policy;
use crate::engine::lookup::pull_owner::owners;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::{CALL_AGAIN, PULL_CALLS, PULLS_FOLLOWED};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, PullNumber, SessionId, Slot, TrackName, TurnId};
use crate::plan::Mode;
use crate::state::{HistoryEntry, WatchedPull};

/// An open pull request of a session of ours.
#[derive(Debug, Clone)]
pub(crate) struct Watched<'a> {
    pub(crate) pull: &'a Pull,
    pub(crate) session: SessionId,
    track: TrackName,
    persona: PersonaId,
    seq: Option<u64>,
    slot: Option<Slot>,
    turn: Option<TurnId>,
}

/// The open ones that were read, the newest first.
pub(crate) fn open<'a>(draft: &Draft<'a>) -> Vec<Watched<'a>> {
    owners(&draft.state)
        .into_iter()
        .rev()
        .filter_map(|(number, entry)| watch(draft, number, entry))
        .take(PULLS_FOLLOWED)
        .collect()
}

/// The open one of this number. `None`: it is nobody's of ours, or only looked at.
pub(crate) fn of<'a>(draft: &Draft<'a>, number: PullNumber) -> Option<Watched<'a>> {
    let owners = owners(&draft.state);
    watch(draft, number, owners.get(&number)?)
}

/// A branch of a fork is not a session's.
fn watch<'a>(draft: &Draft<'a>, number: PullNumber, entry: &HistoryEntry) -> Option<Watched<'a>> {
    let pull = draft.snapshot.pulls.get(&number)?;
    if is_observed(draft, entry) {
        return None;
    }
    let is_open = pull.state == PullState::Open && pull.same_repository;
    Some(Watched {
        pull: is_open.then_some(pull)?,
        session: entry.session_id.clone()?,
        track: entry.track_name(),
        persona: entry.persona_id.clone(),
        seq: entry.seq,
        slot: entry.slot.clone(),
        turn: entry.turn.clone(),
    })
}

/// Whether the plan lets phileas only look at what its track has made.
fn is_observed(draft: &Draft<'_>, entry: &HistoryEntry) -> bool {
    let plan = &draft.snapshot.plan;
    let track = entry.track_name();
    policy::policy_of_persona(plan, &track, &entry.persona_id).mode == Mode::Observe
}

/// The open ones that are only looked at, as the report tells.
pub(crate) fn say_observed(draft: &mut Draft<'_>) {
    let observed: Vec<(PullNumber, TrackName, PersonaId)> = owners(&draft.state)
        .into_iter()
        .filter(|(number, entry)| {
            let pull = draft.snapshot.pulls.get(number);
            pull.is_some_and(|pull| pull.state == PullState::Open) && is_observed(draft, entry)
        })
        .map(|(number, entry)| (number, entry.track_name(), entry.persona_id.clone()))
        .take(PULLS_FOLLOWED)
        .collect();
    for (number, track, persona) in observed {
        let text = format!("`mode` is \"observe\" here; pull request #{number} is left to people");
        let mut line = Line::track(&track, Verdict::Waiting, Reason::ObserveMode, text);
        line.pr_number = Some(number);
        draft.say(line.persona(&persona));
    }
}

/// Drops what was done about pull requests of which nothing more can come.
pub(crate) fn forget(draft: &mut Draft<'_>) {
    if draft.state.pulls.is_empty() {
        return;
    }
    let kept: BTreeSet<PullNumber> = owners(&draft.state).into_keys().collect();
    // What is closed is dropped when its session has been archived.
    let stays = |number: &PullNumber, known: &WatchedPull| {
        kept.contains(number) || known.closed_at.is_some()
    };
    draft
        .state
        .pulls
        .retain(|number, known| stays(number, known));
}

impl Watched<'_> {
    pub(crate) fn number(&self) -> PullNumber {
        self.pull.number
    }

    pub(crate) fn persona(&self) -> &PersonaId {
        &self.persona
    }

    /// Whether a person keeps phileas from it by the label `phileas:hold`.
    pub(crate) fn is_held(&self, draft: &Draft<'_>) -> bool {
        let words = draft.snapshot.labelled.get(&self.number().0);
        words.is_some_and(|words| words.contains(HOLD))
    }

    /// What was done about it so far.
    pub(crate) fn known<'s>(&self, draft: &'s Draft<'_>) -> Option<&'s WatchedPull> {
        let known = draft.state.pulls.get(&self.number());
        known.filter(|known| known.session_id == self.session)
    }

    /// The same, to be changed.
    pub(crate) fn record<'s>(&self, draft: &'s mut Draft<'_>) -> &'s mut WatchedPull {
        let fresh = || WatchedPull::new(self.session.clone());
        let known = draft.state.pulls.entry(self.number()).or_insert_with(fresh);
        if known.session_id != self.session {
            *known = fresh();
        }
        known
    }

    pub(crate) fn line(&self, verdict: Verdict, reason: Reason, detail: impl Into<String>) -> Line {
        let mut line = Line::track(&self.track, verdict, reason, detail).persona(&self.persona);
        line.seq = self.seq;
        line.slot.clone_from(&self.slot);
        line.turn.clone_from(&self.turn);
        line.session_id = Some(self.session.clone());
        line.pr_number = Some(self.number());
        line
    }

    pub(crate) fn headline(&self, draft: &mut Draft<'_>, what: &str) {
        let text = format!("{what} of pull request #{}", self.number());
        draft.headline(text, self.turn.as_ref());
    }

    /// Calls a person by an issue, unless one is open. One that is not there is opened once more after a while: its
    /// sender died, or GitHub refused it. After that the report alone says so.
    pub(crate) fn call(&self, draft: &mut Draft<'_>, reason: Reason, detail: &str) {
        let now = draft.now();
        let key = NoticeKey::Pull(self.number());
        let (called_at, calls) = self
            .known(draft)
            .map_or((None, 0), |known| (known.called_at, known.calls));
        let lately = |at: Timestamp| now.duration_since(at) < CALL_AGAIN;
        if calls < PULL_CALLS && !called_at.is_some_and(lately) && !draft.is_called(&key) {
            let record = self.record(draft);
            record.called_at = Some(now);
            record.calls += 1;
            let number = self.number();
            let (persona, track, session) = (&self.persona, &self.track, &self.session);
            draft.call(
                key,
                format!("phileas: pull request #{number} waits for a person"),
                format!(
                    "Pull request #{number} of `{persona}` (track `{track}`): {detail}.\n\nThe session: \
                     https://jules.google.com/session/{session}\n\nphileas says no more to the session about it. Mend \
                     it, or close the pull request; this issue is closed then."
                ),
            );
            self.headline(draft, "called a person for the mending");
        }
        draft.say(self.line(Verdict::Held, reason, detail));
    }
}
