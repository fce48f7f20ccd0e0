//! Tests intents: at most one session an attempt, wherever a process dies.

use jiff::SignedDuration;
use phileas_domain::engine::{Effect, Reason, SessionState, Verdict, resume_turn};
use phileas_domain::model::{Slot, TrackName};
use phileas_domain::state::{Outcome, Turn};

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

fn turn(scenario: &Scenario) -> &Turn {
    &scenario.state().tracks[&TrackName::from("default")].turns[&Slot::from("")]
}

#[test]
fn the_intent_is_committed_before_the_session_and_settled_after() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    assert_eq!(
        scenario.headlines,
        ["intent default#1 a", "started default#1 a"]
    );
    let session = &scenario.sessions[0];
    let marker = format!("{}.1", turn(&scenario).turn);
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
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Lost;
    scenario.tick();
    assert!(scenario.all_reasons().contains(&Reason::Ambiguous));
    scenario.answering = Answering::Session;
    scenario.minutes(1);
    scenario.tick();
    assert!(
        scenario
            .lines
            .iter()
            .any(|line| line.verdict == Verdict::Adopted),
        "{:?}",
        scenario.lines
    );
    assert_eq!(scenario.sessions.len(), 1);
    assert_eq!(scenario.personas_run(), ["a"]);
}

#[test]
fn only_a_complete_listing_after_the_grace_says_that_there_is_none() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Dies;
    scenario.tick();
    scenario.answering = Answering::Session;
    for _ in 0..14 {
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(scenario.sessions.len(), 0);
    }
    scenario.listing_works = false;
    scenario.minutes(10);
    scenario.tick();
    assert_eq!(
        scenario.sessions.len(),
        0,
        "without a listing nothing is settled"
    );
    scenario.listing_works = true;
    scenario.tick();
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    assert_eq!(turn(&scenario).attempt, 2);
    assert!(scenario.sessions[0].title.ends_with(".2]"));
}

/// When the attempts of the live turn were announced, over so many minutes.
fn attempts_in(scenario: &mut Scenario, minutes: i64) -> Vec<i64> {
    let begin = scenario.now;
    let mut announced = Vec::new();
    for _ in 0..minutes {
        scenario.tick();
        let creates = |effect: &Effect| matches!(effect, Effect::CreateSession(_));
        if scenario.effects.iter().any(creates) {
            announced.push(scenario.now.duration_since(begin).as_mins());
        }
        scenario.minutes(1);
    }
    announced
}

#[test]
fn an_outage_stops_no_track_and_each_attempt_waits_for_a_complete_listing() {
    for hours in [2, 48] {
        let mut scenario = Scenario::new(ONE, &["a", "b"]);
        scenario.answering = Answering::LostBefore;
        let announced = attempts_in(&mut scenario, hours * 60);
        assert_eq!(announced[..5], [0, 15, 45, 75, 105]);
        let pauses = announced.windows(2).skip(1).map(|two| two[1] - two[0]);
        assert!(pauses.into_iter().all(|pause| pause == 30), "{announced:?}");
        assert_eq!(turn(&scenario).ambiguous as usize + 1, announced.len());
        assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
        scenario.answering = Answering::Session;
        let after = attempts_in(&mut scenario, 60);
        assert_eq!(after.len(), 1, "{after:?}");
        assert_eq!(
            (scenario.sessions.len(), scenario.personas_run().len()),
            (1, 1)
        );
    }
}

/// An older version opened a notice after two attempts, and left the turn so.
#[test]
fn a_turn_that_an_older_version_held_goes_on() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    let mut state = scenario.state().clone();
    let track = state.tracks.get_mut("default").unwrap();
    let held = track.turns.get_mut("").unwrap();
    (held.intent, held.attempt, held.ambiguous) = (None, 3, 2);
    (held.listed_empty_at, held.warned_at) = (Some(scenario.now), Some(scenario.now));
    let key = format!("turn:{}", held.turn);
    scenario.set_state(state);
    scenario.notices.push(phileas_domain::engine::Notice {
        number: 9,
        key,
        title: String::new(),
    });
    scenario.answering = Answering::Session;
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    assert!(scenario.sessions[0].title.ends_with(".3]"));
    scenario.tick();
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
}

/// Advances the clock, while a listing shows a session an hour after it was created.
fn lagging(scenario: &mut Scenario, minutes: i64) {
    for _ in 0..minutes {
        let now = scenario.now;
        let sessions = scenario.sessions.iter();
        let young = sessions.filter(|made| now.duration_since(made.created_at).as_mins() < 60);
        scenario.left_out = young.map(|made| made.id.clone()).collect();
        scenario.tick();
        scenario.minutes(1);
    }
}

#[test]
fn after_two_late_finds_of_a_turn_a_person_decides() {
    let mut scenario = Scenario::new(&format!("{ONE}[defaults]\nretry = 9\n"), &["a", "b"]);
    scenario.answering = Answering::Lost;
    lagging(&mut scenario, 120);
    assert_eq!(scenario.sessions.len(), 3);
    let first = turn(&scenario);
    assert_eq!(first.session_id.as_ref(), Some(&scenario.sessions[0].id));
    assert_eq!((first.late_finds, first.attempt), (2, 3));
    assert_eq!(scenario.state().history[&0].duplicates.len(), 2);
    assert!(scenario.notices.is_empty(), "nothing is left open");
    scenario.sessions[0].state = SessionState::Failed;
    lagging(&mut scenario, 15);
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (4, 0));
    lagging(&mut scenario, 40);
    assert_eq!(scenario.sessions.len(), 4, "the list is not believed again");
    assert_eq!(scenario.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(scenario.notices.len(), 1);
    let said = scenario.line("default").detail.clone();
    let id = turn(&scenario).turn.clone();
    for word in ["retry", "cancel"] {
        let way = format!("`phileas session {word} {id}`");
        assert!(said.contains(&way), "{said}");
    }
    lagging(&mut scenario, 10);
    assert_eq!(
        turn(&scenario).session_id.as_ref(),
        Some(&scenario.sessions[3].id)
    );
    assert!(scenario.notices.is_empty(), "the session has shown up");
}

#[test]
fn a_person_resumes_or_ends_a_turn_when_no_listing_is_proof() {
    for ends in [false, true] {
        let mut scenario = Scenario::new(ONE, &["a", "b"]);
        scenario.answering = Answering::LostBefore;
        scenario.tick();
        let mut state = scenario.state().clone();
        let track = state.tracks.get_mut("default").unwrap();
        track.turns.get_mut("").unwrap().late_finds = 2;
        scenario.set_state(state);
        scenario.minutes(15);
        scenario.tick();
        assert_eq!(scenario.notices.len(), 1);
        scenario.answering = Answering::Session;
        if ends {
            scenario.cancel_first();
        } else {
            let mut state = scenario.state().clone();
            let track = state.tracks.get_mut("default").unwrap();
            resume_turn(track.turns.get_mut("").unwrap());
            scenario.set_state(state);
        }
        scenario.minutes(1);
        scenario.tick();
        scenario.tick();
        // The session may still appear, and is archived by its entry.
        let run: &[&str] = if ends { &["a", "b"] } else { &["a"] };
        assert_eq!(scenario.personas_run(), run);
        if ends {
            assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
        }
        assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
    }
}

/// Jules answers, and its list does not reach far enough: it is too long, or does not show archived sessions.
#[test]
fn a_notice_is_opened_where_no_complete_listing_can_be_had() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    scenario.listings_reach = Some(SignedDuration::from_mins(5));
    scenario.minutes(74);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(scenario.notices.len(), 0);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.notices.len(), 1);
    let said = &scenario.line("default").detail;
    assert!(said.contains("is longer than what phileas reads"), "{said}");
    scenario.listings_reach = None;
    scenario.answering = Answering::Session;
    scenario.tick();
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
}

#[test]
fn no_notice_is_opened_while_jules_does_not_list_at_all() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    scenario.listing_works = false;
    for _ in 0..48 {
        scenario.hours(1);
        scenario.tick();
    }
    assert!(scenario.notices.is_empty(), "{:?}", scenario.notices);
    scenario.listing_works = true;
    scenario.answering = Answering::Session;
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn a_session_that_shows_up_late_is_taken_or_recorded_never_forgotten() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Lost;
    scenario.tick();
    let hidden = scenario.sessions.pop().unwrap();
    scenario.answering = Answering::Session;
    scenario.minutes(16);
    scenario.tick();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1, "the second attempt started");
    scenario.sessions.push(hidden.clone());
    scenario.tick();
    let entry = &scenario.state().history[&0];
    assert_eq!(entry.duplicates, std::slice::from_ref(&hidden.id));
    assert!(
        scenario
            .effects
            .contains(&Effect::ArchiveSession { session: hidden.id })
    );
}

/// It has the repository's earlier name, and the listing hides the prompt with the id.
#[test]
fn a_session_from_before_a_rename_is_found() {
    for title_is_shown in [true, false] {
        let mut scenario = Scenario::new(ONE, &["a", "b"]);
        scenario.prompts_hidden = true;
        scenario.answering = Answering::Lost;
        scenario.tick();
        let session = &mut scenario.sessions[0];
        session.source = None;
        session.elsewhere = true;
        if !title_is_shown {
            session.title = String::new();
        }
        scenario.answering = Answering::Session;
        scenario.minutes(16);
        scenario.tick();
        assert_eq!(scenario.sessions.len(), 1, "{title_is_shown}");
        assert_eq!(
            turn(&scenario).session_id.as_ref(),
            Some(&scenario.sessions[0].id)
        );
    }
}

#[test]
fn a_failed_session_is_tried_as_often_as_the_plan_says() {
    let mut scenario = Scenario::new(&format!("{ONE}[defaults]\nretry = 1\n"), &["a", "b"]);
    scenario.tick();
    scenario.minutes(9);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    assert!(scenario.sessions[1].title.ends_with(".2]"));
    scenario.minutes(9);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "a", "b"]);
    let notes: Vec<_> = scenario
        .state()
        .history
        .values()
        .filter_map(|entry| entry.note.clone())
        .collect();
    assert_eq!(notes, ["it broke", "it broke"]);
}

#[test]
fn a_refused_create_waits_longer_and_longer_and_opens_one_notice() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Refused;
    for _ in 0..48 {
        scenario.tick();
        scenario.minutes(30);
    }
    assert_eq!(scenario.notices.len(), 1);
    assert!(
        turn(&scenario).refusals >= 3 && turn(&scenario).failures <= 5,
        "{}",
        turn(&scenario).refusals
    );
    scenario.answering = Answering::Session;
    scenario.hours(24);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn an_idle_tick_reads_nothing_from_jules() {
    let mut scenario = Scenario::new("[schedules]\na = \"0 9 * * *\"\n", &["a"]);
    scenario.tick();
    let before = scenario.listings;
    scenario.minutes(10);
    scenario.tick();
    assert_eq!(scenario.listings, before);
    assert_eq!(scenario.reasons("schedule:a"), [Reason::NotDue]);
    assert_eq!(scenario.headlines.len(), 1, "an idle tick writes nothing");
}

#[test]
fn each_attempt_starts_from_a_branch_of_its_own() {
    let plan = "cycle = [\"a\"]\n[defaults]\nbranch = \"persona\"\nretry = 1\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    let made = |scenario: &Scenario| {
        let mut branches = scenario.effects.iter().filter_map(|effect| match effect {
            Effect::CreateSession(create) => create.make_branch.clone(),
            _ => None,
        });
        branches.next().unwrap()
    };
    let first = made(&scenario);
    scenario.push();
    scenario.minutes(5);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    let second = made(&scenario);
    assert_eq!(first.name.as_str(), "phileas/default/a-1");
    assert_eq!(second.name.as_str(), "phileas/default/a-1.2");
    assert_ne!(first.at, second.at);
    let base = |key: u64| scenario.state().history[&key].base_sha.clone().unwrap();
    assert_eq!((base(0), base(1)), (first.at, second.at));
}
