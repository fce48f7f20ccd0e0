//! A finding: its grade, its text, its fix; and how findings are printed.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ports::{Disposition, Failure};

/// The column at which the further rows of a long line begin.
const INDENT: usize = 4;

/// The grade of a finding, the least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Grade {
    /// As it should be.
    #[strum(serialize = "ok")]
    Good,
    /// It cannot be known from here.
    Unknown,
    /// It works, and could be better.
    Hint,
    /// A service did not answer.
    Unavailable,
    /// It keeps phileas from working, or from working safely.
    Error,
    /// A credential is missing, refused or too weak.
    Credential,
}

/// The group of a finding, in the order in which groups are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Group {
    Credential,
    Jules,
    Ledger,
    Plan,
    Workflow,
    Deliveries,
    Labels,
    Status,
}

/// One finding.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// A stable name for programs, `<group>.<what>`.
    pub(super) id: &'static str,
    pub(super) group: Group,
    pub(super) grade: Grade,
    /// What doctor found.
    pub(super) text: String,
    /// A command to paste, or the page to open.
    pub(super) help: Option<String>,
    /// This run has found and fixed it.
    pub(super) fixed: bool,
}

/// All findings.
#[derive(Debug)]
pub(super) struct Findings {
    all: Vec<Finding>,
    /// The group of the next finding.
    pub(super) group: Group,
}

impl Grade {
    fn code(self) -> &'static str {
        self.into()
    }

    fn sign(self) -> (&'static str, AnsiColor) {
        match self {
            Self::Good => ("✓", AnsiColor::Green),
            Self::Unknown => ("?", AnsiColor::BrightBlack),
            Self::Hint => ("!", AnsiColor::Yellow),
            Self::Unavailable | Self::Error | Self::Credential => ("✗", AnsiColor::Red),
        }
    }
}

impl Group {
    fn code(self) -> &'static str {
        self.into()
    }
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            group: Group::Credential,
        }
    }
}

impl Findings {
    /// Adds a finding.
    pub(super) fn add_finding(
        &mut self,
        grade: Grade,
        id: &'static str,
        text: impl Into<String>,
        help: Option<String>,
    ) {
        self.all.push(Finding {
            id,
            group: self.group,
            grade,
            text: text.into(),
            help,
            fixed: false,
        });
    }

    pub(super) fn add_good(&mut self, id: &'static str, text: impl Into<String>) {
        self.add_finding(Grade::Good, id, text, None);
    }

    pub(super) fn add_unknown(&mut self, id: &'static str, text: impl Into<String>) {
        self.add_finding(Grade::Unknown, id, text, None);
    }

    pub(super) fn add_hint(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add_finding(Grade::Hint, id, text, Some(help.into()));
    }

    pub(super) fn add_error(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add_finding(Grade::Error, id, text, Some(help.into()));
    }

    pub(super) fn add_credential(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add_finding(Grade::Credential, id, text, Some(help.into()));
    }

    /// Adds something that this run has fixed.
    pub(super) fn add_fixed(&mut self, id: &'static str, text: impl Into<String>) {
        self.add_good(id, text);
        if let Some(last) = self.all.last_mut() {
            last.fixed = true;
        }
    }

    /// Adds a question without an answer. Missing permission to read makes it unknown, which is not an error.
    pub(super) fn add_unread(&mut self, id: &'static str, what: &str, failure: &Failure) {
        match failure.disposition {
            Disposition::Denied | Disposition::NotFound => {
                self.add_unknown(id, format!("the credential may not read {what}"));
            }
            _ => {
                let text = format!("{what} could not be read: {}", failure.detail);
                let help = Some("run `phileas doctor` again in a while".to_owned());
                self.add_finding(Grade::Unavailable, id, text, help);
            }
        }
    }

    /// The exit code for these findings.
    pub(super) fn exit_code(&self) -> Exit {
        match self.all.iter().map(|one| one.grade).max() {
            Some(Grade::Credential) => Exit::Credential,
            Some(Grade::Error) => Exit::Findings,
            Some(Grade::Unavailable) => Exit::Unavailable,
            Some(Grade::Good | Grade::Unknown | Grade::Hint) | None => Exit::Done,
        }
    }

    /// Prints all findings, group by group.
    pub(super) fn print_findings(
        mut self,
        json: bool,
        screen: &mut Screen<impl Write>,
    ) -> Result<(), CliError> {
        self.all.sort_by_key(|one| one.group);
        if json {
            for one in &self.all {
                screen.print_line(&one.document().to_string())?;
            }
            screen.print_line(&json!({ "summary": self.summary_json() }).to_string())?;
            return Ok(());
        }
        let mut group = None;
        for one in &self.all {
            if group != Some(one.group) {
                group = Some(one.group);
                let style = style_if(screen.colour, Style::new().bold());
                screen.print_line(&format!("{style}{}{style:#}", one.group.code()))?;
            }
            let (sign, colour) = one.grade.sign();
            let style = style_if(screen.colour, Style::new().fg_color(Some(colour.into())));
            let fixed = if one.fixed { "fixed: " } else { "" };
            screen.print_wrapped(
                &format!("  {style}{sign}{style:#} {fixed}{}", one.text),
                INDENT,
            )?;
            if let Some(help) = &one.help {
                // A command must stay on one line.
                screen.print_line(&format!("      {help}"))?;
            }
        }
        let count = |grades: &[Grade]| {
            let all = self.all.iter();
            all.filter(|one| grades.contains(&one.grade)).count()
        };
        screen.print_line(&format!(
            "{}, {}, {} not known",
            pluralize(
                count(&[Grade::Error, Grade::Credential, Grade::Unavailable]),
                "error"
            ),
            pluralize(count(&[Grade::Hint]), "hint"),
            count(&[Grade::Unknown]),
        ))?;
        Ok(())
    }

    fn summary_json(&self) -> Value {
        let of = |grade: Grade| self.all.iter().filter(|one| one.grade == grade).count();
        let grades = [
            Grade::Good,
            Grade::Unknown,
            Grade::Hint,
            Grade::Unavailable,
            Grade::Error,
            Grade::Credential,
        ];
        let mut summary: serde_json::Map<String, Value> = grades
            .into_iter()
            .map(|grade| (grade.code().to_owned(), of(grade).into()))
            .collect();
        let fixed = self.all.iter().filter(|one| one.fixed).count();
        summary.insert("fixed".to_owned(), fixed.into());
        Value::Object(summary)
    }
}

impl Finding {
    fn document(&self) -> Value {
        json!({
            "id": self.id,
            "group": self.group.code(),
            "grade": self.grade.code(),
            "text": self.text,
            "help": self.help,
            "fixed": self.fixed,
        })
    }
}

fn style_if(colour: bool, style: Style) -> Style {
    if colour { style } else { Style::new() }
}
