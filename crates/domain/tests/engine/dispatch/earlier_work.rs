//! Tests which earlier work a persona's prompt lists.

use std::collections::BTreeMap;

use phileas_domain::engine::{PullFile, SessionState};
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;
use phileas_domain::work::{Fingerprint, HOT_PATH, Refusal, RefusalReason, WorkFile, WorkRecord};

use crate::support::scenario::Scenario;

const HEADING: &str = "## Work that is open or done";

/// The section of the newest prompt about earlier work: its lines inside the fence.
fn listed(scenario: &Scenario) -> Vec<String> {
    let prompt = scenario.sessions.last().unwrap().prompt.clone().unwrap();
    let Some((_, section)) = prompt.split_once(HEADING) else {
        return Vec::new();
    };
    let (_, fenced) = section.split_once("\n<data-").unwrap();
    let (fenced, _) = fenced.split_once("\n</data-").unwrap();
    fenced.lines().skip(1).map(str::to_owned).collect()
}

/// The newest session opens a pull request with this title that changes these files; a tick sees it.
fn opens(scenario: &mut Scenario, title: &str, paths: &[&str]) -> PullNumber {
    records(scenario);
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.pulls.get_mut(&number).unwrap().title = title.to_owned();
    let files = paths.iter().map(|path| PullFile {
        path: (*path).to_owned(),
        added: 3,
        removed: 0,
        patch: Some(format!("@@ -0,0 +1,3 @@\n+let {title} = 1;\n+a\n+b\n")),
    });
    scenario.pull_files.insert(number, files.collect());
    scenario.push();
    scenario.tick();
    number
}

/// A tick that starts nothing, and so records what the one before has seen.
fn records(scenario: &mut Scenario) {
    scenario.minutes(1);
    scenario.tick();
}

fn scenario(plan: &str) -> Scenario {
    let plan = format!(
        "cycle = [\"a\", \"b\"]\n[budget]\ndaily_sessions = 100\nmax_open_pulls = 100\n[defaults]\nrest_after = 0\n{plan}"
    );
    let mut scenario = Scenario::new(&plan, &["a", "b"]);
    scenario.tick();
    scenario
}

/// A tick in which a pull request is closed.
fn closes(scenario: &mut Scenario, number: PullNumber) {
    records(scenario);
    scenario.close(number);
    records(scenario);
}

/// Changes the records that are open or remembered.
fn changes_records(scenario: &mut Scenario, change: impl FnOnce(&mut WorkFile)) {
    let text = scenario.exchange.text(HOT_PATH).map(WorkFile::parse);
    let mut hot = text.map(Result::unwrap).unwrap_or_default();
    change(&mut hot);
    scenario.exchange.insert_text(HOT_PATH, &hot.text());
    let mut state = scenario.state().clone();
    state.work.remembered = hot.len() as u64;
    scenario.set_state(state);
}

/// The record of an open pull request.
fn open_record(scenario: &Scenario, pr: u64, turn: Option<String>) -> WorkRecord {
    WorkRecord {
        pr,
        persona: None,
        turn,
        opened_at: scenario.now,
        closed_at: None,
        fingerprint: Fingerprint::default(),
        outcome: None,
        refused: None,
        forgotten: false,
        unknown: BTreeMap::new(),
    }
}

#[test]
fn the_first_prompt_lists_nothing_and_the_next_one_lists_open_work_of_all_personas() {
    let mut scenario = scenario("");
    assert_eq!(listed(&scenario), [] as [&str; 0]);
    // Jules takes the title of the session, with its marker.
    opens(
        &mut scenario,
        "One [phileas:k3v9w2m1q8zt.1]",
        &["src/one.rs"],
    );
    assert_eq!(listed(&scenario), ["Open:", "- #1 (a): One"]);
    opens(&mut scenario, "Two", &["src/two.rs"]);
    // It is the turn of `a` again: its own work is the nearest.
    let wanted = ["Open:", "- #1 (a): One [src/one.rs]", "- #2 (b): Two"];
    assert_eq!(listed(&scenario), wanted);
}

#[test]
fn refused_work_is_listed_for_its_persona_or_for_all() {
    for (plan, of_other) in [("", false), ("[novelty]\nrefusals_for = \"all\"\n", true)] {
        let mut scenario = scenario(plan);
        let number = opens(&mut scenario, "One", &["src/one.rs"]);
        closes(&mut scenario, number);
        let refused = "- #1 (a): One [src/one.rs]".to_owned();
        let other = opens(&mut scenario, "Two", &["src/two.rs"]);
        assert!(listed(&scenario).contains(&"Closed without a merge:".to_owned()));
        assert!(listed(&scenario).contains(&refused), "the turn of `a`");
        closes(&mut scenario, other);
        opens(&mut scenario, "Three", &["src/three.rs"]);
        assert_eq!(
            listed(&scenario).contains(&refused),
            of_other,
            "the turn of `b`"
        );
    }
}

#[test]
fn merged_work_is_listed_where_it_changes_files_in_the_same_folder() {
    let mut scenario = scenario("");
    let one = opens(&mut scenario, "One", &["src/one.rs"]);
    scenario.merge(one);
    let two = opens(&mut scenario, "Two", &["src/two.rs", "src/one.rs"]);
    scenario.merge(two);
    let near = [
        "Merged in the same area:",
        "- #1 (a): One [src/one.rs]",
        "- #2 (b): Two [src/one.rs, src/two.rs]",
    ];
    opens(&mut scenario, "Three", &["src/three.rs"]);
    let found = listed(&scenario);
    assert!(found.iter().any(|line| line == near[0]), "{found:?}");
    for (file, is_listed) in [
        ("src/two.rs", true),
        ("src/deep/two.rs", false),
        ("two.rs", false),
    ] {
        let mut scenario = self::scenario("");
        let one = opens(&mut scenario, "One", &["src/one.rs", "README.md"]);
        scenario.merge(one);
        opens(&mut scenario, "Two", &[file]);
        opens(&mut scenario, "Three", &["src/three.rs"]);
        // The turn of `b`, which has never changed these files.
        let found = listed(&scenario);
        let line = "- #1 (a): One [README.md, src/one.rs]";
        let is_found = found.iter().any(|found| found == line);
        assert_eq!(is_found, is_listed, "{file}: {found:?}");
    }
}

#[test]
fn merged_work_takes_the_room_that_open_work_leaves() {
    let mut scenario = scenario("");
    opens(&mut scenario, "Open", &["lib/open.rs"]);
    let long = "long-name-of-a-file-".repeat(5);
    let merged = |pr: u64| WorkRecord {
        persona: Some("b".to_owned()),
        closed_at: Some(scenario.now),
        outcome: Some(Outcome::Merged),
        fingerprint: Fingerprint {
            paths: (0..4).map(|file| format!("src/{long}{file}.rs")).collect(),
            ..Fingerprint::default()
        },
        ..open_record(&scenario, pr, None)
    };
    let records: Vec<WorkRecord> = (100..150).map(merged).collect();
    changes_records(&mut scenario, |hot| {
        for record in records {
            hot.insert(record);
        }
    });
    // The turn of `b`: the merged pull requests are its own, and the open one is not.
    opens(&mut scenario, "Second", &["lib/second.rs"]);
    opens(&mut scenario, "Third", &["lib/third.rs"]);
    let found = listed(&scenario);
    assert_eq!(found[0], "Open:", "{found:?}");
    assert!(
        found.iter().any(|line| line.starts_with("- #1 ")),
        "{found:?}"
    );
    assert!(
        found.iter().any(|line| line.starts_with("- #149 (b)")),
        "{found:?}"
    );
    assert!(found.last().unwrap().ends_with(" more)"), "{found:?}");
}

#[test]
fn what_is_forgotten_or_switched_off_is_not_listed() {
    for (plan, is_listed) in [
        ("refusals_for = \"all\"\n", true),
        (
            "refusals_for = \"all\"\nremember_refusals = \"2d\"\n",
            false,
        ),
        ("mode = \"off\"\n", false),
    ] {
        let mut scenario = scenario(&format!("[novelty]\n{plan}"));
        let number = opens(&mut scenario, "One", &["src/one.rs"]);
        closes(&mut scenario, number);
        scenario.hours(72);
        opens(&mut scenario, "Two", &["src/two.rs"]);
        let line = "- #1 (a): One [src/one.rs]".to_owned();
        assert_eq!(listed(&scenario).contains(&line), is_listed, "{plan}");
    }
}

#[test]
fn a_request_is_not_told_to_choose_another_task() {
    let mut scenario = scenario("");
    scenario.writer("ada").issue(70, "t", "b");
    opens(&mut scenario, "One", &["src/one.rs"]);
    assert!(!listed(&scenario).is_empty());
    scenario.label(70, "a", "ada");
    let before = scenario.sessions.len();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), before + 1);
    assert_eq!(listed(&scenario), [] as [&str; 0]);
}

#[test]
fn a_further_attempt_does_not_avoid_the_work_of_its_turn() {
    let mut scenario = scenario("retry = 1\n");
    let turn = scenario.turn("default").turn.to_string();
    let (own, other) = (
        open_record(&scenario, 40, Some(turn)),
        open_record(&scenario, 41, None),
    );
    changes_records(&mut scenario, |hot| {
        hot.insert(own);
        hot.insert(other);
    });
    scenario.minutes(5);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "a"]);
    let found = listed(&scenario);
    assert!(found.iter().any(|line| line.contains("#41")), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("#40")), "{found:?}");
}

#[test]
fn only_what_a_person_refused_with_a_reason_is_listed_as_refused() {
    for (never, reason) in [(false, "out-of-scope"), (true, "out-of-scope, never")] {
        let mut scenario = scenario("");
        let number = opens(&mut scenario, "One", &["src/one.rs"]);
        closes(&mut scenario, number);
        changes_records(&mut scenario, |hot| {
            let mut record = hot.remove(number.0).unwrap();
            record.refused = Some(Refusal {
                reason: RefusalReason::OutOfScope,
                comment: None,
                digest: None,
                until: None,
                never,
                unknown: BTreeMap::new(),
            });
            hot.insert(record);
        });
        opens(&mut scenario, "Two", &["src/two.rs"]);
        let line = format!("- #1 (a, {reason}): One [src/one.rs]");
        let found = listed(&scenario).join("\n");
        assert!(found.contains(&format!("Refused:\n{line}")), "{found}");
        assert!(!found.contains("Closed without a merge:"), "{found}");
    }
}

#[test]
fn what_github_hides_is_not_listed_as_closed() {
    let mut scenario = scenario("");
    let number = opens(&mut scenario, "One", &["src/one.rs"]);
    closes(&mut scenario, number);
    // A pull request of a person takes its place, so that its number does not return.
    let mut other = scenario.pulls.remove(&number).unwrap();
    other.number = PullNumber(60);
    scenario.pulls.insert(other.number, other);
    opens(&mut scenario, "Two", &["src/two.rs"]);
    assert_eq!(listed(&scenario), ["Open:", "- #2 (b): Two"]);
}

#[test]
fn the_titles_of_the_nearest_are_read_and_no_more() {
    let mut scenario = scenario("");
    records(&mut scenario);
    let many: Vec<WorkRecord> = (100..200)
        .map(|pr| open_record(&scenario, pr, None))
        .collect();
    changes_records(&mut scenario, |hot| {
        many.into_iter().for_each(|record| hot.insert(record));
    });
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.push();
    let missing = scenario.full_snapshot().missing_pulls;
    let newest: Vec<PullNumber> = (151..200).map(PullNumber).collect();
    assert!(newest.iter().all(|number| missing.contains(number)));
    assert!(missing.len() <= 50, "{}", missing.len());
}
