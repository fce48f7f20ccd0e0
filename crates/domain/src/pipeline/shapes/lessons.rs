//! The shape of `lessons.yaml`: mistakes of earlier runs, for later ones.

use super::kinds::list_of;
use crate::exchange::shape::{Key, Kind};

pub(in super::super) static LESSONS: Kind = Kind::Open(&[Key::new(
    "lessons",
    list_of(&Kind::Open(&[
        Key::new("date", Kind::Date, "The day on which it was last seen."),
        Key::new(
            "issue",
            Kind::Phrase,
            "The issue on which it was last seen.",
        ),
        Key::new("pattern", Kind::Passage, "What goes wrong."),
        Key::new("frequency", Kind::Count, "How often it was seen.").or_null(),
        Key::new("mitigation", Kind::Verbatim, "What helps against it.").or_null(),
    ])),
    "What goes wrong again and again.",
)]);
