//! Tests the import of a decider's work items and rejections.

use super::*;

#[test]
fn a_decider_writes_items_and_the_events_follow() {
    let mut ledger = Ledger::flat();
    let path = ".jules/exchange/requirements/new-work.yml";
    let done = ledger.take(
        Author::Decider,
        &[wrote(path, &requirement("item02", "pend01"))],
    );
    assert_eq!(
        (done.diagnostics, done.taken),
        (vec![], vec!["work-item item02".to_owned()])
    );
    assert!(ledger.tree.get(PENDING).is_none());
    assert!(
        ledger
            .text(".jules/exchange/events/decided/dead-code.yml")
            .contains("issue_id: \"item02\"")
    );
    assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
    // An agent that moves the event and sets its link by itself means the same.
    let mut same = Ledger::flat();
    let moved = wrote(
        ".jules/exchange/events/decided/dead-code.yml",
        &event("pend01", "item02"),
    );
    let done = same.take(
        Author::Decider,
        &[
            wrote(path, &requirement("item02", "pend01")),
            removed(PENDING),
            moved,
        ],
    );
    assert_eq!(done.diagnostics, []);
    assert_eq!(same.tree, ledger.tree);
}

#[test]
fn a_stale_picture_loses_nothing_that_still_fits() {
    let mut ledger = Ledger::flat();
    let path = ".jules/exchange/requirements/new-work.yml";
    let text = requirement("item02", "pend01")
        .replace("[\"pend01\"]", "[\"pend01\", \"deci01\", \"gone01\"]");
    let done = ledger.take(Author::Decider, &[wrote(path, &text)]);
    assert_diagnostic(
        &done,
        "warning: the event `deci01` belongs to `item01` by now (at source_events[1])",
    );
    assert_diagnostic(&done, "warning: the event `gone01` is not there");
    assert_eq!(done.taken, ["work-item item02"]);
    let done = Ledger::flat().ask(
        Author::Decider,
        &[wrote(path, &requirement("item02", "deci01"))],
    );
    assert!(done.files.is_empty());
    assert_diagnostic(
        &done,
        "error: the event `deci01` belongs to `item01` by now",
    );
    // Of two new items with the same event, the first one gets it.
    let mut ledger = Ledger::flat();
    let other = ".jules/exchange/requirements/other-work.yml";
    let done = ledger.take(
        Author::Decider,
        &[
            wrote(path, &requirement("item02", "pend01")),
            wrote(other, &requirement("item03", "pend01")),
        ],
    );
    assert_eq!(done.taken, ["work-item item02"]);
    assert_diagnostic(
        &done,
        "other-work.yml:3:17: error: the event `pend01` belongs to `item02` by now",
    );
}

#[test]
fn an_item_keeps_its_id_its_events_and_what_phileas_wrote() {
    let kept =
        requirement("item01", "deci01") + "attempts: 2\nreturned_because: [It broke the build.]\n";
    let mut ledger = Ledger::of(&with(flat(), REQUIREMENT, &kept));
    let text = requirement("other1", "pend01")
        .replace("[\"pend01\"]", "[\"deci01\", \"pend01\"]")
        .replace("priority: medium", "priority: high")
        + "attempts: 0\n";
    let done = ledger.take(Author::Decider, &[wrote(REQUIREMENT, &text)]);
    assert_eq!(done.diagnostics, []);
    let exchange = check_exchange(&ledger.tree).exchange.unwrap();
    let item = &exchange.streams["generic"].items[0].value;
    assert_eq!(
        (item.id.as_str(), item.priority.as_str(), item.attempts),
        ("item01", "high", 2)
    );
    assert_eq!(item.source_events, ["deci01", "pend01"]);
    assert_eq!(item.returned_because, ["It broke the build."]);
    assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
    // A new item cannot set its own attempts, and a taken id is replaced.
    let mut ledger = Ledger::flat();
    let path = ".jules/exchange/requirements/new-work.yml";
    ledger.take(
        Author::Decider,
        &[wrote(
            path,
            &(requirement("item01", "pend01") + "attempts: 3\n"),
        )],
    );
    let exchange = check_exchange(&ledger.tree).exchange.unwrap();
    let items = &exchange.streams["generic"].items;
    assert_eq!(items.len(), 2);
    assert!(
        items
            .iter()
            .any(|item| item.value.id != "item01" && item.value.attempts == 0)
    );
    assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
}

/// Two sessions give two work items the same name, in one folder or below two labels.
#[test]
fn another_work_of_the_same_name_takes_nothing_away() {
    let mut ledger = Ledger::flat();
    let before = ledger.text(REQUIREMENT).to_owned();
    let done = ledger.take(
        Author::Decider,
        &[wrote(REQUIREMENT, &requirement("item02", "pend01"))],
    );
    assert_eq!(done.taken, ["work-item item02"]);
    assert_eq!(ledger.text(REQUIREMENT), before);
    assert_eq!(check_exchange(&ledger.tree).diagnostics, []);

    let mut ledger = Ledger::of(&streams(true));
    ledger.stream = "core";
    let home = ".jules/workstreams/core/exchange";
    let first = format!("{home}/issues/refacts/one-name.yml");
    let before = ledger.text(&first).to_owned();
    let work = issue("citem1", "cpend0").replace("label: refacts", "label: docs");
    let second = format!("{home}/issues/docs/one-name.yml");
    let done = ledger.take(Author::Decider, &[wrote(&second, &work)]);
    assert_eq!(done.taken, ["work-item citem1"]);
    assert_eq!(ledger.text(&first), before);
    assert!(ledger.text(&second).contains("citem1"));
    assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
}

#[test]
fn a_rejection_moves_the_event_and_teaches_the_observer() {
    let feedback = "date: 2026-01-06\ntopic: Names\ncritique: It was never so.\nguidance: Look at the code first.\n";
    let path = ".jules/exchange/feedback/pend01.yml";
    for memory in [true, false] {
        let files = if memory {
            flat()
        } else {
            with(flat(), OBSERVER, "")
        };
        let mut ledger = Ledger::of(&files);
        let done = ledger.take(Author::Decider, &[wrote(path, feedback)]);
        assert_eq!(done.diagnostics, []);
        assert!(
            ledger
                .text(".jules/exchange/events/rejected/dead-code.yml")
                .contains("pend01")
        );
        assert!(
            ledger
                .text(OBSERVER)
                .contains("Names: Look at the code first.")
        );
        assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
        // A session of the observer that ran at the same time keeps the lesson.
        let (_, old) = flat()
            .into_iter()
            .find(|(path, _)| path == OBSERVER)
            .unwrap();
        ledger.take(TAXONOMY, &[wrote(OBSERVER, &old)]);
        assert!(
            ledger
                .text(OBSERVER)
                .contains("Names: Look at the code first.")
        );
    }
    // A broken memory does not block the import.
    let mut broken = Ledger::of(&with(flat(), OBSERVER, "a: 1\n"));
    assert_diagnostic(
        &broken.take(Author::Decider, &[wrote(path, feedback)]),
        "warning: the rejection could not be noted",
    );
    assert!(
        broken
            .tree
            .get(".jules/exchange/events/rejected/dead-code.yml")
            .is_some()
    );
    let ledger = Ledger::flat();
    assert_diagnostic(
        &ledger.ask(
            Author::Decider,
            &[wrote(".jules/exchange/feedback/absent.yml", feedback)],
        ),
        "there is no event `absent`",
    );
    assert_diagnostic(
        &ledger.ask(
            Author::Decider,
            &[wrote(".jules/exchange/feedback/deci01.yml", feedback)],
        ),
        "the event `deci01` belongs to a work item",
    );
    let both = [
        wrote(path, feedback),
        wrote(
            ".jules/exchange/requirements/new-work.yml",
            &requirement("item02", "pend01"),
        ),
    ];
    let mut ledger = Ledger::flat();
    assert_diagnostic(
        &ledger.take(Author::Decider, &both),
        "the event `pend01` belongs to a work item",
    );
    let exchange = check_exchange(&ledger.tree).exchange.unwrap();
    assert_eq!(
        exchange.streams["generic"]
            .events_in(EventState::Decided)
            .count(),
        2
    );
}

/// A link, or a text that is too large to read: the file may contain the observer's lessons.
#[test]
fn a_memory_that_is_not_read_is_not_rewritten() {
    let feedback = "date: 2026-01-06\ntopic: Names\ncritique: It was never so.\nguidance: Look at the code first.\n";
    let path = ".jules/exchange/feedback/pend01.yml";
    let mut ledger = Ledger::flat();
    let unread = Entry {
        text: None,
        ..ledger.tree.get(OBSERVER).unwrap().clone()
    };
    ledger.tree.insert(OBSERVER, unread);
    let done = ledger.ask(Author::Decider, &[wrote(path, feedback)]);
    assert!(!done.files.is_empty(), "the rejection itself comes in");
    assert!(!done.files.contains_key(OBSERVER), "{:#?}", done.files);
}

/// An invalid id is reported, and six unquoted digits are an id.
#[test]
fn no_event_is_dropped_without_a_word() {
    let path = ".jules/exchange/requirements/new-work.yml";
    let with_events = |list: &str| requirement("item02", "pend01").replace("[\"pend01\"]", list);
    let list = "[\"pend01\", 123456, \"TAX001\", [x], \"a\\u0007\"]";
    let mut files = flat();
    files.push((pending("digits"), finding("123456", "Digits")));
    let mut ledger = Ledger::of(&files);
    let done = ledger.take(Author::Decider, &[wrote(path, &with_events(list))]);
    let exchange = check_exchange(&ledger.tree).exchange.unwrap();
    let item = exchange.streams["generic"].items.iter();
    let item = item.map(|item| &item.value).find(|one| one.id == "item02");
    assert_eq!(item.unwrap().source_events, ["pend01", "123456"]);
    assert_diagnostic(
        &done,
        "new-work.yml:3:35: warning: the event `TAX001` is not an id: six lower-case letters and digits in quotes (at source_events[2])",
    );
    assert_diagnostic(
        &done,
        "the event `a list` is not an id: six lower-case letters and digits in quotes (at source_events[3])",
    );
    assert_diagnostic(&done, "the event `a\\u{7}` is not an id");
    for list in [
        "[\"TAX001\"]",
        "[[x]]",
        "[{a: 1}]",
        "[null]",
        "[]",
        "x",
        "{a: 1}",
        "[\"\"]",
    ] {
        let done = Ledger::flat().ask(Author::Decider, &[wrote(path, &with_events(list))]);
        assert!(done.files.is_empty(), "{list}: {done:#?}");
        assert!(
            !done.diagnostics.is_empty(),
            "left out without a word: {list}"
        );
    }
}

/// A planner's expansion was imported while the decider worked on an older copy.
#[test]
fn an_older_copy_writes_over_nothing() {
    let waiting = requirement("item01", "deci01")
        .replace(
            "requires_deep_analysis: false",
            "requires_deep_analysis: true",
        )
        .replace(
            "deep_analysis_reason: \"\"",
            "deep_analysis_reason: It is not plain what it touches.",
        );
    let expanded = requirement("item01", "deci01").replace(
        "risks: []",
        "risks: [Names of the public interface change.]",
    );
    let given = Ledger::of(&with(flat(), REQUIREMENT, &waiting)).tree;
    let mut ledger = Ledger::of(&with(flat(), REQUIREMENT, &expanded));
    ledger.base = Some(given);
    let copy = waiting.replace("[\"deci01\"]", "[\"deci01\", \"pend01\"]");
    let done = ledger.take(Author::Decider, &[wrote(REQUIREMENT, &copy)]);
    assert_diagnostic(
        &done,
        "one-name.yml: warning: `.jules/exchange/requirements/one-name.yml` was changed after the session had begun; only its new events were taken",
    );
    let exchange = check_exchange(&ledger.tree).exchange.unwrap();
    let item = &exchange.streams["generic"].items[0].value;
    assert!(!item.requires_deep_analysis);
    assert!(
        ledger
            .text(REQUIREMENT)
            .contains("Names of the public interface")
    );
    assert_eq!(item.source_events, ["deci01", "pend01"]);
    assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
    // It is unknown what the session was given: nothing is overwritten, and equal content is not reported.
    let ledger = Ledger::of(&with(flat(), REQUIREMENT, &expanded));
    let done = ledger.ask_given(None, Author::Decider, &[wrote(REQUIREMENT, &waiting)]);
    assert!(done.files.is_empty(), "{done:#?}");
    assert_diagnostic(&done, "was changed after the session had begun");
    let done = ledger.ask_given(None, Author::Decider, &[wrote(REQUIREMENT, &expanded)]);
    assert_eq!((done.files.len(), done.diagnostics), (0, vec![]));
    // Blob ids suffice.
    let blobs = |oid: &str, text: Option<&str>| {
        let mut tree = ledger.tree.clone();
        let entry = Entry {
            mode: Mode::File,
            oid: oid.to_owned(),
            size: 1,
            text: text.map(Into::into),
        };
        tree.insert(REQUIREMENT, entry);
        tree
    };
    let present = Ledger {
        tree: blobs("aa", Some(&expanded)),
        ..Ledger::flat()
    };
    for (oid, written) in [("aa", true), ("bb", false)] {
        let base = blobs(oid, None);
        let done = present.ask_given(
            Some(&base),
            Author::Decider,
            &[wrote(REQUIREMENT, &waiting)],
        );
        assert_eq!(done.files.contains_key(REQUIREMENT), written, "{oid}");
    }
}

/// An item that a person has changed since is kept, whatever its file's name looks like.
#[test]
fn an_item_that_was_changed_meanwhile_stays_where_it_lies() {
    let path = REQUIREMENT.replace(".yml", ".yaml");
    let given = requirement("item01", "deci01");
    let present = given.replace("priority: medium", "priority: low");
    let copy = given.replace("[\"deci01\"]", "[\"deci01\", \"pend01\"]");
    for (before, stays) in [(&given, false), (&present, true)] {
        let lying = |text: &str| with(with(flat(), REQUIREMENT, ""), &path, text);
        let mut ledger = Ledger::of(&lying(before));
        ledger.base = Some(Ledger::of(&lying(&given)).tree);
        let done = ledger.ask(Author::Decider, &[wrote(&path, &copy)]);
        ledger.commit(&done);
        assert_eq!(ledger.tree.get(&path).is_some(), stays, "{done:#?}");
        assert_eq!(ledger.tree.get(REQUIREMENT).is_none(), stays, "{done:#?}");
        let text = ledger.text(if stays { &path } else { REQUIREMENT });
        assert_eq!(text.contains("low"), stays, "{text}");
        assert!(text.contains("pend01"), "{text}");
    }
}
