//! Tracks changes of cron times: a slot before a change of its schedule or track start is not due.
//!
//! The ledger keeps the last known times. When the plan has other ones, they count from the plan's newest commit, or
//! from the push or merge that brought it to the default branch where that is later; not before the previous tick,
//! which saw the old ones, and not after now. A missed slot of the old times is kept until it starts.

use jiff::Timestamp;

use crate::engine::input::snapshot::{Ledger, PlanCommit, Snapshot};
use crate::engine::lookup::policy;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{CATCH_UP_TOLERANCE, SLOTS_LIMIT};
use crate::model::TrackName;
use crate::plan::{CatchUp, Cron};
use crate::state::{State, Timing};

/// A schedule that runs only on request.
const MANUAL: &str = "manual";

/// A track without a start time.
const NO_START: &str = "none";

/// A schedule or track that the plan no longer has.
const REMOVED: &str = "removed";

/// How many of the newest history entries are searched for the newest instant.
const ENTRIES_READ: usize = 20;

/// How the ledger writes cron times.
pub(crate) fn format_cron(cron: &Cron) -> String {
    format!("{} {}", cron.expression(), cron.timezone())
}

fn parse_cron(expression: &str) -> Option<Cron> {
    let (expression, zone) = expression.rsplit_once(' ')?;
    Cron::parse(expression, zone).ok()
}

/// The owner of cron times: a schedule by its key, or a track.
#[derive(Debug, Clone)]
enum Owner {
    Schedule(String),
    Track(TrackName),
}

/// Cron times of the plan that the ledger does not know yet.
#[derive(Debug)]
struct TimingChange {
    owner: Owner,
    expression: String,
    /// Whether the ledger has other ones.
    differs: bool,
    catch_up: CatchUp,
}

/// Records the plan's cron times, and since when they apply. Requests the plan's newest commit where they have changed.
pub(crate) fn record_changes(builder: &mut DecisionBuilder<'_>) {
    let news = find_changes(builder);
    let differs = news.iter().any(|one| one.differs);
    let observes = policy::only_observes(builder.snapshot).is_some();
    let since = match builder.snapshot.plan_commit {
        // An observing tick would read it each time; the previous tick's time is good enough for a report.
        PlanCommit::Unread if observes => {
            Some(builder.snapshot.previous_tick.unwrap_or(builder.now()))
        }
        PlanCommit::Unread if differs => {
            builder.reads.plan_commit = true;
            None
        }
        PlanCommit::Unread | PlanCommit::Unknown => Some(builder.now()),
        PlanCommit::At(at) => Some(not_before_previous_tick(builder.snapshot, at)),
    };
    for one in news {
        if !one.differs {
            let timing = timing_mut(&mut builder.state, &one.owner);
            if let Some((timing, _)) = timing {
                timing.expression = Some(one.expression);
            }
            continue;
        }
        let Some(since) = since else { continue };
        let name = match &one.owner {
            Owner::Schedule(persona) => format!("schedule:{persona}"),
            Owner::Track(name) => name.to_string(),
        };
        if let Some((timing, last)) = timing_mut(&mut builder.state, &one.owner) {
            apply_change(timing, last, one, since);
        }
        builder.add_headline(format!("new times of {name}"), None);
    }
}

/// Whether the time of a change must be read first.
pub(crate) fn is_change_unread(timing: &Timing, cron: &Cron) -> bool {
    let known = timing.expression.as_ref();
    known.is_some_and(|known| *known != format_cron(cron))
}

/// From when on slots count: after the last answered one, and not before the newest change.
fn counted_from(timing: &Timing, last: Timestamp) -> Timestamp {
    timing.since.map_or(last, |since| since.max(last))
}

/// A cron time that is to be answered.
pub(crate) enum SlotDue {
    /// There is none.
    Not,
    /// This one starts; slots have waited since then.
    Now { slot: Timestamp, since: Timestamp },
    /// The newest one came too long ago for a plan that skips missed ones.
    Missed(Timestamp),
}

/// The slot of a schedule or a track to start now, as its `catch_up` says.
pub(crate) fn slot_due(
    timing: &Timing,
    last: Timestamp,
    cron: &Cron,
    catch_up: CatchUp,
    now: Timestamp,
) -> SlotDue {
    let from = counted_from(timing, last);
    let missed = missed_slots(timing, last);
    let newest = cron.newest_in(from, now).or(missed.last().copied());
    let Some(newest) = newest else {
        return SlotDue::Not;
    };
    let oldest = missed.first().copied();
    let oldest = oldest.or_else(|| cron.next_after(from)).unwrap_or(newest);
    let (slot, since) = match catch_up {
        CatchUp::One => (newest, oldest),
        CatchUp::All => (oldest, oldest),
        CatchUp::None if now.duration_since(newest) <= CATCH_UP_TOLERANCE => (newest, newest),
        CatchUp::None => return SlotDue::Missed(newest),
    };
    SlotDue::Now { slot, since }
}

/// Missed slots of earlier cron times, oldest first.
fn missed_slots(timing: &Timing, last: Timestamp) -> Vec<Timestamp> {
    let unanswered = timing.missed.iter().filter(|slot| **slot > last);
    unanswered.copied().collect()
}

fn find_changes(builder: &DecisionBuilder<'_>) -> Vec<TimingChange> {
    let plan = &builder.snapshot.plan;
    let is_whole = !builder
        .snapshot
        .plan_diagnostics
        .iter()
        .any(crate::Diagnostic::is_error);
    // In a plan with mistakes, a missing entry may be one of them.
    let removed = || is_whole.then(|| REMOVED.to_owned());
    let mut news = Vec::new();
    for (key, known) in &builder.state.schedules {
        let schedule = plan.schedules.get(key.as_str());
        let expression = match schedule {
            Some(schedule) => schedule
                .cron
                .as_ref()
                .map_or_else(|| Some(MANUAL.to_owned()), |cron| Some(format_cron(cron))),
            None => removed(),
        };
        let catch_up = schedule.map_or(CatchUp::One, |schedule| schedule.policy.catch_up);
        let owner = Owner::Schedule(key.clone());
        news.extend(compare_timing(owner, &known.timing, expression, catch_up));
    }
    for (name, known) in &builder.state.tracks {
        let was_started = known.timing.expression.is_some() || known.last_started.is_some();
        let track = plan.tracks.get(name);
        let catch_up = track.map_or(CatchUp::One, |track| track.policy.catch_up);
        let expression = match track {
            Some(track) => match &track.start {
                Some(start) => Some(format_cron(start)),
                None => was_started.then(|| NO_START.to_owned()),
            },
            None if was_started => removed(),
            None => None,
        };
        let owner = Owner::Track(name.clone());
        news.extend(compare_timing(owner, &known.timing, expression, catch_up));
    }
    news
}

fn compare_timing(
    owner: Owner,
    known: &Timing,
    expression: Option<String>,
    catch_up: CatchUp,
) -> Option<TimingChange> {
    let expression = expression.filter(|now| known.expression.as_ref() != Some(now))?;
    Some(TimingChange {
        owner,
        differs: known.expression.is_some(),
        expression,
        catch_up,
    })
}

fn timing_mut<'s>(
    state: &'s mut State,
    owner: &Owner,
) -> Option<(&'s mut Timing, Option<Timestamp>)> {
    match owner {
        Owner::Schedule(key) => {
            let known = state.schedules.get_mut(key)?;
            Some((&mut known.timing, known.last_fired))
        }
        Owner::Track(name) => {
            let known = state.tracks.get_mut(name)?;
            Some((&mut known.timing, known.last_started))
        }
    }
}

fn apply_change(
    timing: &mut Timing,
    last: Option<Timestamp>,
    news: TimingChange,
    since: Timestamp,
) {
    let runs = parse_cron(&news.expression).is_some();
    let old = timing.expression.as_deref().and_then(parse_cron);
    let mut missed = std::mem::take(&mut timing.missed);
    if let (Some(old), Some(last)) = (old, last) {
        let from = counted_from(timing, last);
        match news.catch_up {
            CatchUp::All => missed.extend(old.slots_in(from, since, SLOTS_LIMIT)),
            CatchUp::One | CatchUp::None => missed.extend(old.newest_in(from, since)),
        }
    }
    missed.retain(|slot| runs && last.is_none_or(|last| *slot > last));
    missed.sort_unstable();
    missed.truncate(SLOTS_LIMIT);
    timing.missed = missed;
    timing.expression = Some(news.expression);
    timing.since = Some(since);
}

/// The time of a change: not before the previous tick, as far as that is known, and not after now.
fn not_before_previous_tick(snapshot: &Snapshot, at: Timestamp) -> Timestamp {
    let ledger = match &snapshot.ledger {
        Ledger::Present { state, .. } => newest_instant(state, snapshot.now),
        Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
    };
    let previous = snapshot.previous_tick.max(ledger);
    previous
        .map_or(at, |previous| previous.max(at))
        .min(snapshot.now)
}

/// The newest instant, not after now, at which a tick wrote to the ledger.
fn newest_instant(state: &State, now: Timestamp) -> Option<Timestamp> {
    let tracks = state.tracks.values().flat_map(|track| {
        let intents = track.turns.values().filter_map(|turn| turn.intent.as_ref());
        intents
            .map(|intent| intent.created_at)
            .chain(track.updated_at)
            .chain(track.last_started)
            .chain(track.timing.since)
    });
    let schedules = state
        .schedules
        .values()
        .flat_map(|schedule| schedule.last_fired.into_iter().chain(schedule.timing.since));
    let entries = state.history.values().rev().take(ENTRIES_READ);
    let entries = entries.flat_map(|entry| entry.created_at.into_iter().chain(entry.finished_at));
    let others = state.cursors.comments_since;
    tracks
        .chain(schedules)
        .chain(entries)
        .chain(others)
        .filter(|at| *at <= now)
        .max()
}
