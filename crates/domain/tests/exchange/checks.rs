//! Tests each check: what triggers it, which position it reports, and that the valid example (see `examples`) does not
//! trigger it.

use crate::examples::{
    CHANGES, DECIDED, INNOVATOR, OBSERVER, PENDING, PROPOSAL, REQUIREMENT, changes, diagnostics_of,
    event, flat, proposal, requirement, with,
};

/// Replaces `from` by `to` in one file of a valid flat exchange; a diagnostic must contain each of the words.
#[track_caller]
fn assert_diagnostic(path: &str, from: &str, to: &str, words: &[&str]) {
    let files = flat();
    let (_, text) = files.iter().find(|(other, _)| other == path).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    let found = diagnostics_of(&with(files.clone(), path, &text.replacen(from, to, 1)));
    let told = found
        .iter()
        .any(|one| words.iter().all(|word| one.contains(word)));
    assert!(told, "{path}: {from:?} -> {to:?}: {words:?}\n{found:#?}");
}

#[test]
pub(crate) fn an_event_says_what_it_must() {
    for (from, to, words) in [
        (
            "schema_version: 1",
            "schema_version: 2",
            &[
                ":1:17: error: version 2 is not known",
                "(at schema_version)",
                "write 1",
            ][..],
        ),
        (
            "schema_version: 1\n",
            "",
            &[":1:1: error: `schema_version` is missing"],
        ),
        (
            "\"pend01\"",
            "123456",
            &[":2:5: error: without quotes this is a number", "(at id)"],
        ),
        ("\"pend01\"", "\"PEND01\"", &["`PEND01` is not an id"]),
        ("issue_id: \"\"\n", "", &["`issue_id` is missing"]),
        (
            "issue_id: \"\"",
            "issue_id: \"item01\"",
            &[":3:11: error: it is pending, and belongs to `item01`"],
        ),
        (
            "2026-01-05",
            "05.01.2026",
            &[
                ":4:13: error: `05.01.2026` is not a day",
                "such as 2026-01-05",
            ],
        ),
        (
            "2026-01-05",
            "YYYY-MM-DD",
            &["the placeholder `YYYY-MM-DD` was left"],
        ),
        (
            "author_role: taxonomy",
            "author_role: \"\"",
            &["(at author_role)", "is not a name"],
        ),
        (
            "confidence: high",
            "confidence: sure",
            &["`low`, `medium` or `high`"],
        ),
        (
            "title: Two names for one thing",
            "title: \" \"",
            &["it says nothing", "(at title)"],
        ),
        (
            "title: Two names for one thing",
            "title: |\n  Two\n  lines",
            &["it has several lines"],
        ),
        (
            "title: Two names for one thing",
            "title: <Descriptive Title>",
            &["placeholder `<Descriptive Title>`"],
        ),
        (
            "title: Two names for one thing",
            "titel: Two names for one thing",
            &[":7:1: error: unknown key `titel`", "did you mean `title`?"],
        ),
        (
            "issue_id: \"\"",
            "requirement_id: \"\"",
            &["here it is called `issue_id`"],
        ),
        (
            "statement: The parser calls it a step, and the runner calls it a stage.",
            "statement: ",
            &["nothing stands where a text belongs"],
        ),
        (
            "statement: The parser calls it a step, and the runner calls it a stage.",
            "statement: Short.",
            &["warning: `statement` says little in fewer than 20 characters"],
        ),
        (
            "  - path: src/parser.rs\n    loc: [12, \"20-30\", parse]\n    note: It is called a step here.\n",
            "  []\n",
            &["there are 0 entries", "at least 1"],
        ),
        (
            "    loc: [12, \"20-30\", parse]\n",
            "",
            &["`loc` is missing", "(at evidence[0].loc)"],
        ),
        (
            "loc: [12, \"20-30\", parse]",
            "loc: []",
            &["(at evidence[0].loc)", "at least 1"],
        ),
        (
            "loc: [12, \"20-30\", parse]",
            "loc: [0]",
            &["lines count from 1", "(at evidence[0].loc[0])"],
        ),
        (
            "path: src/parser.rs",
            "path: <path>",
            &[
                ":10:11: error: the placeholder `<path>`",
                "(at evidence[0].path)",
            ],
        ),
        (
            "note: It is called a step here.",
            "note: \"\"",
            &["(at evidence[0].note)"],
        ),
        (
            "title: Two names for one thing",
            "title: a: b",
            &["this is not YAML", ":7:"],
        ),
        (
            "confidence: high",
            "confidence: high\nconfidence: low",
            &["the key \"confidence\" is there twice"],
        ),
        (
            "title: Two",
            "<<<<<<< HEAD\ntitle: Two",
            &["merge conflict"],
        ),
    ] {
        assert_diagnostic(PENDING, from, to, words);
    }
}

#[test]
pub(crate) fn a_requirement_says_what_it_must() {
    for (from, to, words) in [
        (
            "schema_version: 2",
            "schema_version: 1",
            &["version 1 is not known"][..],
        ),
        ("id: \"item01\"", "id: item-1", &["`item-1` is not an id"]),
        (
            "source_events: [\"deci01\"]",
            "source_events: []",
            &["(at source_events)", "at least 1"],
        ),
        (
            "source_events: [\"deci01\"]",
            "source_events: [\"DECI01\"]",
            &["(at source_events[0])", "is not an id"],
        ),
        (
            "label: refacts",
            "label: refactors",
            &[
                "`refactors` is not a label of this repository",
                "did you mean `refacts`?",
            ],
        ),
        ("label: refacts", "label: ../x", &["`../x` is not a name"]),
        (
            "priority: medium",
            "priority: urgent",
            &["`urgent` is none of the words"],
        ),
        (
            "goal: One name for one thing.\n",
            "",
            &["`goal` is missing"],
        ),
        (
            "affected_areas: [src/parser.rs]",
            "affected_areas: []",
            &["(at affected_areas)", "at least 1"],
        ),
        (
            "acceptance_criteria:\n  - No stage is left in the code.",
            "acceptance_criteria: []",
            &["(at acceptance_criteria)", "at least 1"],
        ),
        (
            "verification_criteria:\n  - The tests pass.",
            "verification_criteria: []",
            &["(at verification_criteria)", "at least 1"],
        ),
        (
            "verification_criteria:",
            "verification_commands:",
            &["here it is called `verification_criteria`"],
        ),
        (
            "requires_deep_analysis: false\n",
            "",
            &["`requires_deep_analysis` is missing"],
        ),
        (
            "requires_deep_analysis: false",
            "requires_deep_analysis: \"no\"",
            &["a text stands where a truth value belongs"],
        ),
        (
            "requires_deep_analysis: false",
            "requires_deep_analysis: true",
            &["(at deep_analysis_reason)", "write the reason"],
        ),
        (
            "constraints: []",
            "constraints:",
            &["nothing stands where a list belongs", "or `[]`"],
        ),
        (
            "No stage is left in the code.",
            "Done.",
            &["warning: a criterion of fewer than 8 characters says little"],
        ),
        (
            "The tests pass.",
            "TODO",
            &[
                "warning: it looks unfinished",
                "(at verification_criteria[0])",
            ],
        ),
        (
            "The tests pass.",
            "x > 3",
            &["warning: it looks unfinished"],
        ),
        (
            "problem: Readers look for a stage and find a step.",
            "problem: Bad.",
            &["warning: `problem` says little"],
        ),
        (
            "impact: Every newcomer loses an hour over the two names.",
            "impact: Bad.",
            &["warning: `impact` says little"],
        ),
        (
            "desired_outcome: One name is used in code, docs and messages.",
            "desired_outcome: Good.",
            &["warning: `desired_outcome` says little"],
        ),
        (
            "title: One name for a step",
            "title: <title of the work>",
            &["placeholder"],
        ),
    ] {
        assert_diagnostic(REQUIREMENT, from, to, words);
    }
}

#[test]
pub(crate) fn proposals_memories_and_changes_say_what_they_must() {
    for (path, from, to, words) in [
        (
            PROPOSAL,
            "persona: leverage_architect",
            "persona: recruiter",
            &["is called `recruiter-<slug>.yml`"][..],
        ),
        (
            PROPOSAL,
            "impact_surface: [src]",
            "impact_surface: []",
            &["(at impact_surface)"],
        ),
        (
            PROPOSAL,
            "importance: Each part costs time.\n",
            "",
            &["`importance` is missing"],
        ),
        (
            PROPOSAL,
            "title: Fewer parts",
            "title: More parts",
            &["warning: `leverage_architect` does not remember it"],
        ),
        (
            PROPOSAL,
            "id: \"prop01\"",
            "id: \"<six letters and digits>\"",
            &["placeholder"],
        ),
        (
            CHANGES,
            "created_at: \"2026-01-05T10:00:00Z\"",
            "created_at: 2026-01-05",
            &["`2026-01-05` is not an instant"],
        ),
        (
            CHANGES,
            "  - title: Names\n    scope: The parser.\n    impact: It reads better.\n",
            "",
            &["there are 4 entries", "write exactly 5"],
        ),
        (
            CHANGES,
            "    scope: The parser.\n",
            "",
            &["(at summaries[0].scope)"],
        ),
        (
            OBSERVER,
            "schema_version: 2",
            "schema_version: 1",
            &["version 1 is not known"],
        ),
        (
            OBSERVER,
            "observer: taxonomy",
            "observer: qa",
            &["it is `qa`'s, and lies in the folder `taxonomy`"],
        ),
        (
            OBSERVER,
            "goals: [Find doubled names.]",
            "goals: []",
            &["(at goals)", "at least 1"],
        ),
        (
            OBSERVER,
            "goals: [Find doubled names.]",
            "goals: [a, b, c, d]",
            &["there are 4 entries", "at most 3"],
        ),
        (
            OBSERVER,
            "summary: Two events.",
            "sumary: Two events.",
            &["(at log[0].sumary)", "did you mean `summary`?"],
        ),
        (
            INNOVATOR,
            "persona: leverage_architect",
            "persona: other",
            &["it is `other`'s"],
        ),
        (
            INNOVATOR,
            "focus: What little would change much.\n",
            "",
            &["`focus` is missing"],
        ),
    ] {
        assert_diagnostic(path, from, to, words);
    }
}

#[test]
pub(crate) fn links_are_written_on_both_sides() {
    for (path, from, to, words) in [
        (
            DECIDED,
            "issue_id: \"item01\"",
            "issue_id: \"\"",
            &[
                "it is decided, and belongs to no work item",
                "write `issue_id: \"item01\"`",
            ][..],
        ),
        (
            DECIDED,
            "issue_id: \"item01\"",
            "issue_id: \"absent\"",
            &["there is no work item `absent`"],
        ),
        (
            DECIDED,
            "id: \"deci01\"",
            "id: \"other1\"",
            &["it belongs to `item01`, which does not name it"],
        ),
        (
            DECIDED,
            "id: \"deci01\"",
            "id: \"pend01\"",
            &["the id `pend01` is that of", "too"],
        ),
        (
            REQUIREMENT,
            "[\"deci01\"]",
            "[\"absent\"]",
            &[
                ":3:17: error: there is no event `absent`",
                "(at source_events[0])",
            ],
        ),
        (
            REQUIREMENT,
            "[\"deci01\"]",
            "[\"deci01\", \"pend01\"]",
            &[
                "the event `pend01` is pending",
                "to `decided/` with `issue_id: \"item01\"`",
            ],
        ),
        (
            REQUIREMENT,
            "[\"deci01\"]",
            "[\"deci01\", \"deci01\"]",
            &["`deci01` is there twice"],
        ),
        (
            REQUIREMENT,
            "id: \"item01\"",
            "id: \"item02\"",
            &["the event `deci01` says that it belongs to `item01`"],
        ),
    ] {
        assert_diagnostic(path, from, to, words);
    }
    let second = ".jules/exchange/requirements/other.yml";
    let two = diagnostics_of(&with(flat(), second, &requirement("item02", "deci01")));
    let told = |word: &str, found: &[String]| found.iter().any(|one| one.contains(word));
    assert!(
        told(
            "the event `deci01` belongs to `.jules/exchange/requirements/one-name.yml`, too",
            &two
        ),
        "{two:#?}"
    );
    assert!(
        told("the event `deci01` says that it belongs to `item01`", &two),
        "{two:#?}"
    );
    // From the event's side: its link names an item that does not name it, while another item does.
    let moved = with(
        with(flat(), second, &requirement("item02", "deci01")),
        REQUIREMENT,
        &requirement("item01", "pend01"),
    );
    let crossed = diagnostics_of(&moved);
    assert!(
        told("it belongs to `item01`, and `item02` names it", &crossed),
        "{crossed:#?}"
    );
    let same = diagnostics_of(&with(flat(), second, &requirement("item01", "pend01")));
    assert!(told("the id `item01` is that of", &same), "{same:#?}");
    let prop = ".jules/exchange/proposals/leverage-architect-other.yml";
    let same = diagnostics_of(&with(flat(), prop, &proposal("prop01")));
    assert!(told("the id `prop01` is that of", &same), "{same:#?}");
}

#[test]
pub(crate) fn rejections_name_an_event_and_events_their_rejection() {
    let feedback = "date: 2026-01-05\ntopic: Names\ncritique: It was never so.\nguidance: Look at the code first.\n";
    let path = ".jules/exchange/feedback/reje01.yml";
    let rejected = ".jules/exchange/events/rejected/no-such.yml";
    let both = with(with(flat(), path, feedback), rejected, &event("reje01", ""));
    assert_eq!(diagnostics_of(&both), [""; 0]);
    let told = |files: Vec<(String, String)>, word: &str| {
        let found = diagnostics_of(&files);
        assert!(found.iter().any(|one| one.contains(word)), "{found:#?}");
    };
    told(
        with(flat(), path, feedback),
        "there is no rejected event `reje01`",
    );
    told(
        with(flat(), rejected, &event("reje01", "")),
        "warning: it was rejected, and no feedback says why",
    );
    told(
        with(flat(), rejected, &event("reje01", "item01")),
        "it is rejected, and belongs to `item01`",
    );
    told(
        with(both, path, "date: 2026-01-05\n"),
        "`critique` is missing",
    );
}

#[test]
pub(crate) fn names_and_places_are_those_of_the_layout() {
    for (path, words) in [
        (
            ".jules/exchange/events/pending/a.yaml",
            &["`a.yaml` does not end in `.yml`", "call it `a.yml`"][..],
        ),
        (
            ".jules/exchange/events/pending/Dead_Code.yml",
            &["`Dead_Code` is not kebab-case"],
        ),
        (
            ".jules/exchange/events/pendign/a.yml",
            &[
                "`pendign` is not a state of an event",
                "did you mean `pending`?",
            ],
        ),
        (
            ".jules/exchange/events/open/a.yml",
            &[
                "`open` is not a state of an event",
                "`pending`, `decided` or `rejected`",
            ],
        ),
        (
            ".jules/exchange/events/pending/Dead_Code.yaml",
            &["`Dead_Code` is not kebab-case", "`.yml` at the end"],
        ),
        (
            ".jules/exchange/events/pending/dead-code.yaml",
            &["keep what still counts of it and of `dead-code.yml`"],
        ),
        (
            ".jules/exchange/notes/a.yml",
            &["nothing of the exchange belongs here"],
        ),
        (
            ".jules/exchange/notes.txt",
            &["warning: it is no artifact, because its name does not end in `.yml`"],
        ),
        (
            ".jules/exchange/events/pending/DEAD-code.yml",
            &["differs from it in nothing but capitals"],
        ),
        (
            ".jules/workstations/a b/perspective.yml",
            &["`a b` cannot be a role"],
        ),
    ] {
        let found = diagnostics_of(&with(flat(), path, &event("other1", "")));
        let told = found
            .iter()
            .any(|one| one.starts_with(path) && words.iter().all(|word| one.contains(word)));
        assert!(
            told || found
                .iter()
                .any(|one| words.iter().all(|word| one.contains(word))),
            "{path}: {found:#?}"
        );
    }
    for path in [
        ".jules/exchange/events/pending/.gitkeep",
        ".jules/exchange/README.md",
        ".jules/workstations/.gitignore",
    ] {
        assert_eq!(diagnostics_of(&with(flat(), path, "x")), [""; 0], "{path}");
    }
}

/// A repository's own registry defines the labels.
#[test]
pub(crate) fn labels_are_those_of_the_registry() {
    let registry = |names: &str| {
        with(
            flat(),
            ".jules/github-labels.json",
            &format!("{{\"schema_version\":1,\"issue_labels\":{{{names}}}}}"),
        )
    };
    assert_eq!(diagnostics_of(&registry("\"refacts\":{}")), [""; 0]);
    let other = diagnostics_of(&registry("\"perf\":{}"));
    assert!(
        other[0].contains("`refacts` is not a label of this repository (at label); write `perf`"),
        "{other:#?}"
    );
}

#[test]
fn an_empty_list_is_offered_only_where_one_is_taken() {
    for (line, help) in [
        (
            "affected_areas: [src/parser.rs]\n",
            "`affected_areas` is missing (at affected_areas); write a list",
        ),
        (
            "constraints: []\n",
            "`constraints` is missing (at constraints); write a list, or `[]`",
        ),
    ] {
        let text = requirement("item01", "deci01").replace(line, "");
        let found = diagnostics_of(&with(flat(), REQUIREMENT, &text));
        assert!(
            found.iter().any(|one| one.ends_with(help)),
            "{help}: {found:#?}"
        );
    }
}

/// A broken file hides no mistake in another file, and a mistake hides no other.
#[test]
pub(crate) fn all_mistakes_are_told_at_once() {
    let mut files = with(flat(), PENDING, "id: [\n");
    files = with(
        files,
        DECIDED,
        &event("deci01", "")
            .replace("high", "sure")
            .replace("Two names", "<Descriptive Title>"),
    );
    files = with(
        files,
        CHANGES,
        &changes().replace("schema_version: 1", "schema_version: 9"),
    );
    let found = diagnostics_of(&files);
    for (path, word) in [
        (PENDING, "not YAML"),
        (DECIDED, "belongs to no work item"),
        (DECIDED, "(at confidence)"),
        (DECIDED, "(at title)"),
        (CHANGES, "version 9"),
    ] {
        assert!(
            found
                .iter()
                .any(|one| one.starts_with(path) && one.contains(word)),
            "{word}: {found:#?}"
        );
    }
}

#[test]
pub(crate) fn what_cannot_be_read_is_told_and_not_read() {
    use phileas_domain::exchange::check_exchange;
    use phileas_domain::exchange::limits::ARTIFACT_LIMIT_BYTES;
    use phileas_domain::model::{Entry, Mode, Tree};
    for (mode, size, text, word) in [
        (Mode::Link, 1, Some("a"), "symbolic link"),
        (Mode::Submodule, 1, None, "a submodule, and not a file"),
        (Mode::File, 9, None, "not text in UTF-8"),
        (
            Mode::File,
            ARTIFACT_LIMIT_BYTES as u64 + 1,
            Some("a"),
            "larger than 65536 bytes",
        ),
        (Mode::File, 0, Some(""), "there is nothing in it"),
    ] {
        let mut tree = Tree::new();
        let entry = Entry {
            mode,
            oid: String::new(),
            size,
            text: text.map(Into::into),
        };
        tree.insert(PENDING, entry);
        let checked = check_exchange(&tree);
        crate::every_check::keep(&checked);
        let found = checked.diagnostics;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains(word), "{found:?}");
    }
}
