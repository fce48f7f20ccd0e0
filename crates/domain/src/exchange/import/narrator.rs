//! Imports the narrator's summary. phileas sets its cursor, so that the next summary covers what came after this
//! session.

use super::change_set::CommitRange;
use super::importer::{Importer, Incoming};
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::Changes;
use crate::exchange::edit;
use crate::exchange::layout::{Layout, Location};
use crate::exchange::shapes::{CHANGE, CHANGES};
use crate::yaml::{self, Node, Value, quoted};

pub(super) fn import_summary(importer: &mut Importer<'_>) {
    for one in importer.take_incoming(|place| place == Location::Changes) {
        let Some(root) = importer.parse_file(one) else {
            continue;
        };
        let at = importer.request.session_created;
        let text = edit::set_key(one.text, &root, "created_at", &quoted(&at.to_string()));
        let text = match (importer.layout, importer.request.range) {
            (Layout::Workstreams, Some(range)) => with_range(importer, one, text, range),
            _ => text,
        };
        let shape = match importer.layout {
            Layout::Flat => &CHANGES,
            Layout::Workstreams => &CHANGE,
        };
        if importer
            .read_sound(shape, one.path, &text, Changes::of)
            .is_none()
        {
            continue;
        }
        let newer = importer
            .exchange
            .changes
            .as_ref()
            .and_then(|changes| changes.value.created_at.parse().ok());
        if newer.is_some_and(|newer: jiff::Timestamp| newer > at) {
            let wrong = Diagnostic::error(one.path, "a newer summary is in its place already");
            importer.report(wrong.help("nothing is to be done"));
            continue;
        }
        importer.write_file(one.path, text, Some("changes".to_owned()));
    }
}

/// The summary with the commit range that the narrator was given. The next summary begins after it.
fn with_range(
    importer: &mut Importer<'_>,
    one: Incoming<'_>,
    text: String,
    given: CommitRange<'_>,
) -> String {
    let Some(mut root) = yaml::parse(&text).0 else {
        return text;
    };
    let mut range = match root.get("range") {
        Some(range) if matches!(range.value, Value::Map(_)) => range.clone(),
        // The check of the shape reports any other value.
        _ => return text,
    };
    let mut changed = false;
    for (key, commit) in [("from_commit", given.from), ("to_commit", given.to)] {
        let said = range.get(key).and_then(Node::text);
        if said == Some(commit) {
            continue;
        }
        let at = range.get(key).unwrap_or(&range);
        let wrong = Diagnostic::warning(one.path, format!("it names other commits: `{commit}`"))
            .at(at.line, at.column)
            .key(format!("range.{key}"));
        importer.report(wrong.help("it was put right"));
        edit::put_key(&mut range, key, Value::Text(commit.to_owned()));
        changed = true;
    }
    if !changed {
        return text;
    }
    edit::put_key(&mut root, "range", range.value);
    edit::emit_yaml(&root)
}
