//! The way of one process to the models. Each request is a step before its effect and one after it, and takes its time.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas::sandbox::transport::{CLIENT_TIMEOUT, received_response};
use phileas_world::Face;

use super::course::Process;
use super::credentials;
use super::sabotage::{self, Sabotage};

/// One face of the world, as one process reaches it.
pub(super) struct ModelTransport {
    pub(super) process: Arc<Process>,
    pub(super) face: Face,
    /// What is wrong with the program that comes through here, where a test says that something is.
    pub(super) sabotage: Option<Sabotage>,
}

impl ModelTransport {
    async fn pass(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self.process.step().await;
        if self.sabotage == Some(Sabotage::TickPanics) {
            sabotage::panic_at(self.face, &request);
        }
        let world = &self.process.course.world;
        let forged = self
            .sabotage
            .and_then(|sabotage| sabotage.tamper(&mut world.lock_world(), self.face, &mut request));
        if let Some(forged) = forged {
            self.process.step().await;
            return Ok(forged);
        }
        let answer = match self.face {
            Face::Github => world.lock_world().github_request(request),
            Face::Jules => world.lock_world().jules_request(request),
        };
        self.process.wait(answer.latency.min(CLIENT_TIMEOUT)).await;
        self.process.step().await;
        let answer = received_response(answer.outcome);
        if let Ok(reply) = &answer {
            credentials::note(&self.process, self.face, reply);
        }
        answer
    }
}

impl Transport for ModelTransport {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        Box::pin(self.pass(request))
    }
}
