//! When what only a look of its own can tell is looked at again: the session of an open pull request, and the checks of its
//! newest commit. Few are looked at in one go, so whoever could do nothing steps back for a while, each time for longer,
//! and those that were not looked at have their turn.

use jiff::{SignedDuration, Timestamp};

use super::tracked::Watched;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{CHECKS_POLL, LOOKS_APART};
use crate::engine::text::time::later;
use crate::state::{Extra, Look};

/// Before when it is not looked at again. A new commit is looked at at once.
pub(crate) fn not_before(draft: &Draft<'_>, watched: &Watched<'_>) -> Option<Timestamp> {
    let look = watched.known(draft)?.look.as_ref()?;
    let is_same = look.head == watched.pull.head_oid;
    (is_same && draft.now() < look.not_before).then_some(look.not_before)
}

/// Writes down that a look brought nothing, and answers with the time of the next one. `known`: when something changes by
/// itself.
pub(crate) fn wait_longer(
    draft: &mut Draft<'_>,
    watched: &Watched<'_>,
    known: Option<Timestamp>,
) -> Timestamp {
    // A second decision about the same look counts it once.
    if let Some(at) = not_before(draft, watched) {
        return at;
    }
    let now = draft.now();
    let head = &watched.pull.head_oid;
    let waits = waits(draft, watched);
    let own = later(now, pause(waits));
    let not_before = known.map_or(own, |at| at.clamp(now, own));
    watched.record(draft).look = Some(Look {
        head: head.clone(),
        not_before,
        waits: waits.saturating_add(1),
        extra: Extra::new(),
    });
    not_before
}

/// How often in a row nothing could be done about its newest commit.
pub(crate) fn waits(draft: &Draft<'_>, watched: &Watched<'_>) -> u32 {
    let look = watched.known(draft).and_then(|known| known.look.as_ref());
    let of_head = look.filter(|look| look.head == watched.pull.head_oid);
    of_head.map_or(0, |look| look.waits)
}

/// Twice as long each time.
fn pause(waits: u32) -> SignedDuration {
    let mut pause = CHECKS_POLL;
    for _ in 0..waits {
        if pause >= LOOKS_APART {
            break;
        }
        pause *= 2;
    }
    pause.min(LOOKS_APART)
}
