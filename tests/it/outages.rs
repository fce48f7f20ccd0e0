//! Jules answers 503 for two hours, drops every request for two hours, or drops a third of them for days: the cycle goes
//! on by itself within an hour of the end, and no turn has two sessions. All of it is recounted from the world's books.
//!
//! `cargo test` plays few seeds of each; `OUTAGE_SEEDS` says how many, and 20 are the whole. Drops last ten days where a
//! workflow ticks once an hour, and some hours where a service ticks whenever something is due.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas::sandbox::{SharedWorld, Timeline, WorldSetup, world_setup};
use phileas_world::jules::Weights;
use phileas_world::maintainer::ReviewPolicy;
use phileas_world::{Face, Fault, FaultRule};

use crate::support::judge::{self, Made, made};
use crate::support::print_line;

const FEW_SEEDS: u64 = 2;
const FEW_HOURS: i64 = 5;
const TEN_DAYS: i64 = 240;
/// Within this of the end of an outage the cycle has gone on.
const GOES_ON: SignedDuration = SignedDuration::from_hours(1);
/// By how much a listing lags behind a create: not at all, by what `--chaos` plays, and nearly by the grace.
const LAGS: [u64; 3] = [0, 240, 600];

const PLAN: &str = "cycle = [\"curator\", \"refactor\", \"tester\"]

[budget]
daily_sessions = 200
max_open_pulls = 50
tier = \"ultra\"

[defaults]
skip_unchanged = false
rest_after = 0
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outage {
    /// Creates are answered with 503.
    Unavailable,
    /// Every request is dropped, before or after it was carried out.
    Dropped,
    /// So is nearly every third.
    ThirdDropped,
    /// The same, while only the hour brings ticks about.
    ThirdDroppedHourly,
}

/// How many seeds are played.
fn seeds() -> u64 {
    let text = std::env::var("OUTAGE_SEEDS").ok();
    text.map_or(FEW_SEEDS, |text| text.parse().unwrap())
}

/// The rules of an outage from one instant to another.
fn rules(outage: Outage, from: Timestamp, until: Timestamp) -> Vec<FaultRule> {
    let rule = |probability, fault| FaultRule {
        face: Some(Face::Jules),
        method: None,
        path: None,
        body: None,
        nth: None,
        probability,
        from: Some(from),
        until: Some(until),
        fault,
    };
    // What the first rule spares meets the second: together they drop as much as is meant.
    let drops = |before, after| {
        vec![
            rule(before, Fault::DropBefore {}),
            rule(after, Fault::DropAfter {}),
        ]
    };
    match outage {
        Outage::Dropped => drops(Some(0.5), None),
        Outage::ThirdDropped | Outage::ThirdDroppedHourly => drops(Some(0.15), Some(0.15 / 0.85)),
        Outage::Unavailable => {
            let fault = Fault::Status {
                status: 503,
                retry_after: None,
                html: false,
                done: false,
            };
            vec![FaultRule {
                method: Some("POST".to_owned()),
                path: Some("/v1alpha/sessions".to_owned()),
                ..rule(None, fault)
            }]
        }
    }
}

/// A cycle of which a session is at work nearly always, and when the outage begins and ends.
fn cycle_setup(outage: Outage, seed: u64, hours: i64) -> (WorldSetup, Timestamp, Timestamp) {
    let mut setup = WorldSetup::new(seed);
    setup.texts = BTreeMap::from([(".jules/schedules.toml".to_owned(), PLAN.to_owned())]);
    setup.review_policy = ReviewPolicy::eager();
    setup.tier = phileas_world::jules::Tier::Ultra;
    setup.jules.asks = 0.0;
    setup.jules.weights = Weights::only_changes();
    setup.jules.longest_minutes = 20.0;
    setup.knobs.listing_lag_seconds = LAGS[seed as usize % LAGS.len()];
    let from = setup.start + SignedDuration::from_mins(60 + 7 * seed as i64);
    let until = from + SignedDuration::from_hours(hours);
    setup.faults.rules = rules(outage, from, until);
    (setup, from, until)
}

/// Plays an outage and what follows it; answers with how long after its end the cycle went on.
fn play(outage: Outage, seed: u64, hours: i64) -> SignedDuration {
    let context = format!("{outage:?}, seed {seed}");
    let (setup, from, until) = cycle_setup(outage, seed, hours);
    let start = setup.start;
    let shared = SharedWorld::new(setup.build_world().unwrap().0);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let span = until.duration_since(start) + GOES_ON;
        let mut days = Timeline::new(shared.clone(), world_setup::repository_name(), span, seed);
        if outage == Outage::ThirdDroppedHourly {
            days.by_the_hour();
        }
        while let Some(ticked) = days.next().await {
            let result = &ticked.result;
            assert!(result.is_ok(), "{context}: {}: {result:?}", ticked.at);
        }
    });
    let made = made(&shared.lock_world().complete_books().sessions);
    nothing_is_doubled(&shared, &made, until, &context);
    let before = made.iter().filter(|one| one.at < from).count();
    let during = made.iter().filter(|one| one.at >= from && one.at < until);
    assert!(before >= 1, "{context}: the cycle was at work before");
    if matches!(outage, Outage::ThirdDropped | Outage::ThirdDroppedHourly) {
        let (least, during) = (usize::try_from(hours / 3).unwrap(), during.count());
        assert!(during >= least, "{context}: it goes on meanwhile: {during}");
    }
    let next = made.iter().find(|one| one.at >= until);
    let next = next.unwrap_or_else(|| panic!("{context}: the cycle stands still after {until}"));
    next.at.duration_since(until)
}

/// Each turn has one session, each session from before the end stands in the history, and no person was asked about a
/// turn.
#[track_caller]
fn nothing_is_doubled(shared: &SharedWorld, made: &[Made], until: Timestamp, context: &str) {
    let mut by_turn: BTreeMap<&str, Vec<&Made>> = BTreeMap::new();
    for one in made {
        by_turn.entry(&one.turn).or_default().push(one);
    }
    for sessions in by_turn.values() {
        assert_eq!(sessions.len(), 1, "{context}: {sessions:?}");
    }
    let state = judge::state(shared);
    let history = judge::history(&state);
    for one in made.iter().filter(|one| one.at < until) {
        let named = history
            .iter()
            .filter(|entry| entry["session_id"] == one.session);
        assert_eq!(named.count(), 1, "{context}: {one:?}");
    }
    let second = history.iter().find(|entry| {
        let duplicates = entry["duplicates"].as_array();
        duplicates.is_some_and(|list| !list.is_empty())
    });
    assert_eq!(second, None, "{context}");
    let writes = shared.lock_world().complete_books().github_writes;
    let asked = writes.iter().find(|write| {
        let body = write.detail["body"].as_str().unwrap_or_default();
        write.what == "issue.opened" && body.contains("phileas:notice:turn:")
    });
    assert!(asked.is_none(), "{context}: {asked:?}");
}

#[track_caller]
fn assert_recovery(outage: Outage, hours: i64) {
    let seeds = seeds();
    let begun = std::time::Instant::now();
    let pauses: Vec<SignedDuration> = (0..seeds).map(|seed| play(outage, seed, hours)).collect();
    let longest = pauses.iter().max().copied().unwrap_or_default();
    assert!(longest <= GOES_ON, "{outage:?}: {pauses:?}");
    print_line(&format!(
        "outages: {outage:?} for {hours} h, {seeds} seeds: the cycle goes on after {longest:#} at the latest, nothing is \
         doubled ({:.1?})",
        begun.elapsed()
    ));
}

#[test]
fn two_hours_of_503_stop_no_cycle() {
    assert_recovery(Outage::Unavailable, 2);
}

#[test]
fn two_hours_of_dropped_requests_stop_no_cycle() {
    assert_recovery(Outage::Dropped, 2);
}

#[test]
fn hours_of_dropped_requests_stop_no_cycle() {
    assert_recovery(Outage::ThirdDropped, FEW_HOURS);
}

#[test]
fn ten_days_of_dropped_requests_stop_no_cycle() {
    assert_recovery(Outage::ThirdDroppedHourly, TEN_DAYS);
}
