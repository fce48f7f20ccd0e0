//! `phileas sandbox --scenario FILE`: a scenario played to its end, as a transcript that is the same each time.

use std::io::Write;
use std::path::Path;

use anstyle::AnsiColor;
use jiff::SignedDuration;
use phileas_domain::model::RepositoryName;
use phileas_domain::toml_text::TomlText;

use super::transcript::Teller;
use super::{headless, option_file};
use crate::cli::arguments::Sandbox;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;
use crate::sandbox::scenario::{Clock, Scenario};
use crate::sandbox::{Days, Shared, scene};

/// The branch whose files are told at the end.
const LEDGER: &str = "jules";
/// What is told of it: what layers hand to one another. The state file is told line by line as it comes about.
const HANDED_OVER: [&str; 4] = [
    ".jules/changes/",
    ".jules/exchange/",
    ".jules/workstations/",
    ".jules/workstreams/",
];

pub(crate) async fn run(
    file: &Path,
    arguments: &Sandbox,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let wrong = |error: String| Stopped::usage(format!("--scenario {}: {error}", file.display()));
    let text = option_file::read("--scenario", file)?;
    let scenario = Scenario::read(TomlText::new(&file.display().to_string(), &text))
        .map_err(|mistake| Stopped::usage(format!("--scenario {mistake}")))?;
    let shared = Shared::new(
        scenario
            .scene(arguments.seed)
            .build()
            .map_err(Stopped::usage)?
            .0,
    );
    screen.line(&scenario.title)?;
    screen.line("")?;
    screen.lines(scenario.about.trim())?;
    screen.line("")?;
    let mut teller = Teller::of_a_scenario(screen.colour);
    let begin = shared.now();
    let mut days = Days::new(
        shared.clone(),
        scene::repository(),
        SignedDuration::ZERO,
        arguments.seed,
    );
    if scenario.clock == Clock::Hourly {
        days.by_the_hour();
    }
    for act in &scenario.acts {
        days.go_on_until(begin + act.at);
        headless::days(&mut days, &shared, &mut teller, screen).await?;
        act.perform(&shared).map_err(wrong)?;
        if let Some(text) = act.told() {
            teller.say(screen, shared.now(), "◇", AnsiColor::Magenta, &text)?;
        }
    }
    days.go_on_until(begin + scenario.lasts);
    headless::days(&mut days, &shared, &mut teller, screen).await?;
    end(&scenario, &days, &shared, screen)?;
    if arguments.export.is_some() {
        headless::export(arguments, &shared, screen)?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// What it came to: how much was asked of Jules, and what lies on the ledger.
fn end(
    scenario: &Scenario,
    days: &Days,
    shared: &Shared,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let sessions = shared.world().books().sessions.len();
    screen.line("")?;
    screen.line(&several(sessions, "session"))?;
    let files = ledger(shared, days.repository());
    screen.line("")?;
    screen.line("On the branch jules at the end:")?;
    for (path, _) in &files {
        screen.line(&format!("  {path}"))?;
    }
    if files.is_empty() {
        screen.line("  nothing is in anybody's hands")?;
    }
    let told = |path: &str| scenario.tells.iter().any(|begin| path.starts_with(begin));
    for (path, text) in files.iter().filter(|(path, _)| told(path)) {
        screen.line("")?;
        screen.line(&format!("{path}:"))?;
        for line in text.lines() {
            screen.line(format!("  {line}").trim_end())?;
        }
    }
    Ok(())
}

/// The files that layers hand to one another, by path.
fn ledger(shared: &Shared, repository: &RepositoryName) -> Vec<(String, String)> {
    let world = shared.world();
    let github = world.github();
    let found = github
        .repository_by_name(&repository.owner, &repository.name)
        .and_then(|repo| Some((repo, github.branch_head(repo, LEDGER)?)));
    let Some((repo, head)) = found else {
        return Vec::new();
    };
    let handed_over = |path: &String| HANDED_OVER.iter().any(|begin| path.starts_with(begin));
    let paths = github.list_files(repo, head).into_iter();
    paths
        .filter(handed_over)
        .map(|path| {
            let bytes = github.read_file(repo, head, &path).unwrap_or_default();
            (path, String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}
