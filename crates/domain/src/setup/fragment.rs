//! What is wrong with a component's part of the script.

use crate::Diagnostic;

/// Mistakes that can be seen without a shell. Whether bash can read it is asked of bash, by the command line.
pub(super) fn check_fragment(file: &str, script: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let error = |message: &str, help: &str| Diagnostic::error(file, message).help(help);
    if script.starts_with("#!") {
        found.push(
            error(
                "a part of a script cannot choose its own interpreter",
                "remove the first line; it is run by bash",
            )
            .at(1, 1),
        );
    }
    if let Some(at) = script.find('\r') {
        found.push(
            error(
                "the lines end as on Windows, which bash does not understand",
                "save it with line feeds only",
            )
            .at_offset(script, at),
        );
    }
    let strange = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if let Some(at) = script.find(strange) {
        found.push(error("there is a control character", "remove it").at_offset(script, at));
    }
    found.extend(early_exit(file, script));
    found
}

/// An unconditional `exit` with something after it. It hurts no other tool, for each has a subshell of its own.
fn early_exit(file: &str, script: &str) -> Option<Diagnostic> {
    let says_something = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let mut lines = script.lines().zip(1..);
    let (_, line) = lines.find(|(text, _)| {
        text.split_whitespace().next() == Some("exit") && text.starts_with("exit")
    })?;
    lines.map(|(text, _)| text).find(says_something)?;
    Some(
        Diagnostic::warning(file, "nothing after this `exit` is ever run")
            .at(line, 1)
            .help("put it into an `if`, or remove what follows"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_parts_pass() {
        for script in [
            "",
            "if x; then\n  exit 0\nfi\ninstall\n",
            "install\nexit 0\n\n# done\n",
            "exit_code=1\ninstall\n",
        ] {
            assert_eq!(check_fragment("f", script), [], "{script:?}");
        }
    }

    #[test]
    fn each_mistake_is_told() {
        for (script, begins) in [
            (
                "#!/usr/bin/env python\n",
                "f:1:1: error: a part of a script",
            ),
            ("a\r\nb\r\n", "f:1:2: error: the lines end"),
            ("a\nb\u{7}\n", "f:2:2: error: there is a control"),
            ("true\nexit 0\ninstall\n", "f:2:1: warning: nothing after"),
        ] {
            let found = check_fragment("f", script);
            assert_eq!(found.len(), 1, "{script:?}: {found:?}");
            assert!(found[0].to_string().starts_with(begins), "{}", found[0]);
        }
    }
}
