//! Schedules attempts to open or close the issues of proposals and work items.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{DAY, PUBLISH_AGAIN, PUBLISH_REPEATS};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::state::{Extra, PublishingState};

/// Requests the exchange where an issue is due whose text it contains; else sets the next check.
pub(crate) fn request_reads(builder: &mut DecisionBuilder<'_>, intended: &BTreeSet<String>) {
    for key in intended {
        match next_attempt(builder, key) {
            Some(next) if next > builder.now() => builder.wake_by(next),
            _ => builder.reads.exchange = true,
        }
    }
}

/// Whether the next attempt for the issue of a key is due; counts it. Failed attempts wait longer each time, and are
/// reported once a person must fix the cause.
pub(crate) fn start_attempt(builder: &mut DecisionBuilder<'_>, key: &str) -> bool {
    let now = builder.now();
    let is_due = next_attempt(builder, key).is_none_or(|next| next <= now);
    let known = builder.state.publishing.get(key);
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
        builder.state.publishing.insert(key.to_owned(), one);
    }
    let next = next_attempt(builder, key).unwrap_or(now);
    builder.wake_by(next);
    if repeats == PUBLISH_REPEATS {
        if before < Some(repeats) {
            builder.add_headline(format!("put off {key}"), None);
        }
        let text = format!(
            "GitHub did not open or close the issue of `{key}` {PUBLISH_REPEATS} times; it is asked once a day now: see \
             that the repository has issues, and that this credential may write them"
        );
        let line = Line::about_repository(Verdict::Waiting, Reason::RetryPause, text);
        builder.report_line(line.with_until(next));
    }
    is_due
}

/// When the next attempt for the issue of a key is due; `None`: there was none.
fn next_attempt(builder: &DecisionBuilder<'_>, key: &str) -> Option<Timestamp> {
    let known = builder.state.publishing.get(key)?;
    let pause = match known.repeats {
        repeats if repeats >= PUBLISH_REPEATS => DAY,
        repeats => PUBLISH_AGAIN * 2_i32.pow(repeats),
    };
    Some(known.at.checked_add(pause).unwrap_or(Timestamp::MAX))
}

/// Drops a key that has no issue.
pub(crate) fn forget_issue(builder: &mut DecisionBuilder<'_>, key: &str) {
    builder.state.published.remove(key);
    builder.state.publishing.remove(key);
}
