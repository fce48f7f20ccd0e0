//! Tests many comments of accounts without write access: their cost, and that writers' commands are accepted all the same.

use phileas_domain::engine::{Comment, FurtherComments, ReadReach, Reason};

use crate::support::scenario::Scenario;

/// How many permissions one tick reads.
const LOOKED_UP: usize = 50;

fn scenario() -> Scenario {
    let mut scenario = Scenario::new("", &["a", "b"]);
    scenario.writer("ada");
    scenario.issue(7, "It is slow", "Opening takes a minute.");
    scenario
}

/// This many unauthorized users, each with a command on an issue of its own.
fn add_comments(scenario: &mut Scenario, count: usize, body: &str) {
    for number in 0..count {
        let issue = 1_000 + number as u64;
        scenario.issue(issue, "Hello", "");
        scenario.writes(issue, body, &format!("outsider{number}"));
    }
}

fn is_paused(scenario: &Scenario) -> bool {
    scenario.state().paused.is_some()
}

/// A writer that the ledger has authorized before.
fn known(scenario: &mut Scenario) {
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    scenario.minutes(20);
}

#[test]
fn a_writers_command_is_accepted_under_any_flood() {
    for count in [57, 3_000] {
        for body in ["/phileas run b", "/phileas stop"] {
            // One that the ledger knows, and one that GitHub calls a collaborator.
            for is_known in [true, false] {
                for (word, first) in [("pause", true), ("stop", true), ("pause", false)] {
                    let mut scenario = scenario();
                    if is_known {
                        known(&mut scenario);
                    }
                    let command = format!("/phileas {word}");
                    if first {
                        scenario.writes(7, &command, "ada");
                    }
                    add_comments(&mut scenario, count, body);
                    if !first {
                        scenario.writes(7, &command, "ada");
                    }
                    if !is_known {
                        let mut said = scenario.said.iter_mut();
                        let own = said.find(|one| one.thread == 7 && one.body == command);
                        own.unwrap().may_belong_to_project = true;
                    }
                    let asked = scenario.permission_reads;
                    scenario.tick();
                    assert!(
                        is_paused(&scenario),
                        "{count} {body} {is_known} {word} {first}"
                    );
                    assert!(scenario.permission_reads - asked <= LOOKED_UP);
                    assert_eq!(
                        scenario.subjects_read,
                        [7].into(),
                        "no issue of unauthorized users is read"
                    );
                    assert!(scenario.lines.len() < 60, "{}", scenario.lines.len());
                }
            }
        }
    }
}

/// Also an account unknown to the ledger and GitHub: the comments before it are worked off, and each account is read once
/// while that is remembered.
#[test]
fn an_unknown_writers_command_is_accepted_after_many_comments() {
    let mut scenario = scenario();
    add_comments(&mut scenario, 100, "/phileas run b");
    scenario.minutes(1);
    scenario.writes(7, "/phileas run a", "ada");
    for _ in 0..8 {
        scenario.tick();
        scenario.minutes(1);
        let writers = ["ada".to_owned()];
        let refused = scenario
            .accounts_read
            .iter()
            .filter(|one| !writers.contains(one));
        scenario.comment_coverage.refused = refused.map(|login| login.as_str().into()).collect();
    }
    assert_eq!(scenario.personas_run(), ["a"]);
    let mut once = scenario.accounts_read.clone();
    once.retain(|login| login != "ada");
    once.sort();
    let all = once.len();
    once.dedup();
    assert_eq!((once.len(), all), (100, 100));
    // Nothing more is read.
    let asked = scenario.permission_reads;
    scenario.tick();
    assert_eq!(scenario.permission_reads, asked);
}

/// Without memory, as in a workflow, the ledger records how far the comments were worked off.
#[test]
fn many_accounts_cost_few_reads_a_tick_and_end() {
    let mut scenario = scenario();
    known(&mut scenario);
    for number in 0..57 {
        scenario.writes(7, "/phileas run b", &format!("outsider{number}"));
        scenario.now += jiff::SignedDuration::from_secs(1);
    }
    let (mut ticks, mut before) = (0, scenario.permission_reads);
    loop {
        scenario.minutes(20);
        scenario.tick();
        let cost = scenario.permission_reads - before;
        before = scenario.permission_reads;
        assert!(cost <= LOOKED_UP, "{cost}");
        if cost == 0 {
            break;
        }
        ticks += 1;
        assert!(ticks < 12, "they are looked up for ever");
    }
    assert!(scenario.sessions.is_empty());
}

/// The newest comments of a thread are all that the first read shows: what newer comments displaced is read apart.
#[test]
fn a_command_that_newer_comments_displaced_is_accepted() {
    let mut scenario = scenario();
    known(&mut scenario);
    let before = scenario.now;
    scenario.writes(7, "/phileas pause", "ada");
    let paused = scenario.said.pop().unwrap();
    scenario.minutes(1);
    for number in 0..10 {
        scenario.writes(7, "hello", &format!("outsider{number}"));
    }
    scenario.comment_coverage.cut.insert(7, scenario.now);
    scenario.issue(8, "Closed", "");
    scenario.subject(8).open = false;
    let on_closed = Comment {
        id: "IC_closed".to_owned(),
        number: 900,
        thread: 8,
        body: "/phileas run b".to_owned(),
        ..paused.clone()
    };
    scenario.further = Some(FurtherComments {
        comments: vec![paused, on_closed],
        reach: ReadReach::All,
    });
    scenario.tick();
    assert!(is_paused(&scenario), "{:?}", scenario.lines);
    assert!(
        scenario.sessions.is_empty(),
        "what is closed counts for nothing"
    );
    assert!(!scenario.all_reasons().contains(&Reason::CommentsMissed));
    assert!(scenario.state().cursors.comments_since.unwrap() < before);
}

/// Thousands are read over several ticks, from where the last one ended.
#[test]
fn more_than_a_tick_reads_is_read_on_by_the_next_one() {
    let mut scenario = scenario();
    known(&mut scenario);
    let from = scenario.state().cursors.comments_since.unwrap();
    scenario.hours(3);
    scenario.comment_coverage.cut.insert(7, scenario.now);
    let until = scenario.now - jiff::SignedDuration::from_hours(1);
    scenario.further = Some(FurtherComments {
        comments: Vec::new(),
        reach: ReadReach::Until(until),
    });
    scenario.tick();
    assert_eq!(scenario.comment_reads_since, [from]);
    let cursor = scenario.state().cursors.comments_since.unwrap();
    assert_eq!(cursor, until - jiff::SignedDuration::from_secs(1));
    assert!(
        !scenario.all_reasons().contains(&Reason::CommentsMissed),
        "{:?}",
        scenario.lines
    );
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.comment_reads_since, [from, cursor]);
}

/// Many comments within one second, where only the ledger remembers: they are worked off, or dropped and reported.
#[test]
fn many_comments_of_one_second_end_as_well() {
    let mut scenario = scenario();
    known(&mut scenario);
    add_comments(&mut scenario, 300, "/phileas run b");
    let mut said = false;
    let mut costs = Vec::new();
    for _ in 0..30 {
        scenario.minutes(20);
        let before = scenario.permission_reads;
        scenario.tick();
        costs.push(scenario.permission_reads - before);
        said |= scenario.all_reasons().contains(&Reason::CommentsMissed);
    }
    assert!(costs.iter().all(|cost| *cost <= LOOKED_UP), "{costs:?}");
    assert_eq!(costs.last(), Some(&0), "{costs:?}");
    assert!(said, "what was given up is said");
    let mut all: Vec<&String> = scenario.accounts_read.iter().collect();
    all.sort();
    all.dedup();
    assert!(
        all.len() > 150,
        "not the same ones each time: {}",
        all.len()
    );
}
