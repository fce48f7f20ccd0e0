//! Tests that notices stay open exactly as long as a person is needed.

use phileas_domain::engine::{Effect, Event, Notice, NoticeKey, SessionState, decide};
use phileas_domain::model::TurnId;
use phileas_domain::state::Turn;

use crate::support::scenario::Scenario;

const PLAN: &str = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nstuck_minutes = 600\n";

/// A scenario with a live session in each of two tracks, and an issue about each turn.
fn two_turns() -> (Scenario, [TurnId; 2]) {
    let mut scenario = Scenario::new(PLAN, &["a", "b"]);
    scenario.tick();
    scenario.becomes(SessionState::InProgress);
    let ids = ["one", "two"].map(|track| scenario.state().tracks[track].turns[""].turn.clone());
    for (number, id) in (1..).zip(&ids) {
        let key = NoticeKey::Turn(id.clone()).to_string();
        let title = String::new();
        scenario.notices.push(Notice { number, key, title });
    }
    (scenario, ids)
}

/// Changes the turn of track `one`, and returns the closed notices with their comments.
fn closed(change: impl Fn(&mut Turn)) -> Vec<(u64, String)> {
    let (mut scenario, _) = two_turns();
    scenario.paused_by_variable = Some("yes".to_owned());
    let mut state = scenario.state().clone();
    let track = state.tracks.get_mut("one").unwrap();
    change(track.turns.get_mut("").unwrap());
    scenario.set_state(state);
    let decision = decide(&scenario.full_snapshot(), &[]);
    let closes = decision.effects.into_iter().map(|effect| match effect {
        Effect::CloseNotice { number, comment } => (number, comment),
        other => panic!("{other:?}"),
    });
    closes.collect()
}

fn unstarted(turn: &mut Turn) {
    turn.session_id = None;
    turn.intent = None;
    turn.history_key = None;
    turn.attempt += 1;
}

#[test]
fn a_notice_about_a_turn_is_closed_when_the_turn_waits_for_no_person() {
    let settled = |number| (number, "This turn no longer waits for a person.".to_owned());
    let neither = [settled(1), settled(2)];
    assert_eq!(closed(|_| {}), neither);
    assert_eq!(closed(unstarted), neither);
    let only_the_other = [settled(2)];
    let refused = closed(|turn| {
        unstarted(turn);
        turn.refusals = 1;
    });
    assert_eq!(refused, only_the_other);
    let twice_refused = closed(|turn| {
        unstarted(turn);
        turn.refusals = 2;
    });
    assert_eq!(twice_refused, only_the_other);
    let in_the_dark = closed(|turn| {
        unstarted(turn);
        turn.ambiguous = 1;
    });
    assert_eq!(in_the_dark, neither, "the next attempt starts by itself");
    // Once it has a session, how it came by it does not matter any more.
    let started = closed(|turn| {
        turn.refusals = 1;
        turn.ambiguous = 1;
    });
    assert_eq!(started, neither);
}

#[test]
fn an_issue_about_a_turn_that_is_over_is_closed() {
    let (mut scenario, ids) = two_turns();
    scenario.minutes(5);
    scenario.opens_pull_of(0);
    let mut state = scenario.state().clone();
    let turn = state.tracks.get_mut("two").unwrap().turns.get_mut("");
    turn.unwrap().warned_at = Some(scenario.now);
    scenario.set_state(state);
    // The second one asks again and again, and gets no further standard answer.
    let id = scenario.sessions[1].id.clone();
    scenario.sessions[1].state = SessionState::AwaitingPlanApproval;
    scenario.files.insert(
        ".jules/schedules.toml".to_owned(),
        format!("{PLAN}plan_approval = \"writers\"\n"),
    );
    let now = scenario.now;
    scenario.add_activity(
        &id,
        now,
        phileas_domain::engine::ActivityKind::PlanGenerated {
            id: "plan".to_owned(),
            steps: Vec::new(),
        },
    );
    scenario.tick();
    let open: Vec<_> = scenario.notices.iter().map(|one| one.key.clone()).collect();
    assert_eq!(open, [format!("turn:{}", ids[1])]);
}

#[test]
fn a_notice_about_the_ledger_or_the_key_is_closed_once_it_is_fixed() {
    let about = [
        (
            NoticeKey::LedgerCorrupt,
            "The state file can be read again; phileas goes on.",
        ),
        (
            NoticeKey::LedgerRolledBack,
            "The ledger is whole again; phileas goes on.",
        ),
        (
            NoticeKey::LedgerUnproven,
            "This repository has a ledger of its own; phileas goes on.",
        ),
        (
            NoticeKey::LedgerForeign,
            "This repository has a ledger of its own; phileas goes on.",
        ),
        (
            NoticeKey::JulesCredential,
            "Jules takes the key again; phileas goes on.",
        ),
    ];
    let keys: Vec<_> = about.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(
        keys,
        [
            "ledger_corrupt",
            "ledger_rolled_back",
            "ledger_unproven",
            "ledger_foreign",
            "jules_credential"
        ]
    );
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    for (number, key) in (1..).zip(keys) {
        let title = String::new();
        scenario.notices.push(Notice { number, key, title });
    }
    let said = |scenario: &mut Scenario| {
        let effects = decide(&scenario.full_snapshot(), &[]).effects.into_iter();
        let closes = effects.map(|effect| match effect {
            Effect::CloseNotice { number, comment } => (number, comment),
            other => panic!("{other:?}"),
        });
        closes.collect::<Vec<_>>()
    };
    let all: Vec<_> = (1..).zip(about.map(|(_, text)| text.to_owned())).collect();
    assert_eq!(said(&mut scenario), all);
    scenario.listing_works = false;
    assert_eq!(
        said(&mut scenario),
        all[..4],
        "the key is not known to work"
    );
}

/// Replicas lag: a tick may not see yet that a notice is open.
#[test]
fn all_issues_of_a_key_are_closed_each_of_them_once() {
    let (mut scenario, [turn, _]) = two_turns();
    let keys = [NoticeKey::LedgerCorrupt, NoticeKey::Turn(turn)];
    for (number, key) in (10..).zip(keys.iter().chain(&keys)) {
        let key = key.to_string();
        let title = String::new();
        scenario.notices.push(Notice { number, key, title });
    }
    let effects = decide(&scenario.full_snapshot(), &[]).effects;
    let mut closed: Vec<u64> = effects
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::CloseNotice { number, .. } => Some(number),
            _ => None,
        })
        .collect();
    closed.sort_unstable();
    assert_eq!(closed, [1, 2, 10, 11, 12, 13]);
}

#[test]
fn what_github_refuses_is_tried_again_less_and_less_often() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.notices.push(Notice {
        number: 4,
        key: NoticeKey::LedgerCorrupt.to_string(),
        title: String::new(),
    });
    let closing = |scenario: &mut Scenario| {
        let effects = decide(&scenario.full_snapshot(), &[]).effects;
        let closes = |effect: &Effect| matches!(effect, Effect::CloseNotice { number: 4, .. });
        effects.into_iter().find(closes)
    };
    // Half an hour, an hour, two, … a day.
    for minutes in [30, 60, 120, 240, 480, 960, 1440, 1440] {
        let effect = closing(&mut scenario).unwrap_or_else(|| panic!("before {minutes}"));
        let key = effect.refusal_key().unwrap();
        let refused = decide(&scenario.full_snapshot(), &[Event::EffectRefused { key }]);
        scenario.set_state(*refused.change.unwrap().state);
        assert_eq!(closing(&mut scenario), None);
        scenario.minutes(minutes - 1);
        assert_eq!(closing(&mut scenario), None, "{minutes}");
        scenario.minutes(1);
    }
    assert!(closing(&mut scenario).is_some());
}

/// A plan that cannot be read is as bad as a key that is refused: a notice is opened, and closed when the plan is fixed.
#[test]
fn a_plan_with_mistakes_has_a_notice_until_it_is_fixed() {
    let path = ".jules/schedules.toml";
    for (mistake, place, effect) in [
        (
            "cycle = [\"a\"]\n[budget]\nmax_active = \"two\"\n",
            "`.jules/schedules.toml:3:",
            "Nothing starts until it is fixed",
        ),
        (
            "cycle = [\"a\", \"absent\"]\n",
            "`.jules/schedules.toml:1:",
            "What a mistake concerns does not run",
        ),
    ] {
        let mut scenario = Scenario::new(mistake, &["a"]);
        scenario.tick();
        let opened = scenario.effects.iter().find_map(|effect| match effect {
            Effect::OpenNotice { key, title, body } => Some((key, title, body)),
            _ => None,
        });
        let (key, title, body) = opened.expect("a notice");
        assert_eq!(*key, NoticeKey::PlanInvalid);
        assert_eq!(title, "phileas: the plan has mistakes");
        assert!(body.contains(place) && body.contains(effect), "{body}");
        scenario.minutes(1);
        scenario.tick();
        let opens = |effect: &Effect| matches!(effect, Effect::OpenNotice { .. });
        assert!(
            !scenario.effects.iter().any(opens),
            "{:?}",
            scenario.effects
        );
        assert_eq!(scenario.notices.len(), 1);
        let fixed = "cycle = [\"a\"]\n".to_owned();
        scenario.files.insert(path.to_owned(), fixed);
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(scenario.notices, []);
        assert_eq!(scenario.personas_run(), ["a"]);
    }
}

/// The service may serve all repositories of an account, and most of them have no plan.
#[test]
fn a_repository_without_a_plan_gets_no_notice() {
    let path = ".jules/schedules.toml";
    let mut scenario = Scenario::new("cycle = [\"a\", \"missing\"]\n", &["a"]);
    let plan = scenario.files.remove(path).unwrap();
    scenario.tick();
    assert_eq!(scenario.notices, []);
    // A plan that is removed has no mistakes, either.
    scenario.files.insert(path.to_owned(), plan);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.notices.len(), 1);
    scenario.files.remove(path);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.notices, []);
}
