//! Parses the public address of the service.

use http::Uri;

use crate::adapters::transport::{excessive_port, is_loopback};

/// The path of the webhook below the public address.
pub const WEBHOOK: &str = "/webhook";

/// How to write a public address.
pub(super) const PUBLIC_URL: &str = "write one such as https://phileas.example.com, with https, without a query, and with a port of 65535 at most";

/// A text that is no public address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid public address; {PUBLIC_URL}")]
pub struct PublicUrlError {
    /// The text without a password.
    pub text: String,
}

/// Parses a public address, and returns it without a final slash and without `/webhook`: people
/// copy that from the webhook's settings. Plain HTTP is allowed for addresses of this machine only.
///
/// # Errors
///
/// When it is invalid.
pub fn public_url(text: &str) -> Result<String, PublicUrlError> {
    let trimmed = text.trim().trim_end_matches('/');
    let url = trimmed.strip_suffix(WEBHOOK).unwrap_or(trimmed);
    let url = url.trim_end_matches('/');
    let wrong = || PublicUrlError {
        text: match text.rsplit_once('@') {
            Some((_, host)) => format!("…@{host}"),
            None => text.to_owned(),
        },
    };
    let parsed: Uri = url.parse().map_err(|_| wrong())?;
    let (Some(authority), Some(host)) = (parsed.authority(), parsed.host()) else {
        return Err(wrong());
    };
    let safe = parsed.scheme_str() == Some("https")
        || (parsed.scheme_str() == Some("http") && is_loopback(host));
    if !safe
        || excessive_port(authority.as_str()).is_some()
        || authority.as_str().contains('@')
        || parsed.query().is_some()
    {
        return Err(wrong());
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_of_a_service_is_refused() {
        for (text, url) in [
            ("https://phileas.example.com", "https://phileas.example.com"),
            (
                " https://phileas.example.com/ ",
                "https://phileas.example.com",
            ),
            (
                "https://phileas.example.com/webhook",
                "https://phileas.example.com",
            ),
            (
                "https://example.com/phileas/",
                "https://example.com/phileas",
            ),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ] {
            assert_eq!(public_url(text).as_deref(), Ok(url), "{text}");
        }
        for text in [
            "",
            "phileas.example.com",
            "ftp://x",
            "http://phileas.example.com",
            "https://me:canary@phileas.example.com",
            "https://phileas.example.com/?x=1",
            "javascript:alert(1)",
            "https://phileas.example.com:99999",
        ] {
            let error = public_url(text).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
