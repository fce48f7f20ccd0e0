//! The roles of a layer: the catalogue's, and a repository's own.

use std::collections::{BTreeMap, BTreeSet};

use super::spelling::{role_folders, usual_role};
use super::texts::ROLES;
use crate::Diagnostic;
use crate::exchange::limits::NAME_LIMIT_BYTES;
use crate::model::Tree;
use crate::plan::ROLE_LAYERS;
use crate::yaml::{self, Node, Value};

/// What a role's name is made of, as a pattern; beside it counts [`NAME_LIMIT_BYTES`].
pub const ROLE_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]*$";

/// A role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its layer.
    pub layer: &'static str,
    /// Its name.
    pub name: String,
    /// What it looks at, in a few words; empty where its file does not say.
    pub description: String,
    /// Whether it writes down what strangers should not know.
    pub sensitive: bool,
    /// Where it comes from.
    pub source: Source,
}

/// Where a role comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The catalogue.
    Catalogue,
    /// A file of the default branch that counts instead of the catalogue's.
    Overlaid(String),
    /// A file of the default branch; the catalogue has no such role.
    Own(String),
}

impl Source {
    /// The file of the default branch, where it comes from one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Catalogue => None,
            Self::Overlaid(path) | Self::Own(path) => Some(path),
        }
    }
}

/// Whether a text can name a role.
#[must_use]
pub fn is_role_name(text: &str) -> bool {
    text.len() <= NAME_LIMIT_BYTES
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// The names of all roles of a layer: the catalogue's, and those with a file on the default branch.
#[must_use]
pub fn role_names(tree: &Tree, layer: &str) -> BTreeSet<String> {
    let own = own_roles(tree, layer).into_keys();
    let built_in = ROLES.iter().filter(|(one, _, _)| *one == layer);
    own.chain(built_in.map(|(_, role, _)| (*role).to_owned()))
        .collect()
}

/// The text of the catalogue's role.
pub(super) fn built_in(layer: &str, role: &str) -> Option<&'static str> {
    let found = ROLES
        .iter()
        .find(|(one, name, _)| *one == layer && *name == role);
    found.map(|(_, _, text)| *text)
}

/// The files of a repository's own roles, by name.
pub(super) fn own_roles(tree: &Tree, layer: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in role_folders(layer) {
        for (path, _) in tree.below(&folder) {
            let name = path
                .strip_prefix(&format!("{folder}/"))
                .and_then(|rest| rest.strip_suffix("/role.yml"))
                .filter(|name| is_role_name(name));
            if let Some(name) = name {
                found
                    .entry(name.to_owned())
                    .or_insert_with(|| path.to_owned());
            }
        }
    }
    found
}

/// The roles of both layers, by layer and name, and what is wrong with the files of a repository's own.
pub(super) fn read(tree: &Tree) -> (Vec<Role>, Vec<Diagnostic>) {
    let (mut roles, mut found) = (Vec::new(), Vec::new());
    for layer in ROLE_LAYERS {
        let own = own_roles(tree, layer);
        for name in role_names(tree, layer) {
            let catalogue = built_in(layer, &name);
            let path = own.get(&name);
            let text = match path {
                Some(path) => tree.text(path),
                None => catalogue,
            };
            let file = path.cloned().unwrap_or_else(|| usual_role(layer, &name));
            let (root, mistakes) = match text {
                Some(text) => yaml::parse(text),
                None => {
                    let message = "it was not read: it is no regular file, no text, or too large";
                    found.push(Diagnostic::error(&file, message).mend("put a text file here"));
                    (None, Vec::new())
                }
            };
            if path.is_some() {
                found.extend(mistakes.into_iter().map(|one| one.diagnostic(&file)));
                found.extend(
                    root.iter()
                        .flat_map(|root| check(&file, layer, &name, root)),
                );
            }
            let text_of = |key: &str| root.as_ref().and_then(|root| root.get(key)?.text());
            let flag = root.as_ref().and_then(|root| root.get("sensitive"));
            // The catalogue's word on its own role counts until the repository says otherwise.
            let usual =
                catalogue.is_some_and(|text| text.lines().any(|line| line == "sensitive: true"));
            roles.push(Role {
                layer,
                description: text_of("description").unwrap_or_default().to_owned(),
                sensitive: flag.map_or(usual, |flag| flag.value != Value::Flag(false)),
                source: match (path, catalogue) {
                    (Some(path), Some(_)) => Source::Overlaid(path.clone()),
                    (Some(path), None) => Source::Own(path.clone()),
                    (None, _) => Source::Catalogue,
                },
                name,
            });
        }
    }
    (roles, found)
}

/// What is wrong with a role's file.
fn check(file: &str, layer: &str, role: &str, root: &Node) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut say = |node: &Node, key: &str, message: String, mend: String| {
        let one = Diagnostic::error(file, message).at(node.line, node.column);
        found.push(one.key(key).mend(mend));
    };
    for (key, wanted) in [("role", role), ("layer", layer)] {
        match root.get(key) {
            None => say(
                root,
                key,
                format!("`{key}` is missing"),
                format!("write `{key}: {wanted}`"),
            ),
            Some(node) if node.text() != Some(wanted) => {
                let said = node.text().unwrap_or_default().escape_debug().to_string();
                let singular = key == "layer" && super::spelling::spellings(layer)[1] == said;
                if !singular {
                    let message = format!("`{key}` is `{said}`, and the file lies with `{wanted}`");
                    say(
                        node,
                        key,
                        message,
                        format!("write `{wanted}`, or move the file"),
                    );
                }
            }
            Some(_) => {}
        }
    }
    let profile = root.get("profile");
    let says = |key: &str| {
        let value = profile.and_then(|profile| profile.get(key));
        value.is_some_and(|node| {
            !node.items().is_empty() || node.text().is_some_and(|text| !text.trim().is_empty())
        })
    };
    let mut wanted = vec!["focus", "analysis_points"];
    if layer == "innovators" {
        wanted.extend([
            "first_principles",
            "guiding_questions",
            "anti_patterns",
            "evidence_expectations",
            "proposal_quality_bar",
        ]);
    }
    for key in wanted.into_iter().filter(|key| !says(key)) {
        let path = format!("profile.{key}");
        say(
            profile.unwrap_or(root),
            &path,
            format!("`{path}` is missing or empty"),
            format!("write it: `phileas role create {layer} NAME` shows what belongs into it"),
        );
    }
    found
}
