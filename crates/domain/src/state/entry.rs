//! What ran, and what became of it.

use std::fmt;

use jiff::Timestamp;

use super::extra::Extra;
use crate::model::{Oid, PersonaId, PullNumber, SessionId, Slot, TrackName, TurnId};

/// One entry of the history: written when its session's id is known, completed when more is known, never removed.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    /// Who.
    pub persona_id: PersonaId,
    /// The session.
    pub session_id: Option<SessionId>,
    /// Its pull request.
    pub pr_number: Option<PullNumber>,
    /// When its session was created.
    pub created_at: Option<Timestamp>,
    /// In which track. `None` (missing or null) in old files; reads as `default`.
    pub track: Option<TrackName>,
    /// The turn. `None` in entries that older programs wrote.
    pub turn: Option<TurnId>,
    /// The track's sequence number.
    pub seq: Option<u64>,
    /// The slot; empty for a persona.
    pub slot: Option<Slot>,
    /// Which attempt at the turn.
    pub attempt: Option<u32>,
    /// The commit that the session started from.
    pub base_sha: Option<Oid>,
    /// What became of it; `None` while that is open.
    pub outcome: Option<Outcome>,
    /// When the outcome was last completed.
    pub finished_at: Option<Timestamp>,
    /// Further sessions that were found for the same turn.
    pub duplicates: Vec<SessionId>,
    /// Remarks for people, one line: findings of an import, a failure's reason.
    pub note: Option<String>,
    /// Unknown keys.
    pub extra: Extra,
}

impl HistoryEntry {
    /// The name of its track, old entries included.
    #[must_use]
    pub fn track_name(&self) -> TrackName {
        self.track
            .clone()
            .unwrap_or_else(|| TrackName::from("default"))
    }

    /// Whether nothing more can become of it, so that it may be archived.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        // Entries of older programs carry no outcome; nobody will complete them.
        self.outcome
            .as_ref()
            .map_or(self.turn.is_none(), Outcome::is_final)
    }
}

/// What became of a turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Its pull request was merged.
    Merged,
    /// Its pull request is open.
    PrOpen,
    /// The session ended with changes but, as asked, without a pull request.
    Completed,
    /// What it produced was imported into the ledger.
    Imported,
    /// The session ended without anything.
    NoOutput,
    /// Its pull request was closed unmerged.
    Rejected,
    /// The session failed, as often as it was tried.
    Failed,
    /// Nothing moved for so long that it was given up.
    Stuck,
    /// A person cancelled it.
    Cancelled,
    /// A second session of a turn that already had one.
    Duplicate,
    /// Written by another program; kept as it stands.
    Other(String),
}

impl Outcome {
    /// The word in the file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Merged => "merged",
            Self::PrOpen => "pr_open",
            Self::Completed => "completed",
            Self::Imported => "imported",
            Self::NoOutput => "no_output",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Stuck => "stuck",
            Self::Cancelled => "cancelled",
            Self::Duplicate => "duplicate",
            Self::Other(text) => text,
        }
    }

    /// The outcome of a word; one that is not known is kept.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "merged" => Self::Merged,
            "pr_open" => Self::PrOpen,
            "completed" => Self::Completed,
            "imported" => Self::Imported,
            "no_output" => Self::NoOutput,
            "rejected" => Self::Rejected,
            "failed" => Self::Failed,
            "stuck" => Self::Stuck,
            "cancelled" => Self::Cancelled,
            "duplicate" => Self::Duplicate,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Whether it stays as it is. A rejected pull request can still be reopened and merged, but nobody waits for it.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::PrOpen)
    }

    /// Whether an entry may go from `self` to `next`: `pr_open -> merged | rejected`, `rejected -> merged`.
    #[must_use]
    pub fn may_become(&self, next: &Self) -> bool {
        self == next
            || matches!(
                (self, next),
                (Self::PrOpen, Self::Merged | Self::Rejected) | (Self::Rejected, Self::Merged)
            )
    }

    /// Whether nobody took the work: it counts towards a persona's rest.
    #[must_use]
    pub fn is_unwanted(&self) -> bool {
        matches!(self, Self::NoOutput | Self::Rejected)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Later news of an entry that is already archived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Amendment {
    /// The new outcome.
    pub outcome: Option<Outcome>,
    /// A pull request that was found later.
    pub pr_number: Option<PullNumber>,
    /// When.
    pub finished_at: Option<Timestamp>,
    /// Unknown keys.
    pub extra: Extra,
}

impl Amendment {
    /// Completes what is written, an entry or an older amendment.
    ///
    /// # Errors
    ///
    /// A sentence about what is written already and may not be changed.
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

    const WORDS: [&str; 11] = [
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
        "postponed",
    ];

    #[test]
    fn every_word_of_an_outcome_comes_back_as_it_was_written() {
        for word in WORDS {
            let outcome = Outcome::parse(word);
            assert_eq!(outcome.as_str(), word);
            assert_eq!(outcome.to_string(), word);
            let foreign = matches!(outcome, Outcome::Other(_));
            assert_eq!(foreign, word == "postponed", "{word}");
        }
    }

    #[test]
    fn only_a_pull_request_that_is_not_merged_yet_can_become_something_else() {
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
                ("pr_open", "merged"),
                ("pr_open", "rejected"),
                ("rejected", "merged")
            ]
        );
    }

    #[test]
    fn what_is_waited_for_and_what_nobody_wanted_is_told_by_the_word() {
        let of = |holds: fn(&Outcome) -> bool| -> Vec<&str> {
            let words = WORDS.into_iter();
            words.filter(|word| holds(&Outcome::parse(word))).collect()
        };
        assert_eq!(of(|outcome| !outcome.is_final()), ["pr_open"]);
        assert_eq!(of(Outcome::is_unwanted), ["no_output", "rejected"]);
    }

    #[test]
    fn news_that_do_not_fit_leave_everything_as_it_was() {
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
        // What the news leave open stays, and time does not run backwards.
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
