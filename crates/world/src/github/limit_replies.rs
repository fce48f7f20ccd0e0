//! Replies to requests that exceed a rate limit.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use jiff::Timestamp;
use serde_json::json;

use super::Model;
use super::limits::{ExceededLimit, HOUR, LimitStatus, Resource};
use crate::clock::later_by;

/// The value of `Retry-After` for a secondary limit.
const RETRY_AFTER: u64 = 60;

impl Model {
    /// The reply to a request beyond the primary limit.
    pub(crate) fn primary_limit_reply(&self, now: Timestamp) -> Response<Bytes> {
        let limit_status = LimitStatus {
            limit: 5_000,
            used: 5_000,
            reset: later_by(now, HOUR),
        };
        let mut response = limit_refusal(
            StatusCode::FORBIDDEN,
            "API rate limit exceeded for installation.",
            "rate-limits-for-the-rest-api",
        );
        limit_status.write_headers(Resource::Core, response.headers_mut());
        response
    }

    /// The reply to a request beyond a secondary limit.
    pub(crate) fn secondary_limit_reply(retry_after: Option<u64>) -> Response<Bytes> {
        let mut response = limit_refusal(
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
    pub(crate) fn limit_reply(
        met: ExceededLimit,
        limit_status: LimitStatus,
        resource: Resource,
    ) -> Response<Bytes> {
        let mut response = match met {
            ExceededLimit::Primary => limit_refusal(
                StatusCode::FORBIDDEN,
                "API rate limit exceeded.",
                "rate-limits-for-the-rest-api",
            ),
            ExceededLimit::Secondary => Self::secondary_limit_reply(Some(RETRY_AFTER)),
        };
        limit_status.write_headers(resource, response.headers_mut());
        response
    }
}

fn limit_refusal(status: StatusCode, message: &str, page: &str) -> Response<Bytes> {
    let body = json!({"message": message, "documentation_url": format!("https://docs.github.com/rest/overview/{page}")});
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}
