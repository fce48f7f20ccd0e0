//! Verifies signatures of deliveries: `X-Hub-Signature-256: sha256=<64 hexadecimal digits>`,
//! HMAC-SHA256 over the body's bytes.

use axum::http::HeaderValue;
use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// The shortest secret, in bytes: a shorter one can be guessed from a single delivery.
pub const MIN_SECRET: usize = 32;
/// The most secrets at a time. A rotation needs two.
const MAX_SECRETS: usize = 8;
/// The prefix of a signature. SHA-1 (`sha1=`) is not accepted.
const SCHEME: &str = "sha256=";
/// The length of a signature in bytes.
const LENGTH: usize = 32;

/// A signature as it was sent.
pub(super) type Signature = [u8; LENGTH];

/// The secrets of deliveries: one, and during a rotation the previous one, too.
#[derive(Clone)]
pub struct Secrets(Vec<Hmac<Sha256>>);

/// Why secrets cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// There is no secret.
    #[error(
        "there is no secret in it; write one of at least {MIN_SECRET} bytes, for example the output of `openssl \
        rand -hex 32`"
    )]
    None,
    /// There are too many.
    #[error(
        "there are more than {MAX_SECRETS} secrets in it; remove those that no hook uses any more"
    )]
    TooMany,
    /// A secret could be guessed.
    #[error(
        "secret {number} of {of} is shorter than {MIN_SECRET} bytes and could be guessed; make one with `openssl rand \
         -hex 32`, and set it in the webhook's settings on GitHub, too. A comma separates secrets, so none can contain \
         one"
    )]
    Short {
        /// Its number, from 1.
        number: usize,
        /// The number of secrets.
        of: usize,
    },
}

impl Secrets {
    /// Parses secrets from a text in which commas separate them. Spaces around them are removed.
    ///
    /// # Errors
    ///
    /// When there is none, there are too many, or one is shorter than [`MIN_SECRET`].
    pub fn from_list(list: &SecretString) -> Result<Self, SecretsError> {
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
        if let Some(short) = secrets.iter().position(|secret| secret.len() < MIN_SECRET) {
            return Err(SecretsError::Short {
                number: short + 1,
                of: secrets.len(),
            });
        }
        Ok(Self::keyed_mac(&secrets))
    }

    fn keyed_mac(secrets: &[&str]) -> Self {
        let keyed = secrets.iter().map(|secret| {
            Hmac::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length")
        });
        Self(keyed.collect())
    }

    /// Whether one of the secrets has signed these bytes. The duration shows neither which one, nor
    /// how much of the signature is right.
    pub(super) fn is_signed(&self, body: &[u8], signature: &Signature) -> bool {
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

/// Parses the header.
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

    /// Parses secrets without the least length, because GitHub's own example is shorter.
    fn secrets(list: &[&str]) -> Secrets {
        Secrets::keyed_mac(list)
    }

    fn header(text: &str) -> Option<Signature> {
        parse(&HeaderValue::from_str(text).unwrap())
    }

    #[test]
    fn r1_githubs_own_example_is_verified() {
        let signature = header(&format!("sha256={DIGITS}")).unwrap();
        assert!(secrets(&[SECRET]).is_signed(b"Hello, World!", &signature));
        assert!(secrets(&["new", SECRET]).is_signed(b"Hello, World!", &signature));
        assert!(secrets(&[SECRET, "new"]).is_signed(b"Hello, World!", &signature));
        assert!(!secrets(&["new"]).is_signed(b"Hello, World!", &signature));
        assert!(!secrets(&[SECRET]).is_signed(b"Hello, World?", &signature));
        assert!(!secrets(&[SECRET]).is_signed(b"", &signature));
    }

    #[test]
    fn r1_every_flipped_bit_is_found() {
        let signature = header(&format!("sha256={DIGITS}")).unwrap();
        let secrets = secrets(&[SECRET]);
        for bit in 0..8 * LENGTH {
            let mut wrong = signature;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!secrets.is_signed(b"Hello, World!", &wrong), "bit {bit}");
        }
    }

    #[test]
    fn r1_other_headers_are_no_signatures() {
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
    fn r1_lists_without_good_secrets_are_refused() {
        let read =
            |list: &str| Secrets::from_list(&SecretString::from(list)).map(|read| read.0.len());
        assert_eq!(read(""), Err(SecretsError::None));
        assert_eq!(read(" , ,"), Err(SecretsError::None));
        assert_eq!(read("a,b,c,d,e,f,g,h,i"), Err(SecretsError::TooMany));
        let good = "0123456789abcdef0123456789abcdef";
        assert_eq!(read(good), Ok(1));
        assert_eq!(read(&format!(" {good} ,{good},")), Ok(2));
        // As for one secret with a comma in it.
        let short = read(&format!("{good},short")).unwrap_err();
        assert_eq!(short, SecretsError::Short { number: 2, of: 2 });
        assert!(short.to_string().contains("comma"), "{short}");
        let shown = format!("{:?}", secrets(&["hidden"]));
        assert_eq!(shown, "Secrets(1)");
    }
}
