//! `phileas adopt`: what the pull requests of Jules in a repository say, and a plan from what is there.

mod cache;
mod personas;
mod report;

use std::io::Write;
use std::path::PathBuf;

use phileas_domain::model::{PullNumber, Tree};
use phileas_domain::work::paths::is_derived;
use phileas_domain::work::{History, Sketch, worth_reading};
use serde_json::json;

use crate::adapters::github::{Client, HISTORY_PAGE};
use crate::cli::arguments::Adopt;
use crate::cli::context::clients;
use crate::cli::context::clock::local_now;
use crate::cli::context::env_var::env_value;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::{self, Screen};
use crate::runtime::ports::ReadGitHub as _;
use cache::{Cache, Origin};

/// Where github.com answers.
const DEFAULT_API: &str = "https://api.github.com";
/// So many diffs are read in one run; the next run goes on. GitHub allows a token 5,000 requests an hour.
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
const DIFFS_IN_A_RUN: usize = 500;
/// Where earlier tools and Jules' gallery keep journals and goals of personas.
const PERSONA_FOLDERS: [&str; 2] = [".jules", ".fleet/goals"];

pub(crate) async fn run(
    arguments: &Adopt,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let repository = &arguments.repository.repo;
    let client = clients::github_client(repository)?;
    let server = env_value("GITHUB_API_URL").unwrap_or_else(|| DEFAULT_API.to_owned());
    let of = Origin {
        server: &server,
        repository,
    };
    let path = match &arguments.cache {
        Some(path) => path.clone(),
        None => default_cache(of)?,
    };
    let mut cache = Cache::open(&path, of, local_now())?;
    read_listing(&client, &mut cache, screen).await?;
    let tree = read_personas(&client).await?;
    let unread = read_diffs(&client, &mut cache, screen).await?;
    let history = History::of(cache.pulls());
    let personas = personas::found_personas(&tree, &history);
    if arguments.repository.json {
        let document = json!({
            "repository": repository.to_string(),
            "history": history,
            "opened_by_people": cache.by_people(),
            "diffs_left": unread,
            "personas": personas,
        });
        screen.print_line(&document.to_string())?;
    } else {
        let counts = report::Counts {
            seen: cache.seen(),
            by_people: cache.by_people(),
            unread,
        };
        report::print_report(repository, &history, counts, &personas, screen)?;
    }
    if let Some(dir) = &arguments.write {
        let left_out = personas::named_by_titles(&tree, &history, &personas);
        personas::print_left_out(&left_out, screen, arguments.repository.json)?;
        personas::write_files(dir, &personas, screen, arguments.repository.json)?;
    }
    Ok(Exit::Done)
}

/// The file in which this repository's pull requests are kept: one for each server.
fn default_cache(of: Origin<'_>) -> Result<PathBuf, CliError> {
    let base = env_value("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env_value("HOME")?).join(".cache")))
        .ok_or_else(|| {
            CliError::usage(
                "there is no folder for the pull requests that are read: neither XDG_CACHE_HOME nor HOME is set; name \
                 a file with --cache",
            )
        })?;
    let address = of
        .server
        .split_once("://")
        .map_or(of.server, |(_, rest)| rest);
    let host = address.split('/').next().unwrap_or_default();
    Ok(base
        .join("phileas/adopt")
        .join(host.replace(':', "-"))
        .join(format!("{}.jsonl", of.repository)))
}

async fn read_listing(
    client: &Client,
    cache: &mut Cache,
    screen: &Screen<impl Write>,
) -> Result<(), CliError> {
    let mut size = HISTORY_PAGE;
    while let Some(after) = cache.next_page() {
        let page = client
            .pull_history_page(after.as_deref(), &mut size)
            .await?;
        cache.add_page(page)?;
        if screen.interactive {
            output::print_error(&format!("read {} pull requests", cache.seen()))?;
        }
    }
    Ok(())
}

/// Reads the diffs that can tell similar pull requests apart. Returns how many are left for the next run: a failure, such
/// as a limit of GitHub, ends the reading and not the report.
async fn read_diffs(
    client: &Client,
    cache: &mut Cache,
    screen: &Screen<impl Write>,
) -> Result<usize, CliError> {
    let wanted = worth_reading(cache.pulls());
    for (count, number) in wanted.iter().take(DIFFS_IN_A_RUN).enumerate() {
        let files = match client.pull_files(PullNumber(*number)).await {
            Ok(files) => files.unwrap_or_default(),
            Err(failure) => {
                output::print_error(&format!("no more diffs are read: {failure}"))?;
                return Ok(wanted.len() - count);
            }
        };
        let counted = files.iter().filter(|file| !is_derived(&file.path));
        let patches = counted.filter_map(|file| file.patch.as_deref());
        cache.add_diff(*number, Sketch::from_patches(patches))?;
        if screen.interactive && (count + 1) % 50 == 0 {
            output::print_error(&format!("read {} diffs of {}", count + 1, wanted.len()))?;
        }
    }
    Ok(wanted.len().saturating_sub(DIFFS_IN_A_RUN))
}

/// What the default branch holds of personas.
async fn read_personas(client: &Client) -> Result<Tree, CliError> {
    let seen = client.observe_repository().await?;
    let Some(head) = seen.repository.default_head else {
        return Ok(Tree::default());
    };
    let found = client.read_folders(&head, &PERSONA_FOLDERS).await?;
    Ok(seen.tree.laid_over(&found))
}
