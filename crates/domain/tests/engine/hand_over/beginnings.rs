//! Where a pass may begin.

use phileas_domain::engine::{Ask, Reason};
use phileas_domain::exchange::Content;
use phileas_domain::plan::EntryPoint;

use super::{PLAN, ROSTER, desk, ends, event, item, slots, to_the_implementer};
use crate::desk::Desk;

#[test]
fn a_person_may_begin_a_pass_in_the_middle() {
    let mut desk = desk();
    to_the_implementer(&mut desk);
    // An event comes by another way, long before the next pass.
    let pull = desk.opens_pull();
    desk.tick();
    desk.merge(pull);
    desk.tick();
    let late = event("docs");
    let Content::Text(text) = late.content else {
        panic!("a text")
    };
    desk.exchange = desk.exchange.with(&[(late.path, Some(text))].into());
    desk.minutes(5);
    desk.tick();
    assert!(slots(&desk).is_empty());
    let passes = desk.state().tracks["layers"].passes;
    desk.ask = Ask::Enter(EntryPoint::Decider);
    desk.tick();
    assert_eq!(slots(&desk), ["decider"], "{:#?}", desk.lines);
    assert_eq!(desk.state().tracks["layers"].passes, passes + 1);
    desk.ask = Ask::Due;
    ends(&mut desk, "decider", vec![item("docs01", false)]);
    desk.tick();
    assert_eq!(
        slots(&desk),
        ["implementer/item01"],
        "it goes on from there"
    );
}

#[test]
fn a_pass_that_nobody_can_begin_there_is_refused_or_told() {
    let mut desk = desk();
    desk.ask = Ask::Enter(EntryPoint::Innovators);
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::Unknown], "{:#?}", desk.lines);
    desk.ask = Ask::Enter(EntryPoint::Requirements);
    desk.tick();
    assert!(slots(&desk).is_empty());
    let said = desk
        .lines
        .iter()
        .any(|line| line.detail.contains("no work item is ready"));
    assert!(said, "{:#?}", desk.lines);
    // What was asked for once is no more than that.
    desk.ask = Ask::Due;
    desk.tick();
    assert_eq!(slots(&desk), ["narrator"], "{:#?}", desk.lines);
}

/// What a decider leaves for another one is looked at before the next step, also where its step is the first; that begins
/// no further pass.
#[test]
fn a_track_may_begin_with_its_decider() {
    let plan = PLAN.replace("\"layer:narrator\", \"layer:observers\", ", "");
    let mut desk = Desk::new(&plan, &[]);
    desk.files
        .insert(".jlo/config.toml".to_owned(), ROSTER.to_owned());
    desk.tick();
    desk.hours(1);
    let found = event("errors");
    let Content::Text(text) = found.content else {
        unreachable!()
    };
    desk.exchange.insert_text(found.path, &text);
    desk.tick();
    assert_eq!(slots(&desk), ["decider"]);
    ends(&mut desk, "decider", vec![item("\"erro01\"", true)]);
    desk.minutes(10);
    desk.tick();
    assert_eq!(slots(&desk), ["planner/item01"], "in the same pass");
}
