//! The data from which a GitHub App is made, by a test or by a manifest that a person confirms.

use jiff::Timestamp;
use serde_json::Value;

use super::account::Permissions;
use super::hook::Target;

/// What is needed to register a GitHub App.
#[derive(Debug, Clone, Default)]
pub struct NewApp {
    /// The App's id, the `iss` of its JWT.
    pub id: u64,
    /// The short name.
    pub slug: String,
    /// The owner's login.
    pub owner: String,
    /// What it may do where it is installed.
    pub permissions: Permissions,
    /// The events that it subscribes to; `*` is all.
    pub events: Vec<String>,
    /// Where its deliveries go.
    pub hook: Option<Target>,
    /// The key that its JWTs must be signed with, as PKCS#1 DER; signatures are not checked without one.
    pub public_key: Option<Vec<u8>>,
}

/// A manifest that a person has confirmed and whose code is not exchanged yet.
#[derive(Debug, Clone)]
pub(crate) struct ConfirmedManifest {
    pub(super) manifest: Value,
    pub(super) owner: String,
    pub(super) until: Timestamp,
}

/// A key for an App that will be made. The model makes no keys itself, because that takes long.
#[derive(Debug, Clone)]
pub struct AppKey {
    /// The private key, PEM.
    pub pem: String,
    /// Its public half as PKCS#1 DER.
    pub public: Vec<u8>,
}
