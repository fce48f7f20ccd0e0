//! Reads scenarios: a repository, the course of its sessions and the actions of people, in one
//! file.
//!
//! By default a scenario has the newcomer's repository with its layers, sessions of ten minutes
//! that do what their prompt requests, and no reviewer. `tests/scenarios/README.md` explains the
//! keys.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use phileas_domain::Diagnostic;
use phileas_domain::diagnostic::Mistakes;
use phileas_domain::toml_text::{MAX_MISTAKES, TomlText};
use phileas_world::control::{self, Act, ActKind};
use phileas_world::jules::{Scenario as Session, Weights};
use phileas_world::maintainer::ReviewPolicy;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;

use super::virtual_time::SharedWorld;
use super::world_setup::WorldSetup;

/// How long a session works by default, in minutes.
const USUAL_MINUTES: f64 = 10.0;
/// The longest scenario.
const MAX_SPAN: SignedDuration = SignedDuration::from_hours(31 * 24);

/// The content of a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// Its title, in a few words.
    pub title: String,
    /// The events and their reasons, for readers.
    pub about: String,
    /// Its length, such as `12h`.
    #[serde(deserialize_with = "read_span")]
    pub lasts: SignedDuration,
    /// The triggers of ticks.
    #[serde(default)]
    pub clock: Clock,
    /// The reviewer.
    #[serde(default)]
    pub maintainer: Reviewer,
    /// Files of the default branch by path, over the newcomer's; an empty text removes a file.
    #[serde(default)]
    pub repository: BTreeMap<String, String>,
    /// Files of the branch `jules` at the beginning, by path.
    #[serde(default)]
    pub ledger: BTreeMap<String, String>,
    /// The course of sessions; the first that matches counts.
    #[serde(default)]
    pub sessions: Vec<Session>,
    /// The actions of people.
    #[serde(default)]
    pub acts: Vec<TimedAction>,
    /// Files and folders of the branch `jules` whose texts are printed at the end.
    #[serde(default)]
    pub prints: Vec<String>,
}

/// The triggers of ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Webhooks, and the time that the last tick requested, as for the service.
    #[default]
    Events,
    /// The 17th minute of each hour alone, as for a workflow that loses all events.
    Hourly,
}

/// The reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reviewer {
    /// There is none, apart from the scenario's people.
    #[default]
    Away,
    /// A maintainer who merges everything within minutes.
    Eager,
}

/// An action of a person at a given time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct TimedAction {
    /// The time since the beginning, such as `1h30m`.
    #[serde(deserialize_with = "read_placed_span")]
    pub at: Spanned<SignedDuration>,
    /// Where it stands in the file.
    #[serde(skip)]
    place: String,
    /// The action, in the form of the models' control.
    #[serde(flatten)]
    pub act: Act,
}

impl Scenario {
    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// All mistakes, and where each is.
    pub fn read_scenario(mut text: TomlText<'_>) -> Result<Self, Mistakes> {
        let Some(mut read) = text.read_leniently::<Self>() else {
            return Err(text.into_mistakes());
        };
        let lasts = read.lasts;
        if lasts <= SignedDuration::ZERO || lasts > MAX_SPAN {
            let wrong = text.mistake("lasts", format!("{lasts:#} is out of range"));
            text.add([wrong.help("write more than zero, and at most 31 days (`744h`)")]);
        } else {
            let mistakes = read
                .acts
                .iter()
                .filter_map(|one| time_mistake(&text, lasts, one));
            let mistakes: Vec<Diagnostic> = mistakes.take(MAX_MISTAKES + 1).collect();
            text.add(mistakes);
        }
        if !text.is_sound() {
            return Err(text.into_mistakes());
        }
        for act in &mut read.acts {
            act.place = text.place(act.at.span().start);
        }
        read.acts.sort_by_key(|one| *one.at.get_ref());
        Ok(read)
    }

    /// Returns the set-up of its world.
    #[must_use]
    pub fn world_setup(&self, seed: u64) -> WorldSetup {
        let mut setup = WorldSetup::new(seed);
        setup.layers = true;
        setup.texts = self.repository.clone();
        setup.ledger_texts = self.ledger.clone();
        setup.review_policy = match self.maintainer {
            Reviewer::Away => ReviewPolicy::absent(),
            Reviewer::Eager => ReviewPolicy::eager(),
        };
        setup.jules.asks = 0.0;
        setup.jules.weights = Weights::only_changes();
        setup.jules.scenarios.clone_from(&self.sessions);
        setup
            .jules
            .scenarios
            .push(Session::default().with_minutes(USUAL_MINUTES));
        setup
    }
}

impl TimedAction {
    /// Performs the action.
    ///
    /// # Errors
    ///
    /// What failed, and why.
    pub fn perform_action(&self, shared: &SharedWorld) -> Result<(), String> {
        control::perform_act(&mut shared.lock_world(), self.act.clone())
            .map_err(|wrong| format!("{}: {wrong}", self.place))
    }

    /// Describes a commit on a branch, which no issue or pull request shows. `None`: the action is
    /// none.
    #[must_use]
    pub fn report_text(&self) -> Option<String> {
        let ActKind::PushFiles(push) = &self.act.kind else {
            return None;
        };
        let who = self.act.by.as_deref().unwrap_or("the owner");
        let is_text = |text: &Option<String>| text.is_some();
        let written = push.files.iter().filter(|(_, text)| is_text(text));
        let gone = push.files.iter().filter(|(_, text)| !is_text(text));
        let written = written.map(|(path, _)| format!("writes {path}"));
        let gone = gone.map(|(path, _)| path).chain(&push.deletes);
        let what: Vec<String> = written
            .chain(gone.map(|path| format!("removes {path}")))
            .collect();
        let (branch, message) = (&push.branch, &push.message);
        Some(format!(
            "{who} commits to {branch}, \"{message}\": {}",
            what.join(", ")
        ))
    }
}

fn time_mistake(
    text: &TomlText<'_>,
    lasts: SignedDuration,
    act: &TimedAction,
) -> Option<Diagnostic> {
    let at = *act.at.get_ref();
    let side = if at < SignedDuration::ZERO {
        "before the beginning"
    } else if at >= lasts {
        "after the end"
    } else {
        return None;
    };
    let wrong = text.mistake_at(act.at.span().start, format!("{at:#} is {side}"));
    Some(wrong.help(format!(
        "write a time from `0s` to less than {lasts:#}, the length of the scenario"
    )))
}

/// Reads a span of time.
fn read_span<'de, D: Deserializer<'de>>(reader: D) -> Result<SignedDuration, D::Error> {
    let text = String::deserialize(reader)?;
    text.parse().map_err(|_| {
        D::Error::custom(format!(
            "`{text}` is not a span of time; write one such as `1h30m`"
        ))
    })
}

/// Reads a span of time, and where it stands.
fn read_placed_span<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Spanned<SignedDuration>, D::Error> {
    #[derive(Deserialize)]
    struct Read(#[serde(deserialize_with = "read_span")] SignedDuration);
    let read = Spanned::<Read>::deserialize(reader)?;
    Ok(Spanned::new(read.span(), read.into_inner().0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_named() {
        let sound = "title = \"a\"\nabout = \"b\"\nlasts = \"2h\"\n";
        let read = |text: &str| Scenario::read_scenario(TomlText::new("s.toml", text));
        assert!(read(sound).is_ok());
        let act = "act = \"close\"\nnumber = 1\n";
        for (text, place, word) in [
            (
                format!("{sound}clok = \"hourly\"\n"),
                "s.toml:4:1: ",
                "did you mean `clock`?",
            ),
            (sound.replace("2h", "0s"), "s.toml:3:9: ", "31 days"),
            (sound.replace("2h", "2"), "s.toml:3:9: ", "(at lasts)"),
            (
                format!("{sound}[[acts]]\nat = \"2h\"\n{act}"),
                "s.toml:5:6: ",
                "after the end (at acts[0].at)",
            ),
            (
                format!("{sound}[[acts]]\nat = \"-1h\"\n{act}"),
                "s.toml:5:6: ",
                "before the beginning (at acts[0].at)",
            ),
            (
                format!("{sound}[[sessions]]\nending = \"stuk\"\n"),
                "s.toml:5:10: ",
                "did you mean `stuck`?",
            ),
            (
                format!("{sound}[[sessions]]\nminutes = -1\n"),
                "s.toml:5:11: ",
                "-1 is out of range (at sessions[0].minutes)",
            ),
        ] {
            let wrong = read(&text).unwrap_err().to_string();
            assert!(wrong.starts_with(place) && wrong.contains(word), "{wrong}");
        }
    }
}
