//! Counts what is used of the limits: live sessions, recent sessions, unreviewed pull requests.

use jiff::Timestamp;

use crate::engine::input::pull::PullState;
use crate::engine::input::session::{Session, Sessions};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::BUDGET_DAY;
use crate::model::{PullNumber, SessionId};
use crate::state::Outcome;

/// Live and announced sessions. A session that has ended while its turn waits for its pull request does not count.
pub(crate) fn count_live(builder: &DecisionBuilder<'_>) -> usize {
    let listing = builder.snapshot.listing();
    let at_work = |id: &SessionId| {
        let session = listing.and_then(|listing| listing.get(id));
        session.is_none_or(|session| session.state.is_live())
    };
    let turns = builder
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values());
    turns
        .filter(|turn| match &turn.session_id {
            Some(id) => at_work(id),
            None => turn.intent.is_some(),
        })
        .count()
}

/// Creation times of the sessions of the rolling day, oldest first.
pub(crate) fn recent_sessions(builder: &DecisionBuilder<'_>) -> Vec<Timestamp> {
    let now = builder.now();
    builder
        .state
        .budget
        .created
        .iter()
        .filter(|at| now.duration_since(**at) < BUDGET_DAY)
        .copied()
        .collect()
}

/// Intents whose session is not known yet.
pub(crate) fn count_announced(builder: &DecisionBuilder<'_>) -> usize {
    let turns = builder
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values());
    turns
        .filter(|turn| turn.intent.is_some() && turn.session_id.is_none())
        .count()
}

/// Sessions of the rolling day that people requested, announced ones included.
pub(crate) fn count_requested(builder: &DecisionBuilder<'_>) -> usize {
    let now = builder.now();
    let entries = builder.state.history.values();
    let recent = entries.filter(|entry| {
        let at = entry.created_at;
        entry.track_name().request_number().is_some()
            && entry.session_id.is_some()
            && at.is_some_and(|at| now.duration_since(at) < BUDGET_DAY)
    });
    let tracks = builder.state.tracks.iter();
    let requests = tracks.filter(|(name, _)| name.request_number().is_some());
    let announced = requests
        .flat_map(|(_, track)| track.turns.values())
        .filter(|turn| turn.intent.is_some() && turn.session_id.is_none());
    recent.count() + announced.count()
}

/// Sessions that count against the key's limit of live sessions.
pub(crate) fn active_of_key(builder: &DecisionBuilder<'_>, listing: &Sessions) -> u32 {
    let seen = listing
        .key
        .active
        .saturating_sub(count_settled(builder, listing));
    seen + count_unlisted(builder, listing)
}

/// Sessions that Jules lists as live although their turns have ended: some never leave `IN_PROGRESS`, and a few of them
/// would block everything. If Jules counts them, it refuses the next one itself.
fn count_settled(builder: &DecisionBuilder<'_>, listing: &Sessions) -> u32 {
    let over = |session: &&Session| {
        let entry = builder.state.entry_of_session(&session.id);
        let outcome = entry.and_then(|(_, entry)| entry.outcome.as_ref());
        session.state.is_live() && !session.archived && outcome.is_some_and(Outcome::is_final)
    };
    let count = listing.sessions.iter().filter(over).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Sessions of phileas that are newer than the listing, and announced ones.
pub(crate) fn count_unlisted(builder: &DecisionBuilder<'_>, listing: &Sessions) -> u32 {
    let turns = builder
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values());
    let count = turns
        .filter(|turn| match &turn.session_id {
            Some(id) => listing.get(id).is_none(),
            None => turn.intent.is_some(),
        })
        .count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Open pull requests of phileas without a review. One that was not read counts as open; one that GitHub does not have
/// does not count.
pub(crate) fn unreviewed_pulls(builder: &DecisionBuilder<'_>) -> Vec<PullNumber> {
    let live = builder
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values())
        .filter_map(|turn| turn.pr_number);
    let open = builder.state.history.open_entries();
    let mut numbers: std::collections::BTreeSet<_> = open
        .filter_map(|(_, entry)| entry.pr_number)
        .chain(live)
        .collect();
    numbers.retain(|number| match builder.snapshot.pulls.get(number) {
        Some(pull) => pull.state == PullState::Open && !pull.reviewed,
        None => !builder.snapshot.missing_pulls.contains(number),
    });
    numbers.into_iter().collect()
}
