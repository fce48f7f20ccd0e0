//! The JSON Schema of an artifact, made of its shape.

use serde_json::{Map, Value, json};

use super::limits::{LINE_LIMIT_CHARS, NAME_LIMIT_BYTES, OUTPUT_LIMIT_CHARS, TEXT_LIMIT_CHARS};
use super::shape::{Is, Key, Kind, Need, Rule, Shape};
use super::validate::NUMBER_LIMIT;
use super::{labels, placeholder, values};

/// What editors of YAML know best.
pub(crate) const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

impl Shape {
    /// Its JSON Schema (draft 7). What hangs on other files is not in it: links, names of files, a repository's own
    /// labels.
    #[must_use]
    pub fn to_schema(&self) -> Value {
        let mut schema = json!({
            "$schema": DRAFT,
            "title": format!("phileas: {}", self.name),
            "description": self.about,
        });
        let rules: Vec<&Rule> = self.rules.iter().collect();
        if let (Some(whole), Value::Object(map)) =
            (schema.as_object_mut(), map_schema(self.keys, &rules, ""))
        {
            whole.extend(map);
            let text = json!({ "type": "string", "pattern": placeholder::placeholder_pattern() });
            whole.insert("definitions".to_owned(), json!({ "placeholder": text }));
        }
        schema
    }
}

fn map_schema(keys: &[Key], rules: &[&Rule], within: &str) -> Value {
    let property = |key: &Key| {
        let mut value = kind_schema(&key.kind, rules, key.name);
        if key.need == Need::Nullable {
            value = json!({ "anyOf": [value, { "type": "null" }] });
        }
        if let Some(value) = value.as_object_mut() {
            value.insert("description".to_owned(), key.about.into());
        }
        (key.name.to_owned(), value)
    };
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| key.need == Need::Always)
        .map(|key| key.name)
        .collect();
    let mut map = json!({
        "type": "object",
        "properties": keys.iter().map(property).collect::<Map<_, _>>(),
        "required": required,
        "additionalProperties": false,
    });
    for rule in rules.iter().filter(|rule| rule.within == within) {
        let is = match rule.is {
            Is::True => json!(true),
            Is::Word(word) => json!(word),
        };
        map["if"] = json!({
            "properties": { (rule.when): { "const": is } },
            "required": [rule.when],
        });
        map["then"] = json!({
            "properties": { (rule.then): { "pattern": values::TEXT } },
            "required": [rule.then],
        });
    }
    map
}

/// The schema of a value.
pub(crate) fn kind_schema(kind: &Kind, rules: &[&Rule], name: &str) -> Value {
    let filled = json!({ "$ref": "#/definitions/placeholder" });
    let text = |pattern: &str, limit: usize| json!({ "type": "string", "pattern": pattern, "maxLength": limit, "not": filled });
    let small = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    match kind {
        Kind::Version(version) => json!({ "const": version }),
        Kind::Id => small(values::ID),
        Kind::Link => small(values::LINK),
        Kind::Role | Kind::Stream => {
            json!({ "type": "string", "pattern": values::NAME, "maxLength": NAME_LIMIT_BYTES })
        }
        Kind::Label => json!({
            "type": "string",
            "pattern": values::NAME,
            "maxLength": NAME_LIMIT_BYTES,
            "examples": labels::USUAL.map(|label| label.name),
        }),
        Kind::Date => json!({ "type": "string", "pattern": values::DATE, "format": "date" }),
        Kind::Instant => {
            json!({ "type": "string", "pattern": values::INSTANT, "format": "date-time" })
        }
        Kind::Commit => small(values::COMMIT),
        Kind::Line(_) => text(values::LINE, LINE_LIMIT_CHARS),
        Kind::Text(_) => text(values::TEXT, TEXT_LIMIT_CHARS),
        Kind::Prose => json!({ "type": "string", "maxLength": TEXT_LIMIT_CHARS, "not": filled }),
        Kind::Command(_) => json!({
            "type": "string",
            "pattern": values::LINE,
            "maxLength": LINE_LIMIT_CHARS,
            "not": { "anyOf": [filled, { "pattern": values::AGENT }] },
        }),
        Kind::Spot(_) => json!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": NUMBER_LIMIT },
            text(values::LINE, LINE_LIMIT_CHARS),
        ]}),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Count => json!({ "type": "integer", "minimum": 0, "maximum": NUMBER_LIMIT }),
        Kind::List(list) => {
            let mut value = json!({
                "type": "array",
                "items": kind_schema(list.of, &[], ""),
                "minItems": list.least,
                "maxItems": list.most,
            });
            if !list.one_of.is_empty() {
                value["contains"] = json!({ "enum": list.one_of });
            }
            value
        }
        Kind::Map(keys) => map_schema(keys, rules, name),
        Kind::Open(keys) => {
            let mut value = map_schema(keys, rules, name);
            value["additionalProperties"] = json!(true);
            value
        }
        Kind::Table(table) => json!({
            "type": "object",
            "propertyNames": { "pattern": values::TEXT, "maxLength": LINE_LIMIT_CHARS },
            "additionalProperties": kind_schema(table.of, &[], ""),
            "maxProperties": table.most,
        }),
        Kind::Phrase => {
            json!({ "type": "string", "pattern": values::LINE, "maxLength": LINE_LIMIT_CHARS })
        }
        Kind::Passage => {
            json!({ "type": "string", "pattern": values::TEXT, "maxLength": TEXT_LIMIT_CHARS })
        }
        Kind::Verbatim => json!({ "type": "string", "maxLength": OUTPUT_LIMIT_CHARS }),
        Kind::Spotted => json!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": NUMBER_LIMIT },
            { "type": "string", "pattern": values::LINE, "maxLength": LINE_LIMIT_CHARS },
        ]}),
        Kind::Number(least, most) => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
    }
}
