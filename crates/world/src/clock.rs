//! Virtual time, which moves by hand or in proportion to real time.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// How virtual time moves between two calls of [`crate::World::advance_to`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Pace {
    /// It does not move.
    #[default]
    Manual,
    /// This many virtual seconds pass in one real second.
    Accelerated(f64),
}

/// The clock of one world. It never goes back.
#[derive(Debug, Clone)]
pub struct Clock {
    now: Timestamp,
    pace: Pace,
    anchor: Option<(Instant, Timestamp)>,
}

impl Clock {
    /// A manual clock that stands at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self {
            now: start,
            pace: Pace::Manual,
            anchor: None,
        }
    }

    /// The present instant of the world.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Moves forward; an earlier instant is ignored.
    pub fn move_to(&mut self, instant: Timestamp) {
        if instant > self.now {
            self.now = instant;
            if let Some((real, _)) = self.anchor
                && self
                    .real_target(Instant::now())
                    .is_some_and(|target| target < instant)
            {
                // After a jump ahead of the accelerated pace, the pace continues from here.
                self.anchor = Some((real.max(Instant::now()), instant));
            }
        }
    }

    /// Chooses the pace, measured from this moment on.
    pub fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        self.anchor = match pace {
            Pace::Manual => None,
            Pace::Accelerated(_) => Some((Instant::now(), self.now)),
        };
    }

    /// The pace.
    #[must_use]
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Where virtual time should stand at this real instant, when it moves by itself.
    #[must_use]
    pub fn real_target(&self, real: Instant) -> Option<Timestamp> {
        let (Pace::Accelerated(factor), Some((anchor, start))) = (self.pace, self.anchor) else {
            return None;
        };
        let elapsed = real.saturating_duration_since(anchor).as_secs_f64() * factor;
        Some(later_by(
            start,
            Duration::try_from_secs_f64(elapsed).unwrap_or(Duration::MAX),
        ))
    }

    /// The real time that a virtual span takes at the present pace; zero for a manual clock.
    #[must_use]
    pub fn real_span(&self, span: Duration) -> Duration {
        match self.pace {
            Pace::Manual => Duration::ZERO,
            Pace::Accelerated(factor) if factor > 0.0 => span.div_f64(factor),
            Pace::Accelerated(_) => Duration::ZERO,
        }
    }
}

/// An instant later by a span; the end of time when it would pass it.
#[must_use]
pub fn later_by(instant: Timestamp, span: Duration) -> Timestamp {
    SignedDuration::try_from(span)
        .ok()
        .and_then(|span| instant.checked_add(span).ok())
        .unwrap_or(Timestamp::MAX)
}

/// An instant earlier by a span; the beginning of time when it would pass it.
#[must_use]
pub fn earlier_by(instant: Timestamp, span: Duration) -> Timestamp {
    SignedDuration::try_from(span)
        .ok()
        .and_then(|span| instant.checked_sub(span).ok())
        .unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_back() {
        let start: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        let mut clock = Clock::new(start);
        clock.move_to(later_by(start, Duration::from_secs(5)));
        clock.move_to(start);
        assert_eq!(clock.now(), later_by(start, Duration::from_secs(5)));
        assert_eq!(clock.real_target(Instant::now()), None);
    }
}
