//! `phileas agent jobs`: lists, registers and retires jobs.

use std::io::Write;

use phileas_domain::jobs::{Job, MonitorMemory};
use serde_json::{Value, json};

use super::configuration::JobsConfiguration;
use crate::cli::arguments::JobsCommand;
use crate::cli::context::clock::local_now;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::cli::terminal::table::Table;
use crate::jobs::monitor::MAX_MEMORY_BYTES;
use crate::jobs::{JobPaths, Registered, files};

/// How many characters of a task the table shows.
const TASK_CHARS: usize = 60;

pub(crate) async fn run(
    command: &JobsCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        JobsCommand::List {
            all,
            json,
            files: places,
        } => {
            let JobsConfiguration { paths: places, .. } =
                JobsConfiguration::read_configuration(places, None, None)?;
            list_jobs(&places, *all, *json, screen)
        }
        JobsCommand::Add {
            id,
            repo,
            task,
            priority,
            files: places,
        } => {
            let JobsConfiguration { paths: places, .. } =
                JobsConfiguration::read_configuration(places, None, None)?;
            let mut job = Job::new(id.clone());
            job.repo = repo.as_ref().map(ToString::to_string);
            job.priority = priority.unwrap_or_default();
            if let Some(task) = task {
                job.metadata = json!({ "task": task });
            }
            let word = match places.jobs_file().register_job(job, local_now())? {
                Registered::New => "is registered",
                Registered::Known => "was registered before",
                Registered::Again => "is checked again",
            };
            screen.print_line(&format!("job {id} {word}"))?;
            Ok(Exit::Done)
        }
        JobsCommand::Retire {
            id,
            reason,
            files: places,
        } => {
            let JobsConfiguration { paths: places, .. } =
                JobsConfiguration::read_configuration(places, None, None)?;
            if places.jobs_file().retire_job(id, *reason, local_now())? {
                screen.print_line(&format!("job {id} is retired"))?;
                return Ok(Exit::Done);
            }
            match places.jobs_file().get(id)? {
                Some(_) => {
                    screen.print_line(&format!("job {id} was retired before"))?;
                    Ok(Exit::Done)
                }
                None => Err(CliError::usage(format!(
                    "{} holds no job {id}",
                    places.jobs.display()
                ))),
            }
        }
    }
}

fn list_jobs(
    places: &JobPaths,
    all: bool,
    as_json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let (registry, found) = places.jobs_file().read_jobs()?;
    for diagnostic in found {
        tracing::warn!("{diagnostic}");
    }
    let parse = MonitorMemory::parse;
    let (memory, found) = files::read_state(
        &places.monitor,
        MAX_MEMORY_BYTES,
        files::Unreadable::Ignore,
        parse,
    )?;
    for diagnostic in found {
        tracing::warn!("{diagnostic}");
    }
    let memory = memory.unwrap_or_default();
    let mut jobs: Vec<&Job> = registry.jobs().filter(|job| all || job.is_live()).collect();
    jobs.sort_by_key(|job| job.priority);
    if jobs.is_empty() && !as_json {
        let path = places.jobs.display();
        screen.print_line(&match registry.jobs().next() {
            Some(_) => format!("{path} has no live jobs; --all lists the retired ones"),
            None if !places.jobs.exists() => format!("there are no jobs: there is no file {path}"),
            None => format!("{path} has no jobs"),
        })?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["job", "repository", "state", "last activity (UTC)", "task"]);
    for job in jobs {
        let known = memory.jobs.get(&job.job_id);
        if as_json {
            let mut document =
                serde_json::to_value(job).map_err(|error| CliError::fault(error.to_string()))?;
            document["status"] = known.map_or(Value::Null, |known| json!(known.last_status));
            document["last_activity"] =
                known.map_or(Value::Null, |known| json!(known.last_activity));
            screen.print_line(&document.to_string())?;
            continue;
        }
        let state = match &job.retired {
            Some(retired) => format!("retired: {}", reason_text(retired.reason)),
            None => known
                .and_then(|known| known.last_status.clone())
                .unwrap_or_else(|| "not seen yet".to_owned()),
        };
        let last = known.and_then(|known| known.last_activity);
        let task = job.metadata.get("task").and_then(Value::as_str);
        table.push_row([
            job.job_id.to_string(),
            job.repository_name()
                .map_or_else(String::new, |name| name.to_string()),
            sanitize(&state, TASK_CHARS),
            last.map_or_else(String::new, |at| at.strftime("%Y-%m-%d %H:%M").to_string()),
            sanitize(task.unwrap_or_default(), TASK_CHARS),
        ]);
    }
    if !as_json {
        screen.print_lines(&table.table_text())?;
    }
    Ok(Exit::Done)
}

fn reason_text(reason: phileas_domain::jobs::RetireReason) -> String {
    serde_json::to_value(reason)
        .ok()
        .and_then(|word| word.as_str().map(|word| word.replace('_', " ")))
        .unwrap_or_default()
}
