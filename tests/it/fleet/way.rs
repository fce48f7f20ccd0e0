//! The way of a service to the models, on a clock that a test moves: a request takes its time, and others go on meanwhile.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use jiff::{SignedDuration, Timestamp};
use phileas::adapters::pause::Pause;
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas::runtime::ports::Clock as _;
use phileas::sandbox::SharedWorld;
use phileas::sandbox::transport::{CLIENT_TIMEOUT, received_response};
use phileas_world::Face;

use super::clock::StillClock;

/// One face of a world.
pub(super) struct Way {
    pub(super) world: SharedWorld,
    pub(super) face: Face,
    pub(super) clock: StillClock,
}

impl Transport for Way {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let answer = match self.face {
            Face::Github => self.world.lock_world().github_request(request),
            Face::Jules => self.world.lock_world().jules_request(request),
        };
        Box::pin(async move {
            self.clock
                .pause_for(answer.latency.min(CLIENT_TIMEOUT))
                .await;
            received_response(answer.outcome)
        })
    }
}

impl Pause for StillClock {
    fn now(&self) -> Timestamp {
        phileas::runtime::ports::Clock::now(self)
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
        let now = phileas::runtime::ports::Clock::now(self);
        let until = now.checked_add(length).unwrap_or(Timestamp::MAX);
        Box::pin(self.sleep_until(until))
    }
}
