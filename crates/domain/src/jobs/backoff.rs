//! When somebody who failed is asked again: doubling, with full jitter, and never before the other side allows it.

use jiff::{SignedDuration, Timestamp};

/// The longest pause after a failure.
pub const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// The pause after a refused credential: only a person can help, and nobody is asked in vain more often than this.
pub const CREDENTIAL_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// How long a job may be unknown to Jules after it was made without being gone. The README and the help of `jobs add` say
/// so in words.
pub const FRESH_FOR: SignedDuration = SignedDuration::from_secs(60);

/// Beyond this the pause has long reached its longest, and the power would overflow.
const MAX_DOUBLINGS: u32 = 16;

/// When to ask again after the n-th failure in a row, counted from 1.
///
/// `interval` is the usual pause, `jitter` is in `0.0..1.0`, `asked` is the pause that the other side asked for: it wins,
/// however long it is, and is only spread a little so that those who wait do not come back together.
#[must_use]
pub fn next_try(
    now: Timestamp,
    failures: u32,
    interval: SignedDuration,
    asked: Option<SignedDuration>,
    jitter: f64,
) -> Timestamp {
    let jitter = jitter.clamp(0.0, 1.0);
    let pause = match asked {
        Some(asked) => asked + interval.mul_f64(jitter),
        None => {
            let doubled = interval
                .checked_mul(1 << failures.saturating_sub(1).min(MAX_DOUBLINGS))
                .unwrap_or(LONGEST_PAUSE)
                .min(LONGEST_PAUSE);
            // A failure is never followed by an attempt sooner than usual.
            interval.min(LONGEST_PAUSE) + doubled.mul_f64(jitter)
        }
    };
    now.checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// A number in `0.0..1.0` that looks like chance and is the same for the same name and count, so that nothing has to be
/// drawn: those who fail together come back apart.
#[must_use]
pub fn jitter(name: &str, count: u32, seed: u64) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    for byte in name.bytes().chain(count.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    // 53 bits are exact in a floating-point number.
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(failures: u32, asked: Option<i64>, jitter: f64) -> i64 {
        let interval = SignedDuration::from_secs(45);
        let asked = asked.map(SignedDuration::from_secs);
        next_try(Timestamp::UNIX_EPOCH, failures, interval, asked, jitter).as_second()
    }

    #[test]
    fn pauses_double_up_to_a_quarter_of_an_hour() {
        let longest: Vec<i64> = (1..=7).map(|failures| pause(failures, None, 1.0)).collect();
        assert_eq!(longest, [90, 135, 225, 405, 765, 945, 945]);
        assert_eq!(pause(1_000, None, 1.0), 945);
        assert_eq!(pause(9, None, 0.0), 45);
    }

    #[test]
    fn what_the_other_side_asks_for_wins_however_long_it_is() {
        assert_eq!(pause(1, Some(7_200), 0.0), 7_200);
        assert_eq!(pause(7, Some(60), 1.0), 105);
    }

    #[test]
    fn jitter_is_spread_and_repeatable() {
        let drawn: Vec<f64> = (0..1_000).map(|count| jitter("77", count, 5)).collect();
        assert!(drawn.iter().all(|drawn| (0.0..1.0).contains(drawn)));
        let mean = drawn.iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        assert!((jitter("77", 1, 5) - drawn[1]).abs() < f64::EPSILON);
    }
}
