//! Describes an exchange as JSON.

use serde_json::{Value, json};

use super::artifact::EventState;
use super::layout::Layout;
use super::model::{Exchange, Stream};
use super::route::Routes;

/// The version of the format.
const VERSION: u32 = 1;

/// The contents of an exchange: streams, events by state, work items with their next layer, proposals, memories.
///
/// `labels`: the labels whose work items go to an implementer automatically; `None`: all.
#[must_use]
pub fn inspect_exchange(exchange: &Exchange, labels: Option<&[String]>) -> Value {
    let streams = exchange.streams.iter();
    let streams: serde_json::Map<_, _> = streams
        .map(|(name, one)| (name.clone(), inspect_stream(one, exchange.layout, labels)))
        .collect();
    json!({
        "schema_version": VERSION,
        "layout": exchange.layout.name(),
        "labels": exchange.labels.iter().collect::<Vec<_>>(),
        "changes": exchange.changes.as_ref().map(|changes| json!({
            "path": changes.path,
            "created_at": changes.value.created_at,
            "to_commit": changes.value.to_commit,
            "sound": changes.sound,
        })),
        "streams": streams,
    })
}

fn inspect_stream(stream: &Stream, layout: Layout, labels: Option<&[String]>) -> Value {
    let routes = Routes::of(stream, labels);
    let states: Vec<Value> = EventState::ALL
        .iter()
        .map(|state| json!({ "name": state.folder_name(), "count": stream.events_in(*state).count() }))
        .collect();
    let pending: Vec<&str> = stream
        .events_in(EventState::Pending)
        .map(|event| event.path.as_str())
        .collect();
    let events: Vec<Value> = stream
        .events
        .iter()
        .map(|event| {
            json!({
                "path": event.path,
                "state": event.value.state.folder_name(),
                "id": event.value.id,
                "issue_id": event.value.issue_id,
                "author_role": event.value.author_role,
                "sound": event.sound,
            })
        })
        .collect();
    let items: Vec<Value> = stream
        .items
        .iter()
        .map(|item| {
            json!({
                "path": item.path,
                "id": item.value.id,
                "label": item.value.label,
                "priority": item.value.priority,
                "requires_deep_analysis": item.value.requires_deep_analysis,
                "attempts": item.value.attempts,
                "source_events": item.value.source_events,
                "next": routes.next_of(&item.path).name(),
                "sound": item.sound,
            })
        })
        .collect();
    let proposals: Vec<Value> = stream
        .proposals
        .iter()
        .map(|one| json!({ "path": one.path, "id": one.value.id, "persona": one.value.persona, "title": one.value.title, "sound": one.sound }))
        .collect();
    let memories: Vec<Value> = stream
        .memories
        .iter()
        .map(|one| json!({ "path": one.path, "role": one.value.role, "sound": one.sound }))
        .collect();
    let roster = stream.roster.as_ref().map(|roster| {
        json!({ "enabled": roster.enabled, "observers": roster.observers, "deciders": roster.deciders })
    });
    let work = match layout {
        Layout::Flat => "requirements",
        Layout::Workstreams => "issues",
    };
    json!({
        "roster": roster,
        "events": { "states": states, "pending_files": pending, "items": events },
        (work): { "count": items.len(), "items": items },
        "proposals": { "count": proposals.len(), "items": proposals },
        "memories": memories,
    })
}
