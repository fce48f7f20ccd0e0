//! Refuses a run for a persona that does not exist.

use crate::engine::output::report::{Line, Reason, Verdict};
use crate::model::PersonaId;
use crate::plan::{Plan, closest};

/// The line about a persona that a person asked this run for and the plan does not have.
pub(crate) fn unknown_persona_line(plan: &Plan, id: &PersonaId) -> Line {
    let known = plan.personas.keys().map(PersonaId::as_str);
    let text = match closest(id.as_str(), known) {
        Some(meant) => format!("there is no persona `{id}`; did you mean `{meant}`?"),
        None => format!("there is no persona `{id}`"),
    };
    let line = Line::about_repository(Verdict::Refused, Reason::Unknown, text);
    line.with_persona(id).mark_requested()
}
