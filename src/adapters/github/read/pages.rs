//! How much a look asks for: what one of GitHub's points pays for, which is all of it where little happens, and six
//! points' worth where more is going on. A page costs by what it may hold, not by what it holds.
//! <https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api>

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use phileas_domain::model::RepositoryName;
use serde_json::Value;

use crate::adapters::github::wire::observation::Repository;

/// How many of each list are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pages {
    /// Open pull requests, each with its labels and reviews.
    open: usize,
    /// Pull requests that were touched last, each with its labels, reviews and comments.
    recent: usize,
    /// Open issues that were touched last, each with its labels and comments.
    active: usize,
}

impl Pages {
    /// One point: 5 requests for the lists, and 2 · 20 + 3 · 14 + 2 · 30 for what hangs on them.
    pub(crate) const FEW: Self = Self {
        open: 20,
        recent: 14,
        active: 30,
    };
    /// Six points.
    pub(crate) const MANY: Self = Self {
        open: 100,
        recent: 50,
        active: 100,
    };

    /// What is asked with, and so much of each list.
    pub(crate) fn of(self, variables: &Value) -> Value {
        let mut variables = variables.clone();
        variables["open"] = self.open.into();
        variables["recent"] = self.recent.into();
        variables["active"] = self.active.into();
        variables
    }

    /// Whether so much is all that matters of what is shown. Of the pull requests that were touched last only those
    /// count that were touched since an instant; what is open stands in the other list, too.
    pub(crate) fn hold(self, seen: &Repository, since: Timestamp) -> bool {
        let recent = &seen.recent.nodes;
        let last = recent.get(self.recent - 1);
        let is_long_ago = last.is_some_and(|last| {
            let touched = recent.iter().take(self.recent).flatten();
            last.is_some() && touched.map(|pull| pull.updated_at).min() < Some(since)
        });
        let all = |shown: usize, goes_on: bool, most: usize| shown <= most && !goes_on;
        all(seen.open.nodes.len(), seen.open.next().is_some(), self.open)
            && all(
                seen.active.nodes.len(),
                seen.active.next().is_some(),
                self.active,
            )
            && (is_long_ago || all(recent.len(), seen.recent.next().is_some(), self.recent))
    }
}

/// The repositories of an account in which more was going on than a small look shows, when they were last looked at.
#[derive(Debug, Default)]
pub(crate) struct Busy(Mutex<BTreeSet<String>>);

impl Busy {
    /// With what a look begins.
    pub(crate) fn pages(&self, repository: &RepositoryName) -> Pages {
        let busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if busy.contains(&repository.to_string()) {
            Pages::MANY
        } else {
            Pages::FEW
        }
    }

    pub(crate) fn note(&self, repository: &RepositoryName, is_busy: bool) {
        let mut busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_busy {
            busy.insert(repository.to_string());
        } else {
            busy.remove(&repository.to_string());
        }
    }
}
