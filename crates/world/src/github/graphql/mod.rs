//! GraphQL.

use bytes::Bytes;
use http::{Request, Response};
use jiff::Timestamp;

use super::{Identity, Model};
use crate::knobs::Knobs;

/// Parsed documents.
#[derive(Debug, Default)]
pub(crate) struct Documents;

pub(crate) fn is_mutation(body: &[u8]) -> bool {
    body.windows(8).any(|window| window == b"mutation")
}

impl Model {
    pub(crate) fn graphql(
        &mut self,
        _request: &Request<Bytes>,
        _identity: Option<Identity>,
        _now: Timestamp,
        _knobs: &Knobs,
    ) -> (Response<Bytes>, Vec<String>) {
        (super::rest::error_response(501, "not yet"), Vec::new())
    }
}
