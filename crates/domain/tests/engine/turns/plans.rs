//! Tests that the plans of sessions are judged: one that repeats a pull request is turned down once.

use jiff::SignedDuration;
use phileas_domain::engine::{ActivityKind, Effect, Outage, Reason, SessionState, Verdict};
use phileas_domain::model::{PullNumber, SessionId};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;
use crate::support::subjects::new_file;

const SAME: (&str, &str) = ("Escape quotes in attributes", "Change `src/render.rs`.");
const OTHER: (&str, &str) = ("Count words", "Change `src/count.rs`.");

fn scenario(settings: &str) -> Scenario {
    let plan = format!(
        "cycle = [\"a\", \"b\"]\n[budget]\nmax_open_pulls = 9\n[defaults]\nretry = 1\n{settings}"
    );
    let mut scenario = Scenario::new(&plan, &["a", "b"]);
    scenario.writer("ada");
    scenario
}

/// The first session has opened a pull request, and it is recorded; the second session is planning.
fn with_work(settings: &str) -> Scenario {
    let mut scenario = scenario(settings);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.pulls.get_mut(&number).unwrap().title = "Escape quotes in attributes".to_owned();
    scenario
        .pull_files
        .insert(number, vec![new_file("src/render.rs", 12)]);
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(1);
    }
    assert_eq!((number, scenario.sessions.len()), (PullNumber(1), 2));
    scenario
}

const JUDGED: &str = "[novelty]\nplan = true\n";

/// The newest session has made this plan.
fn plans(scenario: &mut Scenario, step: (&str, &str)) -> SessionId {
    let session = scenario.sessions.last_mut().unwrap();
    session.state = SessionState::AwaitingPlanApproval;
    session.updated_at = Some(scenario.now);
    let id = session.id.clone();
    scenario.plans(&id, &[("Read the code", ""), step]);
    id
}

fn approves(scenario: &Scenario) -> bool {
    let mut effects = scenario.effects.iter();
    effects.any(|effect| matches!(effect, Effect::ApprovePlan { .. }))
}

fn archives(scenario: &Scenario, id: &SessionId) -> bool {
    let is_archiving =
        |effect: &Effect| matches!(effect, Effect::ArchiveSession { session } if session == id);
    scenario.effects.iter().any(is_archiving)
}

/// What the newest message says.
fn message(scenario: &Scenario) -> &str {
    let mut texts = scenario.effects.iter().filter_map(|effect| match effect {
        Effect::SendMessage { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.next_back().unwrap()
}

#[test]
fn a_plan_that_repeats_open_work_is_turned_down_once_and_another_one_is_approved() {
    let mut scenario = with_work(JUDGED);
    let id = plans(&mut scenario, SAME);
    scenario.tick();
    assert!(!approves(&scenario));
    assert_eq!(scenario.sending(), 1);
    let text = message(&scenario);
    assert!(
        text.contains("it does the same as pull request #1, which is open."),
        "{text}"
    );
    let (verdict, reason, _) = scenario.line_facts("default");
    assert_eq!((verdict, reason), (Verdict::Waiting, Reason::PlanRepeats));
    // The state lags behind the message.
    for _ in 0..10 {
        scenario.tick_after(60);
        assert!(!approves(&scenario) && scenario.sending() == 0);
        assert_eq!(scenario.reasons("default"), [Reason::PlanRepeats]);
    }
    scenario.minutes(1);
    plans(&mut scenario, OTHER);
    scenario.tick();
    assert!(approves(&scenario));
    assert_eq!(scenario.messages_to(&id).len(), 1);
}

#[test]
fn a_second_plan_that_repeats_work_ends_the_turn() {
    let mut scenario = with_work(JUDGED);
    let id = plans(&mut scenario, SAME);
    scenario.tick();
    scenario.minutes(1);
    plans(&mut scenario, SAME);
    // The process may die before it archives the session.
    scenario.lost = vec!["archive_session"];
    scenario.tick();
    assert!(archives(&scenario, &id) && !approves(&scenario));
    assert_eq!(scenario.outcomes()[1], Some(Outcome::Repeated));
    assert_eq!(
        scenario.notes(),
        [
            "its plan does the same as pull request #1, which is open, also after it was asked for another task"
        ]
    );
    scenario.lost.clear();
    scenario.tick_after(60);
    assert!(archives(&scenario, &id));
    assert_eq!(scenario.messages_to(&id).len(), 1);
}

#[test]
fn a_plan_that_repeats_merged_work_is_turned_down_while_that_counts() {
    for (count_merged, hours, is_twin) in [("12h", 6, true), ("12h", 13, false), ("0", 6, false)] {
        let mut scenario = with_work(&format!("{JUDGED}count_merged = \"{count_merged}\"\n"));
        scenario.merge(PullNumber(1));
        for _ in 0..3 {
            scenario.tick();
            scenario.minutes(1);
        }
        scenario.hours(hours);
        plans(&mut scenario, SAME);
        scenario.tick();
        assert_eq!(approves(&scenario), !is_twin, "{count_merged} {hours}");
        assert_eq!(scenario.sending(), usize::from(is_twin));
        if is_twin {
            let text = message(&scenario);
            assert!(
                text.contains("pull request #1, which was merged."),
                "{text}"
            );
        }
    }
}

/// A tick that starts a session leaves the record of a merge to the next one, which may see a plan first.
#[test]
fn a_merge_that_is_not_recorded_yet_counts() {
    let mut scenario = with_work(&format!("{JUDGED}count_merged = \"12h\"\n"));
    scenario.merge(PullNumber(1));
    plans(&mut scenario, SAME);
    scenario.tick();
    assert!(!approves(&scenario));
    let text = message(&scenario);
    assert!(
        text.contains("pull request #1, which was merged."),
        "{text}"
    );
    assert!(
        text.contains("no open, refused or merged pull request"),
        "{text}"
    );
}

#[test]
fn without_the_key_or_with_the_mode_off_plans_need_no_approval() {
    for settings in ["", "[novelty]\nplan = true\nmode = \"off\"\n"] {
        let mut scenario = scenario(settings);
        scenario.tick();
        assert!(!scenario.created_sessions()[0].require_plan_approval);
    }
    let mut scenario = scenario(JUDGED);
    scenario.tick();
    assert!(scenario.created_sessions()[0].require_plan_approval);
}

#[test]
fn a_session_that_opens_no_pull_request_is_not_judged() {
    let mut scenario = scenario(&format!("automation = \"none\"\n{JUDGED}"));
    scenario.tick();
    assert!(!scenario.created_sessions()[0].require_plan_approval);
}

#[test]
fn other_plans_and_those_that_cannot_be_read_are_approved() {
    for step in [OTHER, ("Escape quotes in attributes", ""), ("", "")] {
        let mut scenario = with_work(JUDGED);
        plans(&mut scenario, step);
        scenario.tick();
        assert!(approves(&scenario), "{step:?}");
        assert_eq!(
            scenario.turn("default").approved_plan.as_deref(),
            Some("a0")
        );
        assert!(scenario.turn("default").repeated_plan.is_none());
    }
    let mut scenario = with_work(JUDGED);
    let id = plans(&mut scenario, SAME);
    scenario.activities.remove(&id);
    scenario.tick();
    assert!(approves(&scenario));
}

/// Jules may show an approval late.
#[test]
fn an_approved_plan_is_not_turned_down_for_a_pull_request_that_comes_later() {
    let mut scenario = scenario(JUDGED);
    scenario.tick();
    let id = plans(&mut scenario, SAME);
    scenario.lost = vec!["approve_plan"];
    scenario.tick();
    assert!(approves(&scenario));
    // A session that a person started.
    scenario.minutes(1);
    let number = scenario.opens_pull();
    scenario.sessions[0].pulls.clear();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.title = "Escape quotes in attributes".to_owned();
    pull.bot_id = Some(phileas_domain::work::JULES_BOT_ID);
    pull.head = "other".into();
    scenario
        .pull_files
        .insert(number, vec![new_file("src/render.rs", 12)]);
    scenario.sessions[0].state = SessionState::AwaitingPlanApproval;
    for _ in 0..3 {
        scenario.tick_after(60);
        assert!(approves(&scenario));
        assert_eq!(scenario.messages_to(&id), [""; 0]);
    }
    scenario.seconds(1);
    plans(&mut scenario, SAME);
    scenario.tick();
    assert_eq!(scenario.messages_to(&id).len(), 1);
}

#[test]
fn merged_closed_and_reopened_work_may_be_planned_again() {
    for is_merged in [true, false] {
        let mut scenario = with_work(JUDGED);
        match is_merged {
            true => scenario.merge(PullNumber(1)),
            false => scenario.close(PullNumber(1)),
        }
        plans(&mut scenario, SAME);
        scenario.tick();
        assert!(approves(&scenario), "merged: {is_merged}");
    }
}

#[test]
fn refused_work_is_turned_down_where_the_reason_rules_it_out() {
    for (reason, is_turned_down) in [
        ("out-of-scope", true),
        ("too-large", false),
        ("too-large never", true),
        ("duplicate", false),
    ] {
        let mut scenario = with_work(JUDGED);
        scenario.pull_subject(1, true);
        scenario.writes(1, &format!("/phileas refuse {reason}"), "ada");
        for _ in 0..3 {
            scenario.tick_after(60);
        }
        plans(&mut scenario, SAME);
        scenario.tick();
        assert_eq!(approves(&scenario), !is_turned_down, "{reason}");
        if is_turned_down {
            let word = reason.split(' ').next().unwrap();
            let text = message(&scenario);
            assert!(
                text.contains(&format!("#1, which was refused ({word}).")),
                "{text}"
            );
        }
    }
}

#[test]
fn requests_and_further_attempts_are_not_judged() {
    let mut scenario = with_work(JUDGED);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    let [create] = scenario.created_sessions()[..] else {
        panic!("{:?}", scenario.effects);
    };
    assert_eq!(create.marker.attempt, 2);
    assert!(!create.require_plan_approval);

    let mut scenario = with_work(JUDGED);
    scenario.persona("b", "plan_approval: auto");
    scenario.issue(70, "Escape quotes", "Please.");
    scenario.label(70, "b", "ada");
    scenario.opens_pull();
    scenario.tick();
    let requested: Vec<_> = scenario.created_sessions();
    let requested = requested
        .iter()
        .find(|create| create.track.as_str().starts_with("request:"));
    assert!(!requested.unwrap().require_plan_approval);
}

#[test]
fn a_person_who_approves_or_writes_to_the_session_comes_first() {
    // In Jules itself.
    let mut scenario = with_work(JUDGED);
    let id = plans(&mut scenario, SAME);
    let now = scenario.now;
    scenario.add_activity(&id, now, ActivityKind::PlanApproved);
    scenario.tick();
    assert!(!approves(&scenario) && scenario.sending() == 0);
    // By a message, after phileas turned the plan down.
    for text in [
        "Do it.",
        "Do it.\n\nphileas-message: t.1/person-7",
        "You wrote:\n> Plan another task.\n> phileas-message: t.1/plan\nbut do it.",
    ] {
        let mut scenario = with_work(JUDGED);
        let id = plans(&mut scenario, SAME);
        scenario.tick();
        scenario.seconds(5);
        let now = scenario.now;
        scenario.add_activity(&id, now, ActivityKind::UserMessaged(text.to_owned()));
        plans(&mut scenario, SAME);
        scenario.tick();
        assert!(approves(&scenario), "{text}");
        assert_eq!(scenario.outcomes()[1], None);
    }
}

#[test]
fn a_message_that_was_lost_is_sent_again_and_given_up_in_the_end() {
    let mut scenario = with_work(JUDGED);
    let id = plans(&mut scenario, SAME);
    scenario.lost = vec!["send_message"];
    scenario.tick();
    scenario.lost.clear();
    scenario.tick_after(15 * 60 - 1);
    assert_eq!(scenario.sending(), 0);
    scenario.tick_after(1);
    assert_eq!(
        (scenario.sending(), scenario.messages_to(&id).len()),
        (1, 1)
    );

    let mut scenario = with_work(JUDGED);
    plans(&mut scenario, SAME);
    scenario.lost = vec!["send_message"];
    for count in 1..=7 {
        scenario.tick();
        assert_eq!(scenario.sending(), 1, "the {count}. time");
        assert!(!approves(&scenario));
        scenario.minutes(15);
    }
    scenario.tick();
    assert!(approves(&scenario));
}

/// A tick that starts a session leaves the record of the one before it to the next tick, which sees the plan.
#[test]
fn a_pull_request_without_a_record_counts() {
    let mut scenario = scenario(JUDGED);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.pulls.get_mut(&number).unwrap().title = "Escape quotes in attributes".to_owned();
    scenario
        .pull_files
        .insert(number, vec![new_file("src/render.rs", 12)]);
    scenario.tick();
    assert!(scenario.exchange.text(".jules/work/hot.json").is_none());
    scenario.minutes(1);
    plans(&mut scenario, SAME);
    scenario.tick();
    assert_eq!(scenario.sending(), 1);
    assert!(message(&scenario).contains("pull request #1, which is open"));
}

/// The plan that waits when the message is repeated may be another one.
#[test]
fn a_lost_message_is_not_sent_for_another_plan() {
    let mut scenario = with_work(JUDGED);
    plans(&mut scenario, SAME);
    scenario.lost = vec!["send_message"];
    scenario.tick();
    scenario.lost.clear();
    scenario.minutes(15);
    plans(&mut scenario, OTHER);
    scenario.tick();
    assert!(approves(&scenario));
}

#[test]
fn a_session_that_makes_no_other_plan_is_given_up_as_stuck() {
    let mut scenario = with_work(JUDGED);
    let id = plans(&mut scenario, SAME);
    scenario.tick();
    scenario.hours(48);
    scenario.tick();
    assert!(archives(&scenario, &id));
    assert_eq!(scenario.outcomes()[1], Some(Outcome::Stuck));
}

#[test]
fn where_a_person_approves_plans_the_notice_says_what_a_plan_repeats() {
    for word in ["writers", "never"] {
        let mut scenario = with_work(&format!("plan_approval = \"{word}\"\n{JUDGED}"));
        plans(&mut scenario, SAME);
        scenario.tick();
        assert!(!approves(&scenario) && scenario.sending() == 0);
        let bodies: Vec<&str> = scenario
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::OpenNotice { body, .. } => Some(body.as_str()),
                _ => None,
            })
            .collect();
        let [body] = bodies[..] else {
            panic!("{bodies:?}");
        };
        assert!(
            body.contains(
                "This plan does the same as pull request #1, which is open.\n\nThe plan of"
            ),
            "{body}"
        );
        for _ in 0..2 {
            let line = scenario.line("default");
            assert_eq!(line.reason, Reason::PlanApproval);
            assert!(
                line.detail
                    .ends_with("; it does the same as pull request #1, which is open"),
                "{}",
                line.detail
            );
            scenario.tick_after(60);
            assert_eq!(scenario.effects, []);
        }
    }
}

#[test]
fn records_that_cannot_be_read_hold_back_no_plan() {
    let mut scenario = with_work(JUDGED);
    let broken = scenario.exchange.text(".jules/work/hot.json").is_some();
    assert!(broken);
    scenario
        .exchange
        .insert_text(".jules/work/hot.json", "no records");
    plans(&mut scenario, SAME);
    scenario.tick();
    assert!(approves(&scenario));
}

#[test]
fn activities_that_cannot_be_read_are_waited_for() {
    let mut scenario = with_work(JUDGED);
    let id = plans(&mut scenario, SAME);
    let outage = Outage {
        credential: false,
        detail: "503".to_owned(),
        retry_at: scenario.now.checked_add(SignedDuration::from_mins(5)).ok(),
    };
    scenario.unread.insert(id.clone(), outage);
    scenario.tick();
    assert!(!approves(&scenario) && scenario.sending() == 0);
    scenario.unread.clear();
    scenario.tick_after(60);
    assert_eq!(scenario.sending(), 1);
}
