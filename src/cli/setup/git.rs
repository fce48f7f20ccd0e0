//! What git does with the file that holds secrets. Outside of a work tree: nothing.

use std::path::Path;
use std::process::Stdio;

use phileas_domain::Diagnostic;
use phileas_domain::setup::{Compiled, Mode};

use crate::cli::exit::Stopped;
use crate::cli::other_program::other_program;

/// Files with secrets that git has in its index already, so that an entry in `.gitignore` does not help.
pub(super) fn tracked(dir: &Path, compiled: &Compiled) -> Result<Vec<Diagnostic>, Stopped> {
    let mut found = Vec::new();
    for path in private(compiled) {
        if says_yes(dir, &["ls-files", "--error-unmatch", "--", path])? {
            found.push(
                Diagnostic::error(path, "git keeps this file, and it holds secrets").mend(format!(
                    "take it out of the index (git rm --cached {path}), and make new secrets where it was committed"
                )),
            );
        }
    }
    Ok(found)
}

/// Files with secrets that git would take in. Further rules than those beside the file may count.
pub(super) fn not_ignored(dir: &Path, compiled: &Compiled) -> Result<Vec<Diagnostic>, Stopped> {
    let mut found = Vec::new();
    if !says_yes(dir, &["rev-parse", "--is-inside-work-tree"])? {
        return Ok(found);
    }
    for path in private(compiled) {
        if !says_yes(dir, &["check-ignore", "--quiet", "--", path])? {
            found.push(
                Diagnostic::error(path, "git does not ignore this file, and it holds secrets")
                    .mend(format!("git check-ignore --verbose --non-matching {path} tells the rule that takes it in")),
            );
        }
    }
    Ok(found)
}

fn private(compiled: &Compiled) -> impl Iterator<Item = &str> {
    let files = compiled.files.iter();
    files
        .filter(|file| file.mode == Mode::Private)
        .map(|file| file.path.as_str())
}

/// Whether git ends well. Without git there is no work tree either.
fn says_yes(dir: &Path, arguments: &[&str]) -> Result<bool, Stopped> {
    let status = other_program("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) => Ok(status.success()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}
