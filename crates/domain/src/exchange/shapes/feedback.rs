//! Why an event was rejected, for the observer that found it.

use super::keys::version;
use crate::exchange::shape::{Key, Kind, Shape};

/// A rejection.
pub static FEEDBACK: Shape = Shape {
    name: "feedback",
    about: "Why the decider rejected an event; its file is called by the event's id.",
    keys: &[
        version(1).with_template(),
        Key::new("date", Kind::Date, "The day of the rejection, in UTC."),
        Key::new(
            "topic",
            Kind::Line("<topic of the event>"),
            "What the event was about.",
        ),
        Key::new(
            "critique",
            Kind::Text("<why it was rejected>"),
            "Why it was rejected.",
        ),
        Key::new(
            "guidance",
            Kind::Text("<how to avoid such findings>"),
            "How such findings are avoided.",
        ),
        Key::new(
            "rejected_content",
            Kind::Prose,
            "The event's text, where the event itself does not stay.",
        )
        .or_kept(),
    ],
    rules: &[],
    renamed: &[("created_at", "date"), ("reason", "critique")],
};
