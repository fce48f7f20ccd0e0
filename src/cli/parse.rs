//! Parses the command line. A command without a repository gets that of the folder.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use super::arguments::Arguments;
use super::context::worktree::WorkTree;

/// Parses a command line. The program's name alone asks for help. A command that needs a repository and names none gets the one that the folder was cloned
/// from.
///
/// # Errors
///
/// The error of clap, also for help.
pub(super) fn parse_arguments(
    mut words: Vec<OsString>,
    dir: &Path,
) -> Result<Arguments, clap::Error> {
    if words.len() <= 1 {
        words.push("--help".into());
    }
    let error = match Arguments::try_parse_from(&words) {
        Ok(arguments) => return Ok(arguments),
        Err(error) => error,
    };
    if !wants_only_repository(&error) {
        return Err(error);
    }
    let origin = match WorkTree::cloned_repository(dir) {
        Ok(origin) => origin,
        Err(stopped) => {
            return Err(Arguments::command().error(ErrorKind::ValueValidation, stopped));
        }
    };
    let Some(origin) = origin else {
        return Err(Arguments::command().error(
            ErrorKind::MissingRequiredArgument,
            "no repository is named: say --repo OWNER/NAME, set GITHUB_REPOSITORY, or run this in a clone of it, whose \
             remote `origin` names it",
        ));
    };
    let named = ["--repo".into(), origin.to_string().into()];
    Arguments::try_parse_from(words.into_iter().chain(named))
}

/// Whether only the repository is missing. It is the one argument that a command needs although the parser of clap takes a
/// command line without it; for all others that parser names what is missing.
fn wants_only_repository(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::MissingRequiredArgument
        && error.get(ContextKind::InvalidArg).is_none()
}
