//! `GET /events`: notifies open pages of changes by server-sent events. An event has no content;
//! the page reloads its own.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use phileas_domain::model::RepositoryId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};

use crate::server::shutdown::Shutdown;

/// The most listeners at a time. Pages without one reload from time to time.
pub const MAX_LISTENERS: usize = 32;
/// How often an idle listener gets a comment, so that proxies keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// When a refused listener may retry, in seconds.
const RETRY_AFTER: &str = "30";

/// The changes that a page listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Every repository.
    Repositories,
    /// One repository.
    Repository(RepositoryId),
    /// The inbox.
    Inbox,
}

impl Topic {
    /// Parses a topic as [`Topic::topic_name`] writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "repositories" => Some(Self::Repositories),
            "inbox" => Some(Self::Inbox),
            _ => text
                .parse()
                .ok()
                .map(|id| Self::Repository(RepositoryId(id))),
        }
    }

    /// The name of the topic in an address.
    #[must_use]
    pub fn topic_name(self) -> String {
        match self {
            Self::Repositories => "repositories".to_owned(),
            Self::Repository(id) => id.0.to_string(),
            Self::Inbox => "inbox".to_owned(),
        }
    }

    fn is_concerned(self, changed: RepositoryId) -> bool {
        match self {
            Self::Repositories => true,
            Self::Repository(id) => id == changed,
            Self::Inbox => false,
        }
    }
}

/// Limits the number of listeners.
#[derive(Debug, Clone)]
pub struct Listeners(Arc<Semaphore>);

impl Default for Listeners {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LISTENERS)))
    }
}

struct LiveListener {
    topic: Topic,
    board: broadcast::Receiver<RepositoryId>,
    inbox: watch::Receiver<u64>,
    ending: Shutdown,
    _place: OwnedSemaphorePermit,
}

impl Listeners {
    /// Sends events until the service shuts down or the page is closed.
    #[must_use]
    pub fn stream_events(
        &self,
        topic: Topic,
        board: broadcast::Receiver<RepositoryId>,
        inbox: watch::Receiver<u64>,
        ending: Shutdown,
    ) -> Response {
        let Ok(place) = Arc::clone(&self.0).try_acquire_owned() else {
            let mut full = StatusCode::SERVICE_UNAVAILABLE.into_response();
            let after = HeaderValue::from_static(RETRY_AFTER);
            full.headers_mut().insert(header::RETRY_AFTER, after);
            return full;
        };
        let listener = LiveListener {
            topic,
            board,
            inbox,
            ending,
            _place: place,
        };
        let events = unfold(listener, |mut listener| async move {
            let word = listener.next().await?;
            // Browsers ignore an event without data.
            let event = Event::default().event(word).data(word);
            Some((Ok::<_, Infallible>(event), listener))
        });
        let alive = KeepAlive::new().interval(KEEP_ALIVE);
        Sse::new(events).keep_alive(alive).into_response()
    }
}

impl LiveListener {
    async fn next(&mut self) -> Option<&'static str> {
        loop {
            tokio::select! {
                () = self.ending.wait_for_shutdown() => return None,
                heard = self.board.recv() => match heard {
                    Ok(id) if self.topic.is_concerned(id) => return Some("changed"),
                    Ok(_) => {}
                    // The listener was too slow for its queue, and the missed changes are unknown.
                    Err(RecvError::Lagged(_)) => return Some("reload"),
                    Err(RecvError::Closed) => return None,
                },
                heard = self.inbox.changed(), if self.topic == Topic::Inbox => {
                    heard.ok()?;
                    return Some("changed");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::super::board::{Board, QUEUE};
    use super::*;
    use crate::server::shutdown::shutdown_pair;

    fn listener(board: &Board, topic: Topic, ending: Shutdown) -> LiveListener {
        let (_, inbox) = watch::channel(0);
        LiveListener {
            topic,
            board: board.subscribe_changes(),
            inbox,
            ending,
            _place: Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap(),
        }
    }

    #[tokio::test]
    async fn a_slow_listener_has_to_read_everything_again() {
        let board = Board::default();
        let (_end, ended) = shutdown_pair();
        let mut slow = listener(&board, Topic::Repository(RepositoryId(7)), ended);
        board.publish_change(RepositoryId(8));
        board.publish_change(RepositoryId(7));
        assert_eq!(slow.next().await, Some("changed"));
        for _ in 0..=QUEUE {
            board.publish_change(RepositoryId(8));
        }
        assert_eq!(slow.next().await, Some("reload"));
    }

    /// <https://html.spec.whatwg.org/multipage/server-sent-events.html#dispatchMessage>: a browser
    /// dispatches no event without data.
    #[tokio::test]
    async fn an_event_has_data() {
        let board = Board::default();
        let (end, ended) = shutdown_pair();
        let (_news, inbox) = watch::channel(0);
        let answer = Listeners::default().stream_events(
            Topic::Repositories,
            board.subscribe_changes(),
            inbox,
            ended,
        );
        board.publish_change(RepositoryId(7));
        let mut body = answer.into_body().into_data_stream();
        let event = body.next().await.unwrap().unwrap();
        assert_eq!(event, "event: changed\ndata: changed\n\n");
        end.request_shutdown();
        assert!(body.next().await.is_none());
    }

    #[tokio::test]
    async fn listeners_end_with_the_service_and_are_not_too_many() {
        let board = Board::default();
        let (end, ended) = shutdown_pair();
        let (_news, inbox) = watch::channel(0);
        let listeners = Listeners::default();
        let mut all: Vec<_> = (0..MAX_LISTENERS)
            .map(|_| {
                listeners.stream_events(
                    Topic::Inbox,
                    board.subscribe_changes(),
                    inbox.clone(),
                    ended.clone(),
                )
            })
            .collect();
        let refused = listeners.stream_events(
            Topic::Inbox,
            board.subscribe_changes(),
            inbox.clone(),
            ended.clone(),
        );
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        all.pop();
        let taken = listeners.stream_events(
            Topic::Inbox,
            board.subscribe_changes(),
            inbox,
            ended.clone(),
        );
        assert_eq!(taken.status(), StatusCode::OK);
        end.request_shutdown();
        assert_eq!(listener(&board, Topic::Inbox, ended).next().await, None);
    }

    #[test]
    fn topics_are_read_as_they_are_written() {
        for topic in [
            Topic::Repositories,
            Topic::Inbox,
            Topic::Repository(RepositoryId(5)),
        ] {
            assert_eq!(Topic::parse(&topic.topic_name()), Some(topic));
        }
        assert_eq!(Topic::parse("-1"), None);
    }
}
