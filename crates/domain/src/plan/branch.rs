//! `branch = …`: where sessions start.

use super::Branch;

/// The ledger's branch. No session starts on it.
const LEDGER_BRANCH: &str = "jules";
/// GitHub refuses longer ones.
const MAX_BRANCH_BYTES: usize = 244;

/// Reads `default`, `persona` or a branch's name. The error is a message and its help.
pub(super) fn parse(text: &str) -> Result<Branch, (String, String)> {
    match text {
        "default" => Ok(Branch::Default),
        "persona" => Ok(Branch::Persona),
        LEDGER_BRANCH => Err((
            "sessions cannot start on `jules`, the branch of the ledger".to_owned(),
            "write `default`, `persona` or another branch".to_owned(),
        )),
        // git-check-ref-format(1): no branch can exist inside the name of another one.
        name if name
            .strip_prefix(LEDGER_BRANCH)
            .is_some_and(|rest| rest.starts_with('/')) =>
        {
            Err((
                format!("`{name}` cannot exist beside `jules`, the branch of the ledger"),
                "rename the branch, and write `default`, `persona` or its new name".to_owned(),
            ))
        }
        name if name.starts_with("refs/") => Err((
            format!("`{name}` is a ref, not a branch's name"),
            format!(
                "write `{}`",
                name.strip_prefix("refs/heads/").unwrap_or("main")
            ),
        )),
        name if is_branch_name(name) => Ok(Branch::Named(name.to_owned())),
        name => Err((
            format!("`{name}` cannot be a branch's name"),
            "write `default`, `persona` or the name of a branch".to_owned(),
        )),
    }
}

/// Whether a branch can have this name, by the rules of git-check-ref-format(1).
#[must_use]
pub fn is_branch_name(name: &str) -> bool {
    let part_is_legal = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.to_ascii_lowercase().ends_with(".lock")
    };
    name.len() <= MAX_BRANCH_BYTES
        && name.split('/').all(part_is_legal)
        && !name.starts_with('-')
        && !name.ends_with('.')
        && name != "@"
        && name != "HEAD"
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(|c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_git() {
        assert_eq!(parse("default"), Ok(Branch::Default));
        assert_eq!(parse("persona"), Ok(Branch::Persona));
        for name in ["main", "release/1.x", "a-b_c", "ação"] {
            assert_eq!(parse(name), Ok(Branch::Named(name.to_owned())));
        }
        for name in [
            "",
            "jules",
            "jules/fix-typo",
            "refs/heads/main",
            "a b",
            "a..b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "-a",
            "a.",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "@",
            "a@{b",
            "HEAD",
            "a\u{7f}",
        ] {
            assert!(parse(name).is_err(), "{name}");
        }
        assert!(parse(&"x".repeat(300)).is_err());
    }
}
