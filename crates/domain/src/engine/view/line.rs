//! A report line as a sentence.

use jiff::Timestamp;

use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::time::format_utc;

impl Line {
    /// Why it happens or waits, with the reason's code, and until when where that is a time of the plan. `timed`: also
    /// the end of the reason; otherwise the sentence changes only with its facts.
    #[must_use]
    pub fn sentence(&self, timed: bool) -> String {
        let is_fixed = timed || self.reason == Reason::NotDue;
        let until = self.end_time().filter(|_| is_fixed);
        let until = until.map(|at| format!(" until {}", format_utc(at)));
        let clause = match self.reason {
            // Its meaning names neither the pull request nor the file.
            Reason::Overlap => self.detail.clone(),
            reason => reason.clause(),
        };
        format!("{clause}{} (`{}`)", until.unwrap_or_default(), self.reason)
    }

    /// When it ends, where that is known. For every other reason [`until`](Self::until) is phileas' next check, which
    /// ends nothing.
    #[must_use]
    pub fn end_time(&self) -> Option<Timestamp> {
        self.until.filter(|_| has_end_time(self.reason))
    }

    /// Whether a person has to do something about it.
    #[must_use]
    pub fn needs_person(&self) -> bool {
        // A refusal is sent to the account that requested it; the repository needs no person for that.
        matches!(self.verdict, Verdict::Held | Verdict::Paused) || waits_for_person(self.reason)
    }

    /// Whether the line concerns the repository as a whole. Lines about single requests do not.
    pub(crate) fn concerns_repository(&self) -> bool {
        let stands = matches!(
            self.verdict,
            Verdict::Paused | Verdict::Held | Verdict::Waiting
        );
        self.track.is_none() && stands && self.reason != Reason::RequestUnread
    }
}

/// A sentence for a place that shows no Markdown: without its backticks.
#[must_use]
pub fn plain_text(sentence: &str) -> String {
    sentence.replace('`', "")
}

impl Reason {
    /// Whether only a person ends it.
    #[must_use]
    pub(crate) fn needs_person(self) -> bool {
        waits_for_person(self) || self.code().starts_with("paused.")
    }
}

/// Whether a turn or a step with this reason waits for a person.
fn waits_for_person(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::PersonAnswer
            | Reason::PlanApproval
            | Reason::SessionStuck
            | Reason::SessionPaused
            | Reason::PersonaInvalid
            | Reason::PromptInvalid
    )
}

/// Whether the time of a line with this reason is its end, not phileas' next check.
fn has_end_time(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::NotDue
            | Reason::RetryPause
            | Reason::PersonaRefused
            | Reason::CreateRefused
            | Reason::JulesQuota
            | Reason::BudgetDaily
            | Reason::BudgetShare
            | Reason::ActorHour
            | Reason::PersonaResting
    )
}
