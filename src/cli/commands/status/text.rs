//! The status as text for people.

use std::io::Write;
use std::ops::RangeInclusive;

use anstyle::{AnsiColor, Style};
use phileas_domain::engine::{
    Line, TrackView, TurnView, Verdict, Yield, place_text, plain_text, session_page, span_text,
};
use phileas_domain::model::RepositoryName;

use super::model::Status;
use crate::cli::context::github_server::github_server;
use crate::cli::exit::CliError;
use crate::cli::terminal::decision_line::{Tense, short_time, verdict_text};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::cli::terminal::table::Table;

/// The column at which the further rows of a long line begin.
const INDENT: usize = 2;
/// How many characters of a sentence the table shows.
const SENTENCE_CHARS: usize = 240;
/// The columns of the yield that are shown in any case: the persona, its sessions, what is merged.
const ALWAYS_SHOWN: [usize; 3] = [0, 1, 3];
/// The columns of the yield whose heading reads well only before the value: rates, spans, reasons and times.
const LABELS_FIRST: [usize; 5] = [4, 19, 20, 21, 22];
/// The columns of the yield with numbers.
const FIGURES: RangeInclusive<usize> = 1..=20;

pub(super) fn print_status(
    repository: &RepositoryName,
    status: &Status,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let (report, view) = (&status.report, &status.view);
    let next = report.wake_at.map_or_else(
        || "nothing is due".to_owned(),
        |at| format!("next check {} UTC", short_time(at)),
    );
    screen.print_line(&format!(
        "{repository} at {} UTC; {next}",
        short_time(report.now)
    ))?;
    for one in &report.plan_diagnostics {
        screen.print_wrapped(&one.to_string(), INDENT)?;
    }
    print_needs(repository, status, screen)?;
    print_heading("tracks", screen)?;
    screen.print_lines(&track_table(status, screen.width))?;
    if let Some((track, at)) = view.next_start() {
        let place = plain_text(&place_text(None, &track.name));
        screen.print_line(&format!("next: {place} at {} UTC", short_time(at)))?;
    }
    screen.print_line("`phileas explain` says more about each")?;

    print_budget(status, screen)?;
    print_yields(status, screen)
}

fn print_budget(status: &Status, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    print_heading("budget", screen)?;
    let view = &status.view;
    let budget = &view.budget;
    let own = budget.sentence(view.entries.is_some());
    let own = plain_text(&own);
    screen.print_wrapped(&format!("this repository: {own}"), INDENT)?;
    let key = budget.key_sentence(status.key_at_least);
    screen.print_wrapped(&format!("the Jules key: {key}"), INDENT)?;
    if let Some(pause) = budget.pause_sentence(view.at) {
        screen.print_wrapped(&pause, INDENT)?;
    }
    Ok(())
}

fn print_yields(status: &Status, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    match status.view.entries {
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
            if status.view.yields.is_empty() {
                screen.print_line("no persona has run yet")?;
            } else {
                for line in yield_lines(status, screen.width) {
                    screen.print_wrapped(&line, INDENT)?;
                }
            }
        }
    }
    Ok(())
}

fn print_needs(
    repository: &RepositoryName,
    status: &Status,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    if status.view.needs.is_empty() {
        return Ok(());
    }
    print_heading("needs you", screen)?;
    let github = github_server();
    for need in &status.view.needs {
        let page = match (need.issue, &need.session) {
            (Some(issue), _) => format!(": {github}/{repository}/issues/{issue}"),
            (None, Some(session)) => format!(": {}", session_page(session)),
            (None, None) => String::new(),
        };
        let title = sanitize(&plain_text(&need.title), SENTENCE_CHARS);
        screen.print_wrapped(&format!("{title}{page}"), INDENT)?;
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

/// What concerns the whole repository first, then what is at work, then what waits.
fn track_table(status: &Status, width: Option<usize>) -> String {
    let view = &status.view;
    let header = ["what", "happens, or why not", "where", "until (UTC)"];
    let mut table = Table::new(header).with_max_width(width);
    for pause in &view.pauses {
        table.push_row(row(
            "the repository",
            &pause.sentence(),
            String::new(),
            None,
        ));
    }
    // A pause of the repository is described above, with its actor and its end.
    let is_pause = |line: &&Line| line.track.is_none() && line.verdict == Verdict::Paused;
    for line in view.other_lines.iter().filter(|line| !is_pause(line)) {
        let place = match &line.track {
            Some(track) => place_text(line.persona.as_ref(), track),
            None => "the repository".to_owned(),
        };
        table.push_row(line_row(&place, line));
    }
    for track in &view.tracks {
        for turn in &track.turns {
            table.push_row(turn_row(track, turn));
        }
    }
    for track in &view.tracks {
        if let Some(pause) = &track.pause {
            let place = place_text(None, &track.name);
            table.push_row(row(&place, &pause.sentence(), String::new(), None));
        }
        let is_of_turn = |line: &&Line| track.turns.iter().any(|turn| turn.is_described_by(line));
        for line in track.lines.iter().filter(|line| !is_of_turn(line)) {
            let place = place_text(line.persona.as_ref(), &track.name);
            table.push_row(line_row(&place, line));
        }
    }
    table.table_text()
}

fn turn_row(track: &TrackView, turn: &TurnView) -> [String; 4] {
    let pull = turn.pull.map(|pull| format!("#{pull}"));
    let page = turn.session.as_ref().map(session_page);
    // The ledger does not know yet what the next tick does.
    let ahead = turn.line.as_ref().and_then(forecast_sentence);
    row(
        &place_text(Some(&turn.persona), &track.name),
        &ahead.unwrap_or_else(|| turn.sentence(true)),
        pull.into_iter().chain(page).collect::<Vec<_>>().join(" "),
        turn.line.as_ref(),
    )
}

fn line_row(place: &str, line: &Line) -> [String; 4] {
    let sentence = forecast_sentence(line).unwrap_or_else(|| match line.verdict {
        Verdict::Refused => format!("refused: {}", line.sentence(false)),
        _ => line.sentence(false),
    });
    let pull = line.pr_number.map(|number| format!("#{number}"));
    row(place, &sentence, pull.unwrap_or_default(), Some(line))
}

/// What a tick would do now. `None`: it would leave things as they are.
fn forecast_sentence(line: &Line) -> Option<String> {
    // Without a word before it, what a tick would do looks like a wait.
    let words = verdict_text(line.verdict, Tense::Forecast);
    (words != line.verdict.label()).then(|| format!("{words}: {}", line.sentence(false)))
}

fn row(place: &str, sentence: &str, page: String, line: Option<&Line>) -> [String; 4] {
    let until = line.and_then(Line::end_time);
    [
        plain_text(place),
        sanitize(&plain_text(sentence), SENTENCE_CHARS),
        page,
        until.map_or_else(String::new, short_time),
    ]
}

fn yield_lines(status: &Status, width: Option<usize>) -> Vec<String> {
    let header = [
        "persona",
        "sessions",
        "at work",
        "merged",
        "merged per session",
        "zero touch",
        "reverted",
        "rejected",
        "repeated",
        "no-op",
        "superseded",
        "open",
        "completed",
        "no output",
        "failed",
        "stuck",
        "cancelled",
        "other",
        "no review for 2 weeks",
        "median to review",
        "median to merge",
        "refused",
        "resting until (UTC)",
    ];
    let mut rows = Vec::new();
    for (persona, figures) in &status.view.yields {
        rows.push(yield_row(persona.as_str(), figures));
        let prompts = status.view.prompt_yields.iter();
        for one in prompts.filter(|one| one.persona == *persona) {
            let name = format!("  prompt {}", one.prompt);
            rows.push(yield_row(&name, &one.figures));
        }
    }
    rows.push(yield_row("all", &status.view.total));
    // Most columns are empty in most repositories, and a terminal has no room for them.
    let shown: Vec<usize> = (0..header.len())
        .filter(|column| {
            ALWAYS_SHOWN.contains(column) || rows.iter().any(|row| !is_nothing(&row[*column]))
        })
        .collect();
    let figures = shown.iter().enumerate();
    let figures = figures.filter(|(_, column)| FIGURES.contains(column));
    let mut table = Table::new(shown.iter().map(|column| header[*column]))
        .with_figures(figures.map(|(place, _)| place));
    for row in &rows {
        table.push_row(shown.iter().map(|column| row[*column].clone()));
    }
    let text = table.table_text();
    let widest = text.lines().map(|line| line.chars().count()).max();
    match width {
        // Columns of a few letters cannot be read.
        Some(width) if widest.unwrap_or_default() > width => yield_sentences(&header, &rows),
        _ => text.lines().map(str::to_owned).collect(),
    }
}

/// A line for each row: `curator: 7 sessions, 3 merged`.
fn yield_sentences(header: &[&str; 23], rows: &[[String; 23]]) -> Vec<String> {
    let sentence = |row: &[String; 23]| {
        let cells = (1..row.len()).filter(|column| !is_nothing(&row[*column]));
        let cells: Vec<String> = cells
            .map(|column| match LABELS_FIRST.contains(&column) {
                true => format!("{} {}", header[column], row[column]),
                false => format!("{} {}", row[column], header[column]),
            })
            .collect();
        format!("{}: {}", row[0], cells.join(", "))
    };
    rows.iter().map(sentence).collect()
}

/// Whether a cell of the yield says that there was none.
fn is_nothing(cell: &str) -> bool {
    matches!(cell, "" | "0" | "0 %")
}

/// The columns from `at work` to `other` add up to the sessions. Ignored ones are among the open, those of zero touch
/// among the merged, and refused ones among the closed.
fn yield_row(name: &str, figures: &Yield) -> [String; 23] {
    [
        name.to_owned(),
        figures.sessions.to_string(),
        figures.at_work.to_string(),
        figures.merged.to_string(),
        figures.merge_rate_text(),
        figures.zero_touch.to_string(),
        figures.reverted.to_string(),
        figures.rejected.to_string(),
        figures.repeated.to_string(),
        figures.no_op.to_string(),
        figures.superseded.to_string(),
        figures.open.to_string(),
        figures.completed.to_string(),
        figures.no_output.to_string(),
        figures.failed.to_string(),
        figures.stuck.to_string(),
        figures.cancelled.to_string(),
        figures.other.to_string(),
        figures.ignored.to_string(),
        figures.median_to_review.map_or_else(String::new, span_text),
        figures.median_to_merge.map_or_else(String::new, span_text),
        figures.refused_text(),
        figures.resting_until.map_or_else(String::new, short_time),
    ]
}
