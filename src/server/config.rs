//! The configuration of the service. An option overrides an environment variable, which overrides
//! `phileas.toml`, which overrides the default. Secrets come from the environment only, see
//! [`read_secret()`].

mod bytes;
mod default_addresses;
mod drain;
mod file;
mod public_url;
mod secret;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phileas_domain::Diagnostic;

use crate::adapters::inbox::sqlite::{DEFAULT_ROOM, LEAST_ROOM};

pub use bytes::{BytesError, parse_bytes};
pub use default_addresses::{ADMIN_LISTEN, LISTEN};
pub use drain::{DrainError, LONGEST_DRAIN, parse_drain};
pub use file::{File, FileError, RepositoryEntry, config_schema};
pub use public_url::{PublicUrlError, WEBHOOK, public_url};
pub use secret::{SecretError, read_secret, secret_origin};

/// The values of options and variables. The command line has merged them already.
#[derive(Debug, Clone, Default)]
pub struct ConfigArguments {
    /// The public listener.
    pub listen: Option<SocketAddr>,
    /// The listener for operators.
    pub admin_listen: Option<SocketAddr>,
    /// Further host names of the admin listener; empty if none is configured.
    pub admin_hosts: Vec<String>,
    /// The data directory.
    pub data_dir: Option<PathBuf>,
    /// The most room of the inbox, in bytes.
    pub inbox_max_bytes: Option<u64>,
    /// The public address of the service.
    pub public_url: Option<String>,
    /// A folder with Jules keys.
    pub jules_keys_dir: Option<PathBuf>,
    /// How long deliveries are accepted at least after a shutdown was requested.
    pub drain: Option<Duration>,
}

/// The configuration of the service.
#[derive(Debug, Clone)]
pub struct Config {
    /// The public listener.
    pub listen: SocketAddr,
    /// The listener for operators.
    pub admin_listen: SocketAddr,
    /// Further host names of the admin listener.
    pub admin_hosts: Vec<String>,
    /// The data directory.
    pub data_dir: PathBuf,
    /// The most room of the inbox, in bytes.
    pub inbox_max_bytes: u64,
    /// The public address of the service.
    pub public_url: Option<String>,
    /// A folder with a Jules key for each repository or owner.
    pub jules_keys_dir: Option<PathBuf>,
    /// How long deliveries are accepted at least after a shutdown was requested. By default zero:
    /// only a load balancer needs time to notice.
    pub drain: Duration,
    /// The repositories of the file.
    pub repositories: Vec<RepositoryEntry>,
}

/// Why the configuration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No data directory is configured.
    #[error(
        "there is no data directory; name one with --data-dir, PHILEAS_DATA_DIR, or `data_dir` in phileas.toml"
    )]
    NoDataDir,
    /// The value of an option or its variable is invalid.
    #[error("{option}: {message}; {help}")]
    Given {
        /// The option.
        option: &'static str,
        /// What is wrong.
        message: String,
        /// How to fix it.
        help: String,
    },
    /// A value of `phileas.toml` is invalid.
    #[error("{0}")]
    Written(Box<Diagnostic>),
}

/// A setting from the command line, a variable or the file.
struct Setting<'f> {
    option: &'static str,
    key: &'static str,
    /// The file, if its value is used.
    file: Option<&'f File>,
}

impl Setting<'_> {
    fn config_error(&self, message: String, help: impl Into<String>) -> ConfigError {
        let help = help.into();
        let written = self
            .file
            .and_then(|file| file.value_diagnostic(self.key, message.clone(), help.clone()));
        match written {
            Some(mistake) => ConfigError::Written(Box::new(mistake)),
            None => ConfigError::Given {
                option: self.option,
                message,
                help,
            },
        }
    }
}

impl Config {
    /// Merges the arguments and the file.
    ///
    /// # Errors
    ///
    /// When a value without a default is missing, or a value is invalid.
    pub fn new(given: ConfigArguments, file: File) -> Result<Self, ConfigError> {
        let setting = |option, key, is_given: bool| Setting {
            option,
            key,
            file: (!is_given).then_some(&file),
        };
        let inbox_max_bytes = given
            .inbox_max_bytes
            .or(file.inbox_max_bytes)
            .unwrap_or(DEFAULT_ROOM);
        if inbox_max_bytes < LEAST_ROOM {
            let room = setting(
                "--inbox-max-bytes",
                "inbox_max_bytes",
                given.inbox_max_bytes.is_some(),
            );
            return Err(room.config_error(
                format!("an inbox of {inbox_max_bytes} bytes is too small"),
                format!("give it at least {}", bytes::size_text(LEAST_ROOM)),
            ));
        }
        let keys = setting(
            "--jules-keys-dir",
            "jules_keys_dir",
            given.jules_keys_dir.is_some(),
        );
        let jules_keys_dir = given.jules_keys_dir.or(file.jules_keys_dir.clone());
        if let Some(folder) = jules_keys_dir.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(keys.config_error(
                format!("{} is not a folder", folder.display()),
                "name a folder with a file for each key",
            ));
        }
        let address = setting("--public-url", "public_url", given.public_url.is_some());
        let public_url = given.public_url.or(file.public_url.clone());
        let public_url = public_url.map(|text| {
            public_url::public_url(&text).map_err(|wrong| {
                let wrong = format!("`{}` is not a valid public address", wrong.text);
                address.config_error(wrong, public_url::PUBLIC_URL)
            })
        });
        let public_url = public_url.transpose()?;
        let place = setting("--data-dir", "data_dir", given.data_dir.is_some());
        let data_dir = given.data_dir.or(file.data_dir.clone());
        let data_dir = data_dir.ok_or(ConfigError::NoDataDir)?;
        // Further checks would only say that its files are missing.
        if let Some(in_the_way) = no_folder(&data_dir) {
            return Err(place.config_error(
                format!("{} is not a folder", in_the_way.display()),
                "name a folder that this user may write to; phileas creates it if it does not exist",
            ));
        }
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
            data_dir,
            inbox_max_bytes,
            public_url,
            jules_keys_dir,
            drain: given.drain.or(file.drain).unwrap_or_default(),
            repositories: file.repositories,
        })
    }
}

/// Returns the path that is no folder, but is where the folder or one of its parents should be.
fn no_folder(path: &Path) -> Option<&Path> {
    let nearest = path.ancestors().find(|path| path.exists())?;
    (!nearest.is_dir()).then_some(nearest)
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
        let given = ConfigArguments {
            listen: Some("127.0.0.1:3".parse().unwrap()),
            ..ConfigArguments::default()
        };
        let config = Config::new(given, file).unwrap();
        assert_eq!(config.listen.port(), 3);
        assert_eq!(config.admin_listen.port(), 2);
        assert_eq!(config.data_dir, PathBuf::from("file"));
        assert_eq!(config.inbox_max_bytes, DEFAULT_ROOM);

        let nothing = Config::new(ConfigArguments::default(), File::default());
        assert_eq!(nothing.unwrap_err(), ConfigError::NoDataDir);
        let given = ConfigArguments {
            data_dir: Some("x".into()),
            inbox_max_bytes: Some(LEAST_ROOM - 1),
            ..ConfigArguments::default()
        };
        let small = Config::new(given, File::default()).unwrap_err();
        assert!(small.to_string().contains("16MiB"), "{small}");
    }

    #[test]
    fn a_value_of_the_file_is_told_with_its_place_and_not_as_an_option() {
        let refused = |text: &str| {
            let file = File::parse("p.toml", &format!("data_dir = \"x\"\n{text}")).unwrap();
            Config::new(ConfigArguments::default(), file)
                .unwrap_err()
                .to_string()
        };
        for (text, place, key) in [
            (
                "public_url = \"phileas.example.com\"\n",
                "p.toml:2:14: ",
                "(at public_url)",
            ),
            (
                "jules_keys_dir = \"/nowhere/keys\"\n",
                "p.toml:2:18: ",
                "(at jules_keys_dir)",
            ),
            (
                "inbox_max_bytes = \"1MiB\"\n",
                "p.toml:2:19: ",
                "(at inbox_max_bytes)",
            ),
        ] {
            let wrong = refused(text);
            assert!(wrong.starts_with(place) && wrong.contains(key), "{wrong}");
            assert!(!wrong.contains("--"), "{wrong}");
        }
        // The command line overrides the file, so its mistakes count.
        let file = File::parse("p.toml", "public_url = \"https://phileas.example.com\"\n").unwrap();
        let given = ConfigArguments {
            data_dir: Some("x".into()),
            public_url: Some("nonsense".to_owned()),
            ..ConfigArguments::default()
        };
        let wrong = Config::new(given, file).unwrap_err().to_string();
        assert!(wrong.starts_with("--public-url: `nonsense` "), "{wrong}");
    }

    #[test]
    fn a_data_directory_that_is_or_lies_below_a_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for place in [file.clone(), file.join("below"), file.join("far/below")] {
            let given = ConfigArguments {
                data_dir: Some(place),
                ..ConfigArguments::default()
            };
            let wrong = Config::new(given, File::default()).unwrap_err().to_string();
            let begin = format!("--data-dir: {} is not a folder; ", file.display());
            assert!(wrong.starts_with(&begin), "{wrong}");
        }
        let given = ConfigArguments {
            data_dir: Some(folder.path().join("new/one")),
            ..ConfigArguments::default()
        };
        assert!(Config::new(given, File::default()).is_ok());
    }

    #[test]
    fn what_would_only_show_later_is_told_at_once() {
        let refused = |given: ConfigArguments| {
            let given = ConfigArguments {
                data_dir: Some("x".into()),
                ..given
            };
            Config::new(given, File::default()).unwrap_err().to_string()
        };
        let url = refused(ConfigArguments {
            public_url: Some("phileas.example.com".to_owned()),
            ..ConfigArguments::default()
        });
        assert!(url.starts_with("--public-url: "), "{url}");
        let keys = refused(ConfigArguments {
            jules_keys_dir: Some("/nowhere/keys".into()),
            ..ConfigArguments::default()
        });
        assert_eq!(
            keys,
            "--jules-keys-dir: /nowhere/keys is not a folder; name a folder with a file for each key"
        );
    }
}
