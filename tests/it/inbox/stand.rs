//! What the cases of the suite share: times, deliveries, and a way to empty an inbox.

use std::any::Any;

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::inbox::{Delivery, DeliveryId, Inbox, Lease};
use phileas_domain::model::{Holder, RepositoryId};

/// The repository of most cases.
pub(crate) const WIDGET: RepositoryId = RepositoryId(7);
/// The length of the leases in these tests.
pub(crate) const LEASE: SignedDuration = SignedDuration::from_secs(12);
pub(crate) const SECOND: SignedDuration = SignedDuration::from_secs(1);
pub(crate) const HOUR: SignedDuration = SignedDuration::from_hours(1);
pub(crate) const DAY: SignedDuration = SignedDuration::from_hours(24);
/// More than anybody asks for in these tests.
pub(crate) const ALL: usize = 100_000;

/// How much an inbox under test holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Plenty,
    /// So little that a test can fill it.
    Little,
}

/// An inbox, and what must stay alive beside it.
pub(crate) struct Stand<I> {
    pub(crate) inbox: I,
    pub(crate) _beside: Box<dyn Any + Send + Sync>,
}

/// Seconds after the beginning of the tests' time.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_571_200 + seconds).unwrap()
}

pub(crate) fn holder(name: &str) -> Holder {
    Holder::from(name)
}

pub(crate) fn id(text: &str) -> DeliveryId {
    text.parse().unwrap()
}

/// A delivery that wakes its repository.
pub(crate) fn delivery(text: &str, repository: RepositoryId, received_at: Timestamp) -> Delivery {
    Delivery {
        id: id(text),
        event: "issues".to_owned(),
        action: Some("labeled".to_owned()),
        repository: Some(repository),
        repository_name: Some("acme/widget".parse().unwrap()),
        installation: Some(11),
        subject: Some("I_kwDOAA".to_owned()),
        sender: Some(5),
        received_at,
        wakes: true,
    }
}

/// The one lease that can be had.
#[track_caller]
pub(crate) fn only(leases: Vec<Lease>) -> Lease {
    let [lease] = <[Lease; 1]>::try_from(leases).unwrap_or_else(|all| panic!("{all:?}"));
    lease
}

/// Claims those that are due, as far as so many are wanted.
pub(crate) async fn claim_due(
    inbox: &impl Inbox,
    who: &str,
    now: Timestamp,
    most: usize,
) -> Vec<Lease> {
    let due = inbox.list_due(now, most).await.unwrap();
    inbox
        .claim_leases(&holder(who), now, LEASE, &due)
        .await
        .unwrap()
}

/// Claims the one repository that is due.
pub(crate) async fn claim(inbox: &impl Inbox, who: &str, now: Timestamp) -> Lease {
    only(claim_due(inbox, who, now, ALL).await)
}

/// No repository is due.
pub(crate) async fn nothing_due(inbox: &impl Inbox, now: Timestamp) {
    let leases = claim_due(inbox, "idle", now, ALL).await;
    assert_eq!(leases, [], "nothing was due at {now}");
}

/// When the repository can next be claimed.
pub(crate) async fn next(inbox: &impl Inbox) -> Timestamp {
    inbox.next_due().await.unwrap().expect("something is due")
}

/// Polls at most so many of them at once. Calls that wait for a connection to a database fail after some seconds.
pub(crate) async fn in_waves<F: Future>(
    most: usize,
    futures: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    let mut futures = futures.into_iter();
    let mut done = Vec::new();
    loop {
        let wave: Vec<F> = futures.by_ref().take(most).collect();
        if wave.is_empty() {
            return done;
        }
        done.extend(all_at_once(wave).await);
    }
}

/// Polls all of them in turns until each is done.
pub(crate) async fn all_at_once<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|one| Some(Box::pin(one))).collect();
    let mut done: Vec<_> = running.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut waiting = false;
        for (slot, out) in running.iter_mut().zip(&mut done) {
            let Some(future) = slot else { continue };
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(value) => {
                    *out = Some(value);
                    *slot = None;
                }
                std::task::Poll::Pending => waiting = true,
            }
        }
        if waiting {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    done.into_iter().map(Option::unwrap).collect()
}
