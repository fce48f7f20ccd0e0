//! Wakes and leases.

use std::collections::BTreeSet;

use phileas::runtime::inbox::{Inbox, Settled, Wake};
use phileas_domain::model::RepositoryId;

use super::stand::{
    ALL, HOUR, LEASE, SECOND, WIDGET, all_at_once, at, claim, claim_due, delivery, holder,
    in_waves, next, nothing_due,
};

pub(super) async fn the_earliest_due_time_wins(inbox: &impl Inbox) {
    for seconds in [10, 2, 20] {
        inbox.wake_repository(WIDGET, at(seconds)).await.unwrap();
    }
    assert_eq!(next(inbox).await, at(2));
    nothing_due(inbox, at(1)).await;
    // However many ask at once, and in whatever order they arrive.
    let many = (0..200_i64).map(|n| inbox.wake_repository(WIDGET, at(1 + (n * 37) % 200)));
    for waked in in_waves(8, many).await {
        waked.unwrap();
    }
    assert_eq!(next(inbox).await, at(1));
    let lease = claim(inbox, "one", at(1)).await;
    assert_eq!(lease.generation, 203);
}

pub(super) async fn a_hundred_triggers_are_one_tick(inbox: &impl Inbox) {
    for repository in 0..20 {
        for n in 0..100 {
            let text = format!("{repository}-{n}");
            inbox
                .accept_delivery(delivery(&text, RepositoryId(repository), at(n)))
                .await
                .unwrap();
        }
    }
    let leases = claim_due(inbox, "one", at(100), ALL).await;
    let repositories: BTreeSet<_> = leases.iter().map(|lease| lease.repository).collect();
    assert_eq!((leases.len(), repositories.len()), (20, 20));
    for lease in &leases {
        assert_eq!(lease.received_at, Some(at(99)));
        let settled = inbox.finish_lease(lease, at(101), None).await.unwrap();
        assert_eq!(settled, Settled::Until(None));
    }
    nothing_due(inbox, at(200)).await;
    assert_eq!(inbox.next_due().await.unwrap(), None);
}

pub(super) async fn a_wake_during_a_tick_leads_to_another(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let first = claim(inbox, "one", at(1)).await;
    for n in 0..100 {
        let text = format!("during-{n}");
        inbox
            .accept_delivery(delivery(&text, WIDGET, at(2)))
            .await
            .unwrap();
    }
    nothing_due(inbox, at(3)).await;
    inbox.finish_lease(&first, at(4), None).await.unwrap();
    let second = claim(inbox, "one", at(4)).await;
    assert!(second.token > first.token && second.generation > first.generation);
    inbox.finish_lease(&second, at(5), None).await.unwrap();
    nothing_due(inbox, at(6)).await;
}

pub(super) async fn a_later_wake_postpones_nothing(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let lease = claim(inbox, "one", at(0)).await;
    inbox.wake_repository(WIDGET, at(1)).await.unwrap();
    inbox.wake_repository(WIDGET, at(3_600)).await.unwrap();
    let settled = inbox
        .finish_lease(&lease, at(2), Some(at(2) + HOUR))
        .await
        .unwrap();
    assert_eq!(settled, Settled::Until(Some(at(1))));
    claim(inbox, "one", at(2)).await;
}

/// The holder is stopped, taken over while a wake arrives, and goes on as if nothing had been. It has not died.
pub(super) async fn a_holder_that_was_taken_over_changes_nothing(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let stalled = claim(inbox, "stalled", at(0)).await;
    nothing_due(inbox, stalled.until - SECOND).await;
    let successor = claim(inbox, "successor", stalled.until).await;
    assert!(successor.token > stalled.token);
    let now = stalled.until + SECOND;
    inbox
        .accept_delivery(delivery("b", WIDGET, now))
        .await
        .unwrap();
    let before = inbox.read_wake(WIDGET).await.unwrap();

    let late = inbox
        .finish_lease(&stalled, now, Some(now + HOUR))
        .await
        .unwrap();
    assert_eq!(late, Settled::Lost);
    let fault = phileas::runtime::inbox::Fault::Own {
        because: "late".to_owned(),
    };
    let late = inbox.fail_lease(&stalled, now, &fault).await.unwrap();
    assert_eq!(late, Settled::Lost);
    assert_eq!(
        inbox.release_lease(&stalled, now).await.unwrap(),
        Settled::Lost
    );
    let kept = inbox.extend_leases(&[stalled], now, LEASE).await.unwrap();
    assert!(kept.is_empty(), "{kept:?}");
    let before = before.unwrap();
    assert_eq!(before.deaths, 1);
    let alive = Wake {
        deaths: 0,
        ..before
    };
    assert_eq!(inbox.read_wake(WIDGET).await.unwrap(), Some(alive));

    inbox.finish_lease(&successor, now, None).await.unwrap();
    let again = claim(inbox, "successor", now).await;
    assert_eq!(again.received_at, Some(now), "the wake was not swallowed");
}

pub(super) async fn a_heartbeat_keeps_a_lease_and_tells_of_its_loss(inbox: &impl Inbox) {
    let other = RepositoryId(8);
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    inbox.wake_repository(other, at(0)).await.unwrap();
    let leases = claim_due(inbox, "one", at(0), ALL).await;
    let mut now = at(0);
    for _ in 0..10 {
        now += LEASE - SECOND;
        let kept = inbox.extend_leases(&leases, now, LEASE).await.unwrap();
        assert_eq!(kept, BTreeSet::from([WIDGET, other]));
        nothing_due(inbox, now).await;
    }
    let (mine, theirs): (Vec<_>, Vec<_>) = leases
        .into_iter()
        .partition(|lease| lease.repository == WIDGET);
    now += LEASE - SECOND;
    inbox.extend_leases(&mine, now, LEASE).await.unwrap();
    now += SECOND;
    let taken = claim(inbox, "two", now).await;
    assert_eq!(taken.repository, other);
    let both = [mine[0].clone(), theirs[0].clone()];
    let kept = inbox.extend_leases(&both, now, LEASE).await.unwrap();
    assert_eq!(kept, BTreeSet::from([WIDGET]));
}

pub(super) async fn a_lease_that_is_given_back_is_not_counted(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    for _ in 0..20 {
        let lease = claim(inbox, "drained", at(0)).await;
        assert_eq!(lease.attempt, 1);
        let settled = inbox.release_lease(&lease, at(0)).await.unwrap();
        assert_eq!(settled, Settled::Until(Some(at(0))));
    }
}

pub(super) async fn no_two_holders_share_a_lease(inbox: &impl Inbox) {
    for repository in 0..300 {
        inbox
            .wake_repository(RepositoryId(repository), at(0))
            .await
            .unwrap();
    }
    let names: Vec<_> = (0..30).map(|n| holder(&format!("worker-{n}"))).collect();
    // Each tries its luck with some of those that others want as well.
    let all: Vec<_> = (0..300).map(RepositoryId).collect();
    let claims = names.iter().enumerate().map(|(n, name)| {
        let some = &all[n * 5..(n * 5 + 155).min(300)];
        inbox.claim_leases(name, at(1), LEASE, some)
    });
    let leases: Vec<_> = all_at_once(claims)
        .await
        .into_iter()
        .flat_map(Result::unwrap)
        .collect();
    let repositories: BTreeSet<_> = leases.iter().map(|lease| lease.repository).collect();
    assert_eq!((leases.len(), repositories.len()), (300, 300));
}

pub(super) async fn the_longest_overdue_comes_first(inbox: &impl Inbox) {
    for (repository, seconds) in [(1, 30), (2, 10), (3, 20), (4, 90)] {
        let repository = RepositoryId(repository);
        inbox
            .wake_repository(repository, at(seconds))
            .await
            .unwrap();
    }
    let first = claim_due(inbox, "one", at(60), 2).await;
    let ids: Vec<_> = first.iter().map(|lease| lease.repository.0).collect();
    assert_eq!(ids, [2, 3]);
    assert_eq!(claim(inbox, "one", at(60)).await.repository.0, 1);
}

pub(super) async fn the_next_time_of_a_tick_is_kept(inbox: &impl Inbox) {
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let lease = claim(inbox, "one", at(0)).await;
    let settled = inbox
        .finish_lease(&lease, at(1), Some(at(600)))
        .await
        .unwrap();
    assert_eq!(settled, Settled::Until(Some(at(600))));
    nothing_due(inbox, at(599)).await;
    inbox.wake_repository(WIDGET, at(300)).await.unwrap();
    let lease = claim(inbox, "one", at(300)).await;
    inbox.finish_lease(&lease, at(301), None).await.unwrap();
    assert_eq!(inbox.next_due().await.unwrap(), None, "the tick said when");
}

pub(super) async fn what_is_forgotten_is_not_due(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let lease = claim(inbox, "one", at(0)).await;
    inbox.forget_repository(WIDGET).await.unwrap();
    inbox.forget_repository(RepositoryId(404)).await.unwrap();
    nothing_due(inbox, at(0) + HOUR).await;
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let second = claim(inbox, "one", at(1)).await;
    assert_eq!(second.attempt, 1);
    let settled = inbox.finish_lease(&lease, at(2), None).await.unwrap();
    assert_eq!(settled, Settled::Lost);
    let settled = inbox.finish_lease(&second, at(2), None).await.unwrap();
    assert_eq!(settled, Settled::Until(None));
}

pub(super) async fn a_wake_during_an_abandoned_lease_is_not_lost(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let first = claim(inbox, "one", at(1)).await;
    // Meanwhile the service manages it.
    inbox.wake_repository(WIDGET, at(2)).await.unwrap();
    let settled = inbox.abandon_lease(&first).await.unwrap();
    assert_eq!(settled, Settled::Until(Some(at(2))));
    let again = claim(inbox, "one", at(3)).await;
    assert_eq!(again.attempt, 1);
    // A holder of before forgets nothing.
    assert_eq!(inbox.abandon_lease(&first).await.unwrap(), Settled::Lost);
    inbox
        .finish_lease(&again, at(4), Some(at(5)))
        .await
        .unwrap();
    let again = claim(inbox, "one", at(5)).await;
    let settled = inbox.abandon_lease(&again).await.unwrap();
    assert_eq!(settled, Settled::Until(None));
    assert_eq!(inbox.next_due().await.unwrap(), None);
}

pub(super) async fn news_comes_with_each_wake(inbox: &impl Inbox) {
    let mut news = inbox.watch_changes();
    news.mark_unchanged();
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    assert!(news.has_changed().unwrap());
    let lease = claim(inbox, "one", at(0)).await;
    news.mark_unchanged();
    inbox
        .finish_lease(&lease, at(1), Some(at(2)))
        .await
        .unwrap();
    assert!(news.has_changed().unwrap());
    news.mark_unchanged();
    inbox.wake_repository(WIDGET, at(1)).await.unwrap();
    assert!(news.has_changed().unwrap());
}
