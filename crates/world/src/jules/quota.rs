//! Enforces the limits of an account: sessions a day, concurrent sessions, bursts, reads a minute.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp, tz};

use super::refusal::Refusal;
use crate::knobs::{Knobs, QuotaReply, QuotaWindow};

/// The rolling window of the daily limit.
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// The window in which creates count as parallel.
const BURST: SignedDuration = SignedDuration::from_secs(1);
/// The window of the limit on reads of activities.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);
/// Seconds in the `Retry-After` of a refusal, where it has one.
const RETRY_AFTER: u32 = 60;

/// The usage of an account.
#[derive(Debug, Clone, Default)]
pub(super) struct Usage {
    created: VecDeque<Timestamp>,
    attempts: VecDeque<Timestamp>,
    activity_reads: VecDeque<Timestamp>,
}

impl Usage {
    /// Counts a session that was created.
    pub(super) fn count_create(&mut self, now: Timestamp) {
        self.created.push_back(now);
    }

    /// Sessions that count towards the daily limit at this instant.
    pub(super) fn count_today(&mut self, now: Timestamp, knobs: &Knobs) -> usize {
        match knobs.quota_window {
            QuotaWindow::Rolling => {
                forget_before(&mut self.created, now, DAY);
                self.created.len()
            }
            QuotaWindow::Calendar => {
                let day = |at: &Timestamp| at.to_zoned(tz::TimeZone::UTC).date();
                let today = day(&now);
                let passed = |at: &Timestamp| day(at) != today && now.duration_since(*at) < DAY;
                knobs.count_use("quota-window", self.created.iter().any(passed));
                self.created.retain(|at| day(at) == today);
                self.created.len()
            }
        }
    }

    /// Counts an attempt to create, and refuses it when there are too many at once.
    pub(super) fn count_attempt(&mut self, now: Timestamp, knobs: &Knobs) -> Result<(), Refusal> {
        self.attempts.push_back(now);
        self.check_burst(now, knobs)
    }

    /// Refuses every request, reads too, while there are too many creates at once.
    pub(super) fn check_burst(&mut self, now: Timestamp, knobs: &Knobs) -> Result<(), Refusal> {
        forget_before(&mut self.attempts, now, BURST);
        let burst = knobs.create_burst > 0 && self.attempts.len() as u64 > knobs.create_burst;
        if knobs.count_use("create-burst", burst) {
            return Err(Refusal::resource_exhausted(None));
        }
        Ok(())
    }

    /// Counts a read of activities, and refuses it when there were too many within a minute.
    pub(super) fn read_activities(&mut self, now: Timestamp, knobs: &Knobs) -> Result<(), Refusal> {
        if knobs.activity_reads_per_minute == 0 {
            return Ok(());
        }
        forget_before(&mut self.activity_reads, now, MINUTE);
        let many = self.activity_reads.len() as u64 >= knobs.activity_reads_per_minute;
        if knobs.count_use("activity-reads-per-minute", many) {
            return Err(Refusal::resource_exhausted(None));
        }
        self.activity_reads.push_back(now);
        Ok(())
    }
}

/// The reply to a create above a limit.
pub(super) fn limit_reached(knobs: &Knobs) -> Refusal {
    let documented = QuotaReply::TooManyRequests;
    knobs.count_use("quota-reply", knobs.quota_reply != documented);
    match knobs.quota_reply {
        QuotaReply::TooManyRequestsWithRetryAfter => Refusal::resource_exhausted(Some(RETRY_AFTER)),
        QuotaReply::TooManyRequests => Refusal::resource_exhausted(None),
        QuotaReply::FailedPrecondition => Refusal::failed_precondition(),
        QuotaReply::CouldNotGetSource => Refusal::no_source(),
    }
}

fn forget_before(instants: &mut VecDeque<Timestamp>, now: Timestamp, window: SignedDuration) {
    while instants
        .front()
        .is_some_and(|at| now.duration_since(*at) >= window)
    {
        instants.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant_of(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_day_rolls_or_follows_the_calendar() {
        let rolling = Knobs::documented();
        let calendar = Knobs {
            quota_window: QuotaWindow::Calendar,
            ..Knobs::documented()
        };
        let mut usage = Usage::default();
        usage.count_create(instant_of("2026-01-05T23:00:00Z"));
        usage.count_create(instant_of("2026-01-06T00:30:00Z"));
        assert_eq!(
            usage
                .clone()
                .count_today(instant_of("2026-01-06T01:00:00Z"), &calendar),
            1
        );
        assert_eq!(
            usage.count_today(instant_of("2026-01-06T22:59:59Z"), &rolling),
            2
        );
        assert_eq!(
            usage.count_today(instant_of("2026-01-06T23:00:00Z"), &rolling),
            1
        );
    }

    #[test]
    fn a_burst_refuses_reads_too_and_passes() {
        let knobs = Knobs {
            create_burst: 2,
            ..Knobs::documented()
        };
        let mut usage = Usage::default();
        let now = instant_of("2026-01-06T00:00:00Z");
        assert!(usage.count_attempt(now, &knobs).is_ok());
        assert!(usage.count_attempt(now, &knobs).is_ok());
        assert_eq!(usage.count_attempt(now, &knobs).unwrap_err().code, 429);
        assert_eq!(usage.check_burst(now, &knobs).unwrap_err().code, 429);
        assert!(usage.check_burst(now + BURST, &knobs).is_ok());
    }

    #[test]
    fn reads_of_activities_are_counted_by_the_minute() {
        let knobs = Knobs {
            activity_reads_per_minute: 1,
            ..Knobs::documented()
        };
        let mut usage = Usage::default();
        let now = instant_of("2026-01-06T00:00:00Z");
        assert!(usage.read_activities(now, &knobs).is_ok());
        assert!(usage.read_activities(now, &knobs).is_err());
        assert!(usage.read_activities(now + MINUTE, &knobs).is_ok());
    }
}
