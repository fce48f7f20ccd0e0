//! Logs an outage of the inbox without a line for each attempt; attempts are a second apart.

use jiff::{SignedDuration, Timestamp};

/// How often a lasting outage is logged again.
const SAID_EVERY: SignedDuration = SignedDuration::from_secs(60);
/// After this long without a failure the call was not tried any more, and its next failure is a new
/// outage.
const FORGOTTEN: SignedDuration = SignedDuration::from_mins(5);

/// One call of the inbox, and its outage.
#[derive(Debug)]
pub(super) struct OutageLog {
    /// What the failing call cannot do, for the log.
    what: &'static str,
    failing: Option<OngoingOutage>,
}

#[derive(Debug, Clone, Copy)]
struct OngoingOutage {
    since: Timestamp,
    last: Timestamp,
    said: Timestamp,
}

/// Whether and how to log a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutageNews {
    /// It is the first one of the outage.
    First,
    /// The outage has lasted this long.
    Still(SignedDuration),
    /// The outage was logged a moment ago.
    Nothing,
}

impl OutageLog {
    /// `what` completes the log line: what cannot be done while the call fails.
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            failing: None,
        }
    }

    /// Records a failure.
    pub(super) fn record_failure(&mut self, error: impl std::fmt::Display, now: Timestamp) {
        let what = self.what;
        match self.next_news(now) {
            OutageNews::First => {
                tracing::error!("{what}: {error}; logged again once a minute while it lasts")
            }
            OutageNews::Still(lasting) => {
                tracing::error!(
                    "{what}: {error}; this has lasted for {} s",
                    lasting.as_secs()
                );
            }
            OutageNews::Nothing => tracing::debug!("{what}: {error}"),
        }
    }

    /// Records a success. The clock is read only if the call failed before.
    pub(super) fn record_success(&mut self, now: impl FnOnce() -> Timestamp) {
        if self.failing.is_none() {
            return;
        }
        if let Some(lasted) = self.end_outage(now()) {
            let what = self.what;
            tracing::warn!("over after {} s: {what}", lasted.as_secs());
        }
    }

    fn next_news(&mut self, now: Timestamp) -> OutageNews {
        // After the clock was set back, the outage starts again.
        let known = self
            .failing
            .filter(|failing| failing.last <= now && now.duration_since(failing.last) < FORGOTTEN);
        let Some(failing) = known else {
            self.failing = Some(OngoingOutage {
                since: now,
                last: now,
                said: now,
            });
            return OutageNews::First;
        };
        let is_time = now.duration_since(failing.said) >= SAID_EVERY;
        self.failing = Some(OngoingOutage {
            last: now,
            said: if is_time { now } else { failing.said },
            ..failing
        });
        if is_time {
            OutageNews::Still(now.duration_since(failing.since))
        } else {
            OutageNews::Nothing
        }
    }

    /// Ends the outage and returns how long it lasted, if there was one.
    fn end_outage(&mut self, now: Timestamp) -> Option<SignedDuration> {
        let failing = self.failing.take()?;
        let is_known = failing.last <= now && now.duration_since(failing.last) < FORGOTTEN;
        is_known.then(|| now.duration_since(failing.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn an_outage_is_said_at_first_then_once_a_minute_and_at_its_end() {
        let mut away = OutageLog::new("no repository can be claimed");
        let lasting = |seconds| OutageNews::Still(SignedDuration::from_secs(seconds));
        let said: Vec<(i64, OutageNews)> = (0..=150)
            .map(|second| (second, away.next_news(at(second))))
            .filter(|(_, say)| *say != OutageNews::Nothing)
            .collect();
        assert_eq!(
            said,
            [
                (0, OutageNews::First),
                (60, lasting(60)),
                (120, lasting(120))
            ]
        );
        assert_eq!(
            away.end_outage(at(151)),
            Some(SignedDuration::from_secs(151))
        );
        assert_eq!(away.end_outage(at(152)), None, "that is said once");
        assert_eq!(away.next_news(at(153)), OutageNews::First);
    }

    /// After another process claims the repository, this one claims nothing for a long time.
    #[test]
    fn an_outage_that_was_not_tried_for_long_begins_again() {
        let mut away = OutageLog::new("no repository can be claimed");
        away.next_news(at(0));
        assert_eq!(away.next_news(at(3_600)), OutageNews::First);
        assert_eq!(away.end_outage(at(7_200)), None);
        away.next_news(at(7_200));
        assert_eq!(
            away.next_news(at(0)),
            OutageNews::First,
            "the clock was set back"
        );
        assert_eq!(away.end_outage(at(-3_600)), None, "and once more");
    }
}
