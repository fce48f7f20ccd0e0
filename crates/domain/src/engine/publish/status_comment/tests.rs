//! Tests what people read about refusals.

use super::refusal_text;
use crate::engine::output::report::Reason;

#[test]
fn refusals_say_what_to_do() {
    let general = refusal_text("no code of ours");
    for reason in [
        Reason::ActorPermission,
        Reason::ActorUnknown,
        Reason::ActorBot,
        Reason::ActorSelf,
        Reason::ActorBudget,
        Reason::ContentChanged,
        Reason::Fork,
        Reason::SubjectClosed,
        Reason::RequestOld,
        Reason::Unknown,
        Reason::PlanForbids,
        Reason::NotOurs,
        Reason::MergeOff,
        Reason::NothingToDo,
        Reason::PersonaSensitive,
        Reason::PersonaInvalid,
        Reason::PromptInvalid,
    ] {
        assert_ne!(refusal_text(reason.code()), general, "{reason}");
    }
    assert!(general.contains("phileas explain"));
}
