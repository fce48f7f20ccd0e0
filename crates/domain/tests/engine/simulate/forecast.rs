//! Tests forecasts of the coming days, to the second.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    Assumptions, Delay, Forecast, Outage, Planned, Reason, SessionState, simulate,
};
use phileas_domain::prompt::InProcess;

use crate::support::scenario::Scenario;

/// No multiple of any span that the engine polls by, so that only what ends or is merged explains an instant.
const ODD: Assumptions = Assumptions {
    session: SignedDuration::from_secs(47 * 60 + 13),
    review: SignedDuration::from_secs(2 * 3600 + 5 * 60 + 31),
};
const ROUND: Assumptions = Assumptions {
    session: SignedDuration::from_mins(30),
    review: SignedDuration::from_hours(1),
};

fn at(time: &str) -> Timestamp {
    format!("2026-01-{time}Z").parse().unwrap()
}

fn forecast(scenario: &mut Scenario, until: &str, assumptions: Assumptions) -> Forecast {
    let forecast = simulate(
        &scenario.full_snapshot(),
        at(until),
        assumptions,
        &InProcess,
    );
    assert!(!forecast.cut);
    forecast
}

/// Turns of the track `default`, numbered from `first`.
fn turns(first: u64, expected: &[(&str, &str)]) -> Vec<Planned> {
    (first..)
        .zip(expected)
        .map(|(seq, (time, persona))| Planned {
            at: at(time),
            track: "default".into(),
            seq,
            persona: (*persona).into(),
            held: None,
        })
        .collect()
}

/// The same, with what held one of them.
fn held(mut turns: Vec<Planned>, index: usize, since: &str, by: Reason) -> Vec<Planned> {
    let since = at(since);
    turns[index].held = Some(Delay {
        since,
        by: vec![by],
    });
    turns
}

/// No file of an imagined pull request is known.
#[test]
fn a_forecast_waits_for_no_open_pull_request_that_changes_the_same_files() {
    let plan =
        |settings: &str| format!("cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n{settings}");
    let forecasts = ["", "[novelty]\navoid_overlap = true\n"].map(|settings| {
        let mut scenario = Scenario::new(&plan(settings), &["a"]);
        scenario.persona("a", "paths: [\"**\"]");
        forecast(&mut scenario, "06T00:00:00", ROUND).turns
    });
    assert!(forecasts[0].len() > 1);
    assert_eq!(forecasts[0], forecasts[1]);
}

fn waits_for(forecast: &Forecast) -> Vec<Reason> {
    forecast.waiting.iter().map(|line| line.reason).collect()
}

#[test]
fn a_cycle_goes_on_when_a_session_ends_and_when_people_have_merged() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 2\ndaily_sessions = 50\nkey_daily = 90\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let forecast = forecast(&mut scenario, "05T06:00:00", ODD);
    // The third waits for the first pull request's merge, the fifth for the third's.
    let expected = [
        ("05T00:00:00", "a"),
        ("05T00:47:13", "b"),
        ("05T02:52:44", "a"),
        ("05T03:39:57", "b"),
        ("05T05:45:28", "a"),
    ];
    let backlog = Reason::ReviewBacklog;
    let expected = held(turns(1, &expected), 2, "05T01:34:26", backlog);
    assert_eq!(forecast.turns, held(expected, 4, "05T04:27:10", backlog));
    assert_eq!((forecast.most_in_a_day, forecast.most_at_once), (5, 1));
    assert_eq!(waits_for(&forecast), [Reason::SessionRunning]);
}

#[test]
fn tracks_go_on_side_by_side() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 50\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let forecast = forecast(&mut scenario, "05T01:00:00", ODD);
    let seen: Vec<_> = forecast
        .turns
        .iter()
        .map(|turn| {
            (
                turn.at,
                turn.track.as_str(),
                turn.seq,
                turn.persona.as_str(),
            )
        })
        .collect();
    let (first, second) = (at("05T00:00:00"), at("05T00:47:13"));
    assert_eq!(
        seen,
        [
            (first, "one", 1, "a"),
            (first, "two", 1, "b"),
            (second, "one", 2, "a"),
            (second, "two", 2, "b"),
        ]
    );
    assert_eq!((forecast.most_in_a_day, forecast.most_at_once), (4, 2));
}

#[test]
fn each_of_two_sessions_that_end_together_leaves_a_pull_request_to_review() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 2\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let waiting = forecast(&mut scenario, "05T02:52:43", ODD);
    assert_eq!(waiting.turns.len(), 2);
    assert_eq!(waits_for(&waiting), [Reason::ReviewBacklog; 2]);
    let forecast = forecast(&mut scenario, "05T02:52:44", ODD);
    let starts: Vec<_> = forecast.turns.iter().map(|turn| turn.at).collect();
    let (first, second) = (at("05T00:00:00"), at("05T02:52:44"));
    assert_eq!(starts, [first, first, second, second]);
}

#[test]
fn a_schedule_starts_one_session_a_day_and_the_last_instant_counts() {
    let plan = "[schedules]\na = \"0 9 * * *\"\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    let whole = forecast(&mut scenario, "07T09:00:00", ODD);
    let starts: Vec<_> = whole.turns.iter().map(|turn| turn.at).collect();
    let expected = ["05T09:00:00", "06T09:00:00", "07T09:00:00"].map(at);
    assert_eq!(starts, expected);
    assert_eq!(
        whole.most_in_a_day, 1,
        "two that are exactly a day apart are not of one day"
    );
    let short = forecast(&mut scenario, "07T08:59:59", ODD);
    assert_eq!(short.turns, whole.turns[..2]);
    assert_eq!(waits_for(&short), [Reason::NotDue]);
}

/// Since when a turn was held, and by what.
type Wait<'f> = Option<(Timestamp, &'f [Reason])>;

/// When each turn starts, its persona, and its delay.
fn late(forecast: &Forecast) -> Vec<(Timestamp, &str, Wait<'_>)> {
    let turns = forecast.turns.iter();
    turns
        .map(|turn| {
            let held = turn.held.as_ref();
            let held = held.map(|held| (held.since, held.by.as_slice()));
            (turn.at, turn.persona.as_str(), held)
        })
        .collect()
}

/// A slot that the day's budget delays reports since when and why; one that starts in time has no delay.
#[test]
fn a_slot_that_comes_late_says_what_held_it() {
    let plan = "[schedules]\na = \"0 9 * * 1\"\nb = \"0 10 * * 1\"\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let forecast = forecast(&mut scenario, "06T12:00:00", ODD);
    let held = Some((at("05T10:00:00"), &[Reason::BudgetDaily][..]));
    let expected = [
        (at("05T09:00:00"), "a", None),
        (at("06T09:02:00"), "b", held),
    ];
    assert_eq!(late(&forecast), expected);
}

/// All reasons of a delay are reported, in order.
#[test]
fn what_holds_a_turn_may_change_while_it_waits() {
    let plan = "[schedules]\na = \"0 9 * * 1\"\nb = \"30 9 * * 1\"\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 1\nmax_active = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let forecast = forecast(&mut scenario, "06T12:00:00", ODD);
    let by = [Reason::BudgetActive, Reason::BudgetDaily];
    let held = Some((at("05T09:30:00"), &by[..]));
    let seen = late(&forecast);
    assert_eq!(seen[1].2, held, "{seen:?}");
}

/// A slot that is forgotten is no part of what the next one waited for.
#[test]
fn what_held_a_missed_slot_does_not_hold_the_next() {
    let plan = "[schedules]\na = \"0 9 * * 1\"\nb = \"0 10 * * *\"\n[defaults]\nskip_unchanged = false\ncatch_up = \"none\"\n[budget]\ndaily_sessions = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let forecast = forecast(&mut scenario, "06T12:00:00", ODD);
    let expected = [
        (at("05T09:00:00"), "a", None),
        (at("06T10:00:00"), "b", None),
    ];
    assert_eq!(late(&forecast), expected);
}

/// A step that is always skipped does not explain the delay of the next one.
#[test]
fn a_step_that_is_passed_over_hides_nothing() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"off\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_active = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "off"]);
    let off = "---\nid: off\nemoji: x\nscheduled: false\n---\nNothing.\n";
    let path = ".jules/personas/off/prompt.md".to_owned();
    assert!(scenario.files.insert(path, off.to_owned()).is_some());
    let forecast = forecast(&mut scenario, "05T00:47:13", ODD);
    let held = Some((at("05T00:00:00"), &[Reason::BudgetActive][..]));
    let expected = [
        (at("05T00:00:00"), "a", None),
        (at("05T00:47:13"), "b", held),
    ];
    assert_eq!(late(&forecast), expected);
}

/// Each slot of a step has a delay of its own.
#[test]
fn slots_that_start_one_after_another_were_all_due_at_once() {
    let mut scenario = crate::layers::hand_over::scenario();
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("max_active = 6", "max_active = 1");
    let forecast = forecast(&mut scenario, "05T05:00:00", ODD);
    let seen = late(&forecast);
    let due = at("05T01:47:13");
    let observers: Vec<_> = seen
        .iter()
        .filter(|(_, who, _)| who.starts_with("observers/"))
        .map(|(start, _, held)| (*start, held.map(|(since, _)| since)))
        .collect();
    assert_eq!(observers[0], (due, None), "{seen:?}");
    for (start, since) in &observers[1..] {
        assert!(*start > due && *since == Some(due), "{seen:?}");
    }
    assert_eq!(observers.len(), 3, "{seen:?}");
}

#[test]
fn a_persona_starts_again_once_its_pull_request_is_merged() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    let before = forecast(&mut scenario, "05T02:52:43", ODD);
    assert_eq!(before.turns, turns(1, &[("05T00:00:00", "a")]));
    assert_eq!(waits_for(&before), [Reason::Unchanged]);
    let after = forecast(&mut scenario, "05T02:52:44", ODD);
    let expected = [("05T00:00:00", "a"), ("05T02:52:44", "a")];
    assert_eq!(after.turns, turns(1, &expected));
}

#[test]
fn the_keys_day_is_counted_back_from_each_instant() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 50\ndaily_sessions = 50\nkey_daily = 3\nreserve_for_people = 0\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    let waiting = forecast(&mut scenario, "05T23:59:59", ROUND);
    assert_eq!(waits_for(&waiting), [Reason::JulesQuota]);
    let forecast = forecast(&mut scenario, "06T00:59:59", ROUND);
    let expected = [
        ("05T00:00:00", "a"),
        ("05T00:30:00", "a"),
        ("05T01:00:00", "a"),
        ("06T00:00:00", "a"),
        ("06T00:30:00", "a"),
    ];
    let expected = held(turns(1, &expected), 3, "05T01:30:00", Reason::JulesQuota);
    assert_eq!(forecast.turns, expected);
    assert_eq!(forecast.most_in_a_day, 3);
}

#[test]
fn sessions_that_keep_their_changes_leave_nothing_to_review() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\nautomation = \"none\"\n[budget]\nmax_open_pulls = 1\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    let forecast = forecast(&mut scenario, "05T02:00:00", ODD);
    let expected = [
        ("05T00:00:00", "a"),
        ("05T00:47:13", "a"),
        ("05T01:34:26", "a"),
    ];
    assert_eq!(forecast.turns, turns(1, &expected));
}

#[test]
fn a_session_that_is_under_way_takes_as_long_as_any_other() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.tick();
    scenario.minutes(10);
    scenario.becomes(SessionState::InProgress);
    let forecast = forecast(&mut scenario, "05T01:00:00", ODD);
    assert_eq!(forecast.turns, turns(2, &[("05T00:47:13", "b")]));
    assert_eq!(forecast.most_at_once, 1);
}

#[test]
fn a_session_that_has_its_pull_request_opens_no_second_one() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.push();
    scenario.tick();
    scenario.minutes(10);
    scenario.opens_pull();
    scenario.sessions[0].state = SessionState::InProgress;
    // A second merge, of what the first session opened at its end, would let the third turn start at 03:02:44.
    let forecast = forecast(&mut scenario, "05T05:30:00", ODD);
    let expected = [("05T02:15:31", "a"), ("05T05:08:15", "a")];
    assert_eq!(forecast.turns, turns(2, &expected));
}

#[test]
fn a_failed_session_is_tried_again_at_once() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(10);
    scenario.becomes(SessionState::Failed);
    let forecast = forecast(&mut scenario, "05T01:00:00", ODD);
    let retried = turns(1, &[("05T00:10:00", "a")]);
    let next = turns(2, &[("05T00:57:13", "b")]);
    assert_eq!(forecast.turns, [retried, next].concat());
}

#[test]
fn a_failed_session_that_may_not_be_tried_again_today_is_tried_tomorrow() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n[budget]\ndaily_sessions = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(10);
    scenario.becomes(SessionState::Failed);
    let forecast = forecast(&mut scenario, "06T12:00:00", ODD);
    let expected = turns(1, &[("06T00:02:00", "a")]);
    let expected = held(expected, 0, "05T00:10:00", Reason::BudgetDaily);
    assert_eq!(forecast.turns, expected);
}

#[test]
fn a_session_that_could_not_be_read_holds_up_its_own_track_alone() {
    let plan = "[tracks]\none = [\"a\"]\n[schedules]\nb = \"0 9 * * *\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    let id = scenario.becomes(SessionState::InProgress);
    scenario.left_out.push(id.clone());
    let outage = Outage {
        detail: "503".to_owned(),
        retry_at: Some(at("05T01:20:00")),
        credential: false,
    };
    scenario.unread.insert(id, outage);
    scenario.hours(1);
    let forecast = forecast(&mut scenario, "05T10:00:00", ODD);
    let starts: Vec<_> = forecast
        .turns
        .iter()
        .map(|turn| (turn.at, turn.persona.as_str()))
        .collect();
    assert_eq!(starts, [(at("05T09:00:00"), "b")]);
}

/// Where nothing happens, a forecast ticks once an hour.
#[test]
fn a_forecast_that_would_look_too_often_is_cut_and_says_so() {
    let snapshot = Scenario::new("", &[]).full_snapshot();
    let hours = |hours| {
        let until = snapshot.now + SignedDuration::from_hours(hours);
        simulate(&snapshot, until, Assumptions::default(), &InProcess)
    };
    assert!(!hours(19_999).cut, "the last look is the twenty-thousandth");
    assert!(hours(20_000).cut);
}

/// Each hop of a pass comes when the sessions before it are over, with what they are imagined to have written.
#[test]
fn a_pass_through_the_layers_is_forecast_hop_by_hop() {
    let mut scenario = crate::layers::hand_over::scenario();
    let forecast = forecast(&mut scenario, "05T08:00:00", ODD);
    let seen: Vec<_> = forecast
        .turns
        .iter()
        .map(|turn| (turn.at, turn.persona.as_str()))
        .collect();
    let expected = [
        ("05T01:00:00", "narrator"),
        ("05T01:47:13", "observers/errors"),
        ("05T01:47:13", "observers/docs"),
        ("05T01:47:13", "observers/tests"),
        ("05T02:34:26", "decider"),
        ("05T03:21:39", "implementer"),
    ];
    assert_eq!(seen, expected.map(|(time, who)| (at(time), who)));
    assert!(!forecast.without_layers);
    assert_eq!(forecast.most_at_once, 3);
}

/// The exchange is simulated only in the flat layout, and a forecast without layers says so.
#[test]
fn the_layers_of_workstreams_are_not_forecast() {
    let mut scenario = crate::layers::hand_over::scenario();
    let schedule = "version = 1\nenabled = true\n[observers]\nroles = [\"errors\"]\n";
    let path = ".jules/workstreams/core/scheduled.toml".to_owned();
    scenario.files.insert(path, schedule.to_owned());
    let forecast = forecast(&mut scenario, "05T08:00:00", ODD);
    assert!(forecast.without_layers);
    assert_eq!(forecast.turns, []);
}

#[test]
fn work_that_waits_for_people_is_not_imagined_to_be_done() {
    let mut scenario = crate::layers::hand_over::scenario();
    let config = scenario.files.get_mut(".jlo/config.toml").unwrap();
    *config = config.replace("[workflow]", "[workflow]\napproval = \"human\"");
    let forecast = forecast(&mut scenario, "05T08:00:00", ODD);
    let last = forecast.turns.last().map(|turn| turn.persona.as_str());
    assert_eq!(last, Some("decider"));
}
