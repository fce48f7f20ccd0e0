//! The texts of phileas' messages to live sessions. Each ends in a marker, so that a later tick sees that it was sent.

use crate::engine::lookup::slot::SlotRole;
use crate::engine::lookup::twins::twin_text;
use crate::engine::text::markers::MESSAGE_MARKER;
use crate::state::{RepeatedPlan, Turn};

/// Which message asks for another plan.
pub(crate) const PLAN_MESSAGE: &str = "p1";

/// The last line of a message: `phileas-message: <turn>.<attempt>/<which>`.
pub(crate) fn message_marker(turn: &Turn, which: &str) -> String {
    format!("{MESSAGE_MARKER}{}.{}/{which}", turn.turn, turn.attempt)
}

/// The standard answer to a question. `slot_role`: whose turn it is, where it is a layer's.
pub(crate) fn standard_answer(slot_role: Option<&SlotRole>, marker: &str) -> String {
    let how = match slot_role {
        None => {
            "Choose the option that you would recommend yourself, prefer the smaller and safer one, write down the \
             assumption in the pull request's description, and finish the task."
        }
        Some(SlotRole::Implementer { .. }) => {
            "The requirement in your prompt is all that there is; where it leaves something open, do the smaller and \
             safer thing, write the assumption down in the pull request's description, and finish. Where it cannot be \
             done as it is written, change nothing and say why."
        }
        Some(SlotRole::Integrator) => {
            "Leave out the branch that you are in doubt about, say so in the pull request's description, and finish with \
             the others."
        }
        Some(SlotRole::Decider { .. }) => {
            "Decide by the strongest evidence in the code. An event that you cannot confirm is rejected, with the reason; \
             one that needs a look before anybody can begin gets `requires_deep_analysis: true` and the question as its \
             reason. Then write the files that your contract names and end."
        }
        Some(SlotRole::Planner { .. }) => {
            "Choose, and write down in the work item why. Where people must choose, put the alternatives and their cost \
             into its `constraints`. Then write the whole item to its path and end."
        }
        Some(SlotRole::Narrator | SlotRole::Observer { .. } | SlotRole::Innovator { .. }) => {
            "Decide by what you can see in the checkout, leave out what you cannot show, write the files that your \
             contract names, and end."
        }
    };
    format!("No person is watching this session right now. {how}\n\n{marker}")
}

/// The reminder to a session that ended without a result.
pub(crate) fn reminder_text(slot_role: Option<&SlotRole>, marker: &str) -> String {
    let how = match slot_role {
        None => {
            "This session ended without a pull request. If you made changes, open a pull request with them now. If you \
             wait for an answer, decide yourself and finish. If there is nothing worth changing, just say so; then \
             nothing more is needed."
        }
        Some(SlotRole::Implementer { .. } | SlotRole::Integrator) => {
            "This session ended without a pull request, and a pull request is the only work of it that counts. If you \
             made changes, open it now. If you wait for an answer, decide yourself, write the assumption down and \
             finish. If the work cannot or need not be done, change nothing and say why in one sentence; the work then \
             goes back with your reason."
        }
        Some(SlotRole::Decider { .. }) => {
            "This session ended without any file. Each event in your prompt ends in a work item or in a rejection with its \
             reason: write them now, at the paths and by the schemas of your prompt, and leave them in the work tree."
        }
        Some(SlotRole::Planner { .. }) => {
            "This session ended without any file. Write the whole work item to the path that your prompt names, also \
             where you could not answer its question; say there what you found, and leave it in the work tree."
        }
        Some(SlotRole::Narrator | SlotRole::Observer { .. } | SlotRole::Innovator { .. }) => {
            "This session ended without any file. Write those that your prompt asks for, at their paths and by their \
             schemas, and leave them in the work tree. If there is nothing to write, say so in one sentence; then nothing \
             more is needed."
        }
    };
    format!("{how}\n\n{marker}")
}

/// The message to a session whose plan repeats a pull request. It names no text of people.
pub(crate) fn turned_down_text(repeated: &RepeatedPlan, marker: &str) -> String {
    let others = match repeated.merged {
        true => "open, refused or merged",
        false => "open or refused",
    };
    format!(
        "phileas does not approve this plan: it {}. Do not work on it.\n\nChoose another task that your prompt asks for \
         and that no {others} pull request does, and make a new plan. If there is none, change nothing and say so \
         in one sentence.\n\n{marker}",
        twin_text(repeated)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Slot;

    /// A layer whose output is files must not be asked for a pull request, and one whose output is a pull request must.
    #[test]
    fn messages_name_the_output_of_each_layer() {
        for slot in [
            "narrator",
            "observers/taxonomy",
            "decider",
            "planner/a1b2c3",
            "implementer/a1b2c3",
            "innovators/recruiter",
            "integrator",
        ] {
            let slot_role = SlotRole::from_slot(&Slot::from(slot)).unwrap();
            for text in [
                standard_answer(Some(&slot_role), "m.1/q1"),
                reminder_text(Some(&slot_role), "m.1/q1"),
            ] {
                assert_eq!(
                    text.contains("pull request"),
                    slot_role.opens_pull(),
                    "{slot}: {text}"
                );
                assert!(text.ends_with("\n\nm.1/q1"), "{text}");
            }
        }
        assert!(reminder_text(None, "m").contains("open a pull request"));
    }
}
