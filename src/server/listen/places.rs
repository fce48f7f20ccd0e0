//! Who is connected, and who has to leave when nobody else would find a place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// The places of a listener.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    guests: Mutex<Guests>,
    /// Told when a place becomes free, or somebody falls silent.
    news: Notify,
}

#[derive(Debug, Default)]
struct Guests {
    next: u64,
    all: BTreeMap<u64, Guest>,
}

#[derive(Debug)]
struct Guest {
    /// Since when nothing is asked of us; `None` while a request is at work.
    silent_since: Option<Instant>,
    leave: Arc<Notify>,
}

/// One connection's place, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    leave: Arc<Notify>,
}

/// A request at work, until it is dropped.
pub(super) struct AtWork(Arc<Place>);

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            guests: Mutex::default(),
            news: Notify::new(),
        })
    }

    /// Takes a place. Where all are taken, whoever has been silent for longest is asked to leave: a crowd that says
    /// nothing must not keep an honest request out. Where nobody is silent, it waits.
    pub(super) async fn take(self: &Arc<Self>) -> Place {
        loop {
            let news = self.news.notified();
            {
                let mut guests = self.guests();
                if guests.all.len() < self.most {
                    return self.give(&mut guests);
                }
                guests.ask_the_most_silent();
            }
            news.await;
        }
    }

    fn give(self: &Arc<Self>, guests: &mut Guests) -> Place {
        let number = guests.next;
        guests.next += 1;
        let leave = Arc::new(Notify::new());
        let guest = Guest {
            silent_since: Some(Instant::now()),
            leave: Arc::clone(&leave),
        };
        guests.all.insert(number, guest);
        Place {
            places: Arc::clone(self),
            number,
            leave,
        }
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guests {
    fn ask_the_most_silent(&self) {
        let silent = self.all.values();
        let silent = silent.filter_map(|guest| Some((guest.silent_since?, &guest.leave)));
        if let Some((_, leave)) = silent.min_by_key(|(since, _)| *since) {
            leave.notify_one();
        }
    }
}

impl Place {
    /// Waits until this connection has to make room.
    pub(super) async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }

    /// Whether no request is at work.
    pub(super) fn is_silent(&self) -> bool {
        let guests = self.places.guests();
        let guest = guests.all.get(&self.number);
        guest.is_none_or(|guest| guest.silent_since.is_some())
    }

    /// A request is at work until the answer is dropped.
    pub(super) fn at_work(self: &Arc<Self>) -> AtWork {
        self.note(None);
        AtWork(Arc::clone(self))
    }

    fn note(&self, silent_since: Option<Instant>) {
        if let Some(guest) = self.places.guests().all.get_mut(&self.number) {
            guest.silent_since = silent_since;
        }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.note(Some(Instant::now()));
        self.0.places.news.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.guests().all.remove(&self.number);
        self.places.news.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_longest_silent_one_makes_room_and_whoever_works_does_not() {
        let places = Places::new(3);
        let first = Arc::new(places.take().await);
        let second = Arc::new(places.take().await);
        let third = Arc::new(places.take().await);
        let work = first.at_work();
        assert!(!first.is_silent());
        let mut fourth = Box::pin(places.take());
        assert!((&mut fourth).now_or_never().is_none());
        assert!(second.asked_to_leave().now_or_never().is_some());
        assert!(first.asked_to_leave().now_or_never().is_none());
        assert!(third.asked_to_leave().now_or_never().is_none());
        drop(second);
        let fourth = Arc::new(fourth.await);

        // Everybody works: the next one waits until somebody has done.
        let (more, most) = (third.at_work(), fourth.at_work());
        let mut fifth = Box::pin(places.take());
        assert!((&mut fifth).now_or_never().is_none());
        drop(work);
        assert!((&mut fifth).now_or_never().is_none());
        assert!(first.asked_to_leave().now_or_never().is_some());
        drop(first);
        fifth.await;
        drop((more, most));
    }
}
