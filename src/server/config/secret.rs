//! Reads secrets from a variable, or from the file that a variable with the suffix `_FILE` names.
//! Never from an option, which every user of the machine can read, and never from `phileas.toml`,
//! which ends up in a repository.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use secrecy::SecretString;

/// The largest file of a secret, in bytes. A private key of an App has about 1.7 KB.
const MAX_FILE: u64 = 64 << 10;

/// Why a secret cannot be read. The texts name variables and files, never their content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Both variables are set.
    #[error("{name} and {name}_FILE are both set; remove one of them")]
    Both {
        /// The variable.
        name: String,
    },
    /// The file cannot be read.
    #[error("{name}_FILE: {}: {detail}", path.display())]
    Unreadable {
        /// The variable.
        name: String,
        /// The file.
        path: PathBuf,
        /// The problem.
        detail: String,
    },
    /// The file is empty.
    #[error("{name}_FILE: {} is empty; write the secret into it, or remove the variable", path.display())]
    Empty {
        /// The variable.
        name: String,
        /// The file.
        path: PathBuf,
    },
}

/// Returns the source of the secret `name`, for messages.
#[must_use]
pub fn secret_origin(name: &str, variable: impl Fn(&str) -> Option<String>) -> String {
    let file = format!("{name}_FILE");
    match variable(&file).filter(|path| !path.trim().is_empty()) {
        Some(path) => format!("{file}: {path}"),
        None => name.to_owned(),
    }
}

/// Reads the secret `name`; `variable` returns the value of a variable. `None`: neither variable is
/// set, or the variable is empty. Line ends at the end of a file are removed.
///
/// # Errors
///
/// When both variables are set, or the file cannot be read, is empty, too large or no text. A user
/// who names a file expects a secret in it.
pub fn read_secret(
    name: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<SecretString>, SecretError> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let direct = set(name);
    let Some(path) = set(&format!("{name}_FILE")).map(PathBuf::from) else {
        return Ok(direct.map(SecretString::from));
    };
    if direct.is_some() {
        return Err(SecretError::Both {
            name: name.to_owned(),
        });
    }
    let unreadable = |detail: String| SecretError::Unreadable {
        name: name.to_owned(),
        path: path.clone(),
        detail,
    };
    let file = File::open(&path).map_err(|error| unreadable(error.to_string()))?;
    let mut text = String::new();
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    let read = read.map_err(|error| unreadable(error.to_string()))?;
    if read as u64 > MAX_FILE {
        return Err(unreadable(format!("it is larger than {MAX_FILE} bytes")));
    }
    text.truncate(text.trim_end_matches(['\r', '\n']).len());
    let text = text.trim_start_matches('\u{feff}').to_owned();
    if text.trim().is_empty() {
        return Err(SecretError::Empty {
            name: name.to_owned(),
            path,
        });
    }
    Ok(Some(SecretString::from(text)))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn read_secret_file(variables: &[(&str, &str)]) -> Result<Option<String>, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        read_secret("KEY", variable)
            .map(|secret| secret.map(|secret| secret.expose_secret().to_owned()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn r15_both_forms_are_read_and_neither_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "from a file\r\n\n").unwrap();
        let file = path.to_str().unwrap();
        assert_eq!(read_secret_file(&[]), Ok(None));
        assert_eq!(read_secret_file(&[("KEY", " ")]), Ok(None));
        assert_eq!(
            read_secret_file(&[("KEY", "direct")]),
            Ok(Some("direct".to_owned()))
        );
        assert_eq!(
            read_secret_file(&[("KEY_FILE", file)]),
            Ok(Some("from a file".to_owned()))
        );
        let both = read_secret_file(&[("KEY", "direct"), ("KEY_FILE", file)]).unwrap_err();
        assert!(
            both.contains("KEY_FILE") && !both.contains("direct"),
            "{both}"
        );
        let missing = read_secret_file(&[("KEY_FILE", "/nowhere/key")]).unwrap_err();
        assert!(missing.contains("/nowhere/key"), "{missing}");
        std::fs::write(&path, "\u{feff}from a file\n").unwrap();
        assert_eq!(
            read_secret_file(&[("KEY_FILE", file)]),
            Ok(Some("from a file".to_owned()))
        );
        std::fs::write(&path, vec![b'x'; 70_000]).unwrap();
        let large = read_secret_file(&[("KEY_FILE", file)]).unwrap_err();
        assert!(large.contains("65536"), "{large}");
        std::fs::write(&path, "\n").unwrap();
        let empty = read_secret_file(&[("KEY_FILE", file)]).unwrap_err();
        assert!(
            empty.contains("KEY_FILE") && empty.contains("is empty"),
            "{empty}"
        );
        let called = |variables: &[(&str, &str)]| {
            secret_origin("KEY", |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(called(&[("KEY", "x")]), "KEY");
        assert_eq!(called(&[("KEY_FILE", "/x")]), "KEY_FILE: /x");
    }
}
