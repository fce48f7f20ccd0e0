//! The settings of a service, from its options, variables and `phileas.toml`.

use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use super::env_var::env_value;
use crate::cli::arguments::Serve;
use crate::cli::exit::CliError;
use crate::server::accounts::app;
use crate::server::admin::dashboard::Access;
use crate::server::config::{Config, ConfigArguments, File, HostName, read_secret, secret_origin};
use crate::server::public::webhook::Secrets;

/// The settings that name the public listener's address.
pub(crate) const LISTEN_SETTING: &str = "--listen (`listen` in phileas.toml)";

/// The settings that name the admin listener's address.
pub(crate) const ADMIN_LISTEN_SETTING: &str = "--admin-listen (`admin_listen` in phileas.toml)";

/// The variable with the webhook secret.
pub(crate) const SECRET_VARIABLE: &str = "PHILEAS_WEBHOOK_SECRET";

/// The variable with the admin token.
pub(crate) const ADMIN_TOKEN_VARIABLE: &str = "PHILEAS_ADMIN_TOKEN";

/// The default settings file, if it exists.
pub(crate) const CONFIG_FILE: &str = "phileas.toml";

/// The access rules of the admin listener. Its tools spend the service's keys and merge, and every account of this
/// machine can reach a loopback address. So they require a token.
pub(crate) fn admin_access(config: &Config, mcp: bool) -> Result<Access, CliError> {
    let token = read_secret(ADMIN_TOKEN_VARIABLE, env_value)?;
    if mcp && token.is_none() {
        return Err(CliError::credential(format!(
            "--mcp (PHILEAS_MCP) serves tools that start sessions and merge, and there is no admin token, so that every \
             account of this machine could use them; set {ADMIN_TOKEN_VARIABLE} (or {ADMIN_TOKEN_VARIABLE}_FILE), for example to the output \
             of `openssl rand -hex 32`, or leave --mcp out"
        )));
    }
    Ok(Access::new(
        config.admin_listen,
        token,
        config.admin_hosts.clone(),
    )?)
}

/// The webhook secrets of the environment, and that of the stored App.
pub(crate) fn webhook_secrets(config: &Config) -> Result<Secrets, CliError> {
    let given = read_secret(SECRET_VARIABLE, env_value)?;
    let name = secret_origin(SECRET_VARIABLE, env_value);
    let wrong = |error| CliError::credential(format!("{name}: {error}"));
    if let Some(given) = &given {
        // Check them alone first, so that an error names the variable and not the stored App.
        Secrets::from_list(given).map_err(wrong)?;
    }
    let kept = app::kept_app(&config.data_dir)?.map(|kept| kept.webhook_secret);
    let all: Vec<&str> = [&given, &kept]
        .into_iter()
        .flatten()
        .map(|secret| secret.expose_secret())
        .collect();
    if all.is_empty() {
        return Err(CliError::credential(format!(
            "there is no webhook secret; set {SECRET_VARIABLE} (or {SECRET_VARIABLE}_FILE) to what the webhook's settings on GitHub say, \
             for example the output of `openssl rand -hex 32`. Two secrets with a comma between them are both accepted"
        )));
    }
    let list = SecretString::from(all.join(","));
    Secrets::from_list(&list).map_err(wrong)
}

pub(crate) fn service_config(arguments: &Serve) -> Result<Config, CliError> {
    let given = ConfigArguments {
        listen: arguments.listen,
        admin_listen: arguments.admin_listen,
        admin_hosts: host_names(&arguments.admin_hosts)?,
        data_dir: arguments.data_dir.clone(),
        inbox_max_bytes: arguments.inbox_max_bytes,
        public_url: arguments.public_url.clone(),
        jules_keys_dir: arguments.jules_keys_dir.clone(),
        drain: arguments.drain,
    };
    let (file, mistakes) = match config_path(arguments.config.as_deref()) {
        Some(path) => File::read_leniently(path)?,
        None => (File::default(), Vec::new()),
    };
    Ok(Config::new(given, file, &mistakes)?)
}

/// The host names of the option or its variable, which may be empty.
fn host_names(given: &[String]) -> Result<Vec<HostName>, CliError> {
    let names = given.iter().map(|text| text.trim());
    let names = names.filter(|text| !text.is_empty()).map(str::parse);
    let wrong = |error| CliError::usage(format!("--admin-host (PHILEAS_ADMIN_HOSTS): {error}"));
    names.collect::<Result<_, _>>().map_err(wrong)
}

/// The named settings file, or the one in the working directory.
pub(crate) fn config_file(named: Option<&Path>) -> Result<File, CliError> {
    Ok(match config_path(named) {
        Some(path) => File::read_file(path)?,
        None => File::default(),
    })
}

fn config_path(named: Option<&Path>) -> Option<&Path> {
    let here = Path::new(CONFIG_FILE);
    named.or_else(|| here.symlink_metadata().is_ok().then_some(here))
}
