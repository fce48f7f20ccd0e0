//! Tests the files that no session may import.

use super::*;

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
            assert_diagnostic(
                &done,
                &format!("{path}: error: {} may not change it", author.name()),
            );
            assert_diagnostic(&done, &format!("{REQUIREMENT}: error:"));
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
            assert_diagnostic(&done, "the path is refused");
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
        [ChangedFile {
            path: pending("new"),
            content,
        }]
    };
    assert_diagnostic(
        &ledger.ask(TAXONOMY, &one(FileContent::Other(Mode::Link))),
        "symbolic link",
    );
    assert_diagnostic(
        &ledger.ask(TAXONOMY, &one(FileContent::Other(Mode::File))),
        "not a text file",
    );
    assert_diagnostic(
        &ledger.ask(
            TAXONOMY,
            &one(FileContent::Text("a".repeat(ARTIFACT_LIMIT_BYTES + 1))),
        ),
        "more than 65536",
    );
    let many: Vec<ChangedFile> = (0..=CHANGE_FILES_LIMIT)
        .map(|n| wrote(&pending(&format!("n{n}")), "x"))
        .collect();
    let done = ledger.ask(TAXONOMY, &many);
    assert_eq!(done.diagnostics.len(), 1);
    assert_diagnostic(&done, "are not read");
    let huge: Vec<ChangedFile> = (0..17)
        .map(|n| {
            wrote(
                &pending(&format!("n{n}")),
                &"a".repeat(ARTIFACT_LIMIT_BYTES),
            )
        })
        .collect();
    assert_diagnostic(&ledger.ask(TAXONOMY, &huge), "are not read");
    assert_diagnostic(
        &ledger.ask(TAXONOMY, &[wrote(&pending("DEAD-code"), "x")]),
        "nothing but capitals",
    );
    let twice = [
        wrote(&pending("new"), &finding("newone", "New")),
        wrote(&pending("new"), "x"),
    ];
    assert_diagnostic(&ledger.ask(TAXONOMY, &twice), "in the change set twice");
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
    assert_diagnostic(&done, "no regular file there");
}

#[test]
fn a_file_is_as_large_as_it_may_be() {
    let path = pending("new");
    for (size, comes_in) in [
        (ARTIFACT_LIMIT_BYTES, true),
        (ARTIFACT_LIMIT_BYTES + 1, false),
    ] {
        let text = finding("newone", "New") + "# ";
        let filling = "x".repeat(size - text.len());
        let change = wrote(&path, &(text + &filling));
        let done = Ledger::flat().ask(TAXONOMY, &[change]);
        assert_eq!(
            done.diagnostics.is_empty(),
            comes_in,
            "{size}: {:#?}",
            done.diagnostics
        );
        assert_eq!(done.files.contains_key(&path), comes_in, "{size}");
    }
}

/// A file in the place of a folder is not written through.
#[test]
fn nothing_is_written_below_a_link_or_a_file() {
    for mode in [Mode::File, Mode::Link, Mode::Submodule] {
        let mut ledger = Ledger::of(&with(flat(), PENDING, ""));
        let entry = Entry {
            mode,
            oid: String::new(),
            size: 1,
            text: None,
        };
        ledger.tree.insert(".jules/exchange/events/pending", entry);
        let done = ledger.ask(
            TAXONOMY,
            &[wrote(&pending("new"), &finding("newone", "New"))],
        );
        assert!(done.files.is_empty(), "{mode:?}: {done:#?}");
        assert_diagnostic(
            &done,
            "pending/new.yml: error: the ledger has no folder at `.jules/exchange/events/pending`",
        );
    }
}
