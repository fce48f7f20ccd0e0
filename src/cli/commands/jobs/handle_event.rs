//! `phileas agent handle-event`: handles one event, and prints what an agent needs to know.

use std::collections::BTreeMap;
use std::io::{Read as _, Write};

use phileas_domain::jobs::line::{MAX_LINE_BYTES, text_of};
use phileas_domain::jobs::{Event, EventKind, config};
use serde_json::json;

use super::clients;
use super::configuration::JobsConfiguration;
use crate::cli::arguments::HandleEvent as Arguments;
use crate::cli::context::clock::local_now;
use crate::cli::context::env_var::env_value;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::jobs::command::{SHORTENED, VARIABLE};
use crate::jobs::handler::{Allowed, EventHandler, HandledEvent};
use crate::jobs::mcp_command;
use crate::jobs::settle::PullSettlement;

pub(crate) async fn run(
    arguments: &Arguments,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let JobsConfiguration {
        config,
        paths: places,
    } = JobsConfiguration::read_configuration(&arguments.files, None, None)?;
    let event = read_event(arguments)?;
    let actions = &config.actions;
    let allowed = Allowed {
        checks_session: !arguments.no_look && actions.read_session.unwrap_or(true),
        checks: !arguments.no_checks && actions.checks.unwrap_or(true),
        retries: arguments
            .retries
            .or(actions.retries)
            .unwrap_or(config::RETRIES),
        approve_plans: arguments.approve_plans || actions.approve_plans.unwrap_or(false),
        settling: PullSettlement {
            archive: !arguments.no_archive && actions.archive.unwrap_or(true),
            retire: !arguments.no_retire && actions.retire.unwrap_or(true),
        },
    };
    let base = arguments.api_base.as_ref().or(config.api_base.as_ref());
    let configured = config.jules_keys_dir.as_ref().map(std::path::PathBuf::from);
    let folder = arguments.jules_keys_dir.clone().or(configured);
    let accounts = match clients::jules_accounts(base.map(String::as_str), folder.as_deref(), true)
    {
        Ok(accounts) => accounts,
        // The brief says what was not possible without a key.
        Err(stopped) if stopped.exit == Exit::Credential => BTreeMap::new(),
        Err(stopped) => return Err(stopped),
    };
    let pulls = clients::github_clients();
    let handler = EventHandler {
        paths: &places,
        accounts: &accounts,
        pulls: pulls.as_ref(),
        allowed,
    };
    let mut dealt = handler.handle_event(&event, local_now()).await?;
    if let Some(command) = &config.mcp_command
        && let Some((tool, job)) = mcp_command::tool_for(&event)
    {
        let answer = mcp_command::call(command, tool, job).await;
        add_answer(&mut dealt, tool, answer);
    }
    if arguments.json {
        screen.print_line(&dealt.document.to_string())?;
    } else {
        screen.print_lines(&dealt.text)?;
    }
    Ok(if dealt.again {
        Exit::Unavailable
    } else {
        Exit::Done
    })
}

/// Adds the answer of the MCP server in the configuration, quoted, because another program wrote it.
fn add_answer(dealt: &mut HandledEvent, tool: &str, answer: Result<String, String>) {
    let shown = match &answer {
        Ok(text) => {
            let quoted = text.lines().map(|line| format!("> {line}\n"));
            format!(
                "\nmcp_command says to {tool}:\n{}",
                quoted.collect::<String>()
            )
        }
        Err(why) => format!("\nmcp_command was asked for {tool}: {why}\n"),
    };
    if !dealt.text.ends_with('\n') {
        dealt.text.push('\n');
    }
    dealt.text.push_str(&shown);
    dealt.document["mcp"] = match answer {
        Ok(text) => json!({"tool": tool, "answer": text}),
        Err(why) => json!({"tool": tool, "error": why}),
    };
}

/// The event on standard input.
fn read_input() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_LINE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::usage(format!("standard input: {error}")))?;
    if bytes.len() > MAX_LINE_BYTES {
        return Err(CliError::usage(format!(
            "standard input: the event has more than {MAX_LINE_BYTES} bytes; leave out its payload"
        )));
    }
    let text = text_of(&bytes).map_err(|fault| {
        CliError::usage(format!("standard input: {fault}; {}", fault.help_text()))
    })?;
    Ok(text.to_owned())
}

/// Whether a watcher has left out a part of an event, which is whole on standard input.
fn is_shortened(text: &str) -> bool {
    Event::parse(text).is_ok_and(|event| event.rest.contains_key(SHORTENED))
}

fn read_event(arguments: &Arguments) -> Result<Event, CliError> {
    let (source, text) = match &arguments.event {
        Some(text) if env_value(VARIABLE).as_ref() == Some(text) && !is_shortened(text) => {
            (VARIABLE, text.clone())
        }
        Some(text) if env_value(VARIABLE).as_ref() != Some(text) => ("--event", text.clone()),
        Some(_) | None => ("standard input", read_input()?),
    };
    if text.trim().is_empty() {
        return Err(CliError::usage(format!(
            "there is no event; it is read from --event, from the variable {VARIABLE}, or from standard input"
        )));
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    let event = Event::parse(text).map_err(|why| CliError::usage(format!("{source}: {why}")))?;
    let kind = event.event.parse::<EventKind>();
    let kind = kind.map_err(|error| CliError::usage(format!("{source}: {error}")))?;
    // Only an error may concern the whole monitor.
    if kind != EventKind::Error && event.job_id.is_none() {
        return Err(CliError::usage(format!(
            "{source}: the event has no valid `job_id`: {kind} is about a job; name it by its id, between double quotes"
        )));
    }
    Ok(event)
}
