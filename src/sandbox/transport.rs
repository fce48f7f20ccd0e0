//! Sends requests to the models without a socket.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use phileas_world::{Face, Outcome};

use super::virtual_time::SharedWorld;
use crate::adapters::transport::{BoxFuture, Transport, TransportError};

/// How long a client waits for a response that never arrives.
pub const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);

/// The part of a result that the client sees.
///
/// # Errors
///
/// When the response is lost. The request may have taken effect.
pub fn received_response(outcome: Outcome) -> Result<Response<Bytes>, TransportError> {
    match outcome {
        Outcome::Reply(reply) => Ok(reply),
        Outcome::Dropped => Err(TransportError::Lost("the connection was cut".to_owned())),
        Outcome::TimedOut => Err(TransportError::Lost("no answer in time".to_owned())),
    }
}

/// One face of a world in this process.
#[derive(Debug, Clone)]
pub struct InProcess {
    shared: SharedWorld,
    face: Face,
}

impl InProcess {
    /// Connects to a face of a world.
    #[must_use]
    pub fn new(shared: SharedWorld, face: Face) -> Self {
        Self { shared, face }
    }

    fn answer_request(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let answer = {
            let mut world = self.shared.lock_world();
            match self.face {
                Face::Github => world.github_request(request),
                Face::Jules => world.jules_request(request),
            }
        };
        self.shared.advance_time(answer.latency.min(CLIENT_TIMEOUT));
        received_response(answer.outcome)
    }
}

impl Transport for InProcess {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let answer = self.answer_request(request);
        Box::pin(std::future::ready(answer))
    }
}
