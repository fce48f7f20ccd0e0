//! Limits what may start: by the repository, by its Jules key, and by the people who review.

use jiff::Timestamp;

use super::candidate::{Candidate, Cause, waiting_line};
use crate::engine::input::pull::Checks;
use crate::engine::input::session::{Listing, ListingNeed, Sessions};
use crate::engine::lookup::usage::{
    self, active_of_key, count_announced, count_live, count_unlisted, recent_sessions,
};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    BUDGET_DAY, DAY, NUMBERS_NAMED, POLL, PULL_POLL, ROLLBACK_SEEN,
};
use crate::engine::output::report::{Line, Reason};
use crate::engine::record::outage;
use crate::model::PullNumber;
use crate::plan::{MainRed, Mode, Priority};
use crate::state::Turn;

/// Blocks a candidate while the default branch's checks fail, if the plan says so.
pub(crate) fn default_checks_failed(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Option<Line> {
    let plan = &builder.snapshot.plan;
    let closed = plan.gate.main_red == MainRed::CriticalOnly
        && builder.snapshot.repository.default_checks == Checks::Failed
        && candidate.policy.priority < Priority::Critical
        && !candidate.is_request();
    closed.then(|| {
        let text = "the default branch's checks failed; only critical steps start";
        waiting_line(candidate, Reason::DefaultChecksFailed, text)
            .with_until(builder.now_plus(PULL_POLL))
    })
}

/// Blocks a candidate by the repository's budget.
pub(crate) fn repository_limit(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Option<Line> {
    let budget = &builder.snapshot.plan.budget;
    let retry = matches!(candidate.cause, Cause::Retry);
    let backlog = builder
        .backlog
        .get_or_init(|| usage::unreviewed_pulls(builder));
    if backlog.len() >= budget.max_open_pulls as usize && !candidate.is_request() && !retry {
        let text = format!(
            "{} pull requests wait for a review ({}); the limit is {}",
            backlog.len(),
            list_numbers(backlog),
            budget.max_open_pulls
        );
        return Some(
            waiting_line(candidate, Reason::ReviewBacklog, text)
                .with_until(builder.now_plus(PULL_POLL)),
        );
    }
    let live = count_live(builder);
    if live >= budget.max_active as usize {
        let are = if live == 1 {
            "1 session is".to_owned()
        } else {
            format!("{live} sessions are")
        };
        let text = format!("{are} live; the limit is {}", budget.max_active);
        return Some(
            waiting_line(candidate, Reason::BudgetActive, text).with_until(builder.now_plus(POLL)),
        );
    }
    let recent = recent_sessions(builder);
    let spent = recent.len() + count_announced(builder);
    // Without a reserve, schedules would take every place first, and a person's request would wait for most of a day.
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
        let line = waiting_line(candidate, Reason::BudgetDaily, text);
        return Some(line.with_until(freed_at(&recent, limit as usize, builder)));
    }
    None
}

/// Blocks a schedule that has used its share of the day while a track has work.
pub(crate) fn schedule_limit(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
    tracks_work: bool,
) -> Option<Line> {
    candidate.track.schedule_persona()?;
    let budget = &builder.snapshot.plan.budget;
    let kept = budget.reserved_for_tracks();
    if !tracks_work || kept == 0 {
        return None;
    }
    let limit = budget.daily_sessions.saturating_sub(kept) as usize;
    let recent = recent_schedule_sessions(builder);
    let spent = recent.len() + count_announced_schedules(builder);
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
    let until = until.unwrap_or_else(|| builder.now_plus(PULL_POLL));
    Some(waiting_line(candidate, Reason::BudgetShare, text).with_until(until))
}

/// Whether a track of the plan wants a session now: one of these candidates is its own, or one of its turns is at work and
/// waits for no person.
pub(crate) fn has_track_work(builder: &DecisionBuilder<'_>, candidates: &[Candidate]) -> bool {
    let plan = &builder.snapshot.plan;
    let is_due = |candidate: &Candidate| {
        candidate.policy.mode == Mode::Act && plan.tracks.contains_key(&candidate.track)
    };
    let mut tracks = builder.state.tracks.iter();
    candidates.iter().any(is_due)
        || tracks.any(|(name, track)| {
            let mut turns = track.turns.values();
            plan.tracks.contains_key(name) && turns.any(|turn| is_at_work(builder, turn))
        })
}

fn is_at_work(builder: &DecisionBuilder<'_>, turn: &Turn) -> bool {
    let listing = builder.snapshot.listing();
    let session = turn.session_id.as_ref();
    let listed = session.and_then(|id| listing.and_then(|listing| listing.get(id)));
    turn.warned_at.is_none() && listed.is_none_or(|session| session.state.is_live())
}

/// Creation times of schedules' sessions in the rolling day, oldest first.
fn recent_schedule_sessions(builder: &DecisionBuilder<'_>) -> Vec<Timestamp> {
    let now = builder.now();
    // History keys follow the order in which sessions became known, which is nearly that of their creation.
    let nearly = BUDGET_DAY + DAY;
    let entries = builder.state.history.values().rev();
    let mut recent: Vec<Timestamp> = entries
        // A session that was imported for a request may be old however new its key is.
        .filter(|entry| {
            let track = entry.track.as_ref();
            track.is_some_and(|track| track.schedule_persona().is_some())
        })
        .filter_map(|entry| entry.created_at)
        .take_while(|at| now.duration_since(*at) < nearly)
        .filter(|at| now.duration_since(*at) < BUDGET_DAY)
        .collect();
    recent.sort_unstable();
    recent
}

fn count_announced_schedules(builder: &DecisionBuilder<'_>) -> usize {
    let tracks = builder.state.tracks.iter();
    let schedules = tracks.filter(|(name, _)| name.schedule_persona().is_some());
    let turns = schedules.flat_map(|(_, track)| track.turns.values());
    turns
        .filter(|turn| turn.intent.is_some() && turn.session_id.is_none())
        .count()
}

/// The first numbers, as people write them.
fn list_numbers(pulls: &[PullNumber]) -> String {
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

/// When the rolling day has room for one more session.
fn freed_at(recent: &[Timestamp], limit: usize, builder: &DecisionBuilder<'_>) -> Timestamp {
    let place = recent.len().checked_sub(limit.max(1));
    let leaving = place
        .and_then(|place| recent.get(place))
        .and_then(|at| at.checked_add(BUDGET_DAY).ok());
    leaving.unwrap_or_else(|| builder.now_plus(POLL))
}

/// Blocks a candidate while the key's quota is known to be spent.
pub(crate) fn quota_pause(builder: &DecisionBuilder<'_>, candidate: &Candidate) -> Option<Line> {
    let budget = &builder.state.budget;
    let until = budget.paused_until.filter(|until| *until > builder.now())?;
    let why = budget.reason.as_deref();
    let why = why.unwrap_or("the key's quota is spent");
    Some(waiting_line(candidate, Reason::JulesQuota, why).with_until(until))
}

/// Blocks a candidate by the key's limits. Called only when nothing else blocks it, because it may need a listing.
pub(crate) fn key_limit(builder: &mut DecisionBuilder<'_>, candidate: &Candidate) -> Option<Line> {
    let listing = match read_listing(builder, candidate) {
        Ok(listing) => listing,
        Err(line) => return Some(*line),
    };
    if let Some(line) = older_program_session(builder, candidate, listing) {
        return Some(line);
    }
    let limits = builder.snapshot.plan.budget.key_limits();
    let unseen = count_unlisted(builder, listing);
    let active = active_of_key(builder, listing);
    if active >= limits.active {
        let text = format!(
            "the key has {active} live sessions; its limit is {}",
            limits.active
        );
        return Some(
            waiting_line(candidate, Reason::JulesQuota, text).with_until(builder.now_plus(POLL)),
        );
    }
    let reserve = if candidate.is_request() {
        0
    } else {
        builder.snapshot.plan.budget.reserve_for_people
    };
    let daily = limits.daily.saturating_sub(reserve);
    let created = listing.key.created_last_day + unseen;
    if created >= daily {
        let text = format!(
            "the key has started {created} sessions within a day; {daily} of its {} may start without a request",
            limits.daily
        );
        return Some(
            waiting_line(candidate, Reason::JulesQuota, text)
                .with_until(builder.now_plus(PULL_POLL)),
        );
    }
    None
}

/// The listing of the key's sessions; the error says why there is none.
fn read_listing<'s>(
    builder: &mut DecisionBuilder<'s>,
    candidate: &Candidate,
) -> Result<&'s Sessions, Box<Line>> {
    match &builder.snapshot.sessions {
        Listing::NotTaken => {
            builder.request_listing(ListingNeed::Since(listing_reach(builder)));
            let text = "Jules' listing is read next, to see how much of the key's quota is left";
            let line = waiting_line(candidate, Reason::JulesQuota, text);
            Err(Box::new(line.with_until(builder.now_plus(POLL))))
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
                outage::report_outage(builder);
            }
            let until = outage.retry_at.unwrap_or_else(|| builder.now_plus(POLL));
            let line = waiting_line(candidate, reason, text);
            Err(Box::new(line.with_until(until)))
        }
        Listing::Taken(listing) => Ok(listing),
    }
}

/// The start of the listing before a session starts: a day, for the key's limits, and back to the newest entry, to
/// detect a rolled-back ledger.
fn listing_reach(builder: &DecisionBuilder<'_>) -> Timestamp {
    let now = builder.now();
    let ago = |span| now.checked_sub(span).unwrap_or(Timestamp::MIN);
    let newest = builder.state.history.last_key_value();
    let newest = newest.and_then(|(_, entry)| entry.created_at);
    newest.map_or(ago(DAY), |at| at.max(ago(ROLLBACK_SEEN)).min(ago(DAY)))
}

/// Blocks a track whose session of an older program is still live.
fn older_program_session(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
    listing: &Sessions,
) -> Option<Line> {
    let track = builder.state.tracks.get(&candidate.track)?;
    let session = listing
        .get(track.session_id.as_ref()?)
        .filter(|session| session.state.is_live())?;
    let of_ours = builder
        .state
        .entry_of_session(&session.id)
        .is_some_and(|(_, entry)| entry.turn.is_some());
    (!of_ours).then(|| {
        let text = format!(
            "session {} of an older program is still at work",
            session.id
        );
        waiting_line(candidate, Reason::SessionRunning, text).with_until(builder.now_plus(POLL))
    })
}
