//! Tests what is said of an ended pull request beside merged and closed.

use phileas_domain::engine::{Line, PullChange, PullEvent, PullFile, PullState, Reason};
use phileas_domain::model::PullNumber;
use phileas_domain::state::{HistoryEntry, Outcome};
use phileas_domain::work::{HOT_PATH, WorkFile};

use crate::support::scenario::Scenario;
use crate::support::subjects::{account, new_file};

/// The change that takes this file back.
fn inverse(file: &PullFile) -> PullFile {
    PullFile {
        added: file.removed,
        removed: file.added,
        patch: file.patch.as_ref().map(|patch| patch.replace("\n+", "\n-")),
        ..file.clone()
    }
}

fn scenario() -> Scenario {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\nmax_open_pulls = 9\ndaily_sessions = 30\n[defaults]\nrest_after = 9\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.writer("ada");
    scenario
}

/// The next session of the track opens a pull request with these files, which phileas records.
fn opens(scenario: &mut Scenario, files: Vec<PullFile>) -> PullNumber {
    scenario.tick();
    scenario.minutes(5);
    assert!(scenario.sessions.last().unwrap().pulls.is_empty());
    let number = scenario.opens_pull();
    scenario.pulls.get_mut(&number).unwrap().title = format!("Change {}", number.0);
    scenario.pull_files.insert(number, files);
    settle(scenario);
    number
}

/// Ticks until all is recorded. Returns what was reported.
fn settle(scenario: &mut Scenario) -> Vec<Line> {
    let mut lines = Vec::new();
    for _ in 0..3 {
        scenario.tick();
        lines.append(&mut scenario.lines);
        scenario.minutes(1);
    }
    lines
}

/// How many lines have this reason, and name the turn of a pull request.
fn lines_about(scenario: &Scenario, lines: &[Line], reason: Reason, number: PullNumber) -> usize {
    let turn = entry(scenario, number).turn;
    let is_about = |line: &&Line| line.reason == reason && line.turn == turn;
    lines.iter().filter(is_about).count()
}

fn entry(scenario: &Scenario, number: PullNumber) -> HistoryEntry {
    let mut entries = scenario.state().history.values();
    entries
        .find(|entry| entry.pr_number == Some(number))
        .unwrap()
        .clone()
}

/// The outcome in the history, which the record shares.
fn outcome(scenario: &Scenario, number: PullNumber) -> Option<Outcome> {
    let of_history = entry(scenario, number).outcome;
    let file = WorkFile::parse(scenario.exchange.text(HOT_PATH).unwrap()).unwrap();
    assert_eq!(file.get(number.0).unwrap().outcome, of_history);
    of_history
}

fn close(scenario: &mut Scenario, number: PullNumber) {
    scenario.close(number);
    settle(scenario);
}

#[test]
fn a_closed_pull_request_is_told_apart_by_what_it_changed() {
    let mut scenario = scenario();
    let first = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    let repeat = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    close(&mut scenario, repeat);
    assert_eq!(outcome(&scenario, repeat), Some(Outcome::Repeated));
    let other = opens(&mut scenario, vec![new_file("src/b.rs", 3)]);
    close(&mut scenario, other);
    assert_eq!(outcome(&scenario, other), Some(Outcome::Rejected));
    let empty = opens(&mut scenario, vec![]);
    close(&mut scenario, empty);
    assert_eq!(outcome(&scenario, empty), Some(Outcome::NoOp));
    let copy = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    scenario.merge(first);
    settle(&mut scenario);
    close(&mut scenario, copy);
    assert_eq!(outcome(&scenario, copy), Some(Outcome::Superseded));
}

/// One that was refused says nothing of when the same lines were merged.
#[test]
fn a_copy_of_refused_work_that_was_merged_later_is_superseded() {
    let mut scenario = scenario();
    let refused = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    scenario.pull_subject(refused.0, true);
    scenario.writes(refused.0, "/phileas refuse out-of-scope", "ada");
    settle(&mut scenario);
    let copy = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    let merged = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    scenario.merge(merged);
    settle(&mut scenario);
    close(&mut scenario, copy);
    assert_eq!(outcome(&scenario, copy), Some(Outcome::Superseded));
}

#[test]
fn a_copy_counts_against_no_persona() {
    let mut scenario = scenario();
    let first = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    let copy = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    scenario.merge(first);
    settle(&mut scenario);
    close(&mut scenario, copy);
    let persona = entry(&scenario, copy).persona_id;
    let known = scenario.state().personas.get(&persona);
    assert_eq!(known.map_or(0, |known| known.no_output_streak), 0);
}

#[test]
fn a_refused_one_stays_rejected_and_a_reopened_one_can_be_merged() {
    let mut scenario = scenario();
    let refused = opens(&mut scenario, vec![]);
    scenario.pull_subject(refused.0, true);
    scenario.writes(refused.0, "/phileas refuse no-evidence", "ada");
    settle(&mut scenario);
    assert_eq!(outcome(&scenario, refused), Some(Outcome::Rejected));
    let empty = opens(&mut scenario, vec![]);
    close(&mut scenario, empty);
    assert_eq!(outcome(&scenario, empty), Some(Outcome::NoOp));
    scenario.pulls.get_mut(&empty).unwrap().state = PullState::Open;
    settle(&mut scenario);
    scenario.merge(empty);
    settle(&mut scenario);
    assert_eq!(outcome(&scenario, empty), Some(Outcome::Merged));
}

#[test]
fn the_history_keeps_the_reason_of_a_refusal_until_it_is_withdrawn() {
    let mut scenario = scenario();
    let number = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
    scenario.pull_subject(number.0, true);
    scenario.writes(number.0, "/phileas refuse too-large", "ada");
    let lines = settle(&mut scenario);
    assert_eq!(
        entry(&scenario, number).refused.as_deref(),
        Some("too-large")
    );
    assert_eq!(
        lines_about(&scenario, &lines, Reason::PullRefused, number),
        1
    );
    scenario.writes(number.0, "/phileas forget", "ada");
    let lines = settle(&mut scenario);
    assert_eq!(entry(&scenario, number).refused, None);
    assert_eq!(
        lines_about(&scenario, &lines, Reason::PullRefused, number),
        0
    );
}

#[test]
fn what_a_merge_asked_of_people_is_recorded() {
    for (what, zero_touch, is_review) in [
        (None, true, false),
        (Some(PullChange::Approved), true, true),
        (Some(PullChange::Commented), true, false),
        (Some(PullChange::RequestedChanges), false, true),
        (Some(PullChange::Committed { by_bot: false }), false, false),
        (Some(PullChange::Committed { by_bot: true }), true, false),
    ] {
        let mut scenario = scenario();
        let number = opens(&mut scenario, vec![new_file("src/a.rs", 12)]);
        scenario.minutes(7);
        let opened_at = scenario.pulls[&number].created_at;
        let after = scenario.now.duration_since(opened_at).as_secs();
        let events = what.clone().map(|what| PullEvent {
            at: scenario.now,
            actor: Some(account("ada")),
            what,
        });
        scenario
            .pull_events
            .insert(number, events.into_iter().collect());
        scenario.merge(number);
        settle(&mut scenario);
        let entry = entry(&scenario, number);
        assert_eq!(entry.zero_touch, Some(zero_touch), "{what:?}");
        let expected = is_review.then(|| u64::try_from(after).unwrap());
        assert_eq!(entry.review_secs, expected, "{what:?}");
    }
}

/// A person's pull request that says that it reverts another one is merged.
fn reverts(scenario: &mut Scenario, body: &str, base: &str, files: Vec<PullFile>) -> Vec<Line> {
    let number = PullNumber(90);
    let mut pull = scenario.pulls.values().next().unwrap().clone();
    pull.number = number;
    pull.head = "revert-1".into();
    pull.base = base.into();
    pull.body = body.to_owned();
    pull.state = PullState::Merged;
    pull.closed_at = Some(scenario.now);
    scenario.pulls.insert(number, pull);
    scenario.pull_files.insert(number, files);
    settle(scenario)
}

#[test]
fn a_revert_needs_the_words_the_inverse_change_and_the_same_branch() {
    let change = new_file("src/a.rs", 12);
    let (same, half) = (inverse(&change), inverse(&new_file("src/a.rs", 4)));
    for (body, base, files, is_revert) in [
        ("Reverts acme/widget#1", "main", vec![same.clone()], true),
        (
            "Reverts Acme/Widget#1\n\nIt was slow.",
            "main",
            vec![same.clone()],
            true,
        ),
        ("Reverts acme/widget#1", "other", vec![same.clone()], false),
        ("Reverts acme/other#1", "main", vec![same.clone()], false),
        ("Reverts acme/widget#12", "main", vec![same.clone()], false),
        ("Takes #1 back", "main", vec![same], false),
        ("Reverts acme/widget#1", "main", vec![half], false),
        ("Reverts acme/widget#1", "main", vec![change.clone()], false),
        ("Reverts acme/widget#1", "main", vec![], false),
    ] {
        let mut scenario = scenario();
        let number = opens(&mut scenario, vec![change.clone()]);
        scenario.merge(number);
        settle(&mut scenario);
        assert_eq!(outcome(&scenario, number), Some(Outcome::Merged));
        let lines = reverts(&mut scenario, body, base, files);
        let expected = if is_revert {
            Outcome::Reverted
        } else {
            Outcome::Merged
        };
        assert_eq!(outcome(&scenario, number), Some(expected), "{body} {base}");
        let count = lines_about(&scenario, &lines, Reason::PullReverted, number);
        assert_eq!(count, usize::from(is_revert));
        // It is judged once.
        let read = scenario.files_read;
        settle(&mut scenario);
        assert_eq!(scenario.files_read, read);
    }
}

#[test]
fn a_merge_and_its_revert_between_two_ticks_are_both_seen() {
    let change = new_file("src/a.rs", 12);
    for is_recorded in [true, false] {
        let mut scenario = scenario();
        let number = if is_recorded {
            opens(&mut scenario, vec![change.clone()])
        } else {
            // It is opened between the two ticks, too.
            scenario.tick();
            scenario.minutes(5);
            let number = scenario.opens_pull();
            scenario.pull_files.insert(number, vec![change.clone()]);
            number
        };
        scenario.merge(number);
        let inverse = vec![inverse(&change)];
        let body = "This Reverts the cache.\n\nReverts acme/widget#1";
        reverts(&mut scenario, body, "main", inverse);
        settle(&mut scenario);
        assert_eq!(outcome(&scenario, number), Some(Outcome::Reverted));
        let hot = WorkFile::parse(scenario.exchange.text(HOT_PATH).unwrap()).unwrap();
        let record = hot.get(number.0).unwrap();
        assert_eq!(record.outcome, Some(Outcome::Reverted));
    }
}

#[test]
fn a_revert_after_ninety_days_is_none() {
    let change = new_file("src/a.rs", 12);
    let mut scenario = scenario();
    let number = opens(&mut scenario, vec![change.clone()]);
    scenario.merge(number);
    settle(&mut scenario);
    scenario.hours(91 * 24);
    reverts(
        &mut scenario,
        "Reverts acme/widget#1",
        "main",
        vec![inverse(&change)],
    );
    assert_eq!(outcome(&scenario, number), Some(Outcome::Merged));
}
