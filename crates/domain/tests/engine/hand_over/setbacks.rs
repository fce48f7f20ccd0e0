//! What is turned down, fails, does not fit or was seen too late comes back, and nothing is lost.

use phileas_domain::engine::{SessionState, Verdict, decide};
use phileas_domain::state::Outcome;

use super::{
    ITEM, PENDING, changes, created, desk, ends, event, item, slots, there, to_the_decider,
    to_the_implementer, wrote,
};
use crate::desk::Desk;

#[test]
fn work_that_is_turned_down_comes_back_with_the_reason_and_is_parked_after_three() {
    let mut desk = desk();
    to_the_implementer(&mut desk);
    for attempt in 1..=3 {
        let pull = desk.opens_pull();
        desk.tick();
        desk.close(pull);
        desk.tick();
        let text = desk.exchange.text(ITEM).expect("it is not lost").to_owned();
        assert!(text.contains(&format!("attempts: {attempt}")), "{text}");
        assert!(text.contains("closed without a merge"), "{text}");
        if attempt < 3 {
            desk.push();
            desk.touched = vec![".jules/tasks/a.md".to_owned()];
            for _ in 0..3 {
                desk.hours(24);
                desk.tick();
                for role in ["errors", "tests", "docs"] {
                    if slots(&desk).iter().any(|slot| slot.ends_with(role)) {
                        ends(&mut desk, &format!("observers/{role}"), Vec::new());
                    }
                }
                desk.tick();
                if slots(&desk) == ["implementer/item01"] {
                    break;
                }
            }
            assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
        }
    }
    desk.push();
    desk.hours(24);
    desk.tick();
    assert!(
        !slots(&desk)
            .iter()
            .any(|slot| slot.starts_with("implementer"))
    );
}

#[test]
fn a_failed_session_gives_the_work_back() {
    let mut desk = desk();
    to_the_implementer(&mut desk);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert_eq!(desk.outcomes().last().unwrap(), &Some(Outcome::Failed));
    let text = desk.exchange.text(ITEM).unwrap();
    assert!(text.contains("its session failed: it broke"), "{text}");
}

/// Once the outcome is written down, nobody comes back to the work item.
#[test]
fn work_is_not_settled_before_all_that_it_takes_was_read() {
    for merged in [true, false] {
        let mut desk = desk();
        to_the_implementer(&mut desk);
        let pull = desk.opens_pull();
        desk.tick();
        if merged {
            desk.merge(pull);
        } else {
            desk.close(pull);
        }
        let mut snapshot = desk.look();
        if merged {
            snapshot.exchange = None;
        } else {
            snapshot.remarks.clear();
        }
        assert_eq!(decide(&snapshot, &[]).change, None, "merged: {merged}");
        desk.tick();
        let attempted = desk
            .exchange
            .text(ITEM)
            .map(|text| text.contains("attempts: 1"));
        assert_eq!(attempted, (!merged).then_some(true), "{:#?}", desk.lines);
    }
}

#[test]
fn what_does_not_fit_is_told_and_the_rest_is_taken() {
    let mut desk = desk();
    desk.tick();
    ends(&mut desk, "narrator", vec![changes()]);
    desk.tick();
    let broken = wrote(&format!("{PENDING}/broken.yml"), "title: [");
    let stray = wrote("src/lib.rs", "");
    ends(
        &mut desk,
        "observers/errors",
        vec![event("errors"), broken.clone(), stray],
    );
    ends(&mut desk, "observers/tests", vec![broken]);
    ends(&mut desk, "observers/docs", Vec::new());
    desk.tick();
    assert_eq!(there(&desk, PENDING), ["errors-finding.yml"]);
    let outcomes = desk.outcomes();
    let expected = [
        Outcome::Imported,
        Outcome::Imported,
        Outcome::NoOutput,
        Outcome::NoOutput,
    ];
    assert_eq!(outcomes[..4], expected.map(Some));
    let notes: Vec<_> = desk
        .state()
        .history
        .values()
        .map(|entry| entry.note.clone())
        .collect();
    let of_errors = notes[1].clone().expect("findings are told");
    assert!(
        of_errors.contains("broken.yml") && of_errors.contains("src/lib.rs"),
        "{of_errors}"
    );
    assert!(
        desk.lines
            .iter()
            .any(|line| line.verdict == Verdict::Imported)
    );
    // The next session of the role is told.
    ends(&mut desk, "decider", Vec::new());
    desk.push();
    desk.hours(24);
    for _ in 0..4 {
        desk.tick();
        if slots(&desk) == ["narrator"] {
            ends(&mut desk, "narrator", vec![changes()]);
        }
        if slots(&desk).contains(&"observers/errors".to_owned()) {
            let told = created(&desk)
                .into_iter()
                .find(|one| one.slot.as_str() == "observers/errors");
            let prompt = told.unwrap().prompt;
            assert!(
                prompt.contains("found wrong with your last session's work"),
                "{prompt}"
            );
            return;
        }
        desk.minutes(40);
        if desk
            .sessions
            .last()
            .is_some_and(|one| one.state == SessionState::Completed)
        {
            continue;
        }
    }
    panic!("the observers did not run again: {:#?}", desk.lines);
}

#[test]
fn a_decider_who_saw_a_stale_picture_loses_nothing_that_still_fits() {
    let mut desk = desk();
    to_the_decider(&mut desk);
    // A person takes an event back while the decider is at work.
    let gone = [(format!("{PENDING}/docs-finding.yml"), None)].into();
    desk.exchange = desk.exchange.with(&gone);
    ends(
        &mut desk,
        "decider",
        vec![item("erro01, test01, docs01", false)],
    );
    desk.tick();
    let text = desk.exchange.text(ITEM).expect("the rest fits");
    assert!(
        text.contains("erro01") && !text.contains("docs01"),
        "{text}"
    );
    let entry = desk
        .state()
        .history
        .values()
        .find(|entry| entry.persona_id.as_str() == "decider");
    let note = entry.unwrap().note.clone().unwrap();
    assert!(note.contains("docs01"), "{note}");
}

#[test]
fn proposals_become_issues_once_also_where_the_answer_is_lost() {
    let plan = "[budget]\ndaily_sessions = 60\n[tracks.ideas]\nsteps = [\"layer:innovators\"]\nstart = \"0 1 * * *\"\n";
    let mut desk = Desk::new(plan, &[]);
    let roster =
        "version = 1\n[workflow]\nenabled = false\n[innovators]\nroles = [\"architect\"]\n";
    desk.files
        .insert(".jlo/config.toml".to_owned(), roster.to_owned());
    desk.tick();
    desk.hours(1);
    desk.tick();
    assert_eq!(slots(&desk), ["innovators/architect"]);
    let proposal = |name: &str| {
        let text = format!(
            "schema_version: 1\nid: \"{name}1\"\npersona: architect\ncreated_at: 2026-01-05\ntitle: Plan {name}\n\
             problem: There are too many parts.\nintroduction: Put two of them together.\nimportance: Each part costs time.\n\
             impact_surface: [src]\nimplementation_cost: A day.\nconsistency_risks: [Names could clash.]\nverification_signals: [Builds get faster.]\n"
        );
        wrote(
            &format!(".jules/exchange/proposals/architect-{name}.yml"),
            text,
        )
    };
    ends(
        &mut desk,
        "innovators/architect",
        ["alpha", "gamma", "delta"].map(proposal).into(),
    );
    desk.lost.push("publish_proposal");
    desk.tick();
    assert_eq!(there(&desk, ".jules/exchange/proposals").len(), 3);
    assert!(
        desk.state().published.values().all(|number| *number == 0),
        "the intent is written first"
    );
    assert_eq!(desk.state().published.len(), 3);
    desk.lost.clear();
    // What may only be late is not asked for at once.
    desk.tick();
    assert!(desk.published.is_empty(), "{:?}", desk.effects);
    desk.minutes(15);
    desk.tick();
    assert_eq!(desk.published.len(), 3);
    assert!(there(&desk, ".jules/exchange/proposals").is_empty());
    assert!(desk.state().published.values().all(|number| *number >= 700));
    let effects = desk.effects.len();
    desk.hours(2);
    desk.tick();
    assert_eq!((desk.published.len(), effects > 0), (3, true));
    assert!(desk.effects.is_empty(), "{:?}", desk.effects);
}

/// What it is told to write lies in a workstream that exists, and is taken from there.
#[test]
fn an_innovator_among_workstreams_writes_where_something_is() {
    let plan = "[budget]\ndaily_sessions = 60\n[tracks.ideas]\nsteps = [\"layer:innovators\"]\nstart = \"0 1 * * *\"\n";
    for home in [
        ".jules/workstreams/core",
        ".jules/workstreams/core/exchange",
    ] {
        let mut desk = Desk::new(plan, &[]);
        let roster =
            "version = 1\n[workflow]\nenabled = false\n[innovators]\nroles = [\"architect\"]\n";
        desk.files
            .insert(".jlo/config.toml".to_owned(), roster.to_owned());
        desk.tick();
        desk.exchange
            .insert_text(format!("{home}/events/pending/.gitkeep"), "");
        desk.hours(1);
        desk.tick();
        assert_eq!(slots(&desk), ["innovators/architect"], "{:#?}", desk.lines);
        let prompt = &created(&desk)[0].prompt;
        for path in [
            format!("{home}/proposals/architect-NAME.yml"),
            ".jules/workstreams/core/workstations/architect/perspective.yml".to_owned(),
        ] {
            assert!(prompt.contains(&path), "{path} is missing: {prompt}");
        }
        for path in [".jules/exchange/", ".jules/workstations/", "/generic/"] {
            assert!(!prompt.contains(path), "{path}: {prompt}");
        }
        let proposal = |name: &str| {
            let text = format!(
                "schema_version: 1\nid: \"{name}1\"\npersona: architect\ncreated_at: 2026-01-05\ntitle: Plan {name}\n\
                 problem: There are too many parts.\nintroduction: Put two of them together.\nimportance: Each part costs time.\n\
                 impact_surface: [src]\nimplementation_cost: A day.\nconsistency_risks: [Names could clash.]\n\
                 verification_signals: [Builds get faster.]\n"
            );
            wrote(&format!("{home}/proposals/architect-{name}.yml"), text)
        };
        ends(
            &mut desk,
            "innovators/architect",
            ["alpha", "gamma", "delta"].map(proposal).into(),
        );
        desk.tick();
        assert_eq!(desk.outcomes(), [Some(Outcome::Imported)]);
        assert_eq!(desk.state().published.len(), 3, "{:#?}", desk.lines);
        let memory = ".jules/workstreams/core/workstations/architect/perspective.yml";
        assert!(desk.exchange.get(memory).is_some());
    }
}
