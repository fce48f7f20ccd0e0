//! What the reviewer found.

use super::attempt::{COST_ESTIMATE, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::many;
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
        many(&FINDING),
        "What is wrong: correctness, safety, scope, checks.",
    ),
    Key::new(
        "concerns",
        many(&FINDING),
        "What is weak: quality, coverage.",
    ),
    Key::new("nits", many(&FINDING), "What is a matter of style."),
    Key::new(
        "trim_instructions",
        Kind::Passage,
        "What the worker is to change, with FAIL.",
    )
    .nullable(),
    Key::new(
        "architecture_assessment",
        Kind::Verbatim,
        "What it does to the whole.",
    )
    .nullable(),
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    PRODUCED_BY,
]);

static FINDING: Kind = Kind::Open(&[
    Key::new("description", Kind::Passage, "What was found."),
    Key::new("file", Kind::Phrase, "The file.").nullable(),
    Key::new("line", Kind::Count, "The line, from 1.").nullable(),
    Key::new("fix", Kind::Verbatim, "How to mend it.").nullable(),
]);
