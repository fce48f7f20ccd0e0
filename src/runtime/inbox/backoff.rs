//! Computes how long to wait after a failure: exponentially growing, with full jitter.

use jiff::SignedDuration;
use phileas_domain::model::RepositoryId;

/// After a successful tick, the next one comes at most this much later.
pub const LONGEST_REST: SignedDuration = SignedDuration::from_hours(1);

/// The upper bound of the first pause.
pub const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// The upper bound of every pause.
pub const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);
/// The longest pause that a service may require. GitHub's limits reset within an hour, Jules' daily
/// quota within a day; a longer one is a mistake.
pub const LONGEST_RETRY_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// The lower bound of every pause, in milliseconds: no attempt follows a failure at once.
const SHORTEST_PAUSE_MS: u64 = 1_000;
/// The pause has reached its upper bound long before this, and a higher power would overflow.
const MAX_DOUBLINGS: u32 = 20;

/// Returns the pause after the n-th failure in a row, counted from 1.
///
/// The jitter depends on the repository and the number of the lease. So repositories that fail
/// together are retried apart, and the same history gives the same pause.
pub(super) fn failure_pause(failures: u32, repository: RepositoryId, token: u64) -> SignedDuration {
    let doublings = failures.saturating_sub(1).min(MAX_DOUBLINGS);
    let upper = as_millis(FIRST_PAUSE)
        .saturating_mul(1 << doublings)
        .min(as_millis(LONGEST_PAUSE));
    let spread = upper - SHORTEST_PAUSE_MS;
    let drawn = SHORTEST_PAUSE_MS + mix_bits(repository.0, token) % (spread + 1);
    SignedDuration::from_millis(i64::try_from(drawn).expect("an hour of milliseconds fits"))
}

fn as_millis(length: SignedDuration) -> u64 {
    u64::try_from(length.as_millis()).expect("the pauses are positive and short")
}

/// Mixes two numbers to one that looks random: two rounds of a multiply-and-shift finaliser.
fn mix_bits(a: u64, b: u64) -> u64 {
    let mut x = a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2 {
        x ^= x >> 32;
        x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    x ^ (x >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_an_hour_and_are_spread() {
        for failures in [1, 2, 5, 9, 10, 1_000] {
            let upper = (as_millis(FIRST_PAUSE) << (failures - 1).min(20)).min(3_600_000);
            let drawn: Vec<u64> = (0..1_000)
                .map(|repo| as_millis(failure_pause(failures, RepositoryId(repo), 3)))
                .collect();
            assert!(drawn.iter().all(|ms| (1_000..=upper).contains(ms)));
            let mean = drawn.iter().sum::<u64>() / 1_000;
            let middle = u64::midpoint(1_000, upper);
            assert!(
                mean.abs_diff(middle) < middle / 10,
                "{failures}: mean {mean} of 1000..={upper}"
            );
        }
    }
}
