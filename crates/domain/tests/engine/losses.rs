//! What was decided and never happened, and what the outside withholds: nothing is forgotten, nothing guessed.

use jiff::SignedDuration;
use phileas_domain::engine::{Ask, Effect, Ledger, Outage, PullState, Reason, SessionState};
use phileas_domain::model::RepositoryId;
use phileas_domain::state::segment::rotate;
use phileas_domain::state::{Outcome, Pause};

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";
const MERGED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"merged\"\n";

#[test]
fn a_second_pull_request_of_a_session_does_not_stop_the_turn() {
    let mut desk = Desk::new(MERGED, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.minutes(5);
    let second = desk.opens_pull();
    desk.tick();
    desk.minutes(5);
    desk.merge(second);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Merged));
    assert_eq!(desk.state().history[&0].pr_number, Some(second));
}

#[test]
fn the_pull_request_of_a_deleted_session_is_followed() {
    let mut desk = Desk::new(MERGED, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    desk.hours(1);
    desk.sessions.clear();
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::PrOpen]);
    desk.merge(pull);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn a_turn_that_waits_for_a_merge_leaves_its_place_to_others() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[budget]\nmax_active = 1\n[defaults]\nadvance_on = \"merged\"\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.sessions.len(), 2, "the first one's session has ended");
}

#[test]
fn an_archiving_that_never_happened_is_made_up_for() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.becomes(SessionState::InProgress);
    desk.lost = vec!["archive_session"];
    desk.cancel_first();
    desk.minutes(5);
    desk.push();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Cancelled));
    assert!(!desk.sessions[0].archived);
    desk.lost.clear();
    desk.minutes(5);
    desk.tick();
    assert!(desk.sessions[0].archived);
    // Whoever takes it out of the archive days later wants it to work.
    desk.sessions[0].archived = false;
    desk.hours(48);
    desk.push();
    desk.tick();
    assert!(!desk.sessions[0].archived);
}

#[test]
fn a_pull_request_that_was_not_pointed_at_the_default_branch_is_pointed_at_it_later() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nbranch = \"persona\"\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.lost = vec!["retarget_pull"];
    desk.minutes(5);
    let pull = desk.opens_pull();
    let start = desk.effects.iter().find_map(|effect| match effect {
        Effect::CreateSession(create) => Some(create.branch.clone()),
        _ => None,
    });
    desk.pulls.get_mut(&pull).unwrap().base = start.unwrap();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
    assert_ne!(desk.pulls[&pull].base, "main".into());
    let again = |effect: &Effect| matches!(effect, Effect::RetargetPull { .. });
    desk.minutes(5);
    desk.tick();
    assert!(!desk.effects.iter().any(again), "it may still show");
    desk.lost.clear();
    desk.minutes(10);
    desk.tick();
    assert_eq!(desk.pulls[&pull].base, "main".into());
    desk.minutes(15);
    desk.tick();
    assert!(!desk.effects.iter().any(again));
}

/// GitHub may refuse it, and nobody is served by asking for ever.
#[test]
fn a_pull_request_that_cannot_be_pointed_elsewhere_is_left_after_three_times() {
    let mut desk = Desk::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    desk.pulls.get_mut(&pull).unwrap().base = "phileas/default/a-1".into();
    desk.lost = vec!["retarget_pull"];
    let mut asked = 0;
    for _ in 0..8 {
        desk.minutes(15);
        desk.tick();
        let moves = |effect: &&Effect| matches!(effect, Effect::RetargetPull { .. });
        asked += desk.effects.iter().filter(moves).count();
    }
    assert_eq!(asked, 3);
}

#[test]
fn a_pull_request_that_is_merged_after_its_entry_was_archived_is_learned() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    desk.close(pull);
    desk.hours(2);
    desk.push();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Rejected));
    let mut state = desk.state().clone();
    assert_eq!(rotate(&mut state, 1).len(), 1);
    desk.set_state(state);
    desk.minutes(5);
    desk.tick();
    let known = |desk: &Desk| desk.state().amendments[&0].outcome.clone();
    assert_eq!(known(&desk), Some(Outcome::Rejected));
    desk.merge(pull);
    desk.minutes(5);
    desk.tick();
    assert_eq!(known(&desk), Some(Outcome::Merged));
    let finished_at = desk.state().amendments[&0].finished_at;
    assert_eq!(
        finished_at,
        Some(desk.now),
        "when it was merged, not closed"
    );
    assert!(desk.all_reasons().contains(&Reason::PullSettled));
    desk.minutes(5);
    desk.tick();
    assert!(
        !desk.all_reasons().contains(&Reason::PullSettled),
        "said once"
    );
}

#[test]
fn a_person_who_was_never_called_is_called_later() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.lost = vec!["open_notice"];
    desk.minutes(5);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    desk.lost.clear();
    desk.hours(5);
    desk.tick();
    assert_eq!(desk.notices.len(), 0, "not at each look");
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.notices.len(), 1);
    desk.hours(30);
    desk.tick();
    assert_eq!(desk.notices.len(), 1, "one issue is enough");
}

#[test]
fn an_answer_that_never_arrives_calls_a_person() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.lost = vec!["send_message"];
    desk.minutes(5);
    desk.becomes(SessionState::AwaitingUserFeedback);
    let mut sent = 0;
    for _ in 0..40 {
        desk.tick();
        let messages = |effect: &&Effect| matches!(effect, Effect::SendMessage { .. });
        sent += desk.effects.iter().filter(messages).count();
        desk.minutes(10);
    }
    assert!((2..=10).contains(&sent), "it was tried {sent} times");
    assert_eq!(desk.reasons("default"), [Reason::PersonAnswer]);
    assert_eq!(desk.notices.len(), 1);
}

#[test]
fn a_ledger_is_not_born_where_the_list_cannot_be_read_to_its_end() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.listings_reach = Some(SignedDuration::from_hours(24));
    for _ in 0..3 {
        desk.listings = 0;
        desk.tick();
        assert_eq!(desk.all_reasons(), [Reason::LedgerUnproven]);
        assert_eq!(
            desk.listings, 1,
            "what cannot be had is not asked for again"
        );
        desk.hours(1);
    }
    assert_eq!((desk.sessions.len(), desk.notices.len()), (0, 1));
    desk.set_state(phileas_domain::state::State::default());
    desk.tick();
    assert_eq!((desk.sessions.len(), desk.notices.len()), (1, 0));
}

#[test]
fn hidden_prompts_do_not_hide_a_lost_ledger() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.prompts_hidden = true;
    desk.tick();
    desk.hours(1);
    let before = desk.ledger.clone();
    desk.opens_pull();
    desk.tick();
    desk.hours(1);
    desk.ledger = Ledger::Missing { head: None };
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
    desk.ledger = before;
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!(desk.sessions.len(), 2);
}

#[test]
fn a_ledger_that_was_put_back_by_days_is_found_out() {
    let plan = "[schedules]\na = \"0 0 * * 1\"\n[defaults]\nskip_unchanged = false\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    let week = SignedDuration::from_hours(24 * 7);
    let mut ledgers = Vec::new();
    for _ in 0..3 {
        desk.pass(week);
        desk.tick();
        desk.minutes(5);
        let pull = desk.opens_pull();
        desk.tick();
        desk.close(pull);
        desk.tick();
        ledgers.push(desk.ledger.clone());
    }
    assert_eq!(desk.sessions.len(), 3);
    desk.ledger = ledgers[1].clone();
    desk.pass(week);
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!(desk.sessions.len(), 3);
}

#[test]
fn a_session_that_bears_the_marker_is_never_called_absent() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Lost;
    desk.tick();
    let session = desk.sessions.last_mut().unwrap();
    let prompt = session.prompt.clone().unwrap();
    session.prompt = Some(format!("Be kind.\n{prompt}"));
    desk.answering = Answering::Session;
    for _ in 0..6 {
        desk.minutes(20);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 1);
    assert_eq!(desk.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(desk.notices.len(), 1);
    // Tidied by whoever stores it, it is the same prompt.
    let tidied = format!("{}\r\n", prompt.replace('\n', "\r\n"));
    desk.sessions.last_mut().unwrap().prompt = Some(tidied);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
}

#[test]
fn a_copy_with_all_branches_is_left_alone() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    let mut state = desk.state().clone();
    state.genesis.as_mut().unwrap().repository_id = RepositoryId(7);
    for track in state.tracks.values_mut() {
        track.turns.clear();
    }
    desk.set_state(state);
    desk.sessions.clear();
    for _ in 0..3 {
        desk.hours(1);
        desk.tick();
        assert_eq!(desk.all_reasons(), [Reason::LedgerForeign]);
    }
    assert_eq!((desk.sessions.len(), desk.notices.len()), (0, 1));
}

#[test]
fn a_key_that_may_list_and_not_start_is_not_called_refused() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Denied;
    for _ in 0..20 {
        desk.tick();
        assert!(desk.notices.len() <= 1);
        desk.minutes(20);
    }
    assert_eq!(desk.notices.len(), 1);
    assert!(
        desk.notices[0].key.starts_with("turn:"),
        "{:?}",
        desk.notices
    );
    assert_eq!(desk.reasons("default"), [Reason::RetryPause]);
}

#[test]
fn a_paused_track_makes_no_further_attempt() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.becomes(SessionState::Failed);
    let mut state = desk.state().clone();
    state.tracks.get_mut("default").unwrap().paused = Some(Pause::default());
    desk.set_state(state);
    for _ in 0..3 {
        desk.minutes(30);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 1);
    assert_eq!(desk.reasons("default"), [Reason::PausedTrack]);
}

#[test]
fn asking_for_one_track_starts_nothing_of_another() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nretry = 1\nskip_unchanged = false\n[budget]\nmax_active = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.ask = Ask::Track("one".into());
    desk.tick();
    desk.minutes(5);
    desk.becomes(SessionState::Failed);
    desk.ask = Ask::Track("two".into());
    desk.tick();
    desk.minutes(5);
    desk.tick();
    let tracks: Vec<_> = desk
        .state()
        .tracks
        .iter()
        .map(|(name, track)| (name.as_str(), track.seq))
        .collect();
    assert_eq!(tracks, [("one", 1), ("two", 1)]);
    assert_eq!(desk.sessions.len(), 2);
    assert!(
        desk.sessions[1].title.contains("b"),
        "{}",
        desk.sessions[1].title
    );
}

#[test]
fn the_number_of_a_request_is_never_given_twice() {
    let mut desk = Desk::new("", &["a"]);
    let mut numbers = Vec::new();
    for _ in 0..3 {
        desk.ask = Ask::Persona("a".into());
        desk.tick();
        desk.ask = Ask::Due;
        desk.minutes(5);
        let pull = desk.opens_pull();
        desk.tick();
        desk.pulls.get_mut(&pull).unwrap().state = PullState::Closed;
        desk.tick();
        numbers.push(
            desk.state()
                .requests
                .values()
                .filter_map(|one| one.number)
                .max()
                .unwrap(),
        );
        // Even an archived history does not bring a number back.
        let mut state = desk.state().clone();
        let last = state.next_history_key() - 1;
        state.history = state.history.split_off(&last);
        state.history.get_mut(&last).unwrap().track = Some("default".into());
        desk.pass(SignedDuration::from_hours(24 * 40));
        desk.tick();
    }
    assert_eq!(numbers, [1, 2, 3]);
    assert!(desk.state().requests.len() <= 2);
}

#[test]
fn a_spent_key_is_never_left_alone_for_longer_than_a_day() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::QuotaUntil("2026-03-01T00:00:00Z".parse().unwrap());
    desk.tick();
    let until = desk.state().budget.paused_until.unwrap();
    assert_eq!(
        until.duration_since(desk.now),
        SignedDuration::from_hours(24)
    );
}

#[test]
fn while_paused_every_track_and_schedule_says_by_what() {
    let plan = "cycle = [\"a\"]\n[schedules]\nb = \"0 0 * * *\"\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.paused_by_variable = Some("yes".to_owned());
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::PausedVariable]);
    assert_eq!(desk.reasons("schedule:b"), [Reason::PausedVariable]);
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    let refused = desk.lines.iter().filter(|line| line.persona.is_some());
    assert_eq!(
        refused.map(|line| line.reason).collect::<Vec<_>>(),
        [Reason::PausedVariable]
    );
}

#[test]
fn a_cancelled_turn_leaves_its_place_although_its_session_is_archived_already() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.cancel_first();
    desk.sessions[0].archived = true;
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Cancelled));
}

#[test]
fn a_session_that_cannot_be_read_holds_up_its_own_track_alone() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    for index in 0..2 {
        desk.sessions[index].state = SessionState::Failed;
    }
    let id = desk.sessions[0].id.clone();
    let retry_at = desk.now + SignedDuration::from_mins(7);
    let outage = Outage {
        detail: "the answer is larger than 9 bytes".to_owned(),
        retry_at: Some(retry_at),
        credential: true,
    };
    desk.unread.insert(id.clone(), outage);
    desk.tick();
    assert_eq!(desk.reasons("one"), [Reason::SessionUnread]);
    let line = desk
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
    assert_eq!(desk.outcomes(), [None, Some(Outcome::Failed)]);
    assert!(
        desk.notices.is_empty(),
        "the key is not refused: {:?}",
        desk.notices
    );

    desk.unread.clear();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Failed));
}

#[test]
fn a_turn_that_is_cancelled_while_jules_does_not_answer_ends_when_its_session_can_be_stopped() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.becomes(SessionState::InProgress);
    desk.cancel_first();
    desk.listing_works = false;
    desk.minutes(5);
    desk.tick();
    assert_eq!(desk.outcomes(), [None]);
    assert!(desk.effects.is_empty(), "{:?}", desk.effects);
    desk.listing_works = true;
    desk.hours(5);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Cancelled));
    assert!(desk.sessions[0].archived);
}
