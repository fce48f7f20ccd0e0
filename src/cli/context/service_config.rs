//! The settings of a service: from its options, variables and `phileas.toml`.

use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use super::env_var::variable;
use crate::cli::arguments::Serve;
use crate::cli::exit::Stopped;
use crate::server::accounts::app;
use crate::server::admin::dashboard::Access;
use crate::server::config::{Config, File, Given, origin, secret};
use crate::server::public::webhook::Secrets;

/// What says where the public listener is.
pub(crate) const LISTEN: &str = "--listen (`listen` in phileas.toml)";

/// What says where the admin listener is.
pub(crate) const ADMIN_LISTEN: &str = "--admin-listen (`admin_listen` in phileas.toml)";

/// The secret of the webhooks.
pub(crate) const SECRET: &str = "PHILEAS_WEBHOOK_SECRET";

/// What lets people and programs in on the admin listener.
pub(crate) const ADMIN_TOKEN: &str = "PHILEAS_ADMIN_TOKEN";

/// Read without being asked for, where it exists.
pub(crate) const CONFIG_FILE: &str = "phileas.toml";

/// Who is let in on the admin listener. Its tools spend the service's keys and merge, and every account of this machine
/// reaches a loopback address, so that they are served only behind a token.
pub(crate) fn admin_access(config: &Config, mcp: bool) -> Result<Access, Stopped> {
    let token = secret(ADMIN_TOKEN, variable)?;
    if mcp && token.is_none() {
        return Err(Stopped::credential(format!(
            "--mcp (PHILEAS_MCP) serves tools that start sessions and merge, and there is no admin token, so that every \
             account of this machine could use them; set {ADMIN_TOKEN} (or {ADMIN_TOKEN}_FILE), for example to the output \
             of `openssl rand -hex 32`, or leave --mcp out"
        )));
    }
    Ok(Access::new(
        config.admin_listen,
        token,
        config.admin_hosts.clone(),
    )?)
}

/// The secrets of the environment, and that of the App which the set-up page has made.
pub(crate) fn secrets(config: &Config) -> Result<Secrets, Stopped> {
    let given = secret(SECRET, variable)?;
    let name = origin(SECRET, variable);
    let wrong = |error| Stopped::credential(format!("{name}: {error}"));
    if let Some(given) = &given {
        // By themselves, so that errors speak of the variable and not of what set-up has kept.
        Secrets::from_list(given).map_err(wrong)?;
    }
    let kept = app::kept_app(&config.data_dir)?.map(|kept| kept.webhook_secret);
    let all: Vec<&str> = [&given, &kept]
        .into_iter()
        .flatten()
        .map(|secret| secret.expose_secret())
        .collect();
    if all.is_empty() {
        return Err(Stopped::credential(format!(
            "there is no webhook secret; set {SECRET} (or {SECRET}_FILE) to what the webhook's settings on GitHub say, \
             for example the output of `openssl rand -hex 32`. Two secrets with a comma between them are both accepted"
        )));
    }
    let list = SecretString::from(all.join(","));
    Secrets::from_list(&list).map_err(wrong)
}

pub(crate) fn config(arguments: &Serve) -> Result<Config, Stopped> {
    let given = Given {
        listen: arguments.listen,
        admin_listen: arguments.admin_listen,
        admin_hosts: arguments.admin_hosts.clone(),
        data_dir: arguments.data_dir.clone(),
        inbox_max_bytes: arguments.inbox_max_bytes,
        public_url: arguments.public_url.clone(),
        jules_keys_dir: arguments.jules_keys_dir.clone(),
        drain: arguments.drain,
    };
    Ok(Config::new(given, file(arguments.config.as_deref())?)?)
}

/// The file of settings that was named, or the one that is here.
pub(crate) fn file(named: Option<&Path>) -> Result<File, Stopped> {
    let here = Path::new(CONFIG_FILE);
    Ok(match named {
        Some(path) => File::read(path)?,
        None if here.symlink_metadata().is_ok() => File::read(here)?,
        None => File::default(),
    })
}
