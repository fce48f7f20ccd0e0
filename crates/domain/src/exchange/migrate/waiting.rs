//! Finds work items that no layer ever takes, and says how to get them done.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::file_stem;
use crate::exchange::labels::Labels;
use crate::exchange::layout::{Layout, Location, locate};
use crate::exchange::read;
use crate::exchange::route::Next;
use crate::model::Tree;
use crate::plan;
use crate::yaml::{self, Node};

/// The label that starts an implementer for the work item of an issue.
const WORK_LABEL: &str = "phileas:implementer";

/// The help for a file with mistakes.
pub(super) const CORRECT: &str =
    "run `phileas exchange check`, and correct the mistakes that it names";

/// The work items of a tree that no layer takes.
pub(super) fn not_taken(tree: &Tree, layout: Layout) -> Vec<Diagnostic> {
    let labels = plan::read(tree).0.roster.labels;
    let read = read::read_exchange(tree, Some(layout)).exchange;
    let streams = read.iter().flat_map(|exchange| exchange.streams.values());
    let mut found = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for item in streams.flat_map(|stream| &stream.items) {
        known.insert(&item.path);
        let (message, fix) = match Next::of(item, labels.as_deref()) {
            Next::Planner | Next::Implementer => continue,
            Next::Refused => {
                found.push(unsound_file(&item.path));
                continue;
            }
            Next::Shelved => (
                format!(
                    "no layer takes this work item: `workflow.labels` does not name `{}`",
                    item.value.label
                ),
                format!(
                    "add `{}` to `workflow.labels` of .jlo/config.toml, or put the label `{WORK_LABEL}` on the issue that shows the item",
                    item.value.label
                ),
            ),
            Next::Suspended => (
                format!(
                    "no layer takes this work item: implementers have tried it {} times",
                    item.value.attempts
                ),
                format!("put the label `{WORK_LABEL}` on the issue that shows the item"),
            ),
        };
        found.push(Diagnostic::warning(&item.path, message).help(fix));
    }
    let unread = tree.iter().filter(|(path, _)| {
        matches!(locate(layout, path), Some(Location::Item { .. })) && !known.contains(path)
    });
    found.extend(unread.map(|(path, _)| unsound_file(path)));
    found
}

fn unsound_file(path: &str) -> Diagnostic {
    let message = "no layer takes this work item, because its file has mistakes";
    Diagnostic::warning(path, message).help(CORRECT)
}

/// The reports on files where no layer looks for work items; `None` if the file is no work item.
pub(super) fn stray_files(
    tree: &Tree,
    layout: Layout,
    labels: &Labels,
    path: &str,
) -> Option<Diagnostic> {
    let root = yaml::parse(tree.text(path)?).0?;
    let has = |key: &str| root.get(key).is_some();
    if !has("title") || !has("priority") || !(has("problem") || has("source_events")) {
        return None;
    }
    let stream = match locate(layout, path) {
        Some(Location::Stray) => path.split('/').nth(2).unwrap_or_default(),
        _ => return None,
    };
    let home = layout.stream_folder(tree, stream);
    let own = root.get("label").and_then(Node::text);
    let own = own.filter(|own| labels.contains(own));
    let name = file_stem(path);
    let to = match (layout, own) {
        (Layout::Flat, _) => format!("{home}/requirements/{name}.yml"),
        (Layout::Workstreams, Some(label)) => format!("{home}/issues/{label}/{name}.yml"),
        (Layout::Workstreams, None) => format!("{home}/issues/LABEL/{name}.yml"),
    };
    let first = match own {
        None if layout == Layout::Workstreams => {
            let all: Vec<&str> = labels.iter().collect();
            format!(
                "write its `label` ({}), and move it to that label's folder: ",
                all.join(", ")
            )
        }
        _ => "move it: ".to_owned(),
    };
    let message = "no layer takes this work item, because none looks for it here";
    Some(Diagnostic::warning(path, message).help(format!("{first}git mv {path} {to}")))
}
