//! The `.gitignore` that keeps secrets out of commits.

use crate::Diagnostic;

/// The text of a `.gitignore` that ignores these files of its folder; the lines that are there stay.
///
/// # Errors
///
/// A line takes one of them in again.
pub(super) fn with_ignored(file: &str, text: &str, private: &[&str]) -> Result<String, Diagnostic> {
    for (line, number) in text.lines().zip(1..) {
        let back = line.trim_end().strip_prefix('!');
        let back = back.map(|pattern| pattern.trim_start_matches('/'));
        if back.is_some_and(|pattern| private.contains(&pattern)) {
            return Err(
                Diagnostic::error(file, "this line takes a file with secrets in again")
                    .at(number, 1)
                    .help("remove it"),
            );
        }
    }
    let mut whole = text.to_owned();
    for name in private {
        let ignored = |line: &str| line.trim_end().trim_start_matches('/') == *name;
        if text.lines().any(ignored) {
            continue;
        }
        if !whole.is_empty() && !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push_str(name);
        whole.push('\n');
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::with_ignored;

    #[test]
    fn a_missing_line_is_added_and_others_stay() {
        for (before, after) in [
            ("", "secrets.toml\n"),
            ("secrets.toml\n", "secrets.toml\n"),
            ("/secrets.toml \n*.log", "/secrets.toml \n*.log"),
            ("# mine\n*.log", "# mine\n*.log\nsecrets.toml\n"),
            (
                "!other\n#secrets.toml\n",
                "!other\n#secrets.toml\nsecrets.toml\n",
            ),
        ] {
            assert_eq!(with_ignored("f", before, &["secrets.toml"]).unwrap(), after);
        }
        assert_eq!(with_ignored("f", "", &["a", "b"]).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_line_that_takes_secrets_in_again_is_a_mistake() {
        let said = with_ignored("f", "*\n!/secrets.toml\n", &["secrets.toml"]).unwrap_err();
        assert!(
            said.to_string()
                .starts_with("f:2:1: error: this line takes"),
            "{said}"
        );
    }
}
