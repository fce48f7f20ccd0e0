//! Reports a mistake in a file: where it is, what is wrong, and how to fix it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The severity of a [`Diagnostic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// It works, but probably not as intended.
    Warning,
    /// The affected item is left out.
    Error,
}

/// The kind of a [`Diagnostic`], for the cases that programs must distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Something is wrong with the file.
    Mistake,
    /// A newer version of phileas wrote the file, which may be correct.
    NewerFormat,
}

/// One mistake: its position, the problem and the fix.
///
/// Lines and columns count from 1; a column counts characters, not bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The path in the repository, with forward slashes.
    pub file: String,
    /// The line, from 1, if it is known.
    pub line: Option<u32>,
    /// The column in characters, from 1, if it is known.
    pub column: Option<u32>,
    /// The path of keys: `tracks.quality.steps[2].advance_on`. Empty if the whole file is meant.
    pub key: String,
    /// The kind.
    pub kind: Kind,
    /// The severity.
    pub severity: Severity,
    /// The problem: a lower-case fragment without a final period.
    pub message: String,
    /// The fix: a lower-case fragment without a final period. Empty if there is nothing to add.
    pub help: String,
}

impl Diagnostic {
    /// An error about a whole file; narrow it down with [`at`](Self::at) and [`key`](Self::key).
    #[must_use]
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            key: String::new(),
            kind: Kind::Mistake,
            severity: Severity::Error,
            message: message.into(),
            help: String::new(),
        }
    }

    /// A warning about a whole file.
    #[must_use]
    pub fn warning(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(file, message)
        }
    }

    /// An error about a file that a newer version of phileas wrote.
    #[must_use]
    pub fn newer_format(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: Kind::NewerFormat,
            ..Self::error(file, message)
        }
    }

    /// Sets the line and column, both from 1.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }

    /// Sets the line and column of a byte offset in `text`.
    #[must_use]
    pub fn at_offset(self, text: &str, offset: usize) -> Self {
        let (line, column) = line_and_column(text, offset);
        self.at(line, column)
    }

    /// Sets the key path.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// Sets the fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Whether a newer version of phileas wrote the file, so that this version must not change it.
    #[must_use]
    pub fn is_newer_format(&self) -> bool {
        self.kind == Kind::NewerFormat
    }

    /// Whether the affected item is left out.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl Diagnostic {
    /// The location, the problem and the fix, for a line that begins with the severity.
    #[must_use]
    pub fn without_severity(&self) -> String {
        format!("{}: {}", self.place(), self.problem_and_fix())
    }

    fn place(&self) -> String {
        let place = [self.line, self.column].into_iter().map_while(|part| part);
        place.fold(self.file.clone(), |place, part| format!("{place}:{part}"))
    }

    fn problem_and_fix(&self) -> String {
        let mut text = self.message.clone();
        if !self.key.is_empty() {
            text += &format!(" (at {})", self.key);
        }
        if !self.help.is_empty() {
            text += &format!("; {}", self.help);
        }
        text
    }
}

impl fmt::Display for Diagnostic {
    /// `file:line:column: error: message (key path); fix`, the form that editors and terminals link.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let (place, text) = (self.place(), self.problem_and_fix());
        write!(f, "{place}: {severity}: {text}")
    }
}

/// All mistakes in a file; shown, one a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Mistakes(pub Vec<Diagnostic>);

impl Mistakes {
    /// The mistakes, one a line, behind an `error: ` that is printed in front.
    #[must_use]
    pub fn error_lines(&self) -> String {
        self.lines_behind("")
    }

    /// The same of the file that an option names.
    #[must_use]
    pub fn of_option(&self, option: &str) -> String {
        self.lines_behind(&format!("{option} "))
    }

    fn lines_behind(&self, begin: &str) -> String {
        let lines = self.0.iter().map(Diagnostic::without_severity);
        let lines: Vec<String> = lines.map(|line| format!("{begin}{line}")).collect();
        lines.join("\nerror: ")
    }
}

/// The line and column (from 1, the column in characters) of a byte offset; an offset past the end means the end. A
/// leading byte order mark does not count, because editors do not show it.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (u32, u32) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text[..end].trim_start_matches('\u{feff}');
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (
        u32::try_from(line).unwrap_or(u32::MAX),
        u32::try_from(column).unwrap_or(u32::MAX),
    )
}

/// A word quoted for a shell, for commands that a person copies.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+=:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(line_and_column("a\nüb", 5), (2, 3));
        assert_eq!(line_and_column("", 9), (1, 1));
        assert_eq!(line_and_column("\u{feff}ab", 4), (1, 2));
        assert_eq!(line_and_column("\u{feff}ab", 0), (1, 1));
        assert_eq!(line_and_column("\u{feff}a\nb", 5), (2, 1));
    }

    #[test]
    fn is_shown_as_one_line_with_location_and_help() {
        let said = Diagnostic::error(".jules/schedules.toml", "unknown persona `curater`")
            .at(3, 5)
            .key("cycle[0]")
            .help("did you mean `curator`?");
        assert_eq!(
            said.to_string(),
            ".jules/schedules.toml:3:5: error: unknown persona `curater` (at cycle[0]); did you mean `curator`?"
        );
    }
}
