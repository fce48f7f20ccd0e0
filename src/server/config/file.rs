//! Reads `phileas.toml`, the configuration file of the service.
//!
//! ```toml
//! listen = "127.0.0.1:8080"
//! admin_listen = "127.0.0.1:9090"
//! admin_hosts = ["phileas.example.com"]    # further host names of that listener
//! data_dir = "/var/lib/phileas"
//! inbox_max_bytes = "512MiB"
//! public_url = "https://phileas.example.com"
//! jules_keys_dir = "/run/secrets/jules"    # files `owner__name`, or `owner` for all others of that owner
//! drain = "15s"    # behind a load balancer: a little more than the interval of its health check
//!
//! # Without any entry deliveries of all repositories are accepted.
//! [[repository]]
//! name = "acme/widget"
//! id = 1296269    # gh api repos/acme/widget --jq .id
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phileas_domain::Diagnostic;
use phileas_domain::diagnostic::Mistakes;
use phileas_domain::model::{RepositoryId, RepositoryName};
use phileas_domain::plan::closest;
use phileas_domain::toml_text::{MAX_MISTAKES, TomlText};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;

use super::bytes::{check_room, parse_bytes, size_text};
use super::default_addresses::{ADMIN_LISTEN, LISTEN};
use super::drain::parse_drain;
use super::host_name::HostName;
use super::public_url::public_url;
use crate::adapters::files::{TextError, read_limited_text};
use crate::adapters::inbox::sqlite::{DEFAULT_ROOM, LEAST_ROOM};
use crate::adapters::jules::key;
use crate::adapters::transport::excessive_port;
use crate::server::accounts::app::{APP_ID, APP_KEY, TOKEN};

/// The largest file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The keys whose values are checked on this machine.
const FOLDER_KEYS: [&str; 2] = ["data_dir", "jules_keys_dir"];

/// The content of `phileas.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "phileas: phileas.toml")]
pub struct File {
    /// The public listener.
    #[serde(default, deserialize_with = "parse_address")]
    #[schemars(schema_with = "address_schema", extend("default" = LISTEN.to_string()))]
    pub listen: Option<SocketAddr>,
    /// The listener for operators.
    #[serde(default, deserialize_with = "parse_address")]
    #[schemars(schema_with = "address_schema", extend("default" = ADMIN_LISTEN.to_string()))]
    pub admin_listen: Option<SocketAddr>,
    /// Further host names of that listener.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub admin_hosts: Vec<HostName>,
    /// The data directory; a relative path is relative to the working directory of the service.
    #[serde(default)]
    #[schemars(with = "String")]
    pub data_dir: Option<PathBuf>,
    /// The most room of the inbox: a number of bytes, or a text with a unit.
    #[serde(default, deserialize_with = "parse_size")]
    #[schemars(schema_with = "size_schema", extend("default" = size_text(DEFAULT_ROOM)))]
    pub inbox_max_bytes: Option<u64>,
    /// The public address of the service, such as `https://phileas.example.com`.
    #[serde(default, deserialize_with = "parse_public_url")]
    #[schemars(with = "String")]
    pub public_url: Option<String>,
    /// A folder with a Jules key for each repository or owner.
    #[serde(default)]
    #[schemars(with = "String")]
    pub jules_keys_dir: Option<PathBuf>,
    /// How long deliveries are accepted at least after a shutdown was requested, such as `15s`; for
    /// load balancers.
    #[serde(default, deserialize_with = "drain")]
    #[schemars(schema_with = "drain_schema", extend("default" = "0s"))]
    pub drain: Option<Duration>,
    /// The repositories that the service manages.
    #[serde(default, rename = "repository", deserialize_with = "repositories")]
    #[schemars(with = "Vec<RepositoryEntry>")]
    pub repositories: Vec<Spanned<RepositoryEntry>>,
    /// The positions of the values of [`FOLDER_KEYS`].
    #[serde(skip)]
    #[schemars(skip)]
    locations: BTreeMap<&'static str, Diagnostic>,
    /// Whether the data directory may be in what was left out.
    #[serde(skip)]
    #[schemars(skip)]
    pub(super) may_lack_data_dir: bool,
}

/// One repository.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepositoryEntry {
    /// Its name, `owner/name`.
    #[serde(deserialize_with = "parse_name")]
    #[schemars(schema_with = "name_schema")]
    pub name: RepositoryName,
    /// GitHub's number of it, which does not change when the repository is renamed.
    #[serde(default, deserialize_with = "parse_id")]
    #[schemars(with = "u64")]
    pub id: Option<RepositoryId>,
}

/// Why the file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error(
        "{}: {}",
        path.display(),
        error.text_with_help("give --config or PHILEAS_CONFIG a file that you may read")
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The problem.
        error: TextError,
    },
    /// Its content is invalid.
    #[error(transparent)]
    Wrong(#[from] Mistakes),
}

impl File {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is too large, or is invalid.
    pub fn read_file(path: &Path) -> Result<Self, FileError> {
        match Self::read_leniently(path)? {
            (read, mistakes) if mistakes.is_empty() => Ok(read),
            (_, mistakes) => Err(Mistakes(mistakes).into()),
        }
    }

    /// Reads the file without what is wrong in it, and lists that.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is too large.
    pub fn read_leniently(path: &Path) -> Result<(Self, Vec<Diagnostic>), FileError> {
        let text = read_limited_text(path, MAX_FILE).map_err(|error| FileError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        Ok(Self::parse(&path.display().to_string(), &text))
    }

    /// Parses its text without what is wrong in it, and lists that; `file` is its name in mistakes.
    #[must_use]
    pub fn parse(file: &str, text: &str) -> (Self, Vec<Diagnostic>) {
        let mut toml = TomlText::new(file, text);
        let read = toml.read_leniently::<Self>();
        let is_cut_short = read.is_none();
        let mut read = read.unwrap_or_default();
        let twice = doubled_entries(&read.repositories);
        let twice: Vec<Diagnostic> = twice
            .take(MAX_MISTAKES + 1)
            .map(|(at, message)| {
                toml.mistake_at(at, message)
                    .help("remove one of its entries")
            })
            .collect();
        toml.add(twice);
        read.locations = FOLDER_KEYS
            .into_iter()
            .map(|key| (key, toml.mistake(key, "")))
            .filter(|(_, place)| place.line.is_some())
            .collect();
        let Mistakes(mut mistakes) = toml.into_mistakes();
        for mistake in &mut mistakes {
            if let Some(help) = said_elsewhere(&mistake.key) {
                mistake.help = help;
            }
        }
        read.may_lack_data_dir = is_cut_short || mistakes.iter().any(is_instead_of_data_dir);
        (read, mistakes)
    }

    /// Builds the diagnostic of a value that is invalid on this machine.
    pub(super) fn value_diagnostic(
        &self,
        key: &str,
        message: &str,
        help: &str,
    ) -> Option<Diagnostic> {
        let mut mistake = self.locations.get(key)?.clone().help(help);
        message.clone_into(&mut mistake.message);
        Some(mistake)
    }
}

/// The repositories that are in the file twice: where the second entry begins, and what is wrong.
fn doubled_entries(entries: &[Spanned<RepositoryEntry>]) -> impl Iterator<Item = (usize, String)> {
    let mut names = BTreeSet::new();
    let mut owners = BTreeMap::new();
    entries.iter().filter_map(move |entry| {
        let (at, RepositoryEntry { name, id }) = (entry.span().start, entry.get_ref());
        let owner = id.map(|RepositoryId(id)| (id, *owners.entry(id).or_insert(name)));
        // GitHub ignores the case of names.
        if !names.insert(name.to_string().to_ascii_lowercase()) {
            return Some((at, format!("{name} is here twice")));
        }
        let (id, owner) = owner.filter(|(_, owner)| *owner != name)?;
        Some((
            at,
            format!("{name} has the id {id}, which is that of {owner}"),
        ))
    })
}

/// Whether a mistake may have hidden the data directory.
fn is_instead_of_data_dir(mistake: &Diagnostic) -> bool {
    const KEY: &str = "data_dir";
    mistake.key.is_empty() || mistake.key == KEY || closest(&mistake.key, [KEY]).is_some()
}

/// Says where to put a secret that is in the file. `None`: the key names no secret.
fn said_elsewhere(key: &str) -> Option<String> {
    let key = key.to_ascii_lowercase().replace('-', "_");
    let name = key.strip_prefix("phileas_").unwrap_or(&key);
    let secret = match name {
        "database_url" => return Some(
            "an address with a password must not be in this file; set PHILEAS_DATABASE_URL, or \
             PHILEAS_DATABASE_URL_FILE, or give --database-url"
                .to_owned(),
        ),
        "github_token" | "gh_token" | "token" => TOKEN,
        "github_app_id" | "app_id" => {
            return Some(format!("it must not be in this file; set {APP_ID}"));
        }
        "github_app_private_key" | "app_private_key" | "private_key" => APP_KEY,
        "webhook_secret" => "PHILEAS_WEBHOOK_SECRET",
        "admin_token" => "PHILEAS_ADMIN_TOKEN",
        "jules_api_key" | "jules_key" => key::VARIABLE,
        _ => return None,
    };
    Some(format!(
        "secrets must not be in this file; set {secret}, or {secret}_FILE to a file with it"
    ))
}

/// Returns the JSON Schema of `phileas.toml` (draft 7, which editors of TOML support).
#[must_use]
pub fn config_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<File>().to_value();
    let properties = schema["properties"].as_object_mut();
    for property in properties.into_iter().flat_map(serde_json::Map::values_mut) {
        // The key may be absent and has no default; TOML has no null.
        if let Some(property) = property.as_object_mut()
            && property
                .get("default")
                .is_some_and(serde_json::Value::is_null)
        {
            property.remove("default");
        }
    }
    schema
}

fn address_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "pattern": r"^(\[[0-9A-Fa-f:.]+\]|[0-9.]+):[0-9]{1,5}$",
    })
}

fn size_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "integer", "minimum": LEAST_ROOM },
            { "type": "string", "pattern": r"^\s*[0-9]+\s*([KMG]iB)?\s*$" },
        ],
    })
}

fn drain_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "pattern": r"^\s*(0*([0-9]|[1-9][0-9]|[1-5][0-9]{2}|600)s|0*([0-9]|10)m)\s*$",
    })
}

fn name_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$" })
}

fn parse_address<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(reader)?;
    let wrong = || match excessive_port(&text) {
        Some(port) => format!(
            "there is no port {port}; write a port from 0 to {}",
            u16::MAX
        ),
        None => format!("`{text}` is not an address; write it as `127.0.0.1:8080`"),
    };
    text.parse()
        .map(Some)
        .map_err(|_| D::Error::custom(wrong()))
}

fn parse_size<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Size {
        Number(u64),
        Text(String),
    }
    let size = match Size::deserialize(reader) {
        Ok(Size::Number(number)) => number,
        Ok(Size::Text(text)) => parse_bytes(&text).map_err(D::Error::custom)?,
        Err(_) => {
            return Err(D::Error::custom(
                "this is not a size; write it as `\"512MiB\"`, or a number of bytes",
            ));
        }
    };
    check_room(size).map_err(D::Error::custom)?;
    Ok(Some(size))
}

fn parse_public_url<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(reader)?;
    public_url(&text).map(Some).map_err(D::Error::custom)
}

fn drain<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(reader)?;
    parse_drain(&text).map(Some).map_err(D::Error::custom)
}

fn parse_name<'de, D: Deserializer<'de>>(reader: D) -> Result<RepositoryName, D::Error> {
    String::deserialize(reader)?
        .parse()
        .map_err(D::Error::custom)
}

fn parse_id<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<RepositoryId>, D::Error> {
    u64::deserialize(reader).map(|id| Some(RepositoryId(id)))
}

/// Reads the entries.
fn repositories<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Vec<Spanned<RepositoryEntry>>, D::Error> {
    struct Entries;
    impl<'de> serde::de::Visitor<'de> for Entries {
        type Value = Vec<Spanned<RepositoryEntry>>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("`[[repository]]` with two brackets, because there may be several")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut entries: A,
        ) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(entry) = entries.next_element()? {
                all.push(entry);
            }
            Ok(all)
        }
    }
    reader.deserialize_any(Entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<File, Mistakes> {
        match File::parse("phileas.toml", text) {
            (file, mistakes) if mistakes.is_empty() => Ok(file),
            (_, mistakes) => Err(Mistakes(mistakes)),
        }
    }

    #[test]
    fn a_whole_file_is_read() {
        let file = parse(
            "listen = \"0.0.0.0:80\"\ninbox_max_bytes = \"64MiB\"\n\
             [[repository]]\nname = \"acme/widget\"\nid = 7\n[[repository]]\nname = \"acme/gadget\"\n",
        )
        .unwrap();
        assert_eq!(file.inbox_max_bytes, Some(64 << 20));
        let ids: Vec<_> = file
            .repositories
            .iter()
            .map(|one| one.get_ref().id)
            .collect();
        assert_eq!(ids, [Some(RepositoryId(7)), None]);
        assert_eq!(parse("").unwrap(), File::default());
        let number = parse("inbox_max_bytes = 33554432\n").unwrap();
        assert_eq!(number.inbox_max_bytes, Some(32 << 20));
    }

    /// Every key has a description and, if it has a default, the default that the reader uses.
    #[test]
    fn the_schema_knows_what_is_read_and_nothing_else() {
        let schema = config_schema();
        let properties = schema["properties"].as_object().unwrap();
        let keys: Vec<_> = properties.keys().map(String::as_str).collect();
        let unknown = toml::from_str::<File>("nonsense = 1\n").unwrap_err();
        // serde lists the known keys: "expected one of `a`, `b`".
        let (_, known) = unknown
            .to_string()
            .split_once("expected one of")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        let mut known: Vec<_> = known.split('`').skip(1).step_by(2).collect();
        known.sort_unstable();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, known);
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema.get("required"), None, "each of them may be left out");
        for (key, property) in properties {
            assert!(
                property["description"].is_string() || key == "repository",
                "{key}: {property}"
            );
            let default = &property["default"];
            assert!(
                property
                    .get("default")
                    .is_none_or(|default| !default.is_null()),
                "{key}"
            );
            if default.is_string() {
                let read = parse(&format!("{key} = {default}\n"));
                assert!(read.is_ok(), "{read:?}");
            }
        }
        for (key, usual) in [
            ("listen", "127.0.0.1:8080"),
            ("admin_listen", "127.0.0.1:9090"),
            ("inbox_max_bytes", "512MiB"),
        ] {
            assert_eq!(properties[key]["default"], usual);
        }
        let entry = &schema["definitions"]["RepositoryEntry"];
        assert_eq!(entry["required"], serde_json::json!(["name"]));
        assert_eq!(entry["properties"].as_object().unwrap().len(), 2);
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        for (text, place, word) in [
            (
                "listen = 8080\n",
                "phileas.toml:1:10",
                "expected a text, found a whole number (at listen); write a text between double quotes",
            ),
            (
                "\nlisten = \"localhost\"\n",
                "phileas.toml:2:10",
                "127.0.0.1:8080",
            ),
            (
                "admin_listen = \"127.0.0.1:99999\"\n",
                "phileas.toml:1:16",
                "there is no port 99999 (at admin_listen); write a port from 0 to 65535",
            ),
            ("data-dir = \"x\"\n", "phileas.toml:1:1", "data_dir"),
            (
                "inbox_max_bytes = \"lots\"\n",
                "phileas.toml:1:19",
                "512MiB",
            ),
            ("inbox_max_bytes = -1\n", "phileas.toml:1:19", "512MiB"),
            (
                "[[repository]]\nname = \"widget\"\n",
                "phileas.toml:2:8",
                "owner/name",
            ),
            ("[[repository]]\nid = 7\n", "phileas.toml:1:1", "name"),
            (
                "[repository]\nname = \"acme/widget\"\n",
                "phileas.toml:1:1",
                "`[[repository]]`",
            ),
            (
                "[[repository]]\nname = \"acme/widget\"\n[[repository]]\nname = \"Acme/widget\"\n",
                "phileas.toml:3:1",
                "twice (at repository[1])",
            ),
            (
                "\n[[repository]]\nname = \"acme/widget\"\nid = \"7\"\n",
                "phileas.toml:4:6",
                "expected a whole number",
            ),
            (
                "admin_hosts = \"phileas.example.com\"\n",
                "phileas.toml:1:15",
                "expected an array",
            ),
            (
                "admin_hosts = [\"a\", \"https://b\"]\n",
                "phileas.toml:1:21",
                "without https://",
            ),
            (
                "data_dr = \"x\"\n",
                "phileas.toml:1:1",
                "did you mean `data_dir`?",
            ),
            (
                "database_url = \"postgres://canary@x/y\"\n",
                "phileas.toml:1:1",
                "PHILEAS_DATABASE_URL",
            ),
            (
                "github_token = \"canary\"\n",
                "phileas.toml:1:1",
                "GITHUB_TOKEN",
            ),
            (
                "github-app-private-key = \"canary\"\n",
                "phileas.toml:1:1",
                "GITHUB_APP_PRIVATE_KEY",
            ),
            (
                "webhook_secret = \"canary\"\n",
                "phileas.toml:1:1",
                "PHILEAS_WEBHOOK_SECRET",
            ),
            (
                "admin_token = \"canary\"\n",
                "phileas.toml:1:1",
                "PHILEAS_ADMIN_TOKEN",
            ),
            (
                "jules_api_key = \"canary\"\n",
                "phileas.toml:1:1",
                "JULES_API_KEY",
            ),
            ("[[repository]\n", "phileas.toml:1:", ""),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(place), "{text:?}: {error}");
            assert!(error.contains(word), "{text:?}: {error}");
            assert!(!error.contains("canary"), "{text:?}: {error}");
        }
    }
}
