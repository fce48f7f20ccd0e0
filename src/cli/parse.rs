//! Parses the command line. A command without a repository gets that of the folder.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use super::arguments::Arguments;
use super::context::worktree::WorkTree;

/// Words that people try, because they are commands in comments or of other programs, and what does it here.
const OTHER_WORDS: [(&str, &str); 14] = [
    (
        "run",
        "start a persona with `phileas tick --persona PERSONA`",
    ),
    (
        "start",
        "start a persona with `phileas tick --persona PERSONA`",
    ),
    (
        "approve",
        "approve a plan with `phileas session approve SESSION`",
    ),
    (
        "retry",
        "start work again with `phileas session retry SESSION`",
    ),
    (
        "cancel",
        "end a session with `phileas session cancel SESSION`",
    ),
    (
        "message",
        "write to a session with `phileas session message SESSION TEXT`",
    ),
    ("sessions", "list the sessions with `phileas session list`"),
    (
        "stop",
        "pause and end every session with `phileas pause --cancel-sessions`",
    ),
    (
        "hold",
        "put the label `phileas:hold` on the issue or pull request",
    ),
    ("merge", "put the label `phileas:merge` on the pull request"),
    (
        "dashboard",
        "open the dashboard issue with the comment `/phileas dashboard`, or see `phileas status`",
    ),
    (
        "check",
        "check the plan with `phileas validate`, and the repository with `phileas doctor`",
    ),
    ("lint", "check the plan with `phileas validate`"),
    ("forecast", "see the coming days with `phileas simulate`"),
];

/// Options of other commands that people try, and what does it here.
const OTHER_OPTIONS: [(&str, &str, &str); 1] = [(
    "simulate",
    "--until",
    "say how many days it covers with `--days 14`",
)];

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
        return Err(with_variable(with_suggestion(error, &words), &words));
    }
    let origin = match WorkTree::cloned_repository(dir) {
        Ok(origin) => origin,
        Err(stopped) => {
            return Err(named_command(&words).error(ErrorKind::ValueValidation, stopped));
        }
    };
    let Some(origin) = origin else {
        return Err(named_command(&words).error(
            ErrorKind::MissingRequiredArgument,
            "no repository is named: say --repo OWNER/NAME, set GITHUB_REPOSITORY, or run this in a clone of it, whose \
             remote `origin` names it",
        ));
    };
    // Behind `--` it would be a text.
    let at = words.iter().position(|word| word == "--");
    let mut words = words;
    words.splice(
        at.map_or(words.len()..words.len(), |at| at..at),
        ["--repo".into(), origin.to_string().into()],
    );
    Arguments::try_parse_from(words)
}

/// The command that a command line names, whose usage an error shows.
fn named_command(words: &[OsString]) -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    for word in words.iter().skip(1) {
        if let Some(inner) = command.find_subcommand(word) {
            command = inner.clone();
        }
    }
    command
}

/// Names the environment variable of a wrong value, where the value came from it and not from the command line.
fn with_variable(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if !matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
    ) {
        return error;
    }
    let Some(ContextValue::String(shown)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let command = named_command(words);
    let argument = command
        .get_arguments()
        .find(|argument| argument.to_string() == *shown);
    let variable = argument.and_then(|argument| {
        let variable = argument.get_env()?;
        let long = format!("--{}", argument.get_long()?);
        let is_typed = words.iter().filter_map(|word| word.to_str()).any(|word| {
            let rest = word.strip_prefix(&long);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        (!is_typed && std::env::var_os(variable).is_some()).then(|| variable.display().to_string())
    });
    if let Some(variable) = variable {
        error.insert(ContextKind::InvalidArg, ContextValue::String(variable));
    }
    error
}

/// Adds what to write in place of a word that is a command elsewhere: in a comment, as a label, or of another program.
fn with_suggestion(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let word = words.get(1).and_then(|word| word.to_str());
    let known = OTHER_WORDS.iter().find(|(other, _)| Some(*other) == word);
    if let (ErrorKind::InvalidSubcommand, Some((_, instead))) = (error.kind(), known) {
        // A word that merely looks like it was not meant.
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = ContextValue::StyledStrs(vec![(*instead).into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => "",
    };
    let known = OTHER_OPTIONS
        .iter()
        .find(|(command, option, _)| Some(*command) == word && *option == argument);
    if let (ErrorKind::UnknownArgument, Some((_, _, instead))) = (error.kind(), known) {
        error.remove(ContextKind::SuggestedArg);
        let tip = ContextValue::StyledStrs(vec![(*instead).into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// Whether only the repository is missing. It is the one argument that a command needs although the parser of clap takes a
/// command line without it; for all others that parser names what is missing.
fn wants_only_repository(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::MissingRequiredArgument
        && error.get(ContextKind::InvalidArg).is_none()
}
