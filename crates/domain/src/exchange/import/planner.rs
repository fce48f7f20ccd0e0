//! Imports a planner's expansion of one work item.

use super::decider::restore_own_keys;
use super::importer::Importer;
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::WorkItem;
use crate::exchange::layout::{Layout, Location};
use crate::exchange::shapes::{ISSUE, REQUIREMENT};
use crate::exchange::{edit, names};
use crate::yaml::{Node, Value};

pub(super) fn import_plan(desk: &mut Importer<'_>, item: &str) {
    let mut given = desk.take_incoming(|place| matches!(place, Location::Item { .. }));
    let index = given.iter().position(|one| one.path == item);
    let one = index.map(|index| given.remove(index));
    for other in given {
        let wrong = Diagnostic::error(other.path, "the planner was given another work item");
        desk.report(wrong.help(format!("write {item} only")));
    }
    let Some(one) = one else { return };
    let Some(before) = desk
        .own_stream()
        .items
        .iter()
        .find(|filed| filed.path == item)
        .cloned()
    else {
        let wrong = Diagnostic::error(item, "the work item is gone");
        return desk.report(wrong.help("nothing is to be done"));
    };
    let Some(mut document) = desk.parse_file(one) else {
        return;
    };
    restore_own_keys(&mut document, Some(&before));
    let mut kept = vec!["id", "source_events"];
    if desk.layout == Layout::Workstreams {
        // The label is the name of the folder.
        kept.push("label");
    }
    for key in kept {
        let Some(node) = before.node.get(key) else {
            continue;
        };
        let changed = document.get(key).map(Node::json) != Some(node.json());
        if changed {
            let wrong =
                Diagnostic::warning(item, format!("a planner does not change `{key}`")).key(key);
            desk.report(wrong.help("it was left as it was"));
            edit::put_key(&mut document, key, node.value.clone());
        }
    }
    // phileas clears the flag, and only if everything else is valid.
    edit::put_key(&mut document, "requires_deep_analysis", Value::Flag(false));
    let text = edit::emit_yaml(&document);
    let shape = match desk.layout {
        Layout::Flat => &REQUIREMENT,
        Layout::Workstreams => &ISSUE,
    };
    let Some(filed) = desk.read_sound(shape, item, &text, WorkItem::of) else {
        return;
    };
    let wrong = names::check_label(&filed, None, &desk.exchange.labels);
    if !wrong.is_empty() {
        return wrong.into_iter().for_each(|one| desk.report(one));
    }
    if !before.value.requires_deep_analysis && desk.current_text(item) != Some(text.as_str()) {
        let wrong = Diagnostic::error(item, "it does not wait for a planner any more");
        return desk.report(wrong.help("nothing is to be done"));
    }
    // An edit by a person or decider in the meantime takes precedence over the planner's answer to the old text.
    if !desk.is_as_given(item) && desk.current_text(item) != Some(text.as_str()) {
        let wrong = Diagnostic::error(item, "it was changed after the session had begun");
        return desk.report(wrong.help("the next planner gets it as it is now"));
    }
    let id = filed.value.id;
    desk.write_file(item, text, Some(format!("plan {id}")));
}
