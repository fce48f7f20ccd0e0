//! Defines the exchange as values: its layout, its labels, and the artifacts of each stream.

use std::collections::BTreeMap;

use super::artifact::{Changes, Event, EventState, Feedback, Filed, Memory, Proposal, WorkItem};
use super::labels::Labels;
use super::layout::{self, Layout, Location};
use super::roster::Roster;
use crate::model::Tree;

/// An exchange: the files that the layers of the pipeline hand over.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// Its layout.
    pub layout: Layout,
    /// The kinds of work in this repository.
    pub labels: Labels,
    /// The narrator's summary.
    pub changes: Option<Filed<Changes>>,
    /// Its streams by name; the flat layout has one.
    pub streams: BTreeMap<String, Stream>,
}

/// One stream: events and work items that refer to each other, and never to other streams.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stream {
    /// The folder of its events, work items and feedback.
    pub home: String,
    /// The folder of its memories.
    pub workstations: String,
    /// Its roster, if it has one.
    pub roster: Option<Roster>,
    /// Its events, by path.
    pub events: Vec<Filed<Event>>,
    /// Its work items, by path.
    pub items: Vec<Filed<WorkItem>>,
    /// Its proposals, by path.
    pub proposals: Vec<Filed<Proposal>>,
    /// Its memories, by path.
    pub memories: Vec<Filed<Memory>>,
    /// Its rejections, by path.
    pub feedback: Vec<Filed<Feedback>>,
    /// The list of issues, in the workstreams layout.
    pub index: Option<String>,
}

impl Exchange {
    /// Whether every file at the location of a work item of this stream was read and is valid. Otherwise a missing item
    /// may be in a broken file.
    #[must_use]
    pub fn knows_items(&self, tree: &Tree, stream: &str) -> bool {
        let items = self.streams.get(stream).map(|stream| &stream.items);
        let is_known = |path: &str| {
            let mut items = items.into_iter().flatten();
            items.any(|item| item.path == path && item.sound)
        };
        tree.iter().all(|(path, _)| {
            let place = layout::locate(self.layout, path);
            let is_item = matches!(place, Some(Location::Item { stream: of, .. }) if of == stream);
            !is_item || is_known(path)
        })
    }
}

impl Stream {
    /// Its events in a state.
    pub fn events_in(&self, state: EventState) -> impl Iterator<Item = &Filed<Event>> {
        self.events
            .iter()
            .filter(move |event| event.value.state == state)
    }

    /// The work item in a file.
    #[must_use]
    pub fn find_item(&self, path: &str) -> Option<&Filed<WorkItem>> {
        self.items.iter().find(|item| item.path == path)
    }

    /// The events with an id. There is at most one, unless something is wrong.
    pub fn events_of<'s>(&'s self, id: &'s str) -> impl Iterator<Item = &'s Filed<Event>> {
        self.events.iter().filter(move |event| event.value.id == id)
    }
}
