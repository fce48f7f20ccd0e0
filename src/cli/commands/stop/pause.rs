//! The pause in the state: made by the brake, taken back by `phileas resume`.

use std::cell::RefCell;
use std::io::Write;

use jiff::Timestamp;
use phileas_domain::state::Pause;
use serde_json::json;

use crate::cli::arguments::Repository;
use crate::cli::context::{clients, env_var, run_identity};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::output::Screen;
use crate::runtime::ports::WriteGitHub;
use crate::runtime::{Edit, EditError, edit};

/// What the state says of a pause that this command made.
const REASON: &str = "phileas stop --all";

/// Writes the pause; one that stands already is left as it is. Answers with who paused.
pub(super) async fn pause(github: &impl WriteGitHub) -> Result<Option<String>, EditError> {
    let holder = run_identity::this_run().map_err(|stopped| EditError::Refused(stopped.message))?;
    let wish = Edit {
        headline: "stop",
        holder: &holder,
        moves_pointer_of: None,
    };
    let by = RefCell::new(None);
    edit(github, &wish, |state, observation| {
        let pause = state.paused.get_or_insert_with(|| Pause {
            at: Some(observation.now),
            by: run_identity::actor(),
            reason: Some(REASON.to_owned()),
            ..Pause::default()
        });
        by.replace(pause.by.clone());
        Ok(())
    })
    .await?;
    Ok(by.into_inner())
}

/// What `phileas resume` took back.
#[derive(Default)]
struct Taken {
    /// The pause itself.
    pause: bool,
    /// Nothing was to start before, because Jules had said that its quota is spent.
    quota: Option<Timestamp>,
    /// The open issue whose label pauses the repository still.
    label: Option<u64>,
}

/// Takes the pause out of the state, and a wait for Jules' quota with it: whoever resumes knows better, and Jules says
/// so again if not. Other pauses are named, because they stay.
pub(crate) async fn resume(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let github = clients::github(&arguments.repo)?;
    let holder = run_identity::this_run()?;
    let wish = Edit {
        headline: "resume",
        holder: &holder,
        moves_pointer_of: None,
    };
    let taken = RefCell::new(Taken::default());
    edit(&github, &wish, |state, observation| {
        let budget = &mut state.budget;
        let quota = budget.paused_until.take();
        if quota.is_some() {
            budget.reason = None;
            budget.strikes = 0;
        }
        taken.replace(Taken {
            pause: state.paused.take().is_some(),
            quota: quota.filter(|until| *until > observation.now),
            label: observation.paused_by_label,
        });
        Ok(())
    })
    .await?;
    let taken = taken.into_inner();
    let variable = env_var::variable("PHILEAS_PAUSED").filter(|value| env_var::is_set(value));
    if arguments.json {
        let document = json!({
            "resumed": taken.pause, "quota_retried": taken.quota.map(|until| until.to_string()),
            "paused_by_label": taken.label, "paused_by_variable": variable,
        });
        screen.line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    screen.line(if taken.pause {
        "resumed; the next tick starts what is due"
    } else {
        "the state says nothing of a pause"
    })?;
    if let Some(until) = taken.quota {
        screen.line(&format!(
            "Jules' quota was called spent until {} UTC; the next tick asks again",
            short(until)
        ))?;
    }
    if let Some(number) = taken.label {
        screen.line(&format!(
            "still paused: #{number} carries the label `phileas:pause`"
        ))?;
    }
    if let Some(value) = variable {
        screen.line(&format!(
            "still paused: the variable PHILEAS_PAUSED says `{value}`"
        ))?;
    }
    Ok(Exit::Done)
}
