//! Arithmetic on times, and times as text.

use jiff::{SignedDuration, Timestamp};

/// A pause that doubles with each repetition, up to a limit.
pub(crate) fn doubled_pause(
    base: SignedDuration,
    times: u32,
    limit: SignedDuration,
) -> SignedDuration {
    let factor = 1_i32.checked_shl(times.min(16)).unwrap_or(i32::MAX);
    base.checked_mul(factor)
        .map_or(limit, |span| span.min(limit))
}

pub(crate) fn time_after(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// An instant as people read it, in UTC.
pub(crate) fn format_utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
