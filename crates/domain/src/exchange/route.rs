//! Where a work item goes next.

use std::collections::BTreeMap;

use super::artifact::{Filed, WorkItem};
use super::limits::MAX_ATTEMPTS;
use super::read::Stream;

/// Where a work item goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Next {
    /// To a planner: it must be looked into first.
    Planner,
    /// To an implementer.
    Implementer,
    /// Nowhere by itself: its label goes to an implementer only when a person asks.
    Shelved,
    /// Nowhere: implementers have tried often enough, and a person must look.
    Parked,
    /// Nowhere: something is wrong with it.
    Refused,
}

impl Next {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Implementer => "implementer",
            Self::Shelved => "shelved",
            Self::Parked => "parked",
            Self::Refused => "refused",
        }
    }

    /// Where an item goes. `labels`: those that go to an implementer by themselves; `None`: all.
    #[must_use]
    pub fn of(item: &Filed<WorkItem>, labels: Option<&[String]>) -> Self {
        // An item that does not say whether it must be looked into is not guessed about.
        if !item.sound {
            Self::Refused
        } else if item.value.attempts >= MAX_ATTEMPTS {
            Self::Parked
        } else if item.value.requires_deep_analysis {
            Self::Planner
        } else if labels.is_some_and(|labels| !labels.contains(&item.value.label)) {
            Self::Shelved
        } else {
            Self::Implementer
        }
    }
}

/// Where each work item of a stream goes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routes(BTreeMap<String, Next>);

impl Routes {
    /// All items of a stream, by path.
    #[must_use]
    pub fn of(stream: &Stream, labels: Option<&[String]>) -> Self {
        let next = |item: &Filed<WorkItem>| (item.path.clone(), Next::of(item, labels));
        Self(stream.items.iter().map(next).collect())
    }

    /// Where the item at a path goes; one that is not there is refused.
    #[must_use]
    pub fn next_of(&self, path: &str) -> Next {
        self.0.get(path).copied().unwrap_or(Next::Refused)
    }

    /// The paths of items that go somewhere, in the order of their names.
    pub fn to(&self, next: Next) -> impl Iterator<Item = &str> {
        let here = self.0.iter().filter(move |(_, one)| **one == next);
        here.map(|(path, _)| path.as_str())
    }
}
