//! Sends one request exactly as the caller wrote it, for `phileas probe`.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response};
use std::sync::atomic::Ordering;

use super::client::Client;
use super::error::{ApiError, Cause, one_line};
use super::key;

impl Client {
    /// Sends one request, once, and returns any answer, refusals included. `path` is below the version and includes
    /// the query; the caller must build it from valid names and encoded values.
    ///
    /// # Errors
    ///
    /// [`ApiError`], if there was no answer, or the path cannot be part of a URL.
    pub async fn send_verbatim(
        &self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<Response<Bytes>, ApiError> {
        let fail = |cause| ApiError {
            route: "a request of its own making",
            cause,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(self.base.url_of(path))
            .header(key::HEADER, self.key.header_value())
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        if body.is_some() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let bytes = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request = request
            .body(bytes)
            .map_err(|_| fail(Cause::BadName(path.to_owned())))?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let sent = self.transport.send(request).await;
        let response = sent.map_err(|error| fail(Cause::Transport(self.redact_error(error))))?;
        Ok(response.map(|body| self.key.redact_body(body)))
    }

    /// One short line of Jules' text, without the key.
    #[must_use]
    pub fn redact_text(&self, text: &str) -> String {
        one_line(text, &self.key)
    }
}
