//! `phileas sandbox --scenario FILE`: plays a scenario to its end, and prints the same transcript each time.

use std::io::Write;
use std::path::Path;

use jiff::SignedDuration;
use phileas_domain::model::RepositoryName;
use phileas_domain::toml_text::TomlText;

use super::transcript::Transcript;
use super::{option_file, play};
use crate::cli::arguments::Sandbox;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::pluralize;
use crate::sandbox::scenario::{Clock, Scenario};
use crate::sandbox::{SharedWorld, Timeline, world_setup};

/// The branch whose files are printed at the end.
const LEDGER_BRANCH: &str = "jules";
/// The folders that are printed: the exchange of the layers. The state file is printed line by line as it changes.
const EXCHANGE_FOLDERS: [&str; 4] = [
    ".jules/changes/",
    ".jules/exchange/",
    ".jules/workstations/",
    ".jules/workstreams/",
];

pub(crate) async fn run(
    file: &Path,
    arguments: &Sandbox,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let wrong = |error: String| CliError::usage(format!("--scenario {error}"));
    let text = option_file::read_option_file("--scenario", file)?;
    let scenario = Scenario::read_scenario(TomlText::new(&file.display().to_string(), &text))
        .map_err(|wrong| CliError::usage(wrong.of_option("--scenario")))?;
    let shared = SharedWorld::new(
        scenario
            .world_setup(arguments.seed)
            .build_world()
            .map_err(CliError::usage)?
            .0,
    );
    screen.print_line(&scenario.title)?;
    screen.print_line("")?;
    screen.print_lines(scenario.about.trim())?;
    screen.print_line("")?;
    let mut transcript = Transcript::for_scenario(screen.colour);
    let begin = shared.world_time();
    let mut days = Timeline::new(
        shared.clone(),
        world_setup::repository_name(),
        SignedDuration::ZERO,
        arguments.seed,
    );
    if scenario.clock == Clock::Hourly {
        days.by_the_hour();
    }
    for act in &scenario.acts {
        days.go_on_until(begin + *act.at.get_ref());
        play::play_days(&mut days, &shared, &mut transcript, screen).await?;
        act.perform_action(&shared).map_err(wrong)?;
        if let Some(text) = act.report_text() {
            transcript.write_github(screen, shared.world_time(), &text)?;
        }
    }
    days.go_on_until(begin + scenario.lasts);
    play::play_days(&mut days, &shared, &mut transcript, screen).await?;
    print_result(&scenario, &days, &shared, screen)?;
    if arguments.export.is_some() {
        play::export_files(arguments, &shared, screen)?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Prints the result: how many requests Jules got, and the files on the ledger.
fn print_result(
    scenario: &Scenario,
    days: &Timeline,
    shared: &SharedWorld,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let sessions = shared.lock_world().books().sessions.len();
    screen.print_line("")?;
    screen.print_line(&pluralize(sessions, "session"))?;
    let files = exchange_files(shared, days.repository_name());
    screen.print_line("")?;
    screen.print_line("On the branch jules at the end:")?;
    for (path, _) in &files {
        screen.print_line(&format!("  {path}"))?;
    }
    if files.is_empty() {
        screen.print_line("  no files")?;
    }
    let told = |path: &str| scenario.prints.iter().any(|begin| path.starts_with(begin));
    for (path, text) in files.iter().filter(|(path, _)| told(path)) {
        screen.print_line("")?;
        screen.print_line(&format!("{path}:"))?;
        for line in text.lines() {
            screen.print_line(format!("  {line}").trim_end())?;
        }
    }
    Ok(())
}

/// The files of the exchange, by path.
fn exchange_files(shared: &SharedWorld, repository: &RepositoryName) -> Vec<(String, String)> {
    let world = shared.lock_world();
    let github = world.github();
    let found = github
        .repository_by_name(&repository.owner, &repository.name)
        .and_then(|repo| Some((repo, github.branch_head(repo, LEDGER_BRANCH)?)));
    let Some((repo, head)) = found else {
        return Vec::new();
    };
    let is_exchange_file =
        |path: &String| EXCHANGE_FOLDERS.iter().any(|begin| path.starts_with(begin));
    let paths = github.list_files(repo, head).into_iter();
    paths
        .filter(is_exchange_file)
        .map(|path| {
            let bytes = github.read_file(repo, head, &path).unwrap_or_default();
            (path, String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}
