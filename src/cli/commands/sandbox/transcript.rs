//! A sandbox told line by line: what Jules and people did, what phileas did, and what it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use phileas_domain::engine::{Line, Reason, Verdict};
use phileas_domain::model::{RepositoryName, SessionId, TrackName};
use phileas_world::books::Books;

use crate::cli::exit::Stopped;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::runtime::TickReport;
use crate::sandbox::{Shared, scene};

/// Where a line goes on that is wider than the terminal, in columns.
const INDENT: usize = 11;

/// Tells what happens, line by line.
pub(crate) struct Teller {
    colour: bool,
    /// Whether what people ask for and what they are told is told as well.
    by_hand: bool,
    /// Whether each reason for which something is left out is told.
    thorough: bool,
    /// How many of GitHub's books were told.
    written: usize,
    /// What the prompts of sessions say of the work before them, by the sessions' ids.
    told_to: BTreeMap<String, &'static str>,
    day: String,
    /// The lines of comments that were told, by what they stand on.
    comments: BTreeMap<String, BTreeSet<String>>,
    /// Why each track waits, as it was told since something was done in it: two reasons may take turns at each look.
    waits: BTreeMap<(String, Option<TrackName>), BTreeSet<Reason>>,
    /// What was told of each track since something was done in it.
    told: BTreeMap<Option<TrackName>, BTreeSet<String>>,
    /// What is wrong with the plan, as it was told.
    mistakes: BTreeSet<String>,
}

/// The newcomer's own repository needs no name; the others stand beside it.
fn prefix(repository: &str) -> String {
    let name = repository.rsplit('/').next().unwrap_or(repository);
    if name == scene::NAME {
        String::new()
    } else {
        format!("{name} ")
    }
}

/// Whether a wait is news. That a session is at work is not.
fn is_worth_telling(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::SessionRunning
            | Reason::NotDue
            | Reason::PrOpen
            | Reason::NextCommit
            | Reason::OtherHolder
    )
}

/// The lines of a comment that say something: no markers, and not the heading of the status comment.
fn lines(body: &str) -> impl Iterator<Item = &str> {
    let lines = body.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['<', '*']));
    lines.map(|line| line.strip_prefix("- ").unwrap_or(line))
}

/// Whose a line is: the persona, or the slot where one persona has many, each for a work item or a stream of its own.
fn who(line: &Line) -> String {
    let persona = line.persona.as_ref().map(ToString::to_string);
    let slot = line.slot.as_ref().map(ToString::to_string);
    match (persona, slot) {
        (Some(persona), Some(slot)) if slot.starts_with(&format!("{persona}/")) => slot,
        (persona, _) => persona.unwrap_or_default(),
    }
}

/// What a prompt says of the work before it; `None`: nothing.
fn told_to(prompt: &str) -> Option<&'static str> {
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

/// A line in pieces: what is said, and each finding that follows, which begins with its file and how bad it is.
fn findings(text: &str) -> Vec<&str> {
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

impl Teller {
    pub(crate) fn new(colour: bool) -> Self {
        Self {
            colour,
            by_hand: false,
            thorough: false,
            written: 0,
            told_to: BTreeMap::new(),
            day: String::new(),
            comments: BTreeMap::new(),
            waits: BTreeMap::new(),
            told: BTreeMap::new(),
            mistakes: BTreeSet::new(),
        }
    }

    /// Tells everything, and why each layer of a track is passed over, for a transcript.
    pub(crate) fn of_a_scenario(colour: bool) -> Self {
        Self {
            thorough: true,
            ..Self::of_a_person(colour)
        }
    }

    /// Tells issues, labels and comments too, for somebody who makes them.
    pub(crate) fn of_a_person(colour: bool) -> Self {
        Self {
            by_hand: true,
            ..Self::new(colour)
        }
    }

    pub(crate) fn say(
        &mut self,
        screen: &mut Screen<impl Write>,
        at: Timestamp,
        sign: &str,
        colour: AnsiColor,
        text: &str,
    ) -> Result<(), Stopped> {
        let day = at.strftime("%A %Y-%m-%d").to_string();
        if day != self.day {
            screen.line(&day)?;
            self.day = day;
        }
        let style = if self.colour {
            Style::new().fg_color(Some(colour.into()))
        } else {
            Style::new()
        };
        let line = format!("  {}  {style}{sign}{style:#} {text}", at.strftime("%H:%M"));
        screen.wrapped(&line, INDENT)?;
        Ok(())
    }

    /// What Jules and the maintainer did on GitHub since last time.
    pub(crate) fn world(
        &mut self,
        screen: &mut Screen<impl Write>,
        books: &Books,
    ) -> Result<(), Stopped> {
        let news: Vec<_> = books
            .github_writes
            .iter()
            .skip(self.written)
            .cloned()
            .collect();
        self.written = books.github_writes.len();
        for session in books.sessions.iter().filter(|_| self.thorough) {
            if let Some(said) = told_to(&session.prompt) {
                self.told_to.insert(session.id.clone(), said);
            }
        }
        for write in news {
            let number = write.detail["number"].as_u64().unwrap_or_default();
            let title = write.detail["title"].as_str().unwrap_or_default();
            let pull = format!("{}#{number}", prefix(&write.repository));
            let (sign, text) = match write.what.as_str() {
                "pull.opened" => ("◇", format!("Jules opens pull request {pull}: {title}")),
                "pull.merged" => ("◆", format!("{} merges {pull}", write.actor)),
                "pull.closed" => (
                    "◈",
                    format!("{} closes {pull} without a merge", write.actor),
                ),
                "pull.reviewed" => ("◇", format!("{} reviews {pull}", write.actor)),
                "issue.opened" if self.by_hand => {
                    ("◇", format!("{} opens issue {pull}: {title}", write.actor))
                }
                "label.added" if self.by_hand => {
                    let label = write.detail["label"].as_str().unwrap_or_default();
                    ("◇", format!("{} puts `{label}` on {pull}", write.actor))
                }
                "comment.created" | "comment.edited" if self.by_hand => {
                    let body = write.detail["body"].as_str().unwrap_or_default();
                    // The status comment is edited line by line; what stood there before is no news.
                    let known = self.comments.entry(pull.clone()).or_default();
                    let Some(line) = lines(body).find(|line| !known.contains(*line)) else {
                        continue;
                    };
                    known.extend(lines(body).map(str::to_owned));
                    ("◇", format!("{} writes on {pull}: {line}", write.actor))
                }
                _ => continue,
            };
            self.say(screen, write.at, sign, AnsiColor::Magenta, &text)?;
        }
        Ok(())
    }

    /// What phileas did.
    pub(crate) fn tick(
        &mut self,
        screen: &mut Screen<impl Write>,
        repository: &RepositoryName,
        report: &TickReport,
    ) -> Result<(), Stopped> {
        if self.thorough {
            for one in &report.plan_diagnostics {
                if self.mistakes.insert(one.to_string()) {
                    let text = format!("phileas finds {one}");
                    self.say(screen, report.now, "✘", AnsiColor::Red, &text)?;
                }
            }
        }
        for (at, line) in &report.done {
            let who = who(line);
            let whose = prefix(&repository.name);
            let turn = match (&line.track, line.seq) {
                (Some(track), Some(seq)) => format!("{whose}{track}#{seq}"),
                (Some(track), None) => format!("{whose}{track}"),
                (None, _) => whose,
            };
            let (sign, colour, text) = match line.verdict {
                Verdict::Dispatched => (
                    "▶",
                    AnsiColor::Green,
                    format!(
                        "phileas starts {who} ({turn}): the intent is in git, then Jules is called"
                    ),
                ),
                Verdict::Advanced => (
                    "✔",
                    AnsiColor::Green,
                    format!(
                        "phileas writes into the ledger: {turn} {who}, {}",
                        line.detail
                    ),
                ),
                Verdict::Settled => (
                    "●",
                    AnsiColor::Blue,
                    match format!("{turn} {who}").trim() {
                        "" => format!("phileas settles: {}", line.detail),
                        about => format!("phileas settles {about}: {}", line.detail),
                    },
                ),
                Verdict::Adopted => (
                    "↺",
                    AnsiColor::Cyan,
                    format!("phileas adopts {turn} {who}: {}", line.detail),
                ),
                _ => ("·", AnsiColor::White, line.detail.clone()),
            };
            self.waits
                .remove(&(repository.to_string(), line.track.clone()));
            self.told.remove(&line.track);
            let mut findings = findings(&text).into_iter();
            let first = findings.next().unwrap_or_default();
            self.say(screen, *at, sign, colour, first)?;
            let session = line.session_id.as_ref().map(SessionId::as_str);
            let said = session.and_then(|id| self.told_to.get(id).copied());
            if let Some(said) = said.filter(|_| line.verdict == Verdict::Dispatched) {
                let text = format!("its prompt says {said}");
                self.say(screen, *at, "·", AnsiColor::White, &text)?;
            }
            // What is wrong with somebody's work is read one by one.
            for one in findings {
                self.say(screen, *at, "✘", AnsiColor::Red, one)?;
            }
        }
        for (at, line) in report
            .waiting
            .iter()
            .filter(|(_, line)| is_worth_telling(line.reason))
        {
            let is_news = if self.thorough {
                let told = self.told.entry(line.track.clone()).or_default();
                told.insert(line.detail.clone())
            } else {
                let about = (repository.to_string(), line.track.clone());
                self.waits.entry(about).or_default().insert(line.reason)
            };
            if is_news {
                let track = line.track.as_ref().map_or("everything", TrackName::as_str);
                let whose = prefix(&repository.name);
                let text = format!("phileas waits with {whose}{track}: {}", line.detail);
                self.say(screen, *at, "…", AnsiColor::Yellow, &text)?;
            }
        }
        Ok(())
    }

    /// What it came to.
    pub(crate) fn end(
        &mut self,
        screen: &mut Screen<impl Write>,
        shared: &Shared,
    ) -> Result<(), Stopped> {
        let world = shared.world();
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
            .filter(|delivery| delivery.fate == "lost")
            .count();
        screen.line("")?;
        screen.line(&format!(
            "{}, {}, {merged} merged; {lost} of {} lost, and nothing with them.",
            several(books.sessions.len(), "session"),
            several(pulls, "pull request"),
            several(books.deliveries.len(), "webhook"),
        ))?;
        Ok(())
    }
}
