//! The way of a service to the models, on a clock that a test moves: a request takes its time, and others go on meanwhile.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use jiff::{SignedDuration, Timestamp};
use phileas::adapters::pause::Pause;
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas::runtime::ports::Clock as _;
use phileas::sandbox::Shared;
use phileas_world::{Face, Outcome};

use super::clock::StillClock;

/// How long a client waits for an answer that never comes.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);

/// One face of a world.
pub(super) struct Way {
    pub(super) world: Shared,
    pub(super) face: Face,
    pub(super) clock: StillClock,
}

impl Transport for Way {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let answer = match self.face {
            Face::Github => self.world.world().github_request(request),
            Face::Jules => self.world.world().jules_request(request),
        };
        Box::pin(async move {
            self.clock.pause(answer.latency.min(CLIENT_TIMEOUT)).await;
            match answer.outcome {
                Outcome::Reply(reply) => Ok(reply),
                Outcome::Dropped => Err(TransportError::Lost("the connection was cut".to_owned())),
                Outcome::TimedOut => Err(TransportError::Lost("no answer in time".to_owned())),
            }
        })
    }
}

impl Pause for StillClock {
    fn now(&self) -> Timestamp {
        phileas::runtime::ports::Clock::now(self)
    }

    fn pause(&self, length: Duration) -> BoxFuture<'_, ()> {
        let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
        let now = phileas::runtime::ports::Clock::now(self);
        let until = now.checked_add(length).unwrap_or(Timestamp::MAX);
        Box::pin(self.sleep_until(until))
    }
}
