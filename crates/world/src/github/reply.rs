//! Replies in the form of `api.github.com`: JSON bodies, error bodies, headers.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

/// Sets a header; a value that no header can hold is left out.
pub(crate) fn put_header(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// A JSON reply.
pub(crate) fn json_response(status: u16, body: &Value) -> Response<Bytes> {
    // A value always has a text.
    let text = serde_json::to_vec(body).unwrap_or_default();
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}

/// An error body of GitHub's form.
pub(crate) fn error_body(status: u16, message: &str, errors: Option<&Value>) -> Value {
    let mut body = json!({"message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string()});
    if let Some(errors) = errors {
        body["errors"] = errors.clone();
    }
    body
}
