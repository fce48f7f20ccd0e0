//! Every sound state that the types allow, for the properties.

use jiff::Timestamp;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use super::{
    Amendment, BudgetState, Cursors, DashboardState, Extra, Genesis, HistoryEntry, Intent,
    MergeState, NextCheck, Outcome, Pause, PersonaState, PublishingState, PullAction, Refusal,
    RefusedEffect, RepeatedPlan, RequestState, ScheduleState, State, StatusState, Timing,
    TrackState, TrackedPull, Turn, WorkFacts, WorkMark, WorkRefusal, WorkState,
};
use crate::model::{Oid, PersonaId, PullNumber, RepositoryId, SessionId, TrackName, TurnId};

fn any_refusal(number: u64) -> WorkRefusal {
    WorkRefusal {
        reason: "wrong".to_owned(),
        never: number.is_multiple_of(2),
        comment: number.is_multiple_of(3).then_some(number),
        ..WorkRefusal::default()
    }
}

fn any_mark(number: u64) -> WorkMark {
    WorkMark {
        twin: number.is_multiple_of(2).then_some(PullNumber(number)),
        white_space: number.is_multiple_of(5),
        ..WorkMark::new("1f".into())
    }
}

fn any_facts(number: u64) -> WorkFacts {
    WorkFacts {
        files: number.is_multiple_of(2).then_some(number),
        added: number,
        protected: number.is_multiple_of(3),
        twin: number.is_multiple_of(5).then_some(PullNumber(number)),
        twin_outcome: number.is_multiple_of(7).then_some(Outcome::Merged),
        ..WorkFacts::new("1f".into())
    }
}

fn any_word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_/:-]{1,8}",
        "\\PC{1,6}",
        Just("\"\\\n\u{1}é🎭".to_owned())
    ]
}

fn any_time() -> impl Strategy<Value = Timestamp> {
    let second = 0_i64..4_000_000_000;
    let nanos = prop_oneof![
        Just(0),
        (0..1_000_000).prop_map(|micros| micros * 1000),
        0..1_000_000_000
    ];
    (second, nanos).prop_map(|(second, nanos)| Timestamp::new(second, nanos).unwrap())
}

pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON knows finite numbers only", |n| n.is_finite())
            .prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("\\PC{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Keys that no version knows.
fn any_extra() -> impl Strategy<Value = Extra> {
    btree_map("zz\\PC{0,4}", any_value(), 0..3).prop_map(|map| map.into_iter().collect())
}

fn turn_id() -> impl Strategy<Value = TurnId> {
    "[0-9a-hjkmnp-tv-z]{12}".prop_map(|text| TurnId::parse(&text).unwrap())
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let words = vec![
        "merged",
        "pr_open",
        "completed",
        "rejected",
        "failed",
        "duplicate",
        "postponed",
    ];
    prop::sample::select(words).prop_map(Outcome::parse)
}

fn any_entry() -> impl Strategy<Value = HistoryEntry> {
    (
        (
            any_word(),
            option::of(any::<u64>()),
            option::of(any_time()),
            option::of(any_word()),
            option::of(turn_id()),
        ),
        (
            option::of(any::<u64>()),
            option::of("\\PC{0,4}"),
            option::of(any::<u32>()),
            option::of(any_word()),
        ),
        (
            option::of(any_outcome()),
            option::of(any_time()),
            option::of("\\PC{0,9}"),
            any_extra(),
        ),
    )
        .prop_map(
            |(
                (persona, pull, created_at, track, turn),
                (seq, slot, attempt, base),
                (outcome, finished_at, note, extra),
            )| {
                HistoryEntry {
                    persona_id: persona.into(),
                    session_id: None,
                    pr_number: pull.map(PullNumber),
                    created_at,
                    track: track.map(Into::into),
                    turn,
                    seq,
                    slot: slot.map(Into::into),
                    attempt,
                    base_sha: base.map(Into::into),
                    outcome,
                    finished_at,
                    duplicates: Vec::new(),
                    zero_touch: None,
                    review_secs: None,
                    refused: None,
                    prompt: None,
                    note,
                    extra,
                }
            },
        )
}

fn any_pause() -> impl Strategy<Value = Pause> {
    (
        option::of(any_time()),
        option::of("\\PC{0,4}"),
        option::of("\\PC{0,4}"),
        any_extra(),
    )
        .prop_map(|(at, by, reason, extra)| Pause {
            at,
            by,
            reason,
            extra,
        })
}

/// A live turn without a session; its id is put right afterwards.
fn any_turn() -> impl Strategy<Value = Turn> {
    (
        (
            turn_id(),
            1..u32::MAX,
            any_word(),
            any::<u32>(),
            any::<u32>(),
            any::<bool>(),
        ),
        (
            option::of(any_time()),
            option::of(any_time()),
            option::of(any_time()),
            option::of(any_word()),
            option::of(any::<u64>()),
        ),
        (
            option::of((any_time(), any_time(), any_word(), any_word(), any_extra())),
            any_extra(),
        ),
    )
        .prop_map(
            |(
                (id, attempt, persona, nudges, failures, cancel),
                (nudged_at, listed_empty_at, not_before, branch, pull),
                (intent, extra),
            )| Turn {
                attempt,
                nudges,
                nudged_at,
                reminded_at: nudged_at,
                listed_empty_at,
                not_before,
                failures,
                refusals: failures / 3,
                refusal: (failures > 2).then(|| format!("f\"{failures}")),
                repeats: nudges / 2,
                ambiguous: failures / 2,
                late_finds: nudges / 3,
                warned_at: nudged_at,
                cancel,
                repeated_plan: pull.map(|number| RepeatedPlan {
                    refused: cancel.then(|| "out-of-scope".to_owned()),
                    merged: !cancel,
                    requested_at: nudged_at,
                    repeats: nudges / 2,
                    ..RepeatedPlan::new("a6".to_owned(), PullNumber(number))
                }),
                branch: branch.clone().map(Into::into),
                base_sha: branch.map(Into::into),
                pr_number: pull.map(PullNumber),
                intent: intent.map(|(created_at, not_after, holder, prompt_sha256, extra)| {
                    Intent {
                        created_at,
                        not_after,
                        holder: holder.into(),
                        prompt_sha256,
                        extra,
                    }
                }),
                extra,
                ..Turn::new(id, persona.into())
            },
        )
}

fn any_track() -> impl Strategy<Value = TrackState> {
    (
        (
            option::of(any_word()),
            option::of(any_word()),
            option::of(any::<u64>()),
            option::of(any_time()),
        ),
        (
            option::of(any::<u64>()),
            any::<u64>(),
            any::<u64>(),
            option::of(any_time()),
            option::of(any_word()),
        ),
        (
            btree_map("[a-z]{0,3}".prop_map(Into::into), any_turn(), 0..3),
            option::of(any_pause()),
            any_extra(),
        ),
    )
        .prop_map(
            |(
                (persona, session, pull, updated_at),
                (index, seq, passes, last_started, idle),
                (turns, paused, extra),
            )| TrackState {
                persona_id: persona.map(Into::into),
                session_id: session.map(Into::into),
                pr_number: pull.map(PullNumber),
                updated_at,
                index,
                seq,
                passes,
                last_started,
                pass_stalled: seq % 2 == 0,
                timing: Timing {
                    expression: idle.clone(),
                    since: last_started,
                    missed: last_started.into_iter().collect(),
                },
                base_shas: idle
                    .clone()
                    .map(|word| (word.as_str().into(), word.as_str().into()))
                    .into_iter()
                    .collect(),
                refused: last_started
                    .map(|until| {
                        let refusal = Refusal {
                            times: 2,
                            until,
                            why: "no".to_owned(),
                            notified: passes % 2 == 0,
                            extra: Extra::new(),
                        };
                        ("r".into(), refusal)
                    })
                    .into_iter()
                    .collect(),
                idle_reason: idle,
                turns,
                paused,
                extra,
            },
        )
}

fn any_request() -> impl Strategy<Value = RequestState> {
    (
        any_word(),
        option::of("\\PC{0,4}"),
        option::of(turn_id()),
        option::of(any::<u64>()),
        option::of(any_time()),
        any_extra(),
    )
        .prop_map(|(kind, text, turn, number, at, extra)| RequestState {
            kind,
            subject: text.clone(),
            digest: text.clone(),
            actor: text.clone(),
            actor_id: number,
            thread: number,
            persona: text
                .clone()
                .filter(|id| !id.is_empty())
                .map(PersonaId::from),
            command: text.clone(),
            outcome: text.clone(),
            answer: text.clone(),
            reason: text.clone(),
            turn,
            number,
            comment_id: number,
            status: at
                .zip(text.filter(|text| !text.is_empty()))
                .map(|(at, digest)| StatusState {
                    stable_digest: Some(digest.clone()),
                    digest,
                    at,
                    notified: number.is_some(),
                    repeats: 2,
                    extra: extra.clone(),
                }),
            merge: number.zip(at).map(|(number, at)| MergeState {
                head: Oid::new(format!("{number:040x}")),
                sent_at: Some(at),
                attempts: 1,
                not_before: Some(at),
                deferrals: 2,
                extra: extra.clone(),
            }),
            reviews_of: number.map(|number| Oid::new(format!("{number:040x}"))),
            requested_at: at,
            created_at: at,
            finished_at: at,
            extra,
        })
}

/// Any sound state.
pub(super) fn any_state() -> impl Strategy<Value = State> {
    let tables = (
        vec(any_entry(), 0..8),
        btree_map(any_word().prop_map(TrackName::from), any_track(), 0..4),
        btree_map(any_word(), (option::of(any_time()), any_extra()), 0..3),
        btree_map(any_word(), any_request(), 0..3),
        btree_map(
            any_word().prop_map(PersonaId::from),
            (
                any::<u32>(),
                option::of(any::<u64>()),
                option::of(any_time()),
                any_extra(),
            ),
            0..3,
        ),
        btree_map(any_word(), any::<u64>(), 0..3),
    );
    let rest = (
        (any::<u64>(), any_time(), any_word(), any_extra()),
        (
            vec(any_time(), 0..4),
            option::of(any_time()),
            option::of("\\PC{0,4}"),
            any::<u32>(),
            any_extra(),
        ),
        (option::of(any_time()), any_extra()),
        (
            option::of(any::<u64>()),
            option::of(any::<u64>()),
            option::of(any_pause()),
            any_extra(),
        ),
        (
            0..1000_u64,
            vec(
                (
                    option::of(any_outcome()),
                    option::of(any::<u64>()),
                    any_extra(),
                ),
                0..3,
            ),
        ),
    );
    (tables, rest).prop_map(
        |(
            (entries, tracks, schedules, requests, personas, published),
            (born, budget, cursors, top, archive),
        )| {
            let (first, amendments) = archive;
            let first = if entries.is_empty() { 0 } else { first };
            let (repository_id, born_at, nonce, extra) = born;
            let (budget_at, cursors_extra) = (cursors.0, cursors.1.clone());
            let mut state = State {
                genesis: Some(Genesis {
                    repository_id: RepositoryId(repository_id),
                    born_at,
                    nonce,
                    extra,
                }),
                tracks,
                requests,
                refused_effects: published
                    .iter()
                    .map(|(key, number)| {
                        let one = RefusedEffect {
                            at: born_at,
                            times: u32::try_from(*number % 5).unwrap_or_default(),
                            extra: Extra::new(),
                        };
                        (format!("open_notice:{key}"), one)
                    })
                    .collect(),
                publishing: published
                    .iter()
                    .map(|(key, number)| {
                        let repeats = u32::try_from(*number % 7).unwrap_or_default();
                        let one = PublishingState {
                            at: born_at,
                            repeats,
                            extra: Extra::new(),
                        };
                        (format!("{key}?"), one)
                    })
                    .collect(),
                published,
                budget: BudgetState {
                    created: budget.0,
                    paused_until: budget.1,
                    reason: budget.2,
                    quota_failures: budget.3,
                    extra: budget.4,
                },
                cursors: Cursors {
                    comments_since: cursors.0,
                    summarized_commit: cursors.0.map(|_| "1f".into()),
                    extra: cursors.1,
                },
                dashboard_issue: top.0,
                dashboard: top.0.map(|number| DashboardState {
                    requested: number % 2 == 0,
                    digest: Some(format!("d{number}")),
                    before: (number % 3 == 0).then(|| "b\"".to_owned()),
                    replaces: (number % 5 == 0).then(|| "r".to_owned()),
                    comments_read: vec!["pause".to_owned(); usize::from(number % 11 == 0)],
                    at: budget_at,
                    repeats: u32::from(number % 7 == 0),
                    extra: cursors_extra,
                }),
                work: WorkState {
                    open: top.1.map(PullNumber).into_iter().collect(),
                    remembered: top.1.unwrap_or_default(),
                    refused: top
                        .1
                        .map(|number| (PullNumber(number), any_refusal(number)))
                        .into_iter()
                        .collect(),
                    forgotten: top.1.map(PullNumber).into_iter().collect(),
                    marks: top
                        .1
                        .map(|number| (PullNumber(number), any_mark(number)))
                        .into_iter()
                        .collect(),
                    facts: top
                        .1
                        .map(|number| (PullNumber(number), any_facts(number)))
                        .into_iter()
                        .collect(),
                    reverts: top.1.map(PullNumber).into_iter().collect(),
                    extra: Extra::new(),
                },
                sprint: top.1,
                paused: top.2,
                extra: top.3,
                ..State::default()
            };
            state.budget.created.sort_unstable();
            state.schedules = schedules
                .into_iter()
                .map(|(k, (last_fired, extra))| {
                    let timing = Timing {
                        expression: last_fired.map(|at| at.to_string()),
                        since: last_fired,
                        missed: Vec::new(),
                    };
                    (
                        k,
                        ScheduleState {
                            last_fired,
                            timing,
                            extra,
                        },
                    )
                })
                .collect();
            state.personas = personas
                .into_iter()
                .map(|(k, (empty_streak, rests_until_pass, rested_at, extra))| {
                    (
                        k,
                        PersonaState {
                            no_output_streak: empty_streak,
                            rests_until_pass,
                            rested_at,
                            rests_for: rests_until_pass
                                .map(|pass| format!("src/{pass}.rs"))
                                .into_iter()
                                .collect(),
                            rests_since: rests_until_pass
                                .map(|pass| Oid::new(format!("{pass:040x}"))),
                            extra,
                        },
                    )
                })
                .collect();
            for (key, mut entry) in (first..).zip(entries) {
                if key % 3 != 0 {
                    entry.session_id = Some(SessionId::new(format!("s{key}\"")));
                    entry.duplicates = vec![format!("d{key}").into()];
                }
                if let (Some(session_id), Some(at)) = (&entry.session_id, entry.finished_at) {
                    let mut watched = TrackedPull::new(session_id.clone());
                    watched.fix_rounds = entry.attempt.unwrap_or_default();
                    watched.notices_opened = watched.fix_rounds / 2;
                    watched.review_rounds = watched.fix_rounds / 3;
                    watched.notice_opened_at = entry.created_at;
                    watched.closed_at = entry.finished_at.filter(|_| key % 2 == 0);
                    watched.archive_at = watched.closed_at.and(entry.created_at);
                    watched.extra.clone_from(&entry.extra);
                    watched.checks = entry.base_sha.clone().map(|head| PullAction {
                        notified: key % 2 == 0,
                        repeats: watched.notices_opened,
                        ..PullAction::new(head, at)
                    });
                    watched.reviews = watched.checks.clone().filter(|_| key % 3 == 1);
                    watched.retargeted = watched.reviews.clone();
                    watched.conflicts = watched.checks.clone().filter(|_| key % 2 == 1);
                    watched.draft_ready = watched.conflicts.clone();
                    watched.reminded = watched.checks.clone();
                    watched.conflict_rounds = watched.notices_opened;
                    watched.archive_tries = watched.notices_opened;
                    watched.notified_heads = entry.base_sha.iter().cloned().collect();
                    watched.conflict_heads.clone_from(&watched.notified_heads);
                    watched.next_check = watched.checks.as_ref().map(|told| NextCheck {
                        head: told.head.clone(),
                        not_before: told.at,
                        waits: told.repeats,
                        extra: told.extra.clone(),
                    });
                    state.pulls.insert(PullNumber(key), watched);
                }
                state.history.insert(key, entry);
            }
            for (key, (outcome, pull, extra)) in (0..first).zip(amendments) {
                let pr_number = pull.map(PullNumber);
                state.amendments.insert(
                    key,
                    Amendment {
                        outcome,
                        pr_number,
                        finished_at: None,
                        extra,
                    },
                );
            }
            let genesis = state.genesis.clone().unwrap();
            for (name, track) in &mut state.tracks {
                for (slot, turn) in &mut track.turns {
                    turn.turn = TurnId::derive(
                        &genesis.nonce,
                        genesis.repository_id,
                        name,
                        track.seq,
                        slot,
                    );
                }
            }
            state
        },
    )
}
