//! Tests that a turn waits while an open pull request changes a file that its persona or request names.

use jiff::SignedDuration;
use phileas_domain::engine::{Reason, SessionState, Verdict};
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;
use phileas_domain::work::{HOT_PATH, JULES_BOT_ID};

use crate::support::scenario::Scenario;
use crate::support::subjects::new_file;

const AVOIDS: &str = "[novelty]\navoid_overlap = true\n";
const FILE: &str = "src/render/html.rs";
const FIRST: PullNumber = PullNumber(1);

/// `a` names no files; `b` works on the renderer.
fn scenario(steps: &str, settings: &str) -> Scenario {
    let plan = format!(
        "{steps}\n[budget]\nmax_open_pulls = 9\ndaily_sessions = 50\n[defaults]\nskip_unchanged = false\nretry = 1\n{settings}"
    );
    let mut scenario = Scenario::new(&plan, &["a", "b"]);
    scenario.persona(
        "b",
        "emoji: \"🔧\"\npaths: [\"docs/*.md\", \"src/render/**\"]",
    );
    scenario.writer("ada");
    scenario
}

/// The session of `a` has opened a pull request with this file.
fn opened(settings: &str, file: &str) -> Scenario {
    let mut scenario = scenario("cycle = [\"a\", \"b\"]", settings);
    scenario.tick();
    scenario.minutes(5);
    assert_eq!(scenario.opens_pull(), FIRST);
    scenario.pull_files.insert(FIRST, vec![new_file(file, 12)]);
    scenario
}

/// Whether a tick starts a session; if not, the overlap is the only reason.
fn waits(scenario: &mut Scenario) -> bool {
    let before = scenario.sessions.len();
    scenario.tick_after(60);
    let is_waiting = scenario.all_reasons().contains(&Reason::Overlap);
    assert_eq!(
        is_waiting,
        scenario.sessions.len() == before,
        "{:?}",
        scenario.lines
    );
    is_waiting
}

fn detail(scenario: &Scenario) -> &str {
    let mut lines = scenario.lines.iter();
    let line = lines.find(|line| line.reason == Reason::Overlap);
    &line.unwrap().detail
}

#[test]
fn a_track_waits_with_its_turn_until_the_pull_request_is_merged_or_closed() {
    for is_merged in [true, false] {
        let mut scenario = opened(AVOIDS, FILE);
        for _ in 0..5 {
            assert!(waits(&mut scenario));
        }
        let (verdict, reason, until) = scenario.line_facts("default");
        assert_eq!((verdict, reason), (Verdict::Waiting, Reason::Overlap));
        assert_eq!(until, Some(30 * 60));
        assert_eq!(
            detail(&scenario),
            "pull request #1 is open and changes `src/render/html.rs`, which `b` works on"
        );
        let sentence = scenario.line("default").sentence(false);
        assert_eq!(
            sentence,
            format!("{} (`waiting.overlap`)", detail(&scenario))
        );
        // Its files are read once; then its record tells them.
        assert_eq!(scenario.files_read, 1);
        assert_eq!(scenario.outcomes(), [Some(Outcome::PrOpen)]);
        match is_merged {
            true => scenario.merge(FIRST),
            false => scenario.close(FIRST),
        }
        assert!(!waits(&mut scenario));
        assert_eq!(scenario.personas_run(), ["a", "b"], "no turn is skipped");
    }
}

#[test]
fn other_files_hold_no_turn() {
    for file in [
        "src/count.rs",
        "docs/guide/a.md",
        "render/html.rs",
        "Cargo.lock",
    ] {
        assert!(!waits(&mut opened(AVOIDS, file)), "{file}");
    }
}

#[test]
fn without_the_key_and_with_the_mode_off_no_turn_waits() {
    for settings in ["", "[novelty]\navoid_overlap = true\nmode = \"off\"\n"] {
        assert!(!waits(&mut opened(settings, FILE)), "{settings}");
    }
}

#[test]
fn new_commits_that_leave_the_file_alone_end_the_wait() {
    let mut scenario = opened(AVOIDS, FILE);
    assert!(waits(&mut scenario));
    assert!(waits(&mut scenario));
    scenario
        .pull_files
        .insert(FIRST, vec![new_file("src/count.rs", 12)]);
    scenario.pulls.get_mut(&FIRST).unwrap().head_oid = "01".into();
    assert!(!waits(&mut scenario));
}

#[test]
fn new_commits_that_change_the_file_begin_a_wait() {
    let mut scenario = opened(AVOIDS, "src/count.rs");
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    scenario.paused_by_variable = None;
    scenario.pull_files.insert(FIRST, vec![new_file(FILE, 12)]);
    scenario.pulls.get_mut(&FIRST).unwrap().head_oid = "01".into();
    assert!(waits(&mut scenario));
}

#[test]
fn the_pull_request_of_the_personas_last_turn_counts() {
    let mut scenario = scenario("cycle = [\"b\"]", AVOIDS);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario
        .pull_files
        .insert(number, vec![new_file("docs/a.md", 3)]);
    assert!(waits(&mut scenario));
    scenario.merge(number);
    assert!(!waits(&mut scenario));
}

/// How often a persona was started.
fn runs(scenario: &Scenario, persona: &str) -> usize {
    let runs = scenario.personas_run();
    runs.iter().filter(|id| *id == persona).count()
}

#[test]
fn a_schedule_keeps_its_slot() {
    let steps = "cycle = [\"a\"]\n[schedules]\nb = \"0 9 * * *\"";
    let mut scenario = scenario(steps, AVOIDS);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.pull_files.insert(number, vec![new_file(FILE, 12)]);
    scenario.tick();
    for _ in 0..3 {
        scenario.hours(10);
        scenario.tick();
        assert_eq!(scenario.reasons("schedule:b"), [Reason::Overlap]);
        assert_eq!(runs(&scenario, "b"), 0);
    }
    scenario.merge(number);
    for _ in 0..2 {
        scenario.tick_after(60);
        assert_eq!(runs(&scenario, "b"), 1);
    }
}

#[test]
fn a_request_waits_for_what_its_text_names() {
    for (title, body, is_held) in [
        ("It is slow", "See `src/count.rs`, please.", true),
        ("src/count.rs is slow", "Very.", true),
        ("It is slow", "See count.rs and lib/src/count.rs", false),
        ("It is slow", "Very. <!-- e.g. src/count.rs -->", false),
    ] {
        let mut scenario = opened(AVOIDS, "src/count.rs");
        scenario.paused_by_variable = Some("yes".to_owned());
        scenario.tick();
        scenario.paused_by_variable = None;
        scenario.issue(70, title, body);
        scenario.label(70, "a", "ada");
        scenario.tick_after(60);
        let is_waiting = scenario.reasons("request:1").contains(&Reason::Overlap);
        assert_eq!(is_waiting, is_held, "{title}: {body}");
        let requested = runs(&scenario, "a") - 1;
        assert_eq!(requested, usize::from(!is_held), "{title}: {body}");
        if is_held {
            // The first tick commits the request, and this scenario reads no records after a commit.
            scenario.tick_after(60);
            assert_eq!(
                detail(&scenario),
                "pull request #1 is open and changes `src/count.rs`, which #70 names"
            );
            let status = scenario.status(70);
            assert!(
                status.contains("#1 is open and changes `src/count.rs`, which #70 names"),
                "{status}"
            );
            scenario.close(FIRST);
            scenario.tick_after(60);
            assert_eq!(scenario.personas_run().last().unwrap(), "a");
        }
    }
}

#[test]
fn a_request_waits_for_what_its_persona_names_but_not_for_the_pull_request_it_is_about() {
    let mut scenario = opened(AVOIDS, FILE);
    scenario.issue(70, "It is slow", "Very.");
    scenario.label(70, "b", "ada");
    scenario.tick_after(60);
    assert!(scenario.reasons("request:1").contains(&Reason::Overlap));

    let mut scenario = opened(AVOIDS, FILE);
    scenario.pull_subject(1, true);
    scenario.subject(1).body = format!("It changes `{FILE}`.");
    scenario.label(1, "b", "ada");
    scenario.tick_after(60);
    assert_eq!(scenario.personas_run(), ["a", "b"]);
}

#[test]
fn requests_on_pull_requests_with_the_same_file_do_not_wait_for_each_other() {
    let mut scenario = opened(AVOIDS, FILE);
    let mut other = scenario.pulls[&FIRST].clone();
    other.number = PullNumber(2);
    other.head = "other".into();
    other.bot_id = Some(JULES_BOT_ID);
    scenario
        .pull_files
        .insert(other.number, vec![new_file(FILE, 3)]);
    scenario.pulls.insert(other.number, other);
    assert!(waits(&mut scenario), "the track waits for both");
    scenario.pull_subject(1, true);
    scenario.label(1, "b", "ada");
    scenario.tick_after(60);
    assert_eq!(scenario.personas_run(), ["a", "b"]);
}

#[test]
fn a_request_that_may_not_start_is_refused_and_does_not_wait() {
    let mut scenario = opened(AVOIDS, FILE);
    scenario.issue(70, "It is slow", "Very.");
    scenario.label(70, "b", "ada");
    scenario.tick_after(60);
    scenario.subject(70).open = false;
    scenario.tick_after(60);
    let status = scenario.status(70);
    assert!(status.contains("`refused.subject_closed`"), "{status}");
}

#[test]
fn further_attempts_wait_but_not_for_their_own_turn() {
    for is_own in [true, false] {
        let mut scenario = scenario("cycle = [\"b\"]", AVOIDS);
        scenario.tick();
        scenario.minutes(5);
        let first = scenario.opens_pull();
        scenario.sessions.last_mut().unwrap().pulls.clear();
        scenario.pull_files.insert(first, vec![new_file(FILE, 3)]);
        let pull = scenario.pulls.get_mut(&first).unwrap();
        pull.bot_id = Some(JULES_BOT_ID);
        pull.head = "other".into();
        scenario.becomes(SessionState::Failed);
        scenario.tick_after(60);
        assert!(scenario.all_reasons().contains(&Reason::Overlap));
        if is_own {
            let mut state = scenario.state().clone();
            let (&key, entry) = state.history.last_key_value().unwrap();
            let mut entry = entry.clone();
            entry.pr_number = Some(first);
            state.history.insert(key, entry);
            scenario.set_state(state);
        }
        assert_eq!(waits(&mut scenario), !is_own);
    }
}

#[test]
fn records_that_cannot_be_read_hold_no_turn_for_ever() {
    let mut scenario = opened(AVOIDS, FILE);
    assert!(waits(&mut scenario));
    assert!(waits(&mut scenario));
    scenario.exchange.insert_text(HOT_PATH, "{ torn");
    assert!(waits(&mut scenario), "GitHub lists the files, too");
    scenario.merge(FIRST);
    assert!(!waits(&mut scenario));
}

#[test]
fn files_that_cannot_be_read_hold_no_turn_for_ever() {
    let mut scenario = opened(AVOIDS, FILE);
    scenario.files_fail = true;
    assert!(!waits(&mut scenario), "nothing is known of them");

    let mut scenario = opened(AVOIDS, FILE);
    assert!(waits(&mut scenario));
    assert!(waits(&mut scenario));
    scenario.files_fail = true;
    scenario.pulls.get_mut(&FIRST).unwrap().head_oid = "01".into();
    assert!(waits(&mut scenario), "the earlier record names the file");
}

#[test]
fn records_are_read_only_where_a_turn_that_names_files_is_due() {
    let mut scenario = opened(AVOIDS, FILE);
    assert!(waits(&mut scenario));
    scenario.tick_after(60);
    scenario.records_read = 0;
    assert!(waits(&mut scenario));
    assert!(scenario.records_read > 0);
    let mut state = scenario.state().clone();
    state.budget.paused_until = scenario.now.checked_add(SignedDuration::from_hours(2)).ok();
    scenario.set_state(state);
    scenario.records_read = 0;
    scenario.tick_after(60);
    assert!(scenario.all_reasons().contains(&Reason::JulesQuota));
    assert_eq!(scenario.records_read, 0);
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick_after(60);
    assert_eq!(scenario.records_read, 0);
}
