//! Chooses how many entries an observation asks for: quiet repositories fit into one of GitHub's points, busy ones
//! cost six. A query costs by the number of entries that it may return.
//! <https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api>

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use phileas_domain::model::RepositoryName;
use serde_json::Value;

use crate::adapters::github::wire::observation::Repository;

/// How many entries of each list are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListSizes {
    /// Open pull requests, each with its labels and reviews.
    open: usize,
    /// The most recently updated pull requests, each with its labels, reviews and comments.
    recent: usize,
    /// The most recently updated open issues, each with their labels and comments.
    active: usize,
}

impl ListSizes {
    /// One point: 5 requests for the lists, and 2 · 20 + 3 · 14 + 2 · 30 for their entries' lists.
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

    /// The variables with these sizes added.
    pub(crate) fn add_to(self, variables: &Value) -> Value {
        let mut variables = variables.clone();
        variables["open"] = self.open.into();
        variables["recent"] = self.recent.into();
        variables["active"] = self.active.into();
        variables
    }

    /// Whether these sizes show all that matters. Of the recently updated pull requests only those updated since an
    /// instant matter; open ones are in the other list, too.
    pub(crate) fn cover(self, seen: &Repository, since: Timestamp) -> bool {
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

/// The repositories of an account that did not fit into the smaller sizes when they were last read.
#[derive(Debug, Default)]
pub(crate) struct BusyRepositories(Mutex<BTreeSet<String>>);

impl BusyRepositories {
    /// The sizes with which to start.
    pub(crate) fn first_sizes(&self, repository: &RepositoryName) -> ListSizes {
        let busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if busy.contains(&repository.to_string()) {
            ListSizes::MANY
        } else {
            ListSizes::FEW
        }
    }

    pub(crate) fn record(&self, repository: &RepositoryName, is_busy: bool) {
        let mut busy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_busy {
            busy.insert(repository.to_string());
        } else {
            busy.remove(&repository.to_string());
        }
    }
}
