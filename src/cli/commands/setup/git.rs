//! Checks what git does with the file of secrets. Outside of a work tree there is nothing to check.

use std::path::Path;
use std::process::Stdio;

use phileas_domain::Diagnostic;
use phileas_domain::setup::Compiled;

use crate::cli::context::subprocess::{failure_words, other_program};
use crate::cli::exit::CliError;

/// Finds files of secrets that git tracks already, so that an entry in `.gitignore` does not help. A failure of git is
/// a warning.
pub(super) fn tracked_secrets(
    dir: &Path,
    compiled: &Compiled,
) -> Result<Vec<Diagnostic>, CliError> {
    let mut found = Vec::new();
    for path in &compiled.private {
        match ask_git(dir, &["ls-files", "--error-unmatch", "--", path])? {
            IgnoreAnswer::Yes => found.push(
                Diagnostic::error(path, "git keeps this file, and it holds secrets").help(format!(
                    "take it out of the index (git rm --cached {path}), and make new secrets where it was committed"
                )),
            ),
            IgnoreAnswer::No => {}
            IgnoreAnswer::None(why) => found.push(
                Diagnostic::warning(path, format!("git does not say whether it keeps this file: {why}"))
                    .help("it holds secrets: see that it is never committed"),
            ),
        }
    }
    Ok(found)
}

/// Finds files of secrets that git would add. Rules other than those beside the file may count. [`tracked_secrets`] has
/// reported a failure of git.
pub(super) fn unignored_secrets(
    dir: &Path,
    compiled: &Compiled,
) -> Result<Vec<Diagnostic>, CliError> {
    let mut found = Vec::new();
    if ask_git(dir, &["rev-parse", "--is-inside-work-tree"])? != IgnoreAnswer::Yes {
        return Ok(found);
    }
    for path in &compiled.private {
        if ask_git(dir, &["check-ignore", "--quiet", "--", path])? == IgnoreAnswer::No {
            found.push(
                Diagnostic::error(path, "git does not ignore this file, and it holds secrets")
                    .help(format!("git check-ignore --verbose --non-matching {path} tells the rule that takes it in")),
            );
        }
    }
    Ok(found)
}

/// The answer of git.
#[derive(Debug, PartialEq, Eq)]
enum IgnoreAnswer {
    Yes,
    No,
    /// Why there is none.
    None(String),
}

/// The exit code of git for a fatal error, by its manual.
const GIT_FATAL: i32 = 128;

/// Asks git. Without git, or outside of a repository, it would add nothing.
fn ask_git(dir: &Path, arguments: &[&str]) -> Result<IgnoreAnswer, CliError> {
    let output = other_program("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        // Its output is parsed below.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(IgnoreAnswer::No),
        Err(error) => return Err(error.into()),
    };
    let words = String::from_utf8_lossy(&output.stderr);
    Ok(match output.status.code() {
        Some(0) => IgnoreAnswer::Yes,
        Some(1) => IgnoreAnswer::No,
        Some(GIT_FATAL) if words.contains("not a git repository (or any") => IgnoreAnswer::No,
        _ => IgnoreAnswer::None(failure_words(&output)),
    })
}
