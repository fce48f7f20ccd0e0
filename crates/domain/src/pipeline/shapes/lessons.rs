//! What went wrong before.

use super::kinds::many;
use crate::exchange::shape::{Key, Kind};

pub(in super::super) static LESSONS: Kind = Kind::Open(&[Key::new(
    "lessons",
    many(&Kind::Open(&[
        Key::new("date", Kind::Date, "The day on which it was last seen."),
        Key::new(
            "issue",
            Kind::Phrase,
            "The issue on which it was last seen.",
        ),
        Key::new("pattern", Kind::Passage, "What goes wrong."),
        Key::new("frequency", Kind::Count, "How often it was seen.").nullable(),
        Key::new("mitigation", Kind::Verbatim, "What helps against it.").nullable(),
    ])),
    "What goes wrong again and again.",
)]);
