//! Tests that each limit accepts its maximum, and reports one more.

use crate::examples::{
    CHANGES, OBSERVER, PENDING, REQUIREMENT, changes, diagnostics_of, event, flat, requirement,
    streams, with,
};

/// The diagnostics of a flat exchange in which one file has this text.
fn diagnostics_for(path: &str, text: &str) -> Vec<String> {
    diagnostics_of(&with(flat(), path, text))
}

/// Nothing is reported at the limit; one more (or less) is reported with these words.
#[track_caller]
fn edge(within: usize, beyond: usize, words: &str, of: impl Fn(usize) -> Vec<String>) {
    assert_eq!(of(within), [""; 0], "{within}");
    let found = of(beyond);
    assert!(
        found.iter().any(|one| one.contains(words)),
        "{beyond}: {words}: {found:#?}"
    );
}

#[test]
fn texts_are_as_long_as_they_may_be() {
    const TITLE: &str = "Two names for one thing";
    const STATEMENT: &str = "The parser calls it a step, and the runner calls it a stage.";
    let of = |from: &'static str| {
        move |length: usize| {
            let text = event("pend01", "").replace(from, &"n".repeat(length));
            diagnostics_for(PENDING, &text)
        }
    };
    edge(500, 501, "501 characters, more than 500", of(TITLE));
    edge(
        10_000,
        10_001,
        "10001 characters, more than 10000",
        of(STATEMENT),
    );
    edge(
        20,
        19,
        "`statement` says little in fewer than 20 characters",
        of(STATEMENT),
    );
}

#[test]
fn names_are_as_long_as_they_may_be() {
    edge(64, 65, "is not a name", |length| {
        let role = "r".repeat(length);
        let text =
            event("pend01", "").replace("author_role: taxonomy", &format!("author_role: {role}"));
        let mut files = with(flat(), PENDING, &text);
        // The role exists in the exchange.
        let (_, memory) = files.iter().find(|(path, _)| path == OBSERVER).unwrap();
        let memory = memory.replace("observer: taxonomy", &format!("observer: {role}"));
        files.push((
            format!(".jules/workstations/{role}/perspective.yml"),
            memory,
        ));
        let about = |one: &String| one.contains("author_role");
        diagnostics_of(&files).into_iter().filter(about).collect()
    });
}

#[test]
fn a_criterion_says_something_from_eight_characters_on() {
    edge(
        8,
        7,
        "a criterion of fewer than 8 characters says little",
        |length| {
            let text = requirement("item01", "deci01")
                .replace("No stage is left in the code.", &"c".repeat(length));
            diagnostics_for(REQUIREMENT, &text)
        },
    );
}

#[test]
fn lists_have_as_many_entries_as_they_may() {
    edge(100, 101, "there are 101 entries", |count| {
        let areas = vec!["src/parser.rs"; count].join(", ");
        let text = requirement("item01", "deci01").replace(
            "affected_areas: [src/parser.rs]",
            &format!("affected_areas: [{areas}]"),
        );
        diagnostics_for(REQUIREMENT, &text)
    });
    let themes = |count: usize| {
        let whole = changes();
        let (head, theme) = whole.split_once("  - ").unwrap();
        let theme = format!("  - {}", theme.split("  - ").next().unwrap());
        diagnostics_for(CHANGES, &(head.to_owned() + &theme.repeat(count)))
    };
    edge(5, 6, "there are 6 entries", themes);
    edge(5, 4, "there are 4 entries", themes);
}

#[test]
fn a_summary_of_workstreams_names_as_many_commits_as_it_may() {
    edge(50, 51, "there are 51 entries", |count| {
        const ONE: &str = "  - {sha: 5d2e3f4, subject: Name it}\n";
        let files = streams(true);
        let (path, text) = files.last().unwrap().clone();
        let text = text.replace(ONE, &ONE.repeat(count)).replace(
            "commits_total: 1, commits_included: 1",
            &format!("commits_total: {count}, commits_included: {count}"),
        );
        diagnostics_of(&with(files, &path, &text))
    });
}
