//! Ticks one repository for the service, with shared clients, and classifies failures for the driver.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::RunRequest;
use phileas_domain::model::{Holder, RepositoryId};
use phileas_domain::plan::Driver as PlanDriver;

use crate::adapters::jules::RepositoryJules;
use crate::adapters::renderer;
use crate::runtime::driver::{Lane, StopSignal, Ticked, Ticker};
use crate::runtime::inbox::{Fault, Lease};
use crate::runtime::ports::{Disposition, Failure};
use crate::runtime::{Settings, Tick, TickError, TickReport};
use crate::server::admin::feed::Feed;
use crate::server::repositories::{KEYLESS_REST, Member, Membership, Repositories, Verification};
use crate::server::worker::tick_observer::TickObserver;

/// How long a repository waits after its credential was refused. The list of repositories is read
/// meanwhile.
const DENIED_REST: Duration = Duration::from_secs(5 * 60);
/// How long a repository waits while the list of repositories is unknown.
const UNKNOWN_REST: Duration = Duration::from_secs(10);
/// How long an unlisted repository waits that was dismissed lately and is woken again. It may send
/// many deliveries, and the list is not read for each of them.
const UNLISTED_REST: Duration = Duration::from_secs(10 * 60);
/// After this many outages without a successful tick, this process alone may not reach GitHub or
/// Jules.
const ALONE_AFTER: u32 = 5;
/// Repositories that wait for the same limit are spread over this many seconds.
const SPREAD: u64 = 10;

/// Ticks the repositories of a service.
#[derive(Debug)]
pub struct Ticks {
    repositories: Arc<Repositories>,
    /// How the holder names of this process begin.
    run: String,
    paused: Option<String>,
    observers: Vec<Arc<dyn TickObserver>>,
    feed: Option<Arc<Feed>>,
    /// Outages since a tick last ended well.
    outages: AtomicU32,
    /// When each repository's tick last ended well, by GitHub's clock.
    ended_at: Mutex<BTreeMap<RepositoryId, Timestamp>>,
}

impl Ticks {
    /// Ticks these repositories. `run` names this process; `paused` is the value of
    /// `PHILEAS_PAUSED`.
    #[must_use]
    pub fn new(repositories: Arc<Repositories>, run: String, paused: Option<String>) -> Self {
        Self {
            repositories,
            run,
            paused,
            observers: Vec::new(),
            feed: None,
            outages: AtomicU32::new(0),
            ended_at: Mutex::default(),
        }
    }

    /// Reports the result of every tick to an observer.
    #[must_use]
    pub fn seen_by(mut self, observers: Arc<dyn TickObserver>) -> Self {
        self.observers.push(observers);
        self
    }

    /// Writes events of ticks to this feed.
    #[must_use]
    pub fn with_feed(mut self, feed: Option<Arc<Feed>>) -> Self {
        self.feed = feed;
        self
    }

    async fn tick_member(
        &self,
        member: &Member,
        lease: &Lease,
        stop: &StopSignal,
        begun: Instant,
    ) -> Ticked {
        let outside = self.repositories.external_services();
        if let Some(left) = member.account.required_wait(outside.now()) {
            let because = "GitHub's limit for its account is used up".to_owned();
            return outage_fault(because, Some(spread_wake(left, member.id)));
        }
        let jules = match &member.jules {
            Ok(key) => &key.client,
            Err(no_key) => return outage_fault(no_key.to_string(), Some(KEYLESS_REST)),
        };
        let settings = match self.tick_settings(member.id) {
            Ok(settings) => settings,
            Err(error) => return outage_fault(error.to_string(), None),
        };
        let github = self.repositories.client_of(member);
        let mut jules = RepositoryJules::new(Arc::clone(jules), member.name.clone());
        // The delivery may be about an outcome, which an older listing does not show.
        let ago = lease.received_at.map(|at| outside.now().duration_since(at));
        if let Some(ago) = ago.and_then(|ago| Duration::try_from(ago).ok()) {
            jules = jules.heard_since(ago);
        }
        let watch = outside.shared_stopwatch();
        let tick = Tick {
            github: &github,
            jules: &jules,
            stopwatch: &watch,
        };
        let report = tick.run_until(&settings, &|| stop.is_requested()).await;
        match report {
            Ok(report) => {
                if !report.stopped {
                    self.outages.store(0, Ordering::Relaxed);
                    self.ended_at().insert(member.id, report.now);
                }
                notify_observers(member, &report);
                for observers in &self.observers {
                    observers.tick_finished(member, &report, begun.elapsed());
                }
                let again = match &self.feed {
                    Some(feed) => feed.send_events(member, &report).await,
                    None => None,
                };
                self.finish_tick(&report, again)
            }
            Err(error) => self.fail_tick(member, error),
        }
    }

    /// Ticks a repository that is not on this process's list. Another process may have found it
    /// since the list was read.
    fn tick_unlisted(&self, lease: &Lease) -> Ticked {
        let because = "it is on no list of repositories".to_owned();
        match self
            .repositories
            .verify_unlisted(lease.repository, lease.generation)
        {
            Verification::Settled => Ticked::Gone,
            Verification::Open => {
                self.repositories.put_off(lease.repository);
                outage_fault(because, Some(UNKNOWN_REST))
            }
            Verification::Again => outage_fault(because, Some(UNLISTED_REST)),
        }
    }

    fn ended_at(&self) -> MutexGuard<'_, BTreeMap<RepositoryId, Timestamp>> {
        self.ended_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick_settings(&self, repository: RepositoryId) -> Result<Settings, getrandom::Error> {
        let entropy = self.repositories.external_services().entropy.draw()?;
        let mark: String = entropy[28..]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Settings {
            holder: Holder::new(format!("{}:{mark}", self.run)),
            driver: PlanDriver::Server,
            ask: RunRequest::Due,
            entropy,
            paused_by_variable: self.paused.clone(),
            previous_tick: self.ended_at().get(&repository).copied(),
            renderer: renderer::shared_renderer(),
        })
    }

    /// Ends a successful tick. `again`: how soon the next check must come, whatever the decision
    /// says.
    fn finish_tick(&self, report: &TickReport, again: Option<Duration>) -> Ticked {
        if report.stopped {
            return Ticked::Stopped;
        }
        // Decisions use GitHub's clock, the driver uses this machine's.
        let now = self.repositories.external_services().now();
        let wake_at = report
            .wake_at
            .and_then(|at| now.checked_add(at.duration_since(report.now)).ok());
        let again = again.and_then(|again| now.checked_add(again).ok());
        Ticked::Done {
            wake_at: wake_at.into_iter().chain(again).min(),
        }
    }

    fn fail_tick(&self, member: &Member, error: TickError) -> Ticked {
        let because = error.to_string();
        if let TickError::Outside(Failure {
            // A failure with a time is an account's limit, which all its repositories share.
            disposition: Disposition::Retry { after: None } | Disposition::Unknown,
            ..
        }) = &error
        {
            self.outages.fetch_add(1, Ordering::Relaxed);
        }
        match error {
            TickError::Contended(_) => outage_fault(because, None),
            TickError::Invariant(_) => Ticked::Failed(Fault::Own { because }),
            TickError::Outside(Failure { disposition, .. }) => match disposition {
                Disposition::Retry { after } => {
                    outage_fault(because, after.map(|after| spread_wake(after, member.id)))
                }
                Disposition::Unknown => outage_fault(because, None),
                // The listing finds which repositories are gone; a refused credential is a fault of
                // its owner.
                Disposition::Denied | Disposition::NotFound => {
                    self.repositories.request_listing();
                    outage_fault(because, Some(DENIED_REST))
                }
                Disposition::Refused | Disposition::TooLarge => {
                    Ticked::Failed(Fault::Own { because })
                }
            },
        }
    }
}

impl Ticker for Ticks {
    fn display_name(&self, repository: RepositoryId) -> String {
        match self.repositories.find_membership(repository) {
            Membership::Member(member) => member.name.to_string(),
            Membership::Unlisted | Membership::Unknown => repository.to_string(),
        }
    }

    fn is_ready(&self, repository: RepositoryId) -> bool {
        match self.repositories.find_membership(repository) {
            Membership::Member(member) => {
                let has_key = member.jules.is_ok()
                    || self.repositories.with_present_key(member).jules.is_ok();
                has_key && self.outages.load(Ordering::Relaxed) < ALONE_AFTER
            }
            // Another process may manage it.
            Membership::Unlisted | Membership::Unknown => false,
        }
    }

    fn repository_lanes(&self, repository: RepositoryId) -> Vec<Lane> {
        let Membership::Member(member) = self.repositories.find_membership(repository) else {
            return Vec::new();
        };
        let mut lanes = vec![Lane::GitHub(member.installation)];
        lanes.extend(member.jules.as_ref().map(|key| Lane::Jules(key.number)));
        lanes
    }

    async fn tick_repository(&self, lease: &Lease, stop: StopSignal) -> Ticked {
        match self.repositories.find_membership(lease.repository) {
            Membership::Member(member) => {
                let begun = Instant::now();
                let member = self.repositories.with_present_key(member);
                let ticked = self.tick_member(&member, lease, &stop, begun).await;
                if let Ticked::Failed(fault) = &ticked {
                    for observers in &self.observers {
                        observers.tick_failed(&member, fault, begun.elapsed());
                    }
                }
                ticked
            }
            Membership::Unlisted => self.tick_unlisted(lease),
            Membership::Unknown => {
                self.repositories.put_off(lease.repository);
                let because =
                    "the list of repositories is not known yet, because GitHub has not replied"
                        .to_owned();
                outage_fault(because, Some(UNKNOWN_REST))
            }
        }
    }
}

fn outage_fault(because: String, after: Option<Duration>) -> Ticked {
    Ticked::Failed(Fault::Outage {
        because,
        retry_after: after.and_then(|after| SignedDuration::try_from(after).ok()),
    })
}

/// A wait that differs between repositories. A service may ask for one of any length.
fn spread_wake(wait: Duration, id: RepositoryId) -> Duration {
    wait.saturating_add(Duration::from_secs(id.0 % SPREAD))
}

fn notify_observers(member: &Member, report: &TickReport) {
    let repository = &member.name;
    for (_, line) in &report.done {
        let turn = line.turn.as_ref().map(tracing::field::display);
        tracing::info!(
            %repository,
            turn,
            session = line.session_id.as_ref().map(tracing::field::display),
            reason = line.reason.code(),
            "{}: {}",
            line.verdict.as_str(),
            line.detail
        );
    }
    for failed in &report.failed {
        tracing::warn!(
            %repository,
            effect = failed.what,
            about = failed.about,
            "some effects failed: {}",
            failed.detail
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_any_length_is_spread() {
        let spread = |wait, id| spread_wake(Duration::from_secs(wait), RepositoryId(id));
        assert_eq!(spread(60, 7), Duration::from_secs(67));
        let longest = spread(u64::MAX, 7);
        let Ticked::Failed(fault) = outage_fault(String::new(), Some(longest)) else {
            panic!("an outage is a failure");
        };
        let retry_after = None;
        let because = String::new();
        assert_eq!(
            fault,
            Fault::Outage {
                because,
                retry_after
            }
        );
    }
}
