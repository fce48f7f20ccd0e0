//! The open pull requests of phileas' sessions, and the records about them.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::input::commands::HOLD;
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::lookup::policy;
use crate::engine::lookup::pull_owner::pull_owners;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::{NOTICE_AGAIN, PULL_NOTICES, PULLS_FOLLOWED};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::{PersonaId, PullNumber, SessionId, Slot, TrackName, TurnId};
use crate::plan::Mode;
use crate::state::{HistoryEntry, TrackedPull};

/// An open pull request of a session of phileas.
#[derive(Debug, Clone)]
pub(crate) struct OpenPull<'a> {
    pub(crate) pull: &'a Pull,
    pub(crate) session: SessionId,
    track: TrackName,
    persona: PersonaId,
    seq: Option<u64>,
    slot: Option<Slot>,
    turn: Option<TurnId>,
}

/// Returns those that were read, newest first.
pub(crate) fn open_pulls<'a>(builder: &DecisionBuilder<'a>) -> Vec<OpenPull<'a>> {
    pull_owners(&builder.state)
        .into_iter()
        .rev()
        .filter_map(|(number, entry)| pull_of_entry(builder, number, entry))
        .take(PULLS_FOLLOWED)
        .collect()
}

/// Returns the one of this number. `None`: it belongs to no session, or is only observed.
pub(crate) fn open_pull<'a>(
    builder: &DecisionBuilder<'a>,
    number: PullNumber,
) -> Option<OpenPull<'a>> {
    let owners = pull_owners(&builder.state);
    pull_of_entry(builder, number, owners.get(&number)?)
}

/// A fork's branch is not a session's.
fn pull_of_entry<'a>(
    builder: &DecisionBuilder<'a>,
    number: PullNumber,
    entry: &HistoryEntry,
) -> Option<OpenPull<'a>> {
    let pull = builder.snapshot.pulls.get(&number)?;
    if is_observed(builder, entry) {
        return None;
    }
    let is_open = pull.state == PullState::Open && pull.same_repository;
    Some(OpenPull {
        pull: is_open.then_some(pull)?,
        session: entry.session_id.clone()?,
        track: entry.track_name(),
        persona: entry.persona_id.clone(),
        seq: entry.seq,
        slot: entry.slot.clone(),
        turn: entry.turn.clone(),
    })
}

/// Whether the plan's mode is "observe" for its track.
fn is_observed(builder: &DecisionBuilder<'_>, entry: &HistoryEntry) -> bool {
    let plan = &builder.snapshot.plan;
    let track = entry.track_name();
    policy::policy_of_persona(plan, &track, &entry.persona_id).mode == Mode::Observe
}

/// Reports the open ones that are only observed.
pub(crate) fn report_observed(builder: &mut DecisionBuilder<'_>) {
    let observed: Vec<(PullNumber, TrackName, PersonaId)> = pull_owners(&builder.state)
        .into_iter()
        .filter(|(number, entry)| {
            let pull = builder.snapshot.pulls.get(number);
            pull.is_some_and(|pull| pull.state == PullState::Open) && is_observed(builder, entry)
        })
        .map(|(number, entry)| (number, entry.track_name(), entry.persona_id.clone()))
        .take(PULLS_FOLLOWED)
        .collect();
    for (number, track, persona) in observed {
        let text = format!("`mode` is \"observe\" here; pull request #{number} is left to people");
        let mut line = Line::about_track(&track, Verdict::Waiting, Reason::ObserveMode, text);
        line.pr_number = Some(number);
        builder.report_line(line.with_persona(&persona));
    }
}

/// Drops records of pull requests that are finished.
pub(crate) fn forget_settled(builder: &mut DecisionBuilder<'_>) {
    if builder.state.pulls.is_empty() {
        return;
    }
    let kept: BTreeSet<PullNumber> = pull_owners(&builder.state).into_keys().collect();
    // The record of a closed one is dropped when its session has been archived.
    let stays = |number: &PullNumber, known: &TrackedPull| {
        kept.contains(number) || known.closed_at.is_some()
    };
    builder
        .state
        .pulls
        .retain(|number, known| stays(number, known));
}

impl OpenPull<'_> {
    pub(crate) fn number(&self) -> PullNumber {
        self.pull.number
    }

    pub(crate) fn persona(&self) -> &PersonaId {
        &self.persona
    }

    /// Whether it has the label `phileas:hold`.
    pub(crate) fn is_held(&self, builder: &DecisionBuilder<'_>) -> bool {
        let words = builder.snapshot.labelled.get(&self.number().0);
        words.is_some_and(|words| words.contains(HOLD))
    }

    /// The record about it.
    pub(crate) fn record<'s>(&self, builder: &'s DecisionBuilder<'_>) -> Option<&'s TrackedPull> {
        let known = builder.state.pulls.get(&self.number());
        known.filter(|known| known.session_id == self.session)
    }

    /// The record about it, to be changed.
    pub(crate) fn record_mut<'s>(
        &self,
        builder: &'s mut DecisionBuilder<'_>,
    ) -> &'s mut TrackedPull {
        let fresh = || TrackedPull::new(self.session.clone());
        let known = builder
            .state
            .pulls
            .entry(self.number())
            .or_insert_with(fresh);
        if known.session_id != self.session {
            *known = fresh();
        }
        known
    }

    pub(crate) fn report_line(
        &self,
        verdict: Verdict,
        reason: Reason,
        detail: impl Into<String>,
    ) -> Line {
        let mut line =
            Line::about_track(&self.track, verdict, reason, detail).with_persona(&self.persona);
        line.seq = self.seq;
        line.slot.clone_from(&self.slot);
        line.turn.clone_from(&self.turn);
        line.session_id = Some(self.session.clone());
        line.pr_number = Some(self.number());
        line
    }

    pub(crate) fn add_headline(&self, builder: &mut DecisionBuilder<'_>, what: &str) {
        let text = format!("{what} of pull request #{}", self.number());
        builder.add_headline(text, self.turn.as_ref());
    }

    /// Opens a notice, unless one is open. One that does not exist is opened once more after a while: the process died,
    /// or GitHub refused it. After that only the report says so.
    pub(crate) fn open_notice(
        &self,
        builder: &mut DecisionBuilder<'_>,
        reason: Reason,
        detail: &str,
    ) {
        let now = builder.now();
        let key = NoticeKey::Pull(self.number());
        let (called_at, calls) = self.record(builder).map_or((None, 0), |known| {
            (known.notice_opened_at, known.notices_opened)
        });
        let lately = |at: Timestamp| now.duration_since(at) < NOTICE_AGAIN;
        if calls < PULL_NOTICES && !called_at.is_some_and(lately) && !builder.has_notice(&key) {
            let record = self.record_mut(builder);
            record.notice_opened_at = Some(now);
            record.notices_opened += 1;
            let number = self.number();
            let (persona, track, session) = (&self.persona, &self.track, &self.session);
            builder.open_notice(
                key,
                format!("phileas: pull request #{number} waits for a person"),
                format!(
                    "Pull request #{number} of `{persona}` (track `{track}`): {detail}.\n\nThe session: \
                     https://jules.google.com/session/{session}\n\nphileas says no more to the session about it. Fix \
                     it, or close the pull request; this issue is closed then."
                ),
            );
            self.add_headline(builder, "called a person for the fixing");
        }
        builder.report_line(self.report_line(Verdict::Held, reason, detail));
    }
}
