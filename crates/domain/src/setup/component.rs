//! A tool that can be installed.

use super::Variable;

/// Where a component comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// From phileas.
    BuiltIn,
    /// From the repository's own folder `components`.
    Repository,
}

/// A tool, and how it gets onto the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// What `tools.yml` calls it.
    pub name: String,
    /// What it is, on one line.
    pub summary: String,
    /// What must be installed before it.
    pub dependencies: Vec<String>,
    /// Folders below the home folder in which its programs are, such as `.cargo/bin`.
    pub paths: Vec<String>,
    /// The variables that it reads, in the order of their names.
    pub variables: Vec<Variable>,
    /// The part of the script that installs it: bash, without a first line `#!`. May be empty.
    pub fragment: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Whether a component may have this name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_are_plain_words() {
        for name in ["gh", "node-22", "a.b_c"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".x", "-x", "a b", "a/b", "ä"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
