//! Checks the links between artifacts: each must exist on both sides, and none may leave its stream.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{EventState, Filed, WorkItem};
use super::model::{Exchange, Stream};
use crate::diagnostic::Diagnostic;

/// All links that are missing, one-sided, doubled, or point to another stream.
pub(super) fn check_links(exchange: &Exchange) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (name, stream) in &exchange.streams {
        found.extend(doubled_ids(stream));
        found.extend(of_events(stream));
        found.extend(of_items(exchange, name, stream));
        found.extend(of_feedback(stream));
        found.extend(of_proposals(stream));
    }
    found
}

fn error_at<T>(filed: &Filed<T>, key: &str, message: String, help: String) -> Diagnostic {
    let (line, column) = filed.key_position(key);
    Diagnostic::error(&filed.path, message)
        .at(line, column)
        .key(key)
        .help(help)
}

/// Ids that several artifacts of one kind have.
fn doubled_ids(stream: &Stream) -> Vec<Diagnostic> {
    fn doubled_among<'s, T>(
        filed: &'s [Filed<T>],
        id: impl Fn(&'s T) -> &'s str,
        found: &mut Vec<Diagnostic>,
    ) {
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        for one in filed {
            let id = id(&one.value);
            if id.is_empty() {
                continue;
            }
            match first.get(id) {
                Some(path) => found.push(error_at(
                    one,
                    "id",
                    format!("the id `{id}` is that of `{path}`, too"),
                    "give one of them another id, and correct the references to it".to_owned(),
                )),
                None => {
                    first.insert(id, &one.path);
                }
            }
        }
    }
    let mut found = Vec::new();
    doubled_among(&stream.events, |event| &event.id, &mut found);
    doubled_among(&stream.items, |item| &item.id, &mut found);
    doubled_among(&stream.proposals, |proposal| &proposal.id, &mut found);
    found
}

/// The work items that name an event.
fn event_owners<'s>(stream: &'s Stream, event: &str) -> Vec<&'s Filed<WorkItem>> {
    let owns = |item: &&Filed<WorkItem>| item.value.source_events.iter().any(|id| id == event);
    stream.items.iter().filter(owns).collect()
}

fn of_events(stream: &Stream) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for event in &stream.events {
        let mut wrong = |message: String, help: String| {
            found.push(error_at(event, "issue_id", message, help));
        };
        let (id, link) = (event.value.id.as_str(), event.value.issue_id.as_str());
        let owners = if id.is_empty() {
            Vec::new()
        } else {
            event_owners(stream, id)
        };
        match event.value.state {
            EventState::Pending | EventState::Rejected if !link.is_empty() => {
                let state = event.value.state.folder_name();
                wrong(
                    format!("it is {state}, and belongs to `{link}`"),
                    "move it to `decided/`, or write `issue_id: \"\"`".to_owned(),
                );
            }
            EventState::Pending | EventState::Rejected => {}
            EventState::Decided if link.is_empty() => {
                let help = match owners.as_slice() {
                    [one] => format!("write `issue_id: \"{}\"`", one.value.id),
                    _ => "name the work item that took it up, or move it to `pending/`".to_owned(),
                };
                let message = "it is decided, and belongs to no work item";
                wrong(message.to_owned(), help);
            }
            EventState::Decided => {
                if !stream.items.iter().any(|item| item.value.id == link) {
                    wrong(
                        format!("there is no work item `{link}`"),
                        "name the one that took it up, or move the event to `pending/` with `issue_id: \"\"`".to_owned(),
                    );
                } else if owners.is_empty() {
                    wrong(
                        format!("it belongs to `{link}`, which does not name it"),
                        format!("add `{id}` to the `source_events` of `{link}`"),
                    );
                } else if !owners.iter().any(|item| item.value.id == link) {
                    let named = owners.first().map_or("", |item| item.value.id.as_str());
                    wrong(
                        format!("it belongs to `{link}`, and `{named}` names it"),
                        format!("write `issue_id: \"{named}\"`, or move its id over"),
                    );
                }
            }
        }
    }
    found
}

fn of_items(exchange: &Exchange, name: &str, stream: &Stream) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut owner: BTreeMap<&str, &str> = BTreeMap::new();
    for item in &stream.items {
        let mut own = BTreeSet::new();
        for (index, id) in item
            .value
            .source_events
            .iter()
            .enumerate()
            .filter(|(_, id)| !id.is_empty())
        {
            let key = format!("source_events[{index}]");
            let place = item
                .node
                .get("source_events")
                .and_then(|list| list.items().get(index));
            let (line, column) = place.map_or(item.key_position("source_events"), |node| {
                (node.line, node.column)
            });
            let mut wrong = |message: String, help: String| {
                let one = Diagnostic::error(&item.path, message)
                    .at(line, column)
                    .key(&key);
                found.push(one.help(help));
            };
            if !own.insert(id.as_str()) {
                wrong(
                    format!("`{id}` is there twice"),
                    "name each event once".to_owned(),
                );
                continue;
            }
            if let Some(first) = owner.insert(id, &item.path) {
                wrong(
                    format!("the event `{id}` belongs to `{first}`, too"),
                    "an event belongs to one work item: remove it from the other".to_owned(),
                );
            }
            if let Some((message, help)) = broken_link(exchange, name, stream, item, id) {
                wrong(message, help);
            }
        }
    }
    found
}

/// What is wrong with the link from a work item to an event, and what to do.
fn broken_link(
    exchange: &Exchange,
    name: &str,
    stream: &Stream,
    item: &Filed<WorkItem>,
    id: &str,
) -> Option<(String, String)> {
    let own = &item.value.id;
    let events: Vec<_> = stream.events_of(id).collect();
    let decided = events
        .iter()
        .find(|event| event.value.state == EventState::Decided);
    match (decided, events.first()) {
        (Some(event), _) => {
            let (path, link) = (&event.path, &event.value.issue_id);
            (!link.is_empty() && link != own).then(|| {
                (
                    format!("the event `{id}` says that it belongs to `{link}`"),
                    format!("write `issue_id: \"{own}\"` in `{path}`, or remove it here"),
                )
            })
        }
        (None, Some(event)) => {
            let (path, state) = (&event.path, event.value.state.folder_name());
            Some((
                format!("the event `{id}` is {state}"),
                format!("move `{path}` to `decided/` with `issue_id: \"{own}\"`"),
            ))
        }
        (None, None) => Some(match other_stream(exchange, name, id) {
            Some(other) => (
                format!("the event `{id}` is one of the workstream `{other}`"),
                "workstreams do not mix: name events of this one only".to_owned(),
            ),
            None => (
                format!("there is no event `{id}`"),
                "name events that are in `decided/`".to_owned(),
            ),
        }),
    }
}

fn other_stream<'e>(exchange: &'e Exchange, name: &str, id: &str) -> Option<&'e str> {
    let mut others = exchange.streams.iter().filter(|(other, _)| *other != name);
    let found = others.find(|(_, stream)| stream.events_of(id).next().is_some());
    found.map(|(other, _)| other.as_str())
}

fn of_feedback(stream: &Stream) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let told: BTreeSet<&str> = stream.feedback.iter().map(Filed::file_stem).collect();
    let rejected: BTreeSet<&str> = stream
        .events_in(EventState::Rejected)
        .map(|event| event.value.id.as_str())
        .collect();
    for feedback in stream
        .feedback
        .iter()
        .filter(|one| !rejected.contains(one.file_stem()))
    {
        let message = format!("there is no rejected event `{}`", feedback.file_stem());
        let one = Diagnostic::error(&feedback.path, message);
        found.push(one.help("call the file by the id of the event that it rejects"));
    }
    for event in stream
        .events_in(EventState::Rejected)
        .filter(|event| !told.contains(event.value.id.as_str()))
    {
        let id = &event.value.id;
        let one = Diagnostic::warning(&event.path, "it was rejected, and no feedback says why");
        found.push(one.help(format!("write `feedback/{id}.yml`")));
    }
    found
}

/// A persona would repeat a proposal that its memory does not contain.
fn of_proposals(stream: &Stream) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for proposal in stream
        .proposals
        .iter()
        .filter(|one| !one.value.persona.is_empty())
    {
        let persona = proposal.value.persona.as_str();
        let memory = stream
            .memories
            .iter()
            .find(|memory| memory.value.innovator && memory.value.role == persona);
        let title = proposal.value.title.trim();
        let known = memory.is_some_and(|memory| {
            memory
                .value
                .recent_proposals
                .iter()
                .any(|one| one.trim() == title)
        });
        if !known {
            let (line, column) = proposal.key_position("title");
            let message = format!("`{persona}` does not remember it");
            let one = Diagnostic::warning(&proposal.path, message)
                .at(line, column)
                .key("title");
            found.push(one.help(format!(
                "add the title to `recent_proposals` of `{}/{persona}/perspective.yml`",
                stream.workstations
            )));
        }
    }
    found
}
