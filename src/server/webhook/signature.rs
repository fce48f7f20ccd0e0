//! Signatures of deliveries: `X-Hub-Signature-256: sha256=<64 hexadecimal digits>`, HMAC-SHA256 over the body's bytes.

use axum::http::HeaderValue;
use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// A shorter secret can be guessed by trying; it is accepted with a warning, in bytes.
pub const MIN_SECRET: usize = 32;
/// The most secrets at a time. A rotation needs two.
const MAX_SECRETS: usize = 8;
/// What a signature begins with. SHA-1 (`sha1=`) is not accepted.
const SCHEME: &str = "sha256=";
/// The length of a signature in bytes.
const LENGTH: usize = 32;

/// A signature as it was sent.
pub(super) type Signature = [u8; LENGTH];

/// The secrets that deliveries may be signed with: one, and during a rotation the one before.
#[derive(Clone)]
pub struct Secrets(Vec<Hmac<Sha256>>);

/// Why secrets cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// There is none.
    #[error("there is no secret in it")]
    None,
    /// There are too many.
    #[error(
        "there are more than {MAX_SECRETS} secrets in it; remove those that no hook uses any more"
    )]
    TooMany,
}

impl Secrets {
    /// Reads secrets from a text in which commas separate them. Spaces around them do not count.
    ///
    /// The flag says whether one is shorter than [`MIN_SECRET`].
    ///
    /// # Errors
    ///
    /// When there is none, or there are too many.
    pub fn from_list(list: &SecretString) -> Result<(Self, bool), SecretsError> {
        let secrets: Vec<&str> = list
            .expose_secret()
            .split(',')
            .map(str::trim)
            .filter(|secret| !secret.is_empty())
            .collect();
        if secrets.is_empty() {
            return Err(SecretsError::None);
        }
        if secrets.len() > MAX_SECRETS {
            return Err(SecretsError::TooMany);
        }
        let short = secrets.iter().any(|secret| secret.len() < MIN_SECRET);
        let keyed = secrets.iter().map(|secret| {
            Hmac::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length")
        });
        Ok((Self(keyed.collect()), short))
    }

    /// Whether one of the secrets has signed these bytes. Takes the same time whichever it is, and however much of the
    /// signature is right.
    pub(super) fn verify(&self, body: &[u8], signature: &Signature) -> bool {
        self.0.iter().fold(false, |verified, keyed| {
            let mut mac = keyed.clone();
            mac.update(body);
            verified | mac.verify_slice(signature).is_ok()
        })
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

/// Reads the header.
pub(super) fn parse(header: &HeaderValue) -> Option<Signature> {
    let digits = header.to_str().ok()?.strip_prefix(SCHEME)?;
    if digits.len() != 2 * LENGTH {
        return None;
    }
    let mut signature = [0; LENGTH];
    let written = HEXLOWER_PERMISSIVE
        .decode_mut(digits.as_bytes(), &mut signature)
        .ok()?;
    (written == LENGTH).then_some(signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From GitHub's documentation, "Validating webhook deliveries".
    const DIGITS: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    const SECRET: &str = "It's a Secret to Everybody";

    fn secrets(list: &str) -> Secrets {
        Secrets::from_list(&SecretString::from(list)).unwrap().0
    }

    fn header(text: &str) -> Option<Signature> {
        parse(&HeaderValue::from_str(text).unwrap())
    }

    #[test]
    fn githubs_own_example_is_verified() {
        let signature = header(&format!("sha256={DIGITS}")).unwrap();
        assert!(secrets(SECRET).verify(b"Hello, World!", &signature));
        assert!(secrets(&format!("new, {SECRET} ,")).verify(b"Hello, World!", &signature));
        assert!(secrets(&format!("{SECRET},new")).verify(b"Hello, World!", &signature));
        assert!(!secrets("new").verify(b"Hello, World!", &signature));
        assert!(!secrets(SECRET).verify(b"Hello, World?", &signature));
        assert!(!secrets(SECRET).verify(b"", &signature));
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let signature = header(&format!("sha256={DIGITS}")).unwrap();
        let secrets = secrets(SECRET);
        for bit in 0..8 * LENGTH {
            let mut wrong = signature;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!secrets.verify(b"Hello, World!", &wrong), "bit {bit}");
        }
    }

    #[test]
    fn other_headers_are_no_signatures() {
        let short = &DIGITS[2..];
        for wrong in [
            String::new(),
            DIGITS.to_owned(),
            format!("sha1={DIGITS}"),
            format!("sha256={short}"),
            format!("sha256={DIGITS}00"),
            format!("sha256={short}zz"),
            format!("sha256= {short} "),
        ] {
            assert_eq!(header(&wrong), None, "{wrong}");
        }
        assert!(header(&format!("sha256={}", DIGITS.to_uppercase())).is_some());
    }

    #[test]
    fn lists_without_a_secret_are_refused() {
        let read = |list: &str| Secrets::from_list(&SecretString::from(list)).map(|read| read.1);
        assert_eq!(read(""), Err(SecretsError::None));
        assert_eq!(read(" , ,"), Err(SecretsError::None));
        assert_eq!(read("a,b,c,d,e,f,g,h,i"), Err(SecretsError::TooMany));
        assert_eq!(read("short"), Ok(true));
        assert_eq!(read("0123456789abcdef0123456789abcdef"), Ok(false));
        let shown = format!("{:?}", secrets("hidden"));
        assert_eq!(shown, "Secrets(1)");
    }
}
