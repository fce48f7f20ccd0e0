//! A hook before and after every request, with which tests cut the connection at a chosen moment.

use bytes::Bytes;
use http::Request;

use crate::faults::Face;

/// The decision of a gate about a request or its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateDecision {
    /// The request or reply proceeds.
    Go,
    /// The connection is closed without a reply.
    Cut,
}

/// Stands between the clients and the world. Both methods may block and may lock the world.
///
/// `n` counts the requests over both faces of one world from 1, in the order in which they had fully arrived. Requests
/// to `/__world/` pass no gate and are not counted.
pub trait Gate: Send + Sync {
    /// Called before the request has an effect. After a cut it has none, and the books do not record it.
    fn before_effect(&self, n: u64, face: Face, request: &Request<Bytes>) -> GateDecision;

    /// Called after the effect and before the reply. After a cut no reply is sent, and the books
    /// record the request without a status.
    fn before_reply(&self, n: u64, face: Face, request: &Request<Bytes>) -> GateDecision;
}
