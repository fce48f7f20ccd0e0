//! Reads the service's identity at GitHub, an App or a token, from the environment or from the
//! set-up page's file.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::adapters::github::{App, CredentialError, Token};
use crate::server::config::{SecretError, read_secret, secret_origin};

/// The file in the data directory with the App that the set-up page has created.
pub const APP_FILE: &str = "app.json";
/// The App's number or client id.
pub const APP_ID: &str = "GITHUB_APP_ID";
/// The App's private key, PEM.
pub const APP_KEY: &str = "GITHUB_APP_PRIVATE_KEY";
/// A plain token.
pub const TOKEN: &str = "GITHUB_TOKEN";
/// The same, by the name that GitHub's own command line uses.
pub const OTHER_TOKEN: &str = "GH_TOKEN";

/// The service's identity at GitHub.
#[derive(Debug, Clone)]
pub enum Identity {
    /// An App; the service manages the repositories on which it is installed.
    App(App),
    /// A plain token; the service manages the repositories of `phileas.toml`.
    Token(Token),
}

/// An App as the set-up page stores it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredApp {
    /// Its number.
    pub id: u64,
    /// The last part of its page's address.
    pub slug: String,
    /// Its private key, PEM.
    #[serde(serialize_with = "serialize_secret")]
    pub private_key: SecretString,
    /// The secret of its webhook.
    #[serde(serialize_with = "serialize_secret")]
    pub webhook_secret: SecretString,
}

/// Why the identity is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// Only one of the App's two variables is set.
    #[error(
        "{set} is set and {missing} is not; an App needs both (the key as {APP_KEY} or {APP_KEY}_FILE)"
    )]
    Half {
        /// The variable that is set.
        set: &'static str,
        /// The variable that is missing.
        missing: &'static str,
    },
    /// A secret cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A credential cannot be used.
    #[error("{name}: {error}")]
    Credential {
        /// The variable or file.
        name: String,
        /// The problem.
        error: CredentialError,
    },
    /// The App's number has no valid form.
    #[error(
        "{APP_ID} is neither an App's number nor its client id (`Iv…`); copy either from the App's page on GitHub"
    )]
    NoAppId,
    /// The account of this process may not read the file of the set-up page.
    #[error("{}: {detail}; run phileas as the user who owns the file", path.display())]
    Closed {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        detail: String,
    },
    /// The file of the set-up page has other content than the page wrote.
    #[error(
        "{}: {detail}; put back a copy of it if there is one. Otherwise remove it and set {APP_ID} and {APP_KEY} to a new \
         private key of that App, or delete the App on GitHub and run `phileas serve --setup` again",
        path.display()
    )]
    Kept {
        /// The file.
        path: PathBuf,
        /// The problem.
        detail: String,
    },
}

/// Reads the service's identity: from the environment, the App before the token, and otherwise from
/// the file of the set-up page. `None`: there is no credential.
///
/// # Errors
///
/// [`IdentityError`].
pub fn read_identity(
    variable: impl Fn(&str) -> Option<String>,
    data_dir: &Path,
) -> Result<Option<Identity>, IdentityError> {
    let id = variable(APP_ID);
    let key = read_secret(APP_KEY, &variable)?;
    let half = |set, missing| IdentityError::Half { set, missing };
    match (id, key) {
        (Some(id), Some(key)) => {
            if !is_app_id(id.trim()) {
                return Err(IdentityError::NoAppId);
            }
            return app_identity(&secret_origin(APP_KEY, &variable), &id, &key).map(Some);
        }
        (Some(_), None) => return Err(half(APP_ID, APP_KEY)),
        (None, Some(_)) => return Err(half(APP_KEY, APP_ID)),
        (None, None) => {}
    }
    for name in [TOKEN, OTHER_TOKEN] {
        if let Some(token) = read_secret(name, &variable)? {
            let token = Token::new(token.expose_secret());
            let token = token.map_err(|error| IdentityError::Credential {
                name: secret_origin(name, &variable),
                error,
            });
            return token.map(Identity::Token).map(Some);
        }
    }
    let Some(kept) = kept_app(data_dir)? else {
        return Ok(None);
    };
    app_identity(APP_FILE, &kept.id.to_string(), &kept.private_key).map(Some)
}

/// The variable with the identity, which overrides the set-up page's file. `None`: no such variable
/// is set.
#[must_use]
pub fn named_by(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let names = [APP_ID, APP_KEY, TOKEN, OTHER_TOKEN];
    let mut names = names
        .into_iter()
        .flat_map(|name| [name.to_owned(), format!("{name}_FILE")]);
    names.find(|name| variable(name).is_some_and(|value| !value.trim().is_empty()))
}

/// The source of the identity for messages: variables, a variable's file, or the file of the set-up
/// page.
#[must_use]
pub fn origin_of_identity(variable: impl Fn(&str) -> Option<String>) -> String {
    let is_set = |name: &str| {
        [name.to_owned(), format!("{name}_FILE")]
            .iter()
            .any(|name| variable(name).is_some_and(|value| !value.trim().is_empty()))
    };
    if is_set(APP_ID) || is_set(APP_KEY) {
        return format!("{APP_ID} and {}", secret_origin(APP_KEY, &variable));
    }
    let token = [TOKEN, OTHER_TOKEN].into_iter().find(|name| is_set(name));
    token.map_or_else(
        || format!("{APP_FILE} in the data directory"),
        |name| secret_origin(name, &variable),
    )
}

/// Whether a text is an App's number or client id, such as `123456` or `Iv23liAbCdEf`: GitHub
/// accepts both.
/// <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app>
#[must_use]
pub fn is_app_id(text: &str) -> bool {
    let number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    number || (text.starts_with("Iv") && text.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// Reads the App that the set-up page has created, if there is one. Removes the access of other
/// users to its file, which a copy may have.
///
/// # Errors
///
/// [`IdentityError::Kept`], [`IdentityError::Closed`].
pub fn kept_app(data_dir: &Path) -> Result<Option<StoredApp>, IdentityError> {
    let path = data_dir.join(APP_FILE);
    let wrong = |detail: String| IdentityError::Kept {
        path: path.clone(),
        detail,
    };
    let denied_or_wrong = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => IdentityError::Closed {
            path: path.clone(),
            detail: error.to_string(),
        },
        _ => wrong(error.to_string()),
    };
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(denied_or_wrong(error)),
    };
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(denied_or_wrong)?;
    close_to_others(&path, &file);
    // The parser's own message could quote the key.
    let kept = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| wrong(format!("line {} was changed", error.line())))?;
    Ok(Some(kept))
}

/// Removes the access of other users to the App's file, because it contains a private key. The
/// target of a symbolic link keeps its mode, because that file is not the service's. A file that
/// stays accessible is logged.
#[cfg(unix)]
fn close_to_others(path: &Path, file: &File) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let Ok(opened) = file.metadata() else { return };
    if opened.permissions().mode() & 0o077 == 0 {
        return;
    }
    let path_shown = path.display();
    let is_opened =
        |there: std::fs::Metadata| (there.dev(), there.ino()) == (opened.dev(), opened.ino());
    if !path.symlink_metadata().is_ok_and(is_opened) {
        tracing::warn!(
            "{path_shown} is a symbolic link to a file that other users can read, and the file contains the App's \
             private key; run `chmod 600` on that file"
        );
        return;
    }
    match file.set_permissions(std::fs::Permissions::from_mode(0o600)) {
        Ok(()) => tracing::warn!(
            "other users could read {path_shown}, which contains the App's private key; phileas has removed their \
             access"
        ),
        Err(error) => tracing::warn!(
            "other users can read {path_shown}, which contains the App's private key, and phileas cannot change that: \
             {error}; run `chmod 600` on it"
        ),
    }
}

/// On other systems a file has no mode.
#[cfg(not(unix))]
fn close_to_others(_: &Path, _: &File) {}

fn app_identity(name: &str, id: &str, key: &SecretString) -> Result<Identity, IdentityError> {
    let app = App::new(id, key.expose_secret());
    let app = app.map_err(|error| IdentityError::Credential {
        name: name.to_owned(),
        error,
    });
    app.map(Identity::App)
}

/// Serializes a secret, only for the file that the owner of the data directory alone can read.
fn serialize_secret<S: serde::Serializer>(secret: &SecretString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret.expose_secret())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_app_file(
        variables: &[(&str, &str)],
        folder: &Path,
    ) -> Result<Option<Identity>, IdentityError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        read_identity(variable, folder)
    }

    #[test]
    fn half_an_app_and_a_broken_file_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(read_app_file(&[], path).unwrap().is_none());
        let token = read_app_file(&[(TOKEN, "test-token")], path).unwrap();
        assert!(matches!(token, Some(Identity::Token(_))));
        let half = read_app_file(&[(APP_ID, "7"), (TOKEN, "test-token")], path).unwrap_err();
        assert!(half.to_string().contains(APP_KEY), "{half}");
        let no_key = read_app_file(&[(APP_ID, "7"), (APP_KEY, "test-key")], path).unwrap_err();
        assert!(no_key.to_string().contains("PEM"), "{no_key}");
        let other = read_app_file(&[(OTHER_TOKEN, "test-token")], path).unwrap();
        assert!(matches!(other, Some(Identity::Token(_))));
        let no_id = read_app_file(&[(APP_ID, "abc def"), (APP_KEY, "test-key")], path).unwrap_err();
        assert_eq!(no_id, IdentityError::NoAppId);
        std::fs::write(path.join(APP_FILE), "{\"private_key\": \"canary").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let wide = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(path.join(APP_FILE), wide).unwrap();
        }
        let broken = read_app_file(&[], path).unwrap_err().to_string();
        assert!(
            broken.contains("remove it") && !broken.contains("canary"),
            "{broken}"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(path.join(APP_FILE)).unwrap();
            assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        }
        let named = |name: &'static str| {
            named_by(move |asked: &str| (asked == name).then(|| "x".to_owned()))
        };
        assert_eq!(
            named("GITHUB_TOKEN_FILE").as_deref(),
            Some("GITHUB_TOKEN_FILE")
        );
        assert_eq!(named("PATH"), None);
    }
    #[cfg(unix)]
    #[test]
    fn the_file_behind_a_symbolic_link_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere.json");
        let kept = r#"{ "id": 7, "slug": "x", "private_key": "k", "webhook_secret": "s" }"#;
        std::fs::write(&elsewhere, kept).unwrap();
        let mode = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&elsewhere, mode(0o644)).unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&elsewhere, data.join(APP_FILE)).unwrap();
        assert_eq!(kept_app(&data).unwrap().unwrap().id, 7);
        let found = std::fs::metadata(&elsewhere).unwrap().permissions();
        assert_eq!(found.mode() & 0o777, 0o644);
    }
}
