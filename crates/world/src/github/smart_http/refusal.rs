//! Replies to a git client that do not come from git.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

/// A reply that does not come from git.
#[derive(Debug)]
pub(super) struct GitRefusal {
    pub(super) status: StatusCode,
    pub(super) text: String,
    /// Where the repository is now.
    pub(super) location: Option<String>,
}

impl GitRefusal {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
            location: None,
        }
    }

    pub(super) fn internal_error(what: &str, error: impl std::fmt::Display) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("the model of GitHub could not {what}: {error}"),
        )
    }

    pub(super) fn into_response(self) -> Response<Bytes> {
        // git shows a plain text to its user, line by line after "remote: ".
        let mut response = Response::new(Bytes::from(self.text + "\n"));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        );
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Basic realm=\"GitHub\""),
            );
        }
        if let Some(location) = self
            .location
            .and_then(|url| HeaderValue::from_str(&url).ok())
        {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}
