//! Replies to requests that exceed a rate limit.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::json;

use super::Model;
use super::limits::{HOUR, Met, Resource, Standing};
use crate::clock::later;

/// The value of `Retry-After` for a secondary limit.
const RETRY_AFTER: u64 = 60;

impl Model {
    /// The reply to a request beyond the primary limit.
    pub(crate) fn primary_limit_reply(&self, now: Timestamp) -> Response<Bytes> {
        let standing = Standing {
            limit: 5_000,
            used: 5_000,
            reset: later(now, HOUR),
        };
        let mut response = refusal(
            StatusCode::FORBIDDEN,
            "API rate limit exceeded for installation.",
            "rate-limits-for-the-rest-api",
        );
        standing.write(Resource::Core, response.headers_mut());
        response
    }

    /// The reply to a request beyond a secondary limit.
    pub(crate) fn secondary_limit_reply(retry_after: Option<u64>) -> Response<Bytes> {
        let mut response = refusal(
            StatusCode::FORBIDDEN,
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            "about-secondary-rate-limits",
        );
        if let Some(seconds) = retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    /// The reply to a request that exceeds a limit by counting.
    pub(crate) fn limit_reply(met: Met, standing: Standing, resource: Resource) -> Response<Bytes> {
        let mut response = match met {
            Met::Primary => refusal(
                StatusCode::FORBIDDEN,
                "API rate limit exceeded.",
                "rate-limits-for-the-rest-api",
            ),
            Met::Secondary => Self::secondary_limit_reply(Some(RETRY_AFTER)),
        };
        standing.write(resource, response.headers_mut());
        response
    }
}

fn refusal(status: StatusCode, message: &str, page: &str) -> Response<Bytes> {
    let body = json!({"message": message, "documentation_url": format!("https://docs.github.com/rest/overview/{page}")});
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}
