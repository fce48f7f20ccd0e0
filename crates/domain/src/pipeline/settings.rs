//! What a repository asks of its runs: `.pipeline/config.toml`.

use serde::Deserialize;

use super::limits::RETRIES_LIMIT;
use crate::Diagnostic;

/// The file, in the folder of the runs.
pub const SETTINGS_FILE: &str = "config.toml";
/// How often a stage is tried again in a tier, where nothing else is said.
const USUAL_RETRIES: u32 = 2;

/// What a repository asks of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Whether every agent must say what it thinks of its own work.
    pub assessed: bool,
    /// How often a stage is tried again in a tier before the next one takes over.
    pub retries: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            assessed: false,
            retries: USUAL_RETRIES,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    self_assessment: Asked,
    retries: Option<u32>,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Asked {
    Required,
    #[default]
    Optional,
}

impl Settings {
    /// Reads `.pipeline/config.toml`: `self_assessment = "required"` or `"optional"`, and `retries` from 0 to 10.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn read(file: &str, text: &str) -> Result<Self, Box<Diagnostic>> {
        let read: File = toml::from_str(text).map_err(|error| {
            let wrong = Diagnostic::error(file, error.message());
            let wrong = match error.span() {
                Some(span) => wrong.at_offset(text, span.start),
                None => wrong,
            };
            Box::new(wrong.mend(
                "write `self_assessment = \"required\"` or \"optional\", and `retries` from 0 to 10",
            ))
        })?;
        let retries = read.retries.unwrap_or(USUAL_RETRIES);
        if retries > RETRIES_LIMIT {
            let wrong = Diagnostic::error(file, format!("{retries} retries are too many"));
            let wrong = wrong.at_offset(text, text.find("retries").unwrap_or(0));
            return Err(Box::new(
                wrong
                    .key("retries")
                    .mend(format!("write at most {RETRIES_LIMIT}")),
            ));
        }
        Ok(Self {
            assessed: read.self_assessment == Asked::Required,
            retries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_asks_by_two_keys() {
        let usual = Settings::default();
        assert_eq!(Settings::read("c", "").unwrap(), usual);
        let asked = Settings::read("c", "self_assessment = \"required\"\nretries = 0\n").unwrap();
        assert_eq!(
            asked,
            Settings {
                assessed: true,
                retries: 0
            }
        );
        let same = Settings::read("c", "self_assessment = \"optional\"").unwrap();
        assert_eq!(same, usual);
        for (text, said) in [
            (
                "self_assessment = \"yes\"",
                "c:1:19: error: unknown variant",
            ),
            ("\nassess = true", "c:2:1: error: unknown field"),
            ("retries = 11", "c:1:1: error: 11 retries are too many"),
            ("retries = ", "c:1:11: error: "),
        ] {
            let wrong = Settings::read("c", text).unwrap_err().to_string();
            assert!(wrong.starts_with(said), "{text}: {wrong}");
        }
    }
}
