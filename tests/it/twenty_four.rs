//! A plan that really ran, and the ledgers that really stood beside it: 24 personas in a cycle, 23 schedules beside
//! it, and state files of every shape, one of them broken.

use std::collections::BTreeMap;

use phileas::sandbox::{SharedWorld, WorldSetup};
use phileas_world::books::{Session, Write};
use phileas_world::jules::Weights;
use phileas_world::maintainer::ReviewPolicy;
use serde_json::Value;

use crate::support::folder::fixture;
use crate::support::judge::{self, Made, made, most_in_a_day, most_live, one_session_a_turn};
use crate::support::whole_days::{headless, spend};
use crate::support::{Folder, Phileas, Served, print_line};

/// The budget of a plan that says nothing about it.
const DAILY: usize = 5;
const ACTIVE: usize = 2;

/// The personas of the cycle in their order.
fn personas() -> Vec<String> {
    let plan: toml::Table = toml::from_str(&fixture("plan/schedules.toml")).unwrap();
    let paths = plan["cycle"].as_array().unwrap();
    let personas: Vec<String> = paths
        .iter()
        .map(|path| path.as_str().unwrap().split('/').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(personas.len(), 24);
    personas
}

/// A repository with the plan as it is, and what else the text says.
fn repository(more: &str) -> Folder {
    let personas = personas();
    let ids: Vec<&str> = personas.iter().map(String::as_str).collect();
    Folder::repository(&format!("{}\n{more}", fixture("plan/schedules.toml")), &ids)
}

/// What holds of every run of the plan: the cycle goes on from `first` in order, schedules keep tracks of their own.
#[track_caller]
fn check_order(made: &[Made], first: usize) -> usize {
    let personas = personas();
    let cycle: Vec<&Made> = made.iter().filter(|one| one.track == "default").collect();
    for (place, one) in cycle.iter().enumerate() {
        let wanted = &personas[(first + place) % personas.len()];
        assert_eq!(
            one.persona, *wanted,
            "turn {} of the cycle, the {place}th of this run",
            one.seq
        );
    }
    for one in made.iter().filter(|one| one.track != "default") {
        assert_eq!(one.track, format!("schedule:{}", one.persona), "{one:?}");
    }
    cycle.len()
}

#[track_caller]
fn check_budget(
    sessions: &[Session],
    writes: &[Write],
    daily: usize,
    active: usize,
) -> (usize, usize) {
    let day = most_in_a_day(&made(sessions));
    let live = most_live(sessions, writes);
    assert!(
        day <= daily,
        "{day} sessions were created within a day; the budget is {daily}"
    );
    assert!(
        live <= active,
        "{live} sessions were at work at once; the budget is {active}"
    );
    (day, live)
}

#[test]
fn the_plan_as_it_is_keeps_order_and_budget() {
    let repository = repository("");
    let spent = headless(&["--repo", repository.text(), "--until", "48h", "--seed", "7"]);
    let made = made(&spent.books.sessions);
    let cycle = check_order(&made, 0);
    assert!(
        cycle >= 3 && made.len() > cycle,
        "cycle and schedules both run: {made:?}"
    );
    let (day, live) = check_budget(
        &spent.books.sessions,
        &spent.books.github_writes,
        DAILY,
        ACTIVE,
    );
    assert_eq!(day, DAILY, "the budget is used");
    one_session_a_turn(&spent.books.sessions, &spent.state, "48 hours");
    let failed = &spent.ended.lines().pop().unwrap()["sandbox"]["failed_ticks"];
    assert_eq!(*failed, 0, "{}", spent.ended);
    print_line(&format!(
        "twenty-four: 48 h as it is, with a maintainer who leaves things lying: {} turns, {cycle} of them of the cycle; \
         at most {day} in a day, {live} at once",
        made.len()
    ));
}

/// With a maintainer who merges everything, the budget of five a day is all that holds the plan back.
#[test]
fn nothing_but_the_budget_holds_the_plan_back() {
    const DAYS: usize = 4;
    let repository = repository("");
    let shared = spend(eager(&repository), 24 * DAYS as i64, |_| false);
    let (sessions, writes) = books(&shared);
    let made = made(&sessions);
    let cycle = check_order(&made, 0);
    check_budget(&sessions, &writes, DAILY, ACTIVE);
    one_session_a_turn(&sessions, &judge::state(&shared), "eager");
    assert!(
        cycle + 1 >= 2 * DAYS && cycle <= 3 * DAYS,
        "the cycle has its share: {cycle} of {}",
        made.len()
    );
    assert_eq!(
        made.len(),
        DAILY * DAYS,
        "each day's budget is used up: {made:?}"
    );
}

/// Cycle and clock share the day, and the forecast shows who gets what.
#[test]
fn of_a_hundred_sessions_the_cycle_has_forty() {
    let turns_of = |more: &str| {
        let repository = repository(more);
        let from = ["--from", "2026-01-05T00:00:00Z", "--days", "20"];
        let arguments = [&["simulate", repository.text(), "--json"], &from[..]].concat();
        let summary = Phileas::new(&arguments)
            .run()
            .expect(0)
            .lines()
            .pop()
            .unwrap();
        let all = summary["summary"]["turns"].as_u64().unwrap();
        let cycle = summary["summary"]["turns_of"]["default"].as_u64().unwrap();
        let text = Phileas::new(&arguments[..2]).run().expect(0);
        assert!(text.out.contains("Who gets what"), "{text}");
        let last = text.out.lines().last().unwrap();
        assert!(last.contains(" sessions; at most "), "{text}");
        (cycle, all)
    };
    let (cycle, all) = turns_of("");
    assert!((98..=102).contains(&all), "{cycle} of {all}");
    assert!((38..=42).contains(&cycle), "{cycle} of {all}");
    let (none, all) = turns_of("[budget]\ntrack_share = 0\n");
    assert!(none < 20, "{none} of {all}");
    print_line(&format!(
        "twenty-four: the cycle has {cycle} of {all} sessions, and {none} without its share"
    ));
}

/// At five sessions a day, shared with 23 schedules, the cycle would take three months to come round. The budget is
/// raised here, and nothing else.
#[test]
fn the_cycle_visits_the_twenty_four_in_order() {
    let budget =
        "[budget]\ndaily_sessions = 90\nmax_active = 4\nmax_open_pulls = 20\ntier = \"pro\"\n";
    let repository = repository(budget);
    let come_round = |sessions: &[Session]| {
        made(sessions)
            .iter()
            .any(|one| one.track == "default" && one.seq == 25)
    };
    let shared = spend(eager(&repository), 48, come_round);
    let (sessions, writes) = books(&shared);
    let made = made(&sessions);
    let cycle = check_order(&made, 0);
    assert_eq!(cycle, 25, "the cycle came round within two days");
    let (day, live) = check_budget(&sessions, &writes, 90, 4);
    one_session_a_turn(&sessions, &judge::state(&shared), "raised budget");
    print_line(&format!(
        "twenty-four: with the budget raised: {} turns, {cycle} of them of the cycle; at most {day} in a day, \
         {live} at once",
        made.len()
    ));
}

fn eager(repository: &Folder) -> WorldSetup {
    let mut setup = WorldSetup::new(7);
    setup.repo = Some(repository.path().to_owned());
    setup.review_policy = ReviewPolicy::eager();
    setup.jules.asks = 0.0;
    setup.jules.weights = Weights::only_changes();
    setup
}

fn books(shared: &SharedWorld) -> (Vec<Session>, Vec<Write>) {
    let books = shared.lock_world().complete_books();
    (books.sessions, books.github_writes)
}

/// A ledger of each shape goes on with the persona after its last, and every value that it holds keeps its bytes.
#[test]
fn every_shape_of_ledger_is_continued() {
    let repository = repository("");
    for (shape, entries, next) in [
        ("v1-flat-last", 49, "builder"),
        ("v2-list", 55, "scribe"),
        ("v3-list-tracks", 86, "typeguard"),
        ("v4-dict", 87, "janitor"),
    ] {
        let before = fixture(&format!("state/{shape}.json"));
        let ledger = Folder::ledger(&before);
        let spent = headless(&[
            "--repo",
            repository.text(),
            "--ledger",
            ledger.text(),
            "--until",
            "1h",
        ]);
        let made = made(&spent.books.sessions);
        let first = personas().iter().position(|id| id == next).unwrap();
        assert!(check_order(&made, first) > 0, "{shape}: the cycle goes on");
        let old = old_entries(&serde_json::from_str(&before).unwrap());
        assert_eq!(old.len(), entries, "{shape}");
        let after = judge::history(&spent.state);
        for (key, entry) in old.iter().enumerate() {
            for (name, value) in entry.as_object().unwrap() {
                assert_eq!(after[key][name], *value, "{shape}: entry {key}, {name}");
            }
        }
        assert_eq!(
            after.len(),
            entries + made.len(),
            "{shape}: each new turn has one entry"
        );
        check_new(&made, &after[entries..], shape);
    }
}

/// Entry by entry as this program's codec wrote the same file before anything ran.
#[test]
fn the_87_entries_stand_byte_for_byte() {
    let repository = repository("");
    let ledger = Folder::ledger(&fixture("state/v4-dict.json"));
    let spent = headless(&[
        "--repo",
        repository.text(),
        "--ledger",
        ledger.text(),
        "--until",
        "3h",
    ]);
    let golden: Value = serde_json::from_str(&fixture("state/v4-dict.as-v5.json")).unwrap();
    let (golden, after) = (judge::history(&golden), judge::history(&spent.state));
    assert_eq!(golden.len(), 87);
    for (key, (golden, after)) in golden.iter().zip(&after).enumerate() {
        assert_eq!(golden.to_string(), after.to_string(), "entry {key}");
    }
    assert!(after.len() > golden.len());
}

/// The sandbox continues the ledger of another repository, whose times are later than the sandbox's own start.
#[test]
fn a_ledger_from_elsewhere_is_continued() {
    let first = headless(&["--until", "24h"]);
    let ledger = first.export.join("out/branches/jules");
    let mut state = first.state.clone();
    state["genesis"]["repository_id"] = 4711.into();
    std::fs::write(ledger.join(".jules/cycle_state.json"), state.to_string()).unwrap();
    let second = headless(&["--ledger", ledger.to_str().unwrap(), "--until", "24h"]);
    let sum = second.ended.lines().pop().unwrap();
    assert_eq!(sum["sandbox"]["failed_ticks"], 0, "{sum}");
    let (old, new) = (judge::history(&first.state), judge::history(&second.state));
    let started = made(&second.books.sessions);
    assert!(!started.is_empty(), "{sum}");
    assert_eq!(new.len(), old.len() + started.len());
    for one in &started {
        let mut known = first.books.sessions.iter();
        assert!(
            known.all(|old| old.id != one.session && old.created_at < Some(one.at)),
            "{one:?}"
        );
    }
}

/// A time in the future is not one up to which the ledger was written.
#[test]
fn a_pause_of_a_ledger_does_not_end_before_the_sandbox_begins() {
    let ledger = Folder::ledger(
        r#"{"version": 5, "history": {"0": {"persona": "a", "session_id": "1", "created_at": "2029-05-01T10:00:00Z"}},
            "budget": {"paused_until": "2031-05-01T10:00:00Z"}}"#,
    );
    let mut setup = WorldSetup::new(7);
    setup.ledger = Some(ledger.path().to_owned());
    let (world, _) = setup.build_world().unwrap();
    assert_eq!(world.now().to_string(), "2029-05-01T10:00:01Z");
}

/// The entries of an old file, oldest first.
fn old_entries(file: &Value) -> Vec<Value> {
    match &file["history"] {
        Value::Array(list) => list.iter().rev().cloned().collect(),
        Value::Object(entries) => {
            let by_key: BTreeMap<u64, &Value> = entries
                .iter()
                .map(|(key, entry)| (key.parse().unwrap(), entry))
                .collect();
            by_key.into_values().cloned().collect()
        }
        other => panic!("no history: {other}"),
    }
}

#[track_caller]
fn check_new(made: &[Made], entries: &[&Value], shape: &str) {
    for one in made {
        let named = entries
            .iter()
            .filter(|entry| entry["session_id"] == one.session);
        let turns: Vec<_> = named.map(|entry| entry["turn"].as_str().unwrap()).collect();
        assert_eq!(turns, [one.turn.as_str()], "{shape}: {one:?}");
    }
}

/// Corrupt is not absent: nothing starts, nothing is written over it, and one issue says so, however often it is met.
#[test]
fn r12_a_corrupt_ledger_stops_everything_and_says_so_once() {
    let repository = repository("");
    let corrupt = fixture("state/corrupt-conflict-markers.json");
    let ledger = Folder::ledger(&corrupt);
    let mut setup = WorldSetup::new(7);
    setup.repo = Some(repository.path().to_owned());
    setup.ledger = Some(ledger.path().to_owned());
    setup.review_policy = ReviewPolicy::absent();
    let (world, repo) = setup.build_world().unwrap();
    let shared = SharedWorld::new(world);
    let head = |shared: &SharedWorld| shared.lock_world().github().branch_head(repo, "jules");
    let before = head(&shared);
    let served = Served::start(&shared, None);
    for tick in 1..=11 {
        let ended = Phileas::tick(&served).run().expect(5);
        let reasons: Vec<Value> = ended
            .lines()
            .iter()
            .map(|line| line["reason"].clone())
            .collect();
        assert!(reasons.contains(&"paused.ledger_corrupt".into()), "{ended}");
        assert_eq!(head(&shared), before, "tick {tick} wrote to the branch");
        let world = shared.lock_world();
        let issues: Vec<_> = world.github().issues(repo).collect();
        assert_eq!(issues.len(), 1, "after tick {tick}");
        let text = format!("{} {:?}", issues[0].title, issues[0].body);
        for word in [
            "cannot be read",
            ".jules/cycle_state.json",
            "merge-conflict markers",
            "phileas state repair",
        ] {
            assert!(text.contains(word), "`{word}` is missing: {text}");
        }
        drop(world);
        shared.advance_time(crate::support::ticks::MINUTE * 61);
    }
    assert!(
        shared.lock_world().books().sessions.is_empty(),
        "nothing was started"
    );
    assert_eq!(
        judge::file_on(&shared, "jules", ".jules/cycle_state.json"),
        Some(corrupt)
    );
}
