//! Parses host names of the admin listener.

use std::net::Ipv6Addr;
use std::str::FromStr;

use serde::Deserialize;

/// A text that is no host name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a host name; write it as `phileas.example.com`, without https://, a path or `*`; a port may follow it"
)]
pub struct HostNameError {
    /// The text.
    pub text: String,
}

/// A name under which a browser reaches a listener, in lower case; a port may follow it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct HostName(String);

impl HostName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HostName {
    type Err = HostNameError;

    /// A browser sends other names in the form of `xn--…`, so letters and digits are enough.
    fn from_str(text: &str) -> Result<Self, HostNameError> {
        let host = text.trim().to_ascii_lowercase();
        let bracketed = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (name, port) = match bracketed {
            Some((address, "")) => (address, "0"),
            Some((address, port)) => (address, port.strip_prefix(':').unwrap_or_default()),
            None => host.split_once(':').unwrap_or((&host, "0")),
        };
        let is_address = bracketed.is_some() && name.parse::<Ipv6Addr>().is_ok();
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
        let is_label = |label: &str| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        if is_port && (is_address || (bracketed.is_none() && name.split('.').all(is_label))) {
            return Ok(Self(host));
        }
        Err(HostNameError {
            text: text.to_owned(),
        })
    }
}

impl TryFrom<String> for HostName {
    type Error = HostNameError;

    fn try_from(text: String) -> Result<Self, HostNameError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_a_port_are_read_and_the_rest_is_refused() {
        for (text, name) in [
            ("phileas.example.com", "phileas.example.com"),
            (" Phileas.Example.com ", "phileas.example.com"),
            ("proxy:8443", "proxy:8443"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("10.0.0.1", "10.0.0.1"),
            ("[FD00::5]", "[fd00::5]"),
            ("[fd00::5]:8443", "[fd00::5]:8443"),
        ] {
            assert_eq!(text.parse::<HostName>().unwrap().as_str(), name, "{text}");
        }
        for wrong in [
            "",
            " ",
            "https://phileas.example.com",
            "phileas.example.com/admin",
            "*.example.com",
            "phileas.example.com.",
            "a b",
            "user@phileas.example.com",
            "bücher.example",
            "proxy:",
            "proxy:+1",
            "proxy:65536",
            ":80",
            "fd00::5",
            "[fd00::5",
            "[fd00::5]8443",
            "[example.com]",
        ] {
            let refused = wrong.parse::<HostName>().unwrap_err().to_string();
            assert!(refused.contains("`phileas.example.com`"), "{refused}");
        }
    }
}
