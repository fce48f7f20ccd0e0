//! Tests rejected, failed, unfit and late work: it comes back, and nothing is lost.

use phileas_domain::engine::{Reason, SessionState, Verdict, decide, read_requests};
use phileas_domain::plan::SCHEDULES_PATH;
use phileas_domain::state::Outcome;

use super::{
    ITEM, PENDING, changes, created, deciding, ends, event, item, scenario, slots, there,
    to_the_decider, to_the_implementer, wrote,
};
use crate::support::scenario::Scenario;

#[test]
fn work_that_is_turned_down_comes_back_with_the_reason_and_is_suspended_after_three() {
    let mut scenario = scenario();
    to_the_implementer(&mut scenario);
    for attempt in 1..=3 {
        let pull = scenario.opens_pull();
        scenario.tick();
        scenario.close(pull);
        scenario.tick();
        let text = scenario
            .exchange
            .text(ITEM)
            .expect("it is not lost")
            .to_owned();
        assert!(text.contains(&format!("attempts: {attempt}")), "{text}");
        assert!(text.contains("closed without a merge"), "{text}");
        if attempt < 3 {
            scenario.push();
            scenario.touched = vec![".jules/tasks/a.md".to_owned()];
            for _ in 0..3 {
                scenario.hours(24);
                scenario.tick();
                for role in ["errors", "tests", "docs"] {
                    if slots(&scenario).iter().any(|slot| slot.ends_with(role)) {
                        ends(&mut scenario, &format!("observers/{role}"), Vec::new());
                    }
                }
                scenario.tick();
                if slots(&scenario) == ["implementer/item01"] {
                    break;
                }
            }
            assert_eq!(
                slots(&scenario),
                ["implementer/item01"],
                "{:#?}",
                scenario.lines
            );
        }
    }
    scenario.push();
    scenario.hours(24);
    scenario.tick();
    assert!(
        !slots(&scenario)
            .iter()
            .any(|slot| slot.starts_with("implementer"))
    );
}

#[test]
fn a_failed_session_gives_the_work_back() {
    let mut scenario = scenario();
    to_the_implementer(&mut scenario);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.outcomes().last().unwrap(), &Some(Outcome::Failed));
    let text = scenario.exchange.text(ITEM).unwrap();
    assert!(text.contains("its session failed: it broke"), "{text}");
}

/// Once the outcome is recorded, the work item is not settled again.
#[test]
fn work_is_not_settled_before_all_that_it_takes_was_read() {
    for merged in [true, false] {
        let mut scenario = scenario();
        to_the_implementer(&mut scenario);
        let pull = scenario.opens_pull();
        scenario.tick();
        if merged {
            scenario.merge(pull);
        } else {
            scenario.close(pull);
        }
        let mut snapshot = scenario.full_snapshot();
        if merged {
            snapshot.exchange = None;
        } else {
            snapshot.remarks.clear();
        }
        assert_eq!(decide(&snapshot, &[]).change, None, "merged: {merged}");
        scenario.tick();
        let attempted = scenario
            .exchange
            .text(ITEM)
            .map(|text| text.contains("attempts: 1"));
        assert_eq!(
            attempted,
            (!merged).then_some(true),
            "{:#?}",
            scenario.lines
        );
    }
}

#[test]
fn what_does_not_fit_is_reported_and_the_rest_is_imported() {
    let mut scenario = scenario();
    scenario.tick();
    ends(&mut scenario, "narrator", vec![changes()]);
    scenario.tick();
    let broken = wrote(&format!("{PENDING}/broken.yml"), "title: [");
    let stray = wrote("src/lib.rs", "");
    ends(
        &mut scenario,
        "observers/errors",
        vec![event("errors"), broken.clone(), stray],
    );
    ends(&mut scenario, "observers/tests", vec![broken]);
    ends(&mut scenario, "observers/docs", Vec::new());
    scenario.tick();
    assert_eq!(there(&scenario, PENDING), ["errors-finding.yml"]);
    let outcomes = scenario.outcomes();
    let expected = [
        Outcome::Imported,
        Outcome::Imported,
        Outcome::NoOutput,
        Outcome::NoOutput,
    ];
    assert_eq!(outcomes[..4], expected.map(Some));
    let notes: Vec<_> = scenario
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
        scenario
            .lines
            .iter()
            .any(|line| line.verdict == Verdict::Imported)
    );
    // The prompt of the role's next session says so.
    ends(&mut scenario, "decider", Vec::new());
    scenario.push();
    scenario.hours(24);
    for _ in 0..4 {
        scenario.tick();
        if slots(&scenario) == ["narrator"] {
            ends(&mut scenario, "narrator", vec![changes()]);
        }
        if slots(&scenario).contains(&"observers/errors".to_owned()) {
            let told = created(&scenario)
                .into_iter()
                .find(|one| one.slot.as_str() == "observers/errors");
            let prompt = told.unwrap().prompt;
            assert!(
                prompt.contains("found wrong with your last session's work"),
                "{prompt}"
            );
            return;
        }
        scenario.minutes(40);
        if scenario
            .sessions
            .last()
            .is_some_and(|one| one.state == SessionState::Completed)
        {
            continue;
        }
    }
    panic!("the observers did not run again: {:#?}", scenario.lines);
}

#[test]
fn a_decider_who_saw_a_stale_picture_loses_nothing_that_still_fits() {
    let mut scenario = scenario();
    to_the_decider(&mut scenario);
    // A person takes an event back while the decider is at work.
    let gone = [(format!("{PENDING}/docs-finding.yml"), None)].into();
    scenario.exchange = scenario.exchange.with(&gone);
    ends(
        &mut scenario,
        "decider",
        vec![item("erro01, test01, docs01", false)],
    );
    scenario.tick();
    let text = scenario.exchange.text(ITEM).expect("the rest fits");
    assert!(
        text.contains("erro01") && !text.contains("docs01"),
        "{text}"
    );
    let entry = scenario
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
    let mut scenario = Scenario::new(plan, &[]);
    let roster =
        "version = 1\n[workflow]\nenabled = false\n[innovators]\nroles = [\"architect\"]\n";
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), roster.to_owned());
    scenario.tick();
    scenario.hours(1);
    scenario.tick();
    assert_eq!(slots(&scenario), ["innovators/architect"]);
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
        &mut scenario,
        "innovators/architect",
        ["alpha", "gamma", "delta"].map(proposal).into(),
    );
    scenario.lost.push("publish_proposal");
    scenario.tick();
    assert_eq!(there(&scenario, ".jules/exchange/proposals").len(), 3);
    assert!(
        scenario
            .state()
            .published
            .values()
            .all(|number| *number == 0),
        "the intent is written first"
    );
    assert_eq!(scenario.state().published.len(), 3);
    scenario.lost.clear();
    // What may only be late is not read at once.
    scenario.tick();
    assert!(scenario.published.is_empty(), "{:?}", scenario.effects);
    scenario.minutes(15);
    scenario.tick();
    assert_eq!(scenario.published.len(), 3);
    assert!(there(&scenario, ".jules/exchange/proposals").is_empty());
    assert!(
        scenario
            .state()
            .published
            .values()
            .all(|number| *number >= 700)
    );
    let effects = scenario.effects.len();
    scenario.hours(2);
    scenario.tick();
    assert_eq!((scenario.published.len(), effects > 0), (3, true));
    assert!(scenario.effects.is_empty(), "{:?}", scenario.effects);
}

/// Its output path is in an existing workstream, and is imported from there.
#[test]
fn an_innovator_among_workstreams_writes_where_something_is() {
    let plan = "[budget]\ndaily_sessions = 60\n[tracks.ideas]\nsteps = [\"layer:innovators\"]\nstart = \"0 1 * * *\"\n";
    for home in [
        ".jules/workstreams/core",
        ".jules/workstreams/core/exchange",
    ] {
        let mut scenario = Scenario::new(plan, &[]);
        let roster =
            "version = 1\n[workflow]\nenabled = false\n[innovators]\nroles = [\"architect\"]\n";
        scenario
            .files
            .insert(".jlo/config.toml".to_owned(), roster.to_owned());
        scenario.tick();
        scenario
            .exchange
            .insert_text(format!("{home}/events/pending/.gitkeep"), "");
        scenario.hours(1);
        scenario.tick();
        assert_eq!(
            slots(&scenario),
            ["innovators/architect"],
            "{:#?}",
            scenario.lines
        );
        let prompt = &created(&scenario)[0].prompt;
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
            &mut scenario,
            "innovators/architect",
            ["alpha", "gamma", "delta"].map(proposal).into(),
        );
        scenario.tick();
        assert_eq!(scenario.outcomes(), [Some(Outcome::Imported)]);
        assert_eq!(scenario.state().published.len(), 3, "{:#?}", scenario.lines);
        let memory = ".jules/workstreams/core/workstations/architect/perspective.yml";
        assert!(scenario.exchange.get(memory).is_some());
    }
}

#[test]
fn an_observing_tick_says_what_it_would_import_and_renders_no_prompt() {
    let mut scenario = deciding();
    ends(&mut scenario, "decider", vec![item("erro01", true)]);
    let plan = scenario.files.get_mut(SCHEDULES_PATH).unwrap();
    plan.push_str("[gate]\ndriver = \"action\"\n");
    scenario.tick();
    let imports: Vec<_> = scenario
        .lines
        .iter()
        .filter(|line| line.detail.contains("into the ledger"))
        .map(|line| (line.verdict, line.reason, line.detail.as_str()))
        .collect();
    let [(Verdict::Waiting, Reason::OtherDriver, detail)] = imports[..] else {
        panic!("{:#?}", scenario.lines);
    };
    assert!(
        detail.starts_with("would be imported: into the ledger: "),
        "{detail}"
    );
    assert_eq!(scenario.exchange.text(ITEM), None);
    let reads = read_requests(&scenario.snapshot());
    assert!(reads.prompts.is_empty(), "{reads:?}");
}
