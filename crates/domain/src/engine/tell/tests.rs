//! What people are told of reasons.

use std::collections::BTreeMap;

use super::*;

/// What is not told apart for people is in the hands of phileas, or told of elsewhere in words of its own.
#[test]
fn who_waits_for_something_outside_is_told_what_it_is() {
    let told_apart = [
        "waiting.budget_active",
        "waiting.budget_daily",
        "waiting.actor_budget",
        "waiting.jules_quota",
        "waiting.jules_unavailable",
        "paused.jules_credential",
        "waiting.checks_running",
        "waiting.mergeable_unknown",
        "waiting.merge_sent",
        "waiting.reviews_asked",
        "waiting.reviews_told",
        "waiting.persona_busy",
        "paused.hold",
        "paused.plan_invalid",
        "held.create_refused",
        "waiting.persona_refused",
        "waiting.retry_pause",
    ];
    let mut by_words: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for reason in Reason::ALL {
        by_words
            .entry(waiting(*reason))
            .or_default()
            .push(reason.code());
    }
    let alone: Vec<&str> = by_words
        .values()
        .filter(|codes| codes.len() == 1)
        .flatten()
        .copied()
        .collect();
    for code in told_apart {
        assert!(
            alone.contains(&code),
            "{code} shares its words: {by_words:#?}"
        );
    }
    let mut shared = by_words["everything is paused"].clone();
    shared.sort_unstable();
    assert_eq!(
        shared,
        [
            "paused.label",
            "paused.state",
            "paused.track",
            "paused.variable"
        ]
    );
    assert_eq!(
        by_words.len(),
        told_apart.len() + 2,
        "these, all that is paused, and the rest"
    );
}

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
