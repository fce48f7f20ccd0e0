//! Computes when a repository is ticked next.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryId;

use crate::runtime::inbox::{LONGEST_REST, recheck_time};
use crate::runtime::time::time_after;

/// No repository goes without a tick for longer than this, whether webhooks arrive or not.
pub const RECONCILE: SignedDuration = LONGEST_REST;
/// The shortest rest between two ticks, also where a tick requests the next one at once: repeated
/// decisions must not become a flood of requests.
const SHORTEST_REST: SignedDuration = SignedDuration::from_secs(1);

/// When to tick next, after a tick that was claimed at `claimed_at` and ends at `now`. The earliest
/// of three counts: the time that the tick requested, the next recheck for what replicas may not
/// have shown, and the repository's place in the hour.
#[must_use]
pub fn next_look(
    repository: RepositoryId,
    wake_at: Option<Timestamp>,
    received_at: Option<Timestamp>,
    claimed_at: Timestamp,
    now: Timestamp,
) -> Timestamp {
    let asked = [wake_at, recheck_time(received_at, claimed_at)];
    let earliest = asked.into_iter().flatten().min();
    let reconcile = next_reconcile(repository, now);
    let next = earliest.map_or(reconcile, |asked| asked.min(reconcile));
    next.max(time_after(now, SHORTEST_REST))
}

/// The next time after `now` at which a repository is ticked in any case. Each has its own place in
/// the hour, so that the ticks of a fleet are spread.
#[must_use]
pub fn next_reconcile(repository: RepositoryId, now: Timestamp) -> Timestamp {
    let hour = RECONCILE.as_secs();
    let place = i64::try_from(scatter_id(repository.0) % hour.unsigned_abs()).unwrap_or(0);
    let into_the_hour = now.as_second().rem_euclid(hour);
    let mut ahead = (place - into_the_hour).rem_euclid(hour);
    if ahead == 0 {
        ahead = hour;
    }
    let second = now.as_second().saturating_add(ahead);
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}

/// Places neighbouring ids far apart: Knuth's multiplicative hash, high half.
fn scatter_id(id: u64) -> u64 {
    id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_fleet_is_spread_over_the_hour() {
        let now = at(1_767_571_234);
        let mut minutes = [0_u32; 60];
        for id in 1..=6_000 {
            let next = next_reconcile(RepositoryId(id), now);
            let ahead = next.duration_since(now);
            assert!(
                ahead > SignedDuration::ZERO && ahead <= RECONCILE,
                "{id}: {ahead}"
            );
            // Each keeps its place from hour to hour.
            assert_eq!(next_reconcile(RepositoryId(id), next), next + RECONCILE);
            minutes[usize::try_from(ahead.as_secs().rem_euclid(3_600) / 60).unwrap()] += 1;
        }
        assert!(
            minutes.iter().all(|count| (60..=140).contains(count)),
            "{minutes:?}"
        );
    }

    #[test]
    fn the_earliest_reason_decides() {
        let now = at(1_767_571_200);
        // A repository whose place in the hour is not the earliest time.
        let id = (1..)
            .map(RepositoryId)
            .find(|id| next_reconcile(*id, now) > now + SignedDuration::from_mins(10))
            .unwrap();
        let reconcile = next_reconcile(id, now);
        let soon = now + SignedDuration::from_secs(9);
        assert_eq!(next_look(id, None, None, now, now), reconcile);
        assert_eq!(next_look(id, Some(soon), None, now, now), soon);
        assert_eq!(
            next_look(id, Some(Timestamp::MAX), None, now, now),
            reconcile
        );
        // The repository of a recent delivery is checked again.
        let again = now + SignedDuration::from_secs(15);
        assert_eq!(next_look(id, None, Some(now), now, now), again);
        // The loop never spins.
        assert_eq!(
            next_look(id, Some(now), None, now, now),
            now + SHORTEST_REST
        );
    }
}
