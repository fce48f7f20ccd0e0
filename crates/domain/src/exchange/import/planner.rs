//! Imports a planner's expansion of one work item.

use super::decider::{read_item, restore_own_keys};
use super::importer::Importer;
use crate::diagnostic::Diagnostic;
use crate::exchange::edit;
use crate::exchange::layout::{Layout, Location};
use crate::yaml::{Node, Value};

pub(super) fn import_plan(importer: &mut Importer<'_>, item: &str) {
    let mut given = importer.take_incoming(|place| matches!(place, Location::Item { .. }));
    let index = given.iter().position(|one| one.path == item);
    let one = index.map(|index| given.remove(index));
    for other in given {
        let wrong = Diagnostic::error(other.path, "the planner was given another work item");
        importer.report(wrong.help(format!("write {item} only")));
    }
    let Some(one) = one else { return };
    let Some(before) = importer
        .own_stream()
        .items
        .iter()
        .find(|filed| filed.path == item)
        .cloned()
    else {
        let wrong = Diagnostic::error(item, "the work item is gone");
        return importer.report(wrong.help("nothing is to be done"));
    };
    let Some(mut document) = importer.parse_file(one) else {
        return;
    };
    restore_own_keys(&mut document, Some(&before));
    let mut kept = vec!["id", "source_events"];
    if importer.layout == Layout::Workstreams {
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
            importer.report(wrong.help("it was left as it was"));
            edit::put_key(&mut document, key, node.value.clone());
        }
    }
    // phileas clears the flag, and only if everything else is valid.
    edit::put_key(&mut document, "requires_deep_analysis", Value::Flag(false));
    let text = edit::emit_yaml(&document);
    let Some(filed) = read_item(importer, item, &text) else {
        return;
    };
    if !before.value.requires_deep_analysis && importer.current_text(item) != Some(text.as_str()) {
        let wrong = Diagnostic::error(item, "it does not wait for a planner any more");
        return importer.report(wrong.help("nothing is to be done"));
    }
    // An edit by a person or decider in the meantime takes precedence over the planner's answer to the old text.
    if !importer.is_as_given(item) && importer.current_text(item) != Some(text.as_str()) {
        let wrong = Diagnostic::error(item, "it was changed after the session had begun");
        return importer.report(wrong.help("the next planner gets it as it is now"));
    }
    let id = filed.value.id;
    importer.write_file(item, text, Some(format!("plan {id}")));
}
