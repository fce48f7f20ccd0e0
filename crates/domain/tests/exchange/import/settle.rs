//! Tests work items and proposals after they left the ledger.

use super::*;

#[test]
fn merged_work_leaves_with_its_events_and_failed_work_comes_back() {
    let ledger = Ledger::flat();
    let (files, left) = settle_merged(&ledger.tree, REQUIREMENT).unwrap();
    assert_eq!(left, []);
    assert_eq!(
        files.into_iter().collect::<Vec<_>>(),
        [(DECIDED.to_owned(), None), (REQUIREMENT.to_owned(), None)]
    );
    let mut ledger = Ledger::flat();
    for attempt in 1..=3_u64 {
        let (files, suspended) = settle_returned(
            &ledger.tree,
            REQUIREMENT,
            &["closed\nunmerged".to_owned()],
            false,
        )
        .unwrap();
        assert_eq!(suspended, attempt == 3);
        ledger.commit(&Import {
            files,
            ..Import::default()
        });
        let exchange = check_exchange(&ledger.tree).exchange.unwrap();
        let item = &exchange.streams["generic"].items[0].value;
        assert_eq!(
            (
                item.attempts,
                item.returned_because.last().unwrap().as_str()
            ),
            (attempt, "closed unmerged")
        );
        assert_eq!(check_exchange(&ledger.tree).diagnostics, []);
    }
    assert!(
        settle_merged(&ledger.tree, "x.yml").is_err()
            && settle_returned(&ledger.tree, "x.yml", &[], false).is_err()
    );
    let lost = Ledger::of(&with(flat(), DECIDED, ""));
    let (files, left) = settle_merged(&lost.tree, REQUIREMENT).unwrap();
    assert_eq!(files, [(REQUIREMENT.to_owned(), None)].into());
    let said = left[0].to_string();
    assert!(said.contains("`deci01`, of which there are 0"), "{said}");
    let ledger = Ledger::flat();
    let because = ["refused".to_owned()];
    let (_, suspended) = settle_returned(&ledger.tree, REQUIREMENT, &because, true).unwrap();
    assert!(suspended, "people do not want it");
    let mut ledger = Ledger::of(&streams(true));
    let (files, _) = settle_merged(
        &ledger.tree,
        ".jules/workstreams/core/exchange/issues/refacts/one-name.yml",
    )
    .unwrap();
    ledger.commit(&Import {
        files,
        ..Import::default()
    });
    assert_eq!(
        check_exchange(&ledger.tree).diagnostics,
        [],
        "the list of issues follows"
    );
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
        let exchange = check_exchange(&Ledger::of(&files).tree).exchange.unwrap();
        publication_of(&exchange.streams["generic"].proposals[0])
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
    for part in [
        "## What it touches\n\n- src\n\n",
        "## What it could clash with\n\n- Names could clash.\n\n",
    ] {
        assert!(one.body.contains(part), "{part}: {}", one.body);
    }
    assert_eq!(published("title: \"\""), None);
}

/// A link that two items have, or that leads to another item, is a mistake, but no event is lost.
#[test]
fn merged_work_leaves_the_events_of_others() {
    let other = ".jules/exchange/requirements/other.yml";
    let mut files = flat();
    files.push((other.to_owned(), requirement("item02", "deci01")));
    let ledger = Ledger::of(&files);
    let (files, left) = settle_merged(&ledger.tree, REQUIREMENT).unwrap();
    assert_eq!(
        files.into_iter().collect::<Vec<_>>(),
        [(REQUIREMENT.to_owned(), None)]
    );
    assert_eq!(left.len(), 1);
    assert_eq!(
        left[0].to_string(),
        format!(
            "{DECIDED}: warning: the merged work item `{REQUIREMENT}` named it, and `{other}` has it, too; it was left to `{other}`"
        )
    );
    let ledger = Ledger::of(&with(flat(), DECIDED, &event("deci01", "item99")));
    let (files, left) = settle_merged(&ledger.tree, REQUIREMENT).unwrap();
    assert_eq!((files.len(), left.len()), (1, 1));
    assert!(left[0].message.contains("`item99` has it"), "{}", left[0]);
    // An unset link leads to no other item.
    let ledger = Ledger::of(&with(flat(), DECIDED, &event("deci01", "")));
    let (files, left) = settle_merged(&ledger.tree, REQUIREMENT).unwrap();
    assert_eq!((files.len(), left.len()), (2, 0));
}

/// GitHub refuses longer values every time.
#[test]
fn a_publication_fits_into_an_issue() {
    let published = |persona: &str, replaced: &str, by: &str| {
        let text = proposal("prop01")
            .replace(
                "persona: leverage_architect",
                &format!("persona: {persona}"),
            )
            .replace(replaced, by);
        let stem = persona.replace('_', "-");
        let path = format!(".jules/exchange/proposals/{stem}-x.yml");
        let exchange = check_exchange(&Ledger::of(&with(flat(), &path, &text)).tree);
        let exchange = exchange.exchange.unwrap();
        let proposals = &exchange.streams["generic"].proposals;
        let one = proposals.iter().find(|one| one.path == path).unwrap();
        assert!(one.sound, "{persona}");
        publication_of(one)
    };
    let long = "ü".repeat(240);
    let one = published(
        "leverage_architect",
        "title: Fewer parts",
        &format!("title: {long}"),
    )
    .unwrap();
    assert_eq!(one.title.chars().count(), 256);
    assert!(one.title.ends_with("ü…"));
    let ats = "@".repeat(9_900);
    let mut text = proposal("prop01");
    for said in [
        "There are too many parts.",
        "Put two of them together.",
        "Each part costs time.",
        "A day.",
    ] {
        text = text.replace(said, &format!("\"{ats}\""));
    }
    let path = ".jules/exchange/proposals/leverage-architect-x.yml";
    let exchange = check_exchange(&Ledger::of(&with(flat(), path, &text)).tree)
        .exchange
        .unwrap();
    let proposals = &exchange.streams["generic"].proposals;
    let one = proposals.iter().find(|one| one.path == path).unwrap();
    assert!(one.sound);
    let one = publication_of(one).unwrap();
    assert_eq!(one.body.chars().count(), 65_536);
    assert!(
        one.body.ends_with(&format!("\n\n{}\n", one.marker)),
        "the marker is never cut"
    );
    let fits = "a".repeat(40);
    assert_eq!(published(&fits, "x", "x").unwrap().label.len(), 50);
    assert_eq!(published(&format!("{fits}a"), "x", "x"), None);
    let persona = format!("{fits}a");
    let path = format!(".jules/exchange/proposals/{persona}-x.yml");
    let text = proposal("prop01").replace("leverage_architect", &persona);
    let found = check_exchange(&Ledger::of(&with(flat(), &path, &text)).tree).diagnostics;
    let begins = format!("{path}:3:10: error: it cannot be published");
    assert!(
        found.iter().any(|one| one.to_string().starts_with(&begins)),
        "{found:#?}"
    );
}
