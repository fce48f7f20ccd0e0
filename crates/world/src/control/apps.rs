//! Stocks the keys of GitHub Apps and installs Apps. A person makes an App on GitHub's own form, from a manifest.

use data_encoding::BASE64;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::error::ControlError;
use crate::github::{AppKey, Model, RepoId};

/// Adds a key that the next App takes.
pub(super) fn stock_key(
    github: &mut Model,
    pem: String,
    public_key: &str,
) -> Result<(), ControlError> {
    // Signatures are checked against keys of at least 2048 bits. Their PKCS#1 form always begins with a sequence whose
    // length takes two bytes, and a number in it. Other forms have a second sequence there, or are no DER at all.
    let public = BASE64
        .decode(public_key.as_bytes())
        .ok()
        .filter(|der| matches!(der.as_slice(), [0x30, 0x82, _, _, 0x02, ..]))
        .ok_or_else(|| {
            ControlError::malformed(
                "public_key: give the public half of an RSA key of at least 2048 bits as PKCS#1 DER in base64, such as \
                 the output of `openssl rsa -in key.pem -RSAPublicKey_out -outform DER | base64 -w0`",
            )
        })?;
    github.app_keys.push(AppKey { pem, public });
    Ok(())
}

/// Installs an App on a repository. An account has at most one installation of an App: an existing
/// installation gets the repository in addition.
pub(super) fn install_app(
    github: &mut Model,
    repo: RepoId,
    app: u64,
    now: Timestamp,
) -> Result<Value, ControlError> {
    if !github.apps.contains_key(&app) {
        return Err(ControlError::missing(format!("app: there is no App {app}")));
    }
    let Some(account) = github.repository(repo).map(|repository| repository.owner) else {
        return Err(ControlError::missing(format!(
            "repo: there is no repository {repo}"
        )));
    };
    let known = github
        .installations
        .values()
        .find(|installation| installation.app == app && installation.account == account)
        .map(|installation| {
            (
                installation.id,
                github.installation_reaches(installation, repo),
            )
        });
    let id = match known {
        Some((id, true)) => id,
        Some((id, false)) => {
            github.add_to_installation(id, repo, now);
            id
        }
        None => {
            let owner = github.login(account).to_owned();
            github.install_app(app, &owner, Some(&[repo]), now)
        }
    };
    Ok(json!({"installation": id}))
}
