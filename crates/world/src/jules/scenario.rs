//! Scripts for sessions: which session a script is for, and what happens in it.

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::beat::Beat;
use super::file_texts::FileTexts;
use crate::bounds;

/// How the work of a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// COMPLETED with a change set, and with a pull request when `AUTO_CREATE_PR` was asked for.
    #[default]
    Changes,
    /// COMPLETED with empty `outputs`, while the activities hold a change set.
    HiddenChanges,
    /// COMPLETED with only a plan.
    PlanOnly,
    /// COMPLETED with an unanswered question as the last activity.
    OpenQuestion,
    /// COMPLETED because there was nothing to change.
    NoChange,
    /// FAILED, with the reason in the activity only.
    Failure,
    /// IN_PROGRESS forever, after some work.
    Stuck,
    /// IN_PROGRESS forever, although the pull request exists.
    StuckWithPull,
}

/// A regular expression over a title or a prompt.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn new(expression: &str) -> Result<Pattern, regex::Error> {
        Regex::new(expression).map(Pattern)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let expression = String::deserialize(from)?;
        Pattern::new(&expression).map_err(|error| {
            // The message repeats the expression on several lines; keep only its last part.
            let error = error.to_string();
            let problem = error.rsplit("error: ").next().unwrap_or_default();
            de::Error::custom(format!(
                "`{expression}` is not a regular expression: {problem}; write one such as `^Fix`"
            ))
        })
    }
}

/// Which sessions a scenario is for. An empty one is for all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Matcher {
    /// The title contains a match.
    pub title: Option<Pattern>,
    /// The prompt contains a match.
    pub prompt: Option<Pattern>,
    /// The source's name, in any case.
    pub source: Option<String>,
    /// Only the n-th session (from 1) that fits the rest.
    #[serde(deserialize_with = "bounds::read_nth")]
    pub nth: Option<u32>,
}

impl Matcher {
    /// Whether the text conditions hold; `nth` is counted by the caller.
    pub(super) fn matches_session(&self, title: &str, prompt: &str, source: Option<&str>) -> bool {
        self.title
            .as_ref()
            .is_none_or(|pattern| pattern.0.is_match(title))
            && self
                .prompt
                .as_ref()
                .is_none_or(|pattern| pattern.0.is_match(prompt))
            && self.source.as_ref().is_none_or(|wanted| {
                source.is_some_and(|source| source.eq_ignore_ascii_case(wanted))
            })
    }
}

/// The script of a session. Absent fields are drawn by chance or follow the knobs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Scenario {
    /// Which sessions.
    pub when: Matcher,
    /// How it ends.
    pub ending: Option<Ending>,
    /// Questions that the session asks one after another before it works.
    pub questions: Option<Vec<String>>,
    /// Minutes from creation to the end, without the time spent waiting for people.
    #[serde(deserialize_with = "bounds::read_duration")]
    pub minutes: Option<f64>,
    /// Exact file changes in place of plausible ones; see [`super::work`] for the placeholders.
    pub files: Option<FileTexts>,
    /// Files to delete, for scripts in formats that have no null.
    pub deletes: Vec<String>,
    /// The reason of a failure.
    pub reason: Option<String>,
    /// The branch's name up to the session id, such as `fix/typo`.
    pub branch: Option<String>,
    /// The pull request's title.
    pub pull_title: Option<String>,
    /// The pull request's body, before the line that Jules adds.
    pub pull_body: Option<String>,
    /// Whether the pull request is a draft.
    pub draft: Option<bool>,
    /// Minutes after which the service approves the plan by itself.
    #[serde(deserialize_with = "bounds::read_duration")]
    pub auto_approve_minutes: Option<f64>,
    /// Progress texts in place of drawn ones; an empty string is an empty update.
    pub progress: Option<Vec<String>>,
    /// Files that change on the first, second, … message to the completed session.
    pub follow_ups: Vec<FileTexts>,
    /// Minutes after completion at which the whole old diff is pushed once more.
    #[serde(deserialize_with = "bounds::read_duration")]
    pub pushes_again_after: Option<f64>,
    /// A state that no client knows, shown while the session works.
    pub unknown_state: Option<String>,
    /// An activity kind that no client knows.
    pub unknown_activity: Option<String>,
    /// An artifact kind that no client knows.
    pub unknown_artifact: Option<String>,
    /// An output kind that no client knows.
    pub unknown_output: Option<String>,
    /// Leave the originator out of every activity.
    pub no_originator: bool,
    /// Every beat of the session, in place of beats composed from the fields above.
    pub beats: Option<Vec<Beat>>,
}

impl Scenario {
    /// A scenario for all sessions with this ending.
    pub fn with_ending(ending: Ending) -> Scenario {
        Scenario {
            ending: Some(ending),
            ..Scenario::default()
        }
    }

    /// The same, for sessions whose title holds this text.
    #[must_use]
    pub fn for_title(mut self, text: &str) -> Scenario {
        self.when.title =
            Some(Pattern::new(&regex::escape(text)).expect("an escaped text is an expression"));
        self
    }

    /// The same, for the n-th session (from 1) that fits.
    #[must_use]
    pub fn for_nth(mut self, nth: u32) -> Scenario {
        self.when.nth = Some(nth);
        self
    }

    /// The same, taking this many minutes.
    #[must_use]
    pub fn with_minutes(mut self, minutes: f64) -> Scenario {
        self.minutes = Some(minutes);
        self
    }

    /// The same, writing this file.
    #[must_use]
    pub fn with_file(mut self, path: &str, text: &str) -> Scenario {
        self.files
            .get_or_insert_default()
            .insert(path.to_owned(), Some(text.to_owned()));
        self
    }

    /// The exact changes, where the script gives any.
    pub(super) fn file_changes(&self) -> Option<FileTexts> {
        let mut files = self.files.clone();
        if !self.deletes.is_empty() {
            files
                .get_or_insert_default()
                .extend(self.deletes.iter().map(|path| (path.clone(), None)));
        }
        files
    }

    /// The same, asking this question first.
    #[must_use]
    pub fn with_question(mut self, question: &str) -> Scenario {
        self.questions
            .get_or_insert_default()
            .push(question.to_owned());
        self
    }
}

/// Scripts with their counts of use.
#[derive(Debug, Clone, Default)]
pub(super) struct Playbook {
    scenarios: Vec<(Scenario, u32)>,
}

impl Playbook {
    pub(super) fn new(scenarios: Vec<Scenario>) -> Playbook {
        Playbook {
            scenarios: scenarios
                .into_iter()
                .map(|scenario| (scenario, 0))
                .collect(),
        }
    }

    /// Puts a scenario before all others.
    pub(super) fn put_first(&mut self, scenario: Scenario) {
        self.scenarios.insert(0, (scenario, 0));
    }

    /// The scenario for a new session; an empty one when no script fits.
    pub(super) fn choose_scenario(
        &mut self,
        title: &str,
        prompt: &str,
        source: Option<&str>,
    ) -> Scenario {
        let mut chosen = None;
        // Every script that fits counts the session, also when an earlier one is played.
        for (scenario, seen) in &mut self.scenarios {
            if !scenario.when.matches_session(title, prompt, source) {
                continue;
            }
            *seen += 1;
            if scenario.when.nth.is_none_or(|nth| nth == *seen) {
                chosen.get_or_insert(&*scenario);
            }
        }
        chosen.cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_scenario_that_fits_is_played() {
        let mut playbook = Playbook::new(vec![
            Scenario::with_ending(Ending::Failure)
                .for_title("curator")
                .for_nth(2),
            Scenario::with_ending(Ending::NoChange).for_title("curator"),
        ]);
        let mut ending = |title| playbook.choose_scenario(title, "p", None).ending;
        assert_eq!(ending("🧹 curator: default"), Some(Ending::NoChange));
        assert_eq!(ending("refactor"), None);
        assert_eq!(ending("curator again"), Some(Ending::Failure));
        assert_eq!(ending("curator"), Some(Ending::NoChange));
    }

    #[test]
    fn a_session_counts_for_every_script_that_fits() {
        let script = |ending, nth| Scenario::with_ending(ending).for_title("a").for_nth(nth);
        let mut playbook = Playbook::new(vec![
            script(Ending::Failure, 1),
            script(Ending::NoChange, 2),
        ]);
        let mut ending = || playbook.choose_scenario("a", "p", None).ending;
        assert_eq!(ending(), Some(Ending::Failure));
        assert_eq!(ending(), Some(Ending::NoChange));
        assert_eq!(ending(), None);
    }

    #[test]
    fn scripts_are_written_as_toml() {
        let scenario: Scenario = toml::from_str(
            r#"
            ending = "changes"
            minutes = 12
            deletes = ["old.txt"]
            questions = ["Which one?"]
            [when]
            prompt = "observers/[a-z]+"
            source = "sources/github/O/R"
            [files]
            ".jules/exchange/events/pending/a.yml" = "id: abc123"
            "#,
        )
        .unwrap();
        assert!(scenario.when.matches_session(
            "",
            "role observers/taxonomy",
            Some("sources/github/o/r")
        ));
        assert!(
            !scenario
                .when
                .matches_session("", "role observers/taxonomy", None)
        );
        let changes = scenario.file_changes().unwrap();
        assert_eq!(changes["old.txt"], None);
        assert_eq!(
            changes[".jules/exchange/events/pending/a.yml"].as_deref(),
            Some("id: abc123")
        );
        assert!(toml::from_str::<Scenario>("[when]\ntitle = \"(\"").is_err());
        assert!(toml::from_str::<Scenario>("endng = \"changes\"").is_err());
        for wrong in [
            "minutes = -1",
            "auto-approve-minutes = nan",
            "pushes-again-after = inf",
            "[when]\nnth = 0",
        ] {
            let said = toml::from_str::<Scenario>(wrong).unwrap_err().to_string();
            assert!(said.contains("is out of range"), "{said}");
        }
    }
}
