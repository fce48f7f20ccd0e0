//! The status as people read it.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use jiff::SignedDuration;
use phileas_domain::engine::{Line, Reason, Yield};
use phileas_domain::model::RepositoryName;

use super::model::Status;
use crate::cli::exit::Stopped;
use crate::cli::terminal::decision_line::{Tense, short, words};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::plain;
use crate::cli::terminal::table::Table;

/// Where a line goes on that is wider than the terminal, in columns.
const INDENT: usize = 2;
/// How much of a reason stands in the table, in characters.
const DETAIL_CHARS: usize = 90;

pub(super) fn print(
    repository: &RepositoryName,
    status: &Status,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let report = &status.report;
    let next = report.wake_at.map_or_else(
        || "nothing is due".to_owned(),
        |at| format!("next look {} UTC", short(at)),
    );
    screen.line(&format!(
        "{repository} at {} UTC; {next}",
        short(report.now)
    ))?;
    for one in &report.plan_diagnostics {
        screen.wrapped(&one.to_string(), INDENT)?;
    }
    heading("tracks", screen)?;
    let header = [
        "track",
        "persona",
        "session",
        "pull",
        "what happens, or why not",
        "until (UTC)",
    ];
    let mut table = Table::new(header).within(screen.width);
    for (_, line) in report.all() {
        let paused = line
            .track
            .as_ref()
            .and_then(|track| status.paused.get(track));
        table.row(row(line, paused));
    }
    screen.lines(&table.text())?;

    heading("budget", screen)?;
    for line in budget(status) {
        screen.wrapped(&line, INDENT)?;
    }

    match status.entries {
        None => {
            heading("yield", screen)?;
            screen.line("unknown: the ledger cannot be read")?;
        }
        Some(entries) => {
            let entries = match entries {
                1 => "1 entry".to_owned(),
                several => format!("{several} entries"),
            };
            heading(&format!("yield of the last {entries}"), screen)?;
            if status.yields.is_empty() {
                screen.line("nobody has run yet")?;
            } else {
                screen.lines(&yields(status, screen.width))?;
            }
        }
    }

    if !status.notices.is_empty() {
        heading("open notices", screen)?;
        for notice in &status.notices {
            screen.line(&format!(
                "#{} {}",
                notice.number,
                plain(&notice.title, DETAIL_CHARS)
            ))?;
        }
    }
    Ok(())
}

fn heading(text: &str, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
    let style = if screen.colour {
        Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()))
    } else {
        Style::new()
    };
    screen.line("")?;
    screen.line(&format!("{style}{text}{style:#}"))?;
    Ok(())
}

fn row(line: &Line, paused: Option<&String>) -> [String; 6] {
    let mut who = line
        .track
        .as_ref()
        .map_or_else(|| "repository".to_owned(), ToString::to_string);
    if let Some(seq) = line.seq {
        who.push_str(&format!("#{seq}"));
    }
    let text = |id: Option<String>| id.unwrap_or_default();
    // What a tick would do reads like a wait without a word before it.
    let would = match words(line.verdict, Tense::Forecast) {
        words if words == line.verdict.as_str() => String::new(),
        words => format!("{words}: "),
    };
    let paused = match paused {
        Some(why) if line.reason != Reason::PausedTrack => {
            format!("; the track is paused: {}", plain(why, DETAIL_CHARS))
        }
        _ => String::new(),
    };
    [
        who,
        text(line.persona.as_ref().map(ToString::to_string)),
        text(line.session_id.as_ref().map(ToString::to_string)),
        text(line.pr_number.map(|number| format!("#{number}"))),
        format!(
            "{would}{} [{}]{paused}",
            plain(&line.detail, DETAIL_CHARS),
            line.reason.code()
        ),
        text(line.until.map(short)),
    ]
}

fn budget(status: &Status) -> Vec<String> {
    let figures = &status.budget;
    let known = |used: Option<u32>| used.map_or_else(|| "?".to_owned(), |used| used.to_string());
    let ours = |used: u32| known(status.entries.map(|_| used));
    let mut lines = vec![
        format!(
            "this repository: {}/{} sessions within a day, {}/{} live; {}/{} pull requests wait for a review",
            ours(figures.day),
            figures.day_limit,
            ours(figures.live),
            figures.live_limit,
            ours(figures.backlog),
            figures.backlog_limit
        ),
        format!(
            "the Jules key: {}{}/{} sessions within a day{} ({} kept for people), {}/{} live",
            if status.key_at_least { "at least " } else { "" },
            known(figures.key_day),
            figures.key_day_limit,
            if status.key_at_least {
                ", without what other repositories archived"
            } else {
                ""
            },
            figures.key_reserved,
            known(figures.key_live),
            figures.key_live_limit
        ),
    ];
    if let Some(until) = figures.paused_until {
        lines.push(format!(
            "Jules says that the key is spent; nothing starts before {} UTC",
            short(until)
        ));
    }
    lines
}

fn yields(status: &Status, width: Option<usize>) -> String {
    let header = [
        "persona",
        "sessions",
        "at work",
        "merged",
        "rejected",
        "open",
        "completed",
        "no output",
        "failed",
        "stuck",
        "cancelled",
        "other",
        "ignored",
        "to merge",
        "resting until (UTC)",
    ];
    let mut table = Table::new(header).within(width).figures(1..=13);
    for (persona, figures) in &status.yields {
        table.row(yield_row(persona.as_str(), figures));
    }
    table.row(yield_row("all", &status.total));
    table.text()
}

/// The columns from `at work` to `other` add up to the sessions; the ignored are among the open.
fn yield_row(name: &str, figures: &Yield) -> [String; 15] {
    [
        name.to_owned(),
        figures.sessions.to_string(),
        figures.at_work.to_string(),
        figures.merged.to_string(),
        figures.rejected.to_string(),
        figures.open.to_string(),
        figures.completed.to_string(),
        figures.no_output.to_string(),
        figures.failed.to_string(),
        figures.stuck.to_string(),
        figures.cancelled.to_string(),
        figures.other.to_string(),
        figures.ignored.to_string(),
        figures.median_to_merge.map_or_else(String::new, span),
        figures.resting_until.map_or_else(String::new, short),
    ]
}

/// A span in the two largest units that people speak of.
fn span(span: SignedDuration) -> String {
    let minutes = span.as_mins();
    let (days, hours) = (minutes / (24 * 60), minutes / 60 % 24);
    match (days, hours) {
        (0, 0) => format!("{minutes}m"),
        (0, hours) => format!("{hours}h{:02}m", minutes % 60),
        (days, hours) => format!("{days}d{hours:02}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::span;
    use jiff::SignedDuration;

    #[test]
    fn spans_are_short() {
        for (minutes, text) in [
            (5, "5m"),
            (65, "1h05m"),
            (1_500, "1d01h"),
            (14_400, "10d00h"),
        ] {
            assert_eq!(span(SignedDuration::from_mins(minutes)), text);
        }
    }
}
