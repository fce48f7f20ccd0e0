//! Dispatch: at most one session an attempt, wherever a process dies.

use phileas_domain::engine::{Effect, Reason, SessionState, Verdict};
use phileas_domain::model::{Slot, TrackName};
use phileas_domain::state::Turn;

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

fn turn(desk: &Desk) -> &Turn {
    &desk.state().tracks[&TrackName::from("default")].turns[&Slot::from("")]
}

#[test]
fn the_intent_is_committed_before_the_session_and_settled_after() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    assert_eq!(
        desk.headlines,
        ["intent default#1 a", "started default#1 a"]
    );
    let session = &desk.sessions[0];
    let marker = format!("{}.1", turn(&desk).turn);
    assert!(
        session.title.ends_with(&format!(" [phileas:{marker}]")),
        "{}",
        session.title
    );
    let last = session.prompt.as_deref().unwrap().lines().last().unwrap();
    assert_eq!(
        last,
        format!("phileas-turn: {marker} repository=42 track=default seq=1 slot= persona=a")
    );
}

#[test]
fn a_successor_adopts_what_the_dead_one_created() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Lost;
    desk.tick();
    assert!(desk.all_reasons().contains(&Reason::Ambiguous));
    desk.answering = Answering::Session;
    desk.minutes(1);
    desk.tick();
    assert!(
        desk.lines
            .iter()
            .any(|line| line.verdict == Verdict::Adopted),
        "{:?}",
        desk.lines
    );
    assert_eq!(desk.sessions.len(), 1);
    assert_eq!(desk.personas_run(), ["a"]);
}

#[test]
fn only_a_complete_listing_after_the_grace_says_that_there_is_none() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Dies;
    desk.tick();
    desk.answering = Answering::Session;
    for _ in 0..14 {
        desk.minutes(1);
        desk.tick();
        assert_eq!(desk.sessions.len(), 0);
    }
    desk.listing_works = false;
    desk.minutes(10);
    desk.tick();
    assert_eq!(
        desk.sessions.len(),
        0,
        "without a listing nothing is settled"
    );
    desk.listing_works = true;
    desk.tick();
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    assert_eq!(turn(&desk).attempt, 2);
    assert!(desk.sessions[0].title.ends_with(".2]"));
}

#[test]
fn after_two_attempts_in_the_dark_a_person_decides() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::LostBefore;
    for _ in 0..60 {
        desk.tick();
        desk.minutes(5);
    }
    assert!(desk.reasons("default").contains(&Reason::Ambiguous));
    assert_eq!(turn(&desk).ambiguous, 2);
    assert_eq!(desk.notices.len(), 1);
}

#[test]
fn a_session_that_shows_up_late_is_taken_or_recorded_never_forgotten() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Lost;
    desk.tick();
    let hidden = desk.sessions.pop().unwrap();
    desk.answering = Answering::Session;
    desk.minutes(16);
    desk.tick();
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1, "the second attempt started");
    desk.sessions.push(hidden.clone());
    desk.tick();
    let entry = &desk.state().history[&0];
    assert_eq!(entry.duplicates, std::slice::from_ref(&hidden.id));
    assert!(
        desk.effects
            .contains(&Effect::ArchiveSession { session: hidden.id })
    );
}

/// It names the repository as it was called when it was created, and the listing hides the prompt that tells its id.
#[test]
fn a_session_from_before_a_rename_is_found() {
    for title_is_shown in [true, false] {
        let mut desk = Desk::new(ONE, &["a", "b"]);
        desk.prompts_hidden = true;
        desk.answering = Answering::Lost;
        desk.tick();
        let session = &mut desk.sessions[0];
        session.source = None;
        session.elsewhere = true;
        if !title_is_shown {
            session.title = String::new();
        }
        desk.answering = Answering::Session;
        desk.minutes(16);
        desk.tick();
        assert_eq!(desk.sessions.len(), 1, "{title_is_shown}");
        assert_eq!(turn(&desk).session_id.as_ref(), Some(&desk.sessions[0].id));
    }
}

#[test]
fn a_failed_session_is_tried_as_often_as_the_plan_says() {
    let mut desk = Desk::new(&format!("{ONE}[defaults]\nretry = 1\n"), &["a", "b"]);
    desk.tick();
    desk.minutes(9);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    assert!(desk.sessions[1].title.ends_with(".2]"));
    desk.minutes(9);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "a", "b"]);
    let notes: Vec<_> = desk
        .state()
        .history
        .values()
        .filter_map(|entry| entry.note.clone())
        .collect();
    assert_eq!(notes, ["it broke", "it broke"]);
}

#[test]
fn a_refused_create_waits_longer_and_longer_and_calls_a_person_once() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Refused;
    for _ in 0..48 {
        desk.tick();
        desk.minutes(30);
    }
    assert_eq!(desk.notices.len(), 1);
    assert!(
        turn(&desk).refusals >= 3 && turn(&desk).failures <= 5,
        "{}",
        turn(&desk).refusals
    );
    desk.answering = Answering::Session;
    desk.hours(24);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn an_idle_tick_asks_jules_nothing() {
    let mut desk = Desk::new("[schedules]\na = \"0 9 * * *\"\n", &["a"]);
    desk.tick();
    let before = desk.listings;
    desk.minutes(10);
    desk.tick();
    assert_eq!(desk.listings, before);
    assert_eq!(desk.reasons("schedule:a"), [Reason::NotDue]);
    assert_eq!(desk.headlines.len(), 1, "an idle tick writes nothing");
}

#[test]
fn each_attempt_starts_from_a_branch_of_its_own() {
    let plan = "cycle = [\"a\"]\n[defaults]\nbranch = \"persona\"\nretry = 1\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    let made = |desk: &Desk| {
        let mut branches = desk.effects.iter().filter_map(|effect| match effect {
            Effect::CreateSession(create) => create.make_branch.clone(),
            _ => None,
        });
        branches.next().unwrap()
    };
    let first = made(&desk);
    desk.push();
    desk.minutes(5);
    desk.becomes(SessionState::Failed);
    desk.tick();
    let second = made(&desk);
    assert_eq!(first.name.as_str(), "phileas/default/a-1");
    assert_eq!(second.name.as_str(), "phileas/default/a-1.2");
    assert_ne!(first.at, second.at);
    let base = |key: u64| desk.state().history[&key].base_sha.clone().unwrap();
    assert_eq!((base(0), base(1)), (first.at, second.at));
}
