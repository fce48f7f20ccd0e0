//! The transcript of a sandbox, line by line: what Jules and people did, what phileas did, and what it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use phileas_domain::engine::{Line, Reason, Verdict};
use phileas_domain::model::{RepositoryName, SessionId, TrackName};
use phileas_world::books::Books;

use crate::cli::exit::CliError;
use crate::cli::terminal::decision_line::verdict_style;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::runtime::TickReport;
use crate::sandbox::{SharedWorld, world_setup};

/// The column at which the further rows of a long line begin.
const INDENT: usize = 21;

/// The sign and the word of a mistake.
const ERROR: (&str, &str) = ("✗", "error");

/// Prints what happens, line by line.
pub(crate) struct Transcript {
    colour: bool,
    /// Whether requests of people and the answers are printed.
    by_hand: bool,
    /// Whether each reason for skipping something is printed.
    thorough: bool,
    /// How many records of GitHub were printed.
    written: usize,
    /// What the prompts of sessions say about earlier work, by the sessions' ids.
    handover_notes: BTreeMap<String, &'static str>,
    day: String,
    /// The printed lines of comments, by issue or pull request.
    comments: BTreeMap<String, BTreeSet<String>>,
    /// The printed reasons why each track waits, since its last action: two reasons may alternate.
    waits: BTreeMap<(String, Option<TrackName>), BTreeSet<Reason>>,
    /// What was printed about each track since its last action.
    printed: BTreeMap<Option<TrackName>, BTreeSet<String>>,
    /// The printed mistakes of the plan.
    mistakes: BTreeSet<String>,
}

/// The sample repository needs no prefix; the others have one.
fn repository_prefix(repository: &str) -> String {
    let name = repository.rsplit('/').next().unwrap_or(repository);
    if name == world_setup::NAME {
        String::new()
    } else {
        format!("{name} ")
    }
}

fn error_style() -> Style {
    Style::new().fg_color(Some(AnsiColor::Red.into()))
}

/// Whether a wait is news. A session at work is not.
fn is_news(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::SessionRunning
            | Reason::NotDue
            | Reason::PrOpen
            | Reason::NextCommit
            | Reason::OtherHolder
    )
}

/// The lines of a comment without markers and without the heading of the status comment.
fn comment_lines(body: &str) -> impl Iterator<Item = &str> {
    let lines = body.lines().map(str::trim);
    // Headings, such as "Before:", say nothing alone.
    let lines = lines
        .filter(|line| !line.is_empty() && !line.starts_with(['<', '*']) && !line.ends_with(':'));
    lines.map(|line| line.strip_prefix("- ").unwrap_or(line))
}

/// The persona of a line; the slot, if a persona has many, each for a work item or a workstream.
fn actor_text(line: &Line) -> String {
    let persona = line.persona.as_ref().map(ToString::to_string);
    let slot = line.slot.as_ref().map(ToString::to_string);
    match (persona, slot) {
        (Some(persona), Some(slot)) if slot.starts_with(&format!("{persona}/")) => slot,
        (persona, _) => persona.unwrap_or_default(),
    }
}

/// What a prompt says about earlier work; `None`: nothing.
fn handover_note(prompt: &str) -> Option<&'static str> {
    let returned = ["\nreturned_because:", "\n### returned because\n"];
    let is_implementer = prompt.contains(" slot=implementer/");
    if is_implementer && returned.iter().any(|one| prompt.contains(one)) {
        Some("why the work came back")
    } else if prompt.contains("# What phileas found wrong with your last session's work") {
        Some("what was wrong with the last session's work")
    } else {
        None
    }
}

/// Splits a line into the sentence and its findings. A finding begins with its file and its severity.
fn split_findings(text: &str) -> Vec<&str> {
    let begins = |part: &str| {
        let mut words = part.split(' ');
        let file = words.next().unwrap_or_default();
        file.ends_with(':') && matches!(words.next(), Some("error:" | "warning:"))
    };
    let mut pieces = Vec::new();
    let mut from = 0;
    for separator in [": ", "; "] {
        let ends = text.match_indices(separator).map(|(at, _)| at);
        pieces.extend(ends.filter(|at| begins(&text[at + separator.len()..])));
    }
    pieces.sort_unstable();
    let mut cut = Vec::new();
    for at in pieces {
        cut.push(&text[from..at]);
        from = at + 2;
    }
    cut.push(&text[from..]);
    cut
}

impl Transcript {
    pub(crate) fn new(colour: bool) -> Self {
        Self {
            colour,
            by_hand: false,
            thorough: false,
            written: 0,
            handover_notes: BTreeMap::new(),
            day: String::new(),
            comments: BTreeMap::new(),
            waits: BTreeMap::new(),
            printed: BTreeMap::new(),
            mistakes: BTreeSet::new(),
        }
    }

    /// Prints everything, and why each layer of a track is skipped.
    pub(crate) fn for_scenario(colour: bool) -> Self {
        Self {
            thorough: true,
            ..Self::for_person(colour)
        }
    }

    /// Also prints issues, labels and comments, for a person who makes them.
    pub(crate) fn for_person(colour: bool) -> Self {
        Self {
            by_hand: true,
            ..Self::new(colour)
        }
    }

    /// Prints a line: a sign and a word, and what happened.
    pub(crate) fn write_line(
        &mut self,
        screen: &mut Screen<impl Write>,
        at: Timestamp,
        (sign, word): (&str, &str),
        style: Style,
        text: &str,
    ) -> Result<(), CliError> {
        let day = at.strftime("%A %Y-%m-%d").to_string();
        if day != self.day {
            screen.print_line(&day)?;
            self.day = day;
        }
        let style = if self.colour { style } else { Style::new() };
        let clock = at.strftime("%H:%M");
        let line = format!("  {clock}  {style}{sign} {word:<9}{style:#} {text}");
        screen.print_wrapped(&line, INDENT)?;
        Ok(())
    }

    /// Prints what people and Jules did on GitHub.
    pub(crate) fn write_github(
        &mut self,
        screen: &mut Screen<impl Write>,
        at: Timestamp,
        text: &str,
    ) -> Result<(), CliError> {
        let style = Style::new().fg_color(Some(AnsiColor::Magenta.into()));
        self.write_line(screen, at, ("◇", "GitHub"), style, text)
    }

    /// Prints that a tick failed.
    pub(crate) fn write_failed_tick(
        &mut self,
        screen: &mut Screen<impl Write>,
        at: Timestamp,
        error: &impl fmt::Display,
    ) -> Result<(), CliError> {
        self.write_line(
            screen,
            at,
            ERROR,
            error_style(),
            &format!("the tick failed: {error}"),
        )
    }

    fn write_verdict(
        &mut self,
        screen: &mut Screen<impl Write>,
        at: Timestamp,
        verdict: Verdict,
        text: &str,
    ) -> Result<(), CliError> {
        let sign = (verdict.sign(), verdict.label());
        self.write_line(screen, at, sign, verdict_style(verdict), text)
    }

    /// Prints what Jules and the maintainer did on GitHub since the last call.
    pub(crate) fn write_world(
        &mut self,
        screen: &mut Screen<impl Write>,
        books: &Books,
    ) -> Result<(), CliError> {
        let news: Vec<_> = books
            .github_writes
            .iter()
            .skip(self.written)
            .cloned()
            .collect();
        self.written = books.github_writes.len();
        for session in books.sessions.iter().filter(|_| self.thorough) {
            if let Some(said) = handover_note(&session.prompt) {
                self.handover_notes.insert(session.id.clone(), said);
            }
        }
        for write in news {
            let number = write.detail["number"].as_u64().unwrap_or_default();
            let title = write.detail["title"].as_str().unwrap_or_default();
            let pull = format!("{}#{number}", repository_prefix(&write.repository));
            let text = match write.what.as_str() {
                "pull.opened" => format!("Jules opens pull request {pull}: {title}"),
                "pull.merged" => format!("{} merges {pull}", write.actor),
                "pull.closed" => format!("{} closes {pull} without a merge", write.actor),
                "pull.reviewed" => format!("{} reviews {pull}", write.actor),
                "issue.opened" if self.by_hand => {
                    format!("{} opens issue {pull}: {title}", write.actor)
                }
                "label.added" if self.by_hand => {
                    let label = write.detail["label"].as_str().unwrap_or_default();
                    format!("{} puts `{label}` on {pull}", write.actor)
                }
                "comment.created" | "comment.edited" if self.by_hand => {
                    let body = write.detail["body"].as_str().unwrap_or_default();
                    // The status comment is edited line by line; unchanged lines are not news.
                    let known = self.comments.entry(pull.clone()).or_default();
                    let Some(line) = comment_lines(body).find(|line| !known.contains(*line)) else {
                        continue;
                    };
                    known.extend(comment_lines(body).map(str::to_owned));
                    format!("{} writes on {pull}: {line}", write.actor)
                }
                _ => continue,
            };
            self.write_github(screen, write.at, &text)?;
        }
        Ok(())
    }

    /// Prints what phileas did.
    pub(crate) fn write_tick(
        &mut self,
        screen: &mut Screen<impl Write>,
        repository: &RepositoryName,
        report: &TickReport,
    ) -> Result<(), CliError> {
        if self.thorough {
            for one in &report.plan_diagnostics {
                if self.mistakes.insert(one.to_string()) {
                    self.write_line(screen, report.now, ERROR, error_style(), &one.to_string())?;
                }
            }
        }
        for (at, line) in &report.done {
            let who = actor_text(line);
            let whose = repository_prefix(&repository.name);
            let turn = match (&line.track, line.seq) {
                (Some(track), Some(seq)) => format!("{whose}{track}#{seq}"),
                (Some(track), None) => format!("{whose}{track}"),
                (None, _) => whose,
            };
            let about = match (who.as_str(), turn.as_str()) {
                ("", turn) => turn.to_owned(),
                (who, "") => who.to_owned(),
                (who, turn) => format!("{who} ({turn})"),
            };
            let text = match line.verdict {
                Verdict::Dispatched => about,
                _ if about.is_empty() => line.detail.clone(),
                _ => format!("{about} → {}", line.detail),
            };
            self.waits
                .remove(&(repository.to_string(), line.track.clone()));
            self.printed.remove(&line.track);
            let mut findings = split_findings(&text).into_iter();
            let first = findings.next().unwrap_or_default();
            self.write_verdict(screen, *at, line.verdict, first)?;
            let session = line.session_id.as_ref().map(SessionId::as_str);
            let said = session.and_then(|id| self.handover_notes.get(id).copied());
            if let Some(said) = said.filter(|_| line.verdict == Verdict::Dispatched) {
                let text = format!("its prompt says {said}");
                self.write_line(screen, *at, ("·", "note"), Style::new(), &text)?;
            }
            // Findings in other people's work are printed one by one.
            for one in findings {
                self.write_line(screen, *at, ERROR, error_style(), one)?;
            }
        }
        for (at, line) in report
            .waiting
            .iter()
            .filter(|(_, line)| is_news(line.reason))
        {
            let is_news = if self.thorough {
                let told = self.printed.entry(line.track.clone()).or_default();
                told.insert(line.detail.clone())
            } else {
                let about = (repository.to_string(), line.track.clone());
                self.waits.entry(about).or_default().insert(line.reason)
            };
            if is_news {
                let track = line.track.as_ref().map_or("everything", TrackName::as_str);
                let whose = repository_prefix(&repository.name);
                let text = format!("{whose}{track}: {}", line.detail);
                self.write_verdict(screen, *at, line.verdict, &text)?;
            }
        }
        Ok(())
    }

    /// Prints the result.
    pub(crate) fn write_result(
        &mut self,
        screen: &mut Screen<impl Write>,
        shared: &SharedWorld,
    ) -> Result<(), CliError> {
        let world = shared.lock_world();
        let books = world.complete_books();
        let merged = books
            .github_writes
            .iter()
            .filter(|write| write.what == "pull.merged")
            .count();
        let pulls = books
            .github_writes
            .iter()
            .filter(|write| write.what == "pull.opened")
            .count();
        let lost = books
            .deliveries
            .iter()
            .filter(|delivery| delivery.state == "lost")
            .count();
        screen.print_line("")?;
        screen.print_line(&format!(
            "{}, {}, {merged} merged; {lost} of {} lost; phileas missed no work.",
            pluralize(books.sessions.len(), "session"),
            pluralize(pulls, "pull request"),
            pluralize(books.deliveries.len(), "webhook"),
        ))?;
        Ok(())
    }
}
