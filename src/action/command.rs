//! What a process says to the runner on standard output.
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>

use std::fmt;

use phileas_domain::{Diagnostic, Severity};

/// The most annotations of one level that the runner shows of a step (GitHub's documentation: 10).
pub const MAX_ANNOTATIONS: usize = 10;

/// How loud an annotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is wrong.
    Error,
    /// Something should be looked at.
    Warning,
    /// Good to know.
    Notice,
}

/// A message on the page of a run, and beside a line of a file where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// How loud it is.
    pub level: Level,
    /// Its heading.
    pub title: String,
    /// What it says.
    pub message: String,
    /// The file, from the repository's root.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The column in that, from 1.
    pub column: Option<u32>,
}

impl Annotation {
    /// A message about no file.
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

    /// A mistake in the plan, where it stands.
    #[must_use]
    pub fn of_plan(mistake: &Diagnostic) -> Self {
        let level = match mistake.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
        };
        let mut message = mistake.message.clone();
        if !mistake.key.is_empty() {
            message.push_str(&format!(" (at {})", mistake.key));
        }
        if !mistake.mend.is_empty() {
            message.push_str(&format!("; {}", mistake.mend));
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
            write!(f, "file={},", property(file))?;
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
            property(&self.title),
            data(&self.message)
        )
    }
}

/// At most [`MAX_ANNOTATIONS`] of each level, loudest first; of more, the last one says how many.
#[must_use]
pub fn at_most(annotations: Vec<Annotation>) -> Vec<Annotation> {
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

/// Lines that keep a secret out of every log, one for each line that the secret has.
#[must_use]
pub fn masks(secret: &str) -> Vec<String> {
    secret
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| format!("::add-mask::{}", data(line)))
        .collect()
}

/// From this line on the runner obeys nothing, until [`obey`] with the same word: a log may hold texts of others that
/// look like commands. The word must be one that they cannot guess.
#[must_use]
pub fn ignore(word: &str) -> String {
    format!("::stop-commands::{word}")
}

/// The runner obeys again.
#[must_use]
pub fn obey(word: &str) -> String {
    format!("::{word}::")
}

/// A message as the runner wants it.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A value before the message as the runner wants it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_a_command_or_begins_another() {
        let mistake = Diagnostic::error(".jules/a,b:c.toml", "50% of\r\n::error::it")
            .at(3, 7)
            .key("cycle[0]")
            .mend("mend: it, please");
        assert_eq!(
            Annotation::of_plan(&mistake).to_string(),
            "::error file=.jules/a%2Cb%3Ac.toml,line=3,col=7,title=phileas%3A the plan::\
             50%25 of%0D%0A::error::it (at cycle[0]); mend: it, please"
        );
        let notice = Annotation::new(Level::Notice, "a,b", "c:d,e");
        assert_eq!(notice.to_string(), "::notice title=a%2Cb::c:d,e");
        let warning = Diagnostic::warning("f", "m");
        assert!(
            Annotation::of_plan(&warning)
                .to_string()
                .starts_with("::warning file=f,title=")
        );
    }

    #[test]
    fn r15_a_secret_of_several_lines_is_hidden_line_by_line() {
        assert_eq!(
            masks("one%\n\n two \n"),
            ["::add-mask::one%25", "::add-mask::two"]
        );
        assert!(masks(" \n").is_empty());
    }

    #[test]
    fn of_too_many_the_last_one_counts_the_rest() {
        let one = |level, n: usize| Annotation::new(level, "t", n.to_string());
        let mut all: Vec<_> = (0..12).map(|n| one(Level::Warning, n)).collect();
        all.extend((0..10).map(|n| one(Level::Error, n)));
        let kept = at_most(all);
        assert_eq!(kept.len(), 20);
        assert_eq!(
            (kept[9].level, kept[9].message.as_str()),
            (Level::Error, "9")
        );
        assert_eq!(kept[18].message, "8");
        assert_eq!(kept[19].message, "3 more are in the summary of this run");
    }
}
