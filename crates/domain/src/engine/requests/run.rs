//! The command `run`.

use super::command_result::CommandResult;
use super::request::Request;
use crate::engine::lookup::work_items;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::PersonaId;

/// Requests a session of a persona, or of the work item that the issue shows.
pub(crate) fn request_session(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
    persona: &PersonaId,
) -> CommandResult {
    if work_items::names_work_item(builder, request.subject, persona) {
        request_work_item(builder, request)
    } else {
        CommandResult::StartSession(persona.clone())
    }
}

/// Requests a session for the work item that the issue shows.
pub(crate) fn request_work_item(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
) -> CommandResult {
    match work_items::requested_slot(builder, request.subject) {
        Some(slot) => CommandResult::StartSession(slot),
        None => {
            let text = "the issue does not show the work item as it was put there".to_owned();
            CommandResult::Refused(Reason::ContentChanged, text)
        }
    }
}
