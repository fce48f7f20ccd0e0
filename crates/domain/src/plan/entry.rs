//! Where a pass through the layers begins.

use super::constants::{INNOVATION_TRACK, PASS_TRACK};
use super::types::{Plan, Step, StepKind, Track};

/// Where a pass through the layers begins: what comes before is left out, and what comes after it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EntryPoint {
    /// From the beginning.
    #[default]
    Narrator,
    /// With the observers: the last summary will do.
    Observers,
    /// With the decider: events wait.
    Decider,
    /// With the work that was decided on: planner and implementer.
    Requirements,
    /// The innovators alone.
    Innovators,
}

impl EntryPoint {
    /// The words for them, in configuration, flags and inputs.
    pub const WORDS: [(&str, Self); 5] = [
        ("narrator", Self::Narrator),
        ("observers", Self::Observers),
        ("decider", Self::Decider),
        ("requirements", Self::Requirements),
        ("innovators", Self::Innovators),
    ];

    /// What a word means.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, entry)| *entry)
    }

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, entry)| *entry == self);
        found.map_or("", |(word, _)| word)
    }

    /// All words, for people.
    #[must_use]
    pub fn word_list() -> String {
        let words = Self::WORDS.map(|(word, _)| format!("`{word}`"));
        words.join(", ")
    }

    /// The layers that it may begin with.
    #[must_use]
    pub fn layers(self) -> &'static [&'static str] {
        match self {
            Self::Narrator => &["narrator"],
            Self::Observers => &["observers"],
            Self::Decider => &["decider"],
            Self::Requirements => &["planner", "implementer"],
            Self::Innovators => &["innovators"],
        }
    }

    /// Whether a pass that begins here goes through a layer.
    #[must_use]
    pub fn goes_through(self, layer: &str) -> bool {
        let before: &[&str] = match self {
            Self::Narrator => &[],
            Self::Observers => &["narrator"],
            Self::Decider => &["narrator", "observers"],
            Self::Requirements => &["narrator", "observers", "decider"],
            Self::Innovators => return layer == "innovators",
        };
        !before.contains(&layer)
    }

    fn begins_with(self, step: &Step) -> bool {
        matches!(&step.kind, StepKind::Layer(name) if self.layers().contains(&name.as_str()))
    }
}

impl Plan {
    /// The track and the step that an entry point names: in the pass, or the innovators' round, where one of that name
    /// goes through the layer, else in the first track that does.
    #[must_use]
    pub fn entry(&self, entry: EntryPoint) -> Option<(&Track, usize)> {
        let usual = match entry {
            EntryPoint::Innovators => INNOVATION_TRACK,
            _ => PASS_TRACK,
        };
        let at = |track: &Track| track.steps.iter().position(|step| entry.begins_with(step));
        let usual = self.tracks.get(usual).into_iter();
        usual
            .chain(self.tracks.values())
            .find_map(|track| Some((track, at(track)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LAYERS;

    /// The table of the reference, row by row.
    #[test]
    fn what_comes_before_is_left_out() {
        for (entry, runs) in [
            (
                "narrator",
                &["narrator", "observers", "decider", "planner", "implementer"][..],
            ),
            (
                "observers",
                &["observers", "decider", "planner", "implementer"],
            ),
            ("decider", &["decider", "planner", "implementer"]),
            ("requirements", &["planner", "implementer"]),
            ("innovators", &[]),
        ] {
            let point = EntryPoint::of(entry).unwrap();
            assert_eq!(point.as_str(), entry);
            let pass = LAYERS[..5].iter().copied();
            let through: Vec<&str> = pass.filter(|layer| point.goes_through(layer)).collect();
            assert_eq!(through, runs, "{entry}");
            assert!(point.layers().iter().all(|layer| point.goes_through(layer)));
        }
        assert_eq!(EntryPoint::of("planner"), None);
    }
}
