//! `phileas work list`: what became of each pull request, and the one that is most like it.

use std::io::Write;

use phileas_domain::work::{WORK_FOLDER, WorkFile, WorkRecord};
use serde_json::json;

use super::records::{Records, neighbour_text, outcome_text, record_json};
use crate::cli::arguments::ListWork;
use crate::cli::commands::status::figures_json;
use crate::cli::context::clients;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::cli::terminal::table::Table;

/// How many characters of a title's words the table shows.
const TITLE_CHARS: usize = 50;

pub(super) async fn run(
    arguments: &ListWork,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let repository = &arguments.repository.repo;
    let github = clients::github_client(repository)?;
    let records = Records::read(&github, &[WORK_FOLDER]).await?;
    let is_whole = records.report_broken()?;
    let files = records.files.values().flat_map(WorkFile::records);
    // One that has come back to `hot.json` may have an older one in its segment.
    let is_newest = |record: &&WorkRecord| {
        let newest = records.find(record.pr);
        newest.is_some_and(|(_, newest)| std::ptr::eq(newest, *record))
    };
    let mut all: Vec<&WorkRecord> = files.filter(is_newest).collect();
    all.sort_by_key(|record| std::cmp::Reverse(record.pr));
    if arguments.repository.json || arguments.jsonl {
        print_json(&records, &all, arguments, screen)?;
    } else {
        print_table(&records, &all, screen)?;
    }
    Ok(if is_whole { Exit::Done } else { Exit::Findings })
}

fn print_json(
    records: &Records,
    all: &[&WorkRecord],
    arguments: &ListWork,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let mut documents = Vec::new();
    for record in all {
        let nearest = records.neighbours(record);
        let nearest = nearest.get(..1).unwrap_or_default();
        let document = record_json(record, nearest)?;
        if arguments.jsonl {
            screen.print_line(&document.to_string())?;
        } else {
            documents.push(document);
        }
    }
    if !arguments.jsonl {
        let repository = arguments.repository.repo.to_string();
        let document = json!({
            "repository": repository,
            "figures": figures_json(&records.view),
            "records": documents,
        });
        screen.print_line(&document.to_string())?;
    }
    Ok(())
}

fn print_table(
    records: &Records,
    all: &[&WorkRecord],
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    if all.is_empty() {
        screen.print_line(
            "no pull request has a record; the next tick records those that are open",
        )?;
        return Ok(());
    }
    let headings = [
        "pull",
        "outcome",
        "persona",
        "opened (UTC)",
        "lines",
        "nearest",
        "title, as stems of its words",
    ];
    let mut table = Table::new(headings);
    for record in all {
        let nearest = records.neighbours(record);
        let (added, removed) = record.fingerprint.size;
        table.push_row([
            format!("#{}", record.pr),
            outcome_text(record),
            record.persona.clone().unwrap_or_default(),
            short_time(record.opened_at),
            format!("+{added} -{removed}"),
            nearest.first().map(neighbour_text).unwrap_or_default(),
            sanitize(&record.fingerprint.title.join(" "), TITLE_CHARS),
        ]);
    }
    screen.print_lines(&table.table_text())?;
    Ok(())
}
