//! Tests the import of an observer's events and memory.

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
    assert_eq!(done.diagnostics, []);
    assert_eq!(done.taken, ["event newone", "memory of taxonomy"]);
    assert_eq!(
        done.commit_subject(&TAXONOMY).unwrap(),
        "import observers/taxonomy 1 event, 1 memory"
    );
    assert_eq!(ledger.text(OBSERVER), memory);
    assert_eq!(
        Ledger::flat().ask(TAXONOMY, &[]).commit_subject(&TAXONOMY),
        None
    );
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
        assert_eq!(done.diagnostics, [], "{id}");
        let exchange = check_exchange(&ledger.tree).exchange.unwrap();
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

/// The derived id belongs to another finding by now.
#[test]
fn an_id_that_is_made_is_not_one_that_is_taken() {
    let without = finding("newone", "New").replace("id: \"newone\"\n", "");
    let given = |ledger: &mut Ledger| {
        let before = ids(ledger);
        ledger.take(TAXONOMY, &[wrote(&pending("new"), &without)]);
        let mut new = ids(ledger).difference(&before).cloned().collect::<Vec<_>>();
        assert_eq!(new.len(), 1);
        new.remove(0)
    };
    let first = given(&mut Ledger::flat());
    let mut ledger = Ledger::flat();
    ledger.take(
        TAXONOMY,
        &[wrote(&pending("other"), &finding(&first, "Other"))],
    );
    assert!(ids(&ledger).contains(&first));
    assert_ne!(given(&mut ledger), first);
}

fn ids(ledger: &Ledger) -> std::collections::BTreeSet<String> {
    let exchange = check_exchange(&ledger.tree).exchange.unwrap();
    let events = exchange.streams["generic"].events.iter();
    events.map(|event| event.value.id.clone()).collect()
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
    let four: Vec<ChangedFile> = (1..=4)
        .map(|n| {
            wrote(
                &pending(&format!("n{n}")),
                &finding(&format!("newon{n}"), &format!("New {n}")),
            )
        })
        .collect();
    let done = ledger.take(TAXONOMY, &four);
    assert_eq!(done.taken.len(), 3);
    assert_diagnostic(&done, "n4.yml: error: a session may bring 3 events");
    let done = Ledger::flat().ask(
        Author::Observer("qa"),
        &[wrote(&pending("new"), &finding("newone", "New"))],
    );
    assert_diagnostic(
        &done,
        "it says that `taxonomy` found it (at author_role); write `qa`",
    );
    assert!(done.files.is_empty());
}

/// A known finding is not imported again, whatever its state is.
#[test]
fn an_event_that_is_known_is_not_brought_again() {
    let ledger = Ledger::flat();
    for (path, text) in [
        (pending("other-name"), event("newone", "")),
        (pending("dead-code"), event("pend01", "")),
    ] {
        let done = ledger.ask(TAXONOMY, &[wrote(&path, &text)]);
        assert_eq!(
            (done.files.len(), done.diagnostics.len()),
            (0, 0),
            "{done:#?}"
        );
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
    // An observer may replace its own pending event.
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
    assert_diagnostic(&done, "bad.yml:6:13: error: `sure` is none of the words");
    assert_diagnostic(&done, "worse.yml:2:1: error: this is not YAML");
    assert_diagnostic(&done, "`goals` is missing");
}

/// Forms that no key can be appended to: an indented map, and a document with an end mark.
#[test]
fn an_event_in_an_odd_form_is_taken_all_the_same() {
    let text = finding("newone", "New").replace("issue_id: \"\"\n", "");
    let without_id = text.replace("id: \"newone\"\n", "");
    for text in [text, without_id] {
        let indented: String = text.lines().map(|line| format!("  {line}\n")).collect();
        for text in [indented, format!("{text}...\n")] {
            let mut ledger = Ledger::flat();
            let done = ledger.take(TAXONOMY, &[wrote(&pending("new"), &text)]);
            assert_eq!((done.taken.len(), done.diagnostics), (1, vec![]), "{text}");
        }
    }
}

/// Feedback is kept for ever; the memory holds the newest, and the observer's own entries.
#[test]
fn many_rejections_leave_room_for_the_observers_own() {
    let mut files = flat();
    for n in 0..120 {
        let id = format!("rej{n:03}");
        files.push((
            format!(".jules/exchange/events/rejected/r{n}.yml"),
            finding(&id, &format!("Old {n}")),
        ));
        files.push((
            format!(".jules/exchange/feedback/{id}.yml"),
            format!("date: 2026-01-{:02}\ntopic: Old {n}\ncritique: It was never so.\nguidance: Look first.\n", 1 + n / 10),
        ));
    }
    let mut ledger = Ledger::of(&files);
    let own: Vec<String> = (0..30).map(|n| format!("own {n}")).collect();
    let ignore = |ledger: &Ledger| -> Vec<String> {
        let memory: serde_json::Value = serde_yaml::from_str(ledger.text(OBSERVER)).unwrap();
        serde_json::from_value(memory["ignore"].clone()).unwrap()
    };
    let memory = ledger
        .text(OBSERVER)
        .replace("ignore: []", &format!("ignore: {own:?}"));
    ledger.take(TAXONOMY, &[wrote(OBSERVER, &memory)]);
    let first = ignore(&ledger);
    assert_eq!(first.len(), 80, "{first:?}");
    assert!(own.iter().all(|one| first.contains(one)));
    assert!(
        first.contains(&"Old 119: Look first.".to_owned())
            && !first.contains(&"Old 69: Look first.".to_owned())
    );
    // The next session writes its memory back unchanged, and no entry is replaced.
    let text = ledger.text(OBSERVER).to_owned();
    let done = ledger.take(TAXONOMY, &[wrote(OBSERVER, &text)]);
    assert!(done.files.is_empty(), "{done:#?}");
    // A full memory drops old lessons before the observer's own entries.
    let old: Vec<String> = (0..60).map(|n| format!("Old {n}: Look first.")).collect();
    let whole = [old, own.clone()].concat();
    let memory = ledger
        .text(OBSERVER)
        .replace(&text, &memory)
        .replace(&format!("{own:?}"), &format!("{whole:?}"));
    ledger.take(TAXONOMY, &[wrote(OBSERVER, &memory)]);
    let kept = ignore(&ledger);
    assert_eq!(kept.len(), 100);
    assert!(own.iter().all(|one| kept.contains(one)), "{kept:?}");
    assert!(
        kept.contains(&"Old 70: Look first.".to_owned())
            && !kept.contains(&"Old 39: Look first.".to_owned())
    );
}
