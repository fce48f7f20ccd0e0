//! Deliveries that the webhook refused before it read them, and why.

use crate::server::public::counters::{Figures, RecentCounter};

/// What was refused before anything was read out of it, in the order of how likely somebody has set up something wrong.
/// `count`: how much of it counts.
pub(super) fn refused(
    figures: &Figures,
    count: impl Fn(&RecentCounter) -> u64,
) -> Vec<(u64, &'static str)> {
    let all = [
        (
            count(&figures.wrong_signature),
            "signed with another secret than PHILEAS_WEBHOOK_SECRET. Is it the one in the webhook’s settings on GitHub?",
        ),
        (
            count(&figures.content_type),
            "not application/json. Is that the webhook’s content type on GitHub?",
        ),
        (
            count(&figures.unsigned),
            "without a signature. Has the webhook a secret on GitHub? Strangers may have sent these as well.",
        ),
    ];
    all.into_iter().filter(|(count, _)| *count > 0).collect()
}
