//! Checks what pauses the whole repository.

use crate::engine::lookup::policy::blocking_mistakes;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::TrackName;
use crate::state::Pause;

/// Reports every pause of the repository, and returns the first reason.
pub(crate) fn report_pause(builder: &mut DecisionBuilder<'_>) -> Option<Reason> {
    let pauses = pause_reasons(builder);
    let first = pauses.first().map(|(reason, _)| *reason);
    for (reason, text) in pauses {
        builder.report_line(Line::about_repository(Verdict::Paused, reason, text));
    }
    first
}

/// Every pause of the repository, each with a sentence for people.
pub(crate) fn pause_reasons(builder: &DecisionBuilder<'_>) -> Vec<(Reason, String)> {
    let snapshot = builder.snapshot;
    let mut pauses = Vec::new();
    if let [mistake, others @ ..] =
        blocking_mistakes(&snapshot.plan_diagnostics, &snapshot.tree).as_slice()
    {
        // Pause when a limit cannot be read: the default might be higher than what the user wrote.
        let more = match others.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let text = format!("the plan has a mistake that may concern everything: {mistake}{more}");
        pauses.push((Reason::PlanInvalid, text));
    }
    if let Some(value) = &snapshot.paused_by_variable {
        let text = format!("the variable PHILEAS_PAUSED is `{value}`");
        pauses.push((Reason::PausedVariable, text));
    }
    if let Some(number) = snapshot.paused_by_label {
        let text = format!("#{number} carries the label `phileas:pause`");
        pauses.push((Reason::PausedLabel, text));
    }
    if let Some(pause) = &builder.state.paused {
        let cause = pause_cause(pause);
        let text = format!("the repository is paused{cause}; `phileas resume` resumes it");
        pauses.push((Reason::PausedState, text));
    }
    pauses
}

/// The text for a paused track or schedule: who paused it, why, and how to resume it.
pub(crate) fn paused_text(name: &TrackName, pause: &Pause) -> String {
    let what = if name.schedule_persona().is_some() {
        "schedule"
    } else {
        "track"
    };
    format!(
        "the {what} is paused{}; `phileas track resume {name}` resumes it",
        pause_cause(pause)
    )
}

/// Who paused it and why, as far as recorded.
fn pause_cause(pause: &Pause) -> String {
    let by = pause.by.as_ref().map(|by| format!(" by {by}"));
    let why = pause.reason.as_ref().map(|why| format!(": {why}"));
    by.unwrap_or_default() + &why.unwrap_or_default()
}
