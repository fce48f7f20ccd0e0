//! The id of an issue: the name of its run's folder.

use std::fmt;
use std::str::FromStr;

use super::limits::ISSUE_LIMIT_BYTES;

/// What lies beside the runs, or may.
const RESERVED: [&str; 4] = ["completed", "lessons.yaml", "lessons.yml", "config.toml"];

/// An issue's id, such as `ISSUE-123`: one part of a path that leads nowhere else on any system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IssueId(String);

/// Why a text is no issue id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an issue id: {why}", .text.escape_debug())]
pub struct IssueIdError {
    text: String,
    why: String,
}

impl IssueId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for IssueId {
    type Err = IssueIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let reserved = || RESERVED.iter().any(|name| name.eq_ignore_ascii_case(text));
        let why = if text.is_empty() {
            "it is empty".to_owned()
        } else if text.len() > ISSUE_LIMIT_BYTES {
            format!("it has more than {ISSUE_LIMIT_BYTES} characters")
        } else if !text.chars().all(allowed) {
            "it is the name of one folder, of letters, digits, `.`, `_` and `-`".to_owned()
        } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) || text.ends_with('.') {
            "it begins with a letter or a digit, and does not end in a dot".to_owned()
        } else if reserved() {
            "something else bears this name in the folder of the runs".to_owned()
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(IssueIdError {
            text: text.to_owned(),
            why,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_id_is_one_safe_part_of_a_path() {
        for text in ["ISSUE-123", "SPEC-X-002", "42", "a.b_c", "completed-2"] {
            assert_eq!(text.parse::<IssueId>().unwrap().as_str(), text);
        }
        let long = "a".repeat(ISSUE_LIMIT_BYTES + 1);
        for text in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "/etc",
            "-x",
            ".x",
            "x.",
            "a b",
            "a\0b",
            "a\nb",
            "ä",
            "C:",
            "completed",
            "Completed",
            "lessons.yaml",
            "config.toml",
            &long,
        ] {
            let wrong = text.parse::<IssueId>().unwrap_err().to_string();
            assert!(wrong.contains("is not an issue id"), "{wrong}");
            assert!(!wrong.contains('\n'), "{wrong}");
        }
    }
}
