//! Tests ledgers of other forms: workstreams, and none at all.

use super::*;

#[test]
fn workstreams_import_into_their_own_stream() {
    for (nested, home) in [
        (true, ".jules/workstreams/core/exchange"),
        (false, ".jules/workstreams/core"),
    ] {
        let mut ledger = Ledger::of(&streams(nested));
        ledger.stream = "core";
        // Whichever form the agent uses, the file is written where the stream keeps its files.
        let path = ".jules/workstreams/core/events/pending/brand-new.yml";
        assert_eq!(
            ledger
                .take(TAXONOMY, &[wrote(path, &finding("newone", "New"))])
                .diagnostics,
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
        assert_diagnostic(&done, "may not change it");
        // phileas updates the list of issues, whatever the agent wrote.
        let work = [
            wrote(
                &format!("{home}/issues/docs/told.yml"),
                &issue("citem1", "cpend0"),
            ),
            wrote(&format!("{home}/issues/index.md"), "nonsense"),
        ];
        assert_eq!(ledger.take(Author::Decider, &work).diagnostics, []);
        let index = ledger.text(&format!("{home}/issues/index.md"));
        assert!(
            index.contains("(./refacts/told.yml)") && index.contains("(./refacts/one-name.yml)"),
            "by its label: {index}"
        );
        assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
        let done = ledger.ask(
            Author::Decider,
            &[wrote(
                &format!("{home}/issues/bugs/x.yml"),
                &issue("citem2", "devent"),
            )],
        );
        assert_diagnostic(&done, "the event `devent` is not there");
        ledger.stream = "gone";
        assert_diagnostic(&ledger.ask(TAXONOMY, &[]), "there is no workstream `gone`");
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
            .diagnostics,
        []
    );
    let mut both = flat();
    both.extend(streams(false));
    assert_diagnostic(&Ledger::of(&both).ask(TAXONOMY, &[]), "two layouts");
}
