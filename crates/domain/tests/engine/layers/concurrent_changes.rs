//! Tests changes while a layer's session is live: it did not get them, and does not undo them.

use phileas_domain::exchange::{ChangedFile, FileContent};

use crate::layers::hand_over::{ITEM, created, deciding, ends, event, item, slots};

fn text_of(one: ChangedFile) -> String {
    match one.content {
        FileContent::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// What was found while a decider was at work waits for no further pass.
#[test]
fn what_a_decider_was_not_given_is_decided_before_the_track_goes_on() {
    let mut scenario = deciding();
    scenario
        .exchange
        .insert_text(event("docs").path, &text_of(event("docs")));
    ends(&mut scenario, "decider", vec![item("erro01", true)]);
    let passes = scenario.state().tracks["layers"].passes;
    scenario.tick();
    assert_eq!(slots(&scenario), ["decider"], "{:#?}", scenario.lines);
    assert!(created(&scenario)[0].prompt.contains("Found by docs"));
    assert_eq!(scenario.state().tracks["layers"].passes, passes);
    let path = ITEM.replace("retry", "docs");
    let text = text_of(item("docs01", true))
        .replace("item01", "item02")
        .replace("Stop at the deadline", "Say it in the docs");
    ends(
        &mut scenario,
        "decider",
        vec![ChangedFile {
            path,
            content: FileContent::Text(text),
        }],
    );
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["planner/item01", "planner/item02"],
        "{:#?}",
        scenario.lines
    );
}

/// What a person wrote meanwhile counts for more than an answer to what stood there before.
#[test]
fn a_planner_does_not_write_over_what_was_changed_after_it_had_begun() {
    for is_changed in [false, true] {
        let mut scenario = deciding();
        ends(&mut scenario, "decider", vec![item("erro01", true)]);
        scenario.tick();
        assert_eq!(
            slots(&scenario),
            ["planner/item01"],
            "{:#?}",
            scenario.lines
        );
        let by_hand = "No caller waits, not even for the end.";
        if is_changed {
            let text = scenario.exchange.text(ITEM).unwrap();
            let text = text.replace("No work without a waiting caller.", by_hand);
            scenario.exchange.insert_text(ITEM, &text);
        }
        ends(&mut scenario, "planner/item01", vec![item("erro01", false)]);
        scenario.tick();
        let text = scenario.exchange.text(ITEM).unwrap();
        assert_eq!(text.contains(by_hand), is_changed, "{text}");
        let waits = text.contains("requires_deep_analysis: true");
        assert_eq!(waits, is_changed, "the next planner gets it: {text}");
        let mut entries = scenario.state().history.values();
        let planner = entries.find(|entry| entry.persona_id.as_str() == "planner");
        let note = planner.unwrap().note.clone().unwrap_or_default();
        let is_told = note.contains("it was changed after the session had begun");
        assert_eq!(is_told, is_changed, "{note}");
    }
}
