//! What tells this run from others: random bytes, its name as a holder, and who started it.

use phileas_domain::model::Holder;
use phileas_domain::plan::Driver;

use super::env_var::variable;
use crate::cli::exit::Stopped;

/// Randomness for one run.
pub(crate) fn entropy() -> Result<[u8; 32], Stopped> {
    let mut entropy = [0; 32];
    getrandom::fill(&mut entropy).map_err(|error| Stopped::fault(error.to_string()))?;
    Ok(entropy)
}

/// The name of this run, for what it writes by hand.
pub(crate) fn this_run() -> Result<Holder, Stopped> {
    Ok(holder(&entropy()?))
}

/// The person who runs this, as far as GitHub says so. The name of a local account is nobody's business: the ledger
/// may be public.
pub(crate) fn actor() -> Option<String> {
    variable("GITHUB_ACTOR")
}

pub(crate) fn driver() -> Driver {
    if variable("GITHUB_ACTIONS").is_some() {
        Driver::Action
    } else {
        Driver::Any
    }
}

/// A name that no other run bears: where it runs, and eight random digits.
pub(crate) fn holder(entropy: &[u8; 32]) -> Holder {
    let random = hex(&entropy[28..]);
    let run = variable("GITHUB_RUN_ID").map(|id| {
        let attempt = variable("GITHUB_RUN_ATTEMPT").unwrap_or_else(|| "1".to_owned());
        format!("action:{id}/{attempt}")
    });
    Holder::new(format!(
        "{}:{random}",
        run.unwrap_or_else(|| format!("cli:{}", std::process::id()))
    ))
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn seed() -> Result<u64, Stopped> {
    getrandom::u64().map_err(|error| Stopped::fault(error.to_string()))
}
