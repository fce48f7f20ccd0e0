//! The identity of this run: random bytes, its holder name, and its actor.

use phileas_domain::model::Holder;
use phileas_domain::plan::Driver;

use super::env_var::env_value;
use crate::cli::exit::CliError;

/// Random bytes for one run.
pub(crate) fn random_bytes() -> Result<[u8; 32], CliError> {
    let mut entropy = [0; 32];
    getrandom::fill(&mut entropy).map_err(|error| CliError::fault(error.to_string()))?;
    Ok(entropy)
}

/// The holder name of this run, for commits by a command.
pub(crate) fn run_holder() -> Result<Holder, CliError> {
    Ok(holder_name(&random_bytes()?))
}

/// The person who runs this, if GitHub names one. The name of a local account is private, and the ledger may be public.
pub(crate) fn github_actor() -> Option<String> {
    env_value("GITHUB_ACTOR")
}

pub(crate) fn run_driver() -> Driver {
    if env_value("GITHUB_ACTIONS").is_some() {
        Driver::Action
    } else {
        Driver::Any
    }
}

/// A unique name: where it runs, and eight random digits.
pub(crate) fn holder_name(entropy: &[u8; 32]) -> Holder {
    let random = hex_text(&entropy[28..]);
    let run = env_value("GITHUB_RUN_ID").map(|id| {
        let attempt = env_value("GITHUB_RUN_ATTEMPT").unwrap_or_else(|| "1".to_owned());
        format!("action:{id}/{attempt}")
    });
    Holder::new(format!(
        "{}:{random}",
        run.unwrap_or_else(|| format!("cli:{}", std::process::id()))
    ))
}

/// Bytes as lower-case hexadecimal.
pub(crate) fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn random_seed() -> Result<u64, CliError> {
    getrandom::u64().map_err(|error| CliError::fault(error.to_string()))
}
