//! What the session of a layer's slot has come to.

use super::super::SessionState;
use super::super::step::{Live, Progress, by_session};
use super::seat::Seat;
use crate::plan::{Automation, Policy};
use crate::state::Outcome;

/// What a live turn has come to by its session's word. An implementer's is a persona's: its work is a pull request. What
/// the others wrote is brought in when their session has ended.
pub(in crate::engine) fn outcome(live: &Live<'_>, seat: &Seat) -> Progress {
    if seat.opens_pull() {
        return by_session(live);
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
    match by_session(&own) {
        Progress::End {
            outcome: Outcome::Completed | Outcome::PrOpen,
            archive: false,
            ..
        } => Progress::BringIn,
        progress => progress,
    }
}
