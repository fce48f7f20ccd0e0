//! A variable that a tool reads.

/// Who may know a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Anyone with access to the repository: it is committed.
    Plain,
    /// Only Jules: git ignores its file.
    Secret,
}

/// A variable of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// `GH_TOKEN`.
    pub name: String,
    /// Who may know its value.
    pub class: Class,
    /// What it is for, on one line; may be empty.
    pub description: String,
    /// Its default value; empty for secrets.
    pub default: String,
}

/// Names that steer the shell or the loader themselves, so that a value would change more than one tool.
const RESERVED: [&str; 12] = [
    "BASHOPTS",
    "BASH_ENV",
    "ENV",
    "EUID",
    "HOME",
    "IFS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PATH",
    "PPID",
    "SHELLOPTS",
    "UID",
];

/// What is wrong with a variable's name, and how to fix it.
pub(super) fn name_complaint(name: &str) -> Option<(String, &'static str)> {
    let legal = name.len() <= 100
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !legal {
        return Some((
            format!("`{}` cannot be a variable's name", name.escape_debug()),
            "take letters, digits and `_`, such as `UV_VERSION`",
        ));
    }
    RESERVED.contains(&name).then(|| {
        (
            format!("`{name}` steers the shell itself and cannot be set for a tool"),
            "take another name; folders for PATH belong in `paths` of meta.toml",
        )
    })
}

/// What is wrong with a value, and how to fix it.
pub(super) fn value_complaint(value: &str) -> Option<(String, &'static str)> {
    if value.contains('\0') {
        return Some((
            "the value holds a NUL, which no variable can".to_owned(),
            "take it out",
        ));
    }
    (value.len() > super::VALUE_LIMIT_BYTES).then(|| {
        (
            format!(
                "the value has {} bytes, more than {}",
                value.len(),
                super::VALUE_LIMIT_BYTES
            ),
            "shorten it",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_variables() {
        for name in ["GH_TOKEN", "_x", "a1"] {
            assert_eq!(name_complaint(name), None, "{name}");
        }
        for name in ["", "1A", "A-B", "A B", "Ä", "A\n", "PATH", "LD_PRELOAD"] {
            assert!(name_complaint(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn values_are_those_of_variables() {
        assert_eq!(value_complaint("a\n'b'"), None);
        assert!(value_complaint("a\0").is_some());
        assert!(value_complaint(&"x".repeat(super::super::VALUE_LIMIT_BYTES + 1)).is_some());
    }
}
