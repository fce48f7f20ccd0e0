//! The shape of `state.yaml`: the status of a run, its stages and its retries.

use super::attempt::TIERS;
use super::kinds::{PASSAGES, list_of, table_of};
use super::plan::COMPLEXITY;
use super::test::RESULTS;
use crate::exchange::shape::{Key, Kind};

/// Stages as the planner's state names them.
const STAGES: &[&str] = &["triage", "plan", "implement", "test", "review", "git"];

pub(in super::super) static STATE: Kind = Kind::Open(&[
    Key::new("issue", Kind::Phrase, "The issue's id or title."),
    Key::new("issue_number", Kind::Count, "The issue's number.").or_null(),
    Key::new(
        "status",
        Kind::Word(&["in_progress", "completed", "failed", "paused"]),
        "How the run stands.",
    ),
    Key::new(
        "current_stage",
        Kind::Word(STAGES),
        "The stage that comes next.",
    ),
    COMPLEXITY,
    Key::new(
        "acceptance_criteria",
        list_of(&Kind::Open(&[
            Key::new("id", Kind::Phrase, "Its id, such as AC-1."),
            Key::new("text", Kind::Passage, "What must be the case."),
            Key::new("test_mapped", Kind::Verbatim, "The test that shows it.").or_null(),
            Key::new(
                "status",
                Kind::Word(&["pending", "implemented", "verified"]),
                "How far it is.",
            ),
        ])),
        "When the work is accepted.",
    ),
    Key::new(
        "stages",
        table_of(&Kind::Open(&[
            Key::new("agent", Kind::Phrase, "The agent, such as `jg-worker`."),
            Key::new("result", Kind::Word(RESULTS), "How it ended."),
            Key::new("summary", Kind::Verbatim, "What came of it.").or_null(),
            Key::new("artifact_path", Kind::Phrase, "The artifact.").or_null(),
        ])),
        "The stages that have run.",
    ),
    Key::new(
        "retries",
        list_of(&Kind::Open(&[
            Key::new("stage", Kind::Phrase, "The stage that was tried again."),
            Key::new("tier", Kind::Word(TIERS), "How strong the agent was.").or_null(),
            Key::new("reason", Kind::Verbatim, "Why.").or_null(),
        ])),
        "What was tried again.",
    )
    .or_null(),
    Key::new("routing_decisions", PASSAGES, "Which way it went, and why.").or_null(),
    Key::new("running_summary", Kind::Verbatim, "The whole so far.").or_null(),
]);
