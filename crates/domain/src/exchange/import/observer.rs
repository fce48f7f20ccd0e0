//! Imports an observer's events and memory.

use std::collections::BTreeSet;

use super::desk::{Desk, Incoming};
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::{Event, EventState, Memory};
use crate::exchange::layout::{Layout, Place};
use crate::exchange::limits::{EVENTS_PER_SESSION, LESSONS_LIMIT};
use crate::exchange::read::observer_shape;
use crate::exchange::shapes::EVENT;
use crate::exchange::{edit, memory, names};
use crate::yaml::{self, Node};

pub(super) fn take(desk: &mut Desk<'_>, role: &str) {
    let pending = EventState::Pending.folder();
    let events =
        desk.incoming(|place| matches!(place, Place::Event { state, .. } if state == pending));
    let mut ids: BTreeSet<String> = desk
        .stream()
        .events
        .iter()
        .map(|event| event.value.id.clone())
        .collect();
    for (index, one) in events.into_iter().enumerate() {
        if index >= EVENTS_PER_SESSION {
            let message =
                format!("a session may bring {EVENTS_PER_SESSION} events; this is one more");
            desk.say(Diagnostic::error(one.path, message).mend("keep the strongest findings"));
            continue;
        }
        event(desk, role, one, &mut ids);
    }
    let own =
        |place: Place<'_>| matches!(place, Place::Memory { role: folder, .. } if folder == role);
    for one in desk.incoming(own) {
        perspective(desk, role, one);
    }
}

fn event(desk: &mut Desk<'_>, role: &str, one: Incoming<'_>, ids: &mut BTreeSet<String>) {
    let Some(root) = desk.parse(one) else { return };
    // Only phileas sets the link.
    let text = edit::set(one.text, &root, "issue_id", "\"\"");
    let rewritten = Incoming { text: &text, ..one };
    let Some(root) = desk.parse(rewritten) else {
        return;
    };
    let said_before = |event: &&crate::exchange::Filed<Event>| {
        Desk::same(&event.node, &root, &["id", "issue_id"])
    };
    if desk.stream().events.iter().any(|event| said_before(&event)) {
        return;
    }
    let name = crate::exchange::artifact::stem(one.path);
    let own = root.get("id").and_then(Node::text).unwrap_or_default();
    // An observer may replace its own pending event.
    let replaced = desk.stream().events_in(EventState::Pending).find(|event| {
        event.stem() == name && event.value.id == own && event.value.author_role == role
    });
    let replaced = replaced.map(|event| event.path.clone());
    let text = if replaced.is_some() {
        text
    } else {
        desk.with_id(&text, &root, ids)
    };
    let Some(filed) = desk.sound(&EVENT, one.path, &text, |node| {
        Event::of(node, EventState::Pending)
    }) else {
        return;
    };
    if filed.value.author_role != role {
        let (line, column) = filed.at("author_role");
        let message = format!("it says that `{}` found it", filed.value.author_role);
        let wrong = Diagnostic::error(one.path, message)
            .at(line, column)
            .key("author_role");
        desk.say(wrong.mend(format!("write `{role}`")));
        return;
    }
    let id = filed.value.id;
    let folder = format!(
        "{}/events/{}",
        desk.stream().home,
        EventState::Pending.folder()
    );
    let path = replaced.unwrap_or_else(|| desk.free_path(&folder, one.path, &id));
    ids.insert(id.clone());
    desk.write(&path, text, Some(format!("event {id}")));
}

fn perspective(desk: &mut Desk<'_>, role: &str, one: Incoming<'_>) {
    let flat = desk.layout == Layout::Flat;
    let shape = observer_shape(flat, yaml::parse(one.text).0.as_ref());
    let stream = (!flat).then_some(desk.request.stream);
    let Some(filed) = desk.sound(shape, one.path, one.text, Memory::of) else {
        return;
    };
    let foreign = names::memory(&filed, role, stream);
    if !foreign.is_empty() {
        return foreign.into_iter().for_each(|wrong| desk.say(wrong));
    }
    // Keep the lesson of a rejection that came while the session ran.
    let lessons = memory::lessons(desk.stream(), role);
    let newest = &lessons[lessons.len().saturating_sub(LESSONS_LIMIT)..];
    let mut root = filed.node;
    let text = if memory::leave_alone(&mut root, newest, &lessons) {
        edit::emit(&root)
    } else {
        one.text.to_owned()
    };
    desk.write(one.path, text, Some(format!("memory of {role}")));
}
