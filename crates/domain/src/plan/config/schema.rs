//! The JSON Schema of `.jlo/config.toml`, made of what the reader reads by.

use serde_json::{Map, Value, json};

use super::keys::{
    DEFAULT_INNOVATION, DEFAULT_PASS, INNOVATORS_KEYS, MAX_ROLE_BYTES, MAX_ROLES, MEMBER_KEYS,
    OBSERVERS_KEYS, PASS, ROOT_KEYS, WITHOUT_EFFECT, WORKFLOW_KEYS,
};
use crate::exchange::USUAL;
use crate::layers::{DEFAULT_INNOVATORS, DEFAULT_OBSERVERS, ROLE_NAME};
use crate::plan::constants::{LAYERS, PLAN_VERSION};
use crate::plan::entry::EntryPoint;
use crate::plan::roster::Approval;
use crate::plan::steps::MAX_STEPS;

/// Editors of TOML know this draft.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// The JSON Schema (draft 7) of `.jlo/config.toml`. It cannot know a repository's own roles.
#[must_use]
pub fn schema() -> Value {
    let mut properties: Map<String, Value> = ROOT_KEYS
        .into_iter()
        .map(|key| (key.to_owned(), root(key)))
        .collect();
    for (key, instead) in WITHOUT_EFFECT
        .into_iter()
        .filter(|(key, _)| !key.contains('.'))
    {
        let about = format!("It has no effect: {instead}.");
        properties.insert(
            key.to_owned(),
            json!({ "description": about, "deprecated": true }),
        );
    }
    json!({
        "$schema": DRAFT,
        "title": "phileas: .jlo/config.toml",
        "description": "Who works in the layers, and when. phileas reads it at .jlo/config.toml of the default branch.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "definitions": {
            "name": { "type": "string", "pattern": ROLE_NAME, "maxLength": MAX_ROLE_BYTES },
            "expression": {
                "type": "string",
                "pattern": r"^\s*\S+(\s+\S+){4}\s*$",
            },
            "cron": {
                "anyOf": [
                    { "$ref": "#/definitions/expression" },
                    { "type": "array", "items": { "$ref": "#/definitions/expression" }, "minItems": 1, "maxItems": 1 },
                ],
            },
            "member": { "anyOf": [
                { "$ref": "#/definitions/name" },
                table(&MEMBER_KEYS, member, &["name"]),
            ]},
        },
    })
}

fn table(keys: &[&str], of: fn(&str) -> Value, required: &[&str]) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| ((*key).to_owned(), of(key)))
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn root(key: &str) -> Value {
    let (about, mut value) = match key {
        "version" => (
            "The version of the format.",
            json!({ "const": PLAN_VERSION, "default": PLAN_VERSION }),
        ),
        "workflow" => {
            let mut table = table(&WORKFLOW_KEYS, workflow, &[]);
            for (path, instead) in WITHOUT_EFFECT {
                if let Some(key) = path.strip_prefix("workflow.") {
                    let about = format!("It has no effect: {instead}.");
                    table["properties"][key] = json!({ "description": about, "deprecated": true });
                }
            }
            ("The pass through the layers.", table)
        }
        "observers" => (
            "Who looks at the repository.",
            table(&OBSERVERS_KEYS, observers, &[]),
        ),
        _ => (
            "Who proposes changes of direction. Without this table they do not run by themselves.",
            table(&INNOVATORS_KEYS, innovators, &[]),
        ),
    };
    value["description"] = about.into();
    value
}

fn workflow(key: &str) -> Value {
    match key {
        "enabled" => json!({
            "description": "Whether the layers run by themselves.",
            "type": "boolean",
            "default": true,
        }),
        "cron" => json!({
            "description": "When a pass begins. Five fields: minute, hour, day of the month, month, day of the week (0 is Sunday).",
            "allOf": [{ "$ref": "#/definitions/cron" }],
            "default": DEFAULT_PASS,
        }),
        "timezone" => json!({
            "description": "The IANA time zone of both crons; without it, that of [defaults] in schedules.toml.",
            "type": "string",
        }),
        "layers" => json!({
            "description": "The layers of a pass, in order.",
            "type": "array",
            "items": { "enum": LAYERS },
            "minItems": 1,
            "maxItems": MAX_STEPS,
            "default": PASS,
        }),
        "entry_point" => json!({
            "description": "Where a pass begins; layers before it are left out (requirements: planner and implementer; innovators: no pass, the innovators alone).",
            "enum": EntryPoint::WORDS.map(|(word, _)| word),
            "default": EntryPoint::default().as_str(),
        }),
        "approval" => json!({
            "description": "Who lets a work item through to an implementer: the decider alone (auto), or a person with write access, by the label phileas:implementer on the issue that the item is shown as (human).",
            "enum": Approval::WORDS.map(|(word, _)| word),
            "default": "auto",
        }),
        _ => json!({
            "description": "The labels whose work items go to an implementer without a request; without it, all of them.",
            "type": "array",
            "items": { "$ref": "#/definitions/name", "examples": USUAL.map(|label| label.name) },
        }),
    }
}

fn roles(usual: &[&str]) -> Value {
    json!({
        "description": "The roles, in the order in which they take their turns.",
        "type": "array",
        "items": { "$ref": "#/definitions/member" },
        "maxItems": MAX_ROLES,
        "default": usual,
    })
}

fn observers(_: &str) -> Value {
    roles(&DEFAULT_OBSERVERS)
}

fn innovators(key: &str) -> Value {
    match key {
        "roles" => roles(&DEFAULT_INNOVATORS),
        _ => json!({
            "description": "When a round of innovators begins.",
            "allOf": [{ "$ref": "#/definitions/cron" }],
            "default": DEFAULT_INNOVATION,
        }),
    }
}

fn member(key: &str) -> Value {
    match key {
        "name" => {
            json!({ "description": "The role: the name of its folder.", "$ref": "#/definitions/name" })
        }
        "enabled" => json!({
            "description": "Whether it works by itself.",
            "type": "boolean",
            "default": true,
        }),
        _ => json!({
            "description": "Whether a role whose findings should not be public may work in a public repository.",
            "type": "boolean",
            "default": false,
        }),
    }
}
