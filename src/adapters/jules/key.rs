//! The API key.

use bytes::Bytes;
use http::HeaderValue;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};

/// The environment variable that every client of Jules reads.
pub const VARIABLE: &str = "JULES_API_KEY";

/// The name of the variable in old plans.
pub const OLD_VARIABLE: &str = "JULES_API_TOKEN";

/// The header of the key. Jules accepts no bearer token.
pub(super) const HEADER: &str = "x-goog-api-key";

/// A Jules API key. It has no `Display`, and its `Debug` hides it.
#[derive(Debug, Clone)]
pub struct JulesKey(SecretString);

/// Why there is no usable key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Neither variable is set.
    #[error("no Jules API key: set {VARIABLE} (keys are made at jules.google.com/settings#api)")]
    Missing,
    /// The text cannot be a header's value.
    #[error(
        "{VARIABLE} holds spaces, line breaks or other characters that no key has; copy it again"
    )]
    Malformed,
}

impl JulesKey {
    /// Takes a key, without the white space around it.
    ///
    /// # Errors
    /// [`KeyError`], when it is empty or cannot be sent.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        // Some editors start a file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Err(KeyError::Missing);
        }
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(KeyError::Malformed);
        }
        Ok(Self(SecretString::from(text)))
    }

    /// Reads the key from variables. The second value is a warning for the user.
    ///
    /// # Errors
    /// [`KeyError`], when there is none.
    pub fn from_variables(
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, Option<String>), KeyError> {
        let set = |name: &str| read(name).filter(|text| !text.trim().is_empty());
        if let Some(text) = set(VARIABLE) {
            return Ok((Self::new(&text)?, None));
        }
        let text = set(OLD_VARIABLE).ok_or(KeyError::Missing)?;
        let warning = format!("{OLD_VARIABLE} is an old name; rename it to {VARIABLE}");
        Ok((Self::new(&text)?, Some(warning)))
    }

    /// Identifies this key without revealing it: a SHA-256 digest. A person with the key can compute it, so it stays
    /// in memory and is never written.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        use sha2::{Digest as _, Sha256};
        Sha256::digest(self.0.expose_secret().as_bytes()).into()
    }

    /// A part of the digest that may be written. One in 65,536 other keys shares it, so it neither reveals the key
    /// nor proves that an account has it.
    #[must_use]
    pub fn key_id(&self) -> String {
        let [first, second, ..] = self.digest();
        format!("{first:02x}{second:02x}")
    }

    /// The header's value, marked as sensitive for logs.
    pub(super) fn header_value(&self) -> HeaderValue {
        let mut value = HeaderValue::from_str(self.0.expose_secret())
            .expect("a key is made of visible ASCII characters");
        value.set_sensitive(true);
        value
    }

    /// Removes the key, plain or URL-encoded, from Jules' text, which may echo it.
    pub(super) fn redact_key(&self, text: &str) -> String {
        let key = self.0.expose_secret();
        let escaped = utf8_percent_encode(key, NON_ALPHANUMERIC).to_string();
        text.replace(key, "[key]").replace(&escaped, "[key]")
    }

    /// Removes the key from a body, because parts of it reach messages, the ledger and prompts.
    pub(super) fn redact_body(&self, body: Bytes) -> Bytes {
        let text = String::from_utf8_lossy(&body);
        let redacted = self.redact_key(&text);
        if redacted == text {
            body
        } else {
            Bytes::from(redacted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Result<(JulesKey, Option<String>), KeyError> {
        JulesKey::from_variables(|name| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    fn sent(key: &JulesKey) -> String {
        key.header_value().to_str().unwrap().to_owned()
    }

    #[test]
    fn the_new_name_wins_over_the_old_one() {
        let (key, warning) = from(&[(VARIABLE, " new-key\n"), (OLD_VARIABLE, "old-key")]).unwrap();
        assert_eq!((sent(&key).as_str(), warning), ("new-key", None));
        let (key, warning) = from(&[(VARIABLE, ""), (OLD_VARIABLE, "old-key")]).unwrap();
        assert_eq!(sent(&key), "old-key");
        assert!(warning.unwrap().contains("rename it to JULES_API_KEY"));
    }

    #[test]
    fn what_cannot_be_a_key_is_refused_without_showing_it() {
        assert_eq!(from(&[]).unwrap_err(), KeyError::Missing);
        let error = JulesKey::new("two words").unwrap_err();
        assert_eq!(error, KeyError::Malformed);
        assert!(!error.to_string().contains("two"));
    }

    #[test]
    fn r15_nothing_shows_the_key() {
        let key = JulesKey::new("test-key").unwrap();
        assert!(!format!("{key:?}").contains("test-key"));
        assert!(!format!("{:?}", key.header_value()).contains("test-key"));
        assert_eq!(key.redact_key("bad key test-key!"), "bad key [key]!");
    }
}
