//! Reads the exchange of a tree: every artifact, with its own mistakes.

use std::collections::BTreeMap;

use super::artifact::{Changes, Event, EventState, Feedback, Filed, Memory, Proposal, WorkItem};
use super::artifact_file::{artifact_text, read_artifact};
use super::labels::Labels;
use super::layout::{self, Layout, Location};
use super::limits::FILES_LIMIT;
use super::model::{Exchange, Stream};
use super::names;
use super::roster;
use super::shape::Shape;
use super::shapes::{
    CHANGE, CHANGES, EVENT, FEEDBACK, HISTORY, INNOVATOR_PERSPECTIVE, ISSUE, PERSPECTIVE,
    PERSPECTIVE_V1, PERSPECTIVE_V2, PROPOSAL, REQUIREMENT,
};
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::Tree;
use crate::yaml::{self, Node};

/// The exchange, and the mistakes in its files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) exchange: Option<Exchange>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Reads a tree. `layout`: the layout, if it is known; otherwise it is detected.
pub(super) fn read_exchange(tree: &Tree, layout: Option<Layout>) -> Reading {
    let mut found = Vec::new();
    let layout = match layout.map_or_else(|| Layout::detect(tree), |layout| Ok(Some(layout))) {
        Ok(Some(layout)) => layout,
        Ok(None) => {
            return Reading {
                exchange: None,
                diagnostics: found,
            };
        }
        Err(both) => {
            return Reading {
                exchange: None,
                diagnostics: vec![*both],
            };
        }
    };
    let (labels, of_labels) = Labels::read_labels(tree);
    found.extend(of_labels);
    let mut exchange = Exchange {
        layout,
        labels,
        changes: None,
        streams: BTreeMap::new(),
    };
    for name in layout.stream_names(tree) {
        let stream = Stream {
            home: layout.stream_folder(tree, &name),
            workstations: layout.workstations_folder(&name),
            ..Stream::default()
        };
        exchange.streams.insert(name, stream);
    }
    found.extend(names::check_stream_names(&exchange));
    found.extend(names::check_forms(&exchange, tree));
    let mut spellings: BTreeMap<String, &str> = BTreeMap::new();
    let mut count = 0;
    for (path, _) in tree.iter() {
        let Some(place) = layout::locate(layout, path) else {
            continue;
        };
        count += 1;
        if count > FILES_LIMIT {
            let message =
                format!("the exchange has more than {FILES_LIMIT} files; the rest is not read");
            found.push(Diagnostic::error(path, message).help("remove what was settled long ago"));
            break;
        }
        if let Some(first) = spellings.insert(path.to_lowercase(), path) {
            let message = format!("`{first}` differs from it in nothing but capitals");
            found.push(Diagnostic::error(path, message).help("give one of them another name"));
        }
        found.extend(names::check_file_name(place, path, tree));
        read_file(&mut exchange, place, path, tree, &mut found);
    }
    if layout == Layout::Workstreams {
        older_rosters(tree, &mut exchange, &mut found);
    }
    Reading {
        exchange: Some(exchange),
        diagnostics: found,
    }
}

/// Reads the rosters of streams without one from where versions 9 and 10 of the original program kept them: one for
/// each stream, or one for all.
fn older_rosters(tree: &Tree, exchange: &mut Exchange, found: &mut Vec<Diagnostic>) {
    for (name, stream) in &mut exchange.streams {
        if stream.roster.is_some() {
            continue;
        }
        let paths = [layout::older_roster(name), layout::OLDER_ROSTER.to_owned()];
        let Some(path) = paths.iter().find(|path| tree.has(path)) else {
            continue;
        };
        let (roster, wrong) = match artifact_text(tree, path) {
            Ok(text) => roster::read_roster(path, text),
            Err(wrong) => (None, vec![*wrong]),
        };
        stream.roster = roster;
        for one in wrong {
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
}

/// Reads one file into the exchange.
fn read_file(
    exchange: &mut Exchange,
    place: Location<'_>,
    path: &str,
    tree: &Tree,
    found: &mut Vec<Diagnostic>,
) {
    let text = match place {
        Location::Beside | Location::NoArtifact | Location::Stray => return,
        _ => match artifact_text(tree, path) {
            Ok(text) => text,
            Err(wrong) => return found.push(*wrong),
        },
    };
    let flat = exchange.layout == Layout::Flat;
    match place {
        Location::Changes => {
            let shape = if flat { &CHANGES } else { &CHANGE };
            exchange.changes = read_artifact(shape, path, text, found, Changes::of);
        }
        Location::Event { stream, state } => {
            // The wrong folder name was reported; the file is read all the same.
            let known = EventState::of(state);
            let state = known.unwrap_or(EventState::Pending);
            let event = read_artifact(&EVENT, path, text, found, |node| Event::of(node, state));
            if let (Some(stream), Some(event), Some(_)) =
                (exchange.streams.get_mut(stream), event, known)
            {
                stream.events.push(event);
            }
        }
        Location::Item { stream, label } => {
            let shape = if flat { &REQUIREMENT } else { &ISSUE };
            let item = read_artifact(shape, path, text, found, WorkItem::of);
            if let (Some(stream), Some(item)) = (exchange.streams.get_mut(stream), item) {
                found.extend(names::check_label(&item, label, &exchange.labels));
                stream.items.push(item);
            }
        }
        Location::Proposal { stream } => {
            let proposal = read_artifact(&PROPOSAL, path, text, found, Proposal::of);
            if let (Some(stream), Some(proposal)) = (exchange.streams.get_mut(stream), proposal) {
                found.extend(names::check_proposal(&proposal));
                stream.proposals.push(proposal);
            }
        }
        Location::Feedback { stream } => {
            let feedback = read_artifact(&FEEDBACK, path, text, found, Feedback::of);
            if let (Some(stream), Some(feedback)) = (exchange.streams.get_mut(stream), feedback) {
                stream.feedback.push(feedback);
            }
        }
        Location::RoleFeedback => {
            read_artifact(&FEEDBACK, path, text, found, Feedback::of);
        }
        Location::Memory { stream, role } => {
            let memory = read_memory(flat, path, text, found);
            if let (Some(into), Some(memory)) = (exchange.streams.get_mut(stream), memory) {
                found.extend(names::check_memory(
                    &memory,
                    role,
                    (!flat).then_some(stream),
                ));
                into.memories.push(memory);
            }
        }
        Location::History { .. } => check_history(path, text, found),
        Location::Roster { stream } => {
            let (roster, wrong) = roster::read_roster(path, text);
            found.extend(wrong);
            if let Some(stream) = exchange.streams.get_mut(stream) {
                stream.roster = roster;
            }
        }
        Location::Index { stream } => {
            if let Some(stream) = exchange.streams.get_mut(stream) {
                stream.index = Some(text.to_owned());
            }
        }
        Location::Beside | Location::NoArtifact | Location::Stray => {}
    }
}

/// No layer reads a history, so a mistake in it is only a warning.
fn check_history(path: &str, text: &str, found: &mut Vec<Diagnostic>) {
    let mut wrong = Vec::new();
    read_artifact(&HISTORY, path, text, &mut wrong, |_| ());
    found.extend(wrong.into_iter().map(|one| Diagnostic {
        severity: Severity::Warning,
        ..one
    }));
}

/// Reads a memory. Its keys say which kind of role it belongs to.
fn read_memory(
    flat: bool,
    path: &str,
    text: &str,
    found: &mut Vec<Diagnostic>,
) -> Option<Filed<Memory>> {
    let root = yaml::parse(text).0;
    let has = |key: &str| root.as_ref().is_some_and(|root| root.get(key).is_some());
    let shape = match has("persona") {
        // An innovator's memory is the same in both layouts.
        true => &INNOVATOR_PERSPECTIVE,
        false => observer_shape(flat, root.as_ref()),
    };
    read_artifact(shape, path, text, found, Memory::of)
}

/// The shape of an observer's memory; in the workstreams layout it depends on its version.
pub(super) fn observer_shape(flat: bool, root: Option<&Node>) -> &'static Shape {
    let version = root.and_then(|root| root.get("schema_version")?.integer());
    match (flat, version) {
        (true, _) => &PERSPECTIVE,
        (false, Some(2)) => &PERSPECTIVE_V2,
        (false, _) => &PERSPECTIVE_V1,
    }
}
