//! Assesses the session of a layer's turn.

use super::assess::session_outcome;
use super::progress::{LiveTurn, Progress};
use crate::engine::input::session::SessionState;
use crate::engine::lookup::slot::SlotRole;
use crate::plan::{Automation, Policy};
use crate::state::Outcome;

/// The progress of a layer's turn by its session. A role that opens a pull request is assessed like a persona; the
/// output of the others is imported when their session has ended.
pub(crate) fn layer_outcome(live: &LiveTurn<'_>, slot_role: &SlotRole) -> Progress {
    if slot_role.opens_pull() {
        return session_outcome(live);
    }
    let in_log = || {
        live.activities
            .is_some_and(|log| log.iter().any(|one| one.has_changes))
    };
    if live.session.state == SessionState::Completed && (live.session.has_changes || in_log()) {
        return Progress::Import;
    }
    let silent = slot_role.may_be_silent();
    let policy = Policy {
        automation: Automation::None,
        max_nudges: if silent { 0 } else { live.policy.max_nudges },
        ..live.policy.clone()
    };
    let asked = live.session.state == SessionState::AwaitingUserFeedback;
    let own = LiveTurn {
        policy: if asked { live.policy } else { &policy },
        ..*live
    };
    match session_outcome(&own) {
        Progress::End {
            outcome: Outcome::Completed | Outcome::PrOpen,
            archive: false,
            ..
        } => Progress::Import,
        progress => progress,
    }
}
