//! `phileas agent watch`: starts a program for each event.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use phileas_domain::jobs::{Config, config};
use tokio::sync::mpsc;

use super::configuration::JobsConfiguration;
use crate::cli::arguments::Watch as Arguments;
use crate::cli::context::clock::local_now;
use crate::cli::context::shutdown_signal::shutdown_signal;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::jobs::command::{Command, Commands};
use crate::jobs::{WatchPass, Watcher};

/// The poll interval if the system reports changes. It may lose some, so polling stays as a fallback.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(10);

pub(crate) async fn run(
    arguments: &Arguments,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let JobsConfiguration {
        config,
        paths: places,
    } = JobsConfiguration::read_configuration(&arguments.files, None, arguments.state.as_deref())?;
    let commands = event_commands(arguments, &config)?;
    let attempts = config.max_attempts.unwrap_or(config::MAX_ATTEMPTS);
    let Some(watcher) = Watcher::new(&places, commands, attempts)? else {
        return Err(CliError::usage(format!(
            "another watcher uses {}; an events file has one watcher, which can start another program for each kind of \
             event; for other events give this one an --events and a --state-file of its own",
            places.watcher.display()
        )));
    };
    let poll = poll_interval(arguments, &config);
    let (changed, mut changes) = mpsc::channel(1);
    let folder = places
        .events
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let told_by = (!arguments.once)
        .then(|| watch_folder(folder.unwrap_or(Path::new(".")), changed))
        .flatten();
    let pause = if told_by.is_some() {
        poll.max(MAX_POLL_INTERVAL)
    } else {
        poll
    };
    let mut end = std::pin::pin!(shutdown_signal()?);
    let mut has_begun = false;
    loop {
        let passed = tokio::select! {
            () = &mut end => return Ok(Exit::Done),
            passed = watcher.run_pass(local_now()) => passed,
        };
        let passed = match passed {
            // Other programs' file changes must not end a running watcher.
            Err(error) if has_begun && !arguments.once => {
                tracing::error!("{error}; it is tried again");
                WatchPass::default()
            }
            passed => passed?,
        };
        has_begun = true;
        if passed.more {
            continue;
        }
        let retry = passed
            .retry_at
            .map(|at| Duration::try_from(at.duration_since(local_now())).unwrap_or_default());
        if arguments.once && retry.is_none() {
            screen.flush()?;
            return Ok(Exit::Done);
        }
        tokio::select! {
            () = &mut end => return Ok(Exit::Done),
            () = tokio::time::sleep(retry.unwrap_or(pause)) => {}
            Some(()) = changes.recv(), if retry.is_none() && told_by.is_some() => {}
        }
    }
}

/// The poll interval without change notifications: from the flag or its variable, then from the configuration.
fn poll_interval(arguments: &Arguments, config: &Config) -> Duration {
    let poll = arguments.poll.or(config.watcher_poll);
    poll.and_then(|poll| Duration::try_from(poll).ok())
        .unwrap_or(Duration::from_secs_f64(config::WATCHER_POLL_SECONDS))
}

/// Subscribes to changes in a folder; `None` if the system cannot report them.
fn watch_folder(folder: &Path, changed: mpsc::Sender<()>) -> Option<notify::RecommendedWatcher> {
    let watcher = std::fs::create_dir_all(folder)
        .map_err(notify::Error::io)
        .and_then(|()| {
            let mut watcher =
                notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                    // A read is not a change. One pending notification is enough.
                    if event.is_ok_and(|event| !event.kind.is_access()) {
                        let _heard = changed.try_send(());
                    }
                })?;
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
    match watcher {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::info!(
                "the system does not report changes ({error}); the file is polled instead"
            );
            None
        }
    }
}

fn event_commands(arguments: &Arguments, config: &Config) -> Result<Commands, CliError> {
    let read = |text: &str| {
        if arguments.shell {
            return Ok(Command::Shell(text.to_owned()));
        }
        Command::parse(text).ok_or_else(|| {
            CliError::usage(format!(
                "`{text}` is not a command: it is empty, or a quotation mark is not closed"
            ))
        })
    };
    let program = |words: &Vec<String>| Command::Program(words.clone());
    let default = match &arguments.command {
        Some(text) => Some(read(text)?),
        None => config.command.as_ref().map(program),
    };
    let mut by_kind: std::collections::BTreeMap<_, _> = config
        .handlers
        .iter()
        .map(|(kind, words)| (*kind, program(words)))
        .collect();
    for (kind, text) in &arguments.on {
        by_kind.insert(*kind, read(text)?);
    }
    if default.is_none() && by_kind.is_empty() {
        return Err(CliError::usage(
            "there is no command for events; give --command, --on, or `zai_command` in the configuration",
        ));
    }
    let timeout = config
        .handler_timeout
        .and_then(|timeout| Duration::try_from(timeout).ok());
    Ok(Commands {
        default,
        by_kind,
        timeout: timeout.unwrap_or(Duration::from_secs_f64(config::HANDLER_SECONDS)),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        watch: Arguments,
    }

    /// Upstream defect 4. Where the system tells of changes the pause cannot be seen from outside.
    #[test]
    fn defect_04_watcher_poll_seconds() {
        let of = |words: &[&str], file: &str| {
            let line = Line::try_parse_from([&["watch"], words].concat()).unwrap();
            let (config, _) = Config::parse("config.json", file).unwrap();
            poll_interval(&line.watch, &config).as_secs_f64()
        };
        let file = "{\"watcher_poll_seconds\": 7}";
        for (words, file, wanted) in [
            (&[][..], "{}", 1.0),
            (&[], file, 7.0),
            (&["--poll", "3"], file, 3.0),
        ] {
            assert!((of(words, file) - wanted).abs() < 1e-9, "{words:?} {file}");
        }
    }
}
