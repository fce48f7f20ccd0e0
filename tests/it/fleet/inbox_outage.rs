//! The driver while its inbox is away, on a clock that stands still.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::driver::{
    Bounds, DRAIN, Driver, Heartbeat, LEASE, Lane, StopSignal, Ticked, Ticker,
};
use phileas::runtime::inbox::{Inbox as _, Lease, MAX_FAULTS};
use phileas::runtime::ports::Clock as _;
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::clock::{StillClock, settle};
use super::troubled::{Mood, Troubled};
use crate::support::held;

const ONE: RepositoryId = RepositoryId(1);
const START: Timestamp = Timestamp::constant(1_767_571_200, 0);

const fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// Ticks with an effect every second. They end well after so long, or as soon as they may have no further effect.
struct Effects {
    clock: StillClock,
    length: SignedDuration,
    begun: Mutex<Vec<Timestamp>>,
    effects: Mutex<Vec<Timestamp>>,
}

impl Ticker for Effects {
    fn repository_lanes(&self, _: RepositoryId) -> Vec<Lane> {
        Vec::new()
    }

    async fn tick_repository(&self, _: &Lease, stop: StopSignal) -> Ticked {
        let begun = self.clock.now();
        held(&self.begun).push(begun);
        while self.clock.now() < begun + self.length {
            self.clock.sleep_until(self.clock.now() + seconds(1)).await;
            if stop.is_requested() {
                return Ticked::Stopped;
            }
            held(&self.effects).push(self.clock.now());
        }
        Ticked::Done { wake_at: None }
    }
}

struct Set {
    inbox: Arc<Troubled>,
    ticks: Arc<Effects>,
    clock: StillClock,
    end: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Set {
    /// One repository that is due, and whose tick takes so long.
    async fn new(length: SignedDuration, mood: Mood) -> Self {
        let clock = StillClock::new(START);
        let inbox = Arc::new(Troubled::new(clock.clone()));
        inbox.stored().wake_repository(ONE, START).await.unwrap();
        let ticks = Arc::new(Effects {
            clock: clock.clone(),
            length,
            begun: Mutex::default(),
            effects: Mutex::default(),
        });
        let driver = Driver {
            inbox: Arc::clone(&inbox),
            clock: Arc::new(clock.clone()),
            ticker: Arc::clone(&ticks),
            holder: Holder::new("test:1"),
            bounds: Bounds::default(),
            heartbeat: Arc::new(Heartbeat::default()),
        };
        inbox.is(mood);
        let (end, ending) = oneshot::channel();
        let running = tokio::spawn(driver.run(async move {
            let _ended = ending.await;
        }));
        settle().await;
        Self {
            inbox,
            ticks,
            clock,
            end: Some(end),
            running,
        }
    }

    fn last_effect(&self) -> SignedDuration {
        let effects = held(&self.ticks.effects);
        effects.last().unwrap().duration_since(START)
    }

    fn begun(&self) -> Vec<i64> {
        let begun = held(&self.ticks.begun);
        begun
            .iter()
            .map(|at| at.duration_since(START).as_secs())
            .collect()
    }
}

/// The question whether the lease still stands is not answered for a minute. Others may have it after its length.
/// How often leases are extended.
fn heartbeat() -> SignedDuration {
    Bounds::default().heartbeat()
}

#[tokio::test]
async fn a_tick_has_no_effect_after_its_lease() {
    let set = Set::new(seconds(300), Mood::Well).await;
    set.clock.pass(heartbeat() + seconds(1)).await;
    set.inbox.is(Mood::Silent(seconds(60)));
    set.clock.pass(seconds(120)).await;
    let over = heartbeat() + LEASE;
    assert_eq!(set.last_effect(), over - seconds(1));
    assert_eq!(set.begun(), [0]);
}

/// While leases are extended, ticks may take as long as they like.
#[tokio::test]
async fn a_tick_goes_on_while_its_lease_is_extended() {
    let set = Set::new(seconds(300), Mood::Slow(seconds(2))).await;
    set.clock.pass(seconds(310)).await;
    assert_eq!(held(&set.ticks.effects).len(), 300);
}

/// The answer to the question for leases comes when they are over.
#[tokio::test]
async fn a_lease_that_comes_too_late_starts_nothing() {
    let set = Set::new(seconds(3), Mood::Slow(LEASE + seconds(5))).await;
    set.clock.pass(seconds(10)).await;
    set.inbox.is(Mood::Well);
    set.clock.pass(seconds(30)).await;
    assert_eq!(set.begun(), [20]);
    let wake = set.inbox.read_wake(ONE).await.unwrap().unwrap();
    assert_eq!((wake.attempts, wake.token), (0, 2), "it is not counted");
}

#[tokio::test]
async fn an_end_is_seen_while_the_inbox_does_not_answer() {
    let mut set = Set::new(seconds(300), Mood::Well).await;
    set.inbox.is(Mood::Silent(seconds(8)));
    set.clock.pass(heartbeat() + seconds(1)).await;
    drop(set.end.take());
    set.clock.pass(seconds(8)).await;
    assert_eq!(
        set.last_effect(),
        heartbeat() + seconds(1),
        "the running tick is told at once"
    );
    // Its time is counted from when it was asked for.
    set.clock.pass(DRAIN + seconds(4) - seconds(8)).await;
    assert!(set.running.is_finished());
}

/// An inbox that refuses is asked once a second, although each refusal sends a notification.
#[tokio::test]
async fn an_inbox_that_refuses_is_asked_at_rest() {
    let set = Set::new(seconds(300), Mood::Well).await;
    set.clock.pass(seconds(1)).await;
    set.inbox.is(Mood::Refuses);
    set.clock.pass(seconds(9)).await;
    let asked = set.inbox.calls("extend_leases");
    assert!((5..=7).contains(&asked), "{asked} times in five seconds");
    // It is well again before the lease is over.
    set.inbox.is(Mood::Well);
    set.clock.pass(seconds(60)).await;
    assert_eq!(set.last_effect(), seconds(70));
}

/// A tick has ended, and for half a minute that cannot be written.
#[tokio::test]
async fn the_end_of_a_tick_is_written_when_the_inbox_is_back() {
    let set = Set::new(seconds(3), Mood::Well).await;
    set.clock.pass(seconds(1)).await;
    set.inbox.is(Mood::Refuses);
    set.clock.pass(seconds(30)).await;
    set.inbox.is(Mood::Well);
    set.clock.pass(seconds(30)).await;
    assert_eq!(set.begun(), [0], "its lease did not run out");
    let wake = set.inbox.read_wake(ONE).await.unwrap().unwrap();
    assert_eq!((wake.held, wake.attempts), (None, 0));
    assert_eq!(wake.done_generation, wake.generation);
}

/// Whose ticks are stopped by outages of the inbox, again and again, is not at fault.
#[tokio::test]
async fn outages_of_the_inbox_suspend_no_repository() {
    let set = Set::new(seconds(300), Mood::Well).await;
    for _ in 0..=MAX_FAULTS {
        set.clock.pass(seconds(10)).await;
        let wake = set.inbox.read_wake(ONE).await.unwrap().unwrap();
        assert_eq!(wake.attempts, 1);
        set.inbox.is(Mood::Refuses);
        set.clock.pass(seconds(40)).await;
        set.inbox.is(Mood::Well);
    }
    set.clock.pass(seconds(310)).await;
    let wake = set.inbox.read_wake(ONE).await.unwrap().unwrap();
    assert_eq!((wake.attempts, wake.suspended), (0, None));
}

/// Another service takes over what this one cannot extend. Whether the outage is over before the end of the tick is given
/// up or long after, this one has not died, and the repository is neither ticked alone nor suspended.
#[tokio::test]
async fn a_service_that_cannot_reach_the_inbox_has_not_died() {
    for outage in [30, 600] {
        let set = Set::new(seconds(900), Mood::Well).await;
        for other in ["test:2", "test:3", "test:4"] {
            // The driver sleeps for a minute at most.
            set.clock.pass(seconds(70)).await;
            set.inbox.is(Mood::Refuses);
            set.clock.pass(seconds(outage)).await;
            let stored = set.inbox.stored();
            let now = set.clock.now();
            let taken = stored
                .claim_leases(&Holder::new(other), now, LEASE, &[ONE])
                .await;
            let taken = taken.unwrap().pop().unwrap();
            assert_eq!(stored.read_wake(ONE).await.unwrap().unwrap().deaths, 1);
            set.inbox.is(Mood::Well);
            set.clock.pass(seconds(3)).await;
            let wake = stored.read_wake(ONE).await.unwrap().unwrap();
            assert_eq!(
                (wake.deaths, &wake.suspended),
                (0, &None),
                "{outage} {other}"
            );
            stored.release_lease(&taken, set.clock.now()).await.unwrap();
        }
    }
}

/// A disk that is full stays full: what came of the tick was tried again until the drain was over, 20 seconds later.
#[tokio::test]
async fn an_inbox_that_refuses_everything_does_not_hold_up_the_end() {
    for beforehand in [false, true] {
        let mut set = Set::new(seconds(300), Mood::Well).await;
        set.clock.pass(seconds(2)).await;
        if beforehand {
            // The inbox has refused for a while before the service is asked to end.
            set.inbox.is(Mood::Refuses);
            set.clock.pass(seconds(4)).await;
        }
        set.inbox.is(Mood::Refuses);
        set.end.take().unwrap().send(()).unwrap();
        let asked_at = set.clock.now();
        for _ in 0..DRAIN.as_secs() {
            settle().await;
            if set.running.is_finished() {
                break;
            }
            set.clock.pass(seconds(1)).await;
        }
        let took = set.clock.now().duration_since(asked_at);
        assert!(took <= seconds(5), "{took:#}");
        set.running.await.unwrap();
    }
}
