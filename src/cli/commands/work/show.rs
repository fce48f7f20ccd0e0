//! `phileas work show`: one record, and the records that are like it.

use std::io::Write;

use phileas_domain::work::{HOT_PATH, Neighbour, Refusal, WorkRecord, segment_path};

use super::records::{Records, neighbour_text, outcome_text, record_json};
use crate::cli::arguments::OneRecord;
use crate::cli::context::clients;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;

/// How many of the records that are like one are shown.
const NEIGHBOURS_SHOWN: usize = 5;
/// How many characters of a list of words or paths are printed.
const TEXT_CHARS: usize = 240;

pub(super) async fn run(
    arguments: &OneRecord,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repository.repo)?;
    let segment = segment_path(arguments.pull);
    let records = Records::read(&github, &[HOT_PATH, &segment]).await?;
    records.report_broken()?;
    let (path, record) = records.find(arguments.pull).ok_or_else(|| {
        CliError::usage(format!(
            "#{} has no record: it is not a pull request of Jules, or it was opened and closed between two ticks; \
             `phileas work rebuild` makes the records that are missing",
            arguments.pull
        ))
    })?;
    let mut neighbours = records.neighbours(record);
    neighbours.truncate(NEIGHBOURS_SHOWN);
    if arguments.repository.json {
        let mut document = record_json(record, &neighbours)?;
        document["file"] = path.into();
        screen.print_line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    print_record(path, record, &neighbours, screen)?;
    Ok(Exit::Done)
}

fn print_record(
    path: &str,
    record: &WorkRecord,
    neighbours: &[Neighbour<'_>],
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let mut say = |name: &str, text: &str| screen.print_line(&format!("{name:<8} {text}"));
    say("pull", &format!("#{}, {}", record.pr, outcome_text(record)))?;
    if let Some(persona) = &record.persona {
        let turn = record.turn.as_ref();
        let turn = turn.map_or_else(String::new, |turn| format!(", turn {turn}"));
        say(
            "persona",
            &sanitize(&format!("{persona}{turn}"), TEXT_CHARS),
        )?;
    }
    let until = record.closed_at.map_or_else(
        || "open since then".to_owned(),
        |at| format!("closed {} UTC", short_time(at)),
    );
    say(
        "opened",
        &format!("{} UTC, {until}", short_time(record.opened_at)),
    )?;
    if let Some(refusal) = &record.refused {
        say("refused", &refusal_text(refusal))?;
    }
    say(
        "title",
        &sanitize(
            &format!(
                "{} (its words without their endings, to compare titles)",
                record.fingerprint.title.join(" ")
            ),
            TEXT_CHARS,
        ),
    )?;
    if !record.fingerprint.paths.is_empty() {
        say(
            "files",
            &sanitize(&record.fingerprint.paths.join(" "), TEXT_CHARS),
        )?;
    }
    let (added, removed) = record.fingerprint.size;
    let groups = record.fingerprint.sketch.shingles;
    say(
        "lines",
        &format!("+{added} -{removed}, compared in groups of three lines ({groups})"),
    )?;
    say("record", &format!("{path} on the branch jules"))?;
    for one in neighbours {
        let shares = one.similarity;
        let text = format!(
            "{} ({}): title {:.2}, files {:.2}, words of lines {:.2}",
            neighbour_text(one),
            outcome_text(one.record),
            shares.title,
            shares.paths,
            shares.terms
        );
        say("like", &text)?;
    }
    Ok(())
}

fn refusal_text(refusal: &Refusal) -> String {
    let until = match refusal.until {
        None => "remembered for ever".to_owned(),
        Some(until) => format!("remembered until {} UTC", short_time(until)),
    };
    let comment = refusal.comment;
    let comment = comment.map_or_else(String::new, |id| format!(", comment {id}"));
    format!("{}, {until}{comment}", refusal.reason.as_str())
}
