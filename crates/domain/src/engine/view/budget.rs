//! The budget in a line.

use jiff::Timestamp;

use crate::engine::lookup::figures::{BudgetFigures, UnreviewedPull};
use crate::engine::output::limits::NUMBERS_NAMED;
use crate::engine::text::markdown::sanitize_word;
use crate::engine::text::time::format_utc;

impl BudgetFigures {
    /// What is used of the repository's limits. `known`: whether the ledger, which counts it, was read.
    #[must_use]
    pub fn sentence(&self, known: bool) -> String {
        let used = |used: u32| Some(used).filter(|_| known);
        let requested = match self.day_requested {
            count if count > 0 && known => format!(", {count} of them on request"),
            _ => String::new(),
        };
        let limits = self.limits;
        format!(
            "{} sessions within a day{requested}, {} at work; {} pull requests wait for a review{}{}",
            used_of(used(self.day), limits.map(|limits| limits.day)),
            used_of(used(self.live), limits.map(|limits| limits.live)),
            used_of(used(self.backlog), limits.map(|limits| limits.backlog)),
            if known {
                self.review_list()
            } else {
                String::new()
            },
            match limits {
                Some(_) => "",
                None => "; the plan has a mistake that may concern everything, so nothing starts",
            }
        )
    }

    /// The pull requests that wait for a review, after a colon; empty where none does.
    fn review_list(&self) -> String {
        let named = self.unreviewed.iter().take(NUMBERS_NAMED);
        let mut named: Vec<String> = named.map(UnreviewedPull::name).collect();
        match self.unreviewed.len().saturating_sub(named.len()) {
            0 if named.is_empty() => return String::new(),
            0 => {}
            more => named.push(format!("and {more} more")),
        }
        format!(": {}", named.join(", "))
    }

    /// What is used of the limits of the Jules key, over all its repositories. `at_least`: archived sessions of other
    /// repositories are not counted.
    #[must_use]
    pub fn key_sentence(&self, at_least: bool) -> String {
        let (from, without) = match at_least {
            true => ("at least ", ", without what other repositories archived"),
            false => ("", ""),
        };
        let limits = self.limits;
        let reserved = limits.map(|limits| format!(" ({} reserved for people)", limits.reserved));
        format!(
            "{from}{} sessions within a day{without}{}, {} at work",
            used_of(self.key_day, limits.map(|limits| limits.key_day)),
            reserved.unwrap_or_default(),
            used_of(self.key_live, limits.map(|limits| limits.key_live)),
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

impl UnreviewedPull {
    /// Its number and its persona.
    #[must_use]
    pub fn name(&self) -> String {
        let persona = self.persona.as_ref();
        let persona = persona.map(|id| format!(" (`{}`)", sanitize_word(id.as_str())));
        format!("#{}{}", self.number, persona.unwrap_or_default())
    }
}

/// `2 of 5`; without the limit where the plan cannot be read.
fn used_of(used: Option<u32>, limit: Option<u32>) -> String {
    let used = used.map_or_else(|| "?".to_owned(), |used| used.to_string());
    match limit {
        Some(limit) => format!("{used} of {limit}"),
        None => used,
    }
}
