//! The addresses of GitHub's API: github.com, or what `GITHUB_API_URL` and `GITHUB_GRAPHQL_URL` name.

use http::Uri;

use crate::adapters::transport::{excessive_port, is_loopback};

/// The address of REST on github.com.
pub const DEFAULT_API_URL: &str = "https://api.github.com";

/// The addresses of REST and of GraphQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    rest: Address,
    graphql: Address,
}

/// An origin and a path on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// Scheme and authority.
    pub(crate) origin: Uri,
    /// Starts with a slash and does not end with one; empty at the root.
    pub(crate) path: String,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: `{text}` {problem}")]
pub struct BaseError {
    /// The variable that names it.
    pub variable: &'static str,
    /// Its value, without anything before an `@`.
    pub text: String,
    /// What is wrong, and how to fix it.
    pub problem: &'static str,
}

impl Base {
    /// Reads the values of `GITHUB_API_URL` and `GITHUB_GRAPHQL_URL`; absent or empty ones take their defaults, and
    /// GraphQL is found beside REST.
    ///
    /// # Errors
    ///
    /// An address that is not `https://`, unless it is this machine's own, or that carries a query or a password.
    pub fn from_values(api: Option<&str>, graphql: Option<&str>) -> Result<Self, BaseError> {
        let given = |text: Option<&str>| {
            text.map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let api = given(api).unwrap_or_else(|| DEFAULT_API_URL.to_owned());
        let rest = Address::parse("GITHUB_API_URL", &api)?;
        let graphql = match given(graphql) {
            Some(text) => Address::parse("GITHUB_GRAPHQL_URL", &text)?,
            None => Address {
                origin: rest.origin.clone(),
                // GitHub Enterprise Server has REST at `/api/v3` and GraphQL at `/api/graphql`.
                path: format!(
                    "{}/graphql",
                    rest.path.strip_suffix("/v3").unwrap_or(&rest.path)
                ),
            },
        };
        Ok(Self { rest, graphql })
    }

    pub(crate) fn rest_address(&self) -> &Address {
        &self.rest
    }

    pub(crate) fn graphql_address(&self) -> &Address {
        &self.graphql
    }
}

impl Default for Base {
    fn default() -> Self {
        Self::from_values(None, None).expect("the default addresses are valid")
    }
}

impl Address {
    fn parse(variable: &'static str, text: &str) -> Result<Self, BaseError> {
        let shown = match text.rsplit_once('@') {
            Some((_, after)) => format!("…@{after}"),
            None => text.to_owned(),
        };
        let wrong = |problem| BaseError {
            variable,
            text: shown.clone(),
            problem,
        };
        if text.contains('@') {
            return Err(wrong(
                "holds a name or a password; give the token by itself",
            ));
        }
        let uri: Uri = text
            .parse()
            .map_err(|_| wrong("is not a URL; write it as https://api.github.com"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong(
                "lacks a scheme or a host; write it as https://api.github.com",
            ));
        };
        if !matches!(scheme, "https" | "http") {
            return Err(wrong(
                "does not begin with https://; write it as https://api.github.com",
            ));
        }
        if excessive_port(authority.as_str()).is_some() {
            return Err(wrong(
                "names a port above 65535, the highest port; write the server's port, or leave it out for 443",
            ));
        }
        if scheme != "https" && !(scheme == "http" && is_loopback(authority.host())) {
            return Err(wrong(
                "would send the token in the clear; use https (http is for this machine only)",
            ));
        }
        if uri.query().is_some() || text.contains('#') {
            return Err(wrong("holds a query or a fragment; leave it out"));
        }
        let origin = Uri::builder()
            .scheme(scheme)
            .authority(authority.clone())
            .path_and_query("/")
            .build()
            .map_err(|_| wrong("is not a URL"))?;
        Ok(Self {
            origin,
            path: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The path below this address that a `Location` header names. `None`: it leads to another host.
    pub(crate) fn path_below(&self, location: &str) -> Option<String> {
        let uri: Uri = location.parse().ok()?;
        if uri.authority().is_some() {
            let same = uri.scheme_str() == self.origin.scheme_str()
                && uri.authority() == self.origin.authority();
            if !same {
                return None;
            }
        }
        uri.path_and_query()?
            .as_str()
            .strip_prefix(&self.path)
            .filter(|path| path.starts_with('/'))
            .map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphql_is_found_beside_rest() {
        let base = Base::default();
        assert_eq!(base.rest_address().path, "");
        assert_eq!(base.graphql_address().path, "/graphql");
        assert_eq!(base.graphql_address().origin, "https://api.github.com/");
        let own = Base::from_values(Some("https://git.example/api/v3/"), Some(" ")).unwrap();
        assert_eq!(own.rest_address().path, "/api/v3");
        assert_eq!(own.graphql_address().path, "/api/graphql");
        let split =
            Base::from_values(None, Some("http://127.0.0.1:4011/somewhere/graphql")).unwrap();
        assert_eq!(split.graphql_address().origin, "http://127.0.0.1:4011/");
    }

    #[test]
    fn r16_what_would_give_the_token_away_is_refused() {
        for (text, word) in [
            ("http://api.github.com", "https"),
            ("ftp://api.github.com", "does not begin with https://"),
            ("https://api.github.com:99999", "a port above 65535"),
            ("api.github.com", "scheme"),
            ("https://me:secret@api.github.com", "password"),
            ("https://api.github.com/?x=1", "query"),
            ("http://localhost.example:80", "https"),
        ] {
            let error = Base::from_values(Some(text), None).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(Base::from_values(Some("http://[::1]:80"), None).is_ok());
    }

    #[test]
    fn r16_a_redirect_elsewhere_is_not_below() {
        let base = Base::from_values(Some("https://git.example/api/v3"), None).unwrap();
        let rest = base.rest_address();
        assert_eq!(
            rest.path_below("https://git.example/api/v3/repositories/7?x=1")
                .as_deref(),
            Some("/repositories/7?x=1")
        );
        assert_eq!(
            rest.path_below("/api/v3/repositories/7").as_deref(),
            Some("/repositories/7")
        );
        for elsewhere in [
            "https://evil.example/api/v3/repositories/7",
            "http://git.example/api/v3/repositories/7",
            "https://git.example/other",
            "https://git.example/api/v33/x",
        ] {
            assert_eq!(rest.path_below(elsewhere), None, "{elsewhere}");
        }
    }
}
