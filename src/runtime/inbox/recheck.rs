//! Repeats the tick after a delivery, because GitHub may not show the change yet.

use jiff::{SignedDuration, Timestamp};

/// How long after a delivery its repository is checked again, in case the first check came too
/// early: GitHub reads from replicas that may lag behind the event.
pub const LOOK_AGAIN: [SignedDuration; 2] = [
    SignedDuration::from_secs(15),
    SignedDuration::from_secs(120),
];

/// When to check a repository again whose newest delivery arrived at `received_at`; `None` after
/// the last check. A tick that begins at `now` also requests this time.
#[must_use]
pub fn recheck_time(received_at: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let received_at = received_at?;
    LOOK_AGAIN
        .iter()
        .filter_map(|after| received_at.checked_add(*after).ok())
        .find(|at| *at > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_delivery_is_followed_by_two_more_looks() {
        let heard = Timestamp::from_second(1_000).unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(recheck_time(None, heard), None);
        assert_eq!(recheck_time(Some(heard), at(1_000)), Some(at(1_015)));
        assert_eq!(recheck_time(Some(heard), at(1_015)), Some(at(1_120)));
        assert_eq!(recheck_time(Some(heard), at(1_119)), Some(at(1_120)));
        assert_eq!(recheck_time(Some(heard), at(1_120)), None);
    }
}
