//! A request of a person, and its command.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::engine::input::request_kind::{
    BY_LABEL, COMMANDS, UNKNOWN, WORD_LIMIT, could_be_persona,
};
use crate::engine::input::subject::{Actor, LABEL_PREFIX, Subject};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markdown::neutral;
use crate::model::{PersonaId, TurnId};
use crate::plan::{RESERVED_IDS, closest};
use crate::prompt;

/// A wish and where it was put.
pub(crate) struct Wish<'a> {
    /// Under which it stands in the state: the node id of the event or the comment, or of the edit and the box in it; where
    /// no event is known, what bears the label, and the label.
    pub(crate) key: Cow<'a, str>,
    /// By label, by comment or by a box of the dashboard.
    pub(crate) kind: &'static str,
    pub(crate) subject: &'a Subject,
    pub(crate) what: What,
    pub(crate) actor: Option<&'a Actor>,
    pub(crate) at: Timestamp,
    /// The labelling event, whose place among the others tells what came later.
    pub(crate) event: Option<&'a str>,
    /// The label to take off.
    pub(crate) label: Option<String>,
    /// The comment that it stands in.
    pub(crate) comment: Option<u64>,
}

/// What is wished for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// A session of a persona.
    Run(PersonaId),
    /// What came to nothing, once more.
    Retry,
    /// A turn that waits for a person shall go on.
    GoOn(TurnId),
    /// The dashboard issue shall be open.
    Dashboard,
    /// The plan that waits is good.
    ApprovePlan,
    /// To be merged.
    Merge,
    /// What is at work here shall stop.
    Cancel,
    /// Nothing shall start any more.
    Pause,
    /// It may again.
    Resume,
    /// How it goes.
    Status,
    /// Why nothing happens.
    Explain,
    /// Everything shall stop at once.
    Stop,
    /// Which commands there are.
    Help,
    /// Something that is not understood here.
    Unknown(String),
}

impl What {
    /// What a label asks for, by the word behind the prefix.
    pub(crate) fn of_label(word: &str) -> Self {
        match word {
            "retry" => Self::Retry,
            "approve-plan" => Self::ApprovePlan,
            "merge" => Self::Merge,
            word if RESERVED_IDS.contains(&word) => Self::Unknown(word.to_owned()),
            id if could_be_persona(id) => Self::Run(id.into()),
            other => Self::Unknown(shortened(other)),
        }
    }

    /// What a comment asks for, by the words behind `/phileas`.
    pub(crate) fn of_comment(words: &[&str]) -> Self {
        match words {
            ["run", persona] if could_be_persona(persona) => Self::Run((*persona).into()),
            ["approve"] => Self::ApprovePlan,
            ["retry"] => Self::Retry,
            ["dashboard"] => Self::Dashboard,
            ["cancel"] => Self::Cancel,
            ["pause", ..] => Self::Pause,
            ["resume"] => Self::Resume,
            ["status"] => Self::Status,
            ["explain"] => Self::Explain,
            ["stop"] => Self::Stop,
            ["help"] => Self::Help,
            words => Self::Unknown(shortened(&words.join(" "))),
        }
    }

    /// What a box of the dashboard asks for, by the word that stands in it.
    pub(crate) fn of_box(word: &str) -> Self {
        match (word, word.split_once(':')) {
            ("pause", _) => Self::Pause,
            ("resume", _) => Self::Resume,
            (_, Some(("run", persona))) if could_be_persona(persona) => Self::Run(persona.into()),
            (_, Some(("retry", turn))) => {
                TurnId::parse(turn).map_or_else(|| Self::Unknown(shortened(word)), Self::GoOn)
            }
            _ => Self::Unknown(shortened(word)),
        }
    }

    /// A persona in the spelling of the plan: GitHub's labels do not tell case apart.
    pub(crate) fn spelt_by(self, draft: &Draft<'_>) -> Self {
        let Self::Run(asked) = &self else {
            return self;
        };
        let mut personas = draft.snapshot.plan.personas.keys();
        let planned = personas.find(|id| id.as_str().eq_ignore_ascii_case(asked.as_str()));
        planned.cloned().map_or(self, Self::Run)
    }

    /// The command's name.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Retry | Self::GoOn(_) => "retry",
            Self::Dashboard => "dashboard",
            Self::ApprovePlan => "approve",
            Self::Merge => "merge",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Status => "status",
            Self::Explain => "explain",
            Self::Stop => "stop",
            Self::Help => "help",
            Self::Unknown(_) => UNKNOWN,
        }
    }

    /// Whether it only stops something: that never waits behind others.
    pub(crate) fn is_brake(&self) -> bool {
        matches!(self, Self::Cancel | Self::Pause | Self::Stop)
    }
}

/// Somebody's words, for the report.
fn shortened(words: &str) -> String {
    prompt::clean_line(words).chars().take(WORD_LIMIT).collect()
}

/// Why a command is none: the word as it was typed, and what was probably meant.
pub(crate) fn unknown_text(draft: &Draft<'_>, wish: &Wish<'_>, typed: &str) -> String {
    if wish.kind == BY_LABEL {
        let label = neutral(&format!("{LABEL_PREFIX}{typed}"));
        return format!("the label {label} names no persona and no command");
    }
    if typed.is_empty() {
        return "`/phileas` stands alone, without a command".to_owned();
    }
    let shown = neutral(typed);
    let (first, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    let mut verbs = COMMANDS.iter().map(|(words, _)| verb(words));
    match (first, verbs.any(|verb| verb == first)) {
        ("run", _) if rest.is_empty() => {
            "`run` needs the id of a persona: `/phileas run PERSONA`".to_owned()
        }
        ("run", _) => format!("{shown} does not name one persona: `/phileas run PERSONA`"),
        (_, true) => format!("{shown} has words behind the command; say `/phileas {first}`"),
        (_, false) => {
            let personas = &draft.snapshot.plan.personas;
            if let Some(id) = personas.keys().find(|id| id.as_str() == first) {
                return format!("{shown} is not a command; say `/phileas run {id}`");
            }
            let verbs = COMMANDS.iter().map(|(words, _)| verb(words));
            match closest(first, verbs) {
                Some(meant) => {
                    format!("{shown} is not a command; did you mean `/phileas {meant}`?")
                }
                None => format!("{shown} is not a command"),
            }
        }
    }
}

pub(crate) fn verb(words: &str) -> &str {
    words.split(' ').next().unwrap_or(words)
}

pub(crate) fn say_unread(draft: &mut Draft<'_>, text: String) {
    let soon = draft.after(POLL);
    let line = Line::repository(Verdict::Waiting, Reason::RequestUnread, text);
    draft.say(line.until(soon));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RESERVED_IDS;

    /// A list that people are given must hold what is understood, and all of it.
    #[test]
    fn the_commands_that_are_listed_are_those_that_are_understood() {
        for (words, _) in COMMANDS {
            let words = words.replace("PERSONA", "curator");
            let words: Vec<&str> = words.split(' ').collect();
            let command = What::of_comment(&words);
            assert_eq!(command.word(), words[0], "{words:?}");
        }
        let listed = COMMANDS.map(|(words, _)| verb(words));
        for word in RESERVED_IDS {
            let understood = What::of_comment(&[word]).word() != UNKNOWN;
            assert!(!understood || listed.contains(&word), "{word}");
        }
    }
}
