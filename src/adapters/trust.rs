//! Decides which certificates outgoing connections trust: the built-in roots of Mozilla, the system's store, and what
//! `SSL_CERT_FILE` and `SSL_CERT_DIR` name, as a company's proxy needs it.
//!
//! The system's store is read only if the built-in roots are not enough.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use rustls_native_certs::{CertificateResult, load_certs_from_paths, load_native_certs};

/// A file of certificates, as OpenSSL and curl read it.
/// <https://docs.openssl.org/3.5/man3/SSL_CTX_load_verify_locations/>
const FILE: &str = "SSL_CERT_FILE";
/// Folders of certificates, as OpenSSL reads them.
const FOLDERS: &str = "SSL_CERT_DIR";
/// The most certificate errors that are logged.
const MAX_NAMED: usize = 10;

/// The advice for an untrusted authority. Short, because logs cut long texts.
pub const HELP: &str =
    "add its authority to the system's store, or name the authority's file in SSL_CERT_FILE";

/// The configuration of outgoing TLS connections.
///
/// # Panics
///
/// Never: the provider has the default protocol versions, and the built-in roots are there.
#[must_use]
pub fn client_config() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let built_in = verifier(roots, &provider).expect("the built-in roots are no empty store");
    let trust = Trust {
        built_in,
        provider: Arc::clone(&provider),
        of_system: OnceLock::new(),
    };
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default protocol versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(trust))
        .with_no_client_auth()
}

fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Option<Arc<WebPkiServerVerifier>> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .ok()
}

/// Tries the built-in roots first, then the system's. Both verify the whole certificate.
#[derive(Debug)]
struct Trust {
    built_in: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
    /// `None`: the system has no certificate.
    of_system: OnceLock<Option<Arc<WebPkiServerVerifier>>>,
}

impl Trust {
    fn of_system(&self) -> Option<&Arc<WebPkiServerVerifier>> {
        self.of_system
            .get_or_init(|| {
                let mut roots = RootCertStore::empty();
                let (_, unusable) = roots.add_parsable_certificates(trusted_certificates());
                if unusable > 0 {
                    tracing::debug!("{unusable} certificates of the system are not usable");
                }
                verifier(roots, &self.provider)
            })
            .as_ref()
    }
}

/// The certificates of the environment and of the system.
fn trusted_certificates() -> Vec<CertificateDer<'static>> {
    let file = std::env::var_os(FILE).filter(|file| !file.is_empty());
    let folders = std::env::var_os(FOLDERS).filter(|folders| !folders.is_empty());
    if file.is_none() && folders.is_none() {
        return load_native_certs().certs;
    }
    let mut all = Vec::new();
    if let Some(file) = file {
        let found = load_certs_from_paths(Some(Path::new(&file)), None);
        all.extend(certificates_named_by(FILE, found));
    }
    for folder in folders.iter().flat_map(std::env::split_paths) {
        if !folder.as_os_str().is_empty() {
            all.extend(certificates_named_by(
                FOLDERS,
                load_certs_from_paths(None, Some(&folder)),
            ));
        }
    }
    all.extend(of_usual_places());
    all
}

/// The system's store if the variables name other places: the crate's own function reads only one of them.
fn of_usual_places() -> Vec<CertificateDer<'static>> {
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        openssl_probe::candidate_cert_dirs()
            .flat_map(|folder| load_certs_from_paths(None, Some(folder)).certs)
            .collect()
    }
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    Vec::new()
}

/// The certificates that a variable names. Errors are warnings, because a user has set it.
fn certificates_named_by(variable: &str, found: CertificateResult) -> Vec<CertificateDer<'static>> {
    for error in found.errors.iter().take(MAX_NAMED) {
        tracing::warn!("{variable}: {error}; the other certificates count");
    }
    if found.certs.is_empty() && found.errors.is_empty() {
        tracing::warn!(
            "{variable}: there is no certificate in it; name a file of certificates in PEM"
        );
    }
    found.certs
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verify = |by: &WebPkiServerVerifier| {
            by.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        };
        let refused = match verify(&self.built_in) {
            Err(error @ Error::InvalidCertificate(_)) => error,
            other => return other,
        };
        match self.of_system().map(|own| verify(own)) {
            Some(Ok(verified)) => Ok(verified),
            // The system knows the authority, so its error is the better reason.
            Some(Err(error)) if refused == unknown_issuer() => Err(error),
            _ => Err(refused),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.built_in.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.built_in.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.built_in.supported_verify_schemes()
    }
}

fn unknown_issuer() -> Error {
    Error::InvalidCertificate(CertificateError::UnknownIssuer)
}
