//! When an issue for a proposal or a work item is tried again, and which issues must be read first.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{DAY, PUBLISH_AGAIN, PUBLISH_REPEATS};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::state::{Extra, PublishingState};

/// Asks for the exchange where an issue is due that it says the text of, and else looks again when one is.
pub(crate) fn reads_for(draft: &mut Draft<'_>, intended: &BTreeSet<String>) {
    for key in intended {
        match next_time(draft, key) {
            Some(next) if next > draft.now() => draft.wake(next),
            _ => draft.needs.exchange = true,
        }
    }
}

/// Whether GitHub is to be asked now to open or close the issue of a key, which is counted: where the last time came to
/// nothing it waits, longer each time. It is told of once that is so often that a person must look.
pub(crate) fn is_due(draft: &mut Draft<'_>, key: &str) -> bool {
    let now = draft.now();
    let is_due = next_time(draft, key).is_none_or(|next| next <= now);
    let known = draft.state.publishing.get(key);
    let before = known.map(|known| known.repeats);
    let mut repeats = before.unwrap_or_default();
    if is_due {
        repeats = before.map_or(0, |before| (before + 1).min(PUBLISH_REPEATS));
        let extra = known.map_or_else(Extra::new, |known| known.extra.clone());
        let one = PublishingState {
            at: now,
            repeats,
            extra,
        };
        draft.state.publishing.insert(key.to_owned(), one);
    }
    let next = next_time(draft, key).unwrap_or(now);
    draft.wake(next);
    if repeats == PUBLISH_REPEATS {
        if before < Some(repeats) {
            draft.headline(format!("put off {key}"), None);
        }
        let text = format!(
            "GitHub did not open or close the issue of `{key}` {PUBLISH_REPEATS} times; it is asked once a day now: see \
             that the repository has issues, and that this credential may write them"
        );
        let line = Line::repository(Verdict::Waiting, Reason::RetryPause, text);
        draft.say(line.until(next));
    }
    is_due
}

/// When GitHub is to be asked next for the issue of a key; `None`: it never was.
fn next_time(draft: &Draft<'_>, key: &str) -> Option<Timestamp> {
    let known = draft.state.publishing.get(key)?;
    let pause = match known.repeats {
        repeats if repeats >= PUBLISH_REPEATS => DAY,
        repeats => PUBLISH_AGAIN * 2_i32.pow(repeats),
    };
    Some(known.at.checked_add(pause).unwrap_or(Timestamp::MAX))
}

/// A key is no issue, and becomes none.
pub(crate) fn forget(draft: &mut Draft<'_>, key: &str) {
    draft.state.published.remove(key);
    draft.state.publishing.remove(key);
}
