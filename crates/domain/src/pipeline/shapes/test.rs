//! What the tests said.

use super::attempt::{COST_ESTIMATE, ESCALATION_HISTORY, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::{NOT_NEGATIVE, named};
use crate::exchange::shape::{Key, Kind};

/// What a judge says.
pub(super) const VERDICTS: &[&str] = &["PASS", "FAIL", "SKIP"];
/// How a check ended.
pub(super) const RESULTS: &[&str] = &["PASS", "FAIL"];

pub(in super::super) static TEST: Kind = Kind::Open(&[
    Key::new("verdict", Kind::Word(VERDICTS), "What the tester says."),
    Key::new(
        "phase_1",
        named(&CHECK),
        "Static checks and unit tests, by name.",
    ),
    Key::new(
        "phase_2",
        Kind::Open(&[
            Key::new("checks", named(&CHECK), "Integration tests, by name.").nullable(),
            Key::new("stack_trace", Kind::Verbatim, "Where it broke.").nullable(),
            Key::new("reproduction", Kind::Verbatim, "How to see it again.").nullable(),
            Key::new(
                "timing_ms",
                NOT_NEGATIVE,
                "How long it took, in milliseconds.",
            )
            .nullable(),
        ]),
        "Integration tests; only when every check of phase 1 passed.",
    )
    .nullable(),
    Key::new(
        "classification",
        Kind::Word(&["fix_target", "plan_defect"]),
        "What kind of failure it is, where the tester has seen that at once.",
    )
    .nullable(),
    Key::new(
        "inline_triage",
        Kind::Flag,
        "Whether the one cause is plain enough for the worker to mend it without a diagnosis.",
    )
    .nullable(),
    Key::new(
        "fix_instruction",
        Kind::Passage,
        "How to mend it, with `inline_triage`.",
    )
    .nullable(),
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    ESCALATION_HISTORY,
    PRODUCED_BY,
]);

static CHECK: Kind = Kind::Open(&[
    Key::new("result", Kind::Word(RESULTS), "How the check ended."),
    Key::new("output", Kind::Verbatim, "What it printed.").nullable(),
]);
