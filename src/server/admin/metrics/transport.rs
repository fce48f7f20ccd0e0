//! Counts requests to GitHub and to Jules, and their responses.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};

use super::counts::{Metrics, Target};
use crate::adapters::transport::{BoxFuture, Transport, TransportError};
use crate::server::accounts::external_services::ExternalServices;

/// A transport that counts.
pub struct CountedTransport {
    inner: Arc<dyn Transport>,
    target: Target,
    metrics: Arc<Metrics>,
}

impl CountedTransport {
    /// Counts the requests over a transport.
    #[must_use]
    pub fn new(inner: Arc<dyn Transport>, target: Target, metrics: Arc<Metrics>) -> Self {
        Self {
            inner,
            target,
            metrics,
        }
    }
}

impl Transport for CountedTransport {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        Box::pin(async move {
            let answer = self.inner.send(request).await;
            let class = match &answer {
                Ok(answer) => match answer.status().as_u16() / 100 {
                    2 => "2xx",
                    3 => "3xx",
                    4 => "4xx",
                    5 => "5xx",
                    _ => "other",
                },
                Err(TransportError::NotSent(_)) => "not_sent",
                Err(_) => "lost",
            };
            self.metrics.count_request(self.target, class);
            answer
        })
    }
}

/// Returns the services with every request counted.
#[must_use]
pub fn count_requests(services: ExternalServices, metrics: &Arc<Metrics>) -> ExternalServices {
    let counted = |way, target| -> Arc<dyn Transport> {
        Arc::new(CountedTransport::new(way, target, Arc::clone(metrics)))
    };
    ExternalServices {
        to_github: counted(services.to_github, Target::GitHub),
        to_jules: counted(services.to_jules, Target::Jules),
        ..services
    }
}
