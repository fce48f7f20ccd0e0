//! Tests that no check lacks a test: each message in the checks' code must appear in one of the tests.
//!
//! The tests of this crate run here again, one after another, and all diagnostics are kept. Then the code of the checks
//! is searched for messages. `examples::nothing_is_wrong_with_sound_exchanges` proves that no check reports a valid
//! exchange.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use phileas_domain::exchange::{CheckResult, limits};

use crate::drift;
use crate::examples::{
    DECIDED, PENDING, REQUIREMENT, diagnostics_of, event, flat, proposal, streams, with,
};

/// All diagnostics so far.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Files of `src/exchange` with messages that are no checks of an exchange. Each has tests of its own.
const OTHERS: [&str; 6] = [
    "fix.rs",
    "migrate.rs",
    "work_item_issue.rs",
    "patch.rs",
    "settle.rs",
    "work_item_text.rs",
];
/// Messages that no exchange can trigger, by their beginnings, with the reason.
const ELSEWHERE: [(&str, &str); 10] = [
    (
        "labels.rs: ",
        "what the usual labels mean; its findings are in its own tests and in `checks`",
    ),
    ("index.rs: \n## {title}", "the list as it is written"),
    ("index.rs: | [{}](", "the list as it is written"),
    ("index.rs: | no open issues", "the list as it is written"),
    (
        "validate.rs: write a list in `[`",
        "of artifacts in JSON, which are the pipeline's",
    ),
    (
        "validate.rs: a line's number",
        "of a kind that only the pipeline has",
    ),
    (
        "validate.rs: a number from",
        "of a kind that only the pipeline has",
    ),
    (
        "validate.rs: {number} is out of range",
        "of a kind that only the pipeline has",
    ),
    (
        "validate.rs: write a name",
        "of a kind that only the pipeline has",
    ),
    (
        "validate.rs: this is not a name",
        "of a kind that only the pipeline has",
    ),
];

/// Keeps the diagnostics of a check.
pub(crate) fn keep(checked: &CheckResult) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    said.extend(checked.diagnostics.iter().map(ToString::to_string));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the sources of the checks are what it is about"
)]
fn every_sentence_of_the_checks_is_said_in_a_test() {
    use super::streams as of_streams_tests;
    use super::{checks, examples, quarantine};
    for test in [
        examples::nothing_is_wrong_with_sound_exchanges as fn(),
        checks::an_event_says_what_it_must,
        checks::a_requirement_says_what_it_must,
        checks::proposals_memories_and_changes_say_what_they_must,
        checks::links_are_written_on_both_sides,
        checks::rejections_name_an_event_and_events_their_rejection,
        checks::names_and_places_are_those_of_the_layout,
        checks::labels_are_those_of_the_registry,
        drift::schema_files_of_a_repository_ask_for_what_is_taken,
        checks::all_mistakes_are_told_at_once,
        checks::what_cannot_be_read_is_told_and_not_read,
        of_streams_tests::both_forms_are_read_into_the_same_model,
        of_streams_tests::streams_do_not_mix,
        of_streams_tests::an_issue_lies_in_the_folder_of_its_label,
        of_streams_tests::commands_start_no_agents,
        of_streams_tests::bindings_agree_with_folders_rosters_and_one_another,
        of_streams_tests::rosters_are_checked_in_their_place,
        of_streams_tests::two_layouts_at_once_are_one_mistake,
        of_streams_tests::a_change_summary_tells_what_it_left_out,
        of_streams_tests::the_list_of_issues_is_kept_in_step,
        of_streams_tests::links_with_one_answer_are_fixed,
        of_streams_tests::one_stream_can_be_looked_at_alone,
        of_streams_tests::inspection_says_what_is_there_and_where_it_goes,
        of_streams_tests::fixes_that_follow_one_another_touch_only_what_is_there,
        of_streams_tests::files_of_both_forms_are_told_and_listed_once,
        quarantine::r12_each_bad_file_is_left_out_with_a_reason_and_the_others_go_on,
        quarantine::r12_what_is_no_regular_file_is_never_followed,
        quarantine::r12_two_names_that_differ_in_capitals_are_told,
        quarantine::r12_what_is_sound_is_read_with_the_rest,
    ] {
        test();
    }
    more();
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut unsaid = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/exchange");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|kind| kind != "rs") || OTHERS.contains(&name.as_str()) {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap();
        if !code.contains("Diagnostic::") && !code.contains("-> Result<(), String>") {
            continue;
        }
        for sentence in sentences(code) {
            if !said.iter().any(|one| is_said(&sentence, one)) {
                unsaid.push(format!("{name}: {sentence}"));
            }
        }
    }
    unsaid.sort();
    let mut stale = Vec::new();
    for (begin, _) in ELSEWHERE {
        let before = unsaid.len();
        unsaid.retain(|one| !one.starts_with(begin));
        stale.extend((unsaid.len() == before).then_some(begin));
    }
    assert_eq!(stale, [""; 0], "these are said in a test by now, or gone");
    assert_eq!(unsaid, [""; 0], "these have no test");
}

/// Triggers the messages that no other test does.
fn more() {
    let told = |files: &[(String, String)], word: &str| {
        let found = diagnostics_of(files);
        assert!(
            found.iter().any(|one| one.contains(word)),
            "{word}: {found:#?}"
        );
    };
    let flat_with = |path: &str, from: &str, to: &str| {
        let files = flat();
        let (_, text) = files.iter().find(|(other, _)| other == path).unwrap();
        assert!(text.contains(from), "{from}: {text}");
        with(files.clone(), path, &text.replacen(from, to, 1))
    };
    let title = "title: Two names for one thing";
    let long = format!("title: {}", "a".repeat(501));
    told(
        &flat_with(PENDING, title, &long),
        "it has 501 characters, more than 500",
    );
    let text = "  - path: src/parser.rs\n    loc: [12, \"20-30\", parse]\n    note: It is called a step here.\n";
    let found_at = flat_with(PENDING, text, "  - src/parser.rs\n");
    told(
        &found_at,
        "a text stands where a map belongs (at evidence[0]); write the keys `path`, `loc`, `note`",
    );
    // Decided, and no work item names it.
    let mut orphan = with(flat(), REQUIREMENT, "");
    orphan = with(orphan, DECIDED, &event("deci01", ""));
    told(
        &orphan,
        "name the work item that took it up, or move it to `pending/`",
    );
    // No GitHub label is so long.
    let persona = "p".repeat(60);
    let path = format!(".jules/exchange/proposals/{persona}-x.yml");
    let proposed = proposal("prop02").replace("leverage_architect", &persona);
    let cannot = format!("no label of GitHub can be called `innovator/{persona}`");
    told(&with(flat(), &path, &proposed), &cannot);
    let many: Vec<_> = (0..=limits::FILES_LIMIT)
        .map(|number| {
            (
                format!(".jules/exchange/events/pending/e{number}.yml"),
                "a".to_owned(),
            )
        })
        .collect();
    told(
        &many,
        "the exchange has more than 5000 files; the rest is not read",
    );
    of_streams(told);
    rosters(told);
}

fn of_streams(told: impl Fn(&[(String, String)], &str)) {
    let path = ".jules/workstreams/a b/events/pending/x.yml";
    told(
        &with(streams(false), path, &event("abcdef", "")),
        "`a b` cannot be a workstream",
    );
    let mut both = streams(true);
    both.push((
        ".jules/workstreams/core/events/pending/x.yml".to_owned(),
        event("abcdef", ""),
    ));
    told(&both, "the workstream `core` has files in");
    let path = ".jules/roles/observers/taxonomy/prompt.yml";
    let far = with(streams(true), path, "workstream: elsewhere\n");
    told(
        &far,
        "make the folder .jules/workstreams/elsewhere, or name `core` or `docs`",
    );
    let path = ".jules/workstreams/core/workstations/taxonomy/perspective.yml";
    let files = streams(true);
    let (_, memory) = files.iter().find(|(other, _)| other == path).unwrap();
    let other = memory.replace("workstream: core", "workstream: \"a b\"");
    told(
        &with(files.clone(), path, &other),
        "write the name of the workstream: letters, digits",
    );
    let path = ".jules/changes/latest.yml";
    let (_, changes) = files.iter().find(|(other, _)| other == path).unwrap();
    let negative = changes.replace("insertions: 3", "insertions: -3");
    told(&with(files.clone(), path, &negative), "-3 is not a count");
}

fn rosters(told: impl Fn(&[(String, String)], &str)) {
    let path = ".jules/workstreams/core/scheduled.toml";
    let rest = "[observers]\nroles = [\"taxonomy\"]\n[deciders]\nroles = []\n";
    let whole = |text: &str| format!("version = 1\nenabled = true\n{text}");
    for (text, words) in [
        (
            "version = \n".to_owned(),
            &["this is not TOML: ", "quote texts, and write `key = value`"][..],
        ),
        (
            format!("enabled = true\n{rest}"),
            &["`version` is missing (at version); write `version = 1`"],
        ),
        (
            format!("version = 2\nenabled = true\n{rest}"),
            &["this version is not known"],
        ),
        (
            format!("version = 1\n{rest}"),
            &["`enabled` is missing (at enabled); write `enabled = true`"],
        ),
        (
            format!("version = 1\nenabled = 1\n{rest}"),
            &["it is not a truth value", "write true or false"],
        ),
        (
            whole(&format!("enable = 1\n{rest}")),
            &["unknown key `enable`"],
        ),
        (
            whole("[observers]\nroles = []\n[deciders]\nroles = []\n"),
            &[
                "it is enabled, and has no observers",
                "or write `enabled = false`",
            ],
        ),
        (
            whole("observers = 1\n[deciders]\nroles = []\n"),
            &["it is not a table", "write `roles = []` below it"],
        ),
        (
            whole("[observers]\n[deciders]\nroles = []\n"),
            &["`roles` is missing", "write `roles = []`"],
        ),
        (
            whole("[deciders]\nroles = []\n"),
            &[
                "`[observers]` is missing",
                "write the table with `roles = []`",
            ],
        ),
        (
            whole("[observers]\nroles = 1\n[deciders]\nroles = []\n"),
            &["it is not a list", "write the roles in brackets"],
        ),
        (
            whole("[observers]\nroles = [\"../b\"]\n[deciders]\nroles = []\n"),
            &["`../b` cannot be a role", "a role has letters, digits"],
        ),
        (
            whole("[observers]\nroles = [\"a\", \"a\"]\n[deciders]\nroles = []\n"),
            &["`a` is there twice", "name each role once"],
        ),
        (
            whole("[observers]\nroles = [3]\n[deciders]\nroles = []\n"),
            &["it names no role", "write the role's name"],
        ),
    ] {
        for word in words {
            told(&with(streams(true), path, &text), word);
        }
    }
}

/// Whether a diagnostic contains a message, with any text in the place of its braces.
fn is_said(sentence: &str, finding: &str) -> bool {
    let mut rest = finding;
    for piece in pieces(sentence) {
        let Some((_, after)) = rest.split_once(piece.as_str()) else {
            return false;
        };
        rest = after;
    }
    true
}

/// The fixed parts of a format string.
fn pieces(format: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' if chars.peek() == Some(&'{') => {
                chars.next();
                pieces.last_mut().unwrap().push('{');
            }
            '}' if chars.peek() == Some(&'}') => {
                chars.next();
                pieces.last_mut().unwrap().push('}');
            }
            '{' => {
                let _name = chars.by_ref().take_while(|c| *c != '}').count();
                pieces.push(String::new());
            }
            c => pieces.last_mut().unwrap().push(c),
        }
    }
    pieces
}

/// The string literals of code that read like a sentence: three words or more, except those of `expect`.
fn sentences(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let before = &rest[..at];
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if rest.starts_with('"') {
            let (text, after) = literal(&rest[1..]);
            let is_sentence = text.split_whitespace().count() >= 3;
            if is_sentence && !before.ends_with("expect(") && !before.ends_with("reason = ") {
                found.push(text);
            }
            rest = after;
        } else if rest.starts_with("'\"'") || rest.starts_with("'/'") {
            rest = &rest[3..];
        } else {
            rest = &rest[1..];
        }
    }
    found
}

/// The literal after an opening quote, and the rest of the code.
fn literal(rest: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, &rest[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, '\n')) => while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                Some((_, other)) => text.push(other),
                None => break,
            },
            c => text.push(c),
        }
    }
    (text, "")
}

#[test]
fn sentences_are_found_where_they_stand() {
    let code = r#"
        // "this is a comment"
        let one = format!("`{id}` is there \"twice\" and {more}");
        let two = "one two three \
                   four";
        let c = '"';
        let short = "two words";
        x.expect("no check reads this one");
    "#;
    let found = sentences(code);
    assert_eq!(
        found,
        ["`{id}` is there \"twice\" and {more}", "one two three four"]
    );
    assert!(is_said(&found[0], "x: `a` is there \"twice\" and again"));
    assert!(!is_said(&found[0], "x: `a` is there twice"));
}
