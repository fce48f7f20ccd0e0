//! The sandbox before a newcomer's eyes: days go by in minutes, and each line says what just happened.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Reason, Verdict};
use phileas_domain::model::TrackName;
use phileas_world::books::Books;

use super::arguments::Sandbox;
use super::exit::{Exit, Stopped};
use super::output::Screen;
use super::words::several;
use crate::runtime::TickReport;
use crate::sandbox::{Days, Scene, Shared, Step, scene};

/// Minutes of the sandbox in a second, unless it is said otherwise.
const SPEED: f64 = 20.0;
/// Where a line goes on that is wider than the terminal, in columns.
const INDENT: usize = 11;
/// Nobody watches a standstill for longer than this.
const LONGEST_PAUSE: Duration = Duration::from_millis(1_200);

pub(super) async fn run(
    arguments: &Sandbox,
    mut scene: Scene,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if arguments.faults.is_none() && !arguments.chaos {
        // A webhook gets lost now and then, so that one sees that nothing hangs on it.
        scene.knobs.webhook_lost = 0.1;
    }
    let world = scene.build().map_err(Stopped::usage)?.0;
    let shared = Shared::new(world);
    let repository = scene::repository();
    let paced = screen.watched;
    screen.line(&format!(
        "A sandbox of {repository}: a model of GitHub, a model of Jules, a maintainer, and phileas between them.\n\
         No key, no network.{}\n",
        if paced {
            format!(" One second here is {} minutes there; Ctrl-C ends it.", speed(arguments))
        } else {
            String::new()
        }
    ))?;
    let mut days = Days::new(shared.clone(), repository, arguments.until, arguments.seed);
    let mut teller = Teller {
        colour: screen.colour,
        written: 0,
        day: String::new(),
        waits: BTreeMap::new(),
    };
    let mut before = shared.now();
    // One future for all waits, so that no Ctrl-C between two of them goes unheard.
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    loop {
        let step = days.step().await;
        let now = shared.now();
        if paced {
            let wait = tokio::time::sleep(pause(now.duration_since(before), speed(arguments)));
            tokio::select! {
                () = wait => {}
                interrupted = &mut interrupted => {
                    interrupted?;
                    screen.line("")?;
                    break;
                }
            }
        }
        before = now;
        let books = shared.world().books().clone();
        teller.world(screen, &books)?;
        match step {
            Step::Moved => {}
            Step::Ticked(ticked) => match ticked.result {
                Ok(report) => teller.tick(screen, &report)?,
                Err(error) => teller.say(
                    screen,
                    ticked.at,
                    "✘",
                    AnsiColor::Red,
                    &format!("the tick failed: {error}"),
                )?,
            },
            Step::Over => break,
        }
        screen.flush()?;
    }
    teller.end(screen, &shared)?;
    if let Some(dir) = &arguments.export {
        shared
            .world()
            .export(dir)
            .map_err(|error| Stopped::usage(format!("--export {}: {error}", dir.display())))?;
        screen.line(&format!(
            "Everything is in {}: git/, branches/, world.json.",
            dir.display()
        ))?;
    } else {
        screen.line("With --export DIR you get the repository with its ledger branch, and the models' own books.")?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Minutes there in a second here.
fn speed(arguments: &Sandbox) -> f64 {
    arguments.speed.unwrap_or(SPEED)
}

/// How long a stretch of the sandbox takes here.
fn pause(stretch: SignedDuration, minutes_a_second: f64) -> Duration {
    let secs = stretch.as_secs_f64() / 60.0 / minutes_a_second;
    Duration::try_from_secs_f64(secs)
        .unwrap_or(LONGEST_PAUSE)
        .min(LONGEST_PAUSE)
}

/// Tells what happens, line by line.
struct Teller {
    colour: bool,
    /// How many of GitHub's books were told.
    written: usize,
    day: String,
    /// Why each track waits, as it was told last.
    waits: BTreeMap<Option<TrackName>, Reason>,
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

impl Teller {
    fn say(
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
    fn world(&mut self, screen: &mut Screen<impl Write>, books: &Books) -> Result<(), Stopped> {
        let news: Vec<_> = books
            .github_writes
            .iter()
            .skip(self.written)
            .cloned()
            .collect();
        self.written = books.github_writes.len();
        for write in news {
            let number = write.detail["number"].as_u64().unwrap_or_default();
            let title = write.detail["title"].as_str().unwrap_or_default();
            let (sign, text) = match write.what.as_str() {
                "pull.opened" => ("◇", format!("Jules opens pull request #{number}: {title}")),
                "pull.merged" => ("◆", format!("{} merges #{number}", write.actor)),
                "pull.closed" => (
                    "◈",
                    format!("{} closes #{number} without a merge", write.actor),
                ),
                "pull.reviewed" => ("◇", format!("{} reviews #{number}", write.actor)),
                _ => continue,
            };
            self.say(screen, write.at, sign, AnsiColor::Magenta, &text)?;
        }
        Ok(())
    }

    /// What phileas did.
    fn tick(
        &mut self,
        screen: &mut Screen<impl Write>,
        report: &TickReport,
    ) -> Result<(), Stopped> {
        for (at, line) in &report.done {
            let who = line
                .persona
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let turn = format!(
                "{}#{}",
                line.track
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                line.seq.unwrap_or_default()
            );
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
                    format!("phileas settles {turn} {who}: {}", line.detail),
                ),
                Verdict::Adopted => (
                    "↺",
                    AnsiColor::Cyan,
                    format!("phileas adopts {turn} {who}: {}", line.detail),
                ),
                _ => ("·", AnsiColor::White, line.detail.clone()),
            };
            self.waits.remove(&line.track);
            self.say(screen, *at, sign, colour, &text)?;
        }
        for (at, line) in report
            .waiting
            .iter()
            .filter(|(_, line)| is_worth_telling(line.reason))
        {
            if self.waits.insert(line.track.clone(), line.reason) != Some(line.reason) {
                let track = line.track.as_ref().map_or("everything", TrackName::as_str);
                let text = format!("phileas waits with {track}: {}", line.detail);
                self.say(screen, *at, "…", AnsiColor::Yellow, &text)?;
            }
        }
        Ok(())
    }

    /// What it came to.
    fn end(&mut self, screen: &mut Screen<impl Write>, shared: &Shared) -> Result<(), Stopped> {
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
        screen.line(&format!(
            "\n{}, {}, {merged} merged; {lost} of {} lost, and nothing with them.",
            several(books.sessions.len(), "session"),
            several(pulls, "pull request"),
            several(books.deliveries.len(), "webhook"),
        ))?;
        Ok(())
    }
}
