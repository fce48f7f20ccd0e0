//! Finds the correct path of an artifact from its current one.

use super::waiting::stray_files;
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::file_stem;
use crate::exchange::labels::Labels;
use crate::exchange::layout::{
    FLAT_FOLDER, Layout, Location, STREAMS_FOLDER, WORKSTATIONS_FOLDER, locate,
};
use crate::exchange::names::{no_artifact, unknown_state};
use crate::exchange::shapes::{CHANGE, CHANGES};
use crate::exchange::values;
use crate::model::Tree;
use crate::yaml::{self, Node};

/// The list that older flat exchanges kept.
const FLAT_LIST: &str = ".jules/exchange/issues/index.md";

/// The kind of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Event,
    Item,
    Proposal,
    Feedback,
    Memory,
    /// The list of issues, which is generated.
    List,
}

/// The correct path of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Goal {
    /// `None`: the file is generated and is removed.
    pub(super) to: Option<String>,
    pub(super) kind: Kind,
    /// Why the file must move, if it must.
    pub(super) why: Option<String>,
}

/// The correct path of a file of the exchange; `None`: nothing to do.
///
/// # Errors
///
/// The file has no place in the exchange, and stays where it is.
pub(super) fn find_goal(
    layout: Layout,
    tree: &Tree,
    labels: &Labels,
    path: &str,
) -> Result<Option<Goal>, Box<Diagnostic>> {
    let Some(here) = locate(layout, path) else {
        return Ok(None);
    };
    let home = |stream: &str| layout.stream_folder(tree, stream);
    let name = format!("{}.yml", file_stem(path));
    let (to, kind) = match here {
        Location::Event { stream, state } => match unknown_state(path, state) {
            Some(wrong) => return Err(Box::new(wrong)),
            None => (
                format!("{}/events/{state}/{name}", home(stream)),
                Kind::Event,
            ),
        },
        Location::Feedback { stream } => {
            (format!("{}/feedback/{name}", home(stream)), Kind::Feedback)
        }
        Location::Proposal { stream } => {
            (format!("{}/proposals/{name}", home(stream)), Kind::Proposal)
        }
        Location::Item { stream, label } => {
            let folder = match label {
                None => "requirements".to_owned(),
                Some(folder) => format!("issues/{}", label_folder(tree, labels, path, folder)),
            };
            (format!("{}/{folder}/{name}", home(stream)), Kind::Item)
        }
        Location::Index { stream } => {
            let to = format!("{}/issues/index.md", home(stream));
            let why = format!("the list is made of the issues, as `{to}`");
            return Ok((to != path).then(|| removed_list(why)));
        }
        Location::Memory { .. } => (path.to_owned(), Kind::Memory),
        Location::RoleFeedback => return Err(Box::new(feedback_mistake(path))),
        Location::NoArtifact if path == FLAT_LIST => {
            let why = "a flat exchange has no list of its work items".to_owned();
            return Ok(Some(removed_list(why)));
        }
        Location::NoArtifact => return Err(Box::new(no_artifact(tree, path))),
        Location::Stray => match stray_goal(layout, tree, labels, path) {
            Some(goal) => goal,
            None => return Err(Box::new(stray_mistake(layout, tree, labels, path))),
        },
        Location::Changes => return Ok(changes_goal(layout, tree, path)),
        Location::History { .. } | Location::Roster { .. } | Location::Beside => {
            return Ok(None);
        }
    };
    Ok(Some(Goal {
        why: (to != path).then(|| move_reason(path, &to, kind)),
        to: Some(to),
        kind,
    }))
}

fn move_reason(path: &str, to: &str, kind: Kind) -> String {
    match path.ends_with(".yaml") && to == path.replace(".yaml", ".yml") {
        true => "artifacts end in `.yml`".to_owned(),
        false => format!("an older place of {}", kind_name(kind)),
    }
}

/// A generated file that is removed.
fn removed_list(why: String) -> Goal {
    Goal {
        to: None,
        kind: Kind::List,
        why: Some(why),
    }
}

/// The label's folder of a work item that is in `folder`.
fn label_folder(tree: &Tree, labels: &Labels, path: &str, folder: &str) -> String {
    let own = item_label(tree, path).filter(|own| labels.contains(own));
    // In an older contract, a folder that is no label is the item's priority.
    match own {
        Some(own) if !labels.contains(folder) => own,
        _ => folder.to_owned(),
    }
}

fn feedback_mistake(path: &str) -> Diagnostic {
    let message = "a role's feedback names no event, so it has no place";
    let help = "put what still counts into the role's memory; it is not read by anything else";
    Diagnostic::warning(path, message).help(help)
}

/// Why a file that has no place in the exchange stays where it is.
fn stray_mistake(layout: Layout, tree: &Tree, labels: &Labels, path: &str) -> Diagnostic {
    if let Some(item) = stray_files(tree, layout, labels, path) {
        return item;
    }
    let one = Diagnostic::warning(path, "nothing of the exchange belongs here");
    one.help(match is_innovation(path) {
        true => "ideas and comments became proposals of one piece: write what still counts as one",
        false => "move it to where artifacts of its kind lie, or remove it",
    })
}

/// An invalid summary is removed, because the narrator writes the next one from scratch. `None`: nothing to do.
fn changes_goal(layout: Layout, tree: &Tree, path: &str) -> Option<Goal> {
    let shape = match layout {
        Layout::Flat => &CHANGES,
        Layout::Workstreams => &CHANGE,
    };
    let found = shape.validate(path, tree.text(path)?);
    let first = found.first()?;
    let line = first
        .line
        .map_or_else(String::new, |line| format!("line {line}: "));
    Some(removed_list(format!(
        "it has mistakes ({line}{}), and the narrator writes it again",
        first.message
    )))
}

/// Locations that this layout used to have.
fn stray_goal(layout: Layout, tree: &Tree, labels: &Labels, path: &str) -> Option<(String, Kind)> {
    let name = format!("{}.yml", file_stem(path));
    let parts: Vec<&str> = path.split('/').collect();
    match (layout, parts.as_slice()) {
        // Before events had states, a decided one was deleted.
        (
            Layout::Workstreams,
            [".jules", "workstreams", stream, "events", _]
            | [".jules", "workstreams", stream, "exchange", "events", _],
        ) => {
            let home = layout.stream_folder(tree, stream);
            Some((format!("{home}/events/pending/{name}"), Kind::Event))
        }
        (Layout::Flat, [".jules", "exchange", "events", _]) => {
            Some((format!("{FLAT_FOLDER}/events/pending/{name}"), Kind::Event))
        }
        (
            Layout::Flat,
            [".jules", "exchange", "issues", _] | [".jules", "exchange", "issues", _, _],
        ) => Some((format!("{FLAT_FOLDER}/requirements/{name}"), Kind::Item)),
        (
            Layout::Flat,
            [
                ".jules",
                "exchange",
                "innovators",
                role,
                "perspective.yml" | "perspective.yaml",
            ],
        )
        | (Layout::Flat, [".jules", "workstations", role, "perspective.yaml"])
            if values::is_name(role) =>
        {
            Some((
                format!("{WORKSTATIONS_FOLDER}/{role}/perspective.yml"),
                Kind::Memory,
            ))
        }
        (
            Layout::Workstreams,
            [
                ".jules",
                "workstreams",
                stream,
                "workstations",
                role,
                "perspective.yaml",
            ],
        ) => {
            let to = format!("{STREAMS_FOLDER}/{stream}/workstations/{role}/perspective.yml");
            Some((to, Kind::Memory))
        }
        (
            Layout::Workstreams,
            [".jules", "workstreams", stream, "issues", _]
            | [".jules", "workstreams", stream, "exchange", "issues", _],
        ) => {
            let own = item_label(tree, path).filter(|own| labels.contains(own))?;
            let home = layout.stream_folder(tree, stream);
            Some((format!("{home}/issues/{own}/{name}"), Kind::Item))
        }
        _ => None,
    }
}

/// Whether it is part of a proposal that was made in two phases.
fn is_innovation(path: &str) -> bool {
    path.starts_with(&format!("{FLAT_FOLDER}/innovators/"))
}

/// The label in a work item's own keys.
fn item_label(tree: &Tree, path: &str) -> Option<String> {
    let root = yaml::parse(tree.text(path)?).0?;
    root.get("label").and_then(Node::text).map(str::to_owned)
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Event => "events",
        Kind::Item => "work items",
        Kind::Proposal => "proposals",
        Kind::Feedback => "feedback",
        Kind::Memory => "memories",
        Kind::List => "lists",
    }
}
