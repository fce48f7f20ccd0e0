//! Workflow commands: what a process tells the runner on standard output.
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>

use std::fmt;

use phileas_domain::{Diagnostic, Severity};

/// The most annotations of one level that the runner shows for a step (GitHub's documentation: 10).
pub const MAX_ANNOTATIONS: usize = 10;

/// The level of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is wrong.
    Error,
    /// Something should be checked.
    Warning,
    /// Good to know.
    Notice,
}

/// A message on the page of a run, and at a line of a file if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Its level.
    pub level: Level,
    /// Its heading.
    pub title: String,
    /// Its text.
    pub message: String,
    /// The file, relative to the repository's root.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<u32>,
    /// The column in the line, from 1.
    pub column: Option<u32>,
}

impl Annotation {
    /// An annotation without a file.
    pub fn new(level: Level, title: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            level,
            title: title.into(),
            message: message.into(),
            file: None,
            line: None,
            column: None,
        }
    }

    /// An annotation for a mistake in the plan, at its location.
    #[must_use]
    pub fn from_diagnostic(mistake: &Diagnostic) -> Self {
        let level = match mistake.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
        };
        let mut message = mistake.message.clone();
        if !mistake.key.is_empty() {
            message.push_str(&format!(" (at {})", mistake.key));
        }
        if !mistake.help.is_empty() {
            message.push_str(&format!("; {}", mistake.help));
        }
        Self {
            file: Some(mistake.file.clone()),
            line: mistake.line,
            column: mistake.column,
            ..Self::new(level, "phileas: the plan", message)
        }
    }
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.level {
            Level::Error => "::error ",
            Level::Warning => "::warning ",
            Level::Notice => "::notice ",
        })?;
        if let Some(file) = &self.file {
            write!(f, "file={},", escape_property(file))?;
        }
        if let Some(line) = self.line {
            write!(f, "line={line},")?;
        }
        if let Some(column) = self.column {
            write!(f, "col={column},")?;
        }
        write!(
            f,
            "title={}::{}",
            escape_property(&self.title),
            escape_message(&self.message)
        )
    }
}

/// Keeps at most [`MAX_ANNOTATIONS`] of each level, most severe first. The last one counts those that are left out.
#[must_use]
pub fn limit_annotations(annotations: Vec<Annotation>) -> Vec<Annotation> {
    let mut kept = Vec::new();
    for level in [Level::Error, Level::Warning, Level::Notice] {
        let mut of_level: Vec<_> = annotations
            .iter()
            .filter(|one| one.level == level)
            .cloned()
            .collect();
        if of_level.len() > MAX_ANNOTATIONS {
            let more = of_level.len() - (MAX_ANNOTATIONS - 1);
            of_level.truncate(MAX_ANNOTATIONS - 1);
            let said = format!("{more} more are in the summary of this run");
            of_level.push(Annotation::new(level, "phileas", said));
        }
        kept.extend(of_level);
    }
    kept
}

/// Commands that mask a secret in every log, one for each line of the secret.
#[must_use]
pub fn mask_commands(secret: &str) -> Vec<String> {
    secret
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("::add-mask::{}", escape_message(line)))
        .collect()
}

/// Stops workflow commands until [`resume_commands`] with the same word. A log may contain texts of other people that
/// look like commands, so the word must be one that they cannot guess.
#[must_use]
pub fn stop_commands(word: &str) -> String {
    format!("::stop-commands::{word}")
}

/// Resumes workflow commands.
#[must_use]
pub fn resume_commands(word: &str) -> String {
    format!("::{word}::")
}

/// Escapes a message for the runner.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property before the message for the runner.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_a_command_or_begins_another() {
        let mistake = Diagnostic::error(".jules/a,b:c.toml", "50% of\r\n::error::it")
            .at(3, 7)
            .key("cycle[0]")
            .help("fix: it, please");
        assert_eq!(
            Annotation::from_diagnostic(&mistake).to_string(),
            "::error file=.jules/a%2Cb%3Ac.toml,line=3,col=7,title=phileas%3A the plan::\
             50%25 of%0D%0A::error::it (at cycle[0]); fix: it, please"
        );
        let notice = Annotation::new(Level::Notice, "a,b", "c:d,e");
        assert_eq!(notice.to_string(), "::notice title=a%2Cb::c:d,e");
        let warning = Diagnostic::warning("f", "m");
        assert!(
            Annotation::from_diagnostic(&warning)
                .to_string()
                .starts_with("::warning file=f,title=")
        );
    }

    #[test]
    fn r15_a_secret_of_several_lines_is_hidden_line_by_line() {
        assert_eq!(
            mask_commands("one%\n\n two \n"),
            ["::add-mask::one%25", "::add-mask::two"]
        );
        assert!(mask_commands(" \n").is_empty());
    }

    #[test]
    fn of_too_many_the_last_one_counts_the_rest() {
        let one = |level, n: usize| Annotation::new(level, "t", n.to_string());
        let mut all: Vec<_> = (0..12).map(|n| one(Level::Warning, n)).collect();
        all.extend((0..10).map(|n| one(Level::Error, n)));
        let kept = limit_annotations(all);
        assert_eq!(kept.len(), 20);
        assert_eq!(
            (kept[9].level, kept[9].message.as_str()),
            (Level::Error, "9")
        );
        assert_eq!(kept[18].message, "8");
        assert_eq!(kept[19].message, "3 more are in the summary of this run");
    }
}
