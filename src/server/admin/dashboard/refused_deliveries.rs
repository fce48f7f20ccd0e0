//! Counts deliveries that the webhook refused before it read them, with the reasons.

use crate::server::public::counters::{Figures, RecentCounter};

/// Lists refused deliveries, the most likely configuration mistake first. `count` reads a counter.
pub(super) fn refused_deliveries(
    figures: &Figures,
    count: impl Fn(&RecentCounter) -> u64,
) -> Vec<(u64, &'static str)> {
    let all = [
        (
            count(&figures.wrong_signature),
            "signed with another secret than PHILEAS_WEBHOOK_SECRET. Is it the one in the webhook’s settings on \
             GitHub?",
        ),
        (
            count(&figures.content_type),
            "not application/json. Is that the webhook’s content type on GitHub?",
        ),
        (
            count(&figures.unsigned),
            "without a signature. Has the webhook a secret on GitHub? Anyone on the internet may have sent these as well.",
        ),
    ];
    all.into_iter().filter(|(count, _)| *count > 0).collect()
}
