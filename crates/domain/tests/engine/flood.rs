//! Crowds of accounts without write access give commands: what they cost, and that nobody else goes unheard for them.

use phileas_domain::engine::{Comment, Further, Reach, Reason};

use crate::desk::Desk;

/// How many accounts one tick looks up.
const LOOKED_UP: usize = 50;

fn desk() -> Desk {
    let mut desk = Desk::new("", &["a", "b"]);
    desk.writer("ada");
    desk.issue(7, "It is slow", "Opening takes a minute.");
    desk
}

/// So many strangers, each with a command on an issue of its own.
fn crowd(desk: &mut Desk, count: usize, body: &str) {
    for number in 0..count {
        let issue = 1_000 + number as u64;
        desk.issue(issue, "Hello", "");
        desk.writes(issue, body, &format!("stranger{number}"));
    }
}

fn is_paused(desk: &Desk) -> bool {
    desk.state().paused.is_some()
}

/// A writer whom the ledger has let through before.
fn known(desk: &mut Desk) {
    desk.writes(7, "/phileas status", "ada");
    desk.tick();
    desk.minutes(20);
}

#[test]
fn a_writer_is_heard_under_any_flood() {
    for count in [57, 3_000] {
        for body in ["/phileas run b", "/phileas stop"] {
            // One whom the ledger knows, and one whom GitHub calls a collaborator.
            for is_known in [true, false] {
                for (word, first) in [("pause", true), ("stop", true), ("pause", false)] {
                    let mut desk = desk();
                    if is_known {
                        known(&mut desk);
                    }
                    let command = format!("/phileas {word}");
                    if first {
                        desk.writes(7, &command, "ada");
                    }
                    crowd(&mut desk, count, body);
                    if !first {
                        desk.writes(7, &command, "ada");
                    }
                    if !is_known {
                        let mut said = desk.said.iter_mut();
                        let own = said.find(|one| one.thread == 7 && one.body == command);
                        own.unwrap().insider = true;
                    }
                    let asked = desk.asked_about;
                    desk.tick();
                    assert!(is_paused(&desk), "{count} {body} {is_known} {word} {first}");
                    assert!(desk.asked_about - asked <= LOOKED_UP);
                    assert_eq!(
                        desk.subjects_asked,
                        [7].into(),
                        "no issue of strangers is read"
                    );
                    assert!(desk.lines.len() < 60, "{}", desk.lines.len());
                }
            }
        }
    }
}

/// Also somebody of whom neither the ledger nor GitHub tells anything: the crowd before them is worked off, and each of
/// it is looked up once while that is remembered.
#[test]
fn an_unknown_writer_is_heard_when_the_crowd_before_is_worked_off() {
    let mut desk = desk();
    crowd(&mut desk, 100, "/phileas run b");
    desk.minutes(1);
    desk.writes(7, "/phileas run a", "ada");
    for _ in 0..8 {
        desk.tick();
        desk.minutes(1);
        let writers = ["ada".to_owned()];
        let refused = desk
            .accounts_asked
            .iter()
            .filter(|one| !writers.contains(one));
        desk.heard.refused = refused.map(|login| login.as_str().into()).collect();
    }
    assert_eq!(desk.personas_run(), ["a"]);
    let mut once = desk.accounts_asked.clone();
    once.retain(|login| login != "ada");
    once.sort();
    let all = once.len();
    once.dedup();
    assert_eq!((once.len(), all), (100, 100));
    // Nothing is asked for any more.
    let asked = desk.asked_about;
    desk.tick();
    assert_eq!(desk.asked_about, asked);
}

/// Without a memory, as in a workflow, the ledger tells how far the crowd was worked off.
#[test]
fn a_crowd_costs_so_many_look_ups_a_tick_and_ends() {
    let mut desk = desk();
    known(&mut desk);
    for number in 0..57 {
        desk.writes(7, "/phileas run b", &format!("stranger{number}"));
        desk.now += jiff::SignedDuration::from_secs(1);
    }
    let (mut ticks, mut before) = (0, desk.asked_about);
    loop {
        desk.minutes(20);
        desk.tick();
        let cost = desk.asked_about - before;
        before = desk.asked_about;
        assert!(cost <= LOOKED_UP, "{cost}");
        if cost == 0 {
            break;
        }
        ticks += 1;
        assert!(ticks < 12, "they are looked up for ever");
    }
    assert!(desk.sessions.is_empty());
}

/// The newest comments of a thread are all that the first read shows: what a crowd pushed out of it is read apart.
#[test]
fn what_a_crowd_pushed_out_of_sight_is_heard() {
    let mut desk = desk();
    known(&mut desk);
    let before = desk.now;
    desk.writes(7, "/phileas pause", "ada");
    let paused = desk.said.pop().unwrap();
    desk.minutes(1);
    for number in 0..10 {
        desk.writes(7, "hello", &format!("stranger{number}"));
    }
    desk.heard.cut.insert(7, desk.now);
    desk.issue(8, "Closed", "");
    desk.subject(8).open = false;
    let on_closed = Comment {
        id: "IC_closed".to_owned(),
        number: 900,
        thread: 8,
        body: "/phileas run b".to_owned(),
        ..paused.clone()
    };
    desk.further = Some(Further {
        comments: vec![paused, on_closed],
        reach: Reach::All,
    });
    desk.tick();
    assert!(is_paused(&desk), "{:?}", desk.lines);
    assert!(
        desk.sessions.is_empty(),
        "what is closed counts for nothing"
    );
    assert!(!desk.all_reasons().contains(&Reason::CommentsMissed));
    assert!(desk.state().cursors.comments_since.unwrap() < before);
}

/// Thousands are read over several ticks, from where the last one ended.
#[test]
fn more_than_a_tick_reads_is_read_on_by_the_next_one() {
    let mut desk = desk();
    known(&mut desk);
    let from = desk.state().cursors.comments_since.unwrap();
    desk.hours(3);
    desk.heard.cut.insert(7, desk.now);
    let until = desk.now - jiff::SignedDuration::from_hours(1);
    desk.further = Some(Further {
        comments: Vec::new(),
        reach: Reach::Until(until),
    });
    desk.tick();
    assert_eq!(desk.comments_since_asked, [from]);
    let cursor = desk.state().cursors.comments_since.unwrap();
    assert_eq!(cursor, until - jiff::SignedDuration::from_secs(1));
    assert!(
        !desk.all_reasons().contains(&Reason::CommentsMissed),
        "{:?}",
        desk.lines
    );
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.comments_since_asked, [from, cursor]);
}

/// A crowd that wrote within one second, where nothing but the ledger remembers: it is worked off, or given up and said so.
#[test]
fn a_crowd_of_one_second_ends_as_well() {
    let mut desk = desk();
    known(&mut desk);
    crowd(&mut desk, 300, "/phileas run b");
    let mut said = false;
    let mut costs = Vec::new();
    for _ in 0..30 {
        desk.minutes(20);
        let before = desk.asked_about;
        desk.tick();
        costs.push(desk.asked_about - before);
        said |= desk.all_reasons().contains(&Reason::CommentsMissed);
    }
    assert!(costs.iter().all(|cost| *cost <= LOOKED_UP), "{costs:?}");
    assert_eq!(costs.last(), Some(&0), "{costs:?}");
    assert!(said, "what was given up is said");
    let mut all: Vec<&String> = desk.accounts_asked.iter().collect();
    all.sort();
    all.dedup();
    assert!(
        all.len() > 150,
        "not the same ones each time: {}",
        all.len()
    );
}
