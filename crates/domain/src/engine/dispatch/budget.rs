//! How much may be spent: by the repository, by its Jules key, and by the people who review.

use jiff::Timestamp;

use super::candidate::{Candidate, Cause, wait};
use crate::engine::input::pull::Checks;
use crate::engine::input::session::{Listing, ListingNeed, Sessions};
use crate::engine::lookup::usage::{self, active_of_key, announced, live, recent, unseen};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{
    BUDGET_DAY, DAY, NUMBERS_NAMED, POLL, PULL_POLL, ROLLBACK_SEEN,
};
use crate::engine::output::report::{Line, Reason};
use crate::engine::record::outage;
use crate::model::PullNumber;
use crate::plan::{MainRed, Mode, Priority};
use crate::state::Turn;

/// Whether the default branch's checks stand in the way.
pub(crate) fn red(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let plan = &draft.snapshot.plan;
    let closed = plan.gate.main_red == MainRed::CriticalOnly
        && draft.snapshot.repository.default_checks == Checks::Red
        && candidate.policy.priority < Priority::Critical
        && !candidate.is_request();
    closed.then(|| {
        let text = "the default branch's checks are red; only critical steps start";
        wait(candidate, Reason::MainRed, text).until(draft.after(PULL_POLL))
    })
}

/// Whether the repository has spent enough.
pub(crate) fn of_repository(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let budget = &draft.snapshot.plan.budget;
    let retry = matches!(candidate.cause, Cause::Retry);
    let backlog = draft.backlog.get_or_init(|| usage::unreviewed(draft));
    if backlog.len() >= budget.max_open_pulls as usize && !candidate.is_request() && !retry {
        let text = format!(
            "{} pull requests wait for a review ({}); the limit is {}",
            backlog.len(),
            numbers(backlog),
            budget.max_open_pulls
        );
        return Some(wait(candidate, Reason::ReviewBacklog, text).until(draft.after(PULL_POLL)));
    }
    let live = live(draft);
    if live >= budget.max_active as usize {
        let are = if live == 1 {
            "1 session is".to_owned()
        } else {
            format!("{live} sessions are")
        };
        let text = format!("{are} live; the limit is {}", budget.max_active);
        return Some(wait(candidate, Reason::BudgetActive, text).until(draft.after(POLL)));
    }
    let recent = recent(draft);
    let spent = recent.len() + announced(draft);
    // The clock would else take every place first, and a person who asks would wait for most of a day.
    let kept = if candidate.is_request() {
        budget.reserve_for_people
    } else {
        0
    };
    let limit = budget.daily_sessions.saturating_add(kept);
    if spent >= limit as usize {
        let text = if kept > 0 {
            format!(
                "{spent} sessions were started within a day; the limit is {} and {kept} more that people ask for",
                budget.daily_sessions
            )
        } else {
            format!("{spent} sessions were started within a day; the limit is {limit}")
        };
        let line = wait(candidate, Reason::BudgetDaily, text);
        return Some(line.until(freed_at(&recent, limit as usize, draft)));
    }
    None
}

/// Whether schedules have had their part of the day while a track has work.
pub(crate) fn of_schedules(
    draft: &Draft<'_>,
    candidate: &Candidate,
    tracks_work: bool,
) -> Option<Line> {
    candidate.track.schedule_persona()?;
    let budget = &draft.snapshot.plan.budget;
    let kept = budget.reserved_for_tracks();
    if !tracks_work || kept == 0 {
        return None;
    }
    let limit = budget.daily_sessions.saturating_sub(kept) as usize;
    let recent = recent_of_schedules(draft);
    let spent = recent.len() + announced_of_schedules(draft);
    if spent < limit {
        return None;
    }
    let text = format!(
        "schedules have started {spent} of the {} sessions of a day; {kept} are left to tracks (`budget.track_share`)",
        budget.daily_sessions
    );
    let leaving = recent.len().checked_sub(limit);
    let until = leaving
        .and_then(|place| recent.get(place))
        .and_then(|at| at.checked_add(BUDGET_DAY).ok());
    let until = until.unwrap_or_else(|| draft.after(PULL_POLL));
    Some(wait(candidate, Reason::BudgetShare, text).until(until))
}

/// Whether a track of the plan wants a session now: one of these candidates is its own, or one of its turns is at work and
/// waits for no person.
pub(crate) fn tracks_work(draft: &Draft<'_>, candidates: &[Candidate]) -> bool {
    let plan = &draft.snapshot.plan;
    let is_due = |candidate: &Candidate| {
        candidate.policy.mode == Mode::Act && plan.tracks.contains_key(&candidate.track)
    };
    let mut tracks = draft.state.tracks.iter();
    candidates.iter().any(is_due)
        || tracks.any(|(name, track)| {
            let mut turns = track.turns.values();
            plan.tracks.contains_key(name) && turns.any(|turn| is_at_work(draft, turn))
        })
}

fn is_at_work(draft: &Draft<'_>, turn: &Turn) -> bool {
    let listing = draft.snapshot.listing();
    let session = turn.session_id.as_ref();
    let listed = session.and_then(|id| listing.and_then(|listing| listing.get(id)));
    turn.warned_at.is_none() && listed.is_none_or(|session| session.state.is_live())
}

/// Sessions of schedules in the rolling day, oldest first.
fn recent_of_schedules(draft: &Draft<'_>) -> Vec<Timestamp> {
    let now = draft.now();
    // Keys are given in the order in which sessions become known, which is nearly that of their creation.
    let nearly = BUDGET_DAY + DAY;
    let entries = draft.state.history.values().rev();
    let mut recent: Vec<Timestamp> = entries
        .map_while(|entry| {
            let at = entry.created_at;
            at.is_none_or(|at| now.duration_since(at) < nearly)
                .then_some(entry)
        })
        .filter(|entry| {
            let track = entry.track.as_ref();
            track.is_some_and(|track| track.schedule_persona().is_some())
        })
        .filter_map(|entry| entry.created_at)
        .filter(|at| now.duration_since(*at) < BUDGET_DAY)
        .collect();
    recent.sort_unstable();
    recent
}

fn announced_of_schedules(draft: &Draft<'_>) -> usize {
    let tracks = draft.state.tracks.iter();
    let schedules = tracks.filter(|(name, _)| name.schedule_persona().is_some());
    let turns = schedules.flat_map(|(_, track)| track.turns.values());
    turns
        .filter(|turn| turn.intent.is_some() && turn.session_id.is_none())
        .count()
}

/// The first numbers, as people write them.
fn numbers(pulls: &[PullNumber]) -> String {
    let named: Vec<_> = pulls
        .iter()
        .take(NUMBERS_NAMED)
        .map(|number| format!("#{number}"))
        .collect();
    let more = if pulls.len() > NUMBERS_NAMED {
        ", …"
    } else {
        ""
    };
    named.join(", ") + more
}

/// When the day has room for one more.
fn freed_at(recent: &[Timestamp], limit: usize, draft: &Draft<'_>) -> Timestamp {
    let place = recent.len().checked_sub(limit.max(1));
    let leaving = place
        .and_then(|place| recent.get(place))
        .and_then(|at| at.checked_add(BUDGET_DAY).ok());
    leaving.unwrap_or_else(|| draft.after(POLL))
}

/// Whether the key has spent enough. Asks Jules only when nothing else stands in the way.
pub(crate) fn of_key(draft: &mut Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let now = draft.now();
    if let Some(until) = draft.state.budget.paused_until.filter(|until| *until > now) {
        let why = draft
            .state
            .budget
            .reason
            .as_deref()
            .unwrap_or("the key's quota is spent");
        return Some(wait(candidate, Reason::JulesQuota, why).until(until));
    }
    let listing = match &draft.snapshot.sessions {
        Listing::NotTaken => {
            draft.need_listing(ListingNeed::Since(reach(draft)));
            let text = "Jules is asked how much of the key's quota is left";
            return Some(wait(candidate, Reason::JulesQuota, text).until(draft.after(POLL)));
        }
        Listing::Failed(outage) => {
            let (reason, text) = if outage.credential {
                (
                    Reason::JulesCredential,
                    format!("Jules refuses the key: {}", outage.detail),
                )
            } else {
                (
                    Reason::JulesUnavailable,
                    format!("Jules does not answer: {}", outage.detail),
                )
            };
            if outage.credential {
                outage::unavailable(draft);
            }
            return Some(
                wait(candidate, reason, text)
                    .until(outage.retry_at.unwrap_or_else(|| draft.after(POLL))),
            );
        }
        Listing::Taken(listing) => listing,
    };
    if let Some(line) = older_program(draft, candidate, listing) {
        return Some(line);
    }
    let limits = draft.snapshot.plan.budget.key_limits();
    let unseen = unseen(draft, listing);
    let active = active_of_key(draft, listing);
    if active >= limits.active {
        let text = format!(
            "the key has {active} live sessions; its limit is {}",
            limits.active
        );
        return Some(wait(candidate, Reason::JulesQuota, text).until(draft.after(POLL)));
    }
    let reserve = if candidate.is_request() {
        0
    } else {
        draft.snapshot.plan.budget.reserve_for_people
    };
    let daily = limits.daily.saturating_sub(reserve);
    let created = listing.key.created_last_day + unseen;
    if created >= daily {
        let text = format!(
            "the key has started {created} sessions within a day; {daily} of its {} may start by themselves",
            limits.daily
        );
        return Some(wait(candidate, Reason::JulesQuota, text).until(draft.after(PULL_POLL)));
    }
    None
}

/// From when on sessions are listed before one is started: a day, for the key's budget, and back to the newest entry,
/// so that an older ledger that somebody put back is found out.
fn reach(draft: &Draft<'_>) -> Timestamp {
    let now = draft.now();
    let ago = |span| now.checked_sub(span).unwrap_or(Timestamp::MIN);
    let newest = draft.state.history.last_key_value();
    let newest = newest.and_then(|(_, entry)| entry.created_at);
    newest.map_or(ago(DAY), |at| at.max(ago(ROLLBACK_SEEN)).min(ago(DAY)))
}

/// A session that a program without turns started, and that is still at work.
fn older_program(draft: &Draft<'_>, candidate: &Candidate, listing: &Sessions) -> Option<Line> {
    let track = draft.state.tracks.get(&candidate.track)?;
    let session = listing
        .get(track.session_id.as_ref()?)
        .filter(|session| session.state.is_live())?;
    let of_ours = draft
        .state
        .entry_of_session(&session.id)
        .is_some_and(|(_, entry)| entry.turn.is_some());
    (!of_ours).then(|| {
        let text = format!(
            "session {} of an older program is still at work",
            session.id
        );
        wait(candidate, Reason::SessionRunning, text).until(draft.after(POLL))
    })
}
