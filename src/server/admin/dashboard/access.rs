//! Decides who may use the admin listener.
//!
//! With a token, people sign in once and get a session cookie; programs send the token as `Bearer`.
//! Without a token the listener must be on loopback, and admits every client that reaches it. A
//! browser on the same machine may also show pages of other origins. Against these, three rules
//! apply. The `Host` must be an address or a configured name; a rebound name is neither. A form
//! must come from our own origin. It must carry a token that only our own pages contain. A rebound
//! page may send any header, so only the right token makes up for a foreign host.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

use crate::server::config::HostName;

/// The shortest admin token, in bytes.
pub const MIN_TOKEN: usize = 16;
/// How long a session lasts.
pub const SESSION: Duration = Duration::from_secs(12 * 3_600);
/// The most sessions at a time; the oldest is dropped.
pub const MAX_SESSIONS: usize = 64;
/// How many wrong tokens within [`WINDOW`] are called wrong, for forms and programs each. For more,
/// the response asks the client to wait. The right token is always accepted: a program with an old
/// token must not lock out the others, and a token of [`MIN_TOKEN`] bytes cannot be guessed.
pub const MAX_WRONG: usize = 10;
/// How long wrong tokens count.
pub const WINDOW: Duration = Duration::from_secs(60);
/// The name of the cookie.
pub const COOKIE: &str = "phileas_admin";
/// How many bytes of a session's digest are shown.
const SHOWN: usize = 4;

type Digest = [u8; 32];

/// Why the admin listener cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// Other machines could reach it without a token.
    #[error(
        "the admin listener at {address} can be reached from other machines and needs a token; set PHILEAS_ADMIN_TOKEN \
         (or PHILEAS_ADMIN_TOKEN_FILE), for example to the output of `openssl rand -hex 32`, or listen on 127.0.0.1"
    )]
    Open {
        /// The address of the listener.
        address: SocketAddr,
    },
    /// The token could be guessed.
    #[error(
        "PHILEAS_ADMIN_TOKEN is shorter than {MIN_TOKEN} bytes; make one with `openssl rand -hex 32`"
    )]
    Short,
    /// The system returned no random bytes.
    #[error("the operating system returned no random bytes: {0}")]
    NoEntropy(String),
}

/// The author of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visitor {
    /// A client on this machine; no token is set.
    Loopback,
    /// A program with the token.
    Bearer,
    /// A person who has signed in.
    Session(Digest),
}

impl AccessRefusal {
    /// The result for the audit log; `None` if there is none: many wrong tokens must not push all
    /// other entries out of the log.
    #[must_use]
    pub fn audit_text(self) -> Option<&'static str> {
        match self {
            Self::Wrong(1) => Some("refused"),
            Self::Wrong(MAX_WRONG) => Some("refused many times within a minute"),
            Self::Right | Self::Wrong(_) | Self::TooMany | Self::Unauthorized => None,
        }
    }
}

impl Visitor {
    /// The visitor's name in the audit log.
    #[must_use]
    pub fn audit_name(&self) -> String {
        match self {
            Self::Loopback => "loopback".to_owned(),
            Self::Bearer => "bearer".to_owned(),
            Self::Session(digest) => {
                let shown = data_encoding::HEXLOWER.encode(&digest[..SHOWN]);
                format!("session:{shown}")
            }
        }
    }
}

/// The result of checking a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessRefusal {
    /// The token is right.
    Right,
    /// The token is wrong, and this is the number of wrong ones within [`WINDOW`].
    Wrong(usize),
    /// The token is wrong, like many before.
    TooMany,
    /// There is neither a token nor a session.
    Unauthorized,
}

/// The access rules of the admin listener.
#[derive(Debug)]
pub struct Access {
    token: Option<SecretString>,
    /// Random for each process.
    key: [u8; 32],
    hosts: BTreeSet<String>,
    sessions: Mutex<BTreeMap<Digest, Instant>>,
    forms: Mutex<WrongTokens>,
    programs: Mutex<WrongTokens>,
}

impl Access {
    /// Creates the rules of a listener at this address. `hosts` are further host names, apart from
    /// addresses and `localhost`.
    ///
    /// # Errors
    ///
    /// [`AccessError`], when the listener would be open to other machines.
    pub fn new(
        address: SocketAddr,
        token: Option<SecretString>,
        hosts: impl IntoIterator<Item = HostName>,
    ) -> Result<Self, AccessError> {
        match &token {
            None if !address.ip().to_canonical().is_loopback() => {
                return Err(AccessError::Open { address });
            }
            Some(token) if token.expose_secret().len() < MIN_TOKEN => {
                return Err(AccessError::Short);
            }
            _ => {}
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| AccessError::NoEntropy(error.to_string()))?;
        Ok(Self {
            token,
            key,
            hosts: hosts
                .into_iter()
                .map(|host| host.as_str().to_owned())
                .collect(),
            sessions: Mutex::default(),
            forms: Mutex::default(),
            programs: Mutex::default(),
        })
    }

    /// Whether a token is required.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.token.is_some()
    }

    /// Identifies the author of a request. `Err`: an unknown client, or a program with a wrong
    /// token or another kind of credential.
    ///
    /// # Errors
    ///
    /// [`AccessRefusal`] says whether to retry later.
    pub fn identify_visitor(
        &self,
        headers: &HeaderMap,
        now: Instant,
    ) -> Result<Visitor, AccessRefusal> {
        if headers.contains_key(header::AUTHORIZATION) {
            return match self.matches_digest(
                &self.programs,
                bearer_token(headers).unwrap_or_default(),
                now,
            ) {
                AccessRefusal::Right => Ok(Visitor::Bearer),
                refused => Err(refused),
            };
        }
        if self.token.is_none() {
            return Ok(Visitor::Loopback);
        }
        let id = session_cookie(headers).ok_or(AccessRefusal::Unauthorized)?;
        let digest = Sha256::digest(id).into();
        let mut sessions = self.lock_sessions();
        sessions.retain(|_, until| *until > now);
        if sessions.contains_key(&digest) {
            Ok(Visitor::Session(digest))
        } else {
            Err(AccessRefusal::Unauthorized)
        }
    }

    /// Whether a request is for this service and comes from an authorized client.
    #[must_use]
    pub fn is_admitted(&self, headers: &HeaderMap, now: Instant) -> bool {
        match self.identify_visitor(headers, now) {
            // A client with the token knows this service, whatever host name it uses.
            Ok(Visitor::Bearer) => true,
            Ok(_) => self.is_our_host(headers),
            Err(_) => false,
        }
    }

    /// Checks the token of a form.
    pub fn sign_in(&self, given: &str, now: Instant) -> AccessRefusal {
        self.matches_digest(&self.forms, given, now)
    }

    /// Begins a session. Returns the value of its cookie, and the visitor.
    ///
    /// # Errors
    ///
    /// When the system returns no random bytes.
    pub fn begin_session(&self, now: Instant) -> Result<(String, Visitor), getrandom::Error> {
        let mut id = [0; 32];
        getrandom::fill(&mut id)?;
        let id = data_encoding::HEXLOWER.encode(&id);
        let digest = Sha256::digest(&id).into();
        let mut sessions = self.lock_sessions();
        sessions.retain(|_, until| *until > now);
        while sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, until)| **until);
            let Some(oldest) = oldest.map(|(digest, _)| *digest) else {
                break;
            };
            sessions.remove(&oldest);
        }
        sessions.insert(digest, now + SESSION);
        Ok((id, Visitor::Session(digest)))
    }

    /// Ends a session.
    pub fn end_session(&self, who: &Visitor) {
        if let Visitor::Session(digest) = who {
            self.lock_sessions().remove(digest);
        }
    }

    /// The token that a form must carry. `None`: the login form.
    #[must_use]
    pub fn csrf_token(&self, who: Option<&Visitor>) -> String {
        data_encoding::HEXLOWER.encode(&self.form_mac(who).finalize().into_bytes())
    }

    /// Whether a form carries its token. Programs need none: no browser sends their token by
    /// itself.
    #[must_use]
    pub fn is_own_form(&self, who: Option<&Visitor>, given: Option<&str>) -> bool {
        if who == Some(&Visitor::Bearer) {
            return true;
        }
        let given = given.and_then(|given| data_encoding::HEXLOWER.decode(given.as_bytes()).ok());
        given.is_some_and(|given| self.form_mac(who).verify_slice(&given).is_ok())
    }

    /// Whether a request may be for this service: its host is an address, `localhost`, or a
    /// configured name.
    #[must_use]
    pub fn is_our_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = host_name(headers) else {
            return false;
        };
        let name = without_port(&host);
        name.parse::<IpAddr>().is_ok()
            || name == "localhost"
            || self.hosts.contains(name)
            || self.hosts.contains(&host)
    }

    /// Whether a request that changes something comes from a page of ours, as far as the browser
    /// says. Programs send no origin.
    ///
    /// A proxy may replace the host of the request; then the configured names count.
    #[must_use]
    pub fn is_own_origin(&self, headers: &HeaderMap) -> bool {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        if let Some(site) = text("sec-fetch-site")
            && !matches!(site, "same-origin" | "none")
        {
            return false;
        }
        let Some(origin) = text("origin") else {
            return true;
        };
        let authority = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        authority.map(str::to_ascii_lowercase).is_some_and(|from| {
            host_name(headers).as_ref() == Some(&from)
                || self.hosts.contains(&from)
                || self.hosts.contains(without_port(&from))
        })
    }

    fn form_mac(&self, who: Option<&Visitor>) -> Hmac<Sha256> {
        let mac = self.token_mac().chain_update(b"form:");
        match who {
            None => mac.chain_update(b"sign in"),
            Some(Visitor::Session(digest)) => mac.chain_update(b"session:").chain_update(digest),
            Some(Visitor::Loopback | Visitor::Bearer) => mac.chain_update(b"loopback"),
        }
    }

    fn token_mac(&self) -> Hmac<Sha256> {
        Hmac::new_from_slice(&self.key).expect("HMAC accepts a key of any length")
    }

    /// Compares digests under a random key, so that the time of the comparison reveals nothing about the token.
    fn matches_digest(
        &self,
        wrong: &Mutex<WrongTokens>,
        given: &str,
        now: Instant,
    ) -> AccessRefusal {
        let right = self.token.as_ref().is_some_and(|token| {
            let known = self
                .token_mac()
                .chain_update(token.expose_secret())
                .finalize();
            let given = self.token_mac().chain_update(given);
            given.verify(&known.into_bytes()).is_ok()
        });
        if right {
            return AccessRefusal::Right;
        }
        let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.are_too_many(now) {
            return AccessRefusal::TooMany;
        }
        wrong.times.push_back(now);
        AccessRefusal::Wrong(wrong.times.len())
    }

    fn lock_sessions(&self) -> std::sync::MutexGuard<'_, BTreeMap<Digest, Instant>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The times of wrong tokens.
#[derive(Debug, Default)]
struct WrongTokens {
    times: VecDeque<Instant>,
}

impl WrongTokens {
    fn are_too_many(&mut self, now: Instant) -> bool {
        while let Some(first) = self.times.front()
            && now.duration_since(*first) >= WINDOW
        {
            self.times.pop_front();
        }
        self.times.len() >= MAX_WRONG
    }
}

fn host_name(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(header::HOST).iter();
    let first = all.next()?.to_str().ok()?;
    // A request with two hosts is refused.
    all.next()
        .is_none()
        .then(|| first.trim().to_ascii_lowercase())
}

/// Returns the host without its port; an IPv6 address without its brackets.
fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').map_or("", |(address, _)| address);
    }
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter();
    all.filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a-test-token-of-the-admin";

    fn guarded() -> Access {
        let address = "0.0.0.0:9090".parse().unwrap();
        let hosts = ["Phileas.example.com".parse().unwrap()];
        Access::new(address, Some(SecretString::from(TOKEN)), hosts).unwrap()
    }

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn a_door_to_the_world_needs_a_lock() {
        let open = |address: &str, token: Option<&str>| {
            let token = token.map(SecretString::from);
            Access::new(address.parse().unwrap(), token, []).map(|_| ())
        };
        for address in ["127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(open(address, None), Ok(()), "{address}");
        }
        for address in ["0.0.0.0:1", "[::]:1", "192.168.0.2:1"] {
            let refused = open(address, None).unwrap_err();
            assert!(refused.to_string().contains("PHILEAS_ADMIN_TOKEN"));
            assert_eq!(open(address, Some(TOKEN)), Ok(()), "{address}");
        }
        assert_eq!(open("127.0.0.1:1", Some("short")), Err(AccessError::Short));
    }

    #[test]
    fn names_that_we_were_not_told_are_not_ours() {
        let access = guarded();
        for (host, ours) in [
            ("127.0.0.1:9090", true),
            ("[::1]:9090", true),
            ("localhost", true),
            ("phileas.example.com:443", true),
            ("PHILEAS.example.com", true),
            ("evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example:9090", false),
            ("", false),
        ] {
            assert_eq!(
                access.is_our_host(&headers(&[("host", host)])),
                ours,
                "{host}"
            );
        }
        assert!(!access.is_our_host(&headers(&[])));
        assert!(!access.is_our_host(&headers(&[("host", "localhost"), ("host", "localhost")])));
    }

    #[test]
    fn forms_of_other_origins_are_not_ours() {
        let access = guarded();
        let own = |headers: HeaderMap| access.is_own_origin(&headers);
        let from = |origin: &'static str| headers(&[("host", "localhost:1"), ("origin", origin)]);
        assert!(own(from("http://localhost:1")));
        assert!(own(headers(&[("host", "localhost:1")])));
        // A proxy that uses its own name for the service, not the public one.
        assert!(own(from("https://phileas.example.com")));
        for origin in ["http://localhost:2", "http://evil.example", "null", ""] {
            assert!(!own(from(origin)), "{origin}");
        }
        let site = |site| headers(&[("host", "localhost:1"), ("sec-fetch-site", site)]);
        assert!(own(site("same-origin")));
        assert!(!own(site("cross-site")) && !own(site("same-site")));
    }

    #[test]
    fn a_guessing_client_has_to_wait_and_locks_no_other_client_out() {
        let access = guarded();
        let now = Instant::now();
        for count in 1..=MAX_WRONG {
            assert_eq!(access.sign_in("wrong", now), AccessRefusal::Wrong(count));
        }
        assert_eq!(access.sign_in("wrong", now), AccessRefusal::TooMany);
        assert_eq!(access.sign_in(TOKEN, now), AccessRefusal::Right);
        // Programs have a count of their own, and old attempts expire.
        let program = |token: &str| headers(&[("authorization", &format!("Bearer {token}"))]);
        for count in 1..=MAX_WRONG {
            let refused = access.identify_visitor(&program("wrong"), now);
            assert_eq!(refused, Err(AccessRefusal::Wrong(count)));
        }
        assert_eq!(
            access.identify_visitor(&program("wrong"), now),
            Err(AccessRefusal::TooMany)
        );
        assert_eq!(
            access.identify_visitor(&program(TOKEN), now),
            Ok(Visitor::Bearer)
        );
        assert_eq!(
            access.sign_in("wrong", now + WINDOW),
            AccessRefusal::Wrong(1)
        );
    }

    #[test]
    fn a_credential_that_is_not_the_token_signs_in_no_client() {
        let address = "127.0.0.1:9090".parse().unwrap();
        let unguarded = Access::new(address, None, []).unwrap();
        let now = Instant::now();
        assert_eq!(
            unguarded.identify_visitor(&headers(&[]), now),
            Ok(Visitor::Loopback)
        );
        for given in ["Basic eDp5", "Bearer", "Bearer ", "Bearer x", "x"] {
            let headers = headers(&[("authorization", given)]);
            assert!(
                unguarded.identify_visitor(&headers, now).is_err(),
                "{given}"
            );
            assert!(
                guarded().identify_visitor(&headers, now).is_err(),
                "{given}"
            );
        }
    }

    #[test]
    fn a_session_ends_with_its_time_or_at_its_owners_request() {
        let access = guarded();
        let now = Instant::now();
        let (id, who) = access.begin_session(now).unwrap();
        let cookie = format!("other=1; {COOKIE}={id}");
        let cookie = headers(&[("cookie", &cookie)]);
        assert_eq!(access.identify_visitor(&cookie, now).as_ref(), Ok(&who));
        assert_eq!(
            access.identify_visitor(&cookie, now + SESSION),
            Err(AccessRefusal::Unauthorized)
        );
        let (id, who) = access.begin_session(now).unwrap();
        access.end_session(&who);
        let cookie = format!("{COOKIE}={id}");
        assert!(
            access
                .identify_visitor(&headers(&[("cookie", &cookie)]), now)
                .is_err()
        );
        for _ in 0..=MAX_SESSIONS {
            access.begin_session(now).unwrap();
        }
        assert_eq!(access.lock_sessions().len(), MAX_SESSIONS);
    }

    #[test]
    fn the_token_of_a_form_is_its_sessions_own() {
        let access = guarded();
        let now = Instant::now();
        let ((_, one), (_, other)) = (
            access.begin_session(now).unwrap(),
            access.begin_session(now).unwrap(),
        );
        let token = access.csrf_token(Some(&one));
        assert!(access.is_own_form(Some(&one), Some(&token)));
        assert!(!access.is_own_form(Some(&other), Some(&token)));
        assert!(!access.is_own_form(Some(&one), None));
        assert!(!access.is_own_form(Some(&one), Some("")));
        assert!(!access.is_own_form(None, Some(&token)));
        assert!(access.is_own_form(Some(&Visitor::Bearer), None));
    }
}
