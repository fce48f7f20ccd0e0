//! `phileas agent monitor`: checks jobs and writes events.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::SignedDuration;
use phileas_domain::engine::format_utc;
use phileas_domain::jobs::{Config, Event, Rules, config, metrics};

use super::clients;
use super::configuration::JobsConfiguration;
use crate::adapters::jules::SystemPause;
use crate::cli::arguments::Monitor as Arguments;
use crate::cli::context::clock::local_now;
use crate::cli::context::run_identity::random_seed;
use crate::cli::context::shutdown_signal::shutdown_signal;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::jobs::monitor::DEFAULT_ACCOUNT;
use crate::jobs::settle::{PullSettlement, settle_pulls};
use crate::jobs::{Cycle, JobPaths, Monitor, MonitorSettings, SkippedAccount, StoreError, files};

/// How many characters of a message a line shows.
const MESSAGE_CHARS: usize = 120;

pub(crate) async fn run(
    arguments: &Arguments,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let JobsConfiguration {
        config,
        paths: places,
    } = JobsConfiguration::read_configuration(&arguments.files, arguments.state.as_deref(), None)?;
    let rhythm = monitor_rhythm(arguments.poll, arguments.stuck_minutes, &config)?;
    let base = arguments.api_base.as_ref().or(config.api_base.as_ref());
    let configured = config.jules_keys_dir.as_ref().map(std::path::PathBuf::from);
    let folder = arguments.jules_keys_dir.clone().or(configured);
    // The monitor checks again anyway, so a failed call is not retried at once.
    let accounts = clients::jules_accounts(base.map(String::as_str), folder.as_deref(), false)?;
    let settling = PullSettlement {
        archive: !arguments.no_archive && config.actions.archive.unwrap_or(true),
        retire: !arguments.no_retire && config.actions.retire.unwrap_or(true),
    };
    let pulls = clients::github_clients();
    let monitor = Monitor::new(places.clone(), rhythm, accounts);
    let mut asked = BTreeMap::new();
    let mut warned = Vec::new();
    let mut after = async |cycle: Cycle, screen: &mut Screen<_>| -> Result<Cycle, CliError> {
        print_cycle(&cycle, &mut warned, arguments.json, screen)?;
        if cycle.busy {
            return Ok(cycle);
        }
        if let Some(pulls) = &pulls {
            let accounts = monitor.account_names();
            let now = local_now();
            let over = settle_pulls(
                &places,
                &cycle.memory,
                &mut asked,
                accounts,
                pulls,
                settling,
                now,
            )
            .await;
            for (job, reason) in warn_if_running(over, arguments)?.unwrap_or_default() {
                tracing::info!(%job, ?reason, "the job is retired");
            }
        }
        if let Some(path) = &arguments.metrics_file {
            warn_if_running(write_metrics(path, &cycle, &places), arguments)?;
        }
        Ok(cycle)
    };
    if arguments.once {
        let cycle = monitor.run_cycle(local_now(), true).await?;
        let cycle = after(cycle, screen).await?;
        if cycle.busy {
            tracing::info!("another monitor is looking at these jobs");
        }
        return Ok(exit_of_cycle(&cycle));
    }
    let end = shutdown_signal()?;
    let mut stopped = None;
    let (stop, stopping) = tokio::sync::oneshot::channel::<()>();
    let mut stop = Some(stop);
    let end = async {
        tokio::select! {
            () = end => {}
            _ = stopping => {}
        }
    };
    monitor
        .run(&SystemPause, end, async |cycle| {
            if let Err(error) = after(cycle, screen).await {
                stopped = Some(error);
                if let Some(stop) = stop.take() {
                    // A signal may have ended the loop already.
                    let _ended = stop.send(());
                }
            }
        })
        .await?;
    stopped.map_or(Ok(Exit::Done), Err)
}

/// The exit code of a single check. It logs what prevented the check.
fn exit_of_cycle(cycle: &Cycle) -> Exit {
    for unasked in &cycle.unasked {
        tracing::warn!("{}", unasked_text(unasked));
    }
    if cycle.keyless > 0 || cycle.unasked.iter().any(|unasked| unasked.refused) {
        Exit::Credential
    } else if cycle.unasked.is_empty() {
        Exit::Done
    } else {
        Exit::Unavailable
    }
}

/// Why a single check skipped jobs, and when the next one checks them.
fn unasked_text(unasked: &SkippedAccount) -> String {
    let SkippedAccount { account, jobs, .. } = unasked;
    let left = match jobs {
        1 => "1 job was not checked".to_owned(),
        _ => format!("{jobs} jobs were not checked"),
    };
    let until = unasked.until.map_or_else(
        || "with the next check".to_owned(),
        |at| format!("at {}", format_utc(at)),
    );
    let key = if account == DEFAULT_ACCOUNT {
        "the Jules key".to_owned()
    } else {
        format!("the Jules key `{account}`")
    };
    match (unasked.refused, unasked.waits) {
        (true, false) => format!(
            "{key} is refused, so {left}; set another one (jules.google.com/settings#api), which is tried at once, while \
             this one is tried again {until}"
        ),
        (true, true) => format!(
            "{key} was refused and is tried again {until}, so {left}; another one (jules.google.com/settings#api) is tried \
             at once"
        ),
        (false, false) => {
            format!("Jules did not answer with {key}, so {left}; it is asked again {until}")
        }
        (false, true) => format!(
            "Jules is not asked with {key} so soon after it could not answer, so {left}; it is asked again {until}"
        ),
    }
}

pub(super) fn monitor_rhythm(
    poll: Option<SignedDuration>,
    stuck: Option<SignedDuration>,
    config: &Config,
) -> Result<MonitorSettings, CliError> {
    let usual = |seconds: f64| config::length(seconds).expect("what is usual is a length of time");
    let poll = poll.or(config.monitor_poll);
    let stuck = stuck.or(config.stuck);
    Ok(MonitorSettings {
        poll: poll.unwrap_or_else(|| usual(config::MONITOR_POLL_SECONDS)),
        rules: Rules {
            stuck: stuck.unwrap_or_else(|| usual(config::STUCK_MINUTES * 60.0)),
        },
        max_failures: config.max_failures.unwrap_or(config::MAX_FAILURES),
        seed: random_seed()?,
    })
}

/// Prints new events. Each warning about the jobs file is logged once.
fn print_cycle(
    cycle: &Cycle,
    warned: &mut Vec<String>,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    let warnings: Vec<String> = cycle.warnings.iter().map(ToString::to_string).collect();
    for warning in warnings.iter().filter(|warning| !warned.contains(warning)) {
        tracing::warn!("{warning}");
    }
    if !cycle.busy {
        *warned = warnings;
    }
    for event in &cycle.events {
        if json {
            screen.print_line(event.render().trim_end())?;
        } else {
            screen.print_line(&event_line(event))?;
        }
    }
    Ok(screen.flush()?)
}

/// An event on one line.
pub(super) fn event_line(event: &Event) -> String {
    let id = event.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let job = event.job_id.as_ref().map_or("-", |job| job.as_str());
    let at = event.observed_at.map_or_else(String::new, |at| {
        format!("{} ", at.strftime("%Y-%m-%d %H:%M:%SZ"))
    });
    let said = event.message_text().map_or_else(String::new, |text| {
        format!(": {}", sanitize(text, MESSAGE_CHARS))
    });
    format!("{id:>5} {at}{:<11} {job}{said}", event.event)
}

fn write_metrics(
    path: &std::path::Path,
    cycle: &Cycle,
    places: &JobPaths,
) -> Result<(), StoreError> {
    let (registry, _) = places.jobs_file().read_jobs()?;
    files::write_whole(path, &metrics::render_metrics(&cycle.memory, &registry))
}

/// A file error ends a single cycle; a running monitor logs it and goes on.
fn warn_if_running<T>(
    done: Result<T, StoreError>,
    arguments: &Arguments,
) -> Result<Option<T>, StoreError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if arguments.once => Err(error),
        Err(error) => {
            tracing::warn!("{error}; the next cycle tries again");
            Ok(None)
        }
    }
}
