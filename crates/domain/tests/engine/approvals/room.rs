//! How many issues there are for people to look at, and which make room.

use super::{ISSUE, decided, decided_where, offers, rewrite};
use crate::desk::Desk;
use crate::hand_over::{ITEM, ends, slots};

/// What does not go on by itself is no dead end: people see it, and have it done.
#[test]
fn work_on_the_shelf_is_shown_and_the_rest_is_not() {
    let mut desk = decided_where("labels = [\"docs\"]", &[]);
    assert_eq!(offers(&desk), 1);
    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
}

/// Work items beside the first one.
fn further(desk: &mut Desk, count: usize) {
    let text = desk.exchange.text(ITEM).unwrap().to_owned();
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
    desk.exchange = desk.exchange.with(&(0..count).map(one).collect());
}

/// A look at the exchange, which a label that is refused takes.
fn look(desk: &mut Desk) {
    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
}

/// Twelve are shown at a time. Who closes one leaves it undone, and makes room.
#[test]
fn an_issue_that_a_person_closed_takes_no_room() {
    let mut desk = decided(&[]);
    further(&mut desk, 15);
    rewrite(&mut desk, ITEM, "The tests pass.", "All tests pass.");
    look(&mut desk);
    assert_eq!(
        desk.published.len(),
        13,
        "the first text of the first item among them"
    );
    for number in ISSUE + 1..ISSUE + 6 {
        desk.subject(number).open = false;
    }
    desk.hours(24);
    desk.tick();
    ends(&mut desk, "narrator", vec![crate::hand_over::changes()]);
    desk.tick();
    let open = (ISSUE..ISSUE + 30).filter(|number| {
        desk.subjects
            .get(number)
            .is_some_and(|subject| subject.open)
    });
    assert_eq!(
        (desk.published.len(), open.count()),
        (17, 11),
        "{:#?}",
        desk.lines
    );
    assert!(!desk.subject(ISSUE + 1).open, "and it is not shown again");
}

/// Who closed which of them matters only to what waits for room.
#[test]
fn what_is_shown_is_not_looked_at_where_nothing_waits_for_room() {
    let mut desk = decided(&[]);
    further(&mut desk, 11);
    desk.hours(24);
    desk.tick();
    assert_eq!(desk.published.len(), 12, "{:#?}", desk.lines);
    ends(&mut desk, "narrator", vec![crate::hand_over::changes()]);
    let snapshot = desk.look();
    assert!(snapshot.exchange.is_some());
    assert!(snapshot.subjects.is_empty(), "{:?}", snapshot.subjects);
}

/// Nobody can tell which items there are while the files of two layouts lie there, or while a file of theirs is broken.
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
        let mut desk = decided(&[]);
        let before = desk.exchange.clone();
        desk.exchange = desk.exchange.with(&[(path.to_owned(), text)].into());
        look(&mut desk);
        assert!(slots(&desk).is_empty(), "{detail}: {:#?}", desk.lines);
        assert!(desk.subject(ISSUE).open, "{detail}");
        assert_eq!(desk.state().published.len(), 1, "{detail}");
        desk.exchange = before;
        look(&mut desk);
        assert_eq!(
            slots(&desk),
            ["implementer/item01"],
            "{detail}: {:#?}",
            desk.lines
        );
    }
    // One that is really gone is.
    let mut desk = decided(&[]);
    desk.exchange = desk.exchange.with(&[(ITEM.to_owned(), None)].into());
    look(&mut desk);
    assert!(!desk.subject(ISSUE).open && desk.state().published.is_empty());
}

/// What GitHub refuses for good is not asked for by every tick, and people are told.
#[test]
fn an_issue_that_does_not_open_is_asked_for_less_and_less() {
    let mut desk = decided(&["offer_work"]);
    let mut asked = vec![0];
    for minute in (15..60 * 24 * 2).step_by(15) {
        desk.minutes(15);
        desk.tick();
        if offers(&desk) > 0 {
            asked.push(minute);
        }
    }
    assert_eq!(asked, [0, 15, 45, 105, 225, 465, 945, 945 + 1440]);
    let told = desk
        .headlines
        .iter()
        .filter(|line| line.contains("put off work:"));
    assert_eq!(told.count(), 1, "{:#?}", desk.headlines);
    desk.lost.clear();
    desk.hours(24);
    desk.tick();
    assert_eq!(desk.published.len(), 1);
    assert!(desk.state().publishing.is_empty());
}
