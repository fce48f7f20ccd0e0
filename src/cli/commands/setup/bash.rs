//! Whether bash can read the parts that a repository brings. One that it cannot would take the rest of the script with it.

use std::io::{self, Write as _};
use std::process::Stdio;

use phileas_domain::Diagnostic;
use phileas_domain::setup::{Compiled, Origin};

use crate::cli::context::subprocess::other_program;
use crate::cli::exit::Stopped;

/// Asks bash about each part, without running it. Where there is no bash, that is a warning.
pub(super) fn check(compiled: &Compiled) -> Result<Vec<Diagnostic>, Stopped> {
    let mut found = Vec::new();
    let own = compiled.order.iter();
    for component in own.filter(|one| one.origin == Origin::Repository) {
        let folder = format!("components/{}/install.sh", component.name);
        let file = compiled.layout.path(&folder);
        match complaint(&component.fragment) {
            Ok(None) => {}
            Ok(Some(said)) => found.push(
                Diagnostic::error(file, format!("bash cannot read it: {said}"))
                    .mend("mend it; bash -n FILE tells the same"),
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                found.push(
                    Diagnostic::warning(
                        file,
                        "there is no bash here to tell whether it can be read",
                    )
                    .mend("try install.sh where there is one"),
                );
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// What bash says of a part, on one line.
fn complaint(script: &str) -> io::Result<Option<String>> {
    let mut bash = other_program("bash")
        .args(["--norc", "-n", "-s"])
        // Whatever it says beside mistakes would be taken for one: of a locale that is not installed, for example.
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
            // It stops to read at a mistake.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    let ended = bash.wait_with_output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    // An unclosed here-document is a warning to bash, and swallows the rest of a script.
    let lines: Vec<&str> = said
        .lines()
        .map(|line| line.strip_prefix("bash: ").unwrap_or(line).trim())
        .collect();
    let wrong = !ended.status.success() || !lines.is_empty();
    Ok(wrong.then(|| lines.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn bash_is_asked_and_nothing_is_run() {
        for sound in ["", "(exit 3)", "if x; then\n  exit 0\nfi", "cat <<E\nE"] {
            assert_eq!(complaint(sound).unwrap(), None, "{sound}");
        }
        for (wrong, word) in [
            (")\nexit 0\n(", "line 1"),
            ("if true; then", "end of file"),
            ("cat <<E\nx", "here-document"),
            ("echo 'x", "matching"),
        ] {
            let said = complaint(wrong).unwrap().unwrap();
            assert!(said.contains(word), "{wrong}: {said}");
        }
    }
}
