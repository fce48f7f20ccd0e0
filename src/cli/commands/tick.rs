//! `phileas tick` and `phileas explain`.

use std::io::Write;

use jiff::SignedDuration;
use phileas_domain::Diagnostic;
use phileas_domain::engine::{Line, Reason, RunRequest, Verdict, plain_text};
use phileas_domain::model::{PersonaId, RepositoryName, TrackName};

use crate::adapters::files::read_text;
use crate::cli::arguments::TickArguments;
use crate::cli::context::clients::{Connection, run_settings};
use crate::cli::context::clock::{self, local_now};
use crate::cli::context::credential_help;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::{
    Cost, Tense, failed_json, line_json, line_text, short_time, summary_json,
};
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::pluralize;
use crate::runtime::{FailedEffect, TickReport};

/// The column at which the further rows of a long line begin.
const INDENT: usize = 16;
/// Clocks that differ by more than this are reported.
const SKEW_LIMIT: SignedDuration = SignedDuration::from_mins(2);

pub(crate) async fn run(
    arguments: &TickArguments,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    check_event(arguments)?;
    let may_differ = clock::may_differ()?;
    let connection = Connection::from_environment(&arguments.repository.repo)?;
    let ask = read_request(arguments);
    let tense = if arguments.dry_run {
        Tense::Forecast
    } else {
        Tense::Done
    };
    let report = if arguments.dry_run {
        connection.explain(ask.clone()).await?.0
    } else {
        let settings = run_settings(ask.clone())?;
        connection.run_tick(&settings, deadline).await?
    };
    print_report(
        screen,
        &connection.repository,
        &report,
        connection.client_cost(),
        tense,
        arguments.repository.json,
    )?;
    if !may_differ {
        warn_of_clock_skew(&report);
    }
    if report.stopped {
        return Err(Deadline::deadline_error(deadline));
    }
    tick_result(&report, &ask)
}

/// The request of the command line, by id or by the path of a prompt.
pub(crate) fn read_request(arguments: &TickArguments) -> RunRequest {
    if let Some(persona) = &arguments.persona {
        return RunRequest::Persona(PersonaId::new(persona_id(persona)));
    }
    if let Some(track) = &arguments.track {
        return RunRequest::Track(TrackName::from(track.as_str()));
    }
    if let Some(entry) = arguments.entry_point {
        return RunRequest::Enter(entry);
    }
    if arguments.all {
        RunRequest::All
    } else {
        RunRequest::Due
    }
}

/// `personas/<id>/prompt.md` names the persona `<id>`.
pub(crate) fn persona_id(text: &str) -> String {
    let parts: Vec<_> = text.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [.., id, file] if file.starts_with("prompt.md") => (*id).to_owned(),
        [only] => (*only).to_owned(),
        _ => text.to_owned(),
    }
}

/// The event only says that something is due, but a payload that cannot be read is a usage error.
fn check_event(arguments: &TickArguments) -> Result<(), CliError> {
    let Some(path) = &arguments.event_path else {
        return Ok(());
    };
    let text = read_text(path)
        .map_err(|error| CliError::usage(format!("--event-path {}: {error}", path.display())))?;
    serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}'))
        .map_err(|error| CliError::usage(format!("--event-path {}: {error}", path.display())))?;
    tracing::debug!(
        event.name = arguments.event_name.as_deref().unwrap_or(""),
        "woken by an event"
    );
    Ok(())
}

/// The exit code of a report. An untrusted ledger, a refused key and an unknown name each have their own code, whatever
/// else was done; a mistake in the plan or in a prompt and a refused request of this run are findings. Every other wait
/// is 0. Requests by labels and comments are answered on GitHub, and do not count here.
pub(crate) fn exit_of_report(report: &TickReport, ask: &RunRequest) -> Exit {
    let has = |reason| report.waiting.iter().any(|(_, line)| line.reason == reason);
    let is_unknown = |line: &Line| line.is_requested && line.reason == Reason::Unknown;
    let distrusted = [
        Reason::LedgerCorrupt,
        Reason::LedgerRolledBack,
        Reason::LedgerForeign,
        Reason::LedgerUnproven,
    ];
    if distrusted.into_iter().any(has) {
        Exit::Corrupt
    } else if has(Reason::JulesCredential) {
        Exit::Credential
    } else if report.waiting.iter().any(|(_, line)| is_unknown(line)) {
        Exit::Usage
    } else if has(Reason::JulesUnavailable) {
        Exit::Unavailable
    } else if report.plan_diagnostics.iter().any(Diagnostic::is_error)
        || report.waiting.iter().any(|(_, line)| is_refused(line, ask))
    {
        Exit::Findings
    } else {
        Exit::Done
    }
}

/// Whether a line refuses this run's own request: it was not started, and no later run starts it. A request that waits
/// is recorded. Requests of other people do not count.
pub(crate) fn is_refused(line: &Line, ask: &RunRequest) -> bool {
    if *ask == RunRequest::Due {
        return false;
    }
    let holds_everything = line.track.is_none()
        && (line.verdict == Verdict::Paused
            || matches!(line.reason, Reason::ObserveMode | Reason::LedgerCatchingUp));
    let is_of_paused_track = match ask {
        RunRequest::Track(name) => {
            line.verdict == Verdict::Paused && line.track.as_ref() == Some(name)
        }
        // In this case the tick asks no other track for its next step; a line about a request is about an earlier run.
        RunRequest::Enter(_) => {
            let of_request = line.track.as_ref().and_then(TrackName::request_number);
            line.reason == Reason::PausedTrack && of_request.is_none()
        }
        RunRequest::Due | RunRequest::Persona(_) | RunRequest::All => false,
    };
    let is_own = line.is_requested && line.verdict == Verdict::Refused;
    is_own || holds_everything || is_of_paused_track
}

/// The exit code. It reports a refused key itself, because the decision does not know the variables.
pub(crate) fn tick_result(report: &TickReport, ask: &RunRequest) -> Result<Exit, CliError> {
    let exit = exit_of_report(report, ask);
    if exit == Exit::Credential {
        output::print_error(&format!("error: {}", credential_help::jules_key_help()))?;
    }
    // What holds everything has a line of its own, which does not say what becomes of this request.
    let mut waiting = report.waiting.iter().map(|(_, line)| line);
    let holds = waiting.find(|line| is_refused(line, ask) && line.verdict != Verdict::Refused);
    if let Some(line) = holds.filter(|_| exit == Exit::Findings) {
        output::print_error(&format!(
            "refused: this request starts nothing: {} ({})",
            plain_text(&line.reason.clause()),
            line.reason
        ))?;
    }
    Ok(exit)
}

fn warn_of_clock_skew(report: &TickReport) {
    let skew = local_now().duration_since(report.now).abs();
    if skew > SKEW_LIMIT {
        tracing::warn!(
            "this machine's clock differs from GitHub's by {} s; decisions use GitHub's clock",
            skew.as_secs()
        );
    }
}

pub(crate) fn print_report(
    screen: &mut Screen<impl Write>,
    repository: &RepositoryName,
    report: &TickReport,
    cost: Cost,
    tense: Tense,
    json: bool,
) -> Result<(), CliError> {
    if json {
        return print_report_json(screen, repository, report, cost, tense);
    }
    screen.print_line(&format!("{repository} at {} UTC", short_time(report.now)))?;
    // The line of a pause by a mistake quotes it.
    let is_quoted = |text: &str| {
        report
            .all_lines()
            .any(|(_, line)| line.detail.contains(text))
    };
    for one in &report.plan_diagnostics {
        let text = one.to_string();
        if !is_quoted(&text) {
            screen.print_wrapped(&text, INDENT)?;
        }
    }
    let colour = screen.colour;
    for (_, line) in report.all_lines() {
        screen.print_wrapped(&line_text(line, colour, tense), INDENT)?;
    }
    let would = if tense == Tense::Forecast {
        "would be "
    } else {
        ""
    };
    for title in &report.opened {
        screen.print_wrapped(&format!("an issue {would}opened: {title}"), INDENT)?;
    }
    for number in &report.closed {
        screen.print_line(&format!("issue #{number} {would}closed"))?;
    }
    for one in &report.failed {
        let FailedEffect {
            what,
            about,
            detail,
        } = one;
        screen.print_wrapped(&format!("! {what} failed for {about}: {detail}"), INDENT)?;
    }
    let next = report.wake_at.map_or_else(
        || "nothing is due".to_owned(),
        |at| format!("next check {} UTC", short_time(at)),
    );
    screen.print_line(&format!(
        "{}; {} to GitHub ({}), {} to Jules; {next}",
        pluralize(report.commits, "commit"),
        pluralize(to_usize(cost.github_requests), "request"),
        pluralize(to_usize(cost.github_points), "point"),
        cost.jules_requests
    ))?;
    Ok(())
}

fn print_report_json(
    screen: &mut Screen<impl Write>,
    repository: &RepositoryName,
    report: &TickReport,
    cost: Cost,
    tense: Tense,
) -> Result<(), CliError> {
    for one in &report.plan_diagnostics {
        screen
            .print_line(&serde_json::json!({ "diagnostic": diagnostic_json(one) }).to_string())?;
    }
    for (at, line) in report.all_lines() {
        screen.print_line(&line_json(*at, repository, line, tense).to_string())?;
    }
    for one in &report.failed {
        screen.print_line(&failed_json(repository, one).to_string())?;
    }
    for title in &report.opened {
        let issue = serde_json::json!({ "did": "opened", "title": title, "number": null });
        screen.print_line(&serde_json::json!({ "issue": issue }).to_string())?;
    }
    for number in &report.closed {
        let issue = serde_json::json!({ "did": "closed", "title": null, "number": number });
        screen.print_line(&serde_json::json!({ "issue": issue }).to_string())?;
    }
    screen.print_line(&summary_json(report, cost, tense).to_string())?;
    Ok(())
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::persona_id;

    #[test]
    fn a_persona_is_named_by_its_id_or_its_prompt() {
        for text in [
            "curator",
            "personas/curator/prompt.md",
            ".jules/personas/curator/prompt.md.j2",
        ] {
            assert_eq!(persona_id(text), "curator", "{text}");
        }
    }
}
