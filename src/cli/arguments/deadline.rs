//! `--deadline`.

use std::time::Duration;

use crate::cli::terminal::duration;

/// How long a command may take unless `--deadline` says otherwise: less than the 15 minutes after which GitHub ends the
/// job of the workflow that `init` writes.
pub const DEADLINE: Duration = Duration::from_secs(10 * 60);

/// When a command ends at the latest.
#[derive(Debug, Clone, Copy)]
pub struct CommandDeadline(pub Duration);

pub(super) fn parse(text: &str) -> Result<CommandDeadline, String> {
    // A workflow gives an empty text for a variable that is not set.
    if text.trim().is_empty() {
        return Ok(CommandDeadline(DEADLINE));
    }
    let length = duration::parse(text)?;
    let length = Duration::try_from(length).map_err(|error| error.to_string())?;
    Ok(CommandDeadline(length))
}
