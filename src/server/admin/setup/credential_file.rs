//! Writes the file with the App's credentials, which only the owner of the data directory can read.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::adapters::github::Conversion;
use crate::server::accounts::app::{APP_FILE, StoredApp};

/// Why the App cannot be stored. It exists on GitHub nevertheless, and can be deleted there.
#[derive(Debug, thiserror::Error)]
pub enum CredentialFileError {
    /// GitHub sent no secret for its webhook.
    #[error(
        "GitHub created the App without a secret for its webhook; delete the App there and try again"
    )]
    NoSecret,
    /// There is another App's file.
    #[error("{} exists already; remove it first if the new App should replace it", .0.display())]
    There(PathBuf),
    /// It cannot be written.
    #[error("{}: {error}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
}

/// Writes the App's file, completely or not at all, and never over another one.
pub(super) fn write_credentials(
    data_dir: &Path,
    app: Conversion,
) -> Result<(), CredentialFileError> {
    let path = data_dir.join(APP_FILE);
    let kept = StoredApp {
        id: app.id,
        slug: app.slug,
        private_key: app.pem,
        webhook_secret: app.webhook_secret.ok_or(CredentialFileError::NoSecret)?,
    };
    let text = serde_json::to_string_pretty(&kept).expect("numbers and texts can be written");
    if path.exists() {
        return Err(CredentialFileError::There(path));
    }
    let part = data_dir.join(format!("{APP_FILE}.part"));
    let wrong = |error| CredentialFileError::Unwritable {
        path: path.clone(),
        error,
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // An earlier run may have left a temporary file.
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(wrong(error)),
        _ => {}
    }
    let mut file = options.open(&part).map_err(wrong)?;
    let written = file.write_all(text.as_bytes());
    if let Err(error) = written.and_then(|()| file.sync_all()) {
        // A part of a private key has no use.
        let _stays = std::fs::remove_file(&part);
        return Err(wrong(error));
    }
    drop(file);
    // The directory is locked, so no other process creates the file meanwhile. Not every file
    // system has links, and GitHub sends the key only once.
    std::fs::rename(&part, &path).map_err(wrong)?;
    if let Ok(folder) = std::fs::File::open(data_dir) {
        // The name is durable once the folder is synced. Some systems cannot sync folders, but
        // write them soon.
        let _unsynced = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create_file(id: u64) -> Conversion {
        Conversion {
            id,
            slug: "phileas".to_owned(),
            html_url: "https://github.com/apps/phileas".to_owned(),
            pem: "test-key".into(),
            webhook_secret: Some("test-secret".into()),
        }
    }

    #[test]
    fn an_app_is_kept_whole_and_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("app.json.part"), "left behind").unwrap();
        write_credentials(folder.path(), create_file(7)).unwrap();
        let again = write_credentials(folder.path(), create_file(8)).unwrap_err();
        assert!(matches!(again, CredentialFileError::There(_)), "{again}");
        let text = std::fs::read_to_string(folder.path().join(APP_FILE)).unwrap();
        assert!(text.contains("\"id\": 7"), "{text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
