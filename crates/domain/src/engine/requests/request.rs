//! A request of a person, and its command.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::engine::input::commands::{COMMANDS, HOLD, UNKNOWN};
use crate::engine::input::subject::{Actor, LABEL_PREFIX, Subject};
use crate::engine::lookup::work_items::WORK_LABEL;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markdown::quote_as_code;
use crate::model::{PersonaId, TurnId};
use crate::plan::{RESERVED_IDS, closest};
use crate::prompt;
use crate::state::RequestKind;
use crate::work::RefusalReason;

/// A request and its origin.
pub(crate) struct Request<'a> {
    /// Its key in the state: the node id of the event or comment, or of the edit and its checkbox. Where no event is
    /// known: the subject and the label.
    pub(crate) key: Cow<'a, str>,
    /// By a label, a comment or a checkbox of the dashboard.
    pub(crate) kind: RequestKind,
    pub(crate) subject: &'a Subject,
    pub(crate) command: Command,
    pub(crate) actor: Option<&'a Actor>,
    pub(crate) at: Timestamp,
    /// The labelling event. Its position among the events tells what came later.
    pub(crate) event: Option<&'a str>,
    /// The label to remove.
    pub(crate) label: Option<String>,
    /// The number of its comment.
    pub(crate) comment: Option<u64>,
}

/// The command of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Start a session of a persona.
    Run(PersonaId),
    /// Retry failed work.
    Retry,
    /// Resume a turn that waits for a person.
    ResumeTurn(TurnId),
    /// Open the dashboard issue.
    Dashboard,
    /// Approve the waiting plan.
    ApprovePlan,
    /// Merge the pull request.
    Merge,
    /// Cancel the work here.
    Cancel,
    /// Pause the repository.
    Pause,
    /// End the pause.
    Resume,
    /// Show the status.
    Status,
    /// Explain all decisions.
    Explain,
    /// Pause the repository and cancel all work.
    Stop,
    /// Close the pull request, and remember why.
    Refuse {
        /// Why.
        reason: RefusalReason,
        /// Whether no attempt at this work is wanted.
        never: bool,
    },
    /// Withdraw the refusal of the pull request.
    Forget,
    /// List the commands.
    Help,
    /// An unknown command.
    Unknown(String),
}

impl Command {
    /// Whether it says why a pull request is closed, and so may follow the closing.
    pub(crate) fn concerns_closing(&self) -> bool {
        matches!(self, Self::Refuse { .. } | Self::Forget)
    }

    /// Parses a label, by its name after the prefix.
    pub(crate) fn from_label(word: &str) -> Self {
        match word {
            "retry" => Self::Retry,
            "approve-plan" => Self::ApprovePlan,
            "merge" => Self::Merge,
            word if RESERVED_IDS.contains(&word) => Self::Unknown(word.to_owned()),
            id if PersonaId::is_possible(id) => Self::Run(id.into()),
            other => Self::Unknown(shorten_text(other)),
        }
    }

    /// Parses a comment, by the words after `/phileas`.
    pub(crate) fn from_comment(words: &[&str]) -> Self {
        match words {
            ["run", persona] if PersonaId::is_possible(persona) => Self::Run((*persona).into()),
            ["approve"] => Self::ApprovePlan,
            ["retry"] => Self::Retry,
            ["dashboard"] => Self::Dashboard,
            ["cancel"] => Self::Cancel,
            ["pause", ..] => Self::Pause,
            ["resume"] => Self::Resume,
            ["status"] => Self::Status,
            ["explain"] => Self::Explain,
            ["stop"] => Self::Stop,
            ["refuse", reason, rest @ ..] if let Some(reason) = RefusalReason::parse(reason) => {
                let never = rest.first() == Some(&"never");
                Self::Refuse { reason, never }
            }
            ["forget"] => Self::Forget,
            ["help"] => Self::Help,
            words => Self::Unknown(shorten_text(&words.join(" "))),
        }
    }

    /// Parses a checkbox of the dashboard, by its hidden word.
    pub(crate) fn from_checkbox(word: &str) -> Self {
        match (word, word.split_once(':')) {
            ("pause", _) => Self::Pause,
            ("resume", _) => Self::Resume,
            (_, Some(("run", persona))) if PersonaId::is_possible(persona) => {
                Self::Run(persona.into())
            }
            (_, Some(("retry", turn))) => TurnId::parse(turn)
                .map_or_else(|| Self::Unknown(shorten_text(word)), Self::ResumeTurn),
            _ => Self::Unknown(shorten_text(word)),
        }
    }

    /// Spells a persona as the plan does, because GitHub's labels are case-insensitive. A label that names no persona
    /// but a command of comments is unknown.
    pub(crate) fn with_plan_spelling(
        self,
        builder: &DecisionBuilder<'_>,
        kind: RequestKind,
    ) -> Self {
        let Self::Run(asked) = &self else {
            return self;
        };
        let mut personas = builder.snapshot.plan.personas.keys();
        match personas.find(|id| id.as_str().eq_ignore_ascii_case(asked.as_str())) {
            Some(planned) => Self::Run(planned.clone()),
            None if kind == RequestKind::Label && is_verb(asked.as_str()) => {
                Self::Unknown(asked.to_string())
            }
            None => self,
        }
    }

    /// The command's name.
    pub(crate) fn verb_name(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Retry | Self::ResumeTurn(_) => "retry",
            Self::Dashboard => "dashboard",
            Self::ApprovePlan => "approve",
            Self::Merge => "merge",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Status => "status",
            Self::Explain => "explain",
            Self::Stop => "stop",
            Self::Refuse { .. } => "refuse",
            Self::Forget => "forget",
            Self::Help => "help",
            Self::Unknown(_) => UNKNOWN,
        }
    }

    /// Whether it only stops something. Such a command never waits behind others.
    pub(crate) fn only_stops(&self) -> bool {
        matches!(self, Self::Cancel | Self::Pause | Self::Stop)
    }
}

/// Truncates untrusted words for the report.
fn shorten_text(words: &str) -> String {
    prompt::clean_line(words)
        .chars()
        .take(PersonaId::MAX_BYTES)
        .collect()
}

/// Why a command is unknown: the word as it was typed, and what was probably meant.
pub(crate) fn unknown_text(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
    typed: &str,
) -> String {
    if request.kind == RequestKind::Label {
        return unknown_label_text(typed);
    }
    if typed.is_empty() {
        return "`/phileas` stands alone, without a command".to_owned();
    }
    let shown = quote_as_code(typed);
    let (first, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    // The name of a label.
    if let Some(label) = first.strip_prefix(LABEL_PREFIX) {
        return label_as_command_text(builder, label);
    }
    match (first, is_verb(first)) {
        ("run", _) if rest.is_empty() => {
            "`run` needs the id of a persona: `/phileas run PERSONA`".to_owned()
        }
        ("refuse", _) => {
            let reasons = RefusalReason::ALL.map(RefusalReason::as_str);
            let given = rest.split(' ').next().unwrap_or_default();
            if let Some(meant) = closest(given, reasons) {
                let given = quote_as_code(given);
                return format!("{given} is no reason; did you mean `/phileas refuse {meant}`?");
            }
            let reasons = reasons.map(|reason| format!("`{reason}`")).join(", ");
            if !given.is_empty() {
                let given = quote_as_code(given);
                return format!("{given} is no reason; the reasons are {reasons}");
            }
            format!("`refuse` needs a reason: `/phileas refuse REASON`, one of {reasons}")
        }
        ("run", _) => format!("{shown} does not name one persona: `/phileas run PERSONA`"),
        (_, true) => format!("{shown} has words behind the command; say `/phileas {first}`"),
        (HOLD | "merge", false) => {
            format!("{shown} is not a command; put on the label `{LABEL_PREFIX}{first}`")
        }
        ("approve-plan", false) => format!("{shown} is not a command; say `/phileas approve`"),
        (_, false) => {
            if is_startable(builder, first) {
                return format!("{shown} is not a command; say `/phileas run {first}`");
            }
            match closest(first, verbs()) {
                Some(meant) => {
                    format!("{shown} is not a command; did you mean `/phileas {meant}`?")
                }
                None => format!("{shown} is not a command"),
            }
        }
    }
}

/// Whether a word names a persona, or the role that implements a work item.
fn is_startable(builder: &DecisionBuilder<'_>, word: &str) -> bool {
    format!("{LABEL_PREFIX}{word}") == WORK_LABEL
        || builder
            .snapshot
            .plan
            .personas
            .contains_key(&PersonaId::from(word))
}

/// What to do instead of writing a label's name as a command.
fn label_as_command_text(builder: &DecisionBuilder<'_>, label: &str) -> String {
    let shown = quote_as_code(&format!("{LABEL_PREFIX}{label}"));
    let put_on = "put it on, or say `/phileas";
    let way = match label {
        HOLD | "merge" => "put it on".to_owned(),
        "approve-plan" => format!("{put_on} approve`"),
        verb if is_verb(verb) => format!("say `/phileas {verb}`"),
        persona if is_startable(builder, persona) => format!("{put_on} run {persona}`"),
        _ => return format!("{shown} is not a command"),
    };
    format!("{shown} is a label and not a command; {way}")
}

/// Why a label is unknown, and what to do instead.
fn unknown_label_text(typed: &str) -> String {
    let label = quote_as_code(&format!("{LABEL_PREFIX}{typed}"));
    match typed {
        "run" => format!("the label {label} names no persona; put on `{LABEL_PREFIX}PERSONA`"),
        "approve" => {
            format!("the label {label} is not a command; put on `{LABEL_PREFIX}approve-plan`")
        }
        verb if is_verb(verb) => {
            format!("the label {label} is not a command; say `/phileas {verb}` in a comment")
        }
        _ => format!("the label {label} names no persona and no command"),
    }
}

/// The words of the commands of comments.
fn verbs() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|(words, _)| first_word(words))
}

fn is_verb(word: &str) -> bool {
    verbs().any(|verb| verb == word)
}

pub(crate) fn first_word(words: &str) -> &str {
    words.split(' ').next().unwrap_or(words)
}

pub(crate) fn report_unread(builder: &mut DecisionBuilder<'_>, text: String) {
    let soon = builder.now_plus(POLL);
    let line = Line::about_repository(Verdict::Waiting, Reason::RequestUnread, text);
    builder.report_line(line.with_until(soon));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RESERVED_IDS;

    /// The list of commands must be complete and correct.
    #[test]
    fn the_commands_that_are_listed_are_those_that_are_understood() {
        for (words, _) in COMMANDS {
            let words = words
                .replace("PERSONA", "curator")
                .replace("REASON [never]", "wrong never");
            let words: Vec<&str> = words.split(' ').collect();
            let command = Command::from_comment(&words);
            assert_eq!(command.verb_name(), words[0], "{words:?}");
        }
        let listed = COMMANDS.map(|(words, _)| first_word(words));
        for word in RESERVED_IDS {
            let understood = Command::from_comment(&[word]).verb_name() != UNKNOWN;
            assert!(!understood || listed.contains(&word), "{word}");
        }
    }
}
