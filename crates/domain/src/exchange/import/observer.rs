//! Imports an observer's events and memory.

use std::collections::BTreeSet;

use super::importer::{Importer, Incoming};
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::{Event, EventState, Memory};
use crate::exchange::layout::{Layout, Location};
use crate::exchange::limits::{EVENTS_PER_SESSION, LESSONS_LIMIT};
use crate::exchange::read::observer_shape;
use crate::exchange::shapes::EVENT;
use crate::exchange::{edit, memory, names};
use crate::yaml::{self, Node};

pub(super) fn import_observer(importer: &mut Importer<'_>, role: &str) {
    let pending = EventState::Pending.folder_name();
    let events = importer
        .take_incoming(|place| matches!(place, Location::Event { state, .. } if state == pending));
    let mut ids: BTreeSet<String> = importer
        .own_stream()
        .events
        .iter()
        .map(|event| event.value.id.clone())
        .collect();
    for (index, one) in events.into_iter().enumerate() {
        if index >= EVENTS_PER_SESSION {
            let message =
                format!("a session may bring {EVENTS_PER_SESSION} events; this is one more");
            importer
                .report(Diagnostic::error(one.path, message).help("keep the strongest findings"));
            continue;
        }
        import_event(importer, role, one, &mut ids);
    }
    let own = |place: Location<'_>| matches!(place, Location::Memory { role: folder, .. } if folder == role);
    for one in importer.take_incoming(own) {
        import_perspective(importer, role, one);
    }
}

fn import_event(
    importer: &mut Importer<'_>,
    role: &str,
    one: Incoming<'_>,
    ids: &mut BTreeSet<String>,
) {
    let Some(root) = importer.parse_file(one) else {
        return;
    };
    // Only phileas sets the link.
    let text = edit::set_key(one.text, &root, "issue_id", "\"\"");
    let rewritten = Incoming { text: &text, ..one };
    let Some(root) = importer.parse_file(rewritten) else {
        return;
    };
    let said_before = |event: &&crate::exchange::Filed<Event>| {
        Importer::is_same_but(&event.node, &root, &["id", "issue_id"])
    };
    if importer
        .own_stream()
        .events
        .iter()
        .any(|event| said_before(&event))
    {
        return;
    }
    let name = crate::exchange::artifact::file_stem(one.path);
    let own = root.get("id").and_then(Node::text).unwrap_or_default();
    // An observer may replace its own pending event.
    let replaced = importer
        .own_stream()
        .events_in(EventState::Pending)
        .find(|event| {
            event.file_stem() == name && event.value.id == own && event.value.author_role == role
        });
    let replaced = replaced.map(|event| event.path.clone());
    let text = if replaced.is_some() {
        text
    } else {
        importer.with_id(&text, &root, ids)
    };
    let Some(filed) = importer.read_sound(&EVENT, one.path, &text, |node| {
        Event::of(node, EventState::Pending)
    }) else {
        return;
    };
    if filed.value.author_role != role {
        let (line, column) = filed.key_position("author_role");
        let message = format!("it says that `{}` found it", filed.value.author_role);
        let wrong = Diagnostic::error(one.path, message)
            .at(line, column)
            .key("author_role");
        importer.report(wrong.help(format!("write `{role}`")));
        return;
    }
    let id = filed.value.id;
    let folder = format!(
        "{}/events/{}",
        importer.own_stream().home,
        EventState::Pending.folder_name()
    );
    let path = replaced.unwrap_or_else(|| importer.free_path(&folder, one.path, &id));
    ids.insert(id.clone());
    importer.write_file(&path, text, Some(format!("event {id}")));
}

fn import_perspective(importer: &mut Importer<'_>, role: &str, one: Incoming<'_>) {
    let flat = importer.layout == Layout::Flat;
    let shape = observer_shape(flat, yaml::parse(one.text).0.as_ref());
    let stream = (!flat).then_some(importer.request.stream);
    let Some(filed) = importer.read_sound(shape, one.path, one.text, Memory::of) else {
        return;
    };
    let foreign = names::check_memory(&filed, role, stream);
    if !foreign.is_empty() {
        return foreign.into_iter().for_each(|wrong| importer.report(wrong));
    }
    // Keep the lesson of a rejection that came while the session ran.
    let lessons = memory::role_lessons(importer.own_stream(), role);
    let newest = &lessons[lessons.len().saturating_sub(LESSONS_LIMIT)..];
    let mut root = filed.node;
    let text = if memory::leave_alone(&mut root, newest, &lessons) {
        edit::emit_yaml(&root)
    } else {
        one.text.to_owned()
    };
    importer.write_file(one.path, text, Some(format!("memory of {role}")));
}
