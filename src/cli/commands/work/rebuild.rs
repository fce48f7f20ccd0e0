//! `phileas work rebuild`: makes missing and outdated records from GitHub, and commits them to the ledger.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use phileas_domain::engine::{self, Pull, PullFile};
use phileas_domain::model::{Holder, PullNumber};
use phileas_domain::plan::NoveltyMode;
use phileas_domain::state::{self, STATE_PATH};
use phileas_domain::work::{PastPull, WORK_FOLDER, WorkRecord};
use serde_json::json;

use super::records::Records;
use crate::adapters::github::{Client, HISTORY_PAGE};
use crate::cli::arguments::Repository;
use crate::cli::context::{clients, run_identity};
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ports::{Commit, CommitError, Failure, ReadGitHub as _, WriteGitHub as _};
use crate::runtime::{TickError, commit_trailers};

/// How many records one commit has. A kill loses no more than these.
const RECORDS_IN_A_COMMIT: usize = 50;
/// How often a commit starts again because another process committed first.
const MAX_LOST_RACES: usize = 6;
/// GitHub allows a token so many requests an hour.
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
const REQUESTS_AN_HOUR: u64 = 5_000;

/// What a run did.
#[derive(Default)]
struct Progress {
    /// Pull requests that should have a record.
    pulls: usize,
    /// Records that were written.
    written: usize,
    /// Pull requests whose record is still missing or outdated.
    left: usize,
    /// Why it ended before all were written.
    ended: Option<String>,
}

pub(super) async fn run(
    arguments: &Repository,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let mut records = Records::read(&github, &[WORK_FOLDER]).await?;
    if records.plan.novelty.mode == NoveltyMode::Off {
        return Err(CliError::finding(
            "nothing is rebuilt: `novelty.mode` is \"off\", so phileas keeps no records",
        ));
    }
    records.report_broken()?;
    let listed = read_listing(&github).await?;
    let due = due_pulls(&records, &listed);
    let pulls = listed.len() + unlisted_pulls(&records, &listed).count();
    if !arguments.json {
        screen.print_line(&plan_text(pulls, due.len()))?;
        screen.flush()?;
    }
    let mut progress = Progress {
        pulls,
        left: due.len(),
        ..Progress::default()
    };
    let holder = run_identity::run_holder()?;
    for numbers in due.chunks(RECORDS_IN_A_COMMIT) {
        if Deadline::is_near(deadline) {
            progress.ended = Some("the deadline is near".to_owned());
            break;
        }
        let pulls = match read_pulls(&github, numbers).await {
            Ok(pulls) => pulls,
            Err(failure) => {
                progress.ended = Some(failure.to_string());
                break;
            }
        };
        commit_records(&github, &holder, &mut records, &pulls).await?;
        progress.written += pulls.len();
        progress.left -= numbers.len();
        if screen.interactive {
            output::print_error(&format!(
                "wrote {} of {} records",
                progress.written,
                due.len()
            ))?;
        }
    }
    print_progress(&progress, arguments, screen)
}

/// What is going to be read, and how long that takes.
fn plan_text(pulls: usize, due: usize) -> String {
    if due == 0 {
        return format!(
            "{}, each with a current record",
            pluralize(pulls, "pull request")
        );
    }
    format!(
        "{} of Jules, {due} without a current record: about {} under GitHub's limit of {REQUESTS_AN_HOUR} requests an hour; \
         after an end of any kind, the next run goes on",
        pluralize(pulls, "pull request"),
        duration_text(due)
    )
}

/// How long GitHub's limit makes the reading take: one request for the files of each, and some for facts and commits.
fn duration_text(due: usize) -> String {
    let requests = due as u64 + 4 * (due / RECORDS_IN_A_COMMIT) as u64;
    let minutes = (requests * 60).div_ceil(REQUESTS_AN_HOUR);
    let time = jiff::SignedDuration::try_from(Duration::from_secs(60 * minutes.max(1)));
    time.map_or_else(|_| "days".to_owned(), engine::span_text)
}

async fn read_listing(github: &Client) -> Result<Vec<PastPull>, CliError> {
    let mut listed = Vec::new();
    let (mut size, mut after) = (HISTORY_PAGE, None);
    loop {
        let page = github
            .pull_history_page(after.as_deref(), &mut size)
            .await?;
        listed.extend(page.pulls);
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(listed),
        }
    }
}

/// The pull requests of sessions that the ledger knows and that Jules' account did not open.
fn unlisted_pulls(records: &Records, listed: &[PastPull]) -> impl Iterator<Item = u64> {
    let listed: BTreeSet<u64> = listed.iter().map(|pull| pull.pr).collect();
    let entries = records.state.history.values();
    let of_sessions = entries.filter(|entry| entry.session_id.is_some());
    let numbers: BTreeSet<u64> = of_sessions
        .filter_map(|entry| Some(entry.pr_number?.0))
        .collect();
    numbers
        .into_iter()
        .filter(move |number| !listed.contains(number))
}

/// The pull requests whose record is missing or outdated, in the order of their numbers.
fn due_pulls(records: &Records, listed: &[PastPull]) -> Vec<PullNumber> {
    let is_current = |record: &WorkRecord, pull: &PastPull| {
        let is_merged = matches!(
            record.outcome,
            Some(state::Outcome::Merged | state::Outcome::Reverted)
        );
        record.closed_at == pull.closed_at && is_merged == pull.merged
    };
    let outdated = listed.iter().filter(|pull| {
        let record = records.find(pull.pr);
        !record.is_some_and(|(_, record)| is_current(record, pull))
    });
    let unlisted = unlisted_pulls(records, listed).filter(|number| {
        let record = records.find(*number);
        record.is_none_or(|(_, record)| record.is_open())
    });
    let numbers: BTreeSet<u64> = outdated.map(|pull| pull.pr).chain(unlisted).collect();
    numbers.into_iter().map(PullNumber).collect()
}

/// Reads pull requests with their files.
async fn read_pulls(
    github: &Client,
    numbers: &[PullNumber],
) -> Result<Vec<(Pull, Vec<PullFile>)>, Failure> {
    let numbers: BTreeSet<PullNumber> = numbers.iter().copied().collect();
    let mut pulls = Vec::new();
    for (number, pull) in github.read_pulls(&numbers).await? {
        let files = github.read_pull_files(number).await?;
        pulls.push((pull, files.unwrap_or_default()));
    }
    Ok(pulls)
}

/// Commits the records of these pull requests by compare-and-swap, with the state that names the open ones.
async fn commit_records(
    github: &Client,
    holder: &Holder,
    records: &mut Records,
    pulls: &[(Pull, Vec<PullFile>)],
) -> Result<(), CliError> {
    for _ in 0..MAX_LOST_RACES {
        let before = records.state.clone();
        let Records {
            plan,
            state,
            files,
            now,
            ..
        } = &mut *records;
        let changed = engine::rebuild_records(plan, state, files, pulls, *now);
        if let Some(first) = state::invariant::check_step(&before, state).first() {
            return Err(TickError::Invariant(first.to_string()).into());
        }
        let texts = changed.into_iter().filter_map(|path| {
            let text = files.get(&path)?.text();
            Some((path, Some(text)))
        });
        let mut written: std::collections::BTreeMap<String, Option<String>> = texts.collect();
        written.insert(STATE_PATH.to_owned(), Some(state::codec::save(state)));
        let commit = Commit {
            base: Some(records.head.clone()),
            headline: format!("phileas: rebuild {}", pluralize(pulls.len(), "work record")),
            body: commit_trailers(holder),
            files: written,
        };
        match github.commit_ledger(&commit).await {
            Ok(head) => {
                records.head = head;
                return Ok(());
            }
            Err(CommitError::Stale) => *records = Records::read(github, &[WORK_FOLDER]).await?,
            Err(CommitError::Failed(failure)) => return Err(failure.into()),
        }
    }
    Err(TickError::Contended(MAX_LOST_RACES).into())
}

fn print_progress(
    progress: &Progress,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if arguments.json {
        let document = json!({
            "pulls": progress.pulls, "written": progress.written, "left": progress.left, "ended": progress.ended,
        });
        screen.print_line(&document.to_string())?;
    } else if progress.written > 0 || progress.ended.is_some() {
        screen.print_line(&format!(
            "{} written",
            pluralize(progress.written, "record")
        ))?;
    }
    match &progress.ended {
        None => Ok(Exit::Done),
        Some(why) => Err(CliError {
            exit: Exit::Unavailable,
            message: format!(
                "{} are left: {why}; run it again, and it goes on with them",
                pluralize(progress.left, "record")
            ),
        }),
    }
}
