//! The address of the API.

use http::Uri;
use http::uri::Scheme;

use crate::adapters::transport::{excessive_port, is_loopback};

/// The environment variable that sets another address.
pub const VARIABLE: &str = "JULES_API_BASE";

/// The public API. There is no `/v1`.
pub const DEFAULT: &str = "https://jules.googleapis.com/v1alpha";

const GOOGLES_HOST: &str = "jules.googleapis.com";

/// The API's base URL, version segment included, without a final slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base(String);

/// Why a text is not a base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseError {
    /// Not a URL with scheme and host.
    #[error("{VARIABLE} is not a URL; write it as {DEFAULT}")]
    NotAUrl,
    /// There is no such port.
    #[error(
        "{VARIABLE} names the port {port}, but the highest port is 65535; write it as {DEFAULT}"
    )]
    NoPort {
        /// The port.
        port: String,
    },
    /// Unencrypted, and not on this machine.
    #[error(
        "{VARIABLE} must begin with https:// (http:// is for loopback hosts only): the key would be readable on the way"
    )]
    Insecure,
    /// A user name or password, a query.
    #[error("{VARIABLE} must not hold a user name, a password or a query; the key belongs in {key}", key = super::key::VARIABLE)]
    TooMuch,
    /// No version.
    #[error("{VARIABLE} must end in the API's version, as in {DEFAULT}; it ends in `{end}`")]
    NoVersion {
        /// How it ends.
        end: String,
    },
}

impl Default for Base {
    fn default() -> Self {
        Self(DEFAULT.to_owned())
    }
}

impl Base {
    /// Reads a base URL. The second value is a warning for the person who wrote it.
    ///
    /// # Errors
    /// [`BaseError`], with what to write instead.
    pub fn parse(text: &str) -> Result<(Self, Option<String>), BaseError> {
        let text = text.trim().trim_end_matches('/');
        let uri: Uri = text.parse().map_err(|_| BaseError::NotAUrl)?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(BaseError::NotAUrl);
        };
        let host = authority.host();
        if *scheme != Scheme::HTTPS && !(*scheme == Scheme::HTTP && is_loopback(host)) {
            return Err(BaseError::Insecure);
        }
        if let Some(port) = excessive_port(authority.as_str()) {
            return Err(BaseError::NoPort {
                port: port.to_owned(),
            });
        }
        if authority.as_str().contains('@') || uri.query().is_some() || text.contains('#') {
            return Err(BaseError::TooMuch);
        }
        let path = uri.path();
        let last = path.rsplit('/').next().unwrap_or_default();
        if !is_version(last) {
            let end = if last.is_empty() { host } else { last };
            return Err(BaseError::NoVersion {
                end: end.to_owned(),
            });
        }
        if host.eq_ignore_ascii_case(GOOGLES_HOST) && path == "/v1" {
            let warning =
                format!("{VARIABLE} ends in /v1, which does not exist; {DEFAULT} is used");
            return Ok((Self::default(), Some(warning)));
        }
        Ok((Self(text.to_owned()), None))
    }

    /// The URL of a path that begins with a slash.
    pub(super) fn url_of(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

/// `v1`, `v1alpha`, `v2beta1`, ….
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let (base, warning) = Base::parse(text).unwrap();
        assert_eq!(warning, None, "{text}");
        base.url_of("/sessions")
    }

    #[test]
    fn a_base_keeps_its_version_and_loses_its_slash() {
        assert_eq!(
            read("https://jules.googleapis.com/v1alpha/"),
            format!("{DEFAULT}/sessions")
        );
        assert_eq!(
            read(" http://127.0.0.1:8080/v1alpha "),
            "http://127.0.0.1:8080/v1alpha/sessions"
        );
        assert_eq!(read("http://[::1]:1/v1"), "http://[::1]:1/v1/sessions");
        assert_eq!(
            read("https://proxy.example/jules/v1beta"),
            "https://proxy.example/jules/v1beta/sessions"
        );
        assert_eq!(
            Base::default().url_of("/sources"),
            format!("{DEFAULT}/sources")
        );
    }

    #[test]
    fn the_version_that_never_was_is_put_right() {
        let (base, warning) = Base::parse("https://jules.googleapis.com/v1").unwrap();
        assert_eq!(base, Base::default());
        assert!(warning.unwrap().contains("/v1, which does not exist"));
    }

    #[test]
    fn a_port_that_does_not_exist_is_named() {
        let error = Base::parse("https://proxy.example:99999/v1alpha").unwrap_err();
        assert!(error.to_string().contains("the port 99999"), "{error}");
        assert!(Base::parse("http://[::1]:65535/v1alpha").is_ok());
    }

    #[test]
    fn r16_what_would_leak_the_key_is_refused() {
        for text in [
            "http://jules.googleapis.com/v1alpha",
            "http://127.0.0.1.example/v1alpha",
            "ftp://h/v1alpha",
        ] {
            assert_eq!(
                Base::parse(text).unwrap_err(),
                BaseError::Insecure,
                "{text}"
            );
        }
        for text in [
            "https://user:secret@host/v1alpha",
            "https://host/v1alpha?key=secret",
        ] {
            let error = Base::parse(text).unwrap_err();
            assert_eq!(error, BaseError::TooMuch, "{text}");
            assert!(!error.to_string().contains("secret"));
        }
    }

    #[test]
    fn a_missing_version_is_explained() {
        let error = Base::parse("https://jules.googleapis.com/").unwrap_err();
        assert_eq!(
            error.to_string(),
            "JULES_API_BASE must end in the API's version, as in https://jules.googleapis.com/v1alpha; it ends in `jules.googleapis.com`"
        );
        assert!(
            matches!(Base::parse("https://h/api"), Err(BaseError::NoVersion { end }) if end == "api")
        );
        assert_eq!(Base::parse("jules").unwrap_err(), BaseError::NotAUrl);
        assert_eq!(Base::parse("").unwrap_err(), BaseError::NotAUrl);
    }
}
