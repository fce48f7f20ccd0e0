//! `phileas pipeline lessons`: adds and lists lessons.

use std::io::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use phileas_domain::pipeline::{Lesson, list_lessons};
use serde_json::json;

use super::runs;
use crate::cli::arguments::LessonsCommand;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_beside_results;
use crate::cli::terminal::output::Screen;

pub(super) fn run(
    command: &LessonsCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        LessonsCommand::Add {
            issue,
            pattern,
            mitigation,
            date,
            place,
        } => {
            let today = || Timestamp::now().to_zoned(TimeZone::UTC).date();
            let lesson = Lesson {
                date: date.unwrap_or_else(today).to_string(),
                issue: issue.to_string(),
                pattern: pattern.trim().to_owned(),
                frequency: None,
                mitigation: mitigation.clone(),
            };
            let runs = runs::open_runs(place)?;
            if let Err(error) = runs.add_lesson(&lesson) {
                print_beside_results(error.findings(), place.json, screen)?;
                return Err(error.into());
            }
            if !place.json {
                screen.print_line("learned")?;
            }
            Ok(Exit::Done)
        }
        LessonsCommand::List { place } => {
            let mut lessons = Vec::new();
            if let Some(reading) = runs::open_runs(place)?.read_lessons()? {
                print_beside_results(&reading.diagnostics, place.json, screen)?;
                if !reading.is_sound() {
                    return Ok(Exit::Findings);
                }
                lessons = list_lessons(&reading);
            }
            if lessons.is_empty() && !place.json {
                screen.print_line("there is no lesson yet")?;
            }
            for one in lessons {
                let seen = one.frequency.unwrap_or(1);
                if place.json {
                    let line = json!({
                        "date": one.date, "issue": one.issue, "pattern": one.pattern,
                        "frequency": seen, "mitigation": one.mitigation,
                    });
                    screen.print_line(&line.to_string())?;
                } else {
                    let helps = one
                        .mitigation
                        .map(|text| format!("; {text}"))
                        .unwrap_or_default();
                    let line = format!(
                        "{} {} ({seen}x): {}{helps}",
                        one.date, one.issue, one.pattern
                    );
                    screen.print_line(&line)?;
                }
            }
            Ok(Exit::Done)
        }
    }
}
