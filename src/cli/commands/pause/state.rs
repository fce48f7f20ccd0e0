//! The pause in the state: `phileas pause` writes it, `phileas resume` removes it.

use std::io::Write;

use jiff::Timestamp;
use phileas_domain::state::Pause;
use serde_json::json;

use crate::cli::arguments::Repository;
use crate::cli::context::edit_ledger::edit_ledger;
use crate::cli::context::{clients, env_var, run_identity};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::runtime::EditError;
use crate::runtime::ports::WriteGitHub;

/// Writes the pause. An existing pause stays. Returns its author.
pub(super) async fn write_pause(
    github: &impl WriteGitHub,
    reason: &str,
) -> Result<Option<String>, EditError> {
    edit_ledger(github, "pause", |state, observation| {
        let pause = state.paused.get_or_insert_with(|| Pause {
            at: Some(observation.now),
            by: run_identity::github_actor(),
            reason: Some(reason.to_owned()),
            ..Pause::default()
        });
        Ok(pause.by.clone())
    })
    .await
}

/// What `phileas resume` removed.
#[derive(Default)]
struct RemovedPause {
    /// The pause itself.
    pause: bool,
    /// The wait after Jules had reported that its quota was spent.
    quota: Option<Timestamp>,
    /// The open issue whose label still pauses the repository.
    label: Option<u64>,
}

/// Removes the pause from the state, and a wait for Jules' quota with it: the person may know better, and Jules reports
/// it again if not. Other pauses are printed, because they stay.
pub(crate) async fn resume_repository(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let taken = edit_ledger(&github, "resume", |state, observation| {
        let budget = &mut state.budget;
        let quota = budget.paused_until.take();
        if quota.is_some() {
            budget.reason = None;
            budget.quota_failures = 0;
        }
        Ok(RemovedPause {
            pause: state.paused.take().is_some(),
            quota: quota.filter(|until| *until > observation.now),
            label: observation.paused_by_label,
        })
    })
    .await?;
    let variable = env_var::pausing_value();
    if arguments.json {
        let document = json!({
            "resumed": taken.pause, "quota_retried": taken.quota.map(|until| until.to_string()),
            "paused_by_label": taken.label, "paused_by_variable": variable,
        });
        screen.print_line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    screen.print_line(if taken.pause {
        "resumed; the next tick starts what is due"
    } else {
        "nothing to resume: no command has paused it"
    })?;
    if let Some(until) = taken.quota {
        screen.print_line(&format!(
            "Jules' quota was called spent until {} UTC; the next tick asks again",
            short_time(until)
        ))?;
    }
    if let Some(number) = taken.label {
        screen.print_line(&format!(
            "still paused: #{number} carries the label `phileas:pause`"
        ))?;
    }
    if let Some(value) = variable {
        screen.print_line(&format!(
            "still paused: the variable PHILEAS_PAUSED is `{value}`"
        ))?;
    }
    Ok(Exit::Done)
}
