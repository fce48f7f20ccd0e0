//! An observer's events and memory.

use super::*;

#[test]
fn an_observer_brings_events_and_its_memory() {
    let mut ledger = Ledger::flat();
    let memory = ledger.text(OBSERVER).replace("Two events.", "One event.");
    let done = ledger.take(
        TAXONOMY,
        &[
            wrote(&pending("new"), &finding("newone", "New")),
            wrote(OBSERVER, &memory),
        ],
    );
    assert_eq!(done.found, []);
    assert_eq!(done.taken, ["event newone", "memory of taxonomy"]);
    assert_eq!(
        done.subject(&TAXONOMY).unwrap(),
        "import observers/taxonomy 1 event, 1 memory"
    );
    assert_eq!(ledger.text(OBSERVER), memory);
    assert_eq!(Ledger::flat().ask(TAXONOMY, &[]).subject(&TAXONOMY), None);
}

#[test]
fn ids_are_given_where_they_are_missing_taken_or_none() {
    for (id, kept) in [
        ("\"newone\"", Some("newone")),
        ("\"pend01\"", None),
        ("\"X\"", None),
        ("123456", Some("123456")),
        ("", None),
    ] {
        let mut ledger = Ledger::flat();
        let text = finding("newone", "New").replace("\"newone\"", id);
        let done = ledger.take(TAXONOMY, &[wrote(&pending("new"), &text)]);
        assert_eq!(done.found, [], "{id}");
        let exchange = check(&ledger.tree).exchange.unwrap();
        let stream = &exchange.streams["generic"];
        let new = stream
            .events
            .iter()
            .find(|event| event.value.title == "New")
            .unwrap();
        assert!(new.sound && new.value.id.len() == 6);
        if let Some(kept) = kept {
            assert_eq!(new.value.id, kept);
        }
    }
    let mut ledger = Ledger::flat();
    let without = finding("newone", "New").replace("id: \"newone\"\n", "");
    assert_eq!(
        ledger
            .take(TAXONOMY, &[wrote(&pending("new"), &without)])
            .taken
            .len(),
        1
    );
}

#[test]
fn links_are_not_an_observers_to_make() {
    let mut ledger = Ledger::flat();
    ledger.take(
        TAXONOMY,
        &[wrote(
            &pending("new"),
            &finding("newone", "New").replace("issue_id: \"\"", "issue_id: \"item01\""),
        )],
    );
    assert!(ledger.text(&pending("new")).contains("issue_id: \"\""));
}

#[test]
fn a_session_brings_three_events_and_only_its_own() {
    let mut ledger = Ledger::flat();
    let four: Vec<Changed> = (1..=4)
        .map(|n| {
            wrote(
                &pending(&format!("n{n}")),
                &finding(&format!("newon{n}"), &format!("New {n}")),
            )
        })
        .collect();
    let done = ledger.take(TAXONOMY, &four);
    assert_eq!(done.taken.len(), 3);
    told(&done, "n4.yml: error: a session may bring 3 events");
    let done = Ledger::flat().ask(
        Author::Observer("qa"),
        &[wrote(&pending("new"), &finding("newone", "New"))],
    );
    told(
        &done,
        "it says that `taxonomy` found it (at author_role); write `qa`",
    );
    assert!(done.files.is_empty());
}

/// What was found before is not found again, wherever it stands by now.
#[test]
fn an_event_that_is_known_is_not_brought_again() {
    let ledger = Ledger::flat();
    for (path, text) in [
        (pending("other-name"), event("newone", "")),
        (pending("dead-code"), event("pend01", "")),
    ] {
        let done = ledger.ask(TAXONOMY, &[wrote(&path, &text)]);
        assert_eq!((done.files.len(), done.found.len()), (0, 0), "{done:#?}");
    }
}

#[test]
fn names_that_are_taken_or_unfit_get_another() {
    let mut ledger = Ledger::flat();
    ledger.take(
        TAXONOMY,
        &[
            wrote(PENDING, &finding("newone", "New")),
            wrote(&pending("Bad_Name"), &finding("newtwo", "Newer")),
        ],
    );
    assert!(
        ledger.text(PENDING).contains("pend01"),
        "nothing of another event is lost"
    );
    assert!(ledger.text(&pending("dead-code-newone")).contains("newone"));
    assert!(ledger.text(&pending("newtwo")).contains("newtwo"));
    // Its own pending event may be written anew.
    let mut ledger = Ledger::flat();
    ledger.take(
        TAXONOMY,
        &[wrote(PENDING, &finding("pend01", "Better said"))],
    );
    assert!(ledger.text(PENDING).contains("Better said"));
}

#[test]
fn what_is_broken_is_left_out_and_the_rest_is_taken() {
    let mut ledger = Ledger::flat();
    let memory = "schema_version: 2\n";
    let bad = finding("newtwo", "Newer").replace("confidence: high", "confidence: sure");
    let done = ledger.take(
        TAXONOMY,
        &[
            wrote(&pending("bad"), &bad),
            wrote(&pending("good"), &finding("newone", "New")),
            wrote(&pending("worse"), "a: ["),
            wrote(OBSERVER, memory),
        ],
    );
    assert_eq!(done.taken, ["event newone"]);
    told(&done, "bad.yml:6:13: error: `sure` is none of the words");
    told(&done, "worse.yml:2:1: error: this is no YAML");
    told(&done, "`goals` is missing");
}
