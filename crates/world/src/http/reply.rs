//! Completes the replies of the world, and builds the server's own replies.

use ::http::{HeaderValue, Method, Response, StatusCode, header};
use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::faults::Face;

/// The largest body of a request in bytes; a larger one is answered 413.
pub const MAX_REQUEST_BODY: usize = 30 * 1024 * 1024;

/// Adds the virtual date unless the reply has one, and removes the content type of a reply without content.
pub(super) fn finish_reply(
    mut response: Response<Bytes>,
    method: &Method,
    now: Timestamp,
) -> Response<Bytes> {
    let status = response.status();
    let headers = response.headers_mut();
    if !headers.contains_key(header::DATE)
        && let Ok(date) =
            HeaderValue::from_str(&now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
    {
        headers.insert(header::DATE, date);
    }
    if matches!(status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT) {
        headers.remove(header::CONTENT_TYPE);
        *response.body_mut() = Bytes::new();
    } else if method == Method::HEAD {
        // The length is that of the body which GET would get.
        let length = response.body().len();
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        *response.body_mut() = Bytes::new();
    }
    response
}

/// The reply to a body beyond the limit. It closes the connection, because the rest of the body was not read.
pub(super) fn too_large(face: Face) -> Response<Bytes> {
    let message = format!("The request's body is larger than {MAX_REQUEST_BODY} bytes");
    let mut response = error_reply(face, StatusCode::PAYLOAD_TOO_LARGE, &message);
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The reply of a world that has a bug.
pub(super) fn panic_reply(face: Face) -> Response<Bytes> {
    error_reply(
        face,
        StatusCode::INTERNAL_SERVER_ERROR,
        "The model panicked; see the standard error of the process that serves it",
    )
}

fn error_reply(face: Face, status: StatusCode, message: &str) -> Response<Bytes> {
    let body: Value = match face {
        Face::Github => json!({"message": message, "status": status.as_u16().to_string()}),
        Face::Jules => {
            let word = if status.is_server_error() {
                "INTERNAL"
            } else {
                "INVALID_ARGUMENT"
            };
            json!({"error": {"code": status.as_u16(), "message": message, "status": word}})
        }
    };
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}
