//! The address of the database, and how to connect to it.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use secrecy::{ExposeSecret as _, SecretString};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::adapters::trust;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);
/// The default port.
const PORT: u16 = 5432;
/// What the server ends by itself, so that a process that hangs does not block others: a statement, the wait for a
/// row, and an idle transaction.
const LIMITS: &str =
    "-c statement_timeout=20s -c lock_timeout=10s -c idle_in_transaction_session_timeout=5s";

/// The address of a database. It is never shown, because it may contain a password.
#[derive(Debug, Clone)]
pub struct DatabaseUrl {
    config: Config,
    /// A file with the certificates of the trusted authorities.
    roots: Option<PathBuf>,
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseUrlError {
    /// It cannot be parsed.
    #[error("{0}; write it as postgres://user:password@host:5432/database")]
    Unreadable(String),
    /// The file of `sslrootcert` cannot be used.
    #[error("sslrootcert={}: {detail}", path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
}

impl DatabaseUrl {
    /// Parses an address in libpq's format. A server on this machine is connected to without TLS; any other one over
    /// TLS with a verified certificate, unless `sslmode=disable` says that the network is trusted. `sslrootcert`
    /// names a file of certificates.
    ///
    /// # Errors
    ///
    /// When it is no address, or has unknown parameters. The error does not repeat it.
    pub fn parse(url: &SecretString) -> Result<Self, DatabaseUrlError> {
        let url = url.expose_secret().trim();
        let unreadable = |detail: &str| DatabaseUrlError::Unreadable(detail.to_owned());
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| url.starts_with(scheme))
        {
            return Err(unreadable("it does not begin with postgres://"));
        }
        if is_cut_short(url) {
            return Err(unreadable(
                "there is an `@` or a `/` where none can be; within a user, a password or a name they are written %40 and \
                 %2F, and `?` %3F",
            ));
        }
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut roots, mut mode, mut rest) = (None, None, Vec::new());
        // `+` is a space in forms, but a plus in addresses of databases.
        let query = query.replace('+', "%2B");
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "sslrootcert" => roots = Some(PathBuf::from(&*value)),
                "sslmode" => mode = Some(value.into_owned()),
                _ => rest.push((name, value)),
            }
        }
        let rest = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(rest)
            .finish();
        let rest = rest.replace('+', "%20");
        let mut config: Config =
            format!("{address}?{rest}")
                .parse()
                .map_err(|error: tokio_postgres::Error| {
                    // The source names the wrong part only.
                    let source = std::error::Error::source(&error);
                    unreadable(&source.map_or_else(|| error.to_string(), ToString::to_string))
                })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(unreadable("it names no host"));
        }
        // A host address takes precedence over the name beside it, and an empty one is not this machine.
        let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
        let here = hosts.len() + addresses.len() > 0
            && hosts.iter().all(is_here)
            && addresses.iter().all(IpAddr::is_loopback);
        config.ssl_mode(match mode.as_deref() {
            Some("disable") => SslMode::Disable,
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            None | Some("allow" | "prefer") if here => SslMode::Disable,
            None | Some("allow" | "prefer") => SslMode::Require,
            Some(_) => return Err(unreadable("sslmode is disable, require or verify-full")),
        });
        let options = config.get_options().unwrap_or_default();
        let options = format!("{LIMITS} {options}");
        config.options(options.trim());
        config.connect_timeout(CONNECT);
        config.tcp_user_timeout(Duration::from_secs(20));
        config.keepalives_idle(Duration::from_secs(20));
        if config.get_application_name().is_none() {
            config.application_name("phileas");
        }
        Ok(Self { config, roots })
    }

    /// The user, host, port and name of the database, without secrets.
    #[must_use]
    pub fn display_address(&self) -> String {
        let config = &self.config;
        let hosts: Vec<String> = if config.get_hosts().is_empty() {
            let addresses = config.get_hostaddrs().iter();
            addresses.map(ToString::to_string).collect()
        } else {
            config.get_hosts().iter().map(host_name).collect()
        };
        let ports = config.get_ports();
        let port = |n: usize| ports.get(n).or(ports.first()).copied().unwrap_or(PORT);
        let hosts: Vec<String> = hosts
            .iter()
            .enumerate()
            .map(|(n, host)| format!("{host}:{}", port(n)))
            .collect();
        let user = config.get_user().map(|user| format!("{user}@"));
        let name = config.get_dbname().or(config.get_user());
        format!(
            "{}{}/{}",
            user.unwrap_or_default(),
            hosts.join(","),
            name.unwrap_or_default()
        )
    }

    /// The configuration of a connection.
    pub(super) fn connect_config(&self) -> Config {
        self.config.clone()
    }

    /// The TLS settings of a connection.
    pub(super) fn tls_connector(&self) -> Result<MakeRustlsConnect, DatabaseUrlError> {
        // libpq's keyword for the system's store.
        // <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-SSLROOTCERT>
        let named = self
            .roots
            .as_ref()
            .filter(|path| path.as_os_str() != "system");
        let Some(path) = named else {
            return Ok(MakeRustlsConnect::new(trust::client_config()));
        };
        let wrong = |detail: String| DatabaseUrlError::Roots {
            path: path.clone(),
            detail,
        };
        let mut store = RootCertStore::empty();
        let found =
            CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
        for certificate in found {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            store
                .add(certificate)
                .map_err(|error| wrong(error.to_string()))?;
        }
        if store.is_empty() {
            return Err(wrong("there is no certificate in it".to_owned()));
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| DatabaseUrlError::Unreadable(error.to_string()))?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(MakeRustlsConnect::new(config))
    }
}

/// Whether the password is cut short: it contains an unescaped `@`, `/` or `?`, and its rest would be taken for the
/// host, the database's name or a parameter, which are shown.
fn is_cut_short(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, behind) = rest.split_at(end);
    let path = behind.split('?').next().unwrap_or_default();
    authority.matches('@').count() > 1 || behind.contains('@') || path.matches('/').count() > 1
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse::<IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Result<DatabaseUrl, DatabaseUrlError> {
        DatabaseUrl::parse(&SecretString::from(url.to_owned()))
    }

    fn mode(url: &str) -> SslMode {
        parsed(url).unwrap().config.get_ssl_mode()
    }

    #[test]
    fn a_database_is_named_without_its_password() {
        for (url, wanted) in [
            (
                "postgres://ada:s3cret@db.example.com/phileas",
                "ada@db.example.com:5432/phileas",
            ),
            (
                "postgresql://ada:s3%40cret@db:6543/phileas?sslmode=disable",
                "ada@db:6543/phileas",
            ),
            (
                "postgres://ada@[::1]:5433/d?sslrootcert=/ca.pem",
                "ada@[::1]:5433/d",
            ),
            ("postgres://ada@a,b/d", "ada@a:5432,b:5432/d"),
            ("postgres://ada@a:1,b:2/d", "ada@a:1,b:2/d"),
            (
                "postgres:///d?host=%2Frun%2Fpostgresql&user=ada&password=s3cret",
                "ada@/run/postgresql:5432/d",
            ),
            ("postgres://h/d", "h:5432/d"),
            ("postgres://ada@h", "ada@h:5432/ada"),
            (
                "postgres:///d?hostaddr=10.0.0.5&user=ada",
                "ada@10.0.0.5:5432/d",
            ),
        ] {
            assert_eq!(parsed(url).unwrap().display_address(), wanted);
        }
    }

    #[test]
    fn a_plus_is_a_plus() {
        let url = "postgres://ada@h/d?password=a+b%20c%2Bd&sslrootcert=/etc/a+b.pem";
        let parsed = parsed(url).unwrap();
        assert_eq!(parsed.config.get_password(), Some(&b"a+b c+d"[..]));
        assert_eq!(parsed.roots, Some(PathBuf::from("/etc/a+b.pem")));
    }

    #[test]
    fn a_server_elsewhere_is_connected_to_over_tls() {
        for here in [
            "127.0.0.1",
            "localhost",
            "[::1]:5433",
            "%2Frun%2Fpostgresql",
        ] {
            let url = format!("postgres://ada@{here}/phileas");
            assert_eq!(mode(&url), SslMode::Disable, "{here}");
            assert_eq!(mode(&format!("{url}?sslmode=require")), SslMode::Require);
        }
        for far in [
            "postgres:///d?hostaddr=10.0.0.5",
            "postgres://localhost/d?hostaddr=10.0.0.5",
        ] {
            assert_eq!(mode(far), SslMode::Require, "{far}");
        }
        let far = "postgresql://ada:s3cret@db.example.com/phileas";
        for weak in ["", "?sslmode=prefer", "?sslmode=verify-full"] {
            assert_eq!(mode(&format!("{far}{weak}")), SslMode::Require, "{weak}");
        }
        assert_eq!(mode(&format!("{far}?sslmode=disable")), SslMode::Disable);
    }

    #[test]
    fn a_wrong_address_is_told_without_its_password() {
        for (url, words) in [
            ("mysql://ada:s3cret@h/d", "postgres://"),
            ("postgres://ada:s3cret@h:port/d", "port"),
            ("postgres://ada:s3cret@h/d?sslmode=maybe", "sslmode"),
            ("postgres://ada:s3cret@h/d?colour=red", "colour"),
            ("postgres://ada:p@s3cret@h/d", "written %40"),
            ("postgres://ada:p@ss/s3cret@127.0.0.1:5432/d", "written %40"),
            ("postgres://ada:12/s3cret@h/d", "written %40"),
            ("postgres://ada:12/s3cret/more", "%2F"),
            ("postgres://ada:12?s3cret@h/d", "%3F"),
            ("postgres://ada:12/d?s3cret@h", "%3F"),
            ("postgres://", "it names no host"),
            ("postgres:///s3cret", "it names no host"),
        ] {
            let said = parsed(url).unwrap_err().to_string();
            assert!(said.contains(words), "{url}: {said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
        let shown = parsed("postgres://ada:s3cret@db.example.com/d").unwrap();
        assert!(!format!("{shown:?}").contains("s3cret"));
    }

    #[test]
    fn the_certificates_of_a_file_are_read() {
        let missing = parsed("postgres://a@h/d?sslrootcert=/nowhere/ca.pem").unwrap();
        let said = missing.tls_connector().err().unwrap().to_string();
        assert!(said.contains("/nowhere/ca.pem"), "{said}");
        for trusting in ["", "?sslrootcert=system"] {
            let url = format!("postgres://a@h/d{trusting}");
            assert!(parsed(&url).unwrap().tls_connector().is_ok(), "{url}");
        }
    }
}
