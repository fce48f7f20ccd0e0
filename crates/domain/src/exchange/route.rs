//! Determines which layer takes a work item next.

use std::collections::BTreeMap;

use super::artifact::{Filed, WorkItem};
use super::limits::MAX_ATTEMPTS;
use super::model::Stream;

/// The layer that takes a work item next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Next {
    /// A planner: it must be analysed first.
    Planner,
    /// An implementer.
    Implementer,
    /// No layer, until a person asks: its label does not go to implementers automatically.
    Shelved,
    /// No layer: implementers have tried often enough, and a person must look at it.
    Suspended,
    /// No layer: it is invalid.
    Refused,
}

impl Next {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The route of an item. `labels`: the labels that go to an implementer automatically; `None`: all.
    #[must_use]
    pub fn of(item: &Filed<WorkItem>, labels: Option<&[String]>) -> Self {
        // Do not guess whether an invalid item needs analysis.
        if !item.sound {
            Self::Refused
        } else if item.value.attempts >= MAX_ATTEMPTS {
            Self::Suspended
        } else if item.value.requires_deep_analysis {
            Self::Planner
        } else if labels.is_some_and(|labels| !labels.contains(&item.value.label)) {
            Self::Shelved
        } else {
            Self::Implementer
        }
    }
}

/// The routes of a stream's work items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routes(BTreeMap<String, Next>);

impl Routes {
    /// The routes of all items of a stream, by path.
    #[must_use]
    pub fn of(stream: &Stream, labels: Option<&[String]>) -> Self {
        let next = |item: &Filed<WorkItem>| (item.path.clone(), Next::of(item, labels));
        Self(stream.items.iter().map(next).collect())
    }

    /// The route of the item at a path; `Refused` if there is none.
    #[must_use]
    pub fn next_of(&self, path: &str) -> Next {
        self.0.get(path).copied().unwrap_or(Next::Refused)
    }

    /// The paths of the items with a route, sorted.
    pub fn items_for(&self, next: Next) -> impl Iterator<Item = &str> {
        let here = self.0.iter().filter(move |(_, one)| **one == next);
        here.map(|(path, _)| path.as_str())
    }
}
