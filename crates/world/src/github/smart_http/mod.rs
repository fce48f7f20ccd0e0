//! Git over smart HTTP.

use bytes::Bytes;
use http::{Request, Response};
use jiff::Timestamp;

use super::{Identity, Model};

pub(crate) fn service_of(path: &str) -> Option<&'static str> {
    ["info/refs", "git-upload-pack", "git-receive-pack"]
        .into_iter()
        .find(|service| {
            path.strip_suffix(service)
                .is_some_and(|rest| !rest.starts_with("/repos/") && rest.matches('/').count() == 3)
        })
}

impl Model {
    pub(crate) fn smart_http(
        &mut self,
        _request: &Request<Bytes>,
        _service: &str,
        _identity: Option<&Identity>,
        _now: Timestamp,
    ) -> Response<Bytes> {
        super::rest::error_response(501, "not yet")
    }
}
