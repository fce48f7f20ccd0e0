//! Failures, crashes, outages, suspensions, and clocks that are wrong.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::inbox::{
    CLOCK_SLACK, Fault, Inbox, LONGEST_PAUSE, LONGEST_REST, LONGEST_RETRY_AFTER, Lease, MAX_FAULTS,
    MAX_LEASE, Outcome, PROBE_INTERVAL, Page, Settled, Start,
};
use phileas_domain::model::RepositoryId;

use super::stand::{
    ALL, DAY, HOUR, LEASE, SECOND, WIDGET, at, claim, claim_due, delivery, holder, next,
    nothing_due, only,
};

fn own(because: &str) -> Fault {
    Fault::Own {
        because: because.to_owned(),
    }
}

fn outage(retry_after: Option<SignedDuration>) -> Fault {
    Fault::Outage {
        because: "GitHub answered 502".to_owned(),
        retry_after,
    }
}

/// Lets the repository fail by its own fault until it is suspended; answers when that was.
async fn suspend_repository(inbox: &impl Inbox, from: Timestamp) -> Timestamp {
    inbox.wake_repository(WIDGET, from).await.unwrap();
    let mut now = from;
    for attempt in 1..=MAX_FAULTS {
        let lease = claim(inbox, "one", now).await;
        assert_eq!(lease.attempt, attempt);
        let settled = inbox.fail_lease(&lease, now, &own("a bug")).await.unwrap();
        if attempt == MAX_FAULTS {
            assert_eq!(settled, Settled::Suspended);
            break;
        }
        let Settled::Until(Some(again)) = settled else {
            panic!("{settled:?}")
        };
        let wait = again.duration_since(now);
        assert!(
            (SECOND..=LONGEST_PAUSE).contains(&wait),
            "pause {attempt}: {wait:?}"
        );
        nothing_due(inbox, again - SignedDuration::from_millis(1)).await;
        now = again;
    }
    now
}

pub(super) async fn own_faults_suspend_in_the_end(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let now = suspend_repository(inbox, at(0)).await;
    let suspended = inbox.suspended_repositories().await.unwrap();
    let [wake] = suspended.as_slice() else {
        panic!("{suspended:?}")
    };
    let why = wake.suspended.as_ref().unwrap();
    assert_eq!((why.at, why.because.as_str()), (now, "a bug"));
    assert_eq!(wake.name.as_ref().unwrap().to_string(), "acme/widget");
    nothing_due(inbox, now + HOUR).await;
}

pub(super) async fn a_handler_that_never_comes_back_is_suspended(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let mut now = at(0);
    let mut attempts = 0;
    // Each wait for a lease to lapse, or for a pause after it, is one step; far more steps than are needed.
    for _ in 0..4 * MAX_FAULTS {
        let leases = claim_due(inbox, "dies", now, ALL).await;
        attempts += leases.len();
        if !inbox.suspended_repositories().await.unwrap().is_empty() {
            break;
        }
        now = next(inbox).await;
    }
    assert_eq!(attempts, MAX_FAULTS as usize);
    let suspended = inbox.suspended_repositories().await.unwrap();
    let because = &suspended[0].suspended.as_ref().unwrap().because;
    assert!(because.contains("never ended"), "{because}");
    assert_eq!(outcome_of(inbox, "a").await, Outcome::Failed);
}

pub(super) async fn outages_never_suspend(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let mut now = at(0);
    for _ in 0..100 {
        let lease = claim(inbox, "one", now).await;
        assert_eq!(lease.attempt, 1);
        let settled = inbox.fail_lease(&lease, now, &outage(None)).await.unwrap();
        let Settled::Until(Some(again)) = settled else {
            panic!("{settled:?}")
        };
        assert!(again > now && again.duration_since(now) <= LONGEST_PAUSE);
        now = again;
    }
    assert!(inbox.suspended_repositories().await.unwrap().is_empty());
    let counts = inbox.read_counts(now).await.unwrap();
    assert_eq!((counts.failing, counts.suspended), (1, 0));
}

pub(super) async fn outages_between_do_not_hide_faults(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let mut faults = 0;
    for round in 0..100 {
        let now = next(inbox).await;
        let lease = claim(inbox, "one", now).await;
        let fault = if round % 2 == 0 {
            outage(None)
        } else {
            faults += 1;
            own("a bug")
        };
        if inbox.fail_lease(&lease, now, &fault).await.unwrap() == Settled::Suspended {
            break;
        }
    }
    assert_eq!(faults, MAX_FAULTS);
}

pub(super) async fn patience_is_kept_within_reason(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let lease = claim(inbox, "one", at(0)).await;
    let wanted = HOUR * 3;
    inbox
        .fail_lease(&lease, at(0), &outage(Some(wanted)))
        .await
        .unwrap();
    // Neither a wake nor a delivery shortens the time that the other side has asked for.
    inbox
        .accept_delivery(delivery("a", WIDGET, at(1)))
        .await
        .unwrap();
    assert_eq!(next(inbox).await, at(0) + wanted);
    let now = at(0) + wanted;
    let lease = claim(inbox, "one", now).await;
    inbox
        .fail_lease(&lease, now, &outage(Some(DAY * 365)))
        .await
        .unwrap();
    assert_eq!(next(inbox).await, now + LONGEST_RETRY_AFTER);
}

pub(super) async fn traffic_does_not_revive_what_is_suspended(inbox: &impl Inbox) {
    let now = suspend_repository(inbox, at(0)).await;
    let probe = now + PROBE_INTERVAL;
    for n in 0..50 {
        let received = now + SECOND * n;
        let text = format!("traffic-{n}");
        inbox
            .accept_delivery(delivery(&text, WIDGET, received))
            .await
            .unwrap();
        nothing_due(inbox, received).await;
    }
    assert_eq!(next(inbox).await, probe);
    let lease = claim(inbox, "one", probe).await;
    assert!(lease.suspended);
}

pub(super) async fn a_suspended_repository_is_tried_once_a_day(inbox: &impl Inbox) {
    let since = suspend_repository(inbox, at(0)).await;
    let mut now = since;
    for day in 0..MAX_FAULTS + 2 {
        now += PROBE_INTERVAL;
        let text = format!("day-{day}");
        let heard = delivery(&text, WIDGET, now - SECOND);
        inbox.accept_delivery(heard).await.unwrap();
        nothing_due(inbox, now - SECOND).await;
        let lease = claim(inbox, "one", now).await;
        if day % 2 == 0 {
            let settled = inbox
                .fail_lease(&lease, now, &own("still a bug"))
                .await
                .unwrap();
            assert_eq!(settled, Settled::Suspended);
        } else {
            // A try that takes its process with it is no reason to try at once.
            now = lease.until;
            nothing_due(inbox, now).await;
        }
    }
    let suspended = inbox.suspended_repositories().await.unwrap();
    assert_eq!(suspended[0].suspended.as_ref().unwrap().at, since);
    // One that goes well ends it.
    let now = next(inbox).await;
    let lease = claim(inbox, "one", now).await;
    inbox
        .accept_delivery(delivery("meanwhile", WIDGET, now))
        .await
        .unwrap();
    inbox.finish_lease(&lease, now, None).await.unwrap();
    assert!(inbox.suspended_repositories().await.unwrap().is_empty());
    // What was heard meanwhile is due at last.
    let lease = claim(inbox, "one", now).await;
    assert_eq!((lease.attempt, lease.suspended), (1, false));
}

pub(super) async fn a_person_resumes_what_is_suspended(inbox: &impl Inbox) {
    assert!(!inbox.resume_repository(WIDGET, at(0)).await.unwrap());
    let now = suspend_repository(inbox, at(0)).await;
    assert!(inbox.resume_repository(WIDGET, now).await.unwrap());
    assert!(!inbox.resume_repository(WIDGET, now).await.unwrap());
    assert!(inbox.suspended_repositories().await.unwrap().is_empty());
    let lease = claim(inbox, "one", now).await;
    assert_eq!((lease.attempt, lease.suspended), (1, false));
}

pub(super) async fn a_pause_ends_when_what_was_waited_for_has_come(inbox: &impl Inbox) {
    let now = suspend_repository(inbox, at(0)).await;
    let [paused, held, unheard] = [2, 3, 4].map(RepositoryId);
    inbox.wake_repository(paused, now).await.unwrap();
    let failing = claim(inbox, "one", now).await;
    inbox
        .fail_lease(&failing, now, &outage(Some(HOUR)))
        .await
        .unwrap();
    inbox.wake_repository(held, now).await.unwrap();
    let lease = claim(inbox, "one", now).await;
    assert_eq!(lease.repository, held);
    let still = inbox
        .end_pauses(&[WIDGET, paused, held, unheard])
        .await
        .unwrap();
    assert_eq!(still, BTreeSet::from([held]));
    assert_eq!(inbox.list_due(now, 10).await.unwrap(), [paused]);
    // Its next pause is a first one again.
    let again = claim(inbox, "one", now).await;
    inbox.fail_lease(&again, now, &outage(None)).await.unwrap();
    let wake = inbox.read_wake(paused).await.unwrap().unwrap();
    assert_eq!(wake.outages, 1);
    // A repository that is held or suspended stays so, and no new one is recorded.
    assert!(inbox.finish_lease(&lease, now, None).await.unwrap() != Settled::Lost);
    assert_eq!(inbox.suspended_repositories().await.unwrap().len(), 1);
    assert!(inbox.read_wake(unheard).await.unwrap().is_none());
}

/// For a moment the clock was days ahead. What was written meanwhile must not stop anybody for that long.
pub(super) async fn a_clock_that_was_set_back_stops_no_repository(inbox: &impl Inbox) {
    let [leased, paused, ticked, suspended] = [1, 2, 3, 4].map(RepositoryId);
    let ahead = at(0) + DAY * 3;
    inbox.wake_repository(leased, at(0)).await.unwrap();
    let lease = claim(inbox, "ahead", ahead).await;
    inbox.wake_repository(paused, at(0)).await.unwrap();
    let failing = claim(inbox, "ahead", ahead).await;
    inbox
        .fail_lease(&failing, ahead, &outage(Some(DAY)))
        .await
        .unwrap();
    inbox.wake_repository(ticked, at(0)).await.unwrap();
    let well = claim(inbox, "ahead", ahead).await;
    let next = Some(ahead + LONGEST_REST);
    inbox.finish_lease(&well, ahead, next).await.unwrap();
    let mut late = ahead;
    for _ in 0..MAX_FAULTS {
        inbox.wake_repository(suspended, at(0)).await.unwrap();
        let lease = inbox
            .claim_leases(&holder("ahead"), late, LEASE, &[suspended])
            .await;
        let lease = only(lease.unwrap());
        inbox.fail_lease(&lease, late, &own("a bug")).await.unwrap();
        late += HOUR;
    }
    // The clock is right again, and no delivery comes.
    let now = at(10);
    nothing_due(inbox, now).await;
    assert_eq!(inbox.call_back(now).await.unwrap(), 4);
    assert_eq!(inbox.call_back(now).await.unwrap(), 0);
    let leases = claim_due(inbox, "right", now, ALL).await;
    let ids: Vec<_> = leases.iter().map(|lease| lease.repository).collect();
    assert_eq!(ids, [leased, paused, ticked, suspended]);
    let late = inbox.finish_lease(&lease, now, None).await.unwrap();
    assert_eq!(late, Settled::Lost);
    // A day ahead for good: leases end, and all that is due comes, if not at once.
    let mut taken = BTreeSet::new();
    for hours in [24, 26, 49, 51] {
        let later = at(0) + HOUR * hours;
        let leases = claim_due(inbox, "right", later, ALL).await;
        taken.extend(leases.iter().map(|lease| lease.repository));
    }
    assert_eq!(taken.len(), 4);
}

/// A tick that ends while the clock is compared knows a later moment than the comparison, and no clock was set back.
pub(super) async fn who_was_put_off_a_moment_ago_is_not_called_back(inbox: &impl Inbox) {
    let [leased, paused, ticked] = [1, 2, 3].map(RepositoryId);
    let then = at(60);
    inbox.wake_repository(leased, at(0)).await.unwrap();
    let one = holder("one");
    let lease = inbox.claim_leases(&one, then, MAX_LEASE, &[leased]).await;
    only(lease.unwrap());
    inbox.wake_repository(paused, at(0)).await.unwrap();
    let failing = claim(inbox, "one", then).await;
    let pause = outage(Some(LONGEST_RETRY_AFTER));
    inbox.fail_lease(&failing, then, &pause).await.unwrap();
    inbox.wake_repository(ticked, at(0)).await.unwrap();
    let well = claim(inbox, "one", then).await;
    let next = Some(then + LONGEST_REST);
    inbox.finish_lease(&well, then, next).await.unwrap();
    let moment = then - CLOCK_SLACK;
    assert_eq!(inbox.call_back(moment).await.unwrap(), 0);
    nothing_due(inbox, then).await;
    // Further than any clocks differ.
    let before = moment - SignedDuration::from_millis(1);
    assert_eq!(inbox.call_back(before).await.unwrap(), 3);
}

/// What was heard by a clock that was ahead would stand for all that is heard until then, and no tick would read again
/// what GitHub's replicas do not show yet.
pub(super) async fn what_a_clock_that_was_ahead_has_heard_hides_nothing(inbox: &impl Inbox) {
    let ahead = at(0) + DAY * 2;
    inbox
        .accept_delivery(delivery("a", WIDGET, ahead))
        .await
        .unwrap();
    let lease = claim(inbox, "ahead", ahead).await;
    inbox
        .finish_lease(&lease, ahead, Some(at(60)))
        .await
        .unwrap();
    assert_eq!(inbox.call_back(at(10)).await.unwrap(), 1);
    assert_eq!(inbox.call_back(at(10)).await.unwrap(), 0);
    assert_eq!(next(inbox).await, at(60));
    inbox
        .accept_delivery(delivery("b", WIDGET, at(20)))
        .await
        .unwrap();
    let lease = claim(inbox, "right", at(20)).await;
    assert_eq!(lease.received_at, Some(at(20)));
}

pub(super) async fn those_that_went_down_together_come_back_apart(inbox: &impl Inbox) {
    for repository in 0..100 {
        inbox
            .wake_repository(RepositoryId(repository), at(0))
            .await
            .unwrap();
    }
    let mut now = at(0);
    for _ in 0..2 {
        let leases = claim_due(inbox, "dies", now, ALL).await;
        assert_eq!(leases.len(), 100, "the first take-over is immediate");
        now += LEASE;
    }
    nothing_due(inbox, now).await;
    let mut instants = Vec::new();
    for _ in 0..100 {
        now = next(inbox).await;
        let lease = only(claim_due(inbox, "two", now, 1).await);
        inbox.finish_lease(&lease, now, None).await.unwrap();
        instants.push(now);
    }
    instants.dedup();
    assert!(instants.len() > 90, "only {} instants", instants.len());
}

/// The processes die one after another, each while it ticks so many repositories. Answers with when the last leases end.
async fn die(inbox: &impl Inbox, processes: &[&str], from: Timestamp, count: usize) -> Timestamp {
    let mut now = from;
    for process in processes {
        assert_eq!(claim_due(inbox, process, now, ALL).await.len(), count);
        now += LEASE;
    }
    now
}

async fn claim_alone(
    inbox: &impl Inbox,
    process: &str,
    now: Timestamp,
    id: RepositoryId,
) -> Option<Lease> {
    let claimed = inbox.claim_alone(&holder(process), now, LEASE, id).await;
    claimed.unwrap()
}

/// A loss of power ends the ticks of all that run, so which of them is to blame shows only when each is ticked alone.
pub(super) async fn two_power_cuts_suspend_no_repository(inbox: &impl Inbox) {
    let all: Vec<_> = (1..=5).map(RepositoryId).collect();
    for id in &all {
        inbox.wake_repository(*id, at(0)).await.unwrap();
    }
    let mut now = die(inbox, &["one", "two"], at(0), 5).await;
    assert_eq!(claim_due(inbox, "three", now, ALL).await, []);
    now += LONGEST_PAUSE;
    assert_eq!(inbox.list_due(now, ALL).await.unwrap().len(), 5);
    assert_eq!(inbox.due_alone(now).await.unwrap(), all);
    assert_eq!(claim_due(inbox, "three", now, ALL).await, []);
    for id in &all {
        let lease = claim_alone(inbox, "three", now, *id).await.unwrap();
        inbox.finish_lease(&lease, now, Some(now)).await.unwrap();
        let wake = inbox.read_wake(*id).await.unwrap().unwrap();
        assert_eq!((wake.deaths, wake.attempts), (0, 0));
    }
    assert_eq!(inbox.suspended_repositories().await.unwrap(), []);
    assert_eq!(inbox.due_alone(now).await.unwrap(), []);
    assert_eq!(claim_due(inbox, "three", now, ALL).await.len(), 5);
}

/// Faults and deaths are counted apart: two power cuts suspend no repository that was about to be for its faults.
pub(super) async fn faults_before_a_death_do_not_make_it_worse(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let mut now = at(0);
    for _ in 1..MAX_FAULTS {
        let lease = claim(inbox, "one", now).await;
        inbox.fail_lease(&lease, now, &own("a bug")).await.unwrap();
        now += LONGEST_PAUSE;
    }
    claim(inbox, "one", now).await;
    for process in ["two", "three"] {
        now += LEASE;
        // The death is noticed, and there is a pause after it.
        nothing_due(inbox, now).await;
        assert_eq!(inbox.suspended_repositories().await.unwrap(), []);
        now += LONGEST_PAUSE;
        let lease = claim_alone(inbox, process, now, WIDGET).await;
        assert_eq!(lease.unwrap().attempt, MAX_FAULTS);
    }
}

pub(super) async fn a_repository_whose_process_dies_alone_is_suspended(inbox: &impl Inbox) {
    let other = RepositoryId(8);
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    inbox.wake_repository(other, at(0)).await.unwrap();
    let mut now = die(inbox, &["one", "two"], at(0), 2).await;
    assert_eq!(claim_due(inbox, "three", now, ALL).await, []);
    now += LONGEST_PAUSE;
    let lease = claim_alone(inbox, "three", now, other).await.unwrap();
    inbox.finish_lease(&lease, now, None).await.unwrap();
    claim_alone(inbox, "three", now, WIDGET).await.unwrap();
    now += LEASE;
    assert_eq!(claim_alone(inbox, "four", now, WIDGET).await, None);
    let suspended = inbox.suspended_repositories().await.unwrap();
    let [wake] = suspended.as_slice() else {
        panic!("{suspended:?}")
    };
    let because = &wake.suspended.as_ref().unwrap().because;
    assert!(
        because.contains("died 3 times in a row") && because.contains("that was three"),
        "{because}"
    );
    assert_eq!(outcome_of(inbox, "a").await, Outcome::Failed);
    // The others go on.
    inbox.wake_repository(other, now).await.unwrap();
    let lease = claim(inbox, "four", now).await;
    assert_eq!(lease.repository, other);
    inbox.finish_lease(&lease, now, None).await.unwrap();
    // Its daily attempt is alone, too, and the death of that is no reason to try it sooner.
    now += PROBE_INTERVAL;
    nothing_due(inbox, now).await;
    assert_eq!(inbox.due_alone(now).await.unwrap(), [WIDGET]);
    assert!(
        claim_alone(inbox, "four", now, WIDGET)
            .await
            .unwrap()
            .suspended
    );
    now += LEASE;
    assert_eq!(claim_alone(inbox, "five", now, WIDGET).await, None);
    assert_eq!(next(inbox).await, now + PROBE_INTERVAL);
    // A person has repaired it.
    assert!(inbox.resume_repository(WIDGET, now).await.unwrap());
    claim(inbox, "five", now).await;
}

pub(super) async fn only_deaths_since_the_last_finished_tick_count(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let mut now = at(0);
    for round in 0..4 {
        let lease = claim(inbox, &format!("dies-{round}"), now).await;
        now += LEASE;
        let again = claim(inbox, &format!("lives-{round}"), now).await;
        assert_eq!(again.attempt, 1);
        // A tick that fails has come back as well.
        if round % 2 == 0 {
            inbox.finish_lease(&again, now, Some(now)).await.unwrap();
        } else {
            inbox.fail_lease(&again, now, &outage(None)).await.unwrap();
            now += LONGEST_PAUSE;
        }
        assert_eq!(
            inbox.finish_lease(&lease, now, None).await.unwrap(),
            Settled::Lost
        );
        assert_eq!(inbox.due_alone(now).await.unwrap(), []);
    }
}

/// A machine that stood still, or whose inbox could not be written, comes back as the same process.
pub(super) async fn a_process_that_claims_again_has_not_died(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let mut now = at(0);
    for attempt in 1..MAX_FAULTS {
        let lease = claim(inbox, "stands still", now).await;
        assert_eq!(lease.attempt, attempt);
        now += LEASE;
        if attempt > 1 {
            assert_eq!(claim_due(inbox, "stands still", now, ALL).await, []);
            now += LONGEST_PAUSE;
        }
        assert_eq!(inbox.due_alone(now).await.unwrap(), []);
    }
}

async fn outcome_of(inbox: &impl Inbox, text: &str) -> Outcome {
    let page = Page {
        start: Start::After(0),
        most: ALL,
    };
    let records = inbox.list_deliveries(page).await.unwrap();
    let found = records
        .iter()
        .find(|record| record.delivery.id.as_str() == text);
    found.unwrap().outcome
}
