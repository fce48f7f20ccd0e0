//! A request's body while it arrives.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection_limits::ConnectionSlot;

/// How long a body may take after the head. GitHub gives up after 10 s.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// A body that must arrive within [`BODY_TIMEOUT`]. Its connection counts as silent until the body
/// has arrived or its rest is not needed: a slow client has no right to its slot.
pub(super) struct RequestBody {
    body: Incoming,
    until: Instant,
    /// Exists only for a body that has not arrived.
    alarm: Option<Pin<Box<Sleep>>>,
    /// `None` when the body has arrived.
    place: Option<Arc<ConnectionSlot>>,
}

/// Why a body is incomplete.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It did not come within [`BODY_TIMEOUT`].
    #[error("the body did not come in time")]
    TooSlow,
    /// The client disconnected, or sent an invalid body.
    #[error("the body was cut off: {0}")]
    CutOff(#[from] hyper::Error),
}

impl RequestBody {
    /// Takes the body of a request whose head has just arrived.
    pub(super) fn new(body: Incoming, place: Arc<ConnectionSlot>) -> Self {
        let mut arriving = Self {
            body,
            until: Instant::now() + BODY_TIMEOUT,
            alarm: None,
            place: Some(place),
        };
        if arriving.body.is_end_stream() {
            arriving.has_come();
        }
        arriving
    }

    fn has_come(&mut self) {
        if let Some(place) = self.place.take() {
            place.begin_work();
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.has_come();
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if !matches!(frame, Some(Ok(_))) || self.body.is_end_stream() {
                self.has_come();
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::CutOff)));
        }
        let until = self.until;
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(sleep_until(until)));
        if alarm.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.has_come();
        Poll::Ready(Some(Err(BodyError::TooSlow)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
