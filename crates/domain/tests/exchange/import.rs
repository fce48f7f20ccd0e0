//! What sessions bring into the ledger, and what is kept out of it.

use phileas_domain::exchange::limits::{ARTIFACT_LIMIT_BYTES, CHANGE_FILES_LIMIT};
use phileas_domain::exchange::{
    Author, Changed, Content, EventState, Import, Request, check, import, merged, publication,
    returned,
};
use phileas_domain::model::{Entry, Mode, Tree};

use crate::examples::{
    CHANGES, DECIDED, INNOVATOR, OBSERVER, PENDING, REQUIREMENT, changes, event, flat, issue,
    proposal, requirement, streams, with,
};

/// A ledger that sessions write to.
struct Ledger {
    tree: Tree,
    stream: &'static str,
}

impl Ledger {
    fn of(files: &[(String, String)]) -> Self {
        let tree = Tree::of_texts(
            files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str())),
        );
        Self {
            tree,
            stream: "generic",
        }
    }

    fn flat() -> Self {
        Self::of(&flat())
    }

    fn ask(&self, author: Author<'_>, changes: &[Changed]) -> Import {
        import(&Request {
            tree: &self.tree,
            author,
            stream: self.stream,
            session_created: "2026-01-06T09:00:00Z".parse().unwrap(),
            changes,
        })
    }

    /// Imports, holds the answer against the rules that hold for every import, and commits it.
    #[track_caller]
    fn take(&mut self, author: Author<'_>, changes: &[Changed]) -> Import {
        let errors = |tree: &Tree| -> Vec<String> {
            let found = check(tree).found.into_iter().filter(|one| one.is_error());
            found.map(|one| one.to_string()).collect()
        };
        let before = errors(&self.tree);
        let done = self.ask(author, changes);
        self.commit(&done);
        for one in errors(&self.tree) {
            assert!(
                before.contains(&one),
                "the import brought in: {one}\n{done:#?}"
            );
        }
        let again = self.ask(author, changes);
        assert!(again.files.is_empty(), "imported twice: {again:#?}");
        done
    }

    fn commit(&mut self, done: &Import) {
        let mut next = Tree::new();
        for (path, entry) in self.tree.iter() {
            if !done.files.contains_key(path) {
                next.insert(path, entry.clone());
            }
        }
        for (path, text) in &done.files {
            assert!(path.starts_with(".jules/"), "{path}");
            if let Some(text) = text {
                next.insert_text(path, text);
            }
        }
        self.tree = next;
    }

    #[track_caller]
    fn text(&self, path: &str) -> &str {
        self.tree
            .text(path)
            .unwrap_or_else(|| panic!("{path} is not there"))
    }
}

fn wrote(path: &str, text: &str) -> Changed {
    Changed {
        path: path.to_owned(),
        content: Content::Text(text.to_owned()),
    }
}

fn removed(path: &str) -> Changed {
    Changed {
        path: path.to_owned(),
        content: Content::Removed,
    }
}

#[track_caller]
fn told(done: &Import, word: &str) {
    let found: Vec<String> = done.found.iter().map(ToString::to_string).collect();
    assert!(
        found.iter().any(|one| one.contains(word)),
        "{word}: {found:#?}"
    );
}

fn pending(name: &str) -> String {
    format!(".jules/exchange/events/pending/{name}.yml")
}

/// An event that says something of its own.
fn finding(id: &str, title: &str) -> String {
    event(id, "").replace("Two names for one thing", title)
}

const TAXONOMY: Author<'static> = Author::Observer("taxonomy");

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

#[test]
fn nothing_foreign_comes_in() {
    for author in [
        Author::Narrator,
        TAXONOMY,
        Author::Decider,
        Author::Planner(REQUIREMENT),
        Author::Innovator("leverage_architect"),
        Author::Implementer,
        Author::Integrator,
    ] {
        let ledger = Ledger::flat();
        for path in [
            "src/main.rs",
            ".jules/cycle_state.json",
            ".jules/schedules.toml",
            ".github/workflows/ci.yml",
            ".jules/exchange/notes.txt",
            ".jules/workstations/qa/perspective.yml",
            ".jules/exchange/events/decided/new.yml",
            ".jules/workstreams/core/events/pending/a.yml",
        ] {
            let done = ledger.ask(
                author,
                &[
                    wrote(path, "x: 1\n"),
                    removed(REQUIREMENT),
                    removed(PENDING),
                ],
            );
            assert!(done.files.is_empty(), "{author:?} {path}: {done:#?}");
            told(
                &done,
                &format!("{path}: error: {} may not change it", author.name()),
            );
            told(&done, &format!("{REQUIREMENT}: error:"));
        }
        for path in [
            "../x",
            "/etc/passwd",
            ".jules/../x",
            ".jules\\x",
            ".jules/a\0b",
            ".jules//x",
            ".jules/./x",
            "C:x",
            ".jules/.GIT/config",
            ".jules/\n",
        ] {
            let done = ledger.ask(author, &[wrote(path, "x: 1\n")]);
            assert!(done.files.is_empty(), "{author:?} {path}");
            told(&done, "the path is refused");
        }
    }
    assert_eq!(
        Ledger::flat()
            .ask(
                Author::Implementer,
                &[wrote(&pending("n"), &finding("newone", "New"))]
            )
            .files
            .len(),
        0
    );
}

#[test]
fn links_sizes_counts_and_spellings_are_limited() {
    let ledger = Ledger::flat();
    let one = |content| {
        [Changed {
            path: pending("new"),
            content,
        }]
    };
    told(
        &ledger.ask(TAXONOMY, &one(Content::Other(Mode::Link))),
        "symbolic link",
    );
    told(
        &ledger.ask(TAXONOMY, &one(Content::Other(Mode::File))),
        "no text file",
    );
    told(
        &ledger.ask(
            TAXONOMY,
            &one(Content::Text("a".repeat(ARTIFACT_LIMIT_BYTES + 1))),
        ),
        "more than 65536",
    );
    let many: Vec<Changed> = (0..=CHANGE_FILES_LIMIT)
        .map(|n| wrote(&pending(&format!("n{n}")), "x"))
        .collect();
    let done = ledger.ask(TAXONOMY, &many);
    assert_eq!(done.found.len(), 1);
    told(&done, "are not looked at");
    let huge: Vec<Changed> = (0..17)
        .map(|n| {
            wrote(
                &pending(&format!("n{n}")),
                &"a".repeat(ARTIFACT_LIMIT_BYTES),
            )
        })
        .collect();
    told(&ledger.ask(TAXONOMY, &huge), "are not looked at");
    told(
        &ledger.ask(TAXONOMY, &[wrote(&pending("DEAD-code"), "x")]),
        "nothing but capitals",
    );
    let twice = [
        wrote(&pending("new"), &finding("newone", "New")),
        wrote(&pending("new"), "x"),
    ];
    told(&ledger.ask(TAXONOMY, &twice), "in the change set twice");
    let mut linked = Ledger::flat();
    linked.tree.insert(
        pending("new"),
        Entry {
            mode: Mode::Link,
            oid: String::new(),
            size: 1,
            text: None,
        },
    );
    let done = linked.ask(
        TAXONOMY,
        &[wrote(&pending("new"), &finding("newone", "New"))],
    );
    assert!(done.files.is_empty());
    told(&done, "no regular file there");
}

#[test]
fn a_decider_writes_items_and_the_events_follow() {
    let mut ledger = Ledger::flat();
    let path = ".jules/exchange/requirements/new-work.yml";
    let done = ledger.take(
        Author::Decider,
        &[wrote(path, &requirement("item02", "pend01"))],
    );
    assert_eq!(
        (done.found, done.taken),
        (vec![], vec!["work-item item02".to_owned()])
    );
    assert!(ledger.tree.get(PENDING).is_none());
    assert!(
        ledger
            .text(".jules/exchange/events/decided/dead-code.yml")
            .contains("issue_id: \"item02\"")
    );
    assert_eq!(check(&ledger.tree).found, []);
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
    assert_eq!(done.found, []);
    assert_eq!(same.tree, ledger.tree);
}

#[test]
fn a_stale_picture_loses_nothing_that_still_fits() {
    let mut ledger = Ledger::flat();
    let path = ".jules/exchange/requirements/new-work.yml";
    let text = requirement("item02", "pend01")
        .replace("[\"pend01\"]", "[\"pend01\", \"deci01\", \"gone01\"]");
    let done = ledger.take(Author::Decider, &[wrote(path, &text)]);
    told(
        &done,
        "warning: the event `deci01` belongs to `item01` by now (at source_events[1])",
    );
    told(&done, "warning: the event `gone01` is not there");
    assert_eq!(done.taken, ["work-item item02"]);
    let done = Ledger::flat().ask(
        Author::Decider,
        &[wrote(path, &requirement("item02", "deci01"))],
    );
    assert!(done.files.is_empty());
    told(
        &done,
        "error: the event `deci01` belongs to `item01` by now",
    );
    // One event, two new items: the first one has it.
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
    told(
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
    assert_eq!(done.found, []);
    let exchange = check(&ledger.tree).exchange.unwrap();
    let item = &exchange.streams["generic"].items[0].value;
    assert_eq!(
        (item.id.as_str(), item.priority.as_str(), item.attempts),
        ("item01", "high", 2)
    );
    assert_eq!(item.source_events, ["deci01", "pend01"]);
    assert_eq!(item.returned_because, ["It broke the build."]);
    assert_eq!(check(&ledger.tree).found, []);
    // A new item does not write itself attempts, and a taken id becomes another.
    let mut ledger = Ledger::flat();
    let path = ".jules/exchange/requirements/new-work.yml";
    ledger.take(
        Author::Decider,
        &[wrote(
            path,
            &(requirement("item01", "pend01") + "attempts: 3\n"),
        )],
    );
    let exchange = check(&ledger.tree).exchange.unwrap();
    let items = &exchange.streams["generic"].items;
    assert_eq!(items.len(), 2);
    assert!(
        items
            .iter()
            .any(|item| item.value.id != "item01" && item.value.attempts == 0)
    );
    assert_eq!(check(&ledger.tree).found, []);
}

/// Two sessions give two works one name, in one folder or below two labels.
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
    assert_eq!(check(&ledger.tree).found, []);

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
    assert_eq!(check(&ledger.tree).found, []);
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
        assert_eq!(done.found, []);
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
        assert_eq!(check(&ledger.tree).found, []);
        // A session of the observer that ran meanwhile does not unlearn it.
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
    // A broken memory holds nothing up.
    let mut broken = Ledger::of(&with(flat(), OBSERVER, "a: 1\n"));
    told(
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
    told(
        &ledger.ask(
            Author::Decider,
            &[wrote(".jules/exchange/feedback/nobody.yml", feedback)],
        ),
        "there is no event `nobody`",
    );
    told(
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
    told(
        &ledger.take(Author::Decider, &both),
        "the event `pend01` belongs to a work item",
    );
    let exchange = check(&ledger.tree).exchange.unwrap();
    assert_eq!(
        exchange.streams["generic"]
            .events_in(EventState::Decided)
            .count(),
        2
    );
}

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
        one.take(planner, &[wrote(REQUIREMENT, &expanded)]).found,
        []
    );
    let text = one.text(REQUIREMENT);
    assert!(
        text.contains("requires_deep_analysis: false") && text.contains("Messages change."),
        "{text}"
    );
    // Not sound: the flag stays.
    let done = ledger().ask(
        planner,
        &[wrote(
            REQUIREMENT,
            &expanded.replace("affected_areas: [src/parser.rs]", "affected_areas: []"),
        )],
    );
    assert!(done.files.is_empty());
    told(&done, "(at affected_areas)");
    // What is not a planner's to change is left.
    let mut one = ledger();
    let other = expanded
        .replace("item01", "item09")
        .replace("[\"deci01\"]", "[\"pend01\"]")
        + "attempts: 9\n";
    let done = one.take(planner, &[wrote(REQUIREMENT, &other)]);
    told(&done, "a planner does not change `id`");
    told(&done, "a planner does not change `source_events`");
    assert_eq!(check(&one.tree).found, []);
    // It waits no more, it is gone, it is another one.
    told(
        &Ledger::flat().ask(planner, &[wrote(REQUIREMENT, &expanded)]),
        "does not wait for a planner any more",
    );
    let gone = with(with(flat(), REQUIREMENT, ""), DECIDED, "");
    told(
        &Ledger::of(&gone).ask(planner, &[wrote(REQUIREMENT, &expanded)]),
        "the work item is gone",
    );
    let path = ".jules/exchange/requirements/new-work.yml";
    told(
        &ledger().ask(planner, &[wrote(path, &requirement("item02", "pend01"))]),
        "the planner was given another work item",
    );
}

#[test]
fn the_narrators_cursor_is_when_its_session_began() {
    let mut ledger = Ledger::flat();
    let text = changes().replace("2026-01-05T10:00:00Z", "2031-01-01T00:00:00Z");
    assert_eq!(
        ledger
            .take(Author::Narrator, &[wrote(CHANGES, &text)])
            .found,
        []
    );
    assert!(
        ledger
            .text(CHANGES)
            .contains("created_at: \"2026-01-06T09:00:00Z\"")
    );
    let newer = with(
        flat(),
        CHANGES,
        &changes().replace("2026-01-05", "2026-01-07"),
    );
    told(
        &Ledger::of(&newer).ask(Author::Narrator, &[wrote(CHANGES, &changes())]),
        "a newer summary is in its place",
    );
    told(
        &Ledger::flat().ask(Author::Narrator, &[wrote(CHANGES, "schema_version: 1\n")]),
        "`summaries` is missing",
    );
}

fn proposed(name: &str, id: &str, title: &str) -> Changed {
    wrote(
        &format!(".jules/exchange/proposals/{name}.yml"),
        &proposal(id).replace("title: Fewer parts", &format!("title: {title}")),
    )
}

#[test]
fn an_innovator_brings_three_proposals_and_remembers_them() {
    let author = Author::Innovator("leverage_architect");
    let mut ledger = Ledger::flat();
    let three = [
        proposed("leverage-architect-a", "propa1", "A"),
        proposed("other-name", "prop01", "B"),
        proposed("Bad_Name", "propc1", "C"),
    ];
    let done = ledger.take(author, &three);
    assert_eq!(done.found, []);
    assert_eq!(
        done.subject(&author).unwrap(),
        "import innovators/leverage_architect 1 memory, 3 proposals"
    );
    assert!(
        ledger
            .text(".jules/exchange/proposals/leverage-architect-other-name.yml")
            .contains("title: B")
    );
    assert!(
        ledger
            .text(".jules/exchange/proposals/leverage-architect-propc1.yml")
            .contains("title: C")
    );
    let exchange = check(&ledger.tree).exchange.unwrap();
    let memory = exchange.streams["generic"]
        .memories
        .iter()
        .find(|one| one.value.innovator)
        .unwrap();
    let titles: Vec<&str> = memory
        .value
        .recent_proposals
        .iter()
        .map(String::as_str)
        .collect();
    assert_eq!(
        titles,
        ["C", "A", "B", "Fewer parts"],
        "in the order of their files"
    );
    assert_eq!(check(&ledger.tree).found, []);
}

#[test]
fn proposals_that_were_made_before_or_by_others_are_left_out() {
    let author = Author::Innovator("leverage_architect");
    let ledger = Ledger::flat();
    let done = ledger.ask(
        author,
        &[proposed(
            "leverage-architect-x",
            "propx1",
            "\"fewer PARTS \"",
        )],
    );
    told(&done, "was proposed before");
    told(
        &done,
        "warning: an innovator brings 3 proposals; these are 1",
    );
    assert!(done.files.is_empty());
    told(
        &ledger.ask(
            Author::Innovator("recruiter"),
            &[proposed("a", "propx1", "X")],
        ),
        "it says that `leverage_architect` proposes it",
    );
    let four = ["a", "b", "c", "d"].map(|name| proposed(name, &format!("prop{name}1"), name));
    let mut ledger = Ledger::flat();
    let done = ledger.take(author, &four);
    told(
        &done,
        "proposals/d.yml: error: this is one proposal more than 3",
    );
    assert_eq!(
        done.taken
            .iter()
            .filter(|one| one.starts_with("proposal"))
            .count(),
        3
    );
    let same = [
        proposed("a", "propa1", "Same"),
        proposed("b", "propb1", "Same"),
        proposed("c", "propc1", "C"),
    ];
    told(
        &Ledger::flat().take(author, &same),
        "`Same` was proposed before",
    );
    // Without a memory one begins; a broken one is told of.
    let mut fresh = Ledger::of(&with(flat(), INNOVATOR, ""));
    fresh.take(
        author,
        &[
            proposed("a", "propa1", "A"),
            proposed("b", "propb1", "B"),
            proposed("c", "propc1", "C"),
        ],
    );
    assert!(fresh.text(INNOVATOR).contains("\"C\""));
    let broken = Ledger::of(&with(flat(), INNOVATOR, "persona: x\n"));
    told(
        &broken.ask(author, &four[..3]),
        "the proposals could not be noted",
    );
}

#[test]
fn workstreams_import_into_their_own_stream() {
    for (nested, home) in [
        (true, ".jules/workstreams/core/exchange"),
        (false, ".jules/workstreams/core"),
    ] {
        let mut ledger = Ledger::of(&streams(nested));
        ledger.stream = "core";
        // Whichever form the agent writes, it lands where the stream keeps its files.
        let path = ".jules/workstreams/core/events/pending/brand-new.yml";
        assert_eq!(
            ledger
                .take(TAXONOMY, &[wrote(path, &finding("newone", "New"))])
                .found,
            []
        );
        assert!(
            ledger
                .text(&format!("{home}/events/pending/brand-new.yml"))
                .contains("newone")
        );
        let foreign = ".jules/workstreams/docs/events/pending/brand-new.yml";
        let done = ledger.ask(TAXONOMY, &[wrote(foreign, &finding("newtwo", "Newer"))]);
        assert!(done.files.is_empty());
        told(&done, "may not change it");
        // The list of issues follows, whatever the agent made of it.
        let work = [
            wrote(
                &format!("{home}/issues/docs/told.yml"),
                &issue("citem1", "cpend0"),
            ),
            wrote(&format!("{home}/issues/index.md"), "nonsense"),
        ];
        assert_eq!(ledger.take(Author::Decider, &work).found, []);
        let index = ledger.text(&format!("{home}/issues/index.md"));
        assert!(
            index.contains("(./refacts/told.yml)") && index.contains("(./refacts/one-name.yml)"),
            "by its label: {index}"
        );
        assert_eq!(check(&ledger.tree).found, []);
        let done = ledger.ask(
            Author::Decider,
            &[wrote(
                &format!("{home}/issues/bugs/x.yml"),
                &issue("citem2", "devent"),
            )],
        );
        told(&done, "the event `devent` is not there");
        ledger.stream = "gone";
        told(&ledger.ask(TAXONOMY, &[]), "there is no workstream `gone`");
    }
}

#[test]
fn an_empty_ledger_takes_a_first_event() {
    let mut ledger = Ledger::of(&[]);
    assert_eq!(
        ledger
            .take(
                TAXONOMY,
                &[wrote(&pending("new"), &finding("newone", "New"))]
            )
            .found,
        []
    );
    let mut both = flat();
    both.extend(streams(false));
    told(&Ledger::of(&both).ask(TAXONOMY, &[]), "two layouts");
}

#[test]
fn merged_work_leaves_with_its_events_and_failed_work_comes_back() {
    let ledger = Ledger::flat();
    let files = merged(&ledger.tree, REQUIREMENT).unwrap();
    assert_eq!(
        files.into_iter().collect::<Vec<_>>(),
        [(DECIDED.to_owned(), None), (REQUIREMENT.to_owned(), None)]
    );
    let mut ledger = Ledger::flat();
    for attempt in 1..=3_u64 {
        let (files, parked) = returned(&ledger.tree, REQUIREMENT, "closed\nunmerged").unwrap();
        assert_eq!(parked, attempt == 3);
        ledger.commit(&Import {
            files,
            ..Import::default()
        });
        let exchange = check(&ledger.tree).exchange.unwrap();
        let item = &exchange.streams["generic"].items[0].value;
        assert_eq!(
            (
                item.attempts,
                item.returned_because.last().unwrap().as_str()
            ),
            (attempt, "closed unmerged")
        );
        assert_eq!(check(&ledger.tree).found, []);
    }
    assert!(merged(&ledger.tree, "x.yml").is_err() && returned(&ledger.tree, "x.yml", "").is_err());
    let lost = Ledger::of(&with(flat(), DECIDED, ""));
    let error = merged(&lost.tree, REQUIREMENT).unwrap_err().to_string();
    assert!(error.contains("`deci01`, of which there are 0"), "{error}");
    let mut ledger = Ledger::of(&streams(true));
    let files = merged(
        &ledger.tree,
        ".jules/workstreams/core/exchange/issues/refacts/one-name.yml",
    )
    .unwrap();
    ledger.commit(&Import {
        files,
        ..Import::default()
    });
    assert_eq!(check(&ledger.tree).found, [], "the list of issues follows");
}

#[test]
fn a_proposal_is_published_so_that_it_can_be_found_again() {
    let text = |title: &str| {
        proposal("prop01")
            .replace("Put two", "Ask @everyone <!-- and put two")
            .replace("title: Fewer parts", title)
    };
    let published = |title: &str| {
        let files = with(
            flat(),
            ".jules/exchange/proposals/leverage-architect-fewer-parts.yml",
            &text(title),
        );
        let exchange = check(&Ledger::of(&files).tree).exchange.unwrap();
        publication(&exchange.streams["generic"].proposals[0])
    };
    let one = published("title: Fewer parts").unwrap();
    assert_eq!(one.title, "[innovator/leverage_architect] Fewer parts");
    assert_eq!(
        (one.key.as_str(), one.label.as_str()),
        (
            "proposal:leverage-architect-fewer-parts",
            "innovator/leverage_architect"
        )
    );
    assert!(
        one.body.ends_with(&format!("{}\n", one.marker)) && one.body.matches("<!--").count() == 1,
        "{}",
        one.body
    );
    assert!(!one.body.contains("@everyone") && one.body.contains("## What it costs\n\nA day.\n"));
    assert_eq!(published("title: \"\""), None);
}

mod any {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    const AUTHORS: [Author<'static>; 7] = [
        Author::Narrator,
        TAXONOMY,
        Author::Observer("qa"),
        Author::Decider,
        Author::Planner(REQUIREMENT),
        Author::Innovator("leverage_architect"),
        Author::Implementer,
    ];

    fn path() -> impl Strategy<Value = String> {
        let paths = [
            PENDING,
            DECIDED,
            REQUIREMENT,
            CHANGES,
            OBSERVER,
            INNOVATOR,
            ".jules/exchange/events/pending/new.yml",
            ".jules/exchange/events/pending/Odd Name.yml",
            ".jules/exchange/requirements/new-work.yml",
            ".jules/exchange/requirements/more-work.yml",
            ".jules/exchange/feedback/pend01.yml",
            ".jules/exchange/feedback/deci01.yml",
            ".jules/exchange/proposals/new.yml",
            ".jules/exchange/proposals/leverage-architect-fewer-parts.yml",
            ".jules/workstations/qa/perspective.yml",
            ".jules/cycle_state.json",
            "src/lib.rs",
            "../x",
        ];
        select(paths.to_vec()).prop_map(str::to_owned)
    }

    fn text() -> impl Strategy<Value = String> {
        let id = || {
            select(vec![
                "pend01", "deci01", "item01", "prop01", "newone", "newtwo", "X",
            ])
        };
        let feedback = "date: 2026-01-06\ntopic: Names\ncritique: It was never so.\nguidance: Look at the code first.\n";
        let memory = flat()
            .into_iter()
            .filter(|(path, _)| path == OBSERVER || path == INNOVATOR)
            .map(|(_, text)| text);
        prop_oneof![
            (id(), id()).prop_map(|(id, link)| event(id, link)),
            (id(), "[a-z]{3,8}").prop_map(|(id, title)| finding(id, &title)),
            (id(), id(), id()).prop_map(|(id, one, two)| requirement(id, one)
                .replace(&format!("[\"{one}\"]"), &format!("[\"{one}\", \"{two}\"]"))),
            (id(), "[a-z]{3,8}")
                .prop_map(|(id, title)| proposal(id).replace("Fewer parts", &title)),
            Just(feedback.to_owned()),
            Just(changes()),
            select(memory.collect::<Vec<_>>()),
            "[a-z:{}\\[\\]\n -]{0,30}",
        ]
    }

    fn change() -> impl Strategy<Value = Changed> {
        let content = prop_oneof![
            8 => text().prop_map(Content::Text),
            1 => Just(Content::Removed),
            1 => Just(Content::Other(Mode::Link)),
        ];
        (path(), content).prop_map(|(path, content)| Changed { path, content })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever sessions write, one after another: no import brings an error into a sound ledger, the same one twice
        /// changes nothing, and nothing but the exchange is written. No event is lost on the way.
        #[test]
        fn nothing_that_sessions_write_breaks_the_ledger(
            sessions in proptest::collection::vec((select(AUTHORS.to_vec()), proptest::collection::vec(change(), 0..6)), 1..4),
        ) {
            let mut ledger = Ledger::flat();
            for (author, changes) in sessions {
                let before = check(&ledger.tree).exchange.unwrap();
                let done = ledger.take(author, &changes);
                let home = |path: &String| path.starts_with(".jules/exchange/") || path.starts_with(".jules/workstations/");
                prop_assert!(done.files.keys().all(home), "{:?}", done.files);
                let after = check(&ledger.tree).exchange.unwrap();
                let ids = |exchange: &phileas_domain::exchange::Exchange| -> Vec<String> {
                    exchange.streams["generic"].events.iter().map(|event| event.value.id.clone()).collect()
                };
                for id in ids(&before) {
                    prop_assert!(ids(&after).contains(&id), "{} was lost", id);
                }
            }
        }
    }
}
