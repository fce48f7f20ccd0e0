//! A file with every key of version 5.

use crate::model::{PullNumber, RepositoryId, Slot, TurnId};
use crate::state::codec::{load, save};
use crate::state::{
    Amendment, BudgetState, Cursors, DashboardState, Extra, Genesis, HistoryEntry, Intent,
    MergeState, NextCheck, Outcome, Pause, PersonaState, PublishingState, PullAction, Refusal,
    RefusedEffect, RepeatedPlan, RequestState, ScheduleState, State, StatusState, Timing,
    TrackState, TrackedPull, Turn, WorkFacts, WorkMark, WorkRefusal, WorkState,
};

/// As it stands on the branch; `TURN` is the live turn's id.
const FILE: &str = r#"{
  "version": 5,
  "genesis": {
    "repository_id": 7,
    "born_at": "2026-01-01T00:00:00Z",
    "nonce": "9f3c5a0e77b1"
  },
  "history": {
    "4": {
      "persona_id": "curator",
      "session_id": "1001",
      "pr_number": 12,
      "created_at": "2026-01-01T01:00:00Z",
      "track": "quality",
      "turn": "k3v9w2m1q8zd",
      "seq": 2,
      "slot": "left",
      "attempt": 3,
      "base_sha": "4c1d",
      "outcome": "merged",
      "finished_at": "2026-01-01T02:00:00.000001Z",
      "duplicates": [
        "1009",
        "1010"
      ],
      "zero_touch": true,
      "review_secs": 39,
      "refused": "too-large",
      "prompt": "0a1b2c3d4e5f",
      "note": "found by hand"
    }
  },
  "amendments": {
    "3": {
      "outcome": "merged",
      "pr_number": 11,
      "finished_at": "2026-01-01T03:00:00.000000001Z"
    }
  },
  "tracks": {
    "quality": {
      "persona_id": "typist",
      "session_id": "1002",
      "pr_number": 13,
      "updated_at": "2026-01-01T04:00:00Z",
      "index": 6,
      "seq": 3,
      "passes": 4,
      "last_started": "2026-01-01T05:00:00Z",
      "pass_stalled": true,
      "expression": "17 19 * * * UTC",
      "since": "2026-01-01T04:00:00Z",
      "missed": [
        "2026-01-01T03:00:00Z"
      ],
      "base_shas": {
        "typist": "5d2e"
      },
      "refused": {
        "curator": {
          "times": 33,
          "until": "2026-01-01T18:00:00Z",
          "why": "no such branch",
          "notified": true
        }
      },
      "idle_reason": "9f3c5a0e77b1aa01",
      "turns": {
        "left": {
          "turn": "TURN",
          "attempt": 2,
          "persona_id": "typist",
          "history_key": 2,
          "intent": {
            "created_at": "2026-01-01T06:00:00Z",
            "not_after": "2026-01-01T07:00:00Z",
            "holder": "serve:a:1",
            "prompt_sha256": "00ff"
          },
          "session_id": "1003",
          "pr_number": 14,
          "nudges": 5,
          "nudged_at": "2026-01-01T08:00:00Z",
          "reminded_at": "2026-01-01T09:00:00Z",
          "repeats": 6,
          "listed_empty_at": "2026-01-01T10:00:00Z",
          "ambiguous": 7,
          "late_finds": 4,
          "failures": 8,
          "refusals": 9,
          "refusal": "no such source",
          "not_before": "2026-01-01T11:00:00Z",
          "warned_at": "2026-01-01T12:00:00Z",
          "base_sha": "5d2e",
          "branch": "main",
          "inputs": {
            ".jules/exchange/requirements/a.yml": "9f3c"
          },
          "cancel": true,
          "approved_by": "ada",
          "approved_at": "2026-01-01T13:00:00Z",
          "plan_shown": "a5",
          "approved_plan": "a7",
          "repeated_plan": {
            "plan": "a6",
            "twin": 31,
            "refused": "out-of-scope",
            "merged": true,
            "requested_at": "2026-01-01T13:00:00Z",
            "repeats": 34
          }
        }
      },
      "paused": {
        "at": "2026-01-01T13:00:00Z",
        "by": "ada",
        "reason": "holidays"
      }
    }
  },
  "schedules": {
    "curator": {
      "last_fired": "2026-01-01T14:00:00Z",
      "expression": "manual",
      "since": "2026-01-01T13:00:00Z"
    }
  },
  "requests": {
    "LE_1": {
      "kind": "label",
      "subject": "I_1",
      "digest": "ab",
      "actor": "ada",
      "actor_id": 23,
      "thread": 24,
      "persona": "curator",
      "command": "retry",
      "outcome": "dispatched",
      "answer": "done",
      "reason": "refused.fork",
      "turn": "k3v9w2m1q8ze",
      "number": 15,
      "comment_id": 16,
      "status": {
        "digest": "cd",
        "stable_digest": "ce",
        "at": "2026-01-01T17:00:00Z",
        "notified": true,
        "repeats": 25
      },
      "merge": {
        "head": "ef01",
        "sent_at": "2026-01-01T18:00:00Z",
        "attempts": 31,
        "not_before": "2026-01-01T19:00:00Z",
        "deferrals": 32
      },
      "reviews_of": "ef02",
      "requested_at": "2026-01-01T14:00:00Z",
      "created_at": "2026-01-01T15:00:00Z",
      "finished_at": "2026-01-01T16:00:00Z"
    }
  },
  "pulls": {
    "26": {
      "session_id": "1004",
      "checks": {
        "head": "7f4a",
        "at": "2026-01-01T15:00:00Z",
        "notified": true,
        "repeats": 27
      },
      "fix_rounds": 28,
      "notified_heads": [
        "6f4a"
      ],
      "reviews": {
        "head": "7f4b",
        "at": "2026-01-01T16:00:00Z"
      },
      "review_rounds": 26,
      "conflicts": {
        "head": "8a5b",
        "at": "2026-01-01T16:00:00Z"
      },
      "conflict_rounds": 30,
      "conflict_heads": [
        "7a5b"
      ],
      "next_check": {
        "head": "8a5b",
        "not_before": "2026-01-01T20:00:00Z",
        "waits": 33
      },
      "retargeted": {
        "head": "9b6b",
        "at": "2026-01-01T16:00:00Z"
      },
      "draft_ready": {
        "head": "9b6c",
        "at": "2026-01-01T16:00:00Z"
      },
      "reminded": {
        "head": "0c7d",
        "at": "2026-01-01T16:00:00Z"
      },
      "closed_at": "2026-01-01T17:00:00Z",
      "archive_at": "2026-01-01T18:00:00Z",
      "archive_tries": 34,
      "notice_opened_at": "2026-01-01T16:00:00Z",
      "notices_opened": 29
    }
  },
  "work": {
    "open": [
      26,
      31
    ],
    "remembered": 35,
    "refused": {
      "26": {
        "reason": "too-large",
        "never": true,
        "comment": 36,
        "digest": "sha256:3d",
        "at": "2026-01-01T19:00:00Z",
        "closing": {
          "head": "1d8e",
          "at": "2026-01-01T16:00:00Z"
        }
      }
    },
    "forgotten": [
      37
    ],
    "marks": {
      "26": {
        "head": "1d8f",
        "twin": 38,
        "white_space": true,
        "label": {
          "head": "1d90",
          "at": "2026-01-01T17:00:00Z"
        },
        "comment": {
          "head": "1d91",
          "at": "2026-01-01T18:00:00Z"
        },
        "closes_at": "2026-01-01T20:00:00Z",
        "closing": {
          "head": "1d92",
          "at": "2026-01-01T21:00:00Z"
        }
      }
    },
    "facts": {
      "26": {
        "head": "1d8f",
        "files": 41,
        "added": 42,
        "removed": 43,
        "protected": true,
        "no_op": true,
        "white_space": true,
        "twin": 38,
        "twin_outcome": "merged"
      }
    },
    "reverts": [
      40
    ]
  },
  "personas": {
    "curator": {
      "no_output_streak": 17,
      "rests_until_pass": 18,
      "rested_at": "2026-01-01T17:00:00Z",
      "rests_for": [
        "src/render.rs",
        "src/count.rs"
      ],
      "rests_since": "5e01"
    }
  },
  "budget": {
    "created": [
      "2026-01-01T18:00:00Z",
      "2026-01-01T19:00:00Z"
    ],
    "paused_until": "2026-01-01T20:00:00Z",
    "reason": "quota",
    "quota_failures": 19
  },
  "cursors": {
    "comments_since": "2026-01-01T21:00:00Z",
    "summarized_commit": "3c"
  },
  "published": {
    "proposal:a": 20
  },
  "publishing": {
    "proposal:b": {
      "at": "2026-01-01T21:15:00Z",
      "repeats": 24
    }
  },
  "refused_effects": {
    "close_notice:issue #4": {
      "at": "2026-01-01T21:20:00Z",
      "times": 34
    }
  },
  "dashboard_issue": 21,
  "dashboard": {
    "requested": true,
    "digest": "d1",
    "before": "d2",
    "replaces": "d3",
    "comments_read": [
      "pause"
    ],
    "at": "2026-01-01T21:30:00Z",
    "repeats": 23
  },
  "sprint": 22,
  "paused": {
    "at": "2026-01-01T22:00:00Z",
    "by": "bob",
    "reason": "move"
  }
}
"#;

fn at(hour: i64) -> jiff::Timestamp {
    let born: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    born + jiff::SignedDuration::from_hours(hour)
}

fn turn_id() -> TurnId {
    let slot = Slot::from("left");
    TurnId::derive("9f3c5a0e77b1", RepositoryId(7), &"quality".into(), 3, &slot)
}

/// What the file says.
fn state() -> State {
    let pull = |number| Some(PullNumber(number));
    let extra = Extra::new();
    let entry = HistoryEntry {
        persona_id: "curator".into(),
        session_id: Some("1001".into()),
        pr_number: pull(12),
        created_at: Some(at(1)),
        track: Some("quality".into()),
        turn: TurnId::parse("k3v9w2m1q8zd"),
        seq: Some(2),
        slot: Some("left".into()),
        attempt: Some(3),
        base_sha: Some("4c1d".into()),
        outcome: Some(Outcome::Merged),
        finished_at: Some(at(2) + jiff::SignedDuration::from_micros(1)),
        duplicates: vec!["1009".into(), "1010".into()],
        zero_touch: Some(true),
        review_secs: Some(39),
        refused: Some("too-large".to_owned()),
        prompt: Some("0a1b2c3d4e5f".to_owned()),
        note: Some("found by hand".to_owned()),
        extra: extra.clone(),
    };
    let amendment = Amendment {
        outcome: Some(Outcome::Merged),
        pr_number: pull(11),
        finished_at: Some(at(3) + jiff::SignedDuration::from_nanos(1)),
        extra: extra.clone(),
    };
    let turn = Turn {
        turn: turn_id(),
        attempt: 2,
        persona_id: "typist".into(),
        history_key: Some(2),
        intent: Some(Intent {
            created_at: at(6),
            not_after: at(7),
            holder: "serve:a:1".into(),
            prompt_sha256: "00ff".to_owned(),
            extra: extra.clone(),
        }),
        session_id: Some("1003".into()),
        pr_number: pull(14),
        nudges: 5,
        nudged_at: Some(at(8)),
        reminded_at: Some(at(9)),
        repeats: 6,
        listed_empty_at: Some(at(10)),
        ambiguous: 7,
        late_finds: 4,
        failures: 8,
        refusals: 9,
        refusal: Some("no such source".to_owned()),
        not_before: Some(at(11)),
        warned_at: Some(at(12)),
        base_sha: Some("5d2e".into()),
        branch: Some("main".into()),
        inputs: [(
            ".jules/exchange/requirements/a.yml".to_owned(),
            "9f3c".to_owned(),
        )]
        .into(),
        cancel: true,
        approved_by: Some("ada".to_owned()),
        approved_at: Some(at(13)),
        plan_shown: Some("a5".to_owned()),
        approved_plan: Some("a7".to_owned()),
        repeated_plan: Some(RepeatedPlan {
            refused: Some("out-of-scope".to_owned()),
            merged: true,
            requested_at: Some(at(13)),
            repeats: 34,
            ..RepeatedPlan::new("a6".to_owned(), PullNumber(31))
        }),
        extra: extra.clone(),
    };
    let pause = |hour, by: &str, reason: &str| Pause {
        at: Some(at(hour)),
        by: Some(by.to_owned()),
        reason: Some(reason.to_owned()),
        extra: Extra::new(),
    };
    let refusal = Refusal {
        times: 33,
        until: at(18),
        why: "no such branch".to_owned(),
        notified: true,
        extra: extra.clone(),
    };
    let track = TrackState {
        persona_id: Some("typist".into()),
        session_id: Some("1002".into()),
        pr_number: pull(13),
        updated_at: Some(at(4)),
        index: Some(6),
        seq: 3,
        passes: 4,
        last_started: Some(at(5)),
        pass_stalled: true,
        timing: Timing {
            expression: Some("17 19 * * * UTC".to_owned()),
            since: Some(at(4)),
            missed: vec![at(3)],
        },
        base_shas: [("typist".into(), "5d2e".into())].into(),
        refused: [("curator".into(), refusal)].into(),
        idle_reason: Some("9f3c5a0e77b1aa01".to_owned()),
        turns: [("left".into(), turn)].into(),
        paused: Some(pause(13, "ada", "holidays")),
        extra: extra.clone(),
    };
    let request = RequestState {
        kind: "label".to_owned(),
        subject: Some("I_1".to_owned()),
        digest: Some("ab".to_owned()),
        actor: Some("ada".to_owned()),
        actor_id: Some(23),
        thread: Some(24),
        persona: Some("curator".into()),
        command: Some("retry".to_owned()),
        outcome: Some("dispatched".to_owned()),
        answer: Some("done".to_owned()),
        reason: Some("refused.fork".to_owned()),
        turn: TurnId::parse("k3v9w2m1q8ze"),
        number: Some(15),
        comment_id: Some(16),
        status: Some(StatusState {
            digest: "cd".to_owned(),
            stable_digest: Some("ce".to_owned()),
            at: at(17),
            notified: true,
            repeats: 25,
            extra: extra.clone(),
        }),
        merge: Some(MergeState {
            head: "ef01".into(),
            sent_at: Some(at(18)),
            attempts: 31,
            not_before: Some(at(19)),
            deferrals: 32,
            extra: extra.clone(),
        }),
        reviews_of: Some("ef02".into()),
        requested_at: Some(at(14)),
        created_at: Some(at(15)),
        finished_at: Some(at(16)),
        extra: extra.clone(),
    };
    let persona = PersonaState {
        no_output_streak: 17,
        rests_until_pass: Some(18),
        rested_at: Some(at(17)),
        rests_for: vec!["src/render.rs".into(), "src/count.rs".into()],
        rests_since: Some("5e01".into()),
        extra: extra.clone(),
    };
    let watched = TrackedPull {
        checks: Some(PullAction {
            head: "7f4a".into(),
            at: at(15),
            notified: true,
            repeats: 27,
            extra: extra.clone(),
        }),
        fix_rounds: 28,
        notified_heads: vec!["6f4a".into()],
        reviews: Some(PullAction::new("7f4b".into(), at(16))),
        review_rounds: 26,
        conflicts: Some(PullAction::new("8a5b".into(), at(16))),
        conflict_rounds: 30,
        conflict_heads: vec!["7a5b".into()],
        next_check: Some(NextCheck {
            head: "8a5b".into(),
            not_before: at(20),
            waits: 33,
            extra: extra.clone(),
        }),
        retargeted: Some(PullAction::new("9b6b".into(), at(16))),
        draft_ready: Some(PullAction::new("9b6c".into(), at(16))),
        reminded: Some(PullAction::new("0c7d".into(), at(16))),
        closed_at: Some(at(17)),
        archive_at: Some(at(18)),
        archive_tries: 34,
        notice_opened_at: Some(at(16)),
        notices_opened: 29,
        ..TrackedPull::new("1004".into())
    };
    let schedule = ScheduleState {
        last_fired: Some(at(14)),
        timing: Timing {
            expression: Some("manual".to_owned()),
            since: Some(at(13)),
            missed: Vec::new(),
        },
        extra: extra.clone(),
    };
    State {
        genesis: Some(Genesis {
            repository_id: RepositoryId(7),
            born_at: at(0),
            nonce: "9f3c5a0e77b1".to_owned(),
            extra: extra.clone(),
        }),
        history: [(4, entry)].into(),
        amendments: [(3, amendment)].into(),
        tracks: [("quality".into(), track)].into(),
        schedules: [("curator".to_owned(), schedule)].into(),
        requests: [("LE_1".to_owned(), request)].into(),
        pulls: [(PullNumber(26), watched)].into(),
        work: WorkState {
            open: [PullNumber(26), PullNumber(31)].into(),
            remembered: 35,
            refused: [(
                PullNumber(26),
                WorkRefusal {
                    reason: "too-large".to_owned(),
                    never: true,
                    comment: Some(36),
                    digest: Some("sha256:3d".to_owned()),
                    at: Some(at(19)),
                    closing: Some(PullAction::new("1d8e".into(), at(16))),
                    extra: extra.clone(),
                },
            )]
            .into(),
            forgotten: [PullNumber(37)].into(),
            reverts: [PullNumber(40)].into(),
            marks: [(
                PullNumber(26),
                WorkMark {
                    head: "1d8f".into(),
                    twin: Some(PullNumber(38)),
                    white_space: true,
                    label: Some(PullAction::new("1d90".into(), at(17))),
                    comment: Some(PullAction::new("1d91".into(), at(18))),
                    closes_at: Some(at(20)),
                    closing: Some(PullAction::new("1d92".into(), at(21))),
                    extra: extra.clone(),
                },
            )]
            .into(),
            facts: [(
                PullNumber(26),
                WorkFacts {
                    head: "1d8f".into(),
                    files: Some(41),
                    added: 42,
                    removed: 43,
                    protected: true,
                    no_op: true,
                    white_space: true,
                    twin: Some(PullNumber(38)),
                    twin_outcome: Some(Outcome::Merged),
                    extra: extra.clone(),
                },
            )]
            .into(),
            extra: extra.clone(),
        },
        personas: [("curator".into(), persona)].into(),
        budget: BudgetState {
            created: vec![at(18), at(19)],
            paused_until: Some(at(20)),
            reason: Some("quota".to_owned()),
            quota_failures: 19,
            extra: extra.clone(),
        },
        cursors: Cursors {
            comments_since: Some(at(21)),
            summarized_commit: Some("3c".into()),
            extra: extra.clone(),
        },
        published: [("proposal:a".to_owned(), 20)].into(),
        refused_effects: [(
            "close_notice:issue #4".to_owned(),
            RefusedEffect {
                at: at(21) + jiff::SignedDuration::from_mins(20),
                times: 34,
                extra: extra.clone(),
            },
        )]
        .into(),
        publishing: [(
            "proposal:b".to_owned(),
            PublishingState {
                at: "2026-01-01T21:15:00Z".parse().unwrap(),
                repeats: 24,
                extra: Extra::new(),
            },
        )]
        .into(),
        dashboard_issue: Some(21),
        dashboard: Some(DashboardState {
            requested: true,
            digest: Some("d1".to_owned()),
            before: Some("d2".to_owned()),
            replaces: Some("d3".to_owned()),
            comments_read: vec!["pause".to_owned()],
            at: Some("2026-01-01T21:30:00Z".parse().unwrap()),
            repeats: 23,
            extra: Extra::new(),
        }),
        sprint: Some(22),
        paused: Some(pause(22, "bob", "move")),
        extra,
    }
}

#[test]
fn every_key_of_version_5_is_read_and_is_written_in_its_place() {
    let file = FILE.replace("TURN", turn_id().as_str());
    let loaded = load(&file).unwrap();
    assert_eq!(loaded.state, state());
    assert_eq!((loaded.version, loaded.warnings), (5, Vec::new()));
    assert_eq!(save(&state()), file);
}

#[test]
fn what_a_ledger_has_no_use_for_yet_takes_no_room_in_its_file() {
    let mut state = state();
    state.genesis = None;
    state.amendments.clear();
    state.pulls.clear();
    state.work = WorkState::default();
    state.publishing.clear();
    state.refused_effects.clear();
    state.dashboard = None;
    state.budget = BudgetState::default();
    let track = state.tracks.get_mut("quality").unwrap();
    *track = TrackState {
        turns: [("".into(), Turn::new(turn_id(), "typist".into()))].into(),
        ..TrackState::default()
    };
    state.requests = [("LE_1".to_owned(), RequestState::default())].into();
    let saved: serde_json::Value = serde_json::from_str(&save(&state)).unwrap();
    let keys = |at: &str| -> Vec<String> {
        let object = saved.pointer(at).unwrap().as_object().unwrap();
        object.keys().cloned().collect()
    };
    assert_eq!(
        keys(""),
        [
            "version",
            "history",
            "tracks",
            "schedules",
            "requests",
            "personas",
            "budget",
            "cursors",
            "published",
            "dashboard_issue",
            "sprint",
            "paused"
        ]
    );
    assert_eq!(
        keys("/tracks/quality/turns/"),
        [
            "turn",
            "attempt",
            "persona_id",
            "history_key",
            "intent",
            "session_id",
            "pr_number",
            "nudges",
            "listed_empty_at"
        ]
    );
    assert_eq!(keys("/budget"), ["created", "paused_until", "reason"]);
    assert_eq!(keys("/requests/LE_1"), ["kind"]);
}

#[test]
fn duplicates_are_listed_where_the_entry_is_ours_or_has_some() {
    let written = |turn: Option<TurnId>, duplicates: &[&str]| -> serde_json::Value {
        let mut state = state();
        let entry = state.history.get_mut(&4).unwrap();
        entry.turn = turn;
        entry.duplicates = duplicates.iter().map(|&one| one.into()).collect();
        let saved: serde_json::Value = serde_json::from_str(&save(&state)).unwrap();
        saved["history"]["4"]["duplicates"].clone()
    };
    let ours = || TurnId::parse("k3v9w2m1q8zd");
    assert_eq!(written(None, &[]), serde_json::Value::Null);
    assert_eq!(written(None, &["9"]), serde_json::json!(["9"]));
    assert_eq!(written(ours(), &[]), serde_json::json!([]));
    assert_eq!(written(ours(), &["9"]), serde_json::json!(["9"]));
}
