//! A gate before and after every request, for tests that break the line at a chosen moment.

use bytes::Bytes;
use http::Request;

use crate::faults::Face;

/// What a gate says to a request or to its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Go,
    /// The connection is closed without a reply.
    Cut,
}

/// Stands between the clients and the world. Both methods may block, and may look at the world: its lock is not held.
///
/// `n` counts the requests over both faces of one world from 1, in the order in which they had fully arrived. Requests
/// to `/__world/` pass no gate and are not counted.
pub trait Gate: Send + Sync {
    /// Asked before the request has any effect; after a cut it never has one and is not in the books.
    fn before(&self, n: u64, face: Face, request: &Request<Bytes>) -> Verdict;

    /// Asked when the effect has happened and the reply has not been sent; after a cut it never is, and the books show
    /// the request without a status.
    fn after(&self, n: u64, face: Face, request: &Request<Bytes>) -> Verdict;
}
