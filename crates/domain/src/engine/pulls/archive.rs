//! The session of a pull request that was merged or closed is archived, after a while: it could still push to the branch,
//! and sessions pile up in Jules.
//!
//! Archiving twice does no harm, so it is done until a look at the session shows that it was. When each is looked at next
//! stands in the ledger, so that no tick looks at what another has just looked at.

use jiff::Timestamp;

use crate::engine::input::pull::PullState;
use crate::engine::input::session::{Listing, SessionState};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    ARCHIVE_TRIES, ARCHIVED_AFTER, ARCHIVED_AT_ONCE, ARCHIVING_GIVEN_UP, PULL_POLL,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::PullNumber;

/// What is archived, for headlines and reports.
const WHAT: &str = "the session of pull request";

/// Archives what is due.
pub(crate) fn run(draft: &mut Draft<'_>) {
    let now = draft.now();
    let mut due: Vec<(Timestamp, PullNumber)> = Vec::new();
    for (number, known) in &draft.state.pulls {
        let Some(closed_at) = known.closed_at else {
            continue;
        };
        // One that was reopened waits until it is closed again.
        let pull = draft.snapshot.pulls.get(number);
        if pull.is_some_and(|pull| pull.state == PullState::Open) {
            continue;
        }
        let again = pull.and_then(|pull| pull.closed_at).map(later);
        let at = known.archive_at.unwrap_or_else(|| later(closed_at));
        due.push((again.map_or(at, |again| at.max(again)), *number));
    }
    due.sort_unstable();
    // What is not due yet wakes when it is; what there is no room for comes next time, since whatever was looked at and
    // stays has a later time by then.
    for (at, number) in due.into_iter().take(ARCHIVED_AT_ONCE) {
        if at > now {
            draft.wake(at);
            break;
        }
        one(draft, number);
    }
}

fn one(draft: &mut Draft<'_>, number: PullNumber) {
    let snapshot = draft.snapshot;
    let now = draft.now();
    let Some(known) = draft.state.pulls.get(&number) else {
        return;
    };
    let id = known.session_id.clone();
    // Whether it was reopened is told by nothing but itself.
    let pull = snapshot.pulls.get(&number);
    if pull.is_none() && !snapshot.missing_pulls.contains(&number) {
        draft.needs.pulls.insert(number);
        let soon = draft.after(PULL_POLL);
        draft.wake(soon);
        return;
    }
    let ended_at = pull.and_then(|pull| pull.closed_at).max(known.closed_at);
    // While everything was paused nobody could do it.
    let was_tried = known.archive_at.is_some();
    let given_up =
        |at: Timestamp| was_tried && now.duration_since(at) >= ARCHIVED_AFTER + ARCHIVING_GIVEN_UP;
    if ended_at.is_none_or(given_up) {
        return forget(draft, number, "is left as it is");
    }
    if snapshot.missing_sessions.contains(&id) {
        return forget(draft, number, "is gone");
    }
    let listed = snapshot.listing().and_then(|listing| listing.get(&id));
    let Some(session) = listed.or_else(|| snapshot.alone.get(&id)) else {
        // One that cannot be read does not stand in the way of the others.
        if let Some(outage) = snapshot.unread.get(&id) {
            let at = try_again(draft, number).max(outage.retry_at.unwrap_or(now));
            let most = draft.after(ARCHIVED_AFTER);
            set_next(draft, number, at.min(most));
            return;
        }
        let is_away = matches!(snapshot.sessions, Listing::Failed(_));
        if draft.needs.listing.is_none() && !is_away {
            draft.needs.alone.insert(id);
        }
        let soon = draft.after(PULL_POLL);
        draft.wake(soon);
        return;
    };
    if session.archived {
        return forget(draft, number, "is archived");
    }
    let quiet_at = later(session.updated_at.unwrap_or(session.created_at));
    let waits = matches!(
        session.state,
        SessionState::AwaitingPlanApproval
            | SessionState::AwaitingUserFeedback
            | SessionState::Paused
    );
    // Somebody has gone on with it, or means to: it is looked at again some time later, not by every tick.
    let is_busy = waits || quiet_at > now;
    if !is_busy && known.archive_tries >= ARCHIVE_TRIES {
        return forget(draft, number, "cannot be archived");
    }
    let next = match (is_busy, waits) {
        (true, true) => draft.after(ARCHIVED_AFTER),
        (true, false) => quiet_at,
        (false, _) => try_again(draft, number),
    };
    set_next(draft, number, next);
    if !is_busy {
        draft.effect(Effect::ArchiveSession { session: id });
        draft.headline(format!("{WHAT} #{number} is archived"), None);
        say(draft, number, "is being archived");
    }
}

/// When it is tried again, which is counted: twice as long each time.
fn try_again(draft: &mut Draft<'_>, number: PullNumber) -> Timestamp {
    let mut pause = PULL_POLL;
    if let Some(known) = draft.state.pulls.get_mut(&number) {
        for _ in 0..known.archive_tries.min(ARCHIVE_TRIES) {
            pause = (pause * 2).min(ARCHIVED_AFTER);
        }
        known.archive_tries = known.archive_tries.saturating_add(1);
    }
    draft.after(pause)
}

fn set_next(draft: &mut Draft<'_>, number: PullNumber, at: Timestamp) {
    if let Some(known) = draft.state.pulls.get_mut(&number) {
        known.archive_at = Some(at);
    }
    draft.wake(at);
}

fn forget(draft: &mut Draft<'_>, number: PullNumber, became: &str) {
    draft.state.pulls.remove(&number);
    draft.headline(format!("{WHAT} #{number} {became}"), None);
    say(draft, number, became);
}

fn say(draft: &mut Draft<'_>, number: PullNumber, became: &str) {
    let text = format!("{WHAT} #{number} {became}");
    let mut line = Line::repository(Verdict::Settled, Reason::SessionArchived, text);
    line.pr_number = Some(number);
    draft.say(line);
}

fn later(at: Timestamp) -> Timestamp {
    at.checked_add(ARCHIVED_AFTER).unwrap_or(Timestamp::MAX)
}
