//! The narrator's summary.

use super::*;

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
