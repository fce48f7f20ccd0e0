//! The budget in a line.

use jiff::Timestamp;

use crate::engine::lookup::figures::BudgetFigures;
use crate::engine::text::time::format_utc;

impl BudgetFigures {
    /// What is used of the repository's limits. `known`: whether the ledger, which counts it, was read.
    #[must_use]
    pub fn sentence(&self, known: bool) -> String {
        let used = |used: u32| {
            if known {
                used.to_string()
            } else {
                "?".to_owned()
            }
        };
        format!(
            "{} of {} sessions within a day, {} of {} at work; {} of {} pull requests wait for a review",
            used(self.day),
            self.day_limit,
            used(self.live),
            self.live_limit,
            used(self.backlog),
            self.backlog_limit,
        )
    }

    /// What is used of the limits of the Jules key, over all its repositories. `at_least`: archived sessions of other
    /// repositories are not counted.
    #[must_use]
    pub fn key_sentence(&self, at_least: bool) -> String {
        let used = |used: Option<u32>| used.map_or_else(|| "?".to_owned(), |used| used.to_string());
        let (from, without) = match at_least {
            true => ("at least ", ", without what other repositories archived"),
            false => ("", ""),
        };
        format!(
            "{from}{} of {} sessions within a day{without} ({} reserved for people), {} of {} at work",
            used(self.key_day),
            self.key_day_limit,
            self.key_reserved,
            used(self.key_live),
            self.key_live_limit,
        )
    }

    /// That the key pauses, if it does at this instant.
    #[must_use]
    pub fn pause_sentence(&self, now: Timestamp) -> Option<String> {
        let until = format_utc(self.paused_until.filter(|until| *until > now)?);
        Some(format!(
            "Jules says that the quota of the key is spent; nothing starts before {until}"
        ))
    }
}
