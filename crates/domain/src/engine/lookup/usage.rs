//! How much of the limits is used: live sessions, recent sessions, unreviewed pull requests.

use jiff::Timestamp;

use crate::engine::input::pull::PullState;
use crate::engine::input::session::{Session, Sessions};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::BUDGET_DAY;
use crate::model::{PullNumber, SessionId};
use crate::state::Outcome;

/// Sessions that are live or announced. One that has ended while its pull request is waited for is not, where Jules'
/// listing says so.
pub(crate) fn live(draft: &Draft<'_>) -> usize {
    let listing = draft.snapshot.listing();
    let at_work = |id: &SessionId| {
        let session = listing.and_then(|listing| listing.get(id));
        session.is_none_or(|session| session.state.is_live())
    };
    let turns = draft
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

/// Sessions of the rolling day, oldest first.
pub(crate) fn recent(draft: &Draft<'_>) -> Vec<Timestamp> {
    let now = draft.now();
    draft
        .state
        .budget
        .created
        .iter()
        .filter(|at| now.duration_since(**at) < BUDGET_DAY)
        .copied()
        .collect()
}

/// Intents whose session is not known yet count as spent.
pub(crate) fn announced(draft: &Draft<'_>) -> usize {
    let turns = draft
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values());
    turns
        .filter(|turn| turn.intent.is_some() && turn.session_id.is_none())
        .count()
}

/// Sessions that hold a place of the key.
pub(crate) fn active_of_key(draft: &Draft<'_>, listing: &Sessions) -> u32 {
    let seen = listing.key.active.saturating_sub(settled(draft, listing));
    seen + unseen(draft, listing)
}

/// Sessions that Jules calls live although nothing will come of them any more: some never leave `IN_PROGRESS`, and a
/// few of them would stop everything for good. Where Jules counts them all the same, it refuses the next one itself.
fn settled(draft: &Draft<'_>, listing: &Sessions) -> u32 {
    let over = |session: &&Session| {
        let entry = draft.state.entry_of_session(&session.id);
        let outcome = entry.and_then(|(_, entry)| entry.outcome.as_ref());
        session.state.is_live() && !session.archived && outcome.is_some_and(Outcome::is_final)
    };
    let count = listing.sessions.iter().filter(over).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Sessions of ours that the listing is too old to show, and those that are announced.
pub(crate) fn unseen(draft: &Draft<'_>, listing: &Sessions) -> u32 {
    let turns = draft
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

/// Open pull requests of ours that no person has looked at. One that was not read counts as open; one that GitHub does
/// not have waits for nobody.
pub(crate) fn unreviewed(draft: &Draft<'_>) -> Vec<PullNumber> {
    let live = draft
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values())
        .filter_map(|turn| turn.pr_number);
    let open = draft.state.history.open();
    let mut numbers: std::collections::BTreeSet<_> = open
        .filter_map(|(_, entry)| entry.pr_number)
        .chain(live)
        .collect();
    numbers.retain(|number| match draft.snapshot.pulls.get(number) {
        Some(pull) => pull.state == PullState::Open && !pull.reviewed,
        None => !draft.snapshot.missing_pulls.contains(number),
    });
    numbers.into_iter().collect()
}
