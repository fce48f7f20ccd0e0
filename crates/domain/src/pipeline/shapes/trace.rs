//! The shape of `pipeline-trace.json`: the stages of a run with their durations, costs and outcomes.

use super::attempt::{COST_USD, PRODUCED_BY, TIERS};
use super::kinds::NOT_NEGATIVE;
use crate::exchange::shape::{Key, Kind, List};
use crate::pipeline::limits::TRACE_LIMIT;

pub(in super::super) static TRACE: Kind = Kind::Open(&[
    Key::new("issue_id", Kind::Phrase, "The issue's id."),
    Key::new(
        "stages",
        Kind::List(List::between(0, TRACE_LIMIT, &STAGE)),
        "The stages in the order in which they ran; one that ran twice is there twice.",
    ),
    Key::new(
        "total_duration_ms",
        Kind::Count,
        "How long all of them took, in milliseconds: their sum.",
    ),
    PRODUCED_BY,
    Key::new(
        "total_cost_usd",
        NOT_NEGATIVE,
        "What all of them cost, in dollars.",
    )
    .or_null(),
]);

static STAGE: Kind = Kind::Open(&[
    Key::new(
        "stage",
        Kind::Word(&["plan", "implement", "test", "debug", "review", "git"]),
        "The stage.",
    ),
    Key::new("agent", Kind::Phrase, "The agent, such as `jg-worker`."),
    Key::new("started_at", Kind::Instant, "When it began."),
    Key::new(
        "duration_ms",
        Kind::Count,
        "How long it took, in milliseconds.",
    ),
    Key::new("result", Kind::Word(&["pass", "fail"]), "How it ended."),
    Key::new("artifact", Kind::Phrase, "The path of what it wrote."),
    Key::new(
        "outcome",
        Kind::Word(&[
            "planned",
            "completed",
            "blocked",
            "escalate",
            "pass",
            "fail",
            "skip",
            "inline_fix",
            "fix_target",
            "plan_defect",
            "technical_complexity",
            "ambiguous_requirement",
            "ci_pending",
            "ci_failed",
        ]),
        "How exactly it ended. phileas writes it.",
    )
    .or_null(),
    Key::new(
        "tier",
        Kind::Word(TIERS),
        "How strong the agent was. phileas writes it.",
    )
    .or_null(),
    Key::new(
        "sha256",
        Kind::Phrase,
        "The SHA-256 of what it wrote, so that a later change is seen. phileas writes it.",
    )
    .or_null(),
    Key::new("input_tokens", Kind::Count, "Tokens that it read.").or_null(),
    Key::new("output_tokens", Kind::Count, "Tokens that it wrote.").or_null(),
    Key::new("model", Kind::Phrase, "The model that it used.").or_null(),
    COST_USD,
]);
