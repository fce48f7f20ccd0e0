//! Finds the Jules key of a repository.
//!
//! A folder of secrets has a file for each key, as orchestrators mount them:
//! `<owner>__<repository>` for one repository, `<owner>` for all others of that owner, in lower
//! case or as GitHub writes the name. If neither exists, `JULES_API_KEY` is the key. Repositories
//! with the same key share one client, and so its listings and its budget.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phileas_domain::model::RepositoryName;
use phileas_domain::utf8_text;

use crate::adapters::files::{TextError, read_limited};
use crate::adapters::jules::{Client, JulesKey};
use crate::server::accounts::external_services::ExternalServices;

/// The largest file of a key, in bytes. Keys have 39 characters.
const MAX_FILE: u64 = 4 << 10;

/// Why a repository has no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    /// No key is configured.
    #[error(
        "there is no Jules key for {repository}; set JULES_API_KEY for all repositories, or put the key into the file \
         `{file}` of the folder that `jules_keys_dir` names"
    )]
    Missing {
        /// The repository.
        repository: String,
        /// The file that would contain it.
        file: String,
    },
    /// The file contains no key.
    #[error("{}: {detail}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it. Never its content.
        detail: String,
    },
}

/// A key's client, and its number in this process.
#[derive(Debug, Clone)]
pub struct KeyClient {
    /// Identifies the key in this process.
    pub number: u64,
    /// The client.
    pub client: Arc<Client>,
}

/// The keys, and a client for each that was used.
#[derive(Debug)]
pub struct Keys {
    for_all: Option<JulesKey>,
    folder: Option<PathBuf>,
    clients: Mutex<BTreeMap<[u8; 32], KeyClient>>,
    /// The number of the next key; no number is used twice.
    next: AtomicU64,
}

impl Keys {
    /// Takes a key for all repositories, and a folder with keys of some.
    #[must_use]
    pub fn new(for_all: Option<JulesKey>, folder: Option<PathBuf>) -> Self {
        Self {
            for_all,
            folder,
            clients: Mutex::default(),
            next: AtomicU64::new(0),
        }
    }

    /// Returns the client of a repository's key. Files are read each time, so that a changed key
    /// counts from then on.
    ///
    /// # Errors
    ///
    /// [`NoKey`], which names the file.
    pub fn key_client(
        &self,
        repository: &RepositoryName,
        outside: &ExternalServices,
    ) -> Result<KeyClient, NoKey> {
        let key = self.read_key(repository)?;
        let mut clients = self.lock_clients();
        let client = clients.entry(key.digest()).or_insert_with(|| KeyClient {
            number: self.next.fetch_add(1, Ordering::Relaxed),
            client: Arc::new(outside.jules_client(key)),
        });
        Ok(client.clone())
    }

    /// Drops the clients of keys that no repository uses any more.
    pub fn retain_clients(&self, in_use: &BTreeSet<u64>) {
        self.lock_clients()
            .retain(|_, client| in_use.contains(&client.number));
    }

    fn lock_clients(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], KeyClient>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many keys are in use.
    #[must_use]
    pub fn client_count(&self) -> usize {
        self.lock_clients().len()
    }

    /// The file that has a repository's key. `None`: it is the key for all, or there is none.
    #[must_use]
    pub fn key_file(&self, repository: &RepositoryName) -> Option<PathBuf> {
        self.find_key_file(repository).ok()?.map(|(path, _)| path)
    }

    /// Reads the keys of the folder, as far as they can be read, in the order of the files' names.
    #[must_use]
    pub fn list_key_files(&self, most: usize) -> Vec<(PathBuf, JulesKey)> {
        let entries = self
            .folder
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok());
        let mut paths: Vec<PathBuf> = entries
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.sort();
        let keys = paths.into_iter().filter_map(|path| {
            let key = read_key_file(&path).ok()??;
            Some((path, key))
        });
        keys.take(most).collect()
    }

    /// Identifies a repository's key. `None`: it has none.
    #[must_use]
    pub fn key_digest(&self, repository: &RepositoryName) -> Option<[u8; 32]> {
        Some(self.read_key(repository).ok()?.digest())
    }

    fn read_key(&self, repository: &RepositoryName) -> Result<JulesKey, NoKey> {
        if let Some((_, key)) = self.find_key_file(repository)? {
            return Ok(key);
        }
        let RepositoryName { owner, name } = repository;
        self.for_all.clone().ok_or_else(|| NoKey::Missing {
            repository: repository.to_string(),
            file: format!("{owner}__{name}").to_ascii_lowercase(),
        })
    }

    /// Reads the most specific key that a file has.
    fn find_key_file(
        &self,
        repository: &RepositoryName,
    ) -> Result<Option<(PathBuf, JulesKey)>, NoKey> {
        let RepositoryName { owner, name } = repository;
        let own = format!("{owner}__{name}");
        if let Some(folder) = &self.folder {
            let files = [
                own.clone(),
                own.to_ascii_lowercase(),
                owner.clone(),
                owner.to_ascii_lowercase(),
            ];
            for file in files {
                let path = folder.join(file);
                if let Some(key) = read_key_file(&path)? {
                    return Ok(Some((path, key)));
                }
            }
        }
        Ok(None)
    }
}

/// Reads the key in a file; `None` if there is no such file.
fn read_key_file(path: &Path) -> Result<Option<JulesKey>, NoKey> {
    let wrong = |detail: String| NoKey::Unreadable {
        path: path.to_owned(),
        detail,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error.to_string())),
    };
    let bytes = read_limited(file, MAX_FILE)
        .map_err(|error| wrong(error.to_string()))?
        .ok_or_else(|| wrong(format!("it is larger than {MAX_FILE} bytes")))?;
    let text = utf8_text(bytes).map_err(|error| wrong(TextError::from(error).to_string()))?;
    let key = JulesKey::new(&text);
    key.map(Some).map_err(|_| {
        wrong("it contains no key; write the key, and nothing else, into it".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_file_name(text: &str) -> RepositoryName {
        text.parse().unwrap()
    }

    #[test]
    fn the_nearest_key_counts() {
        let folder = tempfile::tempdir().unwrap();
        let put = |file: &str, key: &str| std::fs::write(folder.path().join(file), key).unwrap();
        put("acme__widget", "key-of-widget\n");
        put("acme", "key-of-acme");
        put("broken__one", "two words");
        let keys = Keys::new(
            Some(JulesKey::new("key-of-all").unwrap()),
            Some(folder.path().to_owned()),
        );
        let digest = |key: &str| JulesKey::new(key).unwrap().digest();
        for (repository, key) in [
            ("Acme/Widget", "key-of-widget"),
            ("acme/gadget", "key-of-acme"),
            ("other/thing", "key-of-all"),
        ] {
            let found = keys.read_key(&key_file_name(repository)).unwrap();
            assert_eq!(found.digest(), digest(key), "{repository}");
        }
        let file = |repository| keys.key_file(&key_file_name(repository));
        assert_eq!(file("acme/gadget"), Some(folder.path().join("acme")));
        assert_eq!(file("other/thing"), None);
        let broken = keys
            .read_key(&key_file_name("broken/one"))
            .unwrap_err()
            .to_string();
        assert!(
            broken.contains("broken__one") && !broken.contains("two"),
            "{broken}"
        );
        let none = Keys::new(None, None)
            .read_key(&key_file_name("acme/widget"))
            .unwrap_err();
        assert!(none.to_string().contains("`acme__widget`"), "{none}");
    }
}
