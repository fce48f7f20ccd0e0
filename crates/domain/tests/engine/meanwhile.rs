//! What changes while a session of a layer is at work: it was not given it, and does not undo it.

use phileas_domain::exchange::{Changed, Content};

use crate::hand_over::{ITEM, created, deciding, ends, event, item, slots};

fn text_of(one: Changed) -> String {
    match one.content {
        Content::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// What was found while a decider was at work waits for no further pass.
#[test]
fn what_a_decider_was_not_given_is_decided_before_the_track_goes_on() {
    let mut desk = deciding();
    desk.exchange
        .insert_text(event("docs").path, &text_of(event("docs")));
    ends(&mut desk, "decider", vec![item("erro01", true)]);
    let passes = desk.state().tracks["layers"].passes;
    desk.tick();
    assert_eq!(slots(&desk), ["decider"], "{:#?}", desk.lines);
    assert!(created(&desk)[0].prompt.contains("Found by docs"));
    assert_eq!(desk.state().tracks["layers"].passes, passes);
    let path = ITEM.replace("retry", "docs");
    let text = text_of(item("docs01", true))
        .replace("item01", "item02")
        .replace("Stop at the deadline", "Say it in the docs");
    ends(
        &mut desk,
        "decider",
        vec![Changed {
            path,
            content: Content::Text(text),
        }],
    );
    desk.tick();
    assert_eq!(
        slots(&desk),
        ["planner/item01", "planner/item02"],
        "{:#?}",
        desk.lines
    );
}

/// What a person wrote meanwhile counts for more than an answer to what stood there before.
#[test]
fn a_planner_does_not_write_over_what_was_changed_after_it_had_begun() {
    for is_changed in [false, true] {
        let mut desk = deciding();
        ends(&mut desk, "decider", vec![item("erro01", true)]);
        desk.tick();
        assert_eq!(slots(&desk), ["planner/item01"], "{:#?}", desk.lines);
        let by_hand = "Nobody waits, not even for the end.";
        if is_changed {
            let text = desk.exchange.text(ITEM).unwrap();
            let text = text.replace("No work that nobody waits for.", by_hand);
            desk.exchange.insert_text(ITEM, &text);
        }
        ends(&mut desk, "planner/item01", vec![item("erro01", false)]);
        desk.tick();
        let text = desk.exchange.text(ITEM).unwrap();
        assert_eq!(text.contains(by_hand), is_changed, "{text}");
        let waits = text.contains("requires_deep_analysis: true");
        assert_eq!(waits, is_changed, "the next planner gets it: {text}");
        let mut entries = desk.state().history.values();
        let planner = entries.find(|entry| entry.persona_id.as_str() == "planner");
        let note = planner.unwrap().note.clone().unwrap_or_default();
        let is_told = note.contains("it was changed after the session had begun");
        assert_eq!(is_told, is_changed, "{note}");
    }
}
