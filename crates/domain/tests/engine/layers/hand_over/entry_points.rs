//! Tests the entry points of a pass.

use phileas_domain::engine::{Reason, RunRequest};
use phileas_domain::exchange::FileContent;
use phileas_domain::plan::EntryPoint;

use super::{PLAN, ROSTER, ends, event, item, scenario, slots, to_the_implementer};
use crate::support::scenario::Scenario;

#[test]
fn a_person_may_begin_a_pass_in_the_middle() {
    let mut scenario = scenario();
    to_the_implementer(&mut scenario);
    // An event comes by another way, long before the next pass.
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.merge(pull);
    scenario.tick();
    let late = event("docs");
    let FileContent::Text(text) = late.content else {
        panic!("a text")
    };
    scenario.exchange = scenario.exchange.with(&[(late.path, Some(text))].into());
    scenario.minutes(5);
    scenario.tick();
    assert!(slots(&scenario).is_empty());
    let passes = scenario.state().tracks["layers"].passes;
    scenario.ask = RunRequest::Enter(EntryPoint::Decider);
    scenario.tick();
    assert_eq!(slots(&scenario), ["decider"], "{:#?}", scenario.lines);
    assert_eq!(scenario.state().tracks["layers"].passes, passes + 1);
    scenario.ask = RunRequest::Due;
    ends(&mut scenario, "decider", vec![item("docs01", false)]);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "it goes on from there"
    );
}

#[test]
fn a_pass_that_cannot_begin_there_is_refused_or_reported() {
    let mut scenario = scenario();
    scenario.ask = RunRequest::Enter(EntryPoint::Innovators);
    scenario.tick();
    assert_eq!(
        scenario.all_reasons(),
        [Reason::Unknown],
        "{:#?}",
        scenario.lines
    );
    scenario.ask = RunRequest::Enter(EntryPoint::Requirements);
    scenario.tick();
    assert!(slots(&scenario).is_empty());
    let said = scenario
        .lines
        .iter()
        .any(|line| line.detail.contains("no work item is ready"));
    assert!(said, "{:#?}", scenario.lines);
    // One request starts one pass.
    scenario.ask = RunRequest::Due;
    scenario.tick();
    assert_eq!(slots(&scenario), ["narrator"], "{:#?}", scenario.lines);
}

/// Events that a decider leaves are checked before the next step, even where its step is the first; that begins no
/// further pass.
#[test]
fn a_track_may_begin_with_its_decider() {
    let plan = PLAN.replace("\"layer:narrator\", \"layer:observers\", ", "");
    let mut scenario = Scenario::new(&plan, &[]);
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), ROSTER.to_owned());
    scenario.tick();
    scenario.hours(1);
    let found = event("errors");
    let FileContent::Text(text) = found.content else {
        unreachable!()
    };
    scenario.exchange.insert_text(found.path, &text);
    scenario.tick();
    assert_eq!(slots(&scenario), ["decider"]);
    ends(&mut scenario, "decider", vec![item("\"erro01\"", true)]);
    scenario.minutes(10);
    scenario.tick();
    assert_eq!(slots(&scenario), ["planner/item01"], "in the same pass");
}

/// The limit of sessions is one of a pass, so the sessions of earlier passes leave it as it is.
#[test]
fn a_decider_runs_again_in_each_pass_of_a_track_of_its_own() {
    let plan = PLAN.replace("\"layer:narrator\", \"layer:observers\", ", "");
    let plan = plan.replace(", \"layer:planner\", \"layer:implementer\"", "");
    let mut scenario = Scenario::new(&plan, &[]);
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), ROSTER.to_owned());
    scenario.tick();
    scenario.hours(1);
    let found = |scenario: &mut Scenario, role: &str| {
        let found = event(role);
        let FileContent::Text(text) = found.content else {
            unreachable!()
        };
        scenario.exchange.insert_text(found.path, &text);
    };
    for day in 1..=10 {
        found(&mut scenario, "errors");
        scenario.tick();
        assert_eq!(
            slots(&scenario),
            ["decider"],
            "day {day}: {:#?}",
            scenario.lines
        );
        // It was not given this one.
        found(&mut scenario, "docs");
        let decided = item("\"erro01\"", true);
        ends(&mut scenario, "decider", vec![decided.clone()]);
        scenario.minutes(10);
        scenario.tick();
        assert_eq!(
            slots(&scenario),
            ["decider"],
            "day {day}: {:#?}",
            scenario.lines
        );
        ends(&mut scenario, "decider", Vec::new());
        scenario.minutes(10);
        scenario.tick();
        scenario.exchange.remove(&decided.path);
        scenario.exchange.remove(&event("docs").path);
        scenario.hours(24);
    }
}
