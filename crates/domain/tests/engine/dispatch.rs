//! Dispatch: at most one session an attempt, wherever a process dies.

use jiff::SignedDuration;
use phileas_domain::engine::{Effect, Reason, SessionState, Verdict, go_on};
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

/// When the attempts of the live turn were announced, over so many minutes.
fn attempts_in(desk: &mut Desk, minutes: i64) -> Vec<i64> {
    let begin = desk.now;
    let mut announced = Vec::new();
    for _ in 0..minutes {
        desk.tick();
        let creates = |effect: &Effect| matches!(effect, Effect::CreateSession(_));
        if desk.effects.iter().any(creates) {
            announced.push(desk.now.duration_since(begin).as_mins());
        }
        desk.minutes(1);
    }
    announced
}

#[test]
fn an_outage_stops_no_track_and_each_attempt_waits_for_a_complete_listing() {
    for hours in [2, 48] {
        let mut desk = Desk::new(ONE, &["a", "b"]);
        desk.answering = Answering::LostBefore;
        let announced = attempts_in(&mut desk, hours * 60);
        assert_eq!(announced[..5], [0, 15, 45, 75, 105]);
        let pauses = announced.windows(2).skip(1).map(|two| two[1] - two[0]);
        assert!(pauses.into_iter().all(|pause| pause == 30), "{announced:?}");
        assert_eq!(turn(&desk).ambiguous as usize + 1, announced.len());
        assert!(desk.notices.is_empty(), "{:?}", desk.notices);
        desk.answering = Answering::Session;
        let after = attempts_in(&mut desk, 60);
        assert_eq!(after.len(), 1, "{after:?}");
        assert_eq!((desk.sessions.len(), desk.personas_run().len()), (1, 1));
    }
}

/// An older version asked a person after two attempts, and left the turn so.
#[test]
fn a_turn_that_an_older_version_held_goes_on() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::LostBefore;
    desk.tick();
    let mut state = desk.state().clone();
    let track = state.tracks.get_mut("default").unwrap();
    let held = track.turns.get_mut("").unwrap();
    (held.intent, held.attempt, held.ambiguous) = (None, 3, 2);
    (held.listed_empty_at, held.warned_at) = (Some(desk.now), Some(desk.now));
    let key = format!("turn:{}", held.turn);
    desk.set_state(state);
    desk.notices.push(phileas_domain::engine::Notice {
        number: 9,
        key,
        title: String::new(),
    });
    desk.answering = Answering::Session;
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    assert!(desk.sessions[0].title.ends_with(".3]"));
    desk.tick();
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
}

/// Lets minutes pass, in which a listing shows a session an hour after it was made.
fn lagging(desk: &mut Desk, minutes: i64) {
    for _ in 0..minutes {
        let now = desk.now;
        let sessions = desk.sessions.iter();
        let young = sessions.filter(|made| now.duration_since(made.created_at).as_mins() < 60);
        desk.left_out = young.map(|made| made.id.clone()).collect();
        desk.tick();
        desk.minutes(1);
    }
}

#[test]
fn after_two_late_finds_of_a_turn_a_person_decides() {
    let mut desk = Desk::new(&format!("{ONE}[defaults]\nretry = 9\n"), &["a", "b"]);
    desk.answering = Answering::Lost;
    lagging(&mut desk, 120);
    assert_eq!(desk.sessions.len(), 3);
    let first = turn(&desk);
    assert_eq!(first.session_id.as_ref(), Some(&desk.sessions[0].id));
    assert_eq!((first.late_finds, first.attempt), (2, 3));
    assert_eq!(desk.state().history[&0].duplicates.len(), 2);
    assert!(desk.notices.is_empty(), "nothing is left open");
    desk.sessions[0].state = SessionState::Failed;
    lagging(&mut desk, 15);
    assert_eq!((desk.sessions.len(), desk.notices.len()), (4, 0));
    lagging(&mut desk, 40);
    assert_eq!(desk.sessions.len(), 4, "the list is not believed again");
    assert_eq!(desk.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(desk.notices.len(), 1);
    let said = desk.line("default").detail.clone();
    let id = turn(&desk).turn.clone();
    for word in ["retry", "cancel"] {
        let way = format!("`phileas session {word} {id}`");
        assert!(said.contains(&way), "{said}");
    }
    lagging(&mut desk, 10);
    assert_eq!(turn(&desk).session_id.as_ref(), Some(&desk.sessions[3].id));
    assert!(desk.notices.is_empty(), "the session has shown up");
}

#[test]
fn a_person_lets_a_turn_go_on_or_ends_it_when_the_list_is_not_believed() {
    for ends in [false, true] {
        let mut desk = Desk::new(ONE, &["a", "b"]);
        desk.answering = Answering::LostBefore;
        desk.tick();
        let mut state = desk.state().clone();
        let track = state.tracks.get_mut("default").unwrap();
        track.turns.get_mut("").unwrap().late_finds = 2;
        desk.set_state(state);
        desk.minutes(15);
        desk.tick();
        assert_eq!(desk.notices.len(), 1);
        desk.answering = Answering::Session;
        if ends {
            desk.cancel_first();
        } else {
            let mut state = desk.state().clone();
            let track = state.tracks.get_mut("default").unwrap();
            go_on(track.turns.get_mut("").unwrap());
            desk.set_state(state);
        }
        desk.minutes(1);
        desk.tick();
        desk.tick();
        let persona = if ends { "b" } else { "a" };
        assert_eq!(desk.personas_run(), [persona]);
        assert!(desk.notices.is_empty(), "{:?}", desk.notices);
    }
}

/// Jules answers, and its list does not reach far enough: it is too long, or does not show archived sessions.
#[test]
fn a_person_is_asked_where_a_complete_listing_cannot_be_had() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::LostBefore;
    desk.tick();
    desk.listings_reach = Some(SignedDuration::from_mins(5));
    desk.minutes(74);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(desk.notices.len(), 0);
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.notices.len(), 1);
    let said = &desk.line("default").detail;
    assert!(said.contains("is longer than what phileas reads"), "{said}");
    desk.listings_reach = None;
    desk.answering = Answering::Session;
    desk.tick();
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
}

#[test]
fn no_person_is_asked_while_jules_does_not_list_at_all() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::LostBefore;
    desk.tick();
    desk.listing_works = false;
    for _ in 0..48 {
        desk.hours(1);
        desk.tick();
    }
    assert!(desk.notices.is_empty(), "{:?}", desk.notices);
    desk.listing_works = true;
    desk.answering = Answering::Session;
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
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
