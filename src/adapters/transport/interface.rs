//! The trait through which requests leave, and why there may be no answer.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::{Request, Response};

/// A boxed future, for traits that are used through `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends requests and returns whole responses.
pub trait Transport: Send + Sync {
    /// Sends one request, once, and reads the whole answer. Redirects are returned like other answers.
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>>;
}

/// Why there is no answer. The texts name hosts and causes, never headers or bodies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// No part of the request left this machine: no address, no connection, no TLS.
    #[error("nothing was sent: {0}")]
    NotSent(String),
    /// The request, or a part of it, was sent and the answer was lost: it is unknown whether it took effect.
    #[error("the answer was lost: {0}")]
    Lost(String),
    /// The answer's body exceeds the limit. The request took effect.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}
