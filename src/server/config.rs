//! How the service is set up: an option on the command line counts before a variable of the environment, that before
//! `phileas.toml`, and that before the default. Secrets come from the environment only, see [`secret()`].

mod bytes;
mod file;
mod public_url;
mod secret;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::adapters::inbox::sqlite::{DEFAULT_ROOM, LEAST_ROOM};
use crate::server::webhook::Listed;

pub use bytes::{BytesError, parse_bytes};
pub use file::{File, FileError, RepositoryEntry, schema};
pub use public_url::{PublicUrlError, WEBHOOK, public_url};
pub use secret::{SecretError, origin, secret};

/// The public listener, unless it is said otherwise.
pub const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// The listener of the people who run the service, unless it is said otherwise.
pub const ADMIN_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9090);

/// What options and variables say. The command line has put the one before the other already.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The public listener.
    pub listen: Option<SocketAddr>,
    /// The listener of the people who run the service.
    pub admin_listen: Option<SocketAddr>,
    /// Further names of the listener of the people who run the service; empty: nobody has said.
    pub admin_hosts: Vec<String>,
    /// Where everything is kept.
    pub data_dir: Option<PathBuf>,
    /// The most that the inbox may take.
    pub inbox_max_bytes: Option<u64>,
    /// The address under which GitHub knows the service.
    pub public_url: Option<String>,
    /// A folder with Jules keys.
    pub jules_keys_dir: Option<PathBuf>,
}

/// How the service is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// The public listener.
    pub listen: SocketAddr,
    /// The listener of the people who run the service.
    pub admin_listen: SocketAddr,
    /// Further names under which a browser reaches that listener.
    pub admin_hosts: Vec<String>,
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// The most that the inbox may take, in bytes.
    pub inbox_max_bytes: u64,
    /// The address under which GitHub knows the service.
    pub public_url: Option<String>,
    /// A folder with a Jules key for each repository or owner.
    pub jules_keys_dir: Option<PathBuf>,
    /// The repositories of the file.
    pub repositories: Vec<RepositoryEntry>,
}

/// Why the service cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Nothing says where to keep everything.
    #[error(
        "there is no data directory; name one with --data-dir, PHILEAS_DATA_DIR, or `data_dir` in phileas.toml"
    )]
    NoDataDir,
    /// The inbox would be too small.
    #[error(
        "an inbox of {bytes} bytes is too small; give --inbox-max-bytes at least {}",
        bytes::words(LEAST_ROOM)
    )]
    SmallInbox {
        /// What it would get.
        bytes: u64,
    },
    /// The public address is none.
    #[error("--public-url: {0}")]
    PublicUrl(#[from] PublicUrlError),
    /// There is no such folder.
    #[error("--jules-keys-dir: {} is not a folder; it is one with a file for each key", .0.display())]
    NoKeysDir(PathBuf),
}

impl Config {
    /// Puts together what was given and what the file says.
    ///
    /// # Errors
    ///
    /// When something is missing that has no default, or too small.
    pub fn new(given: Given, file: File) -> Result<Self, ConfigError> {
        let inbox_max_bytes = given
            .inbox_max_bytes
            .or(file.inbox_max_bytes)
            .unwrap_or(DEFAULT_ROOM);
        if inbox_max_bytes < LEAST_ROOM {
            return Err(ConfigError::SmallInbox {
                bytes: inbox_max_bytes,
            });
        }
        let jules_keys_dir = given.jules_keys_dir.or(file.jules_keys_dir);
        if let Some(folder) = jules_keys_dir.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(ConfigError::NoKeysDir(folder.clone()));
        }
        let url = given.public_url.or(file.public_url);
        Ok(Self {
            listen: given.listen.or(file.listen).unwrap_or(LISTEN),
            admin_listen: given
                .admin_listen
                .or(file.admin_listen)
                .unwrap_or(ADMIN_LISTEN),
            admin_hosts: if given.admin_hosts.is_empty() {
                file.admin_hosts
            } else {
                given.admin_hosts
            },
            data_dir: given
                .data_dir
                .or(file.data_dir)
                .ok_or(ConfigError::NoDataDir)?,
            inbox_max_bytes,
            public_url: url.map(|url| public_url(&url)).transpose()?,
            jules_keys_dir,
            repositories: file.repositories,
        })
    }

    /// The repositories of which deliveries are accepted. An entry without an id counts by its name.
    #[must_use]
    pub fn listed(&self) -> Listed {
        let ids: BTreeSet<_> = self.repositories.iter().filter_map(|one| one.id).collect();
        let unknown = self.repositories.iter().filter(|one| one.id.is_none());
        Listed::new(ids, unknown.map(|one| one.name.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearer_counts_before_what_is_farther() {
        let file = File::parse(
            "phileas.toml",
            "listen = \"127.0.0.1:1\"\nadmin_listen = \"127.0.0.1:2\"\ndata_dir = \"file\"\n",
        )
        .unwrap();
        let given = Given {
            listen: Some("127.0.0.1:3".parse().unwrap()),
            ..Given::default()
        };
        let config = Config::new(given, file).unwrap();
        assert_eq!(config.listen.port(), 3);
        assert_eq!(config.admin_listen.port(), 2);
        assert_eq!(config.data_dir, PathBuf::from("file"));
        assert_eq!(config.inbox_max_bytes, DEFAULT_ROOM);

        let nothing = Config::new(Given::default(), File::default());
        assert_eq!(nothing.unwrap_err(), ConfigError::NoDataDir);
        let given = Given {
            data_dir: Some("x".into()),
            inbox_max_bytes: Some(LEAST_ROOM - 1),
            ..Given::default()
        };
        let small = Config::new(given, File::default()).unwrap_err();
        assert!(small.to_string().contains("16MiB"), "{small}");
    }

    #[test]
    fn what_would_only_show_later_is_told_at_once() {
        let refused = |given: Given| {
            let given = Given {
                data_dir: Some("x".into()),
                ..given
            };
            Config::new(given, File::default()).unwrap_err().to_string()
        };
        let url = refused(Given {
            public_url: Some("phileas.example.com".to_owned()),
            ..Given::default()
        });
        assert!(url.starts_with("--public-url: "), "{url}");
        let keys = refused(Given {
            jules_keys_dir: Some("/nowhere/keys".into()),
            ..Given::default()
        });
        assert!(keys.contains("/nowhere/keys"), "{keys}");
    }
}
