//! What git does with the file that holds secrets. Outside of a work tree: nothing.

use std::path::Path;
use std::process::Stdio;

use phileas_domain::Diagnostic;
use phileas_domain::prompt::clean_line;
use phileas_domain::setup::Compiled;

use crate::cli::context::subprocess::other_program;
use crate::cli::exit::Stopped;

/// Files with secrets that git has in its index already, so that an entry in `.gitignore` does not help. What git would
/// not answer is told as a warning.
pub(super) fn tracked(dir: &Path, compiled: &Compiled) -> Result<Vec<Diagnostic>, Stopped> {
    let mut found = Vec::new();
    for path in &compiled.private {
        match ask(dir, &["ls-files", "--error-unmatch", "--", path])? {
            Answer::Yes => found.push(
                Diagnostic::error(path, "git keeps this file, and it holds secrets").mend(format!(
                    "take it out of the index (git rm --cached {path}), and make new secrets where it was committed"
                )),
            ),
            Answer::No => {}
            Answer::None(why) => found.push(
                Diagnostic::warning(path, format!("git does not say whether it keeps this file: {why}"))
                    .mend("it holds secrets: see that it is never committed"),
            ),
        }
    }
    Ok(found)
}

/// Files with secrets that git would take in. Further rules than those beside the file may count. That git does not
/// answer was told by [`tracked`].
pub(super) fn not_ignored(dir: &Path, compiled: &Compiled) -> Result<Vec<Diagnostic>, Stopped> {
    let mut found = Vec::new();
    if ask(dir, &["rev-parse", "--is-inside-work-tree"])? != Answer::Yes {
        return Ok(found);
    }
    for path in &compiled.private {
        if ask(dir, &["check-ignore", "--quiet", "--", path])? == Answer::No {
            found.push(
                Diagnostic::error(path, "git does not ignore this file, and it holds secrets")
                    .mend(format!("git check-ignore --verbose --non-matching {path} tells the rule that takes it in")),
            );
        }
    }
    Ok(found)
}

/// What git says to a question.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// Why there is none.
    None(String),
}

/// How git ends when it cannot go on, as its manual has it.
const FATAL: i32 = 128;

/// Asks git. Where it is not installed, or the folder is in no repository, there is nothing it could keep.
fn ask(dir: &Path, arguments: &[&str]) -> Result<Answer, Stopped> {
    let output = other_program("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        // Its words are looked at below.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Answer::No),
        Err(error) => return Err(error.into()),
    };
    let words = String::from_utf8_lossy(&output.stderr);
    Ok(match output.status.code() {
        Some(0) => Answer::Yes,
        Some(1) => Answer::No,
        Some(FATAL) if words.contains("not a git repository (or any") => Answer::No,
        _ => Answer::None(clean_line(words.lines().next().unwrap_or("no word of why"))),
    })
}
