//! The status as people read it.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, Table, presets};
use jiff::SignedDuration;
use phileas_domain::engine::{BudgetFigures, Line, Yield};
use phileas_domain::model::RepositoryName;

use super::super::exit::Stopped;
use super::super::lines::short;
use super::super::output::Screen;
use super::super::plain::plain;
use super::Status;

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
        screen.line(&one.to_string())?;
    }
    heading("tracks", screen)?;
    let mut table = plain_table(&["", "persona", "session", "pull", "", "until (UTC)"]);
    for (_, line) in report.all() {
        table.add_row(row(line));
    }
    screen.line(&table.trim_fmt())?;

    heading("budget", screen)?;
    for line in budget(&status.budget) {
        screen.line(&line)?;
    }

    heading(
        &format!("yield of the last {} entries", status.entries),
        screen,
    )?;
    if status.yields.is_empty() {
        screen.line("nobody has run yet")?;
    } else {
        screen.line(&yields(status))?;
    }

    if !status.notices.is_empty() {
        heading("open notices", screen)?;
        for notice in &status.notices {
            screen.line(&format!(
                "#{} {}",
                notice.number,
                plain(&notice.key, DETAIL_CHARS)
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

fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.to_vec());
    table
}

fn row(line: &Line) -> [String; 6] {
    let mut who = line
        .track
        .as_ref()
        .map_or_else(|| "repository".to_owned(), ToString::to_string);
    if let Some(seq) = line.seq {
        who.push_str(&format!("#{seq}"));
    }
    let text = |id: Option<String>| id.unwrap_or_default();
    [
        who,
        text(line.persona.as_ref().map(ToString::to_string)),
        text(line.session_id.as_ref().map(ToString::to_string)),
        text(line.pr_number.map(|number| format!("#{number}"))),
        format!(
            "{} [{}]",
            plain(&line.detail, DETAIL_CHARS),
            line.reason.code()
        ),
        text(line.until.map(short)),
    ]
}

fn budget(figures: &BudgetFigures) -> Vec<String> {
    let known = |used: Option<u32>| used.map_or_else(|| "?".to_owned(), |used| used.to_string());
    let mut lines = vec![
        format!(
            "this repository: {}/{} sessions within a day, {}/{} live; {}/{} pull requests wait for a review",
            figures.day,
            figures.day_limit,
            figures.live,
            figures.live_limit,
            figures.backlog,
            figures.backlog_limit
        ),
        format!(
            "the Jules key: {}/{} sessions within a day ({} kept for people), {}/{} live",
            known(figures.key_day),
            figures.key_day_limit,
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

fn yields(status: &Status) -> String {
    let header = [
        "persona",
        "sessions",
        "pulls",
        "merged",
        "rejected",
        "ignored",
        "open",
        "no output",
        "failed",
        "to merge",
        "resting until (UTC)",
    ];
    let mut table = plain_table(&header);
    for column in 1..=9 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (persona, figures) in &status.yields {
        table.add_row(yield_row(persona.as_str(), figures));
    }
    table.add_row(yield_row("all", &status.total));
    table.trim_fmt()
}

fn yield_row(name: &str, figures: &Yield) -> [String; 11] {
    [
        name.to_owned(),
        figures.sessions.to_string(),
        figures.pulls.to_string(),
        figures.merged.to_string(),
        figures.rejected.to_string(),
        figures.ignored.to_string(),
        figures.open.to_string(),
        figures.no_output.to_string(),
        (figures.failed + figures.stuck).to_string(),
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
