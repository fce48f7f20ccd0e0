//! What is to be done: a requirement in the flat layout, an issue among workstreams.

use super::event::DEGREES;
use super::keys::version;
use crate::exchange::shape::{Is, Key, Kind, List, Rule, Shape};

/// A requirement of the flat layout.
pub static REQUIREMENT: Shape = Shape {
    name: "requirement",
    about: "A piece of work that the decider made of events.",
    keys: &[
        version(2),
        ID,
        EVENTS,
        TITLE,
        LABEL,
        PRIORITY,
        SUMMARY,
        Key::new(
            "goal",
            Kind::Text("<the goal of the work>"),
            "What the work is for.",
        ),
        PROBLEM,
        IMPACT,
        OUTCOME,
        CONSTRAINTS,
        AREAS,
        RISKS,
        ACCEPTANCE,
        Key::new(
            "verification_criteria",
            Kind::List(List::of_some(&Kind::Line("<what shows that it is done>"))),
            "What shows that it is done; criteria, no commands.",
        ),
        DEEP,
        REASON,
        ATTEMPTS,
        RETURNED,
    ],
    rules: RULES,
    renamed: &[
        ("verification_commands", "verification_criteria"),
        ("planner_request_reason", "deep_analysis_reason"),
        ("implementation_ready", "requires_deep_analysis"),
    ],
};

/// An issue of the workstreams layout.
pub static ISSUE: Shape = Shape {
    name: "issue",
    about: "A piece of work that a decider of one workstream made of its events.",
    keys: &[
        version(2),
        ID,
        EVENTS,
        TITLE,
        LABEL,
        PRIORITY,
        SUMMARY,
        PROBLEM,
        IMPACT,
        OUTCOME,
        CONSTRAINTS,
        AREAS,
        RISKS,
        ACCEPTANCE,
        Key::new(
            "verification_commands",
            Kind::List(List::of_some(&Kind::Command("<command that shows it>"))),
            "Commands that show that it is done; none that starts an agent.",
        ),
        DEEP.with_template(),
        REASON,
        ATTEMPTS,
        RETURNED,
    ],
    rules: RULES,
    renamed: &[("verification_criteria", "verification_commands")],
};

const RULES: &[Rule] = &[Rule {
    within: "",
    when: "requires_deep_analysis",
    is: Is::True,
    then: "deep_analysis_reason",
}];

const ID: Key = Key::new(
    "id",
    Kind::Id,
    "Six lower-case letters and digits, in quotes. It stays.",
);
const EVENTS: Key = Key::new(
    "source_events",
    Kind::List(List::of_some(&Kind::Id)),
    "Ids of the events it is made of; an event belongs to one item only.",
);
const TITLE: Key = Key::new(
    "title",
    Kind::Line("<title of the work>"),
    "What is to be done, in a few words.",
);
const LABEL: Key = Key::new(
    "label",
    Kind::Label,
    "Its kind: one of the labels of `.jules/github-labels.json`.",
);
const PRIORITY: Key = Key::new("priority", Kind::Word(DEGREES), "How much it matters.");
const SUMMARY: Key = Key::new(
    "summary",
    Kind::Line("<the work in one line>"),
    "The whole in one line.",
);
const PROBLEM: Key = Key::new(
    "problem",
    Kind::Text("<what is wrong today>"),
    "What is wrong today.",
);
const IMPACT: Key = Key::new(
    "impact",
    Kind::Text("<what it costs to leave it>"),
    "What it costs to leave it so.",
);
const OUTCOME: Key = Key::new(
    "desired_outcome",
    Kind::Text("<what is the case afterwards>"),
    "What is the case afterwards.",
);
const CONSTRAINTS: Key = Key::new(
    "constraints",
    Kind::List(List::of_any(&Kind::Line("<constraint>"))),
    "What must not change.",
);
const AREAS: Key = Key::new(
    "affected_areas",
    Kind::List(List::of_some(&Kind::Line("<affected area>"))),
    "Modules or paths that the work touches.",
);
const RISKS: Key = Key::new(
    "risks",
    Kind::List(List::of_any(&Kind::Line("<risk>"))),
    "What could go wrong.",
);
const ACCEPTANCE: Key = Key::new(
    "acceptance_criteria",
    Kind::List(List::of_some(&Kind::Line("<criterion of acceptance>"))),
    "When the work is accepted.",
);
const DEEP: Key = Key::new(
    "requires_deep_analysis",
    Kind::Flag,
    "Whether a planner must look first.",
);
const REASON: Key = Key::new(
    "deep_analysis_reason",
    Kind::Prose,
    "Why; needed where a planner must look first.",
)
.with_template();
const ATTEMPTS: Key = Key::new(
    "attempts",
    Kind::Count,
    "How often an implementer has tried. phileas counts.",
)
.or_kept();
const RETURNED: Key = Key::new(
    "returned_because",
    Kind::List(List::of_any(&Kind::Line("<reason>"))),
    "Why it came back, the newest last. phileas writes it.",
)
.or_kept();
