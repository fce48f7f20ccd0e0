//! Tests arbitrary files of sessions, one after another.

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
        (id(), "[a-z]{3,8}").prop_map(|(id, title)| proposal(id).replace("Fewer parts", &title)),
        Just(feedback.to_owned()),
        Just(changes()),
        select(memory.collect::<Vec<_>>()),
        "[a-z:{}\\[\\]\n -]{0,30}",
    ]
}

fn change() -> impl Strategy<Value = ChangedFile> {
    let content = prop_oneof![
        8 => text().prop_map(FileContent::Text),
        1 => Just(FileContent::Removed),
        1 => Just(FileContent::Other(Mode::Link)),
    ];
    (path(), content).prop_map(|(path, content)| ChangedFile { path, content })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// No import brings an error into a valid ledger, the same import twice changes nothing, only files of the exchange
    /// are written, and no event is lost.
    #[test]
    fn nothing_that_sessions_write_breaks_the_ledger(
        sessions in proptest::collection::vec((select(AUTHORS.to_vec()), proptest::collection::vec(change(), 0..6)), 1..4),
    ) {
        let mut ledger = Ledger::flat();
        for (author, changes) in sessions {
            let before = check_exchange(&ledger.tree).exchange.unwrap();
            let done = ledger.take(author, &changes);
            let home = |path: &String| path.starts_with(".jules/exchange/") || path.starts_with(".jules/workstations/");
            prop_assert!(done.files.keys().all(home), "{:?}", done.files);
            let after = check_exchange(&ledger.tree).exchange.unwrap();
            let ids = |exchange: &phileas_domain::exchange::Exchange| -> Vec<String> {
                exchange.streams["generic"].events.iter().map(|event| event.value.id.clone()).collect()
            };
            for id in ids(&before) {
                prop_assert!(ids(&after).contains(&id), "{} was lost", id);
            }
        }
    }
}
