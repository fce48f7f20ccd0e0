//! `--deadline`.

use std::time::Duration;

use crate::cli::terminal::duration;

/// How long a command may take without `--deadline`. GitHub ends the job of the workflow that `init` writes after 15
/// minutes; this is less.
pub const DEADLINE: Duration = Duration::from_secs(10 * 60);

/// The time limit of a command.
#[derive(Debug, Clone, Copy)]
pub struct CommandDeadline(pub Duration);

pub(super) fn parse_deadline(text: &str) -> Result<CommandDeadline, String> {
    // A workflow passes an empty text for a variable that is not set.
    if text.trim().is_empty() {
        return Ok(CommandDeadline(DEADLINE));
    }
    let length = duration::parse_duration(text)?;
    let length = Duration::try_from(length).map_err(|error| error.to_string())?;
    Ok(CommandDeadline(length))
}
