//! Records what phileas does about pull requests.

use jiff::Timestamp;

use super::attempts::{self, NextAttempt};
use crate::engine::input::pull::Pull;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::model::SessionId;
use crate::state::{HistoryEntry, Outcome, State, TrackedPull};

/// Records that an entry's pull request is closed, so that its session is archived later.
pub(crate) fn schedule_archiving(state: &mut State, entry: &HistoryEntry, now: Timestamp) {
    let over = matches!(entry.outcome, Some(Outcome::Merged | Outcome::Rejected));
    if let (true, Some(number), Some(session)) = (over, entry.pr_number, &entry.session_id) {
        let fresh = || TrackedPull::new(session.clone());
        let known = state.pulls.entry(number).or_insert_with(fresh);
        if known.session_id != *session {
            *known = fresh();
        }
        known.closed_at = Some(now);
        known.archive_at = None;
        known.archive_tries = 0;
    }
}

/// Retargets a pull request to the default branch. GitHub may refuse that, and a person may undo it, so the attempts
/// are limited.
pub(crate) fn retarget_pull(builder: &mut DecisionBuilder<'_>, pull: &Pull, session: &SessionId) {
    let now = builder.now();
    let known = builder.state.pulls.get(&pull.number);
    match attempts::next_attempt(known.and_then(|known| known.retargeted.as_ref()), now) {
        NextAttempt::Over => return,
        NextAttempt::Later(at) => return builder.wake_by(at),
        NextAttempt::Now => {}
    }
    let fresh = || TrackedPull::new(session.clone());
    let known = builder.state.pulls.entry(pull.number);
    let known = known.or_insert_with(fresh);
    attempts::count_attempt(&mut known.retargeted, &pull.head_oid, now);
    builder.add_headline(format!("base of pull request #{}", pull.number), None);
    let base = builder.snapshot.repository.default_branch.clone();
    builder.add_effect(Effect::RetargetPull {
        pull: pull.number,
        base,
    });
}
