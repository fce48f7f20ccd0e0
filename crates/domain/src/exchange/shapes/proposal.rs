//! What an innovator proposes.

use super::keys::{ID, version};
use crate::exchange::shape::{Key, Kind, List, Shape};

/// A proposal of the flat layout.
pub static PROPOSAL: Shape = Shape {
    name: "proposal",
    about: "A change of direction that an innovator proposes; it is published as an issue.",
    keys: &[
        version(1),
        ID,
        Key::new("persona", Kind::Role, "The innovator's role."),
        Key::new(
            "created_at",
            Kind::Date,
            "The day on which it was written, in UTC.",
        ),
        Key::new(
            "title",
            Kind::Line("<title of the proposal>"),
            "What is proposed, in a few words.",
        ),
        Key::new(
            "problem",
            Kind::Text("<what is wrong today>"),
            "What is wrong today.",
        ),
        Key::new(
            "introduction",
            Kind::Text("<what is proposed>"),
            "What is proposed.",
        ),
        Key::new(
            "importance",
            Kind::Text("<why it matters>"),
            "Why it matters.",
        ),
        Key::new(
            "impact_surface",
            Kind::List(List::of_some(&Kind::Line("<what it touches>"))),
            "What it touches.",
        ),
        Key::new(
            "implementation_cost",
            Kind::Text("<what it costs>"),
            "What it costs.",
        ),
        Key::new(
            "consistency_risks",
            Kind::List(List::of_some(&Kind::Line("<what could clash>"))),
            "What it could clash with.",
        ),
        Key::new(
            "verification_signals",
            Kind::List(List::of_some(&Kind::Line("<what would show success>"))),
            "What would show that it was right.",
        ),
    ],
    rules: &[],
    renamed: &[("role", "persona")],
};
