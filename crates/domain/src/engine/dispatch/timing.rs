//! Since when schedules and starts of tracks have been as they are: a slot before a change is not due.
//!
//! The ledger keeps the times that were seen last. Where the plan says others, they count from the plan's newest commit
//! on, or from the push or merge that brought it to the default branch where that is later, but not from before the previous
//! tick, which saw the old ones, and not from after now. A slot of the old times that was missed until then is kept until it
//! is answered.

use jiff::Timestamp;

use crate::engine::input::snapshot::{Ledger, PlanCommit, Snapshot};
use crate::engine::lookup::policy;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::SLOTS_LIMIT;
use crate::model::TrackName;
use crate::plan::{CatchUp, Cron};
use crate::state::{State, Timing};

/// A schedule that runs only when it is asked for.
const MANUAL: &str = "manual";

/// A track whose passes follow each other.
const NO_START: &str = "none";

/// A schedule or track that the plan does not have any more.
const REMOVED: &str = "removed";

/// Among how many of the newest entries of the history the newest instant is looked for.
const ENTRIES_READ: usize = 20;

/// How the ledger writes times of the plan.
pub(crate) fn written(cron: &Cron) -> String {
    format!("{} {}", cron.expression(), cron.timezone())
}

fn parsed(expression: &str) -> Option<Cron> {
    let (expression, zone) = expression.rsplit_once(' ')?;
    Cron::parse(expression, zone).ok()
}

/// What has the times: an entry of `schedules` by its key, or a track.
#[derive(Debug, Clone)]
enum Owner {
    Schedule(String),
    Track(TrackName),
}

/// Times that the plan gives and the ledger does not know yet.
#[derive(Debug)]
struct News {
    owner: Owner,
    expression: String,
    /// Whether it knows others.
    differs: bool,
    catch_up: CatchUp,
}

/// Writes down which times the plan gives, and since when. Asks for the plan's newest commit where they have changed.
pub(crate) fn note_changes(draft: &mut Draft<'_>) {
    let news = news(draft);
    let differs = news.iter().any(|one| one.differs);
    let observes = policy::only_observes(draft.snapshot).is_some();
    let since = match draft.snapshot.plan_commit {
        // It would be read at each tick. What is not before the previous one is as good as a report needs.
        PlanCommit::Unread if observes => Some(draft.snapshot.previous_tick.unwrap_or(draft.now())),
        PlanCommit::Unread if differs => {
            draft.needs.plan_commit = true;
            None
        }
        PlanCommit::Unread | PlanCommit::Unknown => Some(draft.now()),
        PlanCommit::At(at) => Some(not_before_previous_tick(draft.snapshot, at)),
    };
    for one in news {
        if !one.differs {
            let timing = timing_mut(&mut draft.state, &one.owner);
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
        if let Some((timing, last)) = timing_mut(&mut draft.state, &one.owner) {
            change(timing, last, one, since);
        }
        draft.headline(format!("new times of {name}"), None);
    }
}

/// Whether the plan gives times whose change is still to be looked up.
pub(crate) fn is_unread(timing: &Timing, cron: &Cron) -> bool {
    let known = timing.expression.as_ref();
    known.is_some_and(|known| *known != written(cron))
}

/// From when on slots count: after the last one that was answered, and not before the newest change.
pub(crate) fn counted_from(timing: &Timing, last: Timestamp) -> Timestamp {
    timing.since.map_or(last, |since| since.max(last))
}

/// Slots of earlier times that were missed and not answered since, oldest first.
pub(crate) fn missed(timing: &Timing, last: Timestamp) -> Vec<Timestamp> {
    let unanswered = timing.missed.iter().filter(|slot| **slot > last);
    unanswered.copied().collect()
}

fn news(draft: &Draft<'_>) -> Vec<News> {
    let plan = &draft.snapshot.plan;
    let is_whole = !draft
        .snapshot
        .plan_diagnostics
        .iter()
        .any(crate::Diagnostic::is_error);
    // What a plan with mistakes lacks may be one of them.
    let removed = || is_whole.then(|| REMOVED.to_owned());
    let mut news = Vec::new();
    for (key, known) in &draft.state.schedules {
        let schedule = plan.schedules.get(key.as_str());
        let expression = match schedule {
            Some(schedule) => schedule
                .cron
                .as_ref()
                .map_or_else(|| Some(MANUAL.to_owned()), |cron| Some(written(cron))),
            None => removed(),
        };
        let catch_up = schedule.map_or(CatchUp::One, |schedule| schedule.policy.catch_up);
        let owner = Owner::Schedule(key.clone());
        news.extend(compared(owner, &known.timing, expression, catch_up));
    }
    for (name, known) in &draft.state.tracks {
        let was_started = known.timing.expression.is_some() || known.last_started.is_some();
        let track = plan.tracks.get(name);
        let expression = match track {
            Some(track) => match &track.start {
                Some(start) => Some(written(start)),
                None => was_started.then(|| NO_START.to_owned()),
            },
            None if was_started => removed(),
            None => None,
        };
        let owner = Owner::Track(name.clone());
        news.extend(compared(owner, &known.timing, expression, CatchUp::One));
    }
    news
}

fn compared(
    owner: Owner,
    known: &Timing,
    expression: Option<String>,
    catch_up: CatchUp,
) -> Option<News> {
    let expression = expression.filter(|now| known.expression.as_ref() != Some(now))?;
    Some(News {
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

fn change(timing: &mut Timing, last: Option<Timestamp>, news: News, since: Timestamp) {
    let runs = parsed(&news.expression).is_some();
    let old = timing.expression.as_deref().and_then(parsed);
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

/// The newest instant, not after now, at which the ledger says that a tick was at work.
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
