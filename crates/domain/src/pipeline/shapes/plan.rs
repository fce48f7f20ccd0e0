//! The shape of `plan.json`: the affected files, the steps, and where each acceptance criterion is met.

use super::attempt::{COST_ESTIMATE, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::{PASSAGES, PHRASES, list_of, table_of};
use crate::exchange::shape::{Key, Kind};

/// How hard the work is: what decides which agents do it.
pub(super) const COMPLEXITIES: &[&str] = &["trivial", "standard", "complex"];

pub(in super::super) static PLAN: Kind = Kind::Open(&[
    Key::new(
        "affected_files",
        PHRASES,
        "Every file to change or to create, from the repository's root; no other may be touched.",
    ),
    Key::new("steps", list_of(&STEP), "What is to be done, in order."),
    Key::new(
        "acceptance_mapping",
        table_of(&Kind::Verbatim),
        "Each criterion of acceptance, and the test that shows it.",
    ),
    Key::new(
        "commit_plan",
        PASSAGES,
        "Messages of the commits that are planned.",
    )
    .or_null(),
    Key::new("risk_notes", PASSAGES, "What could go wrong.").or_null(),
    COMPLEXITY,
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    PRODUCED_BY,
]);

pub(super) const COMPLEXITY: Key = Key::new(
    "complexity",
    Kind::Word(COMPLEXITIES),
    "How hard the work is.",
)
.or_null();

static STEP: Kind = Kind::Open(&[
    Key::new("order", Kind::Count, "Its number, by which others name it."),
    Key::new("description", Kind::Passage, "What is to be done."),
    Key::new(
        "action",
        Kind::Phrase,
        "Its kind, such as implement, modify, test or document.",
    )
    .or_null(),
    Key::new("file", Kind::Phrase, "The file that it touches.").or_null(),
    Key::new("rationale", Kind::Verbatim, "Why it is done so.").or_null(),
    Key::new(
        "depends_on",
        list_of(&Kind::Count),
        "Numbers of the steps that come before it.",
    )
    .or_null(),
]);
