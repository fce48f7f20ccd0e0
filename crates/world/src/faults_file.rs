//! The file of `--faults FILE`, which sets knobs and faults.

use serde::Deserialize;

use crate::faults::{FaultPlan, FaultRule};
use crate::knobs::Knobs;

/// The content of a faults file: `[knobs]` with single knobs by their names, and `[[rules]]` of faults.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultsFile {
    /// The knobs; those that the file leaves out have their documented values.
    #[serde(default)]
    pub knobs: Knobs,
    /// The fault rules in order of precedence.
    #[serde(default)]
    pub rules: Vec<FaultRule>,
}

impl FaultsFile {
    /// The knobs, and the fault plan.
    #[must_use]
    pub fn into_parts(self) -> (Knobs, FaultPlan) {
        (self.knobs, FaultPlan { rules: self.rules })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Fault;
    use crate::knobs::TitleKept;

    #[test]
    fn a_file_turns_knobs_and_sets_faults() {
        let text = "[knobs]\ntitle = \"dropped\"\n[[rules]]\nface = \"jules\"\nfault = { kind = \"slow\", seconds = 3 }\n";
        let (knobs, plan) = toml::from_str::<FaultsFile>(text).unwrap().into_parts();
        assert_eq!(knobs.title, TitleKept::Dropped);
        assert_eq!(plan.rules[0].fault, Fault::Slow { seconds: 3 });
        let (knobs, plan) = toml::from_str::<FaultsFile>("").unwrap().into_parts();
        assert_eq!((knobs, plan), (Knobs::documented(), FaultPlan::default()));
    }

    #[test]
    fn what_could_not_happen_is_refused() {
        let fault = "fault = { kind = \"drop-before\" }";
        for (text, word) in [
            ("[knobs]\ntitel = 1\n".to_owned(), "titel"),
            ("[knobs]\nwebhook-lost = 20\n".to_owned(), "from 0 to 1"),
            (
                "[[rules]]\nfault = { kind = \"slow\" }\n".to_owned(),
                "seconds",
            ),
            (
                "[[rules]]\nfault = { kind = \"status\", status = 7 }\n".to_owned(),
                "from 200 to 599",
            ),
            (format!("[[rules]]\nnth = 0\n{fault}\n"), "of 1 or more"),
            (
                format!("[[rules]]\nprobability = 7\n{fault}\n"),
                "from 0 to 1",
            ),
        ] {
            let wrong = toml::from_str::<FaultsFile>(&text).unwrap_err().to_string();
            assert!(wrong.contains(word), "{wrong}");
        }
    }
}
