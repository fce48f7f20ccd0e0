//! A file that turns knobs and sets faults, as `--faults FILE` takes it.

use serde::Deserialize;
use serde_json::Value;

use crate::faults::{FaultPlan, FaultRule};
use crate::knobs::Knobs;

/// What such a file holds: `[knobs]` with single knobs by their names, and `[[rules]]` of faults.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trouble {
    /// The knobs that differ.
    #[serde(default)]
    pub knobs: Value,
    /// The fault rules in order of precedence.
    #[serde(default)]
    pub rules: Vec<FaultRule>,
}

impl Trouble {
    /// Reads a file's text as TOML.
    ///
    /// # Errors
    /// Says where and what is wrong.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// Turns the knobs that the file names and leaves the others, and gives the fault plan.
    ///
    /// # Errors
    /// Names the knob that is unknown or whose value does not fit.
    pub fn apply(&self, knobs: &mut Knobs) -> Result<FaultPlan, String> {
        if !self.knobs.is_null() {
            knobs.set(&self.knobs)?;
        }
        Ok(FaultPlan {
            rules: self.rules.clone(),
        })
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
        let mut knobs = Knobs::documented();
        let plan = Trouble::from_toml(text).unwrap().apply(&mut knobs).unwrap();
        assert_eq!(knobs.title, TitleKept::Dropped);
        assert_eq!(plan.rules[0].fault, Fault::Slow { seconds: 3 });
        let wrong = Trouble::from_toml("[knobs]\ntitel = 1\n")
            .unwrap()
            .apply(&mut knobs);
        assert!(wrong.unwrap_err().contains("titel"));
        assert!(
            Trouble::from_toml("[[rules]]\nfault = { kind = \"slow\" }\n")
                .unwrap_err()
                .contains("seconds")
        );
    }
}
