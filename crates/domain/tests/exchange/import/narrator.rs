//! Tests the import of the narrator's summary.

use super::*;

#[test]
fn the_narrators_cursor_is_when_its_session_began() {
    let mut ledger = Ledger::flat();
    let text = changes().replace("2026-01-05T10:00:00Z", "2031-01-01T00:00:00Z");
    assert_eq!(
        ledger
            .take(Author::Narrator, &[wrote(CHANGES, &text)])
            .diagnostics,
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
    assert_diagnostic(
        &Ledger::of(&newer).ask(Author::Narrator, &[wrote(CHANGES, &changes())]),
        "a newer summary is in its place",
    );
    assert_diagnostic(
        &Ledger::flat().ask(Author::Narrator, &[wrote(CHANGES, "schema_version: 1\n")]),
        "`summaries` is missing",
    );
}

#[test]
fn the_narrators_range_is_the_one_it_was_given() {
    const LATEST: &str = ".jules/changes/latest.yml";
    let mut ledger = Ledger::of(&streams(true));
    ledger.stream = "core";
    let text = ledger.text(LATEST).to_owned();
    ledger.range = Some(CommitRange {
        from: "5d2e3f4",
        to: "9999999",
    });
    let done = ledger.take(Author::Narrator, &[wrote(LATEST, &text)]);
    assert_diagnostic(
        &done,
        "latest.yml:6:14: warning: it names other commits: `9999999` (at range.to_commit); it was put right",
    );
    let changes = check_exchange(&ledger.tree)
        .exchange
        .unwrap()
        .changes
        .unwrap();
    assert_eq!(changes.value.to_commit.as_deref(), Some("9999999"));
    assert!(ledger.text(LATEST).contains("from_commit: \"5d2e3f4\""));
    assert!(
        ledger
            .text(LATEST)
            .contains("selection_mode: \"incremental\"")
    );
    // The summary covers the given commits: only the time is changed.
    let mut ledger = Ledger::of(&streams(true));
    ledger.stream = "core";
    ledger.range = Some(CommitRange {
        from: "4c1d2e3",
        to: "5d2e3f4",
    });
    assert_eq!(
        ledger
            .take(Author::Narrator, &[wrote(LATEST, &text)])
            .diagnostics,
        []
    );
    assert!(ledger.text(LATEST).contains("to_commit: 5d2e3f4"));
    // Without a range, no commits are reported.
    let at = text.find("range:").unwrap();
    let end = text.find("stats:").unwrap();
    let vague = format!("{}range: since yesterday\n{}", &text[..at], &text[end..]);
    let done = ledger.ask(Author::Narrator, &[wrote(LATEST, &vague)]);
    assert!(done.files.is_empty());
    assert_diagnostic(&done, "(at range)");
    assert_eq!(done.diagnostics.len(), 1, "{:#?}", done.diagnostics);
    let broken = text.replace("range:", "renge:");
    let done = ledger.ask(Author::Narrator, &[wrote(LATEST, &broken)]);
    assert!(done.files.is_empty());
    assert_diagnostic(&done, "did you mean `range`");
}
