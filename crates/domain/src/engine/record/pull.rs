//! Pull requests in the state.

use jiff::Timestamp;

use super::attempts::{self, Once};
use crate::engine::input::pull::Pull;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::model::SessionId;
use crate::state::{HistoryEntry, Outcome, State, WatchedPull};

/// Notes that an entry's pull request is over, so that its session is archived when its time has come.
pub(crate) fn note(state: &mut State, entry: &HistoryEntry, now: Timestamp) {
    let over = matches!(entry.outcome, Some(Outcome::Merged | Outcome::Rejected));
    if let (true, Some(number), Some(session)) = (over, entry.pr_number, &entry.session_id) {
        let fresh = || WatchedPull::new(session.clone());
        let known = state.pulls.entry(number).or_insert_with(fresh);
        if known.session_id != *session {
            *known = fresh();
        }
        known.closed_at = Some(now);
        known.archive_at = None;
        known.archive_tries = 0;
    }
}

/// Points it at the default branch. GitHub may refuse that, and a person may point it back: it is not done for ever.
pub(crate) fn retarget(draft: &mut Draft<'_>, pull: &Pull, session: &SessionId) {
    let now = draft.now();
    let known = draft.state.pulls.get(&pull.number);
    match attempts::once(known.and_then(|known| known.retargeted.as_ref()), now) {
        Once::Over => return,
        Once::Later(at) => return draft.wake(at),
        Once::Now => {}
    }
    let fresh = || WatchedPull::new(session.clone());
    let known = draft.state.pulls.entry(pull.number);
    let known = known.or_insert_with(fresh);
    attempts::count_once(&mut known.retargeted, &pull.head_oid, now);
    draft.headline(format!("base of pull request #{}", pull.number), None);
    let base = draft.snapshot.repository.default_branch.clone();
    draft.effect(Effect::RetargetPull {
        pull: pull.number,
        base,
    });
}
