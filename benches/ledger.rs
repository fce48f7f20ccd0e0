//! How long deciding takes in a large repository, and how long its state file takes to be read and written.
//!
//! `cargo bench --bench ledger`. The figures to reach: `decide` with 100 tracks and 10,000 history entries within 1 ms, also
//! in an idle tick with 10,000 records of work and 100 open pull requests; load and save of the hot state file within 5 ms.
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    Checks, KeyUsage, Ledger, Listing, Mergeable, Pull, PullState, Repository, Sessions, Snapshot,
    decide, read_requests,
};
use phileas_domain::model::{
    Oid, PullNumber, RepositoryId, SessionId, Slot, TrackName, Tree, TurnId,
};
use phileas_domain::plan::{self, Driver};
use phileas_domain::state::segment::HISTORY_SEGMENT;
use phileas_domain::state::{HistoryEntry, Outcome, State, TrackState, WorkFacts, codec};
use phileas_domain::work::JULES_BOT_ID;

const TRACKS: u64 = 100;
const ENTRIES: u64 = 10_000;
/// Pull requests that are open, of which each has a record.
const OPEN: u64 = 100;
const NONCE: &str = "9f3c5a0e77b1";

fn now() -> Timestamp {
    Timestamp::from_second(1_767_571_200).expect("2026-01-05T00:00:00Z is in range")
}

/// A state with so many finished turns, spread evenly over the tracks.
fn state(entries: u64) -> State {
    let repository = RepositoryId(42);
    let mut state = State::new_ledger(repository, now(), NONCE.to_owned());
    for key in 0..entries {
        let (track, seq) = (
            TrackName::new(format!("track-{}", key % TRACKS)),
            key / TRACKS + 1,
        );
        let slot = Slot::from("");
        let at = now()
            - SignedDuration::from_mins(i64::try_from(entries - key).expect("a small number"));
        state.history.insert(
            key,
            HistoryEntry {
                persona_id: format!("persona-{}", key % 24).into(),
                session_id: Some(SessionId::new(format!("{:018}", 100_000 + key))),
                pr_number: Some(PullNumber(key + 1)),
                created_at: Some(at),
                turn: Some(TurnId::derive(NONCE, repository, &track, seq, &slot)),
                track: Some(track.clone()),
                seq: Some(seq),
                slot: Some(slot),
                attempt: Some(1),
                base_sha: Some(Oid::new(format!("{key:040x}"))),
                outcome: Some(if key % 7 == 0 {
                    Outcome::Rejected
                } else {
                    Outcome::Merged
                }),
                finished_at: Some(at),
                duplicates: Vec::new(),
                zero_touch: None,
                review_secs: None,
                refused: None,
                prompt: None,
                note: None,
                extra: serde_json::Map::new(),
            },
        );
        state.tracks.insert(
            track,
            TrackState {
                persona_id: Some(format!("persona-{}", key % 24).into()),
                session_id: Some(SessionId::new(format!("{:018}", 100_000 + key))),
                updated_at: Some(at),
                index: Some(seq % 3),
                seq,
                ..TrackState::default()
            },
        );
    }
    state
}

fn plan_files() -> Tree {
    let mut schedules = String::from("[budget]\nmax_active = 3\n[tracks]\n");
    for track in 0..TRACKS {
        schedules.push_str(&format!(
            "track-{track} = [\"persona-{}\", \"persona-{}\", \"persona-{}\"]\n",
            track % 24,
            (track + 1) % 24,
            (track + 2) % 24
        ));
    }
    let mut files = BTreeMap::from([(plan::SCHEDULES_PATH.to_owned(), schedules)]);
    for persona in 0..24 {
        let text = format!("---\nid: persona-{persona}\nemoji: x\n---\nDo the work.\n");
        files.insert(format!(".jules/personas/persona-{persona}/prompt.md"), text);
    }
    Tree::from_texts(files)
}

fn snapshot() -> Snapshot {
    let tree = plan_files();
    let repository = Repository {
        id: RepositoryId(42),
        name: "acme/widget".parse().expect("a good name"),
        public: false,
        archived: false,
        default_branch: "main".into(),
        default_head: Some(Oid::new("a".repeat(40))),
        default_checks: Checks::Passed,
    };
    let snapshot = Snapshot {
        entropy: [7; 32],
        holder: "bench".into(),
        driver: Driver::Server,
        ledger: Ledger::Present {
            head: Oid::new("b".repeat(40)),
            state: Box::new(state(ENTRIES)),
        },
        sessions: Listing::Taken(Sessions {
            taken_at: now(),
            since: None,
            archived: true,
            sessions: Vec::new(),
            key: KeyUsage::default(),
        }),
        ..Snapshot::unread(now(), repository, tree)
    };
    assert_eq!(snapshot.plan_diagnostics, []);
    snapshot
}

/// Nothing is due: the newest pull requests are open, and their number holds every track. All have a record, which an idle
/// tick does not read.
fn idle(snapshot: &Snapshot) -> Snapshot {
    let mut idle = snapshot.clone();
    let mut state = state(ENTRIES);
    state.work.remembered = ENTRIES;
    for key in ENTRIES - OPEN..ENTRIES {
        let pull = open_pull(PullNumber(key + 1));
        let entry = state.history.get_mut(&key).expect("an entry");
        entry.outcome = Some(Outcome::PrOpen);
        state.work.open.insert(pull.number);
        let facts = WorkFacts::new(pull.head_oid.clone());
        state.work.facts.insert(pull.number, facts);
        idle.pulls.insert(pull.number, pull);
    }
    idle.ledger = Ledger::Present {
        head: Oid::new("b".repeat(40)),
        state: Box::new(state),
    };
    idle
}

fn open_pull(number: PullNumber) -> Pull {
    Pull {
        number,
        state: PullState::Open,
        draft: false,
        title: "Escape quotes in attributes".to_owned(),
        body: String::new(),
        author: "google-labs-jules[bot]".into(),
        bot_id: Some(JULES_BOT_ID),
        head: format!("jules-{number}").as_str().into(),
        head_oid: Oid::new(format!("{:040x}", number.0)),
        same_repository: true,
        base: "main".into(),
        created_at: now(),
        closed_at: None,
        reviewed: false,
        checks: Checks::Passed,
        mergeable: Mergeable::Yes,
    }
}

fn ledger(criterion: &mut Criterion) {
    let snapshot = snapshot();
    let decision = decide(&snapshot, &[]);
    println!(
        "decide: {} lines, {} effects",
        decision.report.lines.len(),
        decision.effects.len()
    );
    criterion.bench_function("decide, 100 tracks, 10,000 history entries", |bencher| {
        bencher.iter(|| decide(black_box(&snapshot), &[]));
    });
    let idle = idle(&snapshot);
    assert!(decide(&idle, &[]).change.is_none() && read_requests(&idle).is_empty());
    criterion.bench_function("decide, an idle tick, 10,000 records of work", |bencher| {
        bencher.iter(|| decide(black_box(&idle), &[]));
    });
    let text = codec::save(&state(HISTORY_SEGMENT as u64));
    println!(
        "state file: {} entries, {} bytes",
        HISTORY_SEGMENT,
        text.len()
    );
    criterion.bench_function("load + save of the hot state file", |bencher| {
        bencher.iter(|| codec::save(&codec::load(black_box(&text)).expect("a good state").state));
    });
}

criterion_group!(benches, ledger);
criterion_main!(benches);
