//! The shape of `debug-diagnosis.json`: why a stage failed, and how to fix it.

use super::attempt::{COST_ESTIMATE, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::PASSAGES;
use crate::exchange::shape::{Key, Kind};

pub(in super::super) static DEBUG: Kind = Kind::Open(&[
    Key::new(
        "failure_source",
        Kind::Phrase,
        "What failed: a check, a file, a test.",
    ),
    Key::new("failure_description", Kind::Passage, "How it failed."),
    Key::new("root_cause", Kind::Passage, "Why it failed."),
    Key::new("root_cause_file", Kind::Phrase, "The file of the cause."),
    Key::new(
        "root_cause_line",
        Kind::Spotted,
        "The line of the cause, from 1, or where else it is.",
    ),
    Key::new(
        "classification",
        Kind::Word(&["fix_target", "plan_defect", "escalate"]),
        "Whether the work is to be fixed, the plan, or neither can be by an agent.",
    ),
    Key::new(
        "escalation_sub",
        Kind::Word(&["technical_complexity", "ambiguous_requirement"]),
        "Why no agent can, with `escalate`.",
    )
    .or_null(),
    Key::new(
        "fix_instructions",
        Kind::Passage,
        "What the worker is to change, with `fix_target`.",
    )
    .or_null(),
    Key::new(
        "plan_fix_instructions",
        Kind::Passage,
        "What is to change in the plan, with `plan_defect`.",
    )
    .or_null(),
    Key::new(
        "related_failures",
        PASSAGES,
        "What else fails for the same reason.",
    )
    .or_null(),
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    PRODUCED_BY,
]);
