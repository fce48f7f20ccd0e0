//! Checks that bash can parse the parts that a repository brings. A part with a syntax error would break the whole
//! script.

use std::io::{self, Write as _};
use std::process::Stdio;

use phileas_domain::Diagnostic;
use phileas_domain::setup::{Compiled, Origin};

use crate::cli::context::subprocess::other_program;
use crate::cli::exit::CliError;

/// Lets bash parse each part, without running it. A missing bash is a warning.
pub(super) fn check_syntax(compiled: &Compiled) -> Result<Vec<Diagnostic>, CliError> {
    let mut found = Vec::new();
    let own = compiled.order.iter();
    for component in own.filter(|one| one.origin == Origin::Repository) {
        let folder = format!("components/{}/install.sh", component.name);
        let file = compiled.layout.path(&folder);
        match bash_error(&component.fragment) {
            Ok(None) => {}
            Ok(Some(said)) => found.push(
                Diagnostic::error(file, format!("bash cannot read it: {said}"))
                    .help("fix it; bash -n FILE reports the same"),
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                found.push(
                    Diagnostic::warning(
                        file,
                        "there is no bash here to tell whether it can be read",
                    )
                    .help("try install.sh where there is one"),
                );
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// The first error of bash about a part, on one line.
fn bash_error(script: &str) -> io::Result<Option<String>> {
    let mut bash = other_program("bash")
        .args(["--norc", "-n", "-s"])
        // Any other output would look like a mistake, such as a warning about a missing locale.
        .env("LC_ALL", "C")
        .env_remove("BASH_ENV")
        .env_remove("BASHOPTS")
        .env_remove("SHELLOPTS")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = bash.stdin.take() {
        match stdin.write_all(format!("{script}\n").as_bytes()) {
            // It stops reading at a mistake.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    let ended = bash.wait_with_output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    // For bash an unclosed here-document is a warning, but it swallows the rest of a script.
    let lines: Vec<&str> = said
        .lines()
        .map(|line| line.strip_prefix("bash: ").unwrap_or(line).trim())
        .collect();
    let wrong = !ended.status.success() || !lines.is_empty();
    Ok(wrong.then(|| lines.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::bash_error;

    #[test]
    fn bash_is_asked_and_nothing_is_run() {
        for sound in ["", "(exit 3)", "if x; then\n  exit 0\nfi", "cat <<E\nE"] {
            assert_eq!(bash_error(sound).unwrap(), None, "{sound}");
        }
        for (wrong, word) in [
            (")\nexit 0\n(", "line 1"),
            ("if true; then", "end of file"),
            ("cat <<E\nx", "here-document"),
            ("echo 'x", "matching"),
        ] {
            let said = bash_error(wrong).unwrap().unwrap();
            assert!(said.contains(word), "{wrong}: {said}");
        }
    }
}
