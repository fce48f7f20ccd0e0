use serde_json::Value;

use super::schema;
use crate::model::Tree;
use crate::plan::{SCHEDULES_PATH, read};

const PROMPT: &str = "---\nid: curator\nemoji: x\n---\nDo it.\n";

/// What the reader says to a text, without what is no mistake.
fn report_lines(text: &str) -> Vec<String> {
    let mut tree = Tree::from_texts([(".jules/personas/curator/prompt.md", PROMPT)]);
    tree.insert_text(SCHEDULES_PATH, text);
    let (_, found) = read(&tree);
    let errors = found.iter().filter(|one| one.is_error());
    errors.map(ToString::to_string).collect()
}

/// Where keys stand, how a line in that place is written, and the schema's properties of the place.
type SchemaEntry<'a> = (&'static str, fn(&str) -> String, &'a Value);

fn schema_entries(schema: &Value) -> Vec<SchemaEntry<'_>> {
    let of = |pointer: &str| schema.pointer(pointer).unwrap();
    vec![
        ("the root", |line| format!("{line}\n"), of("/properties")),
        (
            "[defaults]",
            |line| format!("[defaults]\n{line}\n"),
            of("/properties/defaults/properties"),
        ),
        (
            "[budget]",
            |line| format!("[budget]\n{line}\n"),
            of("/properties/budget/properties"),
        ),
        (
            "[gate]",
            |line| format!("[gate]\n{line}\n"),
            of("/properties/gate/properties"),
        ),
        (
            "[novelty]",
            |line| format!("[novelty]\n{line}\n"),
            of("/properties/novelty/properties"),
        ),
        (
            "a track",
            |line| {
                let steps = if line.starts_with("steps ") {
                    ""
                } else {
                    "steps = [\"curator\"]\n"
                };
                format!("[tracks.a]\n{steps}{line}\n")
            },
            of("/properties/tracks/additionalProperties/anyOf/1/properties"),
        ),
        (
            "a schedule",
            |line| {
                let cron = if line.starts_with("cron ") {
                    ""
                } else {
                    "cron = \"manual\"\n"
                };
                format!("[schedules.curator]\n{cron}{line}\n")
            },
            of("/properties/schedules/additionalProperties/anyOf/1/properties"),
        ),
        (
            "a step",
            |line| {
                let who = if line.starts_with("persona ") || line.starts_with("layer ") {
                    ""
                } else {
                    "persona = \"curator\", "
                };
                format!("cycle = [{{ {who}{line} }}]\n")
            },
            of("/definitions/step/anyOf/1/properties"),
        ),
        (
            "a bot",
            |line| format!("[gate]\nallow_bots = [{{ login = \"x[bot]\", id = 1, {line} }}]\n"),
            of("/properties/gate/properties/allow_bots/items/properties"),
        ),
    ]
}

/// A value of JSON as TOML writes it.
fn toml(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}

/// Values that a property takes, as far as it says so itself.
fn good(property: &Value) -> Vec<Value> {
    let mut good: Vec<Value> = Vec::new();
    good.extend(property["enum"].as_array().into_iter().flatten().cloned());
    good.extend(["default", "minimum", "maximum", "const"].map(|key| property[key].clone()));
    good.extend(
        property["examples"]
            .as_array()
            .into_iter()
            .flatten()
            .cloned(),
    );
    if property["type"] == "boolean" {
        good.extend([Value::Bool(true), Value::Bool(false)]);
    }
    good.retain(|value| !value.is_null());
    good
}

#[test]
fn every_key_of_the_schema_is_read() {
    let schema = schema();
    for (place, line, properties) in schema_entries(&schema) {
        let properties = properties.as_object().unwrap();
        assert!(!properties.is_empty(), "{place}");
        for (key, property) in properties {
            // No key of a plan takes an instant, so whoever reads the key complains of it.
            let said = report_lines(&line(&format!("{key} = 2026-01-05T00:00:00Z"))).join("\n");
            assert!(!said.contains("unknown key"), "{place}: {said}");
            // A bot's keys stand there already.
            assert!(
                said.contains("date or time") || said.contains("duplicate key"),
                "{place}: no code reads {key}: {said}"
            );
            assert!(
                property.as_object().is_some_and(|said| !said.is_empty()),
                "{place}: {key} has no description"
            );
        }
    }
}

#[test]
fn what_the_reader_does_not_know_the_schema_does_not_know() {
    let schema = schema();
    let all: std::collections::BTreeSet<String> = schema_entries(&schema)
        .iter()
        .flat_map(|(_, _, properties)| properties.as_object().unwrap().keys().cloned())
        .collect();
    for (place, line, properties) in schema_entries(&schema) {
        for key in all.iter().map(String::as_str).chain(["nonsense"]) {
            let said = report_lines(&line(&format!("{key} = 2026-01-05T00:00:00Z"))).join("\n");
            let reads = !said.contains("unknown key") && !said.contains("cannot be set for a step");
            assert_eq!(
                properties.get(key).is_some(),
                reads,
                "{place}, {key}: {said}"
            );
        }
    }
}

#[test]
fn what_the_schema_names_the_reader_takes_and_what_lies_beyond_it_does_not() {
    let schema = schema();
    let mut tried = 0;
    for (place, line, properties) in schema_entries(&schema) {
        for (key, property) in properties.as_object().unwrap() {
            if place == "a bot" || ["allow_bots", "protected_paths"].contains(&key.as_str()) {
                continue;
            }
            for value in good(property) {
                let said = report_lines(&line(&format!("{key} = {}", toml(&value))));
                assert!(said.is_empty(), "{place}, {key} = {value}: {said:?}");
                tried += 1;
            }
            let mut bad: Vec<Value> = Vec::new();
            if property.get("enum").is_some() {
                bad.push("nonsense".into());
            }
            if let Some(most) = property["maximum"].as_u64() {
                bad.push((most + 1).into());
            }
            if let Some(least) = property["minimum"].as_i64() {
                bad.push((least - 1).into());
            }
            for value in bad {
                let said = report_lines(&line(&format!("{key} = {}", toml(&value))));
                assert!(!said.is_empty(), "{place}, {key} = {value}");
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "{tried}");
}

/// A key whose value may be left out has a default that is report_lines, or says what its absence means.
#[test]
fn every_default_is_in_the_schema() {
    let schema = schema();
    for (place, _, properties) in schema_entries(&schema) {
        if !["[defaults]", "[budget]", "[gate]", "[novelty]"].contains(&place) {
            continue;
        }
        for (key, property) in properties.as_object().unwrap() {
            let words = property["description"].as_str().unwrap();
            assert!(
                property.get("default").is_some() || words.contains("without it"),
                "{place}, {key}"
            );
        }
    }
    // The defaults are those that a plan without a word gets.
    let usual = crate::plan::Policy::default();
    let of = |key: &str| schema["properties"]["defaults"]["properties"][key]["default"].clone();
    assert_eq!(of("abandon_after"), "6h");
    assert_eq!(of("max_nudges"), usual.max_nudges);
    assert_eq!(of("mode"), "act");
    let novelty = &schema["properties"]["novelty"]["properties"];
    assert_eq!(novelty["mode"]["default"], "prompt");
    assert_eq!(novelty["remember_refusals"]["default"], "180d");
}
