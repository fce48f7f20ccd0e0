//! REST.

use bytes::Bytes;
use http::{Request, Response};
use jiff::Timestamp;

use super::Model;
use crate::knobs::Knobs;

/// What became of one request.
pub(crate) struct Handled {
    pub(crate) response: Response<Bytes>,
    pub(crate) identity: Option<String>,
    pub(crate) points: u32,
    pub(crate) fields: Vec<String>,
}

impl Model {
    pub(crate) fn route_of(&self, _request: &Request<Bytes>) -> String {
        "unknown".to_owned()
    }

    pub(crate) fn handle(
        &mut self,
        _request: &Request<Bytes>,
        _now: Timestamp,
        _knobs: &Knobs,
    ) -> Handled {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = http::StatusCode::NOT_IMPLEMENTED;
        Handled {
            response,
            identity: None,
            points: 0,
            fields: Vec::new(),
        }
    }
}
