//! Tests the labels of pull requests that repeat others or change nothing, and their closing.

use jiff::SignedDuration;
use phileas_domain::engine::{
    Actor, Effect, PullChange, PullEvent, PullFile, PullState, Reason, SessionState, SubjectChange,
    rebuild_records,
};
use phileas_domain::model::PullNumber;
use phileas_domain::state::{Outcome, WorkMark};
use phileas_domain::work::{HOT_PATH, WorkFile};

use crate::support::scenario::Scenario;
use crate::support::subjects::{account, new_file};

fn scenario(novelty: &str) -> Scenario {
    let plan =
        format!("cycle = [\"a\", \"b\"]\n[budget]\nmax_open_pulls = 9\n[novelty]\n{novelty}");
    let mut scenario = Scenario::new(&plan, &["a", "b"]);
    scenario.writer("ada");
    scenario
}

/// The next session of a track opens a pull request with these files.
fn opens(scenario: &mut Scenario, files: Vec<PullFile>) -> PullNumber {
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.title = "Escape quotes in attributes".to_owned();
    pull.head_oid = format!("{:02}", number.0).as_str().into();
    scenario.pull_files.insert(number, files);
    number
}

/// Two sessions do the same; phileas has not seen the second pull request yet.
fn twins(mode: &str) -> (Scenario, PullNumber) {
    let mut scenario = scenario(&format!("mode = \"{mode}\"\n"));
    opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    let number = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    (scenario, number)
}

/// Ticks until everything about a new pull request is recorded and done. Returns the labels and comments that were
/// written, with the closings.
fn settle(scenario: &mut Scenario) -> (Vec<String>, Vec<String>, usize) {
    let (mut labels, mut comments, mut closings) = (Vec::new(), Vec::new(), 0);
    for _ in 0..4 {
        scenario.tick();
        for effect in &scenario.effects {
            match effect {
                Effect::AddLabel { label, .. } => labels.push(label.clone()),
                Effect::CommentOnPull { body, .. } => comments.push(body.clone()),
                Effect::ClosePull { .. } => closings += 1,
                _ => {}
            }
        }
        scenario.minutes(1);
    }
    (labels, comments, closings)
}

fn marks(scenario: &Scenario) -> Vec<&WorkMark> {
    scenario.state().work.marks.values().collect()
}

fn event(scenario: &Scenario, who: &str, what: PullChange) -> PullEvent {
    PullEvent {
        at: scenario.now,
        actor: Some(account(who)),
        what,
    }
}

#[test]
fn a_twin_of_open_work_gets_its_label_and_one_comment() {
    let (mut scenario, number) = twins("label");
    let (labels, comments, closings) = settle(&mut scenario);
    assert_eq!(labels, ["phileas:duplicate"]);
    let [comment] = &comments[..] else {
        panic!("{comments:?}");
    };
    assert!(
        comment.contains("does the same as #1, which is open"),
        "{comment}"
    );
    assert!(comment.contains("asks nothing of Jules"), "{comment}");
    assert!(!comment.contains("closes it"), "{comment}");
    assert_eq!(closings, 0);
    assert!(scenario.bears(number.0).contains("duplicate"));
    // Nothing more is read or written, and the label is no request.
    let counts = |scenario: &Scenario| {
        (
            scenario.activity_read,
            scenario.files_read,
            scenario.subjects_read.len(),
            scenario.comments.len(),
        )
    };
    let before = counts(&scenario);
    scenario.hours(48);
    assert_eq!(settle(&mut scenario), (vec![], vec![], 0));
    assert_eq!(counts(&scenario), before);
}

#[test]
fn without_the_mode_nothing_is_marked() {
    let (mut scenario, _) = twins("prompt");
    let (labels, comments, _) = settle(&mut scenario);
    assert!(labels.is_empty() && comments.is_empty());
    assert!(marks(&scenario).is_empty());
}

#[test]
fn what_differs_and_what_was_merged_or_closed_is_no_twin() {
    let mut scenario = scenario("mode = \"label\"\n");
    opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    let other = opens(&mut scenario, vec![new_file("src/count.rs", 3)]);
    scenario.pulls.get_mut(&other).unwrap().title = "Count words".to_owned();
    assert!(settle(&mut scenario).0.is_empty());
    for is_merged in [true, false] {
        let mut scenario = self::scenario("mode = \"label\"\n");
        let first = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        settle(&mut scenario);
        match is_merged {
            true => scenario.merge(first),
            false => scenario.close(first),
        }
        let newest = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        assert!(newest > first);
        assert!(settle(&mut scenario).0.is_empty(), "merged: {is_merged}");
    }
}

/// The first pull request is merged, and so many days later the next session does the same.
fn repeats_merged(novelty: &str, days: i64) -> (Scenario, PullNumber) {
    let mut scenario = scenario(novelty);
    let first = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    settle(&mut scenario);
    scenario.merge(first);
    settle(&mut scenario);
    scenario.hours(24 * days);
    let number = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    (scenario, number)
}

#[test]
fn merged_work_counts_for_as_long_as_the_plan_says() {
    const COUNTS: &str = "mode = \"label\"\ncount_merged = \"30d\"\n";
    for (novelty, days, is_twin) in [
        (COUNTS, 1, true),
        (COUNTS, 31, false),
        ("mode = \"label\"\n", 1, false),
    ] {
        let (mut scenario, _) = repeats_merged(novelty, days);
        let (labels, comments, _) = settle(&mut scenario);
        assert_eq!(labels.len(), usize::from(is_twin), "{novelty} {days}");
        assert_eq!(comments.len(), labels.len());
        let names = |comment: &String| comment.contains("#1, which was merged");
        assert!(comments.iter().all(names), "{comments:?}");
    }
}

#[test]
fn merged_work_that_a_person_forgets_counts_no_more() {
    let mut scenario = scenario("mode = \"label\"\ncount_merged = \"30d\"\n");
    let first = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    settle(&mut scenario);
    scenario.merge(first);
    settle(&mut scenario);
    scenario.pull_subject(first.0, true);
    scenario.writes(first.0, "/phileas forget", "ada");
    settle(&mut scenario);
    opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    assert!(settle(&mut scenario).0.is_empty());
}

#[test]
fn what_repeats_merged_work_is_closed_and_was_a_repeat() {
    let (mut scenario, number) = repeats_merged("mode = \"close\"\ncount_merged = \"30d\"\n", 1);
    assert_eq!(settle(&mut scenario).2, 0);
    scenario.hours(25);
    assert_eq!(settle(&mut scenario).2, 1);
    assert_eq!(scenario.pulls[&number].state, PullState::Closed);
    settle(&mut scenario);
    let mut entries = scenario.state().history.values();
    let entry = entries.find(|entry| entry.pr_number == Some(number));
    assert_eq!(entry.unwrap().outcome, Some(Outcome::Repeated));
}

#[test]
fn a_twin_that_is_merged_meanwhile_counts_only_where_merged_work_does() {
    for (count_merged, closings) in [("", 0), ("count_merged = \"30d\"\n", 1)] {
        let mut scenario = scenario(&format!("mode = \"close\"\n{count_merged}"));
        let first = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        assert_eq!(settle(&mut scenario).0.len(), 1);
        scenario.merge(first);
        settle(&mut scenario);
        scenario.hours(25);
        assert_eq!(settle(&mut scenario).2, closings, "{count_merged}");
    }
}

#[test]
fn work_that_was_refused_as_out_of_scope_is_a_twin_and_as_too_large_is_none() {
    for (reason, is_twin) in [
        ("out-of-scope", true),
        ("too-large", false),
        ("too-large never", true),
        ("duplicate", false),
    ] {
        let mut scenario = scenario("mode = \"label\"\n");
        let first = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        scenario.tick();
        scenario.pull_subject(first.0, true);
        scenario.writes(first.0, &format!("/phileas refuse {reason}"), "ada");
        settle(&mut scenario);
        assert_eq!(scenario.pulls[&first].state, PullState::Closed);
        opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        let (labels, comments, _) = settle(&mut scenario);
        assert_eq!(labels.len(), usize::from(is_twin), "{reason}");
        if is_twin {
            assert!(
                comments[0].contains("#1, which was refused"),
                "{comments:?}"
            );
        }
    }
}

#[test]
fn a_pull_request_that_changes_nothing_gets_its_label_and_no_comment() {
    let space = PullFile {
        patch: Some("@@ -1 +1 @@\n-a b\n+a  b".to_owned()),
        ..new_file("src/a.rs", 1)
    };
    for files in [
        vec![],
        vec![new_file(".jules/personas/a/journals/1.md", 9)],
        vec![new_file(".jules/a.md", 9)],
        vec![space],
    ] {
        let mut scenario = scenario("mode = \"label\"\n");
        opens(&mut scenario, files.clone());
        let (labels, comments, _) = settle(&mut scenario);
        assert_eq!(labels, ["phileas:no-op"], "{files:?}");
        assert!(comments.is_empty());
    }
    for files in [
        vec![new_file(".jules/tasks/todo/1.md", 9)],
        vec![new_file(".jules/personas/b/journals/1.md", 9)],
    ] {
        let mut scenario = scenario("mode = \"label\"\n");
        opens(&mut scenario, files.clone());
        assert!(settle(&mut scenario).0.is_empty(), "{files:?}");
    }
}

#[test]
fn what_a_person_has_taken_up_is_left_alone() {
    for (change, is_kept) in [
        (PullChange::Commented, true),
        (PullChange::Approved, true),
        (PullChange::RequestedChanges, true),
        (PullChange::Reopened, true),
        (PullChange::ForcePushed, true),
        (PullChange::Committed { by_bot: false }, true),
        (PullChange::Committed { by_bot: true }, false),
        (PullChange::Unlabelled("phileas:duplicate".to_owned()), true),
        (PullChange::Unlabelled("bug".to_owned()), false),
    ] {
        for who in ["ada", "codecov[bot]"] {
            let (mut scenario, number) = twins("label");
            scenario.minutes(1);
            let mut event = event(&scenario, who, change.clone());
            // Of a commit only the addresses are known.
            let is_commit = matches!(change, PullChange::Committed { .. });
            event.actor.take_if(|_| is_commit);
            scenario.pull_events.insert(number, vec![event]);
            let (labels, _, _) = settle(&mut scenario);
            let is_kept = is_kept && (who == "ada" || is_commit);
            assert_eq!(labels.is_empty(), is_kept, "{change:?} by {who}");
            assert_eq!(marks(&scenario).is_empty(), is_kept);
        }
    }
}

#[test]
fn what_happened_on_it_may_be_unknown() {
    let (mut scenario, number) = twins("close");
    scenario.unshown_activity.insert(number);
    let (labels, comments, closings) = settle(&mut scenario);
    assert_eq!((labels.len(), comments.len(), closings), (0, 0, 0));
    assert!(marks(&scenario).is_empty());
    let reads = scenario.activity_read;
    scenario.hours(25);
    settle(&mut scenario);
    assert_eq!(scenario.activity_read, reads);
    // Its end is recorded all the same.
    scenario.close(number);
    settle(&mut scenario);
    assert!(!scenario.state().work.open.contains(&number));
}

#[test]
fn the_sessions_own_commits_may_bear_the_name_of_a_person() {
    let (mut scenario, number) = twins("label");
    let event = PullEvent {
        at: scenario.pulls[&number].created_at,
        actor: None,
        what: PullChange::Committed { by_bot: false },
    };
    scenario.pull_events.insert(number, vec![event]);
    assert_eq!(settle(&mut scenario).0.len(), 1);
}

#[test]
fn labels_of_people_keep_a_pull_request() {
    for word in ["hold", "keep"] {
        let (mut scenario, number) = twins("label");
        scenario.pull_subject(number.0, true);
        scenario.label(number.0, word, "ada");
        assert!(settle(&mut scenario).0.is_empty(), "{word}");
    }
}

#[test]
fn a_further_attempt_is_no_twin() {
    for fails in [true, false] {
        let mut scenario = scenario("mode = \"label\"\n[defaults]\nretry = 1\n");
        opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        scenario.tick();
        scenario.minutes(5);
        if fails {
            scenario.becomes(SessionState::Failed);
        }
        let number = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        let labels = settle(&mut scenario).0;
        let mut entries = scenario.state().history.values();
        let entry = entries.find(|entry| entry.pr_number == Some(number));
        assert_eq!(entry.unwrap().attempt.unwrap_or(1), 1 + u32::from(fails));
        assert_eq!(labels.is_empty(), fails);
    }
}

#[test]
fn requested_work_is_no_twin() {
    let mut scenario = scenario("mode = \"label\"\n");
    opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
    scenario.issue(70, "Escape quotes", "Please.");
    scenario.label(70, "b", "ada");
    scenario.tick();
    let requested = scenario
        .sessions
        .iter()
        .position(|one| one.title.contains('b'))
        .unwrap();
    scenario.minutes(5);
    let index = requested.max(1);
    let number = scenario.opens_pull_of(index);
    scenario.pulls.get_mut(&number).unwrap().title = "Escape quotes in attributes".to_owned();
    scenario
        .pull_files
        .insert(number, vec![new_file("src/render.rs", 12)]);
    let of_request = |scenario: &Scenario| {
        let mut entries = scenario.state().history.values();
        entries.any(|entry| {
            entry.pr_number == Some(number) && entry.track_name().as_str().starts_with("request:")
        })
    };
    let labels = settle(&mut scenario).0;
    assert!(
        of_request(&scenario),
        "the pull request is that of the request"
    );
    assert!(labels.is_empty());
}

#[test]
fn with_a_persons_token_there_is_a_label_and_no_comment() {
    for mode in ["label", "close"] {
        let (mut scenario, number) = twins(mode);
        scenario.as_person = true;
        let (labels, comments, _) = settle(&mut scenario);
        assert_eq!((labels.len(), comments.len()), (1, 0));
        scenario.hours(48);
        assert_eq!(settle(&mut scenario).2, 0);
        assert_eq!(scenario.pulls[&number].state, PullState::Open);
    }
}

#[test]
fn what_got_lost_is_repeated_and_given_up_in_the_end() {
    for lost in ["add_label", "comment_on_pull"] {
        let (mut scenario, _) = twins("label");
        scenario.lost = vec![lost];
        let mut count = 0;
        for _ in 0..12 {
            scenario.tick();
            count += scenario
                .effects
                .iter()
                .filter(|effect| effect.name() == lost)
                .count();
            scenario.minutes(20);
        }
        assert_eq!(count, 3, "{lost}");
    }
}

/// The process died after the label was set and before the ledger knew.
#[test]
fn a_label_whose_answer_got_lost_is_set_once() {
    let (mut scenario, number) = twins("label");
    scenario.lost = vec!["add_label"];
    settle(&mut scenario);
    scenario.lost.clear();
    scenario.pull_subject(number.0, true);
    let app = Actor {
        bot: true,
        ..account("app[bot]")
    };
    let label = SubjectChange::Labelled("phileas:duplicate".to_owned());
    scenario.happens(number.0, Some(app), label);
    scenario.minutes(20);
    let (labels, comments, _) = settle(&mut scenario);
    assert_eq!((labels.len(), comments.len()), (0, 0));
    assert!(marks(&scenario)[0].label.as_ref().unwrap().notified);
}

#[test]
fn new_commits_are_judged_as_if_they_were_new() {
    let (mut scenario, number) = twins("label");
    scenario.lost = vec!["add_label", "comment_on_pull"];
    settle(&mut scenario);
    scenario.lost.clear();
    assert_eq!(marks(&scenario).len(), 1);
    scenario.pulls.get_mut(&number).unwrap().head_oid = "fe".into();
    scenario.pulls.get_mut(&number).unwrap().title = "Count words".to_owned();
    scenario
        .pull_files
        .insert(number, vec![new_file("src/count.rs", 3)]);
    scenario.minutes(20);
    assert!(settle(&mut scenario).0.is_empty());
    assert!(marks(&scenario).is_empty());
}

/// The session pushes a commit after the pull request has its label.
#[test]
fn new_commits_after_the_label_are_judged_too() {
    for is_twin in [true, false] {
        let (mut scenario, number) = twins("close");
        assert_eq!(settle(&mut scenario).0.len(), 1);
        scenario.hours(2);
        let pushed = event(&scenario, "ada", PullChange::Committed { by_bot: true });
        scenario.pull_events.insert(number, vec![pushed]);
        let pull = scenario.pulls.get_mut(&number).unwrap();
        pull.head_oid = "fe".into();
        if !is_twin {
            pull.title = "Count words".to_owned();
            let files = vec![new_file("src/count.rs", 3)];
            scenario.pull_files.insert(number, files);
        }
        assert_eq!(settle(&mut scenario), (vec![], vec![], 0));
        let heads: Vec<&str> = marks(&scenario)
            .iter()
            .map(|mark| mark.head.as_str())
            .collect();
        assert_eq!(heads, if is_twin { vec!["fe"] } else { vec![] });
        let reads = scenario.activity_read;
        settle(&mut scenario);
        assert_eq!(scenario.activity_read, reads);
        scenario.hours(22);
        assert_eq!(settle(&mut scenario).2, usize::from(is_twin));
    }
}

#[test]
fn what_a_person_pushed_after_the_label_is_left_alone() {
    let (mut scenario, number) = twins("label");
    settle(&mut scenario);
    scenario.hours(2);
    let pushed = event(&scenario, "ada", PullChange::Committed { by_bot: false });
    scenario.pull_events.insert(number, vec![pushed]);
    scenario.pulls.get_mut(&number).unwrap().head_oid = "fe".into();
    scenario.tick();
    assert!(scenario.all_reasons().contains(&Reason::KeptByPeople));
    assert!(marks(&scenario).is_empty());
}

#[test]
fn a_twin_whose_original_is_refused_within_the_day_is_closed_only_if_that_condemns_the_work() {
    for (words, closes) in [
        (&["refuse out-of-scope"] as &[_], true),
        (&["refuse wrong never"], true),
        (&["refuse wrong"], false),
        (&["refuse out-of-scope", "forget"], false),
    ] {
        let (mut scenario, number) = twins("close");
        scenario.pull_subject(1, true);
        settle(&mut scenario);
        for words in words {
            scenario.hours(2);
            scenario.writes(1, &format!("/phileas {words}"), "ada");
            settle(&mut scenario);
        }
        assert_eq!(scenario.pulls[&PullNumber(1)].state, PullState::Closed);
        scenario.hours(24);
        settle(&mut scenario);
        let is_closed = scenario.pulls[&number].state == PullState::Closed;
        assert_eq!(is_closed, closes, "{words:?}");
    }
}

/// The closing is due before the record of the original knows the refusal.
#[test]
fn a_twin_whose_original_is_refused_right_before_is_closed() {
    let (mut scenario, number) = twins("close");
    scenario.pull_subject(1, true);
    settle(&mut scenario);
    let closes_at = marks(&scenario)[0].closes_at.unwrap();
    scenario.now = closes_at - SignedDuration::from_mins(1);
    scenario.writes(1, "/phileas refuse out-of-scope", "ada");
    scenario.tick();
    assert_eq!(scenario.pulls[&PullNumber(1)].state, PullState::Closed);
    assert!(scenario.state().work.refused.contains_key(&PullNumber(1)));
    scenario.now = closes_at;
    settle(&mut scenario);
    assert_eq!(scenario.pulls[&number].state, PullState::Closed);
}

#[test]
fn a_twin_whose_original_is_closed_meanwhile_is_left_alone() {
    let (mut scenario, _) = twins("label");
    scenario.lost = vec!["add_label", "comment_on_pull"];
    settle(&mut scenario);
    scenario.lost.clear();
    scenario.close(PullNumber(1));
    scenario.minutes(20);
    scenario.tick();
    let reasons: Vec<Reason> = scenario.lines.iter().map(|line| line.reason).collect();
    assert!(reasons.contains(&Reason::KeptByPeople), "{reasons:?}");
    assert!(settle(&mut scenario).0.is_empty());
}

#[test]
fn a_twin_is_closed_after_a_day_and_its_session_archived_first() {
    let (mut scenario, number) = twins("close");
    let (labels, comments, closings) = settle(&mut scenario);
    assert_eq!((labels.len(), closings), (1, 0));
    assert!(
        comments[0].contains("closes it after 2026-01-06 00:11 UTC"),
        "{}",
        comments[0]
    );
    scenario.hours(23);
    assert_eq!(settle(&mut scenario).2, 0);
    scenario.hours(1);
    scenario.tick();
    let names: Vec<&str> = scenario.effects.iter().map(Effect::name).collect();
    let place = |name| names.iter().position(|one| *one == name);
    assert!(place("archive_session") < place("close_pull"), "{names:?}");
    assert_eq!(scenario.pulls[&number].state, PullState::Closed);
    // A person who reopens it keeps it.
    scenario.minutes(5);
    settle(&mut scenario);
    scenario.pulls.get_mut(&number).unwrap().state = PullState::Open;
    let reopened = event(&scenario, "ada", PullChange::Reopened);
    scenario.pull_events.insert(number, vec![reopened]);
    scenario.hours(48);
    assert_eq!(settle(&mut scenario).2, 0);
    assert_eq!(scenario.pulls[&number].state, PullState::Open);
}

#[test]
fn what_happens_within_the_day_keeps_it_open() {
    for what in ["a comment", "keep", "the original is closed", "new commits"] {
        let (mut scenario, number) = twins("close");
        settle(&mut scenario);
        scenario.hours(2);
        match what {
            "a comment" => {
                let said = event(&scenario, "ada", PullChange::Commented);
                scenario.pull_events.insert(number, vec![said]);
            }
            "keep" => drop(scenario.label(number.0, "keep", "ada")),
            "the original is closed" => scenario.close(PullNumber(1)),
            _ => {
                scenario.pulls.get_mut(&number).unwrap().head_oid = "fe".into();
                scenario
                    .pull_files
                    .insert(number, vec![new_file("src/count.rs", 3)]);
                scenario.pulls.get_mut(&number).unwrap().title = "Count words".to_owned();
            }
        }
        scenario.hours(24);
        assert_eq!(settle(&mut scenario).2, 0, "{what}");
        assert_eq!(scenario.pulls[&number].state, PullState::Open, "{what}");
    }
}

#[test]
fn white_space_is_never_closed_and_an_empty_change_is() {
    let space = PullFile {
        patch: Some("@@ -1 +1 @@\n-a b\n+a  b".to_owned()),
        ..new_file("src/a.rs", 1)
    };
    for (files, closes) in [(vec![space], 0), (vec![], 1)] {
        let mut scenario = scenario("mode = \"close\"\n");
        opens(&mut scenario, files);
        let (labels, comments, _) = settle(&mut scenario);
        assert_eq!((labels.len(), comments.len()), (1, closes));
        scenario.hours(25);
        assert_eq!(settle(&mut scenario).2, closes);
    }
}

#[test]
fn an_empty_pull_request_that_changes_something_now_stays_open() {
    let mut scenario = scenario("mode = \"close\"\n");
    let number = opens(&mut scenario, vec![]);
    settle(&mut scenario);
    scenario.hours(25);
    // Its branch is the same; the base has moved.
    scenario
        .pull_files
        .insert(number, vec![new_file("src/a.rs", 1)]);
    scenario.tick();
    assert!(scenario.all_reasons().contains(&Reason::KeptByPeople));
    assert_eq!(settle(&mut scenario).2, 0);
    assert_eq!(scenario.pulls[&number].state, PullState::Open);
}

/// Plays what a rebuild of the records does before a tick has seen the newest pull request.
fn rebuild(scenario: &mut Scenario) {
    let plan = scenario.snapshot().plan;
    let mut state = scenario.state().clone();
    let hot = scenario.exchange.text(HOT_PATH).map(WorkFile::parse);
    let hot = hot.map(|hot| (HOT_PATH.to_owned(), hot.unwrap()));
    let mut files = hot.into_iter().collect();
    let pulls = scenario.pulls.values().map(|pull| {
        let files = scenario.pull_files[&pull.number].clone();
        (pull.clone(), files)
    });
    let pulls: Vec<_> = pulls.collect();
    rebuild_records(&plan, &mut state, &mut files, &pulls, scenario.now);
    scenario
        .exchange
        .insert_text(HOT_PATH, &files[HOT_PATH].text());
    scenario.set_state(state);
}

#[test]
fn what_a_rebuild_recorded_first_is_judged_by_the_next_tick() {
    let (mut scenario, number) = twins("label");
    rebuild(&mut scenario);
    let text = scenario.exchange.text(HOT_PATH).unwrap();
    assert!(WorkFile::parse(text).unwrap().get(number.0).is_some());
    assert_eq!(settle(&mut scenario).0, ["phileas:duplicate"]);
    // What is judged already stays as it is.
    let (reads, marks) = (scenario.files_read, marks(&scenario).len());
    rebuild(&mut scenario);
    assert!(settle(&mut scenario).0.is_empty());
    assert_eq!(
        (scenario.files_read, self::marks(&scenario).len()),
        (reads, marks)
    );
}

/// A change with other lines than those of a new file.
fn count_words() -> PullFile {
    let file = new_file("src/count.rs", 12);
    PullFile {
        patch: file
            .patch
            .map(|patch| patch.replace("let value", "count += words")),
        ..file
    }
}

#[test]
fn a_comment_is_written_again_when_new_commits_give_another_reason() {
    let space = PullFile {
        patch: Some("@@ -1 +1 @@\n-a b\n+a  b".to_owned()),
        ..new_file("src/a.rs", 1)
    };
    for (files, reason, label) in [
        (vec![count_words()], "does the same as #2", None),
        (
            vec![space],
            "changes white space alone",
            Some("phileas:no-op"),
        ),
    ] {
        let mut scenario = scenario("mode = \"close\"\n");
        opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        let other = opens(&mut scenario, vec![count_words()]);
        scenario.pulls.get_mut(&other).unwrap().title = "Count words".to_owned();
        scenario.push();
        let number = opens(&mut scenario, vec![new_file("src/render.rs", 12)]);
        let (_, comments, _) = settle(&mut scenario);
        assert!(comments[0].contains("does the same as #1"), "{comments:?}");
        scenario.hours(1);
        let pull = scenario.pulls.get_mut(&number).unwrap();
        pull.head_oid = "fe".into();
        pull.title = "Count words".to_owned();
        scenario.pull_files.insert(number, files);
        let (labels, comments, _) = settle(&mut scenario);
        assert_eq!(labels.first().map(String::as_str), label);
        let [comment] = &comments[..] else {
            panic!("{comments:?}");
        };
        assert!(comment.contains(reason), "{comment}");
        assert_eq!(comment.contains("closes it"), label.is_none(), "{comment}");
        scenario.hours(30);
        let (labels, comments, closings) = settle(&mut scenario);
        assert!(labels.is_empty() && comments.is_empty());
        assert_eq!(closings, usize::from(label.is_none()));
    }
}

#[test]
fn a_closing_that_the_plan_does_not_want_any_more_is_taken_back_once() {
    let (mut scenario, number) = twins("close");
    let (_, comments, _) = settle(&mut scenario);
    assert!(comments[0].contains("closes it"), "{comments:?}");
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("\"close\"", "\"label\"");
    scenario.hours(1);
    let (labels, comments, _) = settle(&mut scenario);
    let [comment] = &comments[..] else {
        panic!("{comments:?}");
    };
    assert!(comment.contains("does the same as #1"), "{comment}");
    assert!(!comment.contains("closes it") && labels.is_empty());
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("\"label\"", "\"close\"");
    scenario.hours(48);
    assert_eq!(settle(&mut scenario), (vec![], vec![], 0));
    assert_eq!(scenario.pulls[&number].state, PullState::Open);
}

/// A plan that says `close` later closes nothing without notice.
#[test]
fn what_was_labelled_before_is_not_closed() {
    let (mut scenario, _) = twins("label");
    settle(&mut scenario);
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("\"label\"", "\"close\"");
    scenario.hours(48);
    assert_eq!(settle(&mut scenario).2, 0);
}
