//! What a repository asks of its runs: `.pipeline/config.toml`.

use serde::Deserialize;

use super::limits::RETRIES_LIMIT;
use crate::diagnostic::Mistakes;
use crate::toml_text::TomlText;

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
    self_assessment: SelfAssessment,
    retries: Option<Retries>,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum SelfAssessment {
    Required,
    #[default]
    Optional,
}

/// How often, where it is neither too often nor less than never.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "i64")]
struct Retries(u32);

impl TryFrom<i64> for Retries {
    type Error = String;

    fn try_from(retries: i64) -> Result<Self, String> {
        match u32::try_from(retries) {
            Ok(retries) if retries <= RETRIES_LIMIT => Ok(Self(retries)),
            _ => Err(format!(
                "{retries} retries are out of range; write a whole number from 0 to {RETRIES_LIMIT}"
            )),
        }
    }
}

impl Settings {
    /// Reads `.pipeline/config.toml`: `self_assessment = "required"` or `"optional"`, and `retries` from 0 to 10.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn read_settings(file: &str, text: &str) -> Result<Self, Mistakes> {
        let read: File = TomlText::new(file, text).read()?;
        let retries = read.retries.map_or(USUAL_RETRIES, |retries| retries.0);
        Ok(Self {
            assessed: read.self_assessment == SelfAssessment::Required,
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
        assert_eq!(Settings::read_settings("c", "").unwrap(), usual);
        let asked =
            Settings::read_settings("c", "self_assessment = \"required\"\nretries = 0\n").unwrap();
        assert_eq!(
            asked,
            Settings {
                assessed: true,
                retries: 0
            }
        );
        let same = Settings::read_settings("c", "self_assessment = \"optional\"").unwrap();
        assert_eq!(same, usual);
        for (text, said) in [
            (
                "self_assessment = \"yes\"",
                "c:1:19: error: unknown value `yes` (at self_assessment); ",
            ),
            (
                "\nassess = true",
                "c:2:1: error: unknown key `assess` (at assess); ",
            ),
            (
                "retries = 11",
                "c:1:11: error: 11 retries are out of range (at retries); write a whole number from 0 to 10",
            ),
            (
                "retries = -1",
                "c:1:11: error: -1 retries are out of range (at retries); ",
            ),
            (
                "retries = \"2\"",
                "c:1:11: error: expected a whole number, found a text (at retries); write a whole number",
            ),
            (
                "retries = ",
                "c:1:10: error: its value is missing (at retries); ",
            ),
        ] {
            let wrong = Settings::read_settings("c", text).unwrap_err().to_string();
            assert!(wrong.starts_with(said), "{text}: {wrong}");
        }
    }
}
