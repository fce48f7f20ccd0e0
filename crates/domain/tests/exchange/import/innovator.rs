//! Tests the import of an innovator's proposals and memory.

use super::*;

fn proposed(name: &str, id: &str, title: &str) -> ChangedFile {
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
    assert_eq!(done.diagnostics, []);
    assert_eq!(
        done.commit_subject(&author).unwrap(),
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
    let exchange = check_exchange(&ledger.tree).exchange.unwrap();
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
    assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
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
    assert_diagnostic(&done, "was proposed before");
    assert_diagnostic(
        &done,
        "warning: an innovator brings 3 proposals; these are 1",
    );
    assert!(done.files.is_empty());
    assert_diagnostic(
        &ledger.ask(
            Author::Innovator("recruiter"),
            &[proposed("a", "propx1", "X")],
        ),
        "it says that `leverage_architect` proposes it",
    );
    let four = ["a", "b", "c", "d"].map(|name| proposed(name, &format!("prop{name}1"), name));
    let mut ledger = Ledger::flat();
    let done = ledger.take(author, &four);
    assert_diagnostic(
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
    assert_diagnostic(
        &Ledger::flat().take(author, &same),
        "`Same` was proposed before",
    );
    // Without a memory a new one is created; a broken one is reported.
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
    assert_diagnostic(
        &broken.ask(author, &four[..3]),
        "the proposals could not be noted",
    );
}

/// Published files are removed, so a name may be free that belongs to an issue for good.
#[test]
fn a_name_that_was_published_is_not_given_again() {
    let author = Author::Innovator("leverage_architect");
    let mut ledger = Ledger::flat();
    ledger.published = [("proposal:leverage-architect-cache".to_owned(), 42)].into();
    let three = [
        proposed("cache", "propa1", "A"),
        proposed("b", "propb1", "B"),
        proposed("c", "propc1", "C"),
    ];
    ledger.take(author, &three);
    let text = |name: &str| {
        let path = format!(".jules/exchange/proposals/leverage-architect-{name}.yml");
        ledger.tree.text(&path).map(str::to_owned)
    };
    assert_eq!(text("cache"), None);
    assert!(text("cache-propa1").unwrap().contains("title: A"));
    assert!(text("b").is_some());
}

/// Proposals that can never be published are rejected.
#[test]
fn a_persona_that_no_label_can_name_brings_nothing() {
    let role = "a".repeat(41);
    let author = Author::Innovator(&role);
    let text = proposal("propa1").replace("leverage_architect", &role);
    let path = format!(".jules/exchange/proposals/{role}-x.yml");
    let done = Ledger::flat().ask(author, &[wrote(&path, &text)]);
    assert!(done.files.is_empty(), "{done:#?}");
    assert_diagnostic(&done, "no label of GitHub can be called");
}
