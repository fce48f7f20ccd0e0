//! Tests decided effects that never happened, and missing answers: nothing is forgotten, nothing is guessed.

use jiff::SignedDuration;
use phileas_domain::engine::{Effect, Ledger, Outage, PullState, Reason, RunRequest, SessionState};
use phileas_domain::model::RepositoryId;
use phileas_domain::state::segment::rotate;
use phileas_domain::state::{Outcome, Pause};

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";
const MERGED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"merged\"\n";

#[test]
fn a_second_pull_request_of_a_session_does_not_stop_the_turn() {
    let mut scenario = Scenario::new(MERGED, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.minutes(5);
    let second = scenario.opens_pull();
    scenario.tick();
    scenario.minutes(5);
    scenario.merge(second);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Merged));
    assert_eq!(scenario.state().history[&0].pr_number, Some(second));
}

#[test]
fn the_pull_request_of_a_deleted_session_is_followed() {
    let mut scenario = Scenario::new(MERGED, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.hours(1);
    scenario.sessions.clear();
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::PrOpen]);
    scenario.merge(pull);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn a_turn_that_waits_for_a_merge_leaves_its_place_to_others() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[budget]\nmax_active = 1\n[defaults]\nadvance_on = \"merged\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(
        scenario.sessions.len(),
        2,
        "the first one's session has ended"
    );
}

#[test]
fn an_archiving_that_never_happened_is_made_up_for() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.becomes(SessionState::InProgress);
    scenario.lost = vec!["archive_session"];
    scenario.cancel_first();
    scenario.minutes(5);
    scenario.push();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
    assert!(!scenario.sessions[0].archived);
    scenario.lost.clear();
    scenario.minutes(5);
    scenario.tick();
    assert!(scenario.sessions[0].archived);
    // A person who restores it days later wants it to work.
    scenario.sessions[0].archived = false;
    scenario.hours(48);
    scenario.push();
    scenario.tick();
    assert!(!scenario.sessions[0].archived);
}

#[test]
fn a_pull_request_that_was_not_pointed_at_the_default_branch_is_pointed_at_it_later() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nbranch = \"persona\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.lost = vec!["retarget_pull"];
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    let start = scenario.effects.iter().find_map(|effect| match effect {
        Effect::CreateSession(create) => Some(create.branch.clone()),
        _ => None,
    });
    scenario.pulls.get_mut(&pull).unwrap().base = start.unwrap();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
    assert_ne!(scenario.pulls[&pull].base, "main".into());
    let again = |effect: &Effect| matches!(effect, Effect::RetargetPull { .. });
    scenario.minutes(5);
    scenario.tick();
    assert!(!scenario.effects.iter().any(again), "it may still show");
    scenario.lost.clear();
    scenario.minutes(10);
    scenario.tick();
    assert_eq!(scenario.pulls[&pull].base, "main".into());
    scenario.minutes(15);
    scenario.tick();
    assert!(!scenario.effects.iter().any(again));
}

/// GitHub may refuse it, and endless attempts are useless.
#[test]
fn a_pull_request_that_cannot_be_pointed_elsewhere_is_left_after_three_times() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.pulls.get_mut(&pull).unwrap().base = "phileas/default/a-1".into();
    scenario.lost = vec!["retarget_pull"];
    let mut asked = 0;
    for _ in 0..8 {
        scenario.minutes(15);
        scenario.tick();
        let moves = |effect: &&Effect| matches!(effect, Effect::RetargetPull { .. });
        asked += scenario.effects.iter().filter(moves).count();
    }
    assert_eq!(asked, 3);
}

#[test]
fn a_pull_request_that_is_merged_after_its_entry_was_archived_is_learned() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.close(pull);
    scenario.hours(2);
    scenario.push();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Rejected));
    let mut state = scenario.state().clone();
    assert_eq!(rotate(&mut state, None, 1, 1).len(), 1);
    scenario.set_state(state);
    scenario.minutes(5);
    scenario.tick();
    let known = |scenario: &Scenario| scenario.state().amendments[&0].outcome.clone();
    assert_eq!(known(&scenario), Some(Outcome::Rejected));
    scenario.merge(pull);
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(known(&scenario), Some(Outcome::Merged));
    let finished_at = scenario.state().amendments[&0].finished_at;
    assert_eq!(
        finished_at,
        Some(scenario.now),
        "when it was merged, not closed"
    );
    assert!(scenario.all_reasons().contains(&Reason::PullSettled));
    scenario.minutes(5);
    scenario.tick();
    assert!(
        !scenario.all_reasons().contains(&Reason::PullSettled),
        "said once"
    );
}

#[test]
fn a_notice_that_was_never_opened_is_opened_later() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.lost = vec!["open_notice"];
    scenario.minutes(5);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    scenario.lost.clear();
    scenario.hours(5);
    scenario.tick();
    assert_eq!(scenario.notices.len(), 0, "not at each look");
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.notices.len(), 1);
    scenario.hours(30);
    scenario.tick();
    assert_eq!(scenario.notices.len(), 1, "one issue is enough");
}

#[test]
fn an_answer_that_is_never_delivered_opens_a_notice() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.lost = vec!["send_message"];
    scenario.minutes(5);
    scenario.becomes(SessionState::AwaitingUserFeedback);
    let mut sent = 0;
    for _ in 0..40 {
        scenario.tick();
        let messages = |effect: &&Effect| matches!(effect, Effect::SendMessage { .. });
        sent += scenario.effects.iter().filter(messages).count();
        scenario.minutes(10);
    }
    assert!((2..=10).contains(&sent), "it was tried {sent} times");
    assert_eq!(scenario.reasons("default"), [Reason::PersonAnswer]);
    assert_eq!(scenario.notices.len(), 1);
}

#[test]
fn a_ledger_is_not_born_where_the_list_cannot_be_read_to_its_end() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.listings_reach = Some(SignedDuration::from_hours(24));
    for _ in 0..3 {
        scenario.listings = 0;
        scenario.tick();
        assert_eq!(scenario.all_reasons(), [Reason::LedgerUnproven]);
        assert_eq!(
            scenario.listings, 1,
            "what cannot be had is not asked for again"
        );
        scenario.hours(1);
    }
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (0, 1));
    scenario.set_state(phileas_domain::state::State::default());
    scenario.tick();
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (1, 0));
}

#[test]
fn hidden_prompts_do_not_hide_a_lost_ledger() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.prompts_hidden = true;
    scenario.tick();
    scenario.hours(1);
    let before = scenario.ledger.clone();
    scenario.opens_pull();
    scenario.tick();
    scenario.hours(1);
    scenario.ledger = Ledger::Missing { head: None };
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
    scenario.ledger = before;
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!(scenario.sessions.len(), 2);
}

#[test]
fn a_ledger_that_was_put_back_by_days_is_found_out() {
    let plan = "[schedules]\na = \"0 0 * * 1\"\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    let week = SignedDuration::from_hours(24 * 7);
    let mut ledgers = Vec::new();
    for _ in 0..3 {
        scenario.pass(week);
        scenario.tick();
        scenario.minutes(5);
        let pull = scenario.opens_pull();
        scenario.tick();
        scenario.close(pull);
        scenario.tick();
        ledgers.push(scenario.ledger.clone());
    }
    assert_eq!(scenario.sessions.len(), 3);
    scenario.ledger = ledgers[1].clone();
    scenario.pass(week);
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!(scenario.sessions.len(), 3);
}

#[test]
fn a_session_with_the_marker_never_counts_as_absent() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Lost;
    scenario.tick();
    let session = scenario.sessions.last_mut().unwrap();
    let prompt = session.prompt.clone().unwrap();
    session.prompt = Some(format!("Be kind.\n{prompt}"));
    scenario.answering = Answering::Session;
    for _ in 0..6 {
        scenario.minutes(20);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 1);
    assert_eq!(scenario.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(scenario.notices.len(), 1);
    // With whitespace normalized, it is the same prompt.
    let tidied = format!("{}\r\n", prompt.replace('\n', "\r\n"));
    scenario.sessions.last_mut().unwrap().prompt = Some(tidied);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
}

#[test]
fn a_copy_with_all_branches_is_left_alone() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    let mut state = scenario.state().clone();
    state.genesis.as_mut().unwrap().repository_id = RepositoryId(7);
    for track in state.tracks.values_mut() {
        track.turns.clear();
    }
    scenario.set_state(state);
    scenario.sessions.clear();
    for _ in 0..3 {
        scenario.hours(1);
        scenario.tick();
        assert_eq!(scenario.all_reasons(), [Reason::LedgerForeign]);
    }
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (0, 1));
}

#[test]
fn a_key_that_may_list_but_not_start_does_not_count_as_refused() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Denied;
    for _ in 0..20 {
        scenario.tick();
        assert!(scenario.notices.len() <= 1);
        scenario.minutes(20);
    }
    assert_eq!(scenario.notices.len(), 1);
    assert!(
        scenario.notices[0].key.starts_with("turn:"),
        "{:?}",
        scenario.notices
    );
    assert_eq!(scenario.reasons("default"), [Reason::RetryPause]);
}

#[test]
fn a_paused_track_makes_no_further_attempt() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::Failed);
    let mut state = scenario.state().clone();
    state.tracks.get_mut("default").unwrap().paused = Some(Pause::default());
    scenario.set_state(state);
    for _ in 0..3 {
        scenario.minutes(30);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 1);
    assert_eq!(scenario.reasons("default"), [Reason::PausedTrack]);
}

#[test]
fn asking_for_one_track_starts_nothing_of_another() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nretry = 1\nskip_unchanged = false\n[budget]\nmax_active = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.ask = RunRequest::Track("one".into());
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::Failed);
    scenario.ask = RunRequest::Track("two".into());
    scenario.tick();
    scenario.minutes(5);
    scenario.tick();
    let tracks: Vec<_> = scenario
        .state()
        .tracks
        .iter()
        .map(|(name, track)| (name.as_str(), track.seq))
        .collect();
    assert_eq!(tracks, [("one", 1), ("two", 1)]);
    assert_eq!(scenario.sessions.len(), 2);
    assert!(
        scenario.sessions[1].title.contains("b"),
        "{}",
        scenario.sessions[1].title
    );
}

#[test]
fn the_number_of_a_request_is_never_given_twice() {
    let mut scenario = Scenario::new("", &["a"]);
    let mut numbers = Vec::new();
    for _ in 0..3 {
        scenario.ask = RunRequest::Persona("a".into());
        scenario.tick();
        scenario.ask = RunRequest::Due;
        scenario.minutes(5);
        let pull = scenario.opens_pull();
        scenario.tick();
        scenario.pulls.get_mut(&pull).unwrap().state = PullState::Closed;
        scenario.tick();
        numbers.push(
            scenario
                .state()
                .requests
                .values()
                .filter_map(|one| one.number)
                .max()
                .unwrap(),
        );
        // Even an archived history does not bring a number back.
        let mut state = scenario.state().clone();
        let last = state.next_history_key() - 1;
        state.history = state.history.split_off(&last);
        state.history.get_mut(&last).unwrap().track = Some("default".into());
        scenario.pass(SignedDuration::from_hours(24 * 40));
        scenario.tick();
    }
    assert_eq!(numbers, [1, 2, 3]);
    assert!(scenario.state().requests.len() <= 2);
}

#[test]
fn a_spent_key_is_never_left_alone_for_longer_than_a_day() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::QuotaUntil("2026-03-01T00:00:00Z".parse().unwrap());
    scenario.tick();
    let until = scenario.state().budget.paused_until.unwrap();
    assert_eq!(
        until.duration_since(scenario.now),
        SignedDuration::from_hours(24)
    );
}

#[test]
fn while_paused_every_track_and_schedule_says_by_what() {
    let plan = "cycle = [\"a\"]\n[schedules]\nb = \"0 0 * * *\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::PausedVariable]);
    assert_eq!(scenario.reasons("schedule:b"), [Reason::PausedVariable]);
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    let refused = scenario.lines.iter().filter(|line| line.persona.is_some());
    assert_eq!(
        refused.map(|line| line.reason).collect::<Vec<_>>(),
        [Reason::PausedVariable]
    );
}

#[test]
fn a_cancelled_turn_leaves_its_place_although_its_session_is_archived_already() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.cancel_first();
    scenario.sessions[0].archived = true;
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
}

#[test]
fn a_session_that_cannot_be_read_holds_up_its_own_track_alone() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    for index in 0..2 {
        scenario.sessions[index].state = SessionState::Failed;
    }
    let id = scenario.sessions[0].id.clone();
    let retry_at = scenario.now + SignedDuration::from_mins(7);
    let outage = Outage {
        detail: "the answer is larger than 9 bytes".to_owned(),
        retry_at: Some(retry_at),
        credential: true,
    };
    scenario.unread.insert(id.clone(), outage);
    scenario.tick();
    assert_eq!(scenario.reasons("one"), [Reason::SessionUnread]);
    let line = scenario
        .lines
        .iter()
        .find(|line| line.session_id.as_ref() == Some(&id));
    let line = line.unwrap();
    assert!(
        line.detail.contains("larger than 9 bytes"),
        "{}",
        line.detail
    );
    assert_eq!(line.until, Some(retry_at));
    assert_eq!(scenario.outcomes(), [None, Some(Outcome::Failed)]);
    assert!(
        scenario.notices.is_empty(),
        "the key is not refused: {:?}",
        scenario.notices
    );

    scenario.unread.clear();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Failed));
}

#[test]
fn a_turn_that_is_cancelled_while_jules_does_not_answer_ends_when_its_session_can_be_stopped() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.becomes(SessionState::InProgress);
    scenario.cancel_first();
    scenario.listing_works = false;
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [None]);
    assert!(scenario.effects.is_empty(), "{:?}", scenario.effects);
    scenario.listing_works = true;
    scenario.hours(5);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
    assert!(scenario.sessions[0].archived);
}
