//! What people are told of reasons.

use super::refusal;
use crate::engine::output::report::Reason;

#[test]
fn who_is_refused_is_told_what_to_do_where_something_can_be_done() {
    let general = refusal("no code of ours");
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
        assert_ne!(refusal(reason.code()), general, "{reason}");
    }
    assert!(general.contains("phileas explain"));
}
