//! Spaces out checks that need reads of their own: of the session of an open pull request, and of its failed checks.
//! Few are read in one decision, so a pull request without progress waits, longer each time, and the others get their
//! turn.

use jiff::{SignedDuration, Timestamp};

use super::tracked::OpenPull;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{CHECK_INTERVAL_LIMIT, CHECKS_POLL};
use crate::engine::text::time::time_after;
use crate::state::{Extra, NextCheck};

/// The time of the next check. A new commit is checked at once.
pub(crate) fn next_check(
    builder: &DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
) -> Option<Timestamp> {
    let look = tracked.record(builder)?.next_check.as_ref()?;
    let is_same = look.head == tracked.pull.head_oid;
    (is_same && builder.now() < look.not_before).then_some(look.not_before)
}

/// Records that a check brought no progress, and returns the time of the next one. `known`: when the state changes
/// without phileas.
pub(crate) fn lengthen_wait(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    known: Option<Timestamp>,
) -> Timestamp {
    // A second decision on the same snapshot does not count again.
    if let Some(at) = next_check(builder, tracked) {
        return at;
    }
    let now = builder.now();
    let head = &tracked.pull.head_oid;
    let waits = count_waits(builder, tracked);
    let own = time_after(now, wait_pause(waits));
    let not_before = known.map_or(own, |at| at.clamp(now, own));
    tracked.record_mut(builder).next_check = Some(NextCheck {
        head: head.clone(),
        not_before,
        waits: waits.saturating_add(1),
        extra: Extra::new(),
    });
    not_before
}

/// How many checks in a row brought no progress for its newest commit.
pub(crate) fn count_waits(builder: &DecisionBuilder<'_>, tracked: &OpenPull<'_>) -> u32 {
    let look = tracked
        .record(builder)
        .and_then(|known| known.next_check.as_ref());
    let of_head = look.filter(|look| look.head == tracked.pull.head_oid);
    of_head.map_or(0, |look| look.waits)
}

/// The pause; it doubles.
fn wait_pause(waits: u32) -> SignedDuration {
    let mut pause = CHECKS_POLL;
    for _ in 0..waits {
        if pause >= CHECK_INTERVAL_LIMIT {
            break;
        }
        pause *= 2;
    }
    pause.min(CHECK_INTERVAL_LIMIT)
}
