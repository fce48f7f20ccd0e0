//! The style sheet, the script and the icon. Their names contain a digest of their content, so that
//! browsers can cache them forever and never show an old one.

use std::sync::LazyLock;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

/// How many bytes of the digest are in a name.
const DIGEST: usize = 8;

/// A compiled-in file.
#[derive(Debug)]
pub struct Asset {
    /// Its path on the listener.
    pub path: String,
    kind: &'static str,
    text: &'static str,
}

/// The style sheet.
pub static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "css",
        "text/css; charset=utf-8",
        include_str!("assets/dashboard.css"),
    )
});
/// The script. Every page is complete without it.
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new(
        "js",
        "text/javascript; charset=utf-8",
        include_str!("assets/dashboard.js"),
    )
});
/// The icon.
pub static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("svg", "image/svg+xml", include_str!("assets/icon.svg")));

impl Asset {
    fn new(extension: &str, kind: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text);
        let digest = data_encoding::HEXLOWER.encode(&digest[..DIGEST]);
        Self {
            path: format!("/assets/phileas.{digest}.{extension}"),
            kind,
            text,
        }
    }

    /// Returns the file as a response.
    #[must_use]
    pub fn to_response(&self) -> Response {
        let mut response = (StatusCode::OK, self.text).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        );
        response
    }
}
