//! What was found, how grave it is, how to mend it; and how that is said.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::runtime::ports::{Disposition, Failure};

/// Where a line goes on that is wider than the terminal, in columns.
const INDENT: usize = 4;

/// How grave a finding is, the least grave first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    /// As it should be.
    Good,
    /// Nobody can know from here.
    Unknown,
    /// It works, and could be better.
    Hint,
    /// Somebody did not answer.
    Unavailable,
    /// It keeps phileas from working, or from working safely.
    Error,
    /// A credential is missing, refused or too weak.
    Credential,
}

/// What a finding belongs to, in the order in which they are said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Credential,
    Jules,
    Ledger,
    Plan,
    Workflow,
    Deliveries,
    Labels,
    Standing,
}

/// What was found.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// A stable name for programs, `<group>.<what>`.
    pub(super) id: &'static str,
    pub(super) group: Group,
    pub(super) grade: Grade,
    /// What is so.
    pub(super) text: String,
    /// A command to paste, or the page to open.
    pub(super) mend: Option<String>,
    /// It was found amiss, and mended by this very run.
    pub(super) fixed: bool,
}

/// All that was found.
#[derive(Debug)]
pub(super) struct Findings {
    all: Vec<Finding>,
    /// What the next finding belongs to.
    pub(super) group: Group,
}

impl Grade {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Unknown => "unknown",
            Self::Hint => "hint",
            Self::Unavailable => "unavailable",
            Self::Error => "error",
            Self::Credential => "credential",
        }
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
    fn word(self) -> &'static str {
        match self {
            Self::Credential => "credential",
            Self::Jules => "jules",
            Self::Ledger => "ledger",
            Self::Plan => "plan",
            Self::Workflow => "workflow",
            Self::Deliveries => "deliveries",
            Self::Labels => "labels",
            Self::Standing => "standing",
        }
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
    /// Notes something.
    pub(super) fn add(
        &mut self,
        grade: Grade,
        id: &'static str,
        text: impl Into<String>,
        mend: Option<String>,
    ) {
        self.all.push(Finding {
            id,
            group: self.group,
            grade,
            text: text.into(),
            mend,
            fixed: false,
        });
    }

    pub(super) fn good(&mut self, id: &'static str, text: impl Into<String>) {
        self.add(Grade::Good, id, text, None);
    }

    pub(super) fn unknown(&mut self, id: &'static str, text: impl Into<String>) {
        self.add(Grade::Unknown, id, text, None);
    }

    pub(super) fn hint(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.add(Grade::Hint, id, text, Some(mend.into()));
    }

    pub(super) fn error(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.add(Grade::Error, id, text, Some(mend.into()));
    }

    pub(super) fn credential(
        &mut self,
        id: &'static str,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.add(Grade::Credential, id, text, Some(mend.into()));
    }

    /// Something was amiss and is mended.
    pub(super) fn fixed(&mut self, id: &'static str, text: impl Into<String>) {
        self.good(id, text);
        if let Some(last) = self.all.last_mut() {
            last.fixed = true;
        }
    }

    /// A question without an answer. What may not be read is unknown, which is no fault by itself.
    pub(super) fn unread(&mut self, id: &'static str, what: &str, failure: &Failure) {
        match failure.disposition {
            Disposition::Denied | Disposition::NotFound => {
                self.unknown(id, format!("the credential may not read {what}"));
            }
            _ => {
                let text = format!("{what} could not be read: {}", failure.detail);
                let mend = Some("run `phileas doctor` again in a while".to_owned());
                self.add(Grade::Unavailable, id, text, mend);
            }
        }
    }

    /// The exit code of a run that found this.
    pub(super) fn exit(&self) -> Exit {
        match self.all.iter().map(|one| one.grade).max() {
            Some(Grade::Credential) => Exit::Credential,
            Some(Grade::Error) => Exit::Findings,
            Some(Grade::Unavailable) => Exit::Unavailable,
            Some(Grade::Good | Grade::Unknown | Grade::Hint) | None => Exit::Done,
        }
    }

    /// Says all of it, group by group.
    pub(super) fn print(
        mut self,
        json: bool,
        screen: &mut Screen<impl Write>,
    ) -> Result<(), Stopped> {
        self.all.sort_by_key(|one| one.group);
        if json {
            for one in &self.all {
                screen.line(&one.document().to_string())?;
            }
            screen.line(&json!({ "summary": self.summary() }).to_string())?;
            return Ok(());
        }
        let mut group = None;
        for one in &self.all {
            if group != Some(one.group) {
                group = Some(one.group);
                let style = style(screen.colour, Style::new().bold());
                screen.line(&format!("{style}{}{style:#}", one.group.word()))?;
            }
            let (sign, colour) = one.grade.sign();
            let style = style(screen.colour, Style::new().fg_color(Some(colour.into())));
            let fixed = if one.fixed { "mended: " } else { "" };
            screen.wrapped(
                &format!("  {style}{sign}{style:#} {fixed}{}", one.text),
                INDENT,
            )?;
            if let Some(mend) = &one.mend {
                // A command must stay in one piece.
                screen.line(&format!("      {mend}"))?;
            }
        }
        let count = |grades: &[Grade]| {
            let all = self.all.iter();
            all.filter(|one| grades.contains(&one.grade)).count()
        };
        screen.line(&format!(
            "{}, {}, {} not known",
            several(
                count(&[Grade::Error, Grade::Credential, Grade::Unavailable]),
                "error"
            ),
            several(count(&[Grade::Hint]), "hint"),
            count(&[Grade::Unknown]),
        ))?;
        Ok(())
    }

    fn summary(&self) -> Value {
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
            .map(|grade| (grade.word().to_owned(), of(grade).into()))
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
            "group": self.group.word(),
            "grade": self.grade.word(),
            "text": self.text,
            "mend": self.mend,
            "fixed": self.fixed,
        })
    }
}

fn style(colour: bool, style: Style) -> Style {
    if colour { style } else { Style::new() }
}
