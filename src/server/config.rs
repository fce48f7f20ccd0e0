//! The configuration of the service. An option overrides an environment variable, which overrides
//! `phileas.toml`, which overrides the default. Secrets come from the environment only, see
//! [`read_secret()`].

mod bytes;
mod default_addresses;
mod drain;
mod file;
mod host_name;
mod public_url;
mod secret;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phileas_domain::Diagnostic;
use toml::Spanned;

use crate::adapters::inbox::sqlite::DEFAULT_ROOM;

pub use bytes::{BytesError, parse_bytes};
pub use default_addresses::{ADMIN_LISTEN, LISTEN};
pub use drain::{DrainError, LONGEST_DRAIN, parse_drain};
pub use file::{File, FileError, RepositoryEntry, config_schema};
pub use host_name::{HostName, HostNameError};
pub use public_url::{PublicUrlError, WEBHOOK, public_url};
pub use secret::{SecretError, read_secret, secret_origin};

/// Says that no data directory is configured.
pub(crate) const NO_DATA_DIR: &str = "there is no data directory; name one with --data-dir, PHILEAS_DATA_DIR, or `data_dir` in phileas.toml";

/// The values of options and variables. The command line has merged them already.
#[derive(Debug, Clone, Default)]
pub struct ConfigArguments {
    /// The public listener.
    pub listen: Option<SocketAddr>,
    /// The listener for operators.
    pub admin_listen: Option<SocketAddr>,
    /// Further host names of the admin listener; empty if none is configured.
    pub admin_hosts: Vec<HostName>,
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
    pub admin_hosts: Vec<HostName>,
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

/// Why the configuration is invalid: every mistake of the file and of the values that override it, one a line behind an
/// `error: ` that is printed in front.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\nerror: "))]
pub struct ConfigError(pub Vec<String>);

/// A folder from the command line, a variable or the file.
struct FolderSetting<'f> {
    option: &'static str,
    key: &'static str,
    /// The file, if its value is used.
    file: Option<&'f File>,
}

impl FolderSetting<'_> {
    /// Says that a path is no folder, and how to fix it.
    fn not_a_folder(&self, path: &Path, help: &str) -> String {
        let message = format!("{} is not a folder", path.display());
        let written = self
            .file
            .and_then(|file| file.value_diagnostic(self.key, &message, help));
        match written {
            Some(mistake) => mistake.without_severity(),
            None => format!("{}: {message}; {help}", self.option),
        }
    }
}

impl Config {
    /// Merges the arguments and the file, whose mistakes are known.
    ///
    /// # Errors
    ///
    /// When a value without a default is missing, or a value is invalid.
    pub fn new(
        given: ConfigArguments,
        file: File,
        mistakes: &[Diagnostic],
    ) -> Result<Self, ConfigError> {
        let mut wrong: Vec<String> = mistakes.iter().map(Diagnostic::without_severity).collect();
        if let Some(Err(error)) = given.inbox_max_bytes.map(bytes::check_room) {
            wrong.push(format!("--inbox-max-bytes: {error}"));
        }
        let public_url = given.public_url.as_deref().map(public_url);
        let public_url = public_url.transpose().unwrap_or_else(|error| {
            wrong.push(format!("--public-url: {error}"));
            None
        });
        let jules_keys_dir = keys_folder(&given, &file, &mut wrong);
        let data_dir = data_folder(&given, &file, &mut wrong);
        // A data directory that cannot be read from the file was reported.
        if data_dir.is_none() && !file.may_lack_data_dir {
            wrong.push(NO_DATA_DIR.to_owned());
        }
        let Some(data_dir) = data_dir.filter(|_| wrong.is_empty()) else {
            return Err(ConfigError(wrong));
        };
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
            inbox_max_bytes: given
                .inbox_max_bytes
                .or(file.inbox_max_bytes)
                .unwrap_or(DEFAULT_ROOM),
            public_url: public_url.or(file.public_url),
            jules_keys_dir,
            drain: given.drain.or(file.drain).unwrap_or_default(),
            repositories: file
                .repositories
                .into_iter()
                .map(Spanned::into_inner)
                .collect(),
        })
    }
}

fn keys_folder(given: &ConfigArguments, file: &File, wrong: &mut Vec<String>) -> Option<PathBuf> {
    let setting = FolderSetting {
        option: "--jules-keys-dir",
        key: "jules_keys_dir",
        file: given.jules_keys_dir.is_none().then_some(file),
    };
    let folder = given
        .jules_keys_dir
        .clone()
        .or(file.jules_keys_dir.clone())?;
    if !folder.is_dir() {
        wrong.push(setting.not_a_folder(&folder, "name a folder with a file for each key"));
    }
    Some(folder)
}

fn data_folder(given: &ConfigArguments, file: &File, wrong: &mut Vec<String>) -> Option<PathBuf> {
    let setting = FolderSetting {
        option: "--data-dir",
        key: "data_dir",
        file: given.data_dir.is_none().then_some(file),
    };
    let folder = given.data_dir.clone().or(file.data_dir.clone())?;
    // Further checks would only say that its files are missing.
    if let Some(in_the_way) = no_folder(&folder) {
        wrong.push(setting.not_a_folder(
            in_the_way,
            "name a folder that this user may write to; phileas creates it if it does not exist",
        ));
    }
    Some(folder)
}

/// Returns the path that is no folder, but is where the folder or one of its parents should be.
fn no_folder(path: &Path) -> Option<&Path> {
    let nearest = path.ancestors().find(|path| path.exists())?;
    (!nearest.is_dir()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::inbox::sqlite::LEAST_ROOM;

    fn new_config(given: ConfigArguments, text: &str) -> Result<Config, ConfigError> {
        let (file, mistakes) = File::parse("p.toml", text);
        Config::new(given, file, &mistakes)
    }

    #[test]
    fn what_is_nearer_counts_before_what_is_farther() {
        let file =
            "listen = \"127.0.0.1:1\"\nadmin_listen = \"127.0.0.1:2\"\ndata_dir = \"file\"\n";
        let given = ConfigArguments {
            listen: Some("127.0.0.1:3".parse().unwrap()),
            ..ConfigArguments::default()
        };
        let config = new_config(given, file).unwrap();
        assert_eq!(config.listen.port(), 3);
        assert_eq!(config.admin_listen.port(), 2);
        assert_eq!(config.data_dir, PathBuf::from("file"));
        assert_eq!(config.inbox_max_bytes, DEFAULT_ROOM);

        let nothing = new_config(ConfigArguments::default(), "").unwrap_err();
        assert_eq!(nothing.to_string(), NO_DATA_DIR);
        let given = ConfigArguments {
            data_dir: Some("x".into()),
            inbox_max_bytes: Some(LEAST_ROOM - 1),
            ..ConfigArguments::default()
        };
        let small = new_config(given, "").unwrap_err();
        assert!(small.to_string().contains("16MiB"), "{small}");
    }

    #[test]
    fn a_value_of_the_file_is_reported_with_its_place_and_not_as_an_option() {
        let refused = |text: &str| {
            let text = format!("data_dir = \"x\"\n{text}");
            let wrong = new_config(ConfigArguments::default(), &text).unwrap_err();
            wrong.to_string()
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
        let file = "public_url = \"https://phileas.example.com\"\n";
        let given = ConfigArguments {
            data_dir: Some("x".into()),
            public_url: Some("nonsense".to_owned()),
            ..ConfigArguments::default()
        };
        let wrong = new_config(given, file).unwrap_err().to_string();
        assert!(wrong.starts_with("--public-url: `nonsense` "), "{wrong}");
    }

    #[test]
    fn a_data_directory_that_is_or_lies_below_a_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for place in [file.clone(), file.join("below"), file.join("far/below")] {
            let given = ConfigArguments {
                data_dir: Some(place),
                ..ConfigArguments::default()
            };
            let wrong = new_config(given, "").unwrap_err().to_string();
            let begin = format!("--data-dir: {} is not a folder; ", file.display());
            assert!(wrong.starts_with(&begin), "{wrong}");
        }
        let given = ConfigArguments {
            data_dir: Some(folder.path().join("new/one")),
            ..ConfigArguments::default()
        };
        assert!(new_config(given, "").is_ok());
    }

    #[test]
    fn what_would_only_show_later_is_reported_at_once() {
        let refused = |given: ConfigArguments| {
            let given = ConfigArguments {
                data_dir: Some("x".into()),
                ..given
            };
            new_config(given, "").unwrap_err().to_string()
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
