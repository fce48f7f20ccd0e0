//! Tests the limits of issues for work items, and which of them make room.

use super::{ISSUE, decided, decided_where, offers, rewrite};
use crate::layers::hand_over::{ITEM, ends, slots};
use crate::support::scenario::Scenario;

/// Items that do not start without a request are shown as issues, and can be started.
#[test]
fn published_work_is_shown_and_the_rest_is_not() {
    let mut scenario = decided_where("labels = [\"docs\"]", &[]);
    assert_eq!(offers(&scenario), 1);
    scenario.label(ISSUE, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "{:#?}",
        scenario.lines
    );
}

/// Work items beside the first one.
fn further(scenario: &mut Scenario, count: usize) {
    let text = scenario.exchange.text(ITEM).unwrap().to_owned();
    let one = |n: usize| {
        let path = format!(".jules/exchange/requirements/more-{n:02}.yml");
        let text = text
            .replace("\"item01\"", &format!("\"more{n:02}\""))
            .replace("erro01, test01, docs01", "");
        (
            path,
            Some(text.replace(
                "source_events: []",
                &format!("source_events: [\"even{n:02}\"]"),
            )),
        )
    };
    scenario.exchange = scenario.exchange.with(&(0..count).map(one).collect());
}

/// A read of the exchange, which a refused label causes.
fn read_exchange(scenario: &mut Scenario) {
    scenario.label(ISSUE, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
}

/// Twelve are shown at a time. Who closes one leaves it undone, and makes room.
#[test]
fn an_issue_that_a_person_closed_takes_no_room() {
    let mut scenario = decided(&[]);
    further(&mut scenario, 15);
    rewrite(&mut scenario, ITEM, "The tests pass.", "All tests pass.");
    read_exchange(&mut scenario);
    assert_eq!(
        scenario.published.len(),
        13,
        "the first text of the first item among them"
    );
    for number in ISSUE + 1..ISSUE + 6 {
        scenario.subject(number).open = false;
    }
    scenario.hours(24);
    scenario.tick();
    ends(
        &mut scenario,
        "narrator",
        vec![crate::layers::hand_over::changes()],
    );
    scenario.tick();
    let open = (ISSUE..ISSUE + 30).filter(|number| {
        scenario
            .subjects
            .get(number)
            .is_some_and(|subject| subject.open)
    });
    assert_eq!(
        (scenario.published.len(), open.count()),
        (17, 11),
        "{:#?}",
        scenario.lines
    );
    assert!(
        !scenario.subject(ISSUE + 1).open,
        "and it is not shown again"
    );
}

/// Who closed which of them matters only to what waits for room.
#[test]
fn issues_are_not_read_where_no_item_waits_for_room() {
    let mut scenario = decided(&[]);
    further(&mut scenario, 11);
    scenario.hours(24);
    scenario.tick();
    assert_eq!(scenario.published.len(), 12, "{:#?}", scenario.lines);
    ends(
        &mut scenario,
        "narrator",
        vec![crate::layers::hand_over::changes()],
    );
    let snapshot = scenario.full_snapshot();
    assert!(snapshot.exchange.is_some());
    assert!(snapshot.subjects.is_empty(), "{:?}", snapshot.subjects);
}

/// The items are unknown while files of two layouts exist, or while one of their files is broken.
#[test]
fn what_cannot_be_read_is_not_gone() {
    let sound = ".jules/workstreams/core/issues/docs/other.yml";
    for (path, text, detail) in [
        (sound, Some("".to_owned()), "two layouts"),
        (
            ITEM,
            Some("{ schema_version: 2, id: [".to_owned()),
            "a broken item",
        ),
        (
            ITEM,
            Some("schema_version: 2\nid: \"item01\"\n".to_owned()),
            "half an item",
        ),
    ] {
        let mut scenario = decided(&[]);
        let before = scenario.exchange.clone();
        scenario.exchange = scenario.exchange.with(&[(path.to_owned(), text)].into());
        read_exchange(&mut scenario);
        assert!(
            slots(&scenario).is_empty(),
            "{detail}: {:#?}",
            scenario.lines
        );
        assert!(scenario.subject(ISSUE).open, "{detail}");
        assert_eq!(scenario.state().published.len(), 1, "{detail}");
        scenario.exchange = before;
        read_exchange(&mut scenario);
        assert_eq!(
            slots(&scenario),
            ["implementer/item01"],
            "{detail}: {:#?}",
            scenario.lines
        );
    }
    // One that is really gone is.
    let mut scenario = decided(&[]);
    scenario.exchange = scenario.exchange.with(&[(ITEM.to_owned(), None)].into());
    read_exchange(&mut scenario);
    assert!(!scenario.subject(ISSUE).open && scenario.state().published.is_empty());
}

/// A lasting refusal of GitHub is not tried by every tick, and is reported.
#[test]
fn an_issue_that_does_not_open_is_tried_less_and_less() {
    let mut scenario = decided(&["open_work_item"]);
    let mut asked = vec![0];
    for minute in (15..60 * 24 * 2).step_by(15) {
        scenario.minutes(15);
        scenario.tick();
        if offers(&scenario) > 0 {
            asked.push(minute);
        }
    }
    assert_eq!(asked, [0, 15, 45, 105, 225, 465, 945, 945 + 1440]);
    let told = scenario
        .headlines
        .iter()
        .filter(|line| line.contains("put off work:"));
    assert_eq!(told.count(), 1, "{:#?}", scenario.headlines);
    scenario.lost.clear();
    scenario.hours(24);
    scenario.tick();
    assert_eq!(scenario.published.len(), 1);
    assert!(scenario.state().publishing.is_empty());
}
