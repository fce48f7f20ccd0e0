//! Deliveries: once, listed, replayed, pruned, and refused where there is no room.

use jiff::Timestamp;
use phileas::runtime::inbox::{
    Accepted, Delivery, Fault, Inbox, MAX_FAULTS, MAX_PAGE, Outcome, PRUNE_BATCH, Page,
    REDELIVERY_WINDOW, RETENTION, Record, Replayed, Start,
};
use phileas_domain::model::RepositoryId;

use super::stand::{
    DAY, HOUR, SECOND, WIDGET, all_at_once, at, claim, delivery, id, next, nothing_due,
};

/// More deliveries than any inbox with little room holds.
const FLOOD: usize = 200_000;
/// How many are brought at once.
const WAVE: usize = 250;

async fn records(inbox: &impl Inbox) -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    loop {
        let page = Page {
            start: Start::After(all.last().map_or(0, |record| record.place)),
            most: usize::MAX,
        };
        let records = inbox.list_deliveries(page).await.unwrap();
        assert!(records.len() <= MAX_PAGE);
        if records.is_empty() {
            return all;
        }
        all.extend(records);
    }
}

async fn outcomes(inbox: &impl Inbox) -> Vec<(String, Outcome)> {
    records(inbox)
        .await
        .into_iter()
        .map(|record| (record.delivery.id.to_string(), record.outcome))
        .collect()
}

pub(super) async fn r3_a_delivery_is_stored_once(inbox: &impl Inbox) {
    let accept = |received_at| inbox.accept_delivery(delivery("a", WIDGET, received_at));
    assert_eq!(accept(at(0)).await.unwrap(), Accepted::Stored);
    assert_eq!(accept(at(1)).await.unwrap(), Accepted::Duplicate);
    let lease = claim(inbox, "one", at(2)).await;
    assert_eq!(accept(at(3)).await.unwrap(), Accepted::Duplicate);
    inbox.finish_lease(&lease, at(4), None).await.unwrap();
    assert_eq!(outcomes(inbox).await, [("a".to_owned(), Outcome::Handled)]);
    assert_eq!(accept(at(5)).await.unwrap(), Accepted::Duplicate);
    nothing_due(inbox, at(6)).await;
}

pub(super) async fn r3_a_failed_delivery_runs_again(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    inbox
        .accept_delivery(delivery("b", WIDGET, at(0)))
        .await
        .unwrap();
    for _ in 0..MAX_FAULTS {
        let now = next(inbox).await;
        let lease = claim(inbox, "one", now).await;
        let fault = Fault::Own {
            because: "a bug".to_owned(),
        };
        inbox.fail_lease(&lease, now, &fault).await.unwrap();
    }
    let failed = Outcome::Failed;
    assert_eq!(
        outcomes(inbox).await,
        [("a".to_owned(), failed), ("b".to_owned(), failed)]
    );
    let again = inbox
        .accept_delivery(delivery("a", WIDGET, at(9)))
        .await
        .unwrap();
    assert_eq!(again, Accepted::Stored);
    let again = inbox
        .accept_delivery(delivery("a", WIDGET, at(9)))
        .await
        .unwrap();
    assert_eq!(again, Accepted::Duplicate, "it waits for its tick now");
    // It stands where it came last.
    let all = records(inbox).await;
    assert_eq!((all[1].times, all[1].outcome), (2, Outcome::Pending));
    assert_eq!(all[1].delivery.id.to_string(), "a");
    assert_eq!(all[1].delivery.received_at, at(9));
    assert!(inbox.resume_repository(WIDGET, at(10)).await.unwrap());
    let lease = claim(inbox, "one", at(10)).await;
    inbox.finish_lease(&lease, at(11), None).await.unwrap();
    let handled = Outcome::Handled;
    assert_eq!(
        outcomes(inbox).await,
        [("b".to_owned(), handled), ("a".to_owned(), handled)]
    );
}

pub(super) async fn what_came_during_a_tick_is_still_pending(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let lease = claim(inbox, "one", at(1)).await;
    inbox
        .accept_delivery(delivery("b", WIDGET, at(2)))
        .await
        .unwrap();
    inbox.finish_lease(&lease, at(3), None).await.unwrap();
    let (handled, pending) = (Outcome::Handled, Outcome::Pending);
    assert_eq!(
        outcomes(inbox).await,
        [("a".to_owned(), handled), ("b".to_owned(), pending)]
    );
}

pub(super) async fn deliveries_without_a_repository_wake_none(inbox: &impl Inbox) {
    let ping = Delivery {
        repository: None,
        repository_name: None,
        ..delivery("ping", WIDGET, at(0))
    };
    let star = Delivery {
        wakes: false,
        ..delivery("star", WIDGET, at(0))
    };
    for one in [ping, star] {
        assert_eq!(
            inbox.accept_delivery(one.clone()).await.unwrap(),
            Accepted::Stored
        );
        assert_eq!(
            inbox.accept_delivery(one.clone()).await.unwrap(),
            Accepted::Duplicate
        );
        let replayed = inbox.replay_delivery(&one.id, at(1)).await.unwrap();
        assert_eq!(replayed, Replayed::WakesNoRepository);
    }
    assert_eq!(inbox.next_due().await.unwrap(), None);
    let all = outcomes(inbox).await;
    assert!(all.iter().all(|(_, outcome)| *outcome == Outcome::Noted));
}

pub(super) async fn all_facts_come_back(inbox: &impl Inbox) {
    let full = Delivery {
        repository: Some(RepositoryId(u64::MAX >> 1)),
        received_at: "2026-03-01T12:34:56.789Z".parse().unwrap(),
        ..delivery("0b989ba4-242f-11e5-81e1-c7b6966d2516", WIDGET, at(0))
    };
    let bare = Delivery {
        id: id("bare"),
        event: "ping".to_owned(),
        action: None,
        repository: None,
        repository_name: None,
        installation: None,
        subject: None,
        sender: None,
        received_at: at(0),
        wakes: false,
    };
    for one in [&full, &bare] {
        inbox.accept_delivery(one.clone()).await.unwrap();
    }
    let all = records(inbox).await;
    assert_eq!(all[0].delivery, full);
    assert_eq!(all[1].delivery, bare);
    assert!(all[0].place < all[1].place);
    assert_eq!((all[0].times, all[1].times), (1, 1));
}

pub(super) async fn pages_run_both_ways(inbox: &impl Inbox) {
    for n in 0..25 {
        let text = format!("{n}");
        inbox
            .accept_delivery(delivery(&text, WIDGET, at(n)))
            .await
            .unwrap();
    }
    let page = |start| inbox.list_deliveries(Page { start, most: 10 });
    let names = |records: &[Record]| -> Vec<String> {
        let id = |record: &Record| record.delivery.id.to_string();
        records.iter().map(id).collect()
    };
    let numbers = |range: &mut dyn Iterator<Item = u32>| -> Vec<String> {
        range.map(|n| n.to_string()).collect()
    };
    let first = page(Start::After(0)).await.unwrap();
    assert_eq!(names(&first), numbers(&mut (0..10)));
    let second = page(Start::After(first[9].place)).await.unwrap();
    assert_eq!(names(&second), numbers(&mut (10..20)));
    let newest = page(Start::Before(None)).await.unwrap();
    assert_eq!(names(&newest), numbers(&mut (15..25).rev()));
    let older = page(Start::Before(Some(newest[9].place))).await.unwrap();
    assert_eq!(names(&older), numbers(&mut (5..15).rev()));
    let last = page(Start::Before(Some(first[0].place))).await.unwrap();
    assert_eq!(last, []);
}

pub(super) async fn a_delivery_is_run_again_on_demand(inbox: &impl Inbox) {
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let lease = claim(inbox, "one", at(1)).await;
    inbox.finish_lease(&lease, at(2), None).await.unwrap();
    let unknown = inbox.replay_delivery(&id("b"), at(3)).await.unwrap();
    assert_eq!(unknown, Replayed::Unknown);
    nothing_due(inbox, at(3)).await;
    let woken = inbox.replay_delivery(&id("a"), at(3)).await.unwrap();
    assert_eq!(woken, Replayed::Woken(WIDGET));
    assert_eq!(outcomes(inbox).await, [("a".to_owned(), Outcome::Pending)]);
    let lease = claim(inbox, "one", at(3)).await;
    assert_eq!(lease.received_at, Some(at(3)));
    inbox.finish_lease(&lease, at(4), None).await.unwrap();
    assert_eq!(outcomes(inbox).await, [("a".to_owned(), Outcome::Handled)]);
}

pub(super) async fn r3_facts_are_kept_for_a_month(inbox: &impl Inbox) {
    let many = PRUNE_BATCH + 5;
    for n in 0..many {
        let text = format!("old-{n}");
        inbox
            .accept_delivery(delivery(&text, WIDGET, at(0)))
            .await
            .unwrap();
    }
    let new = delivery("new", WIDGET, at(0) + HOUR);
    inbox.accept_delivery(new).await.unwrap();
    assert_eq!(inbox.prune_deliveries(at(0) + RETENTION).await.unwrap(), 0);
    let over = at(0) + RETENTION + SECOND;
    assert_eq!(inbox.prune_deliveries(over).await.unwrap(), PRUNE_BATCH);
    assert_eq!(inbox.prune_deliveries(over).await.unwrap(), 5);
    assert_eq!(inbox.prune_deliveries(over).await.unwrap(), 0);
    assert_eq!(
        outcomes(inbox).await,
        [("new".to_owned(), Outcome::Pending)]
    );
    // What was removed is unknown: it would be a new delivery.
    let again = inbox
        .accept_delivery(delivery("old-0", WIDGET, over))
        .await
        .unwrap();
    assert_eq!(again, Accepted::Stored);
}

/// Brings deliveries, many at once, until there is no room; answers with how many were stored.
async fn fill(inbox: &impl Inbox, start: &str, received_at: Timestamp) -> usize {
    let mut stored = 0;
    for wave in 0..FLOOD / WAVE {
        let ids = (0..WAVE).map(|n| format!("{start}-{}", wave * WAVE + n));
        let wave = ids.map(|id| inbox.accept_delivery(delivery(&id, WIDGET, received_at)));
        let accepted = all_at_once(wave).await;
        let refused = accepted
            .into_iter()
            .map(Result::unwrap)
            .filter(|accepted| *accepted == Accepted::Overloaded)
            .count();
        stored += WAVE - refused;
        if refused > 0 {
            return stored;
        }
    }
    panic!("{FLOOD} deliveries did not fill it");
}

pub(super) async fn a_full_inbox_refuses_and_is_well_again(inbox: &impl Inbox) {
    let held = fill(inbox, "first", at(0)).await;
    assert!(held > 0);
    let before = records(inbox).await.len();
    assert_eq!(before, held);
    // A refused delivery leaves nothing, one that is stored already is known, and the tick can still be ended.
    let refused = inbox
        .accept_delivery(delivery("b", WIDGET, at(1)))
        .await
        .unwrap();
    assert_eq!(refused, Accepted::Overloaded);
    let problem = inbox.problem_text().unwrap();
    assert!(problem.contains("full"), "{problem}");
    let known = inbox
        .accept_delivery(delivery("first-0", WIDGET, at(1)))
        .await
        .unwrap();
    assert_eq!(known, Accepted::Duplicate);
    let lease = claim(inbox, "one", at(2)).await;
    inbox
        .finish_lease(&lease, at(3), Some(at(4)))
        .await
        .unwrap();
    // Within GitHub's window of redelivery all are needed.
    assert_eq!(
        inbox
            .prune_deliveries(at(0) + REDELIVERY_WINDOW)
            .await
            .unwrap(),
        0
    );
    // After it, handled ones make room although their month is not over.
    let now = at(0) + REDELIVERY_WINDOW + DAY;
    assert!(inbox.prune_deliveries(now).await.unwrap() > 0);
    let stored = inbox
        .accept_delivery(delivery("b", WIDGET, now))
        .await
        .unwrap();
    assert_eq!(stored, Accepted::Stored);
    assert_eq!(inbox.problem_text(), None);
    let counts = inbox.read_counts(now).await.unwrap();
    if let Some(limit) = counts.limit_bytes {
        assert!(counts.bytes <= limit, "{counts:?}");
    }
}

pub(super) async fn the_last_room_is_for_those_that_wake(inbox: &impl Inbox) {
    let idle = |n: usize| Delivery {
        wakes: false,
        event: "star".to_owned(),
        ..delivery(&format!("idle-{n}"), WIDGET, at(0))
    };
    let mut stored = 0;
    loop {
        let wave = (stored..stored + WAVE).map(|n| inbox.accept_delivery(idle(n)));
        let accepted: Vec<Accepted> = all_at_once(wave)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        stored += WAVE;
        if accepted.contains(&Accepted::PassedOver) {
            break;
        }
        assert!(stored < FLOOD, "{stored} idle deliveries were all stored");
    }
    assert!(records(inbox).await.len() < stored);
    let waking = inbox
        .accept_delivery(delivery("a", WIDGET, at(1)))
        .await
        .unwrap();
    assert_eq!(waking, Accepted::Stored);
    // A delivery about the service's own writing wakes no repository, and is kept: GitHub would offer it again.
    let own = Delivery {
        event: "push".to_owned(),
        ..idle(FLOOD)
    };
    assert_eq!(inbox.accept_delivery(own).await.unwrap(), Accepted::Stored);
    // What is stored already is known all the same.
    let again = inbox.accept_delivery(idle(0)).await.unwrap();
    assert_eq!(again, Accepted::Duplicate);
}

pub(super) async fn the_figures_are_right(inbox: &impl Inbox) {
    let now = at(100);
    for (repository, seconds) in [(1, 40), (2, 60), (3, 200)] {
        let text = format!("{repository}");
        let one = delivery(&text, RepositoryId(repository), at(seconds));
        inbox.accept_delivery(one).await.unwrap();
    }
    let counts = inbox.read_counts(now).await.unwrap();
    assert_eq!((counts.deliveries, counts.repositories), (3, 3));
    assert_eq!((counts.due, counts.leased), (2, 0));
    assert_eq!(counts.oldest_due, Some(at(40)));
    assert_eq!(next(inbox).await, at(40));
    let lease = claim(inbox, "one", at(50)).await;
    let counts = inbox.read_counts(at(60)).await.unwrap();
    assert_eq!((counts.due, counts.leased, counts.failing), (1, 1, 0));
    assert_eq!(counts.oldest_due, Some(at(60)));
    assert_eq!(lease.repository, RepositoryId(1));
    // A lease that has run out is a tick that is missing.
    let counts = inbox.read_counts(lease.until).await.unwrap();
    assert_eq!((counts.due, counts.leased), (2, 0));
}
