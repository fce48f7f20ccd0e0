//! The keys that every artifact may have about the attempt that wrote it.

use super::kinds::{NOT_NEGATIVE, PHRASES, list_of};
use crate::exchange::shape::{Key, Kind};

/// How strong an agent is.
pub(super) const TIERS: &[&str] = &["fast", "standard", "high"];

pub(super) const SELF_ASSESSMENT: Key = Key::new(
    "self_assessment",
    Kind::Open(&[
        Key::new(
            "confidence",
            Kind::Number(0.0, 1.0),
            "How sure the agent is, from 0 to 1.",
        ),
        Key::new(
            "uncertainty_areas",
            PHRASES,
            "What the agent is not sure of.",
        )
        .or_null(),
        Key::new(
            "recommendation",
            Kind::Verbatim,
            "What the agent would do next.",
        )
        .or_null(),
    ]),
    "What the agent thinks of its own work. A repository may ask for it: `self_assessment = \"required\"` in `.pipeline/config.toml`.",
)
.or_null();

pub(super) const TIER_USED: Key = Key::new(
    "tier_used",
    Kind::Word(TIERS),
    "How strong the agent was that wrote it.",
)
.or_null();

pub(super) const COST_ESTIMATE: Key =
    Key::new("cost_estimate", Kind::Verbatim, "What it cost, for people.").or_null();

pub(super) const PRODUCED_BY: Key = Key::new(
    "produced_by",
    Kind::Phrase,
    "The agent that wrote it, such as `jg-worker`.",
)
.or_null();

pub(super) const ESCALATION_HISTORY: Key = Key::new(
    "escalation_history",
    list_of(&Kind::Open(&[
        Key::new("from_tier", Kind::Word(TIERS), "The tier that gave up."),
        Key::new("to_tier", Kind::Word(TIERS), "The tier that went on."),
        Key::new("reason", Kind::Passage, "Why."),
    ])),
    "How the work went up the tiers.",
)
.or_null();

/// What a stage of a run cost, in dollars.
pub(super) const COST_USD: Key =
    Key::new("cost_usd", NOT_NEGATIVE, "What it cost, in dollars.").or_null();
