//! A violated rule of the state.

use std::fmt;

/// A violated rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule's stable name.
    pub rule: &'static str,
    /// Where in the file: the keys from the outermost inwards.
    pub path: Vec<String>,
    /// What is wrong: a lower-case fragment without a final period.
    pub detail: String,
}

impl Violation {
    pub(super) fn new<const N: usize>(
        rule: &'static str,
        path: [&str; N],
        detail: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            path: path.into_iter().map(str::to_owned).collect(),
            detail: detail.into(),
        }
    }

    /// The location as a key path: `tracks.default.seq`.
    #[must_use]
    pub fn key_path(&self) -> String {
        let mut path = String::new();
        for key in &self.path {
            crate::json::push_key(&mut path, key);
        }
        path
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.detail, self.rule)
    }
}
