//! The shape of `test-result.json`: the checks of both phases, and the kind of a failure.

use super::attempt::{COST_ESTIMATE, ESCALATION_HISTORY, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::{NOT_NEGATIVE, table_of};
use crate::exchange::shape::{Key, Kind};

/// What a judge says.
pub(super) const VERDICTS: &[&str] = &["PASS", "FAIL", "SKIP"];
/// How a check ended.
pub(super) const RESULTS: &[&str] = &["PASS", "FAIL"];

pub(in super::super) static TEST: Kind = Kind::Open(&[
    Key::new("verdict", Kind::Word(VERDICTS), "What the tester says."),
    Key::new(
        "phase_1",
        table_of(&CHECK),
        "Static checks and unit tests, by name.",
    ),
    Key::new(
        "phase_2",
        Kind::Open(&[
            Key::new("checks", table_of(&CHECK), "Integration tests, by name.").or_null(),
            Key::new("stack_trace", Kind::Verbatim, "Where it broke.").or_null(),
            Key::new("reproduction", Kind::Verbatim, "How to see it again.").or_null(),
            Key::new(
                "timing_ms",
                NOT_NEGATIVE,
                "How long it took, in milliseconds.",
            )
            .or_null(),
        ]),
        "Integration tests; only when every check of phase 1 passed.",
    )
    .or_null(),
    Key::new(
        "classification",
        Kind::Word(&["fix_target", "plan_defect"]),
        "What kind of failure it is, where the tester has seen that at once.",
    )
    .or_null(),
    Key::new(
        "inline_triage",
        Kind::Flag,
        "Whether the one cause is plain enough for the worker to fix it without a diagnosis.",
    )
    .or_null(),
    Key::new(
        "fix_instruction",
        Kind::Passage,
        "How to fix it, with `inline_triage`.",
    )
    .or_null(),
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    ESCALATION_HISTORY,
    PRODUCED_BY,
]);

static CHECK: Kind = Kind::Open(&[
    Key::new("result", Kind::Word(RESULTS), "How the check ended."),
    Key::new("output", Kind::Verbatim, "What it printed.").or_null(),
]);
