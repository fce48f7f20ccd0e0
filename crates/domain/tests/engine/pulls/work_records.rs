//! Tests the records of what pull requests are about.

use phileas_domain::engine::PullState;
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;
use phileas_domain::work::{HOT_PATH, WorkFile, WorkRecord, segment_path};

use crate::support::scenario::Scenario;
use crate::support::subjects::new_file;

const JULES: Option<u64> = Some(161_369_871);

fn records(scenario: &Scenario, path: &str) -> Vec<WorkRecord> {
    let text = scenario.exchange.text(path).map(WorkFile::parse);
    let file = text.map(Result::unwrap).unwrap_or_default();
    file.records().cloned().collect()
}

fn hot(scenario: &Scenario) -> Vec<WorkRecord> {
    records(scenario, HOT_PATH)
}

fn open_records(scenario: &Scenario) -> Vec<u64> {
    let open = &scenario.state().work.open;
    open.iter().map(|number| number.0).collect()
}

/// A session's pull request before phileas has seen it.
fn with_pull(plan: &str) -> (Scenario, PullNumber) {
    let mut scenario = Scenario::new(
        &format!("cycle = [\"a\"]\n[budget]\ndaily_sessions = 1\n{plan}"),
        &["a"],
    );
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.title = "Escape quotes in attributes".to_owned();
    let files = vec![
        new_file("Cargo.lock", 50),
        new_file("src/render.rs", 12),
        new_file(".github/workflows/ci.yml", 9),
    ];
    scenario.pull_files.insert(number, files);
    (scenario, number)
}

/// Minutes pass, and nothing is read or written.
fn assert_idle(scenario: &mut Scenario) {
    let before = (scenario.files_read, scenario.headlines.len());
    scenario.minutes(1);
    scenario.tick();
    assert_eq!((scenario.files_read, scenario.headlines.len()), before);
}

#[test]
fn a_record_is_made_at_first_sight_and_completed_at_the_end() {
    let (mut scenario, number) = with_pull("");
    scenario.tick();
    let record = hot(&scenario).remove(0);
    assert_eq!(
        (record.pr, record.persona.as_deref()),
        (number.0, Some("a"))
    );
    let turn = scenario.state().history.get(&0).unwrap().turn.clone();
    assert_eq!(record.turn, turn.map(|turn| turn.to_string()));
    assert_eq!(record.fingerprint.title, ["attribut", "escap", "quot"]);
    assert_eq!(record.fingerprint.paths, ["src/render.rs"]);
    assert_eq!(record.fingerprint.size, (12, 0));
    assert_eq!((record.closed_at, &record.outcome), (None, &None));
    assert_eq!(open_records(&scenario), [number.0]);
    assert_eq!(scenario.files_read, 1);
    assert_idle(&mut scenario);

    // What was merged may differ from what was opened.
    scenario
        .pull_files
        .insert(number, vec![new_file("src/escape.rs", 20)]);
    scenario.merge(number);
    scenario.tick();
    let record = hot(&scenario).remove(0);
    assert_eq!(record.outcome, Some(Outcome::Merged));
    assert_eq!(record.closed_at, Some(scenario.now));
    assert_eq!(record.fingerprint.paths, ["src/escape.rs"]);
    assert!(open_records(&scenario).is_empty());
    assert_eq!(scenario.state().work.remembered, 1);
}

#[test]
fn a_pull_request_that_was_merged_between_two_ticks_is_recorded() {
    let (mut scenario, number) = with_pull("");
    scenario.merge(number);
    scenario.tick();
    let record = hot(&scenario).remove(0);
    assert_eq!(
        (record.pr, record.outcome),
        (number.0, Some(Outcome::Merged))
    );
    assert!(open_records(&scenario).is_empty());
}

#[test]
fn a_closed_one_that_is_reopened_is_open_again() {
    let (mut scenario, number) = with_pull("");
    scenario.tick();
    scenario.close(number);
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(hot(&scenario)[0].outcome, Some(Outcome::Rejected));
    scenario.pulls.get_mut(&number).unwrap().state = PullState::Open;
    scenario.minutes(5);
    scenario.tick();
    assert!(hot(&scenario)[0].is_open());
    assert_eq!(open_records(&scenario), [number.0]);
    scenario.merge(number);
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(hot(&scenario)[0].outcome, Some(Outcome::Merged));
}

#[test]
fn one_that_github_hides_counts_as_closed() {
    let (mut scenario, number) = with_pull("");
    scenario.tick();
    scenario.pulls.remove(&number);
    scenario.minutes(5);
    scenario.tick();
    assert!(hot(&scenario)[0].is_open());
    scenario.hours(8 * 24);
    scenario.tick();
    assert_eq!(hot(&scenario)[0].outcome, Some(Outcome::Rejected));
    assert!(open_records(&scenario).is_empty());
}

/// A pull request beside those of sessions.
fn add_pull(scenario: &mut Scenario, number: u64, bot_id: Option<u64>, same_repository: bool) {
    let mut pull = scenario.pulls.values().next().unwrap().clone();
    pull.number = PullNumber(number);
    pull.head = format!("other-{number}").as_str().into();
    pull.body = String::new();
    pull.bot_id = bot_id;
    pull.same_repository = same_repository;
    scenario.pulls.insert(pull.number, pull);
}

#[test]
fn only_pull_requests_of_jules_from_this_repository_are_recorded() {
    let (mut scenario, number) = with_pull("");
    add_pull(&mut scenario, 50, JULES, true);
    add_pull(&mut scenario, 51, JULES, false);
    add_pull(&mut scenario, 52, None, true);
    add_pull(&mut scenario, 53, Some(7), true);
    scenario.tick();
    let found: Vec<(u64, Option<String>)> = hot(&scenario)
        .into_iter()
        .map(|record| (record.pr, record.persona))
        .collect();
    assert_eq!(found, [(number.0, Some("a".to_owned())), (50, None)]);
    assert_idle(&mut scenario);
}

#[test]
fn a_session_of_the_ledger_counts_with_any_author_of_its_pull_request() {
    // Jules opens some pull requests as the connected person.
    let (mut scenario, number) = with_pull("");
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.author = "ada".into();
    scenario.tick();
    assert_eq!(open_records(&scenario), [number.0]);
}

#[test]
fn switched_off_nothing_is_read_or_written() {
    let (mut scenario, number) = with_pull("[novelty]\nmode = \"off\"\n");
    scenario.tick();
    scenario.merge(number);
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(scenario.exchange.text(HOT_PATH), None);
    assert_eq!(
        (scenario.files_read, scenario.state().work.clone()),
        (0, Default::default())
    );
}

#[test]
fn what_is_no_longer_remembered_moves_to_its_segment_without_paths_and_lines() {
    let (mut scenario, number) = with_pull("[novelty]\nremember_refusals = \"0\"\n");
    scenario.tick();
    assert_eq!(hot(&scenario).len(), 1);
    scenario.merge(number);
    scenario.minutes(5);
    scenario.tick();
    assert!(hot(&scenario).is_empty());
    let record = records(&scenario, &segment_path(number.0)).remove(0);
    assert_eq!(record.fingerprint.title, ["attribut", "escap", "quot"]);
    assert!(record.fingerprint.paths.is_empty() && record.fingerprint.sketch.hunks.is_empty());
    assert_eq!(record.outcome, Some(Outcome::Merged));
    assert_eq!(scenario.state().work.remembered, 0);
}

#[test]
fn records_that_cannot_be_read_stay_as_they_are() {
    for broken in ["", "{", "{\"version\": 2, \"records\": []}"] {
        let (mut scenario, number) = with_pull("");
        scenario.exchange.insert_text(HOT_PATH, broken);
        scenario.tick();
        assert_eq!(scenario.exchange.text(HOT_PATH), Some(broken));
        assert_eq!(scenario.files_read, 0, "they would be read in vain");
        let told = scenario.diagnostics.iter().find(|one| one.file == HOT_PATH);
        assert!(told.is_some_and(|one| !one.is_error()), "{broken}");
        // Nothing is lost: the end waits for a file that can be read.
        scenario.merge(number);
        scenario.minutes(5);
        scenario.tick();
        assert_eq!(open_records(&scenario), [number.0]);
        scenario
            .exchange
            .insert_text(HOT_PATH, &WorkFile::default().text());
        scenario.minutes(5);
        scenario.tick();
        assert_eq!(hot(&scenario)[0].outcome, Some(Outcome::Merged));
        assert!(open_records(&scenario).is_empty());
    }
}

#[test]
fn many_at_once_are_recorded_over_several_commits() {
    let (mut scenario, _) = with_pull("");
    for number in 50..75 {
        add_pull(&mut scenario, number, JULES, true);
    }
    for _ in 0..4 {
        scenario.tick();
        scenario.minutes(1);
    }
    assert_eq!(hot(&scenario).len(), 26);
}

#[test]
fn open_records_that_the_state_does_not_know_are_completed() {
    let (mut scenario, number) = with_pull("");
    scenario.tick();
    // The state was rebuilt, or a person put back an earlier version of the records.
    scenario.merge(number);
    scenario.minutes(5);
    scenario.tick();
    let mut file = WorkFile::parse(scenario.exchange.text(HOT_PATH).unwrap()).unwrap();
    let mut record = file.remove(number.0).unwrap();
    (record.closed_at, record.outcome) = (None, None);
    file.insert(record);
    scenario.exchange.insert_text(HOT_PATH, &file.text());
    assert!(open_records(&scenario).is_empty());
    assert_idle(&mut scenario);
    // The next time that they are read.
    add_pull(&mut scenario, 50, JULES, true);
    let other = scenario.pulls.get_mut(&PullNumber(50)).unwrap();
    other.state = PullState::Open;
    for _ in 0..3 {
        scenario.minutes(1);
        scenario.tick();
    }
    assert_eq!(open_records(&scenario), [50]);
    assert_eq!(hot(&scenario)[0].outcome, Some(Outcome::Merged));
    assert_idle(&mut scenario);
}

#[test]
fn a_segment_that_cannot_be_read_holds_back_no_others() {
    let (mut scenario, _) = with_pull("[novelty]\nremember_refusals = \"0\"\n");
    scenario.tick();
    let mut file = WorkFile::parse(scenario.exchange.text(HOT_PATH).unwrap()).unwrap();
    let model = file.records().next().unwrap().clone();
    for pr in (200..225).chain(300..330) {
        file.insert(WorkRecord {
            pr,
            closed_at: Some(scenario.now),
            outcome: Some(Outcome::Merged),
            ..model.clone()
        });
    }
    scenario.exchange.insert_text(HOT_PATH, &file.text());
    scenario.exchange.insert_text(segment_path(200), "{");
    add_pull(&mut scenario, 50, JULES, true);
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(scenario.exchange.text(&segment_path(200)), Some("{"));
    let moved = records(&scenario, &segment_path(300));
    assert_eq!(moved.len(), 20, "one commit moves no more");
    let stay = hot(&scenario);
    assert_eq!(stay.iter().filter(|one| one.pr < 300).count(), 27);
    assert_eq!(stay.iter().filter(|one| one.pr >= 300).count(), 10);
}
