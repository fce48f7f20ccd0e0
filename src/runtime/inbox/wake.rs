//! One row for each repository: when it is due, which process has its lease, and how its ticks
//! ended. All rules of waking are here.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId, RepositoryName};

use super::backoff::{LONGEST_PAUSE, LONGEST_REST, LONGEST_RETRY_AFTER, failure_pause};
use super::lease::{Fault, Lease, Settled};
use crate::runtime::time::time_after;

/// After this many attempts in a row that failed by their own fault, or never ended, a repository
/// is suspended.
pub const MAX_FAULTS: u32 = 5;
/// How often a suspended repository is tried.
pub const PROBE_INTERVAL: SignedDuration = SignedDuration::from_hours(24);
/// How far a time may be beyond what this clock would have written before it counts as another
/// clock's. A tick that ends during the check knows a later time, and the clocks of replicas
/// differ.
pub const CLOCK_SLACK: SignedDuration = SignedDuration::from_mins(1);
/// The longest lease. One that ends later than this from now comes from a clock that has been set
/// back since.
pub const MAX_LEASE: SignedDuration = SignedDuration::from_mins(10);
/// From this attempt on, a take-over waits for a pause. If several repositories failed with one
/// process, the one that caused it must not take the others down each time.
const SUSPECT_AFTER: u32 = 2;
/// After this many deaths of the process that ticked it, a repository is ticked alone: the process
/// ticks no other one meanwhile. If the process dies again, this repository is the cause and is
/// suspended. A power failure ends the ticks of many repositories, so a smaller number would not
/// identify the cause.
pub const ALONE_AFTER_DEATHS: u32 = 2;
/// The longest reason that is stored, in bytes.
const MAX_REASON: usize = 500;

/// The state of a repository's wakes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wake {
    /// The repository.
    pub repository: RepositoryId,
    /// Its name in the newest delivery.
    pub name: Option<RepositoryName>,
    /// The earliest time that was requested since it was last claimed.
    pub due_at: Option<Timestamp>,
    /// How many wakes were requested.
    pub generation: u64,
    /// All deliveries up to this generation were handled.
    pub done_generation: u64,
    /// All deliveries up to this generation that are not handled were given up.
    pub failed_generation: u64,
    /// It is not tried before this time, because it has failed.
    pub not_before: Option<Timestamp>,
    /// Attempts since a tick last ended well, without outages.
    pub attempts: u32,
    /// Outages since a tick last ended well.
    pub outages: u32,
    /// How often it was claimed.
    pub token: u64,
    /// The process that has its lease.
    pub held: Option<Held>,
    /// When the newest delivery arrived that requested a tick.
    pub received_at: Option<Timestamp>,
    /// When and why it was suspended.
    pub suspended: Option<Suspended>,
    /// Why the last attempt failed.
    pub last_fault: Option<String>,
    /// How often the process that ticked it died since one of its ticks last finished.
    pub deaths: u32,
}

/// The process that has a repository's lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The name of the process.
    pub holder: Holder,
    /// When the lease ends.
    pub until: Timestamp,
}

/// A suspended repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspended {
    /// Since when.
    pub at: Timestamp,
    /// Why.
    pub because: String,
    /// When it is tried next.
    pub probe_at: Timestamp,
}

/// The result of claiming a row that was due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// It is leased.
    Leased(Lease),
    /// It is not leased; the row has changed (a pause, or a suspension) and must be stored.
    Deferred,
}

impl Wake {
    /// A repository that was never woken.
    #[must_use]
    pub fn new(repository: RepositoryId) -> Self {
        Self {
            repository,
            name: None,
            due_at: None,
            generation: 0,
            done_generation: 0,
            failed_generation: 0,
            not_before: None,
            attempts: 0,
            outages: 0,
            token: 0,
            held: None,
            received_at: None,
            suspended: None,
            last_fault: None,
            deaths: 0,
        }
    }

    /// Whether it may be ticked only while the process ticks no other repository.
    #[must_use]
    pub fn needs_to_be_alone(&self) -> bool {
        self.deaths >= ALONE_AFTER_DEATHS
    }

    /// When it can next be claimed.
    #[must_use]
    pub fn next_at(&self) -> Option<Timestamp> {
        if let Some(held) = &self.held {
            Some(held.until)
        } else if let Some(suspended) = &self.suspended {
            Some(suspended.probe_at)
        } else {
            self.due_at.map(|due| {
                self.not_before
                    .map_or(due, |not_before| due.max(not_before))
            })
        }
    }

    /// Corrects times of a clock that has been set back since: they would stop the repository for
    /// as long as that clock was ahead. These become due now: a lease that ends later than any can,
    /// a pause that is longer than any, a probe in more than a day, and a tick in more than
    /// [`LONGEST_REST`]. A delivery received in the future counts as received now. Each has
    /// [`CLOCK_SLACK`]. `false`: nothing was wrong.
    pub fn call_back(&mut self, now: Timestamp) -> bool {
        let beyond =
            |at: Timestamp, most: SignedDuration| at.duration_since(now) > most + CLOCK_SLACK;
        let mut called = false;
        if let Some(held) = self
            .held
            .as_mut()
            .filter(|held| beyond(held.until, MAX_LEASE))
        {
            held.until = now;
            called = true;
        }
        if self.due_at.is_some_and(|at| beyond(at, LONGEST_REST)) {
            self.due_at = Some(now);
            called = true;
        }
        let longest = LONGEST_RETRY_AFTER.max(LONGEST_PAUSE);
        if self.not_before.is_some_and(|at| beyond(at, longest)) {
            self.not_before = None;
            called = true;
        }
        if let Some(suspended) = self.suspended.as_mut()
            && beyond(suspended.probe_at, PROBE_INTERVAL)
        {
            suspended.probe_at = now;
            called = true;
        }
        // A future time would hide all deliveries until then.
        if self
            .received_at
            .is_some_and(|at| beyond(at, SignedDuration::ZERO))
        {
            self.received_at = Some(now);
            called = true;
        }
        called
    }

    /// Whether it can be claimed.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.next_at().is_some_and(|at| at <= now)
    }

    /// Requests a tick, at this time or before. Returns the generation of this wake.
    pub fn request_tick(&mut self, at: Timestamp) -> u64 {
        self.generation += 1;
        self.due_by(at);
        self.generation
    }

    /// Requests a tick for a delivery. Returns the generation of this wake.
    pub fn record_delivery(
        &mut self,
        name: Option<&RepositoryName>,
        received_at: Timestamp,
    ) -> u64 {
        if let Some(name) = name {
            self.name = Some(name.clone());
        }
        self.received_at = Some(
            self.received_at
                .map_or(received_at, |heard| heard.max(received_at)),
        );
        self.request_tick(received_at)
    }

    /// Leases a row to a process. The caller has checked that it [is due](Wake::is_due).
    /// `is_alone`: the process ticks no other repository until this tick has ended.
    #[must_use]
    pub fn claim_lease(
        &mut self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        is_alone: bool,
    ) -> Claimed {
        if let Some(lapsed) = self.held.take()
            && self.is_put_off_by_lapse(&lapsed, holder, now)
        {
            return Claimed::Deferred;
        }
        if self.needs_to_be_alone() && !is_alone {
            return Claimed::Deferred;
        }
        self.due_at = None;
        self.not_before = None;
        self.token += 1;
        if self.suspended.is_none() {
            self.attempts += 1;
        }
        let until = time_after(now, length.min(MAX_LEASE));
        self.held = Some(Held {
            holder: holder.clone(),
            until,
        });
        Claimed::Leased(Lease {
            repository: self.repository,
            name: self.name.clone(),
            holder: holder.clone(),
            token: self.token,
            generation: self.generation,
            attempt: self.attempts,
            until,
            received_at: self.received_at,
            suspended: self.suspended.is_some(),
        })
    }

    /// Handles an expired lease: the tick did not end, and its deliveries are due again. `true`:
    /// the repository must not be claimed now, because it was suspended or has to wait.
    fn is_put_off_by_lapse(&mut self, lapsed: &Held, holder: &Holder, now: Timestamp) -> bool {
        self.due_by(now);
        let was_alone = self.needs_to_be_alone();
        // A process that claims its own expired lease has not died: it was suspended, or could not
        // reach the inbox.
        if lapsed.holder != *holder {
            self.not_counted();
            self.deaths = self.deaths.saturating_add(1);
        }
        if let Some(suspended) = &mut self.suspended {
            suspended.probe_at = time_after(now, PROBE_INTERVAL);
            return true;
        }
        let because = if was_alone && lapsed.holder != *holder {
            format!(
                "the process that ticked it died {} times in a row, the last time while it ticked no other repository; \
                 that was {}",
                self.deaths, lapsed.holder
            )
        } else if self.attempts >= MAX_FAULTS {
            format!(
                "{} attempts in a row never ended; the last was held by {}",
                self.attempts, lapsed.holder
            )
        } else if self.attempts.saturating_add(self.deaths) >= SUSPECT_AFTER {
            let failures = self.attempts.saturating_add(self.deaths) - 1;
            self.not_before = Some(time_after(
                now,
                failure_pause(failures, self.repository, self.token),
            ));
            return true;
        } else {
            return false;
        };
        self.suspend_repository(now, because, self.generation);
        true
    }

    /// Whether this lease is valid. The token alone does not decide: a claim that was never
    /// committed has a token that the next process gets again.
    #[must_use]
    pub fn is_held_by(&self, lease: &Lease) -> bool {
        let holds = |held: &Held| held.holder == lease.holder;
        self.held.as_ref().is_some_and(holds) && self.token == lease.token
    }

    /// Extends a lease. `false`: it is not valid any more.
    #[must_use]
    pub fn extend(&mut self, lease: &Lease, now: Timestamp, length: SignedDuration) -> bool {
        if !self.is_held_by(lease) {
            return false;
        }
        let Some(held) = &mut self.held else {
            return false;
        };
        held.until = time_after(now, length.min(MAX_LEASE));
        true
    }

    /// Ends a lease after a successful tick.
    #[must_use]
    pub fn finish_lease(&mut self, lease: &Lease, next: Option<Timestamp>) -> Settled {
        if !self.is_held_by(lease) {
            return self.take_back_death(lease);
        }
        self.held = None;
        self.done_generation = self.done_generation.max(lease.generation);
        self.attempts = 0;
        self.outages = 0;
        self.not_before = None;
        self.suspended = None;
        self.last_fault = None;
        self.deaths = 0;
        if let Some(next) = next {
            self.due_by(next);
        }
        Settled::Until(self.next_at())
    }

    /// Ends a lease whose tick failed.
    #[must_use]
    pub fn fail_lease(&mut self, lease: &Lease, now: Timestamp, fault: &Fault) -> Settled {
        if !self.is_held_by(lease) {
            return self.take_back_death(lease);
        }
        self.held = None;
        // The process is alive, so this tick has not killed it.
        self.deaths = 0;
        self.due_by(now);
        match fault {
            Fault::Outage {
                because,
                retry_after,
            } => {
                self.not_counted();
                self.outages = self.outages.saturating_add(1);
                let asked = retry_after.unwrap_or_default().min(LONGEST_RETRY_AFTER);
                let wait = failure_pause(self.outages, self.repository, self.token).max(asked);
                self.not_before = Some(time_after(now, wait));
                if let Some(suspended) = &mut self.suspended {
                    suspended.probe_at = time_after(now, wait);
                }
                self.last_fault = Some(shorten_reason(because));
            }
            Fault::Own { because } => {
                self.last_fault = Some(shorten_reason(because));
                if self.suspended.is_some() || self.attempts >= MAX_FAULTS {
                    self.suspend_repository(now, because.clone(), lease.generation);
                    return Settled::Suspended;
                }
                let wait = failure_pause(self.attempts, self.repository, self.token);
                self.not_before = Some(time_after(now, wait));
            }
        }
        Settled::Until(self.next_at())
    }

    /// Ends the pause after a failure, because its cause is gone. `false`: the repository is
    /// leased, so its pause may be about to begin.
    #[must_use]
    pub fn end_pause(&mut self) -> bool {
        if self.held.is_some() {
            return false;
        }
        // A suspended repository is tried once a day in any case.
        if self.suspended.is_none() {
            self.outages = 0;
            self.not_before = None;
        }
        true
    }

    /// Releases an unused lease.
    #[must_use]
    pub fn release_lease(&mut self, lease: &Lease, now: Timestamp) -> Settled {
        if !self.is_held_by(lease) {
            return self.take_back_death(lease);
        }
        self.held = None;
        self.not_counted();
        self.due_by(now);
        Settled::Until(self.next_at())
    }

    /// Ends a lease of a repository that is not managed. If a delivery arrived since it was
    /// claimed, the repository may be managed by now, so it is due again; otherwise it is
    /// forgotten.
    #[must_use]
    pub fn abandon_lease(&mut self, lease: &Lease) -> Settled {
        if !self.is_held_by(lease) {
            return self.take_back_death(lease);
        }
        if self.generation != lease.generation {
            return self.finish_lease(lease, None);
        }
        self.forget_wakes();
        Settled::Until(None)
    }

    /// Resumes a suspended repository for a person. `false`: it was not suspended.
    #[must_use]
    pub fn resume_suspended(&mut self, now: Timestamp) -> bool {
        if self.suspended.take().is_none() {
            return false;
        }
        self.attempts = 0;
        self.outages = 0;
        self.deaths = 0;
        self.not_before = None;
        self.request_tick(now);
        true
    }

    /// Forgets a repository that is not managed any more. The row stays, so that an earlier lease
    /// never becomes valid again.
    pub fn forget_wakes(&mut self) {
        *self = Self {
            generation: self.generation,
            done_generation: self.generation,
            token: self.token,
            ..Self::new(self.repository)
        };
    }

    fn due_by(&mut self, at: Timestamp) {
        self.due_at = Some(self.due_at.map_or(at, |due| due.min(at)));
    }

    /// Handles a process that ends a lease which another process has taken over. The first process
    /// lives: its lease expired because it was suspended or could not reach the inbox. The death
    /// that the take-over counted is taken back, and with it the suspension that followed from it.
    fn take_back_death(&mut self, lease: &Lease) -> Settled {
        if lease.token < self.token {
            let is_suspended_for_deaths = self.suspended.is_some() && self.attempts < MAX_FAULTS;
            self.deaths = self.deaths.saturating_sub(1);
            if is_suspended_for_deaths && self.deaths == ALONE_AFTER_DEATHS {
                self.suspended = None;
                self.request_tick(lease.until);
            }
        }
        Settled::Lost
    }

    /// Takes back the count of a claim; the daily probe of a suspended repository does not count.
    fn not_counted(&mut self) {
        if self.suspended.is_none() {
            self.attempts = self.attempts.saturating_sub(1);
        }
    }

    fn suspend_repository(&mut self, now: Timestamp, because: String, given_up: u64) {
        self.suspended = Some(Suspended {
            at: self
                .suspended
                .as_ref()
                .map_or(now, |suspended| suspended.at),
            because: shorten_reason(&because),
            probe_at: time_after(now, PROBE_INTERVAL),
        });
        self.failed_generation = self.failed_generation.max(given_up);
    }
}

fn shorten_reason(reason: &str) -> String {
    let end = reason.floor_char_boundary(MAX_REASON);
    reason[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a rollback, the next process gets the same token again.
    #[test]
    fn a_lease_that_was_never_committed_ends_no_other_lease() {
        let now = Timestamp::UNIX_EPOCH;
        let length = SignedDuration::from_secs(15);
        let mut wake = Wake::new(RepositoryId(7));
        wake.request_tick(now);
        let lease = |wake: &mut Wake, holder: &str| match wake.claim_lease(
            &holder.into(),
            now,
            length,
            false,
        ) {
            Claimed::Leased(lease) => lease,
            Claimed::Deferred => panic!("it is due"),
        };
        let lost = lease(&mut wake.clone(), "one");
        let held = lease(&mut wake, "other");
        assert_eq!(lost.token, held.token);
        assert_eq!(wake.release_lease(&lost, now), Settled::Lost);
        assert!(!wake.extend(&lost, now, length));
        assert!(wake.is_held_by(&held));
    }

    fn due() -> Wake {
        let mut wake = Wake::new(RepositoryId(7));
        wake.request_tick(Timestamp::UNIX_EPOCH);
        wake
    }

    /// Processes take over a repository from one another, each when the previous lease has expired.
    fn take_over(wake: &mut Wake, holders: &[&str]) -> (Vec<Lease>, Timestamp) {
        let (mut now, mut leases) = (Timestamp::UNIX_EPOCH, Vec::new());
        for holder in holders {
            now = now.max(wake.next_at().unwrap());
            let mut claimed = wake.claim_lease(&(*holder).into(), now, MAX_LEASE, true);
            while wake.suspended.is_none() && matches!(claimed, Claimed::Deferred) {
                now = wake.next_at().unwrap();
                claimed = wake.claim_lease(&(*holder).into(), now, MAX_LEASE, true);
            }
            if let Claimed::Leased(lease) = claimed {
                leases.push(lease);
            }
        }
        (leases, now)
    }

    /// A service that cannot reach the database for a while ends its leases late. It has not died.
    #[test]
    fn a_holder_that_ends_its_lease_late_has_not_died() {
        let mut wake = due();
        let (leases, now) = take_over(&mut wake, &["one", "two", "three"]);
        assert_eq!(wake.deaths, 2);
        assert_eq!(wake.finish_lease(&leases[0], None), Settled::Lost);
        assert_eq!(wake.release_lease(&leases[1], now), Settled::Lost);
        assert_eq!(wake.deaths, 0);
        assert!(wake.is_held_by(&leases[2]));
    }

    #[test]
    fn a_suspension_for_deaths_ends_when_one_of_the_dead_is_alive() {
        let mut wake = due();
        let (leases, now) = take_over(&mut wake, &["one", "two", "three", "four"]);
        assert_eq!((wake.deaths, leases.len()), (3, 3));
        assert!(wake.suspended.is_some());
        assert_eq!(wake.release_lease(&leases[1], now), Settled::Lost);
        assert_eq!((wake.deaths, &wake.suspended), (2, &None));
        assert!(wake.is_due(now));
    }

    #[test]
    fn a_suspension_for_faults_outlasts_a_late_end() {
        let mut wake = due();
        let mut now = Timestamp::UNIX_EPOCH;
        let mut last = None;
        for _ in 0..MAX_FAULTS {
            now = wake.next_at().unwrap();
            let Claimed::Leased(lease) = wake.claim_lease(&"one".into(), now, MAX_LEASE, false)
            else {
                panic!("it is due")
            };
            let fault = Fault::Own {
                because: "a bug".to_owned(),
            };
            let _settled = wake.fail_lease(&lease, now, &fault);
            last = Some(lease);
        }
        assert!(wake.suspended.is_some());
        wake.token += 1;
        assert_eq!(wake.release_lease(&last.unwrap(), now), Settled::Lost);
        assert!(wake.suspended.is_some());
    }
}
