//! Computes when to retry after a failure: exponential backoff with full jitter, never before the server allows it.

use jiff::{SignedDuration, Timestamp};

/// The longest pause after a failure.
pub const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// The pause after a refused credential. Only a person can replace it, so more frequent requests are pointless.
pub const CREDENTIAL_PAUSE: SignedDuration = SignedDuration::from_mins(15);

/// How long Jules may not know a new job before it counts as gone. The README and `jobs add --help` repeat this number.
pub const FRESH_FOR: SignedDuration = SignedDuration::from_secs(60);

/// From this count on the pause has reached its maximum, and the power would overflow.
const MAX_DOUBLINGS: u32 = 16;

/// The time of the next attempt after the n-th failure in a row, counted from 1.
///
/// `interval` is the usual pause and `jitter` lies in `0.0..1.0`. `asked` is the pause that the server requested: it
/// wins, however long it is. A little jitter is added to it, so that clients that wait do not return together.
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
        Some(asked) => asked.saturating_add(interval.mul_f64(jitter)),
        None => {
            let doubled = interval
                .checked_mul(1 << failures.saturating_sub(1).min(MAX_DOUBLINGS))
                .unwrap_or(LONGEST_PAUSE)
                .min(LONGEST_PAUSE);
            // A retry never comes sooner than the usual interval.
            interval.min(LONGEST_PAUSE) + doubled.mul_f64(jitter)
        }
    };
    now.checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// A pseudo-random number in `0.0..1.0`, derived from the name and the count, so that clients that fail together return
/// apart. No source of randomness is needed.
#[must_use]
pub fn jitter_factor(name: &str, count: u32, seed: u64) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    for byte in name.bytes().chain(count.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    // A floating-point number holds 53 bits exactly.
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
        let drawn: Vec<f64> = (0..1_000)
            .map(|count| jitter_factor("77", count, 5))
            .collect();
        assert!(drawn.iter().all(|drawn| (0.0..1.0).contains(drawn)));
        let mean = drawn.iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        assert!((jitter_factor("77", 1, 5) - drawn[1]).abs() < f64::EPSILON);
    }
}
