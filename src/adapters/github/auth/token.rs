//! Tokens and Apps. Tokens are opaque: they have any length and any form.

use std::fmt;
use std::sync::{Arc, Mutex};

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use http::HeaderValue;
use jiff::Timestamp;
use octocrab::EncodingKey;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};

/// The dashes around the labels of a key in PEM form.
const PEM_MARK: &str = "-----";

/// Replaces a token in texts.
const HIDDEN: &str = "[hidden]";
/// Shorter tokens are not GitHub's, and hiding them would hide ordinary words.
const LEAST_HIDDEN: usize = 8;

/// A token. Neither `Debug` nor an error ever shows it.
#[derive(Clone)]
pub struct Token(SecretString);

/// A GitHub App's identity.
#[derive(Clone)]
pub struct App {
    /// Its client id or numeric id: the `iss` of its JSON Web Tokens.
    pub(crate) issuer: String,
    pub(crate) key: EncodingKey,
    /// The token that was signed last, shared by all clones.
    pub(crate) signed: Arc<Mutex<Option<SignedJwt>>>,
}

/// A JSON Web Token of an App.
#[derive(Clone)]
pub(crate) struct SignedJwt {
    pub(crate) token: Token,
    pub(crate) at: Timestamp,
}

/// The kind of a token, by its prefix.
/// <https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A classic personal access token.
    Classic,
    /// A fine-grained personal access token.
    FineGrained,
    /// An App's token on behalf of a person.
    OnBehalfOfPerson,
    /// An installation's token; a workflow's `GITHUB_TOKEN` is one of GitHub's own App.
    Installation,
    /// A form that GitHub does not describe.
    Unknown,
}

/// Why a credential cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// The token is empty, or white space.
    #[error("the GitHub token is empty; set GITHUB_TOKEN")]
    EmptyToken,
    /// The token cannot be sent in a header.
    #[error(
        "the GitHub token holds characters that no token has, such as a line break within it; give the token alone, on one line"
    )]
    NotAToken,
    /// The App's id is missing.
    #[error("the GitHub App's id is empty; its client id or its numeric id is wanted")]
    EmptyIssuer,
    /// The key is not an RSA private key in PEM form.
    #[error(
        "the GitHub App's private key is not an RSA key in PEM form; give the whole file, from `-----BEGIN` on"
    )]
    NotAKey,
}

impl Token {
    /// Takes a token; white space around it, such as a file's last line break, is not part of it.
    ///
    /// # Errors
    ///
    /// An empty token, or one that cannot stand in a header.
    pub fn new(text: &str) -> Result<Self, CredentialError> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Err(CredentialError::EmptyToken);
        }
        if text.contains(char::is_whitespace) || HeaderValue::from_str(text).is_err() {
            return Err(CredentialError::NotAToken);
        }
        Ok(Self(SecretString::from(text.to_owned())))
    }

    /// Its kind, by its prefix. What it may do is for GitHub to say.
    #[must_use]
    pub fn kind(&self) -> TokenKind {
        let text = self.expose();
        // Before 2021 classic tokens were forty hexadecimal digits.
        let old = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text {
            text if text.starts_with("ghp_") || old => TokenKind::Classic,
            text if text.starts_with("github_pat_") => TokenKind::FineGrained,
            text if text.starts_with("gho_") || text.starts_with("ghu_") => {
                TokenKind::OnBehalfOfPerson
            }
            text if text.starts_with("ghs_") => TokenKind::Installation,
            _ => TokenKind::Unknown,
        }
    }

    /// Whether a text contains the token, plain or encoded as in a URL.
    pub(crate) fn appears_in(&self, text: &str) -> bool {
        self.encoded_forms().iter().any(|form| text.contains(form))
    }

    /// Replaces the token in a text from the other side, which may echo it.
    pub(crate) fn redact_in(&self, text: &str) -> String {
        let forms = self.encoded_forms();
        forms
            .iter()
            .fold(text.to_owned(), |text, form| text.replace(form, HIDDEN))
    }

    /// The token plain, encoded as in URLs, and as in `Basic` credentials.
    fn encoded_forms(&self) -> Vec<String> {
        let token = self.expose();
        let escaped = utf8_percent_encode(token, NON_ALPHANUMERIC).to_string();
        let pairs =
            ["x-access-token", ""].map(|name| BASE64.encode(format!("{name}:{token}").as_bytes()));
        let mut forms = vec![token.to_owned(), escaped];
        forms.extend(pairs);
        forms.retain(|form| form.len() >= LEAST_HIDDEN);
        forms
    }

    pub(crate) fn secret(&self) -> &SecretString {
        &self.0
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

impl App {
    /// Takes an App's id (client id or numeric) and its private key.
    ///
    /// # Errors
    ///
    /// An empty id, or a key that is not an RSA private key in PEM form.
    pub fn new(id: &str, pem: &str) -> Result<Self, CredentialError> {
        let id = id.trim();
        if id.is_empty() {
            return Err(CredentialError::EmptyIssuer);
        }
        let pem = pem_of(pem);
        let key =
            EncodingKey::from_rsa_pem(pem.as_bytes()).map_err(|_| CredentialError::NotAKey)?;
        Ok(Self {
            issuer: id.to_owned(),
            key,
            signed: Arc::default(),
        })
    }
}

/// The key in PEM form. Secrets are often stored in one line: base64 of the whole file, line ends as the two
/// characters `\n`, or spaces in their place.
fn pem_of(text: &str) -> String {
    let bare = text.trim_start_matches('\u{feff}').trim();
    let bare = bare.trim_matches(['"', '\'']).trim();
    let compact: String = bare.split_whitespace().collect();
    let decoded = [&BASE64, &BASE64URL, &BASE64_NOPAD, &BASE64URL_NOPAD]
        .into_iter()
        .filter(|_| !bare.contains(PEM_MARK))
        .find_map(|form| form.decode(compact.as_bytes()).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let pem = decoded.as_deref().unwrap_or(bare);
    let pem = pem.replace("\\r", "").replace("\\n", "\n");
    let parts: Vec<&str> = pem.trim().split(PEM_MARK).map(str::trim).collect();
    // The parts are: text before, first label, body, last label, text after.
    let [_, begin, body, end, ..] = parts.as_slice() else {
        return pem;
    };
    if pem.trim().lines().count() > 1 {
        return pem;
    }
    let body = body.split_whitespace().collect::<Vec<_>>().join("\n");
    format!("{PEM_MARK}{begin}{PEM_MARK}\n{body}\n{PEM_MARK}{end}{PEM_MARK}\n")
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::github::auth::account::Credential;

    #[test]
    fn r15_a_token_is_opaque_and_hidden() {
        let long = format!("ghs_12345_{}\n", "x".repeat(900));
        let token = Token::new(&long).unwrap();
        assert_eq!(token.expose(), long.trim());
        assert_eq!(
            format!("{:?}", Credential::Token(token)),
            "Token(Token(hidden))"
        );
    }

    /// The forms in which secret stores and env files hold a key of several lines.
    #[test]
    fn a_key_is_taken_in_the_forms_that_secret_stores_have() {
        let (pem, _) = crate::adapters::github::scripted::key();
        let wrapped = |text: &str, width: usize| {
            let lines = text.as_bytes().chunks(width).map(String::from_utf8_lossy);
            lines.collect::<Vec<_>>().join("\n")
        };
        let base64 = BASE64.encode(pem.as_bytes());
        for (form, text) in [
            ("as it is", pem.clone()),
            (
                "with a mark and CRLF",
                format!("\u{feff}{}", pem.replace('\n', "\r\n")),
            ),
            ("escaped", pem.replace('\n', "\\n")),
            ("escaped CRLF", pem.replace('\n', "\\r\\n")),
            (
                "escaped and quoted",
                format!("\"{}\"", pem.replace('\n', "\\n")),
            ),
            ("with spaces", pem.replace('\n', " ")),
            ("base64", base64.clone()),
            ("base64 in lines", wrapped(&base64, 76) + "\n"),
            (
                "base64 without padding",
                base64.trim_end_matches('=').to_owned(),
            ),
            ("base64url", BASE64URL.encode(pem.as_bytes())),
            (
                "base64 of an escaped one",
                BASE64.encode(pem.replace('\n', "\\n").as_bytes()),
            ),
        ] {
            assert!(App::new("1", &text).is_ok(), "{form}");
        }
        let nothing = BASE64.encode(b"-----BEGIN nothing-----");
        assert_eq!(
            App::new("1", &nothing).unwrap_err(),
            CredentialError::NotAKey
        );
    }

    #[test]
    fn kinds_are_told_by_how_they_begin() {
        let kind = |text: &str| Token::new(text).unwrap().kind();
        assert_eq!(kind("ghp_x"), TokenKind::Classic);
        assert_eq!(kind(&"0a".repeat(20)), TokenKind::Classic);
        assert_eq!(kind("github_pat_x"), TokenKind::FineGrained);
        assert_eq!(
            (kind("gho_x"), kind("ghu_x")),
            (TokenKind::OnBehalfOfPerson, TokenKind::OnBehalfOfPerson)
        );
        assert_eq!(kind("ghs_1_x"), TokenKind::Installation);
        assert_eq!(kind("x"), TokenKind::Unknown);
    }

    #[test]
    fn what_is_not_a_credential_is_refused_without_being_shown() {
        assert_eq!(Token::new(" \n").unwrap_err(), CredentialError::EmptyToken);
        let error = Token::new("ghp_one\nghp_two").unwrap_err();
        assert_eq!(error, CredentialError::NotAToken);
        assert!(!error.to_string().contains("ghp_"));
        assert_eq!(
            App::new("1", "-----BEGIN nothing-----").unwrap_err(),
            CredentialError::NotAKey
        );
        assert_eq!(
            App::new(" ", "x").unwrap_err(),
            CredentialError::EmptyIssuer
        );
    }
}
