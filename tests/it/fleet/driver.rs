//! The driver over an inbox in memory, on a clock that stands still.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::driver::{
    Bounds, Driver, Heartbeat, LEASE, Lane, OVERDUE, RECONCILE, StopSignal, TICK_LIMIT, Ticked,
    Ticker, next_reconcile,
};
use phileas::runtime::inbox::{Fault, Inbox as _, Lease, MAX_FAULTS, PROBE_INTERVAL};
use phileas::runtime::ports::Clock as _;
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::clock::{StillClock, settle};
use crate::support::held;
use crate::support::memory_inbox::MemoryInbox;

const START: &str = "2026-01-05T00:00:00Z";

const fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// What a repository's ticks do.
#[derive(Debug, Clone)]
enum Play {
    /// Takes so long, and asks for the next look after that.
    Work(SignedDuration, Option<SignedDuration>),
    /// Panics.
    Panic,
    /// GitHub is out, and says for how long.
    Outage(Option<SignedDuration>),
    /// Ends only when it is told to.
    UntilStopped,
    /// Never ends.
    Hang,
    /// The service does not manage it.
    Gone,
    /// Is heard of, ends its lease, and takes so long to end itself.
    EndsLate(SignedDuration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Begin,
    End,
}

/// Plays ticks, and writes down when.
struct Stage {
    inbox: Arc<MemoryInbox>,
    clock: StillClock,
    plays: Mutex<BTreeMap<RepositoryId, Play>>,
    lanes: BTreeMap<RepositoryId, Vec<Lane>>,
    log: Mutex<Vec<(Timestamp, RepositoryId, Moment)>>,
}

impl Stage {
    fn play(&self, id: u64, play: Play) {
        held(&self.plays).insert(RepositoryId(id), play);
    }

    fn begun(&self, id: u64) -> Vec<Timestamp> {
        let log = held(&self.log);
        let of_id = log.iter().filter(|(_, repository, moment)| {
            *repository == RepositoryId(id) && *moment == Moment::Begin
        });
        of_id.map(|(at, ..)| *at).collect()
    }

    /// The most ticks at once among these repositories, and whether any had two at once.
    fn max_parallel(&self, ids: impl Fn(u64) -> bool) -> (usize, bool) {
        let (mut now, mut most, mut doubled) = (BTreeMap::new(), 0, false);
        for (_, repository, moment) in held(&self.log).iter() {
            if !ids(repository.0) {
                continue;
            }
            let count: &mut usize = now.entry(*repository).or_default();
            match moment {
                Moment::Begin => *count += 1,
                Moment::End => *count -= 1,
            }
            doubled |= *count > 1;
            most = most.max(now.values().sum());
        }
        (most, doubled)
    }
}

impl Ticker for Stage {
    fn repository_lanes(&self, repository: RepositoryId) -> Vec<Lane> {
        self.lanes.get(&repository).cloned().unwrap_or_default()
    }

    async fn tick_repository(&self, lease: &Lease, mut stop: StopSignal) -> Ticked {
        let id = lease.repository;
        let play = held(&self.plays).get(&id).cloned();
        held(&self.log).push((self.clock.now(), id, Moment::Begin));
        let ticked = match play.unwrap_or(Play::Work(SignedDuration::ZERO, None)) {
            Play::Work(length, wake) => {
                self.clock.sleep_until(self.clock.now() + length).await;
                Ticked::Done {
                    wake_at: wake.map(|wake| self.clock.now() + wake),
                }
            }
            Play::Panic => {
                held(&self.log).push((self.clock.now(), id, Moment::End));
                // As a panic does, without the backtrace of one.
                std::panic::resume_unwind(Box::new(format!("a tick of {} that panics", id.0)))
            }
            Play::Outage(retry_after) => Ticked::Failed(Fault::Outage {
                because: "out".to_owned(),
                retry_after,
            }),
            Play::UntilStopped => {
                stop.wait_for_stop().await;
                Ticked::Stopped
            }
            Play::Hang => std::future::pending().await,
            Play::Gone => Ticked::Gone,
            Play::EndsLate(length) => {
                let now = self.clock.now();
                self.play(id.0, Play::Work(SignedDuration::ZERO, None));
                self.inbox.wake_repository(id, now).await.unwrap();
                self.inbox.finish_lease(lease, now, None).await.unwrap();
                self.clock.sleep_until(now + length).await;
                Ticked::Done { wake_at: None }
            }
        };
        held(&self.log).push((self.clock.now(), id, Moment::End));
        ticked
    }
}

struct Set {
    inbox: Arc<MemoryInbox>,
    stage: Arc<Stage>,
    clock: StillClock,
    heartbeat: Arc<Heartbeat>,
    end: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

fn set(bounds: Bounds, lanes: BTreeMap<RepositoryId, Vec<Lane>>) -> Set {
    set_on(StillClock::new(START.parse().unwrap()), bounds, lanes)
}

/// All of these share one account.
fn one_lane(ids: std::ops::RangeInclusive<u64>) -> BTreeMap<RepositoryId, Vec<Lane>> {
    ids.map(|id| (RepositoryId(id), vec![Lane::GitHub(1)]))
        .collect()
}

fn set_on(clock: StillClock, bounds: Bounds, lanes: BTreeMap<RepositoryId, Vec<Lane>>) -> Set {
    let inbox = Arc::new(MemoryInbox::new(100_000));
    let heartbeat = Arc::new(Heartbeat::default());
    let stage = Arc::new(Stage {
        inbox: Arc::clone(&inbox),
        clock: clock.clone(),
        plays: Mutex::default(),
        lanes,
        log: Mutex::default(),
    });
    let driver = Driver {
        inbox: Arc::clone(&inbox),
        clock: Arc::new(clock.clone()),
        ticker: Arc::clone(&stage),
        holder: Holder::new("test:1"),
        bounds,
        heartbeat: Arc::clone(&heartbeat),
    };
    let (end, ending) = oneshot::channel();
    let running = tokio::spawn(driver.run(async move {
        let _ended = ending.await;
    }));
    Set {
        inbox,
        stage,
        clock,
        heartbeat,
        end: Some(end),
        running,
    }
}

impl Set {
    async fn wake(&self, id: u64) {
        self.inbox
            .wake_repository(RepositoryId(id), self.clock.now())
            .await
            .unwrap();
    }

    async fn end(mut self) -> Arc<MemoryInbox> {
        drop(self.end.take());
        settle().await;
        for _ in 0..60 {
            if self.running.is_finished() {
                break;
            }
            self.clock.pass(seconds(1)).await;
        }
        assert!(
            self.running.is_finished(),
            "the driver did not end within a minute"
        );
        self.running.await.unwrap();
        self.inbox
    }
}

#[tokio::test]
async fn what_is_due_is_ticked_once_and_looked_at_again_when_it_asked() {
    let set = set(Bounds::default(), BTreeMap::new());
    set.stage.play(1, Play::Work(seconds(5), Some(seconds(60))));
    set.wake(1).await;
    set.wake(1).await;
    set.clock.pass(seconds(2)).await;
    // Heard while its tick runs: there is another tick, after this one.
    set.wake(1).await;
    set.clock.pass(seconds(200)).await;
    let start: Timestamp = START.parse().unwrap();
    let begun: Vec<i64> = set
        .stage
        .begun(1)
        .iter()
        .map(|at| at.duration_since(start).as_secs())
        .collect();
    assert_eq!(begun[..2], [0, 5]);
    assert_eq!(
        begun[2], 70,
        "a minute after the second tick's end: {begun:?}"
    );
    assert!(!set.stage.max_parallel(|_| true).1);
    set.end().await;
}

/// A lease ends a moment before its tick does. All that are due start when the tick has ended.
#[tokio::test]
async fn what_is_due_while_its_tick_ends_does_not_hold_up_anybody() {
    let set = set(Bounds::default(), BTreeMap::new());
    let moment = SignedDuration::from_millis(20);
    set.stage.play(1, Play::EndsLate(moment));
    set.wake(1).await;
    settle().await;
    set.wake(2).await;
    set.clock.pass(moment).await;
    let start: Timestamp = START.parse().unwrap();
    assert_eq!(set.stage.begun(1), [start, start + moment]);
    assert_eq!(set.stage.begun(2), [start + moment]);
    set.end().await;
}

#[tokio::test]
async fn no_repository_is_left_alone_for_longer_than_an_hour() {
    let set = set(Bounds::default(), BTreeMap::new());
    for id in 1..=40 {
        set.wake(id).await;
    }
    set.clock.pass(RECONCILE * 5).await;
    let mut places = Vec::new();
    for id in 1..=40 {
        let begun = set.stage.begun(id);
        assert_eq!(begun.len(), 6, "one at the start and one an hour");
        let first = next_reconcile(RepositoryId(id), begun[0]);
        assert_eq!(begun[1], first);
        assert_eq!(begun[2], first + RECONCILE);
        places.push(first);
    }
    places.sort();
    places.dedup();
    assert!(places.len() > 35, "they are spread over the hour");
    set.end().await;
}

#[tokio::test]
async fn a_slow_account_does_not_hold_up_the_others() {
    let slow = |id: u64| id <= 200;
    let lanes = (1..=210)
        .map(|id| {
            let lane = if slow(id) {
                Lane::GitHub(1)
            } else {
                Lane::GitHub(2)
            };
            (RepositoryId(id), vec![lane])
        })
        .collect();
    let bounds = Bounds {
        ticks: 8,
        per_lane: 4,
        ..Bounds::default()
    };
    let set = set(bounds, lanes);
    for id in 1..=210 {
        let length = if slow(id) { 30 } else { 1 };
        set.stage.play(id, Play::Work(seconds(length), None));
    }
    // The slow ones have all been due for longer.
    for id in 1..=200 {
        set.wake(id).await;
    }
    set.clock.pass(seconds(1)).await;
    for id in 201..=210 {
        set.wake(id).await;
    }
    set.clock.pass(seconds(10)).await;
    let done = (201..=210)
        .filter(|id| !set.stage.begun(*id).is_empty())
        .count();
    assert_eq!(
        done, 10,
        "the quick account's repositories were all ticked within 10 s"
    );
    set.clock.pass(seconds(2_400)).await;
    let done = (1..=200)
        .filter(|id| !set.stage.begun(*id).is_empty())
        .count();
    assert_eq!(done, 200, "and the slow ones, four at a time");
    assert_eq!(set.stage.max_parallel(slow), (4, false));
    set.end().await;
}

/// A backlog, and webhooks that come more often than the driver breathes.
#[tokio::test]
async fn steady_news_stops_no_ticks() {
    let set = set(Bounds::default(), one_lane(1..=705));
    for id in 1..=700 {
        set.stage.play(id, Play::Work(seconds(1), None));
        set.wake(id).await;
    }
    for n in 0..300 {
        set.wake(701 + n % 5).await;
        set.clock.pass(SignedDuration::from_millis(300)).await;
    }
    let ticked = (1..=700)
        .filter(|id| !set.stage.begun(*id).is_empty())
        .count();
    assert_eq!(ticked, 700, "twelve a second for a minute and a half");
    set.end().await;
}

/// A clock that goes on while it is looked at, as real ones do.
#[tokio::test]
async fn a_full_lane_is_waited_for_in_order_and_at_rest() {
    let clock = StillClock::new(START.parse().unwrap()).drifting(SignedDuration::from_micros(1));
    let set = set_on(clock, Bounds::default(), one_lane(1..=80));
    let start: Timestamp = START.parse().unwrap();
    for id in 1..=80 {
        set.stage.play(id, Play::Work(seconds(3), None));
        // The higher the number the longer it has been due.
        let due = start - seconds(i64::try_from(id).unwrap());
        set.inbox
            .wake_repository(RepositoryId(id), due)
            .await
            .unwrap();
    }
    let before = set.clock.read();
    set.clock.pass(seconds(19)).await;
    let read = set.clock.read() - before;
    assert!(read < 2_000, "the clock was read {read} times in 19 s");
    let begun: Vec<u64> = held(&set.stage.log)
        .iter()
        .filter(|(.., moment)| *moment == Moment::Begin)
        .map(|(_, id, _)| id.0)
        .collect();
    let mut waves: Vec<Vec<u64>> = begun.chunks(12).map(<[u64]>::to_vec).collect();
    for wave in &mut waves {
        wave.sort_unstable_by(|a, b| b.cmp(a));
    }
    let expected: Vec<u64> = (1..=80).rev().collect();
    assert_eq!(waves.concat(), expected, "the longest overdue first");
    set.end().await;
}

/// The clock was a day ahead for a moment, while no other repository was due.
#[tokio::test]
async fn a_clock_that_was_ahead_puts_no_repository_to_sleep() {
    let set = set(Bounds::default(), BTreeMap::new());
    let tomorrow = set.clock.now() + SignedDuration::from_hours(24);
    for id in 1..=3 {
        set.inbox
            .wake_repository(RepositoryId(id), tomorrow)
            .await
            .unwrap();
    }
    set.clock.pass(seconds(90)).await;
    for id in 1..=3 {
        assert_eq!(set.stage.begun(id).len(), 1);
    }
    set.end().await;
}

#[tokio::test]
async fn a_repository_whose_tick_panics_is_suspended_and_the_others_go_on() {
    let set = set(Bounds::default(), BTreeMap::new());
    set.stage.play(1, Play::Panic);
    for id in 2..=30 {
        set.stage
            .play(id, Play::Work(seconds(1), Some(seconds(60))));
    }
    for id in 1..=30 {
        set.wake(id).await;
    }
    set.clock.pass(SignedDuration::from_hours(1)).await;
    let suspended = set.inbox.suspended_repositories().await.unwrap();
    assert_eq!(suspended.len(), 1);
    assert_eq!(suspended[0].repository, RepositoryId(1));
    let because = &suspended[0].suspended.as_ref().unwrap().because;
    assert!(because.contains("a tick of 1 that panics"), "{because}");
    assert_eq!(set.stage.begun(1).len(), MAX_FAULTS as usize);
    for id in 2..=30 {
        let ticks = set.stage.begun(id).len();
        assert!((55..=62).contains(&ticks), "{id} was ticked {ticks} times");
        set.stage.play(id, Play::Work(seconds(1), None));
    }
    // Traffic does not revive it; a day later it is tried once, and fixed it goes on.
    set.wake(1).await;
    set.clock.pass(SignedDuration::from_hours(20)).await;
    assert_eq!(set.stage.begun(1).len(), MAX_FAULTS as usize);
    set.stage.play(1, Play::Work(SignedDuration::ZERO, None));
    set.clock.pass(PROBE_INTERVAL).await;
    assert!(set.inbox.suspended_repositories().await.unwrap().is_empty());
    set.end().await;
}

#[tokio::test]
async fn an_outage_never_suspends_and_is_waited_for() {
    let set = set(Bounds::default(), BTreeMap::new());
    set.stage.play(1, Play::Outage(Some(seconds(1_800))));
    set.wake(1).await;
    set.clock.pass(SignedDuration::from_hours(24)).await;
    assert!(set.inbox.suspended_repositories().await.unwrap().is_empty());
    let begun = set.stage.begun(1);
    assert!(
        (20..=48).contains(&begun.len()),
        "{} attempts in a day",
        begun.len()
    );
    assert!(
        begun
            .windows(2)
            .all(|pair| pair[1].duration_since(pair[0]) >= seconds(1_800))
    );
    set.end().await;
}

#[tokio::test]
async fn a_tick_that_never_ends_is_abandoned_and_its_repository_suspended() {
    let set = set(Bounds::default(), BTreeMap::new());
    set.stage.play(1, Play::Hang);
    set.stage.play(2, Play::UntilStopped);
    set.wake(1).await;
    set.wake(2).await;
    set.clock.pass(TICK_LIMIT - seconds(1)).await;
    // Its lease would have expired long ago, but it was kept alive.
    assert_eq!(set.stage.begun(1).len(), 1);
    assert!(TICK_LIMIT > LEASE * 5);
    set.clock.pass(SignedDuration::from_hours(8)).await;
    let suspended = set.inbox.suspended_repositories().await.unwrap();
    assert_eq!(suspended.len(), 1, "the one that never ends");
    assert_eq!(suspended[0].repository, RepositoryId(1));
    // The one that ends when it is told to is left alone for a while each time, and is never suspended.
    let begun = set.stage.begun(2);
    assert!(begun.len() > 3, "{begun:?}");
    assert!(
        begun
            .windows(2)
            .all(|pair| pair[1].duration_since(pair[0]) > TICK_LIMIT)
    );
    set.end().await;
}

#[tokio::test]
async fn a_repository_that_is_not_managed_is_forgotten() {
    let set = set(Bounds::default(), BTreeMap::new());
    set.stage.play(1, Play::Gone);
    set.wake(1).await;
    set.clock.pass(SignedDuration::from_hours(24)).await;
    assert_eq!(set.stage.begun(1).len(), 1);
    set.end().await;
}

#[tokio::test]
async fn at_the_end_ticks_stop_and_leases_are_given_back() {
    let bounds = Bounds {
        per_lane: 3,
        ..Bounds::default()
    };
    let set = set(bounds, one_lane(1..=9));
    set.stage.play(1, Play::Hang);
    for id in 2..=9 {
        set.stage.play(id, Play::UntilStopped);
    }
    for id in 1..=9 {
        set.wake(id).await;
    }
    set.clock.pass(seconds(3)).await;
    let clock = set.clock.clone();
    let counts = set.inbox.read_counts(clock.now()).await.unwrap();
    assert_eq!(
        (counts.leased, counts.due),
        (3, 6),
        "no repository is leased before there is room for its tick"
    );
    let inbox = set.end().await;
    let counts = inbox.read_counts(clock.now()).await.unwrap();
    assert_eq!(counts.leased, 0, "three that ran");
    assert_eq!(counts.due, 9, "none counts as handled");
    assert_eq!(counts.failing, 0, "and none as failed");
}

#[tokio::test]
async fn a_driver_that_stands_still_is_seen() {
    let set = set(Bounds::default(), BTreeMap::new());
    set.wake(1).await;
    set.clock.pass(SignedDuration::from_hours(2)).await;
    let now = set.clock.now();
    assert_eq!(set.heartbeat.problem_text(&*set.inbox, now).await, None);
    // The loop is gone and nothing reports it.
    let heartbeat = Arc::clone(&set.heartbeat);
    let inbox = Arc::clone(&set.inbox);
    set.running.abort();
    let later = now + OVERDUE * 3;
    let trouble = heartbeat.problem_text(&*inbox, later).await.unwrap();
    assert!(trouble.contains("has done nothing"), "{trouble}");
}

/// One timer for all: what ten thousand idle repositories cost is counted in wake-ups of the driver.
#[tokio::test]
async fn ten_thousand_idle_repositories_cost_one_timer() {
    let set = set(Bounds::default(), BTreeMap::new());
    let later = set.clock.now() + RECONCILE;
    for id in 1..=10_000 {
        set.inbox
            .wake_repository(RepositoryId(id), later)
            .await
            .unwrap();
    }
    settle().await;
    let before = set.clock.naps();
    set.clock.pass(RECONCILE - seconds(1)).await;
    let naps = set.clock.naps() - before;
    assert!(naps <= 62, "{naps} wake-ups in an idle hour");
    assert!(held(&set.stage.log).is_empty());
    set.end().await;
}

/// Two processes have died while these were ticked. Which of them is to blame shows only where one is ticked at a time.
#[tokio::test]
async fn what_may_kill_the_process_is_ticked_alone() {
    let set = set(Bounds::default(), BTreeMap::new());
    let suspects: Vec<_> = (1..=3).map(RepositoryId).collect();
    let start = set.clock.now();
    for id in 1..=3 {
        set.wake(id).await;
        set.stage.play(id, Play::Work(seconds(7), None));
    }
    let mut now = start - SignedDuration::from_hours(2);
    for id in &suspects {
        set.inbox.wake_repository(*id, now).await.unwrap();
    }
    for process in ["one", "two"] {
        let holder = Holder::new(process);
        let leases = set.inbox.claim_leases(&holder, now, LEASE, &suspects).await;
        assert_eq!(leases.unwrap().len(), 3);
        now += LEASE;
    }
    for id in 4..=20 {
        set.stage.play(id, Play::Work(seconds(5), Some(seconds(5))));
        set.wake(id).await;
    }
    // The driver notices the second death, and each has to wait for a pause.
    set.clock.pass(seconds(120)).await;
    for suspect in 1..=3 {
        let begun = set.stage.begun(suspect);
        assert_eq!(begun.len(), 1, "{suspect}");
        let (from, to) = (begun[0], begun[0] + seconds(7));
        let others = (1..=20).filter(|id| *id != suspect);
        for other in others {
            let length = if other <= 3 { 7 } else { 5 };
            let overlaps = |at: &Timestamp| *at < to && from < *at + seconds(length);
            let overlapping: Vec<_> = set
                .stage
                .begun(other)
                .into_iter()
                .filter(overlaps)
                .collect();
            assert_eq!(overlapping, [], "{other} beside {suspect} at {from}");
        }
    }
    for id in 4..=20 {
        let ticks = set.stage.begun(id).len();
        assert!(ticks >= 5, "{id} was ticked {ticks} times");
    }
    assert_eq!(set.inbox.due_alone(set.clock.now()).await.unwrap(), []);
    set.end().await;
}
