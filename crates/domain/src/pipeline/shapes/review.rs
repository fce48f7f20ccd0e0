//! The shape of `review-result.json`: the verdict of the reviewer and its findings.

use super::attempt::{COST_ESTIMATE, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::list_of;
use super::test::VERDICTS;
use crate::exchange::shape::{Key, Kind};

pub(in super::super) static REVIEW: Kind = Kind::Open(&[
    Key::new(
        "verdict",
        Kind::Word(VERDICTS),
        "PASS only where nothing but nits is left.",
    ),
    Key::new(
        "blockers",
        list_of(&FINDING),
        "What is wrong: correctness, safety, scope, checks.",
    ),
    Key::new(
        "concerns",
        list_of(&FINDING),
        "What is weak: quality, coverage.",
    ),
    Key::new("nits", list_of(&FINDING), "What is a matter of style."),
    Key::new(
        "trim_instructions",
        Kind::Passage,
        "What the worker is to change, with FAIL.",
    )
    .or_null(),
    Key::new(
        "architecture_assessment",
        Kind::Verbatim,
        "What it does to the whole.",
    )
    .or_null(),
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    PRODUCED_BY,
]);

static FINDING: Kind = Kind::Open(&[
    Key::new("description", Kind::Passage, "What was found."),
    Key::new("file", Kind::Phrase, "The file.").or_null(),
    Key::new("line", Kind::Count, "The line, from 1.").or_null(),
    Key::new("fix", Kind::Verbatim, "How to fix it.").or_null(),
]);
