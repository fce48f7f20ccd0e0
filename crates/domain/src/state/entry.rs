//! The entries of the history, and the outcomes of turns.

use std::fmt;

use jiff::Timestamp;

use super::extra::Extra;
use crate::model::{Oid, PersonaId, PullNumber, SessionId, Slot, TrackName, TurnId};

/// One entry of the history. It is written when its session's id is known, completed later, and never removed.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    /// The persona.
    pub persona_id: PersonaId,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Its pull request.
    pub pr_number: Option<PullNumber>,
    /// When its session was created.
    pub created_at: Option<Timestamp>,
    /// The track. `None` (missing or null) in old files: `default`.
    pub track: Option<TrackName>,
    /// The turn. `None` in entries of older programs.
    pub turn: Option<TurnId>,
    /// The track's sequence number.
    pub seq: Option<u64>,
    /// The slot; empty for a persona.
    pub slot: Option<Slot>,
    /// The attempt at the turn.
    pub attempt: Option<u32>,
    /// The commit from which the session started.
    pub base_sha: Option<Oid>,
    /// The outcome. `None` while the session runs.
    pub outcome: Option<Outcome>,
    /// When the outcome last changed.
    pub finished_at: Option<Timestamp>,
    /// Further sessions of the same turn.
    pub duplicates: Vec<SessionId>,
    /// Whether its pull request was merged without a commit of another author and without a requested change.
    pub zero_touch: Option<bool>,
    /// Seconds from the opening of its pull request to the first review of a person.
    pub review_secs: Option<u64>,
    /// The reason that a person gave for refusing its pull request.
    pub refused: Option<String>,
    /// The beginning of the SHA-256 of the persona's prompt file, without its frontmatter, when the session was recorded.
    pub prompt: Option<String>,
    /// A remark of one line, such as the findings of an import or the reason of a failure.
    pub note: Option<String>,
    /// Unknown keys.
    pub extra: Extra,
}

impl HistoryEntry {
    /// The name of its track, also for old entries.
    #[must_use]
    pub fn track_name(&self) -> TrackName {
        self.track
            .clone()
            .unwrap_or_else(|| TrackName::from("default"))
    }

    /// Whether phileas archived its session while that was at work.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        match &self.outcome {
            Some(Outcome::Cancelled | Outcome::Stuck) => true,
            // Only its plans repeated earlier work.
            Some(Outcome::Repeated) => self.pr_number.is_none(),
            _ => false,
        }
    }

    /// Whether the outcome is final, so that the entry may be archived.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        // Entries of older programs have no outcome, and phileas does not complete them.
        self.outcome
            .as_ref()
            .map_or(self.turn.is_none(), Outcome::is_final)
    }
}

/// The outcome of a turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// Its pull request was merged.
    Merged,
    /// Its pull request is open.
    PrOpen,
    /// The session ended with changes and, as configured, without a pull request.
    Completed,
    /// phileas imported the session's files into the ledger.
    Imported,
    /// The session ended without changes.
    NoOutput,
    /// Its pull request was closed without a merge.
    Rejected,
    /// The session failed in every attempt.
    Failed,
    /// The session made no progress for so long that phileas abandoned it.
    Stuck,
    /// A person cancelled it.
    Cancelled,
    /// A second session of a turn that already had one.
    Duplicate,
    /// Its pull request did the same as an older one, and was closed; without a pull request: its plans did.
    Repeated,
    /// Its pull request changed nothing, and was closed.
    NoOp,
    /// Its pull request was closed, and another one with the same change was merged.
    Superseded,
    /// Its pull request was merged, and the change was taken back.
    Reverted,
    /// An outcome of another program, kept unchanged.
    #[strum(default)]
    Other(String),
}

impl Outcome {
    /// The outcome's name in the file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(text) => text,
            named => named.into(),
        }
    }

    /// The outcome for people. `pull`: the turn's pull request.
    #[must_use]
    pub fn describe(&self, pull: Option<PullNumber>) -> String {
        if (self, pull) == (&Self::Repeated, None) {
            return "ended, since its plans repeated earlier work".to_owned();
        }
        let pull = pull.map_or_else(
            || "pull request".to_owned(),
            |pull| format!("pull request #{pull}"),
        );
        match self {
            Self::Merged => format!("{pull} was merged"),
            Self::PrOpen => format!("{pull} is open"),
            Self::Completed => "ended without a pull request".to_owned(),
            Self::Imported => "its files are in the ledger".to_owned(),
            Self::NoOutput => "ended without changes".to_owned(),
            Self::Rejected => format!("{pull} was closed without a merge"),
            Self::Failed => "failed".to_owned(),
            Self::Stuck => "abandoned, as it made no progress".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
            Self::Duplicate => "a second session of the same turn".to_owned(),
            Self::Repeated => format!("{pull} repeated earlier work, and was closed"),
            Self::NoOp => format!("{pull} changed nothing, and was closed"),
            Self::Superseded => format!("{pull} was closed, since another one did the same"),
            Self::Reverted => format!("{pull} was merged, and then reverted"),
            Self::Other(text) => text.clone(),
        }
    }

    /// Reads an outcome's name. An unknown name is kept.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.parse().expect("an unknown name is kept")
    }

    /// Whether phileas waits for no further change. A rejected pull request can still be reopened and merged.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::PrOpen)
    }

    /// Whether its pull request was closed without a merge. It can still be reopened and merged.
    #[must_use]
    pub fn is_closed_unmerged(&self) -> bool {
        matches!(
            self,
            Self::Rejected | Self::Repeated | Self::NoOp | Self::Superseded
        )
    }

    /// Whether an entry may go from `self` to `next`: an open pull request is merged or closed, a closed one is merged
    /// or found to be no refusal, a merged one is reverted.
    #[must_use]
    pub fn may_become(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::PrOpen, next) => {
                // One may be merged and reverted between two ticks.
                matches!(next, Self::PrOpen | Self::Merged | Self::Reverted)
                    || next.is_closed_unmerged()
            }
            (Self::Rejected, next) if next.is_closed_unmerged() => true,
            (known, Self::Merged) if known.is_closed_unmerged() => true,
            (Self::Merged, Self::Reverted) => true,
            (known, next) => known == next,
        }
    }

    /// Whether the work was not used, which counts towards the persona's rest. A copy of merged work counts against no persona.
    #[must_use]
    pub fn is_unwanted(&self) -> bool {
        matches!(
            self,
            Self::NoOutput | Self::Rejected | Self::Repeated | Self::NoOp
        )
    }
}

impl serde::Serialize for Outcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Outcome {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self::parse(&text))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A later change of an archived entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Amendment {
    /// The new outcome.
    pub outcome: Option<Outcome>,
    /// A pull request that phileas found later.
    pub pr_number: Option<PullNumber>,
    /// When the outcome changed.
    pub finished_at: Option<Timestamp>,
    /// Unknown keys.
    pub extra: Extra,
}

impl Amendment {
    /// Completes the values of an entry or of an older amendment.
    ///
    /// # Errors
    ///
    /// A sentence about a value that is set and may not change.
    pub(super) fn apply(
        &self,
        outcome: &mut Option<Outcome>,
        pr_number: &mut Option<PullNumber>,
        finished_at: &mut Option<Timestamp>,
    ) -> Result<(), String> {
        if let Some(next) = &self.outcome
            && let Some(written) = outcome.as_ref()
            && !written.may_become(next)
        {
            return Err(format!("the outcome `{written}` cannot become `{next}`"));
        }
        if let Some(next) = self.pr_number
            && let Some(written) = *pr_number
            && written != next
        {
            return Err(format!("pull request #{written} cannot become #{next}"));
        }
        if self.outcome.is_some() {
            outcome.clone_from(&self.outcome);
        }
        *pr_number = pr_number.or(self.pr_number);
        *finished_at = (*finished_at).max(self.finished_at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 15] = [
        "merged",
        "pr_open",
        "completed",
        "imported",
        "no_output",
        "rejected",
        "failed",
        "stuck",
        "cancelled",
        "duplicate",
        "repeated",
        "no_op",
        "superseded",
        "reverted",
        "postponed",
    ];

    #[test]
    fn outcome_names_round_trip() {
        for word in WORDS {
            let outcome = Outcome::parse(word);
            assert_eq!(outcome.as_str(), word);
            assert_eq!(outcome.to_string(), word);
            let foreign = matches!(outcome, Outcome::Other(_));
            assert_eq!(foreign, word == "postponed", "{word}");
        }
    }

    #[test]
    fn only_an_unmerged_pull_request_changes_its_outcome() {
        let mut steps = Vec::new();
        for from in WORDS {
            for to in WORDS.into_iter().filter(|to| *to != from) {
                if Outcome::parse(from).may_become(&Outcome::parse(to)) {
                    steps.push((from, to));
                }
            }
            assert!(Outcome::parse(from).may_become(&Outcome::parse(from)));
        }
        assert_eq!(
            steps,
            [
                ("merged", "reverted"),
                ("pr_open", "merged"),
                ("pr_open", "rejected"),
                ("pr_open", "repeated"),
                ("pr_open", "no_op"),
                ("pr_open", "superseded"),
                ("pr_open", "reverted"),
                ("rejected", "merged"),
                ("rejected", "repeated"),
                ("rejected", "no_op"),
                ("rejected", "superseded"),
                ("repeated", "merged"),
                ("no_op", "merged"),
                ("superseded", "merged"),
            ]
        );
    }

    #[test]
    fn open_and_unwanted_outcomes_are_told_apart() {
        let of = |holds: fn(&Outcome) -> bool| -> Vec<&str> {
            let words = WORDS.into_iter();
            words.filter(|word| holds(&Outcome::parse(word))).collect()
        };
        assert_eq!(of(|outcome| !outcome.is_final()), ["pr_open"]);
        assert_eq!(
            of(Outcome::is_unwanted),
            ["no_output", "rejected", "repeated", "no_op"]
        );
    }

    #[test]
    fn a_contradicting_amendment_changes_nothing() {
        let at = |hour: i64| Some(Timestamp::from_second(hour * 3600).unwrap());
        let news = |outcome: Option<&str>, pull: Option<u64>, hour: Option<i64>| Amendment {
            outcome: outcome.map(Outcome::parse),
            pr_number: pull.map(PullNumber),
            finished_at: hour.and_then(at),
            ..Amendment::default()
        };
        let apply = |to: (Option<&str>, Option<u64>, Option<i64>), news: Amendment| {
            let mut to = (
                to.0.map(Outcome::parse),
                to.1.map(PullNumber),
                to.2.and_then(at),
            );
            let before = to.clone();
            let said = news.apply(&mut to.0, &mut to.1, &mut to.2);
            assert!(said.is_ok() || to == before, "{said:?}");
            said.map(|()| to)
        };
        let done = |outcome: &str, pull: u64, hour: i64| {
            Ok((
                Some(Outcome::parse(outcome)),
                Some(PullNumber(pull)),
                at(hour),
            ))
        };
        let open = (Some("pr_open"), Some(7), Some(1));
        assert_eq!(
            apply(open, news(Some("merged"), Some(7), Some(2))),
            done("merged", 7, 2)
        );
        // Values that the amendment does not set stay, and times never decrease.
        assert_eq!(apply(open, news(None, None, None)), done("pr_open", 7, 1));
        assert_eq!(
            apply(open, news(Some("merged"), None, Some(0))),
            done("merged", 7, 1)
        );
        assert_eq!(
            apply((None, None, None), news(Some("failed"), Some(3), Some(2))),
            done("failed", 3, 2)
        );
        assert_eq!(
            apply(
                (Some("failed"), None, None),
                news(Some("merged"), None, Some(2))
            ),
            Err("the outcome `failed` cannot become `merged`".to_owned())
        );
        assert_eq!(
            apply(open, news(Some("merged"), Some(8), Some(2))),
            Err("pull request #7 cannot become #8".to_owned())
        );
    }
}
