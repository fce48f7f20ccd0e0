//! Tests the import of a planner's expansion of one work item.

use super::*;

#[test]
fn a_planner_expands_the_item_it_was_given_and_phileas_clears_the_flag() {
    let deep = requirement("item01", "deci01").replace(
        "requires_deep_analysis: false\ndeep_analysis_reason: \"\"",
        "requires_deep_analysis: true\ndeep_analysis_reason: Many parts hang on it.",
    );
    let ledger = || Ledger::of(&with(flat(), REQUIREMENT, &deep));
    let planner = Author::Planner(REQUIREMENT);
    let expanded = deep.replace("risks: []", "risks: [Messages change.]");
    let mut one = ledger();
    assert_eq!(
        one.take(planner, &[wrote(REQUIREMENT, &expanded)])
            .diagnostics,
        []
    );
    let text = one.text(REQUIREMENT);
    assert!(
        text.contains("requires_deep_analysis: false") && text.contains("Messages change."),
        "{text}"
    );
    // Invalid: the flag stays.
    let done = ledger().ask(
        planner,
        &[wrote(
            REQUIREMENT,
            &expanded.replace("affected_areas: [src/parser.rs]", "affected_areas: []"),
        )],
    );
    assert!(done.files.is_empty());
    assert_diagnostic(&done, "(at affected_areas)");
    // Keys that a planner may not change are kept.
    let mut one = ledger();
    let other = expanded
        .replace("item01", "item09")
        .replace("[\"deci01\"]", "[\"pend01\"]")
        + "attempts: 9\n";
    let done = one.take(planner, &[wrote(REQUIREMENT, &other)]);
    assert_diagnostic(&done, "a planner does not change `id`");
    assert_diagnostic(&done, "a planner does not change `source_events`");
    assert_eq!(check_exchange(&one.tree).diagnostics, []);
    // A person wrote another version in the meantime: it is kept, and still waits for a planner.
    let newer = deep.replace("One name for one thing.", "One name, and that is step.");
    let mut one = Ledger::of(&with(flat(), REQUIREMENT, &newer));
    one.base = Some(ledger().tree);
    let done = one.take(planner, &[wrote(REQUIREMENT, &expanded)]);
    assert_diagnostic(&done, "error: it was changed after the session had begun");
    assert_eq!(one.text(REQUIREMENT), newer);
    // The item waits no more, is gone, or is another one.
    assert_diagnostic(
        &Ledger::flat().ask(planner, &[wrote(REQUIREMENT, &expanded)]),
        "does not wait for a planner any more",
    );
    let gone = with(with(flat(), REQUIREMENT, ""), DECIDED, "");
    assert_diagnostic(
        &Ledger::of(&gone).ask(planner, &[wrote(REQUIREMENT, &expanded)]),
        "the work item is gone",
    );
    let path = ".jules/exchange/requirements/new-work.yml";
    assert_diagnostic(
        &ledger().ask(planner, &[wrote(path, &requirement("item02", "pend01"))]),
        "the planner was given another work item",
    );
}
