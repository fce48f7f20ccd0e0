//! Shows a watchdog whether the driver works.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

use crate::runtime::inbox::Inbox;

/// A loop without a round for this long is stuck: it has one at least once a minute.
pub const STUCK_AFTER: SignedDuration = SignedDuration::from_mins(3);
/// The driver is stuck if a repository has been due for this long and no tick has ended since. A
/// backlog alone is no sign, because then ticks end.
pub const OVERDUE: SignedDuration = SignedDuration::from_mins(15);

/// When the driver last did something, in seconds of its clock; 0 before it was started.
#[derive(Debug, Default)]
pub struct Heartbeat {
    turned: AtomicI64,
    ended: AtomicI64,
}

impl Heartbeat {
    pub(super) fn record_turn(&self, now: Timestamp) {
        self.turned.store(now.as_second(), Ordering::Relaxed);
    }

    pub(super) fn tick_ended(&self, now: Timestamp) {
        self.ended.store(now.as_second(), Ordering::Relaxed);
    }

    /// Why the service counts as stuck, if it does: the inbox does not reply or cannot store, or
    /// the driver does nothing. A driver that was never started does not count.
    pub async fn problem_text(&self, inbox: &impl Inbox, now: Timestamp) -> Option<String> {
        let since = |then: &AtomicI64| {
            let then = Timestamp::from_second(then.load(Ordering::Relaxed)).ok()?;
            Some(now.duration_since(then))
        };
        let due = match inbox.next_due().await {
            Ok(due) => due,
            Err(error) => return Some(error.to_string()),
        };
        if let Some(trouble) = inbox.problem_text() {
            return Some(trouble);
        }
        if self.turned.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let still = since(&self.turned).filter(|still| *still > STUCK_AFTER);
        if let Some(still) = still {
            return Some(format!(
                "the driver has done nothing for {} s",
                still.as_secs()
            ));
        }
        let due = due?;
        let overdue = now.duration_since(due);
        let idle = since(&self.ended).is_none_or(|idle| idle > OVERDUE);
        (overdue > OVERDUE && idle).then(|| {
            format!(
                "a repository has been due for {} s and no tick has ended since",
                overdue.as_secs()
            )
        })
    }
}
