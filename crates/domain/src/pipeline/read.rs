//! A file of a run: read, brought into the normal form, and held against its shape.

use serde::de::DeserializeOwned;

use super::artifact::Artifact;
use super::document::parse_document;
use super::limits::FINDINGS_LIMIT;
use super::settings::Settings;
use super::variants;
use crate::Diagnostic;
use crate::exchange::{edit, validate};
use crate::yaml::{Node, Value};

/// A file that was read, and everything that is wrong with it by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What it is.
    pub artifact: Artifact,
    /// Its name, for messages.
    pub file: String,
    /// What is wrong with it, by line and column. Warnings tell of variants, which are taken.
    pub diagnostics: Vec<Diagnostic>,
    /// Its document in the normal form; `None` where it cannot be read.
    node: Option<Node>,
}

/// Reads a file of a run. One that is not text in UTF-8, or too large, has a mistake like any other.
#[must_use]
pub fn read_artifact(
    artifact: Artifact,
    file: &str,
    bytes: &(impl AsRef<[u8]> + ?Sized),
    settings: &Settings,
) -> Reading {
    read_part(artifact, file, (bytes.as_ref(), 1), settings)
}

/// The same for the part of a file in YAML that begins on a line, counted from 1.
pub(super) fn read_part(
    artifact: Artifact,
    file: &str,
    (bytes, first_line): (&[u8], u32),
    settings: &Settings,
) -> Reading {
    let mut found = Vec::new();
    let mut node = parse_document(artifact, file, (bytes, first_line), &mut found);
    if let Some(root) = &mut node {
        variants::normalize_document(artifact, file, root, &mut found);
        found.extend(validate::validate_value(
            file,
            root,
            artifact.artifact_shape(),
        ));
        let assessed = root
            .get("self_assessment")
            .is_some_and(|node| node.value != Value::Null);
        if settings.assessed && artifact.assesses_itself() && !assessed {
            let wrong = Diagnostic::error(file, "`self_assessment` is missing")
                .at(root.line, root.column)
                .key("self_assessment");
            found.push(wrong.help(
                "this repository asks for it: write `confidence` from 0 to 1, `uncertainty_areas` and `recommendation`",
            ));
        }
    }
    found.sort_by_key(|one| (one.line, one.column));
    let more = found.len().saturating_sub(FINDINGS_LIMIT);
    if more > 0 {
        // No error may hide behind warnings.
        found.sort_by_key(|one| !one.is_error());
        found.truncate(FINDINGS_LIMIT);
        let message = format!("there are {more} further findings in it");
        found.push(Diagnostic::warning(file, message).help("fix those above first"));
    }
    Reading {
        artifact,
        file: file.to_owned(),
        diagnostics: found,
        node,
    }
}

impl Reading {
    /// Whether it may be used: what is wrong with it are variants at most.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.node.is_some() && !self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The normal form: JSON with two spaces and a final newline, or YAML. `None` where it is not sound.
    #[must_use]
    pub fn normal_form(&self) -> Option<String> {
        Some(write_yaml(self.artifact, &self.document()?))
    }

    /// Its document in the normal form, with its unknown keys; `None` if it is invalid.
    #[must_use]
    pub fn document(&self) -> Option<serde_json::Value> {
        let node = self.node.as_ref().filter(|_| self.is_sound())?;
        Some(node.json())
    }

    /// What it says, as one of [`values`](super::values); `None` where it is not sound.
    #[must_use]
    pub fn value<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(self.document()?).ok()
    }

    /// The value at a path of keys and indices, or the nearest one above it.
    pub(super) fn nearest_node(&self, path: &[Part<'_>]) -> Option<&Node> {
        let mut node = self.node.as_ref()?;
        for part in path {
            let below = match part {
                Part::Key(key) => node.get(key),
                Part::Index(index) => node.items().get(*index),
            };
            match below {
                Some(below) => node = below,
                None => break,
            }
        }
        Some(node)
    }
}

/// A document that phileas has made, in the normal form of an artifact.
pub(super) fn write_yaml(artifact: Artifact, document: &serde_json::Value) -> String {
    if artifact.is_yaml() {
        return edit::emit_yaml(&to_node(document));
    }
    let text = serde_json::to_string_pretty(document);
    text.expect("a tree of values is JSON") + "\n"
}

/// A value without a place.
fn to_node(value: &serde_json::Value) -> Node {
    use serde_json::Value as Json;
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(to_node).collect()),
        Json::Object(map) => {
            let entry = |(key, value): (&String, &Json)| {
                (to_node(&Json::String(key.clone())), to_node(value))
            };
            Value::Map(map.iter().map(entry).collect())
        }
    };
    Node {
        line: 1,
        column: 1,
        range: 0..0,
        value,
    }
}

/// A part of the way to a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'k> {
    Key(&'k str),
    Index(usize),
}
