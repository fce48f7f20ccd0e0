//! The status as text for people.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use jiff::SignedDuration;
use phileas_domain::engine::{Line, Reason, Yield};
use phileas_domain::model::RepositoryName;

use super::model::Status;
use crate::cli::exit::CliError;
use crate::cli::terminal::decision_line::{Tense, short_time, verdict_text};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::cli::terminal::table::Table;

/// The column at which the further rows of a long line begin.
const INDENT: usize = 2;
/// How many characters of a reason the table shows.
const DETAIL_CHARS: usize = 90;

pub(super) fn print_status(
    repository: &RepositoryName,
    status: &Status,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let report = &status.report;
    let next = report.wake_at.map_or_else(
        || "nothing is due".to_owned(),
        |at| format!("next look {} UTC", short_time(at)),
    );
    screen.print_line(&format!(
        "{repository} at {} UTC; {next}",
        short_time(report.now)
    ))?;
    for one in &report.plan_diagnostics {
        screen.print_wrapped(&one.to_string(), INDENT)?;
    }
    print_heading("tracks", screen)?;
    let header = [
        "track",
        "persona",
        "session",
        "pull",
        "what happens, or why not",
        "until (UTC)",
    ];
    let mut table = Table::new(header).with_max_width(screen.width);
    for (_, line) in report.all_lines() {
        let paused = line
            .track
            .as_ref()
            .and_then(|track| status.paused.get(track));
        table.push_row(table_row(line, paused));
    }
    screen.print_lines(&table.table_text())?;

    print_heading("budget", screen)?;
    for line in budget_lines(status) {
        screen.print_wrapped(&line, INDENT)?;
    }

    match status.entries {
        None => {
            print_heading("yield", screen)?;
            screen.print_line("unknown: the ledger cannot be read")?;
        }
        Some(entries) => {
            let entries = match entries {
                1 => "1 entry".to_owned(),
                several => format!("{several} entries"),
            };
            print_heading(&format!("yield of the last {entries}"), screen)?;
            if status.yields.is_empty() {
                screen.print_line("no persona has run yet")?;
            } else {
                screen.print_lines(&yield_table(status, screen.width))?;
            }
        }
    }

    if !status.notices.is_empty() {
        print_heading("open notices", screen)?;
        for notice in &status.notices {
            screen.print_line(&format!(
                "#{} {}",
                notice.number,
                sanitize(&notice.title, DETAIL_CHARS)
            ))?;
        }
    }
    Ok(())
}

fn print_heading(text: &str, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    let style = if screen.colour {
        Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()))
    } else {
        Style::new()
    };
    screen.print_line("")?;
    screen.print_line(&format!("{style}{text}{style:#}"))?;
    Ok(())
}

fn table_row(line: &Line, paused: Option<&String>) -> [String; 6] {
    let mut who = line
        .track
        .as_ref()
        .map_or_else(|| "repository".to_owned(), ToString::to_string);
    if let Some(seq) = line.seq {
        who.push_str(&format!("#{seq}"));
    }
    let text = |id: Option<String>| id.unwrap_or_default();
    // Without a word before it, what a tick would do looks like a wait.
    let would = match verdict_text(line.verdict, Tense::Forecast) {
        words if words == line.verdict.label() => String::new(),
        words => format!("{words}: "),
    };
    let paused = match paused {
        Some(why) if line.reason != Reason::PausedTrack => {
            format!("; the track is paused: {}", sanitize(why, DETAIL_CHARS))
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
            sanitize(&line.detail, DETAIL_CHARS),
            line.reason.code()
        ),
        text(line.until.map(short_time)),
    ]
}

fn budget_lines(status: &Status) -> Vec<String> {
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
            short_time(until)
        ));
    }
    lines
}

fn yield_table(status: &Status, width: Option<usize>) -> String {
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
    let mut table = Table::new(header)
        .with_max_width(width)
        .with_figures(1..=13);
    for (persona, figures) in &status.yields {
        table.push_row(yield_row(persona.as_str(), figures));
    }
    table.push_row(yield_row("all", &status.total));
    table.table_text()
}

/// The columns from `at work` to `other` add up to the sessions. Ignored ones are among the open.
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
        figures.median_to_merge.map_or_else(String::new, short_span),
        figures.resting_until.map_or_else(String::new, short_time),
    ]
}

/// A span in its two largest units.
fn short_span(span: SignedDuration) -> String {
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
    use super::short_span;
    use jiff::SignedDuration;

    #[test]
    fn spans_are_short() {
        for (minutes, text) in [
            (5, "5m"),
            (65, "1h05m"),
            (1_500, "1d01h"),
            (14_400, "10d00h"),
        ] {
            assert_eq!(short_span(SignedDuration::from_mins(minutes)), text);
        }
    }
}
