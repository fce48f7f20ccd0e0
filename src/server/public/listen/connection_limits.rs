//! Tracks the open connections, and chooses which one to close when no slot is free.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// The slots of a listener.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    most: usize,
    guests: Mutex<OpenConnections>,
    /// Notified when a slot becomes free, or a connection becomes silent.
    news: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    all: BTreeMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    /// Since when the service waits for the client to send a head, or the rest of a body. `None`
    /// while it handles a request.
    silent_since: Option<Instant>,
    leave: Arc<Notify>,
}

/// The slot of one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    number: u64,
    leave: Arc<Notify>,
}

/// A request from its head to its response, when it is dropped.
pub(super) struct ActiveRequest(Arc<ConnectionSlot>);

impl ConnectionSlots {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            guests: Mutex::default(),
            news: Notify::new(),
        })
    }

    /// Waits until a connection has ended or become silent.
    pub(super) async fn wait_for_change(&self) {
        self.news.notified().await;
    }

    /// Takes a slot. If none is free, the connection that has been silent for longest is closed:
    /// many silent clients must not block a real request. If none is silent, it waits.
    pub(super) async fn take_slot(self: &Arc<Self>) -> ConnectionSlot {
        loop {
            let news = self.news.notified();
            {
                let mut guests = self.lock_connections();
                if guests.all.len() < self.most {
                    return self.give_slot(&mut guests);
                }
                guests.ask_the_most_silent();
            }
            news.await;
        }
    }

    fn give_slot(self: &Arc<Self>, guests: &mut OpenConnections) -> ConnectionSlot {
        let number = guests.next;
        guests.next += 1;
        let leave = Arc::new(Notify::new());
        let guest = OpenConnection {
            silent_since: Some(Instant::now()),
            leave: Arc::clone(&leave),
        };
        guests.all.insert(number, guest);
        ConnectionSlot {
            slots: Arc::clone(self),
            number,
            leave,
        }
    }

    fn lock_connections(&self) -> MutexGuard<'_, OpenConnections> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn most_silent(&self) -> Option<(Instant, &Arc<Notify>)> {
        let silent = self.all.values();
        let silent = silent.filter_map(|guest| Some((guest.silent_since?, &guest.leave)));
        silent.min_by_key(|(since, _)| *since)
    }

    fn ask_the_most_silent(&self) {
        if let Some((_, leave)) = self.most_silent() {
            leave.notify_one();
        }
    }
}

/// Requests the end of the connection that has been silent for longest on any of these listeners.
/// `false`: none is silent.
pub(super) fn ask_the_most_silent(listeners: &[Arc<ConnectionSlots>]) -> bool {
    let silent = listeners.iter().filter_map(|places| {
        let guests = places.lock_connections();
        let (since, leave) = guests.most_silent()?;
        Some((since, Arc::clone(leave)))
    });
    let most_silent = silent.min_by_key(|(since, _)| *since);
    if let Some((_, leave)) = &most_silent {
        leave.notify_one();
    }
    most_silent.is_some()
}

impl ConnectionSlot {
    /// Waits until this connection must make room.
    pub(super) async fn wait_for_close_request(&self) {
        self.leave.notified().await;
    }

    /// Whether no request is being handled.
    pub(super) fn is_silent(&self) -> bool {
        let guests = self.slots.lock_connections();
        let guest = guests.all.get(&self.number);
        guest.is_none_or(|guest| guest.silent_since.is_some())
    }

    /// Records that the head of a request has arrived.
    pub(super) fn begin_request(self: &Arc<Self>) -> ActiveRequest {
        self.note_state(Some(Instant::now()));
        ActiveRequest(Arc::clone(self))
    }

    /// Records that the service handles the request: its body has arrived, or the rest is not
    /// needed.
    pub(super) fn begin_work(&self) {
        self.note_state(None);
    }

    fn note_state(&self, silent_since: Option<Instant>) {
        if let Some(guest) = self.slots.lock_connections().all.get_mut(&self.number) {
            guest.silent_since = silent_since;
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.note_state(Some(Instant::now()));
        self.0.slots.news.notify_one();
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.lock_connections().all.remove(&self.number);
        self.slots.news.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_longest_silent_connection_makes_room_and_a_working_one_does_not() {
        let places = ConnectionSlots::new(3);
        let first = Arc::new(places.take_slot().await);
        let second = Arc::new(places.take_slot().await);
        let third = Arc::new(places.take_slot().await);
        let visit = first.begin_request();
        first.begin_work();
        assert!(!first.is_silent());
        let mut fourth = Box::pin(places.take_slot());
        assert!((&mut fourth).now_or_never().is_none());
        assert!(second.wait_for_close_request().now_or_never().is_some());
        assert!(first.wait_for_close_request().now_or_never().is_none());
        assert!(third.wait_for_close_request().now_or_never().is_none());
        drop(second);
        let fourth = Arc::new(fourth.await);

        // All connections are in use: the next one waits until one of them has its response.
        let (more, most) = (third.begin_request(), fourth.begin_request());
        third.begin_work();
        fourth.begin_work();
        let mut fifth = Box::pin(places.take_slot());
        assert!((&mut fifth).now_or_never().is_none());
        drop(visit);
        assert!((&mut fifth).now_or_never().is_none());
        assert!(first.wait_for_close_request().now_or_never().is_some());
        drop(first);
        fifth.await;
        drop((more, most));
    }

    /// A head is cheap to send: a client that withholds the body is as silent as before it.
    #[tokio::test]
    async fn a_head_alone_is_no_right_to_a_place() {
        let places = ConnectionSlots::new(2);
        let first = Arc::new(places.take_slot().await);
        let second = Arc::new(places.take_slot().await);
        let visit = first.begin_request();
        assert!(first.is_silent());
        let mut third = Box::pin(places.take_slot());
        assert!((&mut third).now_or_never().is_none());
        assert!(first.wait_for_close_request().now_or_never().is_none());
        assert!(second.wait_for_close_request().now_or_never().is_some());
        drop(second);
        let third = third.await;
        let mut fourth = Box::pin(places.take_slot());
        assert!((&mut fourth).now_or_never().is_none());
        assert!(first.wait_for_close_request().now_or_never().is_some());
        drop((visit, third));
    }
}
