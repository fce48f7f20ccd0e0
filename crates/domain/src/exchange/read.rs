//! A tree as an exchange: every artifact read, and what is wrong with each by itself.

use std::collections::BTreeMap;

use super::artifact::{Changes, Event, EventState, Feedback, Filed, Memory, Proposal, WorkItem};
use super::labels::Labels;
use super::layout::{self, Layout, Place};
use super::limits::{ARTIFACT_LIMIT_BYTES, FILES_LIMIT, FINDINGS_LIMIT};
use super::roster::{self, Roster};
use super::shape::Shape;
use super::shapes::{
    CHANGE, CHANGES, EVENT, FEEDBACK, HISTORY, INNOVATOR_PERSPECTIVE, ISSUE, PERSPECTIVE,
    PERSPECTIVE_V1, PERSPECTIVE_V2, PROPOSAL, REQUIREMENT,
};
use super::{names, validate};
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::{Entry, Mode, Tree};
use crate::yaml;
use crate::yaml::Node;

/// An exchange: what the layers of the pipeline hand to one another.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// How it is laid out.
    pub layout: Layout,
    /// The kinds of work that this repository knows.
    pub labels: Labels,
    /// The narrator's summary.
    pub changes: Option<Filed<Changes>>,
    /// Its streams by name; the flat layout has one.
    pub streams: BTreeMap<String, Stream>,
}

/// One stream: events and work items that decide on one another, and know nothing of other streams.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stream {
    /// The folder of its events, work items and feedback.
    pub home: String,
    /// The folder of its memories.
    pub workstations: String,
    /// Its roster, where it has one.
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
    /// The list of issues that the workstreams layout keeps.
    pub index: Option<String>,
}

impl Exchange {
    /// Whether each file of a tree that lies where a stream's work items do was read and is sound. Else nobody knows which
    /// items there are: one that is missing may be in a file that is broken.
    #[must_use]
    pub fn knows_items(&self, tree: &Tree, stream: &str) -> bool {
        let items = self.streams.get(stream).map(|stream| &stream.items);
        let is_known = |path: &str| {
            let mut items = items.into_iter().flatten();
            items.any(|item| item.path == path && item.sound)
        };
        tree.iter().all(|(path, _)| {
            let place = layout::place(self.layout, path);
            let is_item = matches!(place, Some(Place::Item { stream: of, .. }) if of == stream);
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

    /// The events of an id. There is one, unless something is wrong.
    pub fn events_of<'s>(&'s self, id: &'s str) -> impl Iterator<Item = &'s Filed<Event>> {
        self.events.iter().filter(move |event| event.value.id == id)
    }
}

/// What was read, and what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) exchange: Option<Exchange>,
    pub(super) found: Vec<Diagnostic>,
}

/// Reads a tree. `layout`: where it is known; else the files tell.
pub(super) fn read(tree: &Tree, layout: Option<Layout>) -> Reading {
    let mut found = Vec::new();
    let layout = match layout.map_or_else(|| Layout::detect(tree), |layout| Ok(Some(layout))) {
        Ok(Some(layout)) => layout,
        Ok(None) => {
            return Reading {
                exchange: None,
                found,
            };
        }
        Err(both) => {
            return Reading {
                exchange: None,
                found: vec![*both],
            };
        }
    };
    let (labels, of_labels) = Labels::read(tree);
    found.extend(of_labels);
    let mut exchange = Exchange {
        layout,
        labels,
        changes: None,
        streams: BTreeMap::new(),
    };
    for name in layout.streams(tree) {
        let stream = Stream {
            home: layout.home(tree, &name),
            workstations: layout.workstations(&name),
            ..Stream::default()
        };
        exchange.streams.insert(name, stream);
    }
    found.extend(names::streams(&exchange));
    found.extend(names::forms(&exchange, tree));
    let mut spellings: BTreeMap<String, &str> = BTreeMap::new();
    let mut count = 0;
    for (path, entry) in tree.iter() {
        let Some(place) = layout::place(layout, path) else {
            continue;
        };
        count += 1;
        if count > FILES_LIMIT {
            let message =
                format!("the exchange has more than {FILES_LIMIT} files; the rest is not read");
            found.push(Diagnostic::error(path, message).mend("remove what was settled long ago"));
            break;
        }
        if let Some(first) = spellings.insert(path.to_lowercase(), path) {
            let message = format!("`{first}` differs from it in nothing but capitals");
            found.push(Diagnostic::error(path, message).mend("give one of them another name"));
        }
        found.extend(names::check(place, path));
        file(&mut exchange, place, path, entry, &mut found);
    }
    if layout == Layout::Workstreams {
        older_rosters(tree, &mut exchange, &mut found);
    }
    Reading {
        exchange: Some(exchange),
        found,
    }
}

/// Reads the rosters of streams that have none of their own, from the places where versions 9 and 10 of the other program
/// kept them: one a stream, and one for all.
fn older_rosters(tree: &Tree, exchange: &mut Exchange, found: &mut Vec<Diagnostic>) {
    for (name, stream) in &mut exchange.streams {
        if stream.roster.is_some() {
            continue;
        }
        let paths = [layout::older_roster(name), layout::OLDER_ROSTER.to_owned()];
        let there = paths.iter().find_map(|path| Some((path, tree.text(path)?)));
        if let Some((path, text)) = there {
            let (roster, wrong) = roster::read(path, text);
            stream.roster = roster;
            for one in wrong {
                if !found.contains(&one) {
                    found.push(one);
                }
            }
        }
    }
}

/// Reads one file into its place.
fn file(
    exchange: &mut Exchange,
    place: Place<'_>,
    path: &str,
    entry: &Entry,
    found: &mut Vec<Diagnostic>,
) {
    let text = match place {
        Place::Beside | Place::Stray => return,
        _ => match text(path, entry) {
            Ok(text) => text,
            Err(wrong) => return found.push(*wrong),
        },
    };
    let flat = exchange.layout == Layout::Flat;
    let labels = exchange.labels.clone();
    match place {
        Place::Changes => {
            let shape = if flat { &CHANGES } else { &CHANGE };
            exchange.changes = artifact(shape, path, text, found, Changes::of);
        }
        Place::Event { stream, state } => {
            // The folder's name was told of already; what lies in it is looked at all the same.
            let known = EventState::of(state);
            let state = known.unwrap_or(EventState::Pending);
            let event = artifact(&EVENT, path, text, found, |node| Event::of(node, state));
            if let (Some(stream), Some(event), Some(_)) =
                (exchange.streams.get_mut(stream), event, known)
            {
                stream.events.push(event);
            }
        }
        Place::Item { stream, label } => {
            let shape = if flat { &REQUIREMENT } else { &ISSUE };
            let item = artifact(shape, path, text, found, WorkItem::of);
            if let (Some(stream), Some(item)) = (exchange.streams.get_mut(stream), item) {
                found.extend(names::label(&item, label, &labels));
                stream.items.push(item);
            }
        }
        Place::Proposal { stream } => {
            let proposal = artifact(&PROPOSAL, path, text, found, Proposal::of);
            if let (Some(stream), Some(proposal)) = (exchange.streams.get_mut(stream), proposal) {
                found.extend(names::proposal(&proposal));
                stream.proposals.push(proposal);
            }
        }
        Place::Feedback { stream } => {
            let feedback = artifact(&FEEDBACK, path, text, found, Feedback::of);
            if let (Some(stream), Some(feedback)) = (exchange.streams.get_mut(stream), feedback) {
                stream.feedback.push(feedback);
            }
        }
        Place::RoleFeedback => {
            artifact(&FEEDBACK, path, text, found, Feedback::of);
        }
        Place::Memory { stream, role } => {
            let memory = memory(flat, path, text, found);
            if let (Some(into), Some(memory)) = (exchange.streams.get_mut(stream), memory) {
                found.extend(names::memory(&memory, role, (!flat).then_some(stream)));
                into.memories.push(memory);
            }
        }
        Place::History { .. } => {
            // Nothing reads it: a mistake in it holds nothing up.
            let mut wrong = Vec::new();
            artifact(&HISTORY, path, text, &mut wrong, |_| ());
            found.extend(wrong.into_iter().map(|one| Diagnostic {
                severity: Severity::Warning,
                ..one
            }));
        }
        Place::Roster { stream } => {
            let (roster, wrong) = roster::read(path, text);
            found.extend(wrong);
            if let Some(stream) = exchange.streams.get_mut(stream) {
                stream.roster = roster;
            }
        }
        Place::Index { stream } => {
            if let Some(stream) = exchange.streams.get_mut(stream) {
                stream.index = Some(text.to_owned());
            }
        }
        Place::Beside | Place::Stray => {}
    }
}

/// The text of a file that may be read.
pub(super) fn text<'e>(path: &str, entry: &'e Entry) -> Result<&'e str, Box<Diagnostic>> {
    let wrong =
        |message: &str, mend: &str| Err(Box::new(Diagnostic::error(path, message).mend(mend)));
    match (entry.mode, entry.text.as_deref()) {
        (Mode::Link, _) => wrong(
            "it is a symbolic link, and links are never followed",
            "put a regular file in its place",
        ),
        (Mode::Submodule | Mode::Special, _) => {
            wrong("it is no regular file", "put a text file in its place")
        }
        (Mode::File, _) if entry.size > ARTIFACT_LIMIT_BYTES as u64 => wrong(
            &format!(
                "it has {} bytes, more than {ARTIFACT_LIMIT_BYTES}; it is not read",
                entry.size
            ),
            "say it shorter",
        ),
        (Mode::File, None) => wrong("it was not read: it is no text", "write it in UTF-8"),
        (Mode::File, Some(text)) => Ok(text),
    }
}

/// Reads an artifact; `None` where its form is broken.
pub(super) fn artifact<T>(
    shape: &Shape,
    path: &str,
    text: &str,
    found: &mut Vec<Diagnostic>,
    value: impl FnOnce(&Node) -> T,
) -> Option<Filed<T>> {
    let (root, mistakes) = yaml::parse(text);
    let mut here: Vec<Diagnostic> = mistakes
        .into_iter()
        .map(|one| {
            Diagnostic::error(path, one.message)
                .at(one.line, one.column)
                .mend(one.mend)
        })
        .collect();
    if root.is_none() && here.is_empty() {
        let empty = Diagnostic::error(path, "there is nothing in it").at(1, 1);
        here.push(empty.mend(format!("fill in the template of `{}`", shape.name)));
    }
    if let Some(root) = &root {
        here.extend(validate::validate(shape, path, root));
    }
    let sound = here.is_empty();
    here.sort_by_key(|one| (one.line, one.column));
    let more = here.len().saturating_sub(FINDINGS_LIMIT);
    here.truncate(FINDINGS_LIMIT);
    if more > 0 {
        let message = format!("there are {more} further findings in it");
        here.push(Diagnostic::error(path, message).mend("mend those above first"));
    }
    found.extend(here);
    let node = root?;
    Some(Filed {
        path: path.to_owned(),
        sound,
        value: value(&node),
        node,
    })
}

/// Whose memory it is, its own keys say.
fn memory(
    flat: bool,
    path: &str,
    text: &str,
    found: &mut Vec<Diagnostic>,
) -> Option<Filed<Memory>> {
    let root = yaml::parse(text).0;
    let has = |key: &str| root.as_ref().is_some_and(|root| root.get(key).is_some());
    let shape = match has("persona") {
        // An innovator's is the same in both layouts.
        true => &INNOVATOR_PERSPECTIVE,
        false => observer_shape(flat, root.as_ref()),
    };
    artifact(shape, path, text, found, Memory::of)
}

/// The shape of an observer's memory. Among workstreams it is the one of its own version.
pub(super) fn observer_shape(flat: bool, root: Option<&Node>) -> &'static Shape {
    let version = root.and_then(|root| root.get("schema_version")?.integer());
    match (flat, version) {
        (true, _) => &PERSPECTIVE,
        (false, Some(2)) => &PERSPECTIVE_V2,
        (false, _) => &PERSPECTIVE_V1,
    }
}
