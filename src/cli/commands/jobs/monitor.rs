//! `phileas monitor`.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::SignedDuration;
use phileas_domain::jobs::{Config, Event, Rules, config, figures};

use super::configuration::Configuration;
use super::reach;
use crate::adapters::jules::SystemPause;
use crate::cli::arguments::Monitor as Arguments;
use crate::cli::context::clock::local_now;
use crate::cli::context::run_identity::seed;
use crate::cli::context::shutdown_signal::signals;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::plain;
use crate::jobs::monitor::DEFAULT_ACCOUNT;
use crate::jobs::settle::{Settling, settle};
use crate::jobs::{Cycle, Monitor, Places, Rhythm, StoreError, Unasked, files};

/// How much of a message stands on a line, in characters.
const MESSAGE_CHARS: usize = 120;

pub(crate) async fn run(
    arguments: &Arguments,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let Configuration { config, places } =
        Configuration::read(&arguments.places, arguments.state.as_deref(), None)?;
    let rhythm = rhythm(arguments.poll, arguments.stuck_minutes, &config)?;
    let base = arguments.api_base.as_ref().or(config.api_base.as_ref());
    let told = config.jules_keys_dir.as_ref().map(std::path::PathBuf::from);
    let folder = arguments.jules_keys_dir.clone().or(told);
    // The monitor looks again anyway, so a call that failed is not repeated at once.
    let accounts = reach::accounts(base.map(String::as_str), folder.as_deref(), false)?;
    let settling = Settling {
        archive: !arguments.no_archive && config.actions.archive.unwrap_or(true),
        retire: !arguments.no_retire && config.actions.retire.unwrap_or(true),
    };
    let pulls = reach::pulls();
    let monitor = Monitor::new(places.clone(), rhythm, accounts);
    let mut asked = BTreeMap::new();
    let mut warned = Vec::new();
    let mut after = async |cycle: Cycle, screen: &mut Screen<_>| -> Result<Cycle, Stopped> {
        tell(&cycle, &mut warned, arguments.json, screen)?;
        if cycle.busy {
            return Ok(cycle);
        }
        if let Some(pulls) = &pulls {
            let accounts = monitor.accounts();
            let now = local_now();
            let over = settle(
                &places,
                &cycle.memory,
                &mut asked,
                accounts,
                pulls,
                settling,
                now,
            )
            .await;
            for (job, reason) in unless_running(over, arguments)?.unwrap_or_default() {
                tracing::info!(%job, ?reason, "the job is retired");
            }
        }
        if let Some(path) = &arguments.metrics_file {
            unless_running(figures_to(path, &cycle, &places), arguments)?;
        }
        Ok(cycle)
    };
    if arguments.once {
        let cycle = monitor.cycle(local_now(), true).await?;
        let cycle = after(cycle, screen).await?;
        if cycle.busy {
            tracing::info!("another monitor is looking at these jobs");
        }
        return Ok(ending(&cycle));
    }
    let end = signals()?;
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
                    // The loop may have ended by a signal meanwhile.
                    let _ended = stop.send(());
                }
            }
        })
        .await?;
    stopped.map_or(Ok(Exit::Done), Err)
}

/// How a single look ends: with the code of what kept it from asking, which it says.
fn ending(cycle: &Cycle) -> Exit {
    for unasked in &cycle.unasked {
        tracing::warn!("{}", why_not(unasked));
    }
    if cycle.keyless > 0 || cycle.unasked.iter().any(|unasked| unasked.refused) {
        Exit::Credential
    } else if cycle.unasked.is_empty() {
        Exit::Done
    } else {
        Exit::Unavailable
    }
}

/// What kept a single look from asking, and when another one asks again.
fn why_not(unasked: &Unasked) -> String {
    let Unasked { account, jobs, .. } = unasked;
    let left = match jobs {
        1 => "1 job was not looked at".to_owned(),
        _ => format!("{jobs} jobs were not looked at"),
    };
    let until = unasked.until.map_or_else(
        || "with the next look".to_owned(),
        |at| format!("at {}", at.strftime("%Y-%m-%d %H:%M:%SZ")),
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

pub(super) fn rhythm(
    poll: Option<SignedDuration>,
    stuck: Option<SignedDuration>,
    config: &Config,
) -> Result<Rhythm, Stopped> {
    let usual = |seconds: f64| config::length(seconds).expect("what is usual is a length of time");
    let poll = poll.or(config.monitor_poll);
    let stuck = stuck.or(config.stuck);
    Ok(Rhythm {
        poll: poll.unwrap_or_else(|| usual(config::MONITOR_POLL_SECONDS)),
        rules: Rules {
            stuck: stuck.unwrap_or_else(|| usual(config::STUCK_MINUTES * 60.0)),
        },
        max_failures: config.max_failures.unwrap_or(config::MAX_FAILURES),
        seed: seed()?,
    })
}

/// Says what is new; what is wrong with the jobs file is said once.
fn tell(
    cycle: &Cycle,
    warned: &mut Vec<String>,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let warnings: Vec<String> = cycle.warnings.iter().map(ToString::to_string).collect();
    for warning in warnings.iter().filter(|warning| !warned.contains(warning)) {
        tracing::warn!("{warning}");
    }
    if !cycle.busy {
        *warned = warnings;
    }
    for event in &cycle.events {
        if json {
            screen.line(event.render().trim_end())?;
        } else {
            screen.line(&line(event))?;
        }
    }
    Ok(screen.flush()?)
}

/// An event on a line.
pub(super) fn line(event: &Event) -> String {
    let id = event.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let job = event.job_id.as_ref().map_or("-", |job| job.as_str());
    let at = event.observed_at.map_or_else(String::new, |at| {
        format!("{} ", at.strftime("%Y-%m-%d %H:%M:%SZ"))
    });
    let said = event.text().map_or_else(String::new, |text| {
        format!(": {}", plain(text, MESSAGE_CHARS))
    });
    format!("{id:>5} {at}{:<11} {job}{said}", event.event)
}

fn figures_to(path: &std::path::Path, cycle: &Cycle, places: &Places) -> Result<(), StoreError> {
    let (registry, _) = places.jobs_file().read()?;
    files::write_whole(path, &figures::render(&cycle.memory, &registry))
}

/// A file that cannot be read or written ends a single cycle, and is a warning of a monitor that runs.
fn unless_running<T>(
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
