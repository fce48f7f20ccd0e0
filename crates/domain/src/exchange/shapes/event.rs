//! What an observer found.

use super::keys::version;
use crate::exchange::shape::{Key, Kind, List, Shape};

/// The degrees of confidence and priority.
pub(in crate::exchange) const DEGREES: &[&str] = &["low", "medium", "high"];

/// An observer's event.
pub static EVENT: Shape = Shape {
    name: "event",
    about: "What an observer found: one claim, with its evidence.",
    keys: &[
        version(1),
        Key::new(
            "id",
            Kind::Id,
            "Six lower-case letters and digits, in quotes; phileas gives another one where it is taken.",
        ),
        Key::new(
            "issue_id",
            Kind::Link,
            "The work item that takes it up: empty until it is decided. phileas sets it.",
        ),
        Key::new(
            "created_at",
            Kind::Date,
            "The day on which it was found, in UTC.",
        ),
        Key::new("author_role", Kind::Role, "The observer's role."),
        Key::new(
            "confidence",
            Kind::Word(DEGREES),
            "How sure the observer is.",
        ),
        Key::new(
            "title",
            Kind::Line("<title of the finding>"),
            "What was found, in a few words.",
        ),
        Key::new(
            "statement",
            Kind::Text("<what is the case, and why it matters>"),
            "What is the case, and why it matters.",
        ),
        Key::new(
            "evidence",
            Kind::List(List::of_some(&EVIDENCE)),
            "Where it can be seen.",
        ),
        Key::new(
            "tags",
            Kind::List(List::of_any(&Kind::Line("<tag>"))),
            "Words to find it by.",
        )
        .or_kept(),
    ],
    rules: &[],
    renamed: &[("requirement_id", "issue_id"), ("role", "author_role")],
};

static EVIDENCE: Kind = Kind::Map(&[
    Key::new(
        "path",
        Kind::Line("<path of the file>"),
        "The file, from the repository's root.",
    ),
    Key::new(
        "loc",
        Kind::List(List::of_some(&Kind::Spot("<line, range or symbol>"))),
        "Lines, ranges of lines or symbols in it.",
    ),
    Key::new(
        "note",
        Kind::Text("<what is to be seen there>"),
        "What is to be seen there.",
    ),
]);
