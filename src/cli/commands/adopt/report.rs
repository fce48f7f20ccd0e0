//! The one-screen report of `phileas adopt`.

use std::io::Write;

use jiff::SignedDuration;
use phileas_domain::engine::span_text;
use phileas_domain::model::RepositoryName;
use phileas_domain::work::History;
use phileas_domain::work::repeats::Repeat;

use super::personas::FoundPersona;
use crate::cli::exit::CliError;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::cli::terminal::table::Table;

/// So many rows of each list are printed; `--json` has all.
const ROWS: usize = 8;
/// So many numbers of an idea's pull requests are printed.
const NUMBERS: usize = 6;
/// A title is cut after so many characters.
const TITLE_LENGTH: usize = 60;

/// What the report says beside the history.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    /// How many pull requests the repository has.
    pub(super) seen: usize,
    /// How many of them people opened from branches that Jules has named.
    pub(super) by_people: usize,
    /// How many diffs are left for the next run.
    pub(super) unread: usize,
}

pub(super) fn print_report(
    repository: &RepositoryName,
    history: &History,
    counts: Counts,
    personas: &[FoundPersona],
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let (Some(first), Some(last)) = (history.first_at, history.last_at) else {
        let text = match counts.seen {
            0 => "there is no pull request yet".to_owned(),
            seen => format!(
                "Jules opened none of its {}",
                pluralize(seen, "pull request")
            ),
        };
        screen.print_line(&format!("{repository}: {text}"))?;
        return print_by_people(counts, screen);
    };
    let (first, last) = (
        first.strftime("%F").to_string(),
        last.strftime("%F").to_string(),
    );
    let days = match first == last {
        true => format!("on {first}"),
        false => format!("from {first} to {last}"),
    };
    screen.print_line(&format!(
        "{repository}: Jules opened {} of its {}, {days}",
        history.opened,
        pluralize(counts.seen, "pull request"),
    ))?;
    print_by_people(counts, screen)?;
    screen.print_line("")?;
    print_outcomes(history, screen)?;
    print_repeats(&history.repeats, screen)?;
    print_contested(history, screen)?;
    print_personas(history, personas, screen)?;
    screen.print_line("")?;
    screen.print_wrapped(&comparison_text(history, counts), 0)?;
    Ok(())
}

fn print_by_people(counts: Counts, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    if counts.by_people > 0 {
        screen.print_wrapped(
            &format!(
                "{} more by people, from branches that Jules has named, {} left out: such a name proves nothing.",
                counts.by_people,
                if counts.by_people == 1 { "is" } else { "are" }
            ),
            0,
        )?;
    }
    Ok(())
}

fn print_outcomes(history: &History, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    let share = |count: usize| format!("{:.0} %", 100.0 * count as f64 / history.opened as f64);
    let median = history.median_to_merge_secs.map(|seconds| {
        let span = span_text(SignedDuration::from_secs(seconds));
        format!("half of them within {span} of opening")
    });
    let mut table = Table::new(["outcome", "pulls", "share", ""]).with_figures([1, 2]);
    for (name, count, note) in [
        ("merged", history.merged, median.unwrap_or_default()),
        ("closed without a merge", history.refused, String::new()),
        ("open", history.open, String::new()),
    ] {
        table.push_row([name.to_owned(), count.to_string(), share(count), note]);
    }
    screen.print_lines(&table.table_text())?;
    Ok(())
}

fn print_repeats(repeats: &[Repeat], screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    let pulls: usize = repeats.iter().map(|one| one.pulls.len()).sum();
    screen.print_line("")?;
    if repeats.is_empty() {
        screen.print_line("No idea came twice.")?;
        return Ok(());
    }
    screen.print_line(&format!(
        "The same idea again: {} in {}",
        pluralize(repeats.len(), "idea"),
        pluralize(pulls, "pull request")
    ))?;
    let mut table =
        Table::new(["times", "merged", "title of the first", "pulls"]).with_figures([0, 1]);
    for one in repeats.iter().take(ROWS) {
        let mut numbers: Vec<String> = one
            .pulls
            .iter()
            .take(NUMBERS)
            .map(|number| format!("#{number}"))
            .collect();
        if one.pulls.len() > NUMBERS {
            numbers.push("…".to_owned());
        }
        table.push_row([
            one.pulls.len().to_string(),
            one.merged.to_string(),
            cut_title(&one.title),
            numbers.join(" "),
        ]);
    }
    screen.print_lines(&table.table_text())?;
    print_more(repeats.len(), screen)
}

fn print_contested(history: &History, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    if history.contested.is_empty() {
        return Ok(());
    }
    screen.print_line("")?;
    screen.print_line("Files that several open pull requests changed at the same time")?;
    let mut table = Table::new(["pulls", "file"]).with_figures([0]);
    for file in history.contested.iter().take(ROWS) {
        table.push_row([file.pulls.to_string(), file.path.clone()]);
    }
    screen.print_lines(&table.table_text())?;
    print_more(history.contested.len(), screen)
}

fn print_personas(
    history: &History,
    found: &[FoundPersona],
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    if history.personas.is_empty() && found.is_empty() {
        return Ok(());
    }
    screen.print_line("")?;
    screen.print_line("Personas")?;
    let mut table =
        Table::new(["name", "pulls", "merged", "per week", "found in"]).with_figures([1, 2, 3]);
    for one in &history.personas {
        let source = found.iter().find(|persona| persona.id == one.name);
        table.push_row([
            one.name.clone(),
            one.opened.to_string(),
            one.merged.to_string(),
            format!("{:.1}", one.per_week),
            source.map_or_else(|| "titles".to_owned(), |persona| persona.source.clone()),
        ]);
    }
    let titled =
        |persona: &&FoundPersona| !history.personas.iter().any(|one| one.name == persona.id);
    for persona in found.iter().filter(titled) {
        table.push_row([
            persona.id.clone(),
            "0".to_owned(),
            "0".to_owned(),
            String::new(),
            persona.source.clone(),
        ]);
    }
    screen.print_lines(&table.table_text())?;
    Ok(())
}

fn print_more(rows: usize, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    if rows > ROWS {
        screen.print_line(&format!("and {} more; --json shows all", rows - ROWS))?;
    }
    Ok(())
}

fn comparison_text(history: &History, counts: Counts) -> String {
    let mut text = format!(
        "Compared: all by titles and files; {} also by the lines of their diffs.",
        history.compared_by_lines
    );
    if counts.unread > 0 {
        text.push_str(&format!(
            " Diffs left: {}; the next run reads at most 500 of them.",
            counts.unread
        ));
    }
    text
}

fn cut_title(title: &str) -> String {
    let mut letters = title.chars();
    let cut: String = letters.by_ref().take(TITLE_LENGTH).collect();
    if letters.next().is_some() {
        cut + "…"
    } else {
        cut
    }
}
