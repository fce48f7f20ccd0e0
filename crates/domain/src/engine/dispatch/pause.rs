//! Checks what pauses the whole repository.

use crate::engine::lookup::policy::blocking_mistakes;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::TrackName;
use crate::state::Pause;

/// Reports every pause of the repository, and returns the first reason.
pub(crate) fn report_pause(builder: &mut DecisionBuilder<'_>) -> Option<Reason> {
    let snapshot = builder.snapshot;
    let mut first = None;
    let mut say = |builder: &mut DecisionBuilder<'_>, reason, text: String| {
        builder.report_line(Line::about_repository(Verdict::Paused, reason, text));
        first.get_or_insert(reason);
    };
    if let [mistake, others @ ..] =
        blocking_mistakes(&snapshot.plan_diagnostics, &snapshot.tree).as_slice()
    {
        // An unreadable limit must not become no limit or another one.
        let more = match others.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let text = format!("the plan has a mistake that may concern everything: {mistake}{more}");
        say(builder, Reason::PlanInvalid, text);
    }
    if let Some(value) = &snapshot.paused_by_variable {
        let text = format!("the variable PHILEAS_PAUSED says `{value}`");
        say(builder, Reason::PausedVariable, text);
    }
    if let Some(number) = snapshot.paused_by_label {
        let text = format!("#{number} carries the label `phileas:pause`");
        say(builder, Reason::PausedLabel, text);
    }
    if let Some(pause) = &builder.state.paused {
        let text = format!("paused{}", pause_cause(pause));
        say(builder, Reason::PausedState, text);
    }
    first
}

/// Says that a track or a schedule is paused, its actor, the reason, and how to resume it.
pub(crate) fn paused_text(what: &str, name: &TrackName, pause: &Pause) -> String {
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
