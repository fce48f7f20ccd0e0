//! Imports a decider's work items and rejections. The states of events follow from them.

use std::collections::{BTreeMap, BTreeSet};

use super::importer::{Importer, Incoming};
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::{EventState, Feedback, Filed, WorkItem, file_stem};
use crate::exchange::edit::{self, text_node};
use crate::exchange::layout::{self, Layout, Location};
use crate::exchange::memory::{self, Owner};
use crate::exchange::read::observer_shape;
use crate::exchange::shapes::{FEEDBACK, ISSUE, REQUIREMENT};
use crate::exchange::{names, values};
use crate::yaml::{self, Node, Value, quoted};

/// Keys of a work item that only phileas writes.
pub(super) const OWN_KEYS: [&str; 2] = ["attempts", "returned_because"];

pub(super) fn import_decision(importer: &mut Importer<'_>) {
    let mut decided = Decided::default();
    for one in importer.take_incoming(|place| matches!(place, Location::Item { .. })) {
        import_item(importer, one, &mut decided);
    }
    for one in importer.take_incoming(|place| matches!(place, Location::Feedback { .. })) {
        import_rejection(importer, one, &mut decided);
    }
    // Agents that move events and edit the list themselves mean the same moves. phileas derives these moves from the
    // links.
    let events: BTreeMap<String, String> = importer
        .own_stream()
        .events
        .iter()
        .map(|event| (event.file_stem().to_owned(), event.value.id.clone()))
        .collect();
    let (layout, stream) = (importer.layout, importer.request.stream.to_owned());
    importer.ignore_files(|path, _| match layout::locate(layout, path) {
        Some(Location::Event { stream: one, .. }) => {
            one == stream
                && events
                    .get(file_stem(path))
                    .is_some_and(|id| decided.is_settled(id))
        }
        Some(Location::Index { stream: one }) => one == stream,
        _ => false,
    });
}

/// What this import has decided so far.
#[derive(Default)]
struct Decided {
    /// The work item of each event.
    owners: BTreeMap<String, String>,
    rejected: BTreeSet<String>,
    /// The ids of work items.
    items: BTreeSet<String>,
}

impl Decided {
    fn is_settled(&self, event: &str) -> bool {
        self.owners.contains_key(event) || self.rejected.contains(event)
    }
}

fn import_item(importer: &mut Importer<'_>, one: Incoming<'_>, decided: &mut Decided) {
    let Some(root) = importer.parse_file(one) else {
        return;
    };
    let own = root
        .get("id")
        .and_then(Node::text)
        .unwrap_or_default()
        .to_owned();
    let named = named_events(&root, one.text);
    let before = known_item(importer, one.path, &own, &named);
    let id = item_id(importer, &root, own, before.as_ref(), &decided.items);
    let mut document = root.clone();
    restore_own_keys(&mut document, before.as_ref());
    edit::put_key(&mut document, "id", Value::Text(id.clone()));
    let (fit, stale) = sort_events(importer, &named, &id, before.as_ref(), decided);
    if fit.is_empty() && !named.is_empty() {
        return report_stale(importer, one.path, &stale, true);
    }
    let list = fit.iter().map(|event| text_node(event.as_str())).collect();
    if !named.is_empty() {
        edit::put_key(&mut document, "source_events", Value::List(list));
    }
    let changed = before
        .as_ref()
        .filter(|before| !importer.is_as_given(&before.path));
    if let Some(before) = changed {
        document = take_new_events(importer, one.path, before, &document);
    }
    let stays = changed.is_some();
    let as_before = changed.filter(|before| Importer::is_same_but(&before.node, &document, &[]));
    let written = match as_before.and_then(|before| importer.current_text(&before.path)) {
        Some(text) => text.to_owned(),
        None if Importer::is_same_but(&document, &root, &[]) => one.text.to_owned(),
        None => edit::emit_yaml(&document),
    };
    let Some(filed) = read_item(importer, one.path, &written) else {
        return;
    };
    report_stale(importer, one.path, &stale, false);
    let folder = item_folder(importer, &filed.value.label);
    let path = match &before {
        Some(before) if stays => before.path.clone(),
        Some(before) => format!("{folder}/{}.yml", before.file_stem()),
        None => importer.free_path(&folder, one.path, &id),
    };
    if let Some(before) = before.filter(|before| before.path != path) {
        importer.remove_file(&before.path);
    }
    importer.write_file(&path, written, Some(format!("work-item {id}")));
    for event in fit {
        decided.owners.insert(event.clone(), id.clone());
        move_event(importer, &event, EventState::Decided, &id);
    }
    decided.items.insert(id);
}

/// If an item has changed since the session read it, only the new events are added.
fn take_new_events(
    importer: &mut Importer<'_>,
    path: &str,
    before: &Filed<WorkItem>,
    document: &Node,
) -> Node {
    let mut kept = before.node.clone();
    let events = document.get("source_events").map(|node| node.value.clone());
    edit::put_key(&mut kept, "source_events", events.unwrap_or(Value::Null));
    if !Importer::is_same_but(&kept, document, &[]) {
        let message = format!("`{}` was changed after the session had begun", before.path);
        let wrong = Diagnostic::warning(path, message);
        importer.report(wrong.help("only its new events were taken"));
    }
    kept
}

/// Reads an item. `None`: it has mistakes, which are reported.
pub(super) fn read_item(
    importer: &mut Importer<'_>,
    path: &str,
    text: &str,
) -> Option<Filed<WorkItem>> {
    let shape = match importer.layout {
        Layout::Flat => &REQUIREMENT,
        Layout::Workstreams => &ISSUE,
    };
    let filed = importer.read_sound(shape, path, text, WorkItem::of)?;
    let wrong = names::check_label(&filed, None, &importer.exchange.labels);
    let is_sound = wrong.is_empty();
    wrong.into_iter().for_each(|one| importer.report(one));
    is_sound.then_some(filed)
}

fn item_folder(importer: &Importer<'_>, label: &str) -> String {
    let home = &importer.own_stream().home;
    match importer.layout {
        Layout::Flat => format!("{home}/requirements"),
        Layout::Workstreams => format!("{home}/issues/{label}"),
    }
}

/// The same work in the ledger, in its file or moved to another one. An equal file name or id alone means other work.
fn known_item(
    importer: &Importer<'_>,
    path: &str,
    own: &str,
    named: &[Named],
) -> Option<Filed<WorkItem>> {
    let mut items = importer.own_stream().items.iter();
    let same = items.find(|item| {
        let is_own = item.value.id == own;
        let shares = named
            .iter()
            .any(|one| item.value.source_events.contains(&one.id));
        (is_own && shares) || (item.path == path && (is_own || shares))
    });
    same.cloned()
}

/// The id of an item: the one in the ledger, or its own if that is valid and free, or else a new one.
fn item_id(
    importer: &Importer<'_>,
    root: &Node,
    own: String,
    before: Option<&Filed<WorkItem>>,
    decided: &BTreeSet<String>,
) -> String {
    let items = importer.own_stream().items.iter();
    let mut taken: BTreeSet<String> = items.map(|item| item.value.id.clone()).collect();
    taken.extend(decided.iter().cloned());
    match before {
        Some(before) => before.value.id.clone(),
        None if values::is_id(&own) && !taken.contains(&own) => own,
        None => importer.fresh_id(root, &taken),
    }
}

/// An event that an item names.
struct Named {
    id: String,
    /// Its index in the list, and its position.
    index: usize,
    at: (u32, u32),
}

/// The events that an item names, each once. Six unquoted digits parse as a number, but are an id. Invalid ids are
/// included, so that they can be reported.
fn named_events(root: &Node, text: &str) -> Vec<Named> {
    let list = root
        .get("source_events")
        .map(Node::items)
        .unwrap_or_default();
    let mut named: Vec<Named> = Vec::new();
    for (index, node) in list.iter().enumerate() {
        let written = text.get(node.range.clone()).unwrap_or_default();
        let id = match &node.value {
            Value::Text(text) => text.clone(),
            Value::List(_) | Value::Map(_) => node.is_called().to_owned(),
            _ => written.to_owned(),
        };
        if !named.iter().any(|one| one.id == id) {
            named.push(Named {
                id,
                index,
                at: (node.line, node.column),
            });
        }
    }
    named
}

/// Restores the keys that only phileas writes.
pub(super) fn restore_own_keys(document: &mut Node, before: Option<&Filed<WorkItem>>) {
    for key in OWN_KEYS {
        match before.and_then(|before| before.node.get(key)) {
            Some(node) => edit::put_key(document, key, node.value.clone()),
            None => edit::remove_key(document, key),
        }
    }
}

/// The named events that the item may take, with those it has already first, and the reasons against the others.
fn sort_events<'n>(
    importer: &Importer<'_>,
    named: &'n [Named],
    id: &str,
    before: Option<&Filed<WorkItem>>,
    decided: &Decided,
) -> (Vec<String>, Vec<(&'n Named, String)>) {
    let mut fit: Vec<String> = before
        .map(|before| before.value.source_events.clone())
        .unwrap_or_default();
    let mut stale = Vec::new();
    for one in named {
        let event = &one.id;
        if fit.contains(event) {
            continue;
        }
        if !values::is_id(event) {
            let why = "is not an id: six lower-case letters and digits in quotes".to_owned();
            stale.push((one, why));
            continue;
        }
        if let Some(owner) = decided.owners.get(event) {
            stale.push((one, format!("belongs to `{owner}` by now")));
            continue;
        }
        let known = importer.own_stream().events_of(event).next();
        let why = match known.map(|event| (event.value.state, event.value.issue_id.as_str())) {
            Some((EventState::Pending, _)) => None,
            Some((EventState::Decided, owner)) if owner == id => None,
            Some((EventState::Decided, owner)) => Some(format!("belongs to `{owner}` by now")),
            Some((EventState::Rejected, _)) => Some("was rejected".to_owned()),
            None => Some("is not there".to_owned()),
        };
        match why {
            None => fit.push(event.clone()),
            Some(why) => stale.push((one, why)),
        }
    }
    (fit, stale)
}

/// Reports the events that an item may not take. `whole`: the item is left out.
fn report_stale(importer: &mut Importer<'_>, path: &str, stale: &[(&Named, String)], whole: bool) {
    for (event, why) in stale {
        importer.report(about_event(path, event, why, whole));
    }
}

fn about_event(path: &str, event: &Named, why: &str, whole: bool) -> Diagnostic {
    let message = format!("the event `{}` {why}", event.id.escape_debug());
    let (one, help) = if whole {
        (
            Diagnostic::error(path, message),
            "none of its events can be taken up: the work item is left out",
        )
    } else {
        (
            Diagnostic::warning(path, message),
            "the work item was taken without it",
        )
    };
    one.at(event.at.0, event.at.1)
        .key(format!("source_events[{}]", event.index))
        .help(help)
}

/// Moves an event to the folder of its state and sets its link.
fn move_event(importer: &mut Importer<'_>, id: &str, to: EventState, issue: &str) {
    let Some(event) = importer.own_stream().events_of(id).next().cloned() else {
        return;
    };
    let Some(before) = importer.current_text(&event.path).map(str::to_owned) else {
        return;
    };
    let after = if event.value.issue_id == issue {
        before
    } else {
        edit::set_key(&before, &event.node, "issue_id", &quoted(issue))
    };
    if event.value.state == to {
        return importer.write_file(&event.path, after, None);
    }
    let folder = format!("{}/events/{}", importer.own_stream().home, to.folder_name());
    let path = importer.free_path(&folder, &event.path, id);
    importer.remove_file(&event.path);
    importer.write_file(&path, after, None);
}

fn import_rejection(importer: &mut Importer<'_>, one: Incoming<'_>, decided: &mut Decided) {
    let id = file_stem(one.path).to_owned();
    let Some(feedback) = importer.read_sound(&FEEDBACK, one.path, one.text, Feedback::of) else {
        return;
    };
    let event = importer
        .own_stream()
        .events_of(&id)
        .next()
        .map(|event| event.value.clone());
    let wrong = |message: String, help: &str| Diagnostic::error(one.path, message).help(help);
    let event = match event {
        None => {
            let help = "call the file by the id of the event that it rejects";
            return importer.report(wrong(format!("there is no event `{id}`"), help));
        }
        Some(event) => event,
    };
    if event.state == EventState::Decided || decided.owners.contains_key(&id) {
        let help = "an event is either taken up or rejected; it stays taken up";
        return importer.report(wrong(
            format!("the event `{id}` belongs to a work item"),
            help,
        ));
    }
    let path = format!("{}/feedback/{id}.yml", importer.own_stream().home);
    importer.write_file(&path, one.text.to_owned(), Some(format!("feedback {id}")));
    decided.rejected.insert(id.clone());
    move_event(importer, &id, EventState::Rejected, "");
    teach_role(importer, &event.author_role, &feedback.value);
}

/// Adds to the observer's memory what it should not report again.
fn teach_role(importer: &mut Importer<'_>, role: &str, feedback: &Feedback) {
    if !values::is_name(role) {
        return;
    }
    let path = format!(
        "{}/{role}/perspective.yml",
        importer.own_stream().workstations
    );
    let owner = match importer.layout {
        Layout::Flat => Owner::Observer(role),
        Layout::Workstreams => Owner::StreamObserver(role, importer.request.stream),
    };
    let before = match importer.current_text(&path) {
        Some(text) => text.to_owned(),
        None if importer.is_there(&path) => return,
        None => memory::seed_text(owner, importer.request.session_created),
    };
    let root = yaml::parse(&before).0;
    let shape = observer_shape(importer.layout == Layout::Flat, root.as_ref());
    // A broken memory is reported by the checks and does not block the import.
    if !shape.validate(&path, &before).is_empty() {
        let one = Diagnostic::warning(
            &path,
            "the rejection could not be noted, because this memory has mistakes",
        );
        return importer.report(one.help(
            "`phileas exchange check` names them; the feedback file has the rejection, too",
        ));
    }
    let Some(mut root) = root else {
        return;
    };
    let lesson = memory::lesson_text(&feedback.topic, &feedback.guidance);
    let lessons = memory::role_lessons(importer.own_stream(), role);
    if memory::leave_alone(&mut root, &[lesson], &lessons) {
        importer.write_file(&path, edit::emit_yaml(&root), None);
    }
}
