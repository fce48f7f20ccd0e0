//! What pauses the repository or holds everything back.

use crate::engine::lookup::policy::holds_all_back;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::TrackName;
use crate::state::Pause;

/// Why no new turn may start, if none may. Says so.
pub(crate) fn paused(draft: &mut Draft<'_>) -> Option<Reason> {
    let snapshot = draft.snapshot;
    let mut first = None;
    let mut say = |draft: &mut Draft<'_>, reason, text: String| {
        draft.say(Line::repository(Verdict::Paused, reason, text));
        first.get_or_insert(reason);
    };
    if let Some(mistake) = snapshot
        .plan_diagnostics
        .iter()
        .find(|one| holds_all_back(one))
    {
        // A limit that cannot be read must not turn into none, or into another one than was meant.
        let text = format!("a limit in the plan cannot be read: {mistake}");
        say(draft, Reason::PlanInvalid, text);
    }
    if let Some(value) = &snapshot.paused_by_variable {
        let text = format!("the variable PHILEAS_PAUSED says `{value}`");
        say(draft, Reason::PausedVariable, text);
    }
    if let Some(number) = snapshot.paused_by_label {
        let text = format!("#{number} carries the label `phileas:pause`");
        say(draft, Reason::PausedLabel, text);
    }
    if let Some(pause) = &draft.state.paused {
        let text = format!("paused{}", by_whom(pause));
        say(draft, Reason::PausedState, text);
    }
    first
}

/// That a track or a schedule is paused, by whom, why, and how it goes on.
pub(crate) fn paused_by(what: &str, name: &TrackName, pause: &Pause) -> String {
    format!(
        "the {what} is paused{}; `phileas track resume {name}` lets it go on",
        by_whom(pause)
    )
}

/// Who paused something and why, as far as that was written down.
fn by_whom(pause: &Pause) -> String {
    let by = pause.by.as_ref().map(|by| format!(" by {by}"));
    let why = pause.reason.as_ref().map(|why| format!(": {why}"));
    by.unwrap_or_default() + &why.unwrap_or_default()
}
