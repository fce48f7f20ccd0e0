//! The settings for sessions without a script: weights of endings, durations, questions.

use serde::{Deserialize, Serialize};

use super::account::Account;
use super::ideas::Ideas;
use super::scenario::{Ending, Scenario};
use crate::chance::Stream;

/// The settings of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Config {
    /// The accounts. Without any, every request is refused.
    pub accounts: Vec<Account>,
    /// Scripted sessions; the first that matches a new session decides.
    pub scenarios: Vec<Scenario>,
    /// How often each ending comes, for sessions without a script.
    pub weights: Weights,
    /// Share of sessions that ask a question before they go on.
    pub asks: f64,
    /// The shortest duration of a session's work in minutes.
    pub shortest_minutes: f64,
    /// The longest duration of a session's work in minutes.
    pub longest_minutes: f64,
    /// Sessions with a pull request and without a script have ideas of their own, and repeat them. Absent: each makes
    /// something up.
    pub ideas: Option<Ideas>,
}

/// Relative frequencies of endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Weights {
    /// See [`Ending::Changes`].
    pub changes: u32,
    /// See [`Ending::HiddenChanges`].
    pub hidden_changes: u32,
    /// See [`Ending::PlanOnly`].
    pub plan_only: u32,
    /// See [`Ending::OpenQuestion`].
    pub open_question: u32,
    /// See [`Ending::NoChange`].
    pub no_change: u32,
    /// See [`Ending::Failure`].
    pub failure: u32,
    /// See [`Ending::Stuck`].
    pub stuck: u32,
    /// See [`Ending::StuckWithPull`].
    pub stuck_with_pull: u32,
}

impl Default for Weights {
    fn default() -> Self {
        Weights {
            changes: 84,
            hidden_changes: 2,
            plan_only: 2,
            open_question: 2,
            no_change: 4,
            failure: 4,
            stuck: 1,
            stuck_with_pull: 1,
        }
    }
}

impl Weights {
    /// Every session ends with changes.
    pub fn only_changes() -> Weights {
        Weights {
            changes: 1,
            hidden_changes: 0,
            plan_only: 0,
            open_question: 0,
            no_change: 0,
            failure: 0,
            stuck: 0,
            stuck_with_pull: 0,
        }
    }

    /// Draws an ending; changes when all weights are zero.
    pub(super) fn draw_ending(&self, chance: &mut Stream) -> Ending {
        let table = [
            (Ending::Changes, self.changes),
            (Ending::HiddenChanges, self.hidden_changes),
            (Ending::PlanOnly, self.plan_only),
            (Ending::OpenQuestion, self.open_question),
            (Ending::NoChange, self.no_change),
            (Ending::Failure, self.failure),
            (Ending::Stuck, self.stuck),
            (Ending::StuckWithPull, self.stuck_with_pull),
        ];
        let mut left = chance.draw_below(table.iter().map(|(_, weight)| u64::from(*weight)).sum());
        for (ending, weight) in table {
            match left.checked_sub(u64::from(weight)) {
                Some(rest) => left = rest,
                None => return ending,
            }
        }
        Ending::Changes
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            accounts: Vec::new(),
            scenarios: Vec::new(),
            weights: Weights::default(),
            asks: 0.1,
            shortest_minutes: 4.0,
            longest_minutes: 60.0,
            ideas: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn endings_come_as_often_as_they_weigh() {
        let mut chance = Chance::new(1).stream("endings");
        let weights = Weights {
            changes: 1,
            failure: 1,
            ..Weights::only_changes()
        };
        let failures = (0..1000)
            .filter(|_| weights.draw_ending(&mut chance) == Ending::Failure)
            .count();
        assert!((400..600).contains(&failures), "{failures}");
    }

    #[test]
    fn a_file_may_give_parts() {
        let config: Config = toml::from_str(
            "asks = 0.0\n[weights]\nfailure = 50\n[[accounts]]\nlogin = \"octocat\"\nkeys = [\"test-key\"]\ntier = \"pro\"",
        )
        .unwrap();
        assert_eq!(config.accounts[0].daily_limit(), 100);
        assert_eq!(config.weights.failure, 50);
        assert_eq!(config.weights.changes, 84);
    }
}
