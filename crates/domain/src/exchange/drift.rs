//! Compares the schema files of a repository with phileas' own. Agents copy these files, so they must match what
//! phileas accepts.

use super::layout::Layout;
use super::read::observer_shape;
use super::shape::{Key, Kind, Need, Shape};
use super::shapes::{
    CHANGE, CHANGES, EVENT, FEEDBACK, HISTORY, INNOVATOR_PERSPECTIVE, ISSUE, PERSPECTIVE,
    PERSPECTIVE_V1, PROPOSAL, REQUIREMENT,
};
use super::validate::join_keys;
use crate::diagnostic::Diagnostic;
use crate::model::Tree;
use crate::yaml::{self, Node, Value};

/// All schema files of the tree that differ from what phileas accepts.
pub(super) fn check_drift(tree: &Tree, layout: Layout) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, _) in tree.iter() {
        let Some(mut shape) = schema_shape(path, layout) else {
            continue;
        };
        let Some((Some(root), _)) = tree.text(path).map(yaml::parse) else {
            let one = Diagnostic::warning(path, "it is not a template that can be read");
            found.push(one.help(format!(
                "write it again: phileas exchange template {}",
                shape.name
            )));
            continue;
        };
        // An observer's memory has two versions in the workstreams layout.
        if path.contains("/observers/") && path.ends_with("/perspective.yml") {
            shape = observer_shape(layout == Layout::Flat, Some(&root));
        }
        compare_keys(path, shape, &root, shape.keys, "", &mut found);
    }
    found
}

fn schema_shape(path: &str, layout: Layout) -> Option<&'static Shape> {
    let parts: Vec<&str> = path.split('/').collect();
    let [".jules", "layers" | "roles", layer, "schemas", name] = parts.as_slice() else {
        return None;
    };
    let flat = layout == Layout::Flat;
    Some(match (*layer, *name) {
        ("narrator", "changes.yml") => &CHANGES,
        ("narrator", "change.yml") => &CHANGE,
        ("observers", "event.yml") => &EVENT,
        ("observers", "perspective.yml") if flat => &PERSPECTIVE,
        ("observers", "perspective.yml") => &PERSPECTIVE_V1,
        ("observers", "history.yml") => &HISTORY,
        ("decider" | "deciders", "issue.yml" | "requirements.yml" | "requirement.yml") if flat => {
            &REQUIREMENT
        }
        ("decider" | "deciders", "issue.yml") => &ISSUE,
        ("decider" | "deciders", "feedback.yml") => &FEEDBACK,
        ("innovators", "perspective.yml") => &INNOVATOR_PERSPECTIVE,
        ("innovators", "proposal.yml") => &PROPOSAL,
        _ => return None,
    })
}

fn compare_keys(
    path: &str,
    shape: &Shape,
    node: &Node,
    known: &[Key],
    within: &str,
    found: &mut Vec<Diagnostic>,
) {
    let Value::Map(entries) = &node.value else {
        return;
    };
    let help = || format!("write it again: phileas exchange template {}", shape.name);
    let mut warn = |at: &Node, key: String, message: String| {
        found.push(
            Diagnostic::warning(path, message)
                .at(at.line, at.column)
                .key(key)
                .help(help()),
        );
    };
    for (name, value) in entries {
        let Some(text) = name.text() else { continue };
        let key = known.iter().find(|key| key.name == text);
        match key.map(|key| &key.kind) {
            None => warn(
                name,
                join_keys(within, text),
                format!("agents are asked for `{text}`, which is refused"),
            ),
            Some(Kind::Word(words)) => {
                let said = value.text().unwrap_or_default();
                let asked: Vec<&str> = said.split('|').map(str::trim).collect();
                if let Some(other) = asked
                    .iter()
                    .find(|word| said.contains('|') && !words.contains(word))
                {
                    warn(
                        value,
                        join_keys(within, text),
                        format!("agents are offered `{other}`, which is refused"),
                    );
                }
            }
            Some(Kind::Version(version)) if value.integer() != Some(*version) => {
                warn(
                    value,
                    join_keys(within, text),
                    format!("agents are asked for another version than {version}"),
                );
            }
            Some(_) => {}
        }
    }
    for key in known.iter().filter(|key| key.need == Need::Always) {
        if node.get(key.name).is_none() {
            warn(
                node,
                join_keys(within, key.name),
                format!("agents are not asked for `{}`, which is needed", key.name),
            );
        }
    }
}
