//! Embeds the built-in texts of layers, and renders the schemas from the shapes that imports check.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::spelling::USUAL_FOLDER;
use crate::exchange::{
    CHANGE, CHANGES, EVENT, FEEDBACK, INNOVATOR_PERSPECTIVE, ISSUE, LABELS_PATH, Layout,
    PERSPECTIVE, PERSPECTIVE_V1, PROPOSAL, REQUIREMENT, Shape, USUAL,
};

/// The rules for all layers.
pub(crate) const RULES: &str = include_str!("texts/JULES.md");
/// The README of the ledger.
pub(super) const README: &str = include_str!("texts/README.md");

/// The default observers: those whose findings most maintainers accept.
pub const DEFAULT_OBSERVERS: [&str; 4] = ["errors", "tests", "docs", "structure"];
/// The default innovators.
pub const DEFAULT_INNOVATORS: [&str; 1] = ["architect"];

/// A file of a layer: the layer, the path in its folder, the text.
type Text = (&'static str, &'static str, &'static str);

macro_rules! texts {
    ($($layer:literal: $($file:literal),+;)+) => {
        [$($(($layer, $file, include_str!(concat!("texts/", $layer, "/", $file))),)+)+]
    };
}

/// The files of the layers.
pub(super) const LAYER_FILES: [Text; 26] = texts! {
    "narrator": "narrator_prompt.j2", "contracts.yml", "tasks/bootstrap_summary.yml", "tasks/overwrite_summary.yml";
    "observers": "observers_prompt.j2", "contracts.yml", "tasks/observe.yml";
    "decider": "decider_prompt.j2", "contracts.yml", "tasks/triage.yml";
    "planner": "planner_prompt.j2", "contracts.yml", "tasks/expand_requirement.yml";
    "implementer": "implementer_prompt.j2", "contracts.yml", "tasks/bugs.yml", "tasks/docs.yml", "tasks/feats.yml",
        "tasks/refacts.yml", "tasks/tests.yml";
    "innovators": "innovators_prompt.j2", "contracts.yml", "tasks/create_three_proposals.yml";
    "integrator": "integrator_prompt.j2", "contracts.yml", "tasks/integrate_implementer_branches.yml";
};

macro_rules! roles {
    ($($layer:literal: $($role:literal),+;)+) => {
        [$($(($layer, $role, include_str!(concat!("texts/roles/", $layer, "/", $role, "/role.yml"))),)+)+]
    };
}

/// The roles: the layer, the role, its `role.yml`.
pub(super) const ROLES: [Text; 11] = roles! {
    "observers": "errors", "tests", "docs", "structure", "taxonomy", "dependencies", "performance", "security";
    "innovators": "architect", "leverage", "researcher";
};

/// The schemas of a layout: the layer, the file name, the shape.
pub(super) fn schema_files(layout: Layout) -> [(&'static str, &'static str, &'static Shape); 7] {
    let flat = layout == Layout::Flat;
    let (changes, memory, item) = if flat {
        (&CHANGES, &PERSPECTIVE, &REQUIREMENT)
    } else {
        (&CHANGE, &PERSPECTIVE_V1, &ISSUE)
    };
    [
        ("narrator", changes_schema(layout), changes),
        ("observers", "event.yml", &EVENT),
        ("observers", "perspective.yml", memory),
        ("decider", "issue.yml", item),
        ("decider", "feedback.yml", &FEEDBACK),
        ("innovators", "perspective.yml", &INNOVATOR_PERSPECTIVE),
        ("innovators", "proposal.yml", &PROPOSAL),
    ]
}

/// The file name of the narrator's schema.
pub(super) fn changes_schema(layout: Layout) -> &'static str {
    match layout {
        Layout::Flat => "changes.yml",
        Layout::Workstreams => "change.yml",
    }
}

/// All files of the layers in their usual folders, by path.
pub(super) fn layer_files(layout: Layout) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (layer, file, text) in LAYER_FILES {
        files.insert(format!("{USUAL_FOLDER}/{layer}/{file}"), text.to_owned());
    }
    for (layer, file, shape) in schema_files(layout) {
        let path = format!("{USUAL_FOLDER}/{layer}/schemas/{file}");
        files.insert(path, shape.to_template());
    }
    files
}

/// The registry of labels.
pub(super) fn label_file() -> (&'static str, String) {
    let labels: serde_json::Map<String, Value> = USUAL
        .iter()
        .map(|label| {
            let value = json!({ "color": label.colour, "description": label.meaning });
            (label.name.to_owned(), value)
        })
        .collect();
    let registry = json!({ "schema_version": 1, "issue_labels": labels });
    (LABELS_PATH, format!("{registry:#}\n"))
}
