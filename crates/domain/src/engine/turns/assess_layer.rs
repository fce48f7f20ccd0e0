//! What the session of a layer's slot has come to.

use super::assess::session_outcome;
use super::progress::{Live, Progress};
use crate::engine::input::session::SessionState;
use crate::engine::lookup::slot::Seat;
use crate::plan::{Automation, Policy};
use crate::state::Outcome;

/// What a live turn has come to by its session's word. An implementer's is a persona's: its work is a pull request. What
/// the others wrote is brought in when their session has ended.
pub(crate) fn outcome(live: &Live<'_>, seat: &Seat) -> Progress {
    if seat.opens_pull() {
        return session_outcome(live);
    }
    let in_log = || {
        live.activities
            .is_some_and(|log| log.iter().any(|one| one.has_changes))
    };
    if live.session.state == SessionState::Completed && (live.session.has_changes || in_log()) {
        return Progress::BringIn;
    }
    let silent = seat.may_be_silent();
    let policy = Policy {
        automation: Automation::None,
        max_nudges: if silent { 0 } else { live.policy.max_nudges },
        ..live.policy.clone()
    };
    let asked = live.session.state == SessionState::AwaitingUserFeedback;
    let own = Live {
        policy: if asked { live.policy } else { &policy },
        ..*live
    };
    match session_outcome(&own) {
        Progress::End {
            outcome: Outcome::Completed | Outcome::PrOpen,
            archive: false,
            ..
        } => Progress::BringIn,
        progress => progress,
    }
}
