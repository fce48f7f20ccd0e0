//! How often and for how long the branch is checked after a commit.

use std::time::Duration;

use crate::runtime::ports::{Disposition, Failure};

/// The waits before checking the branch again: replicas lag.
pub const CHECK_DELAYS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(8),
];
/// How many commits are walked back from the head. No process writes so many while one commit is checked.
pub(super) const LOOK_BACK: usize = 16;
/// How often the same compare-and-swap is sent.
pub const MAX_SWAPS: u32 = 2;

/// The branch was checked, so the caller cannot find out more: it may retry later.
pub(super) fn resolve_unknown(failure: Failure) -> Failure {
    match failure.disposition {
        Disposition::Unknown => Failure {
            disposition: Disposition::Retry { after: None },
            ..failure
        },
        _ => failure,
    }
}
