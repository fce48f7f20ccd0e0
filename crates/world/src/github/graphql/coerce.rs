//! Checks the values of arguments and variables against their types.

use async_graphql_parser::types::{BaseType, Type};
use serde_json::{Map, Value};

use super::schema::{Input, Kind, shared_schema};

/// Checks a value and fills in defaults.
///
/// The error says what is wrong, in words like GitHub's.
pub(super) fn coerce_value(value: &Value, ty: &Type) -> Result<Value, String> {
    if value.is_null() {
        return if ty.nullable {
            Ok(Value::Null)
        } else {
            Err(format!("Expected value of type \"{ty}\" to not be null"))
        };
    }
    match &ty.base {
        BaseType::List(inner) => match value {
            Value::Array(items) => items.iter().map(|item| coerce_value(item, inner)).collect(),
            single => Ok(Value::Array(vec![coerce_value(single, inner)?])),
        },
        BaseType::Named(name) => coerce_named(value, name.as_str()),
    }
}

fn coerce_named(value: &Value, name: &str) -> Result<Value, String> {
    let wrong = || format!("Could not coerce value {value} to {name}");
    match (name, value) {
        ("Int", Value::Number(number))
            if number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) =>
        {
            Ok(value.clone())
        }
        ("Float", Value::Number(_))
        | ("Boolean", Value::Bool(_))
        | ("String", Value::String(_)) => Ok(value.clone()),
        ("ID", Value::String(_)) => Ok(value.clone()),
        ("ID", Value::Number(number)) => Ok(Value::String(number.to_string())),
        ("Int" | "Float" | "Boolean" | "String" | "ID", _) => Err(wrong()),
        _ => match shared_schema().type_kind(name) {
            Some(Kind::Enum { values }) => match value.as_str() {
                Some(text) if values.contains(text) => Ok(value.clone()),
                _ => Err(format!(
                    "Expected {value} to be one of: {}",
                    values.iter().cloned().collect::<Vec<_>>().join(", ")
                )),
            },
            Some(Kind::Input { fields }) => match value {
                Value::Object(given) => {
                    for key in given.keys() {
                        if !fields.contains_key(key) {
                            return Err(format!(
                                "InputObject '{name}' doesn't accept argument '{key}'"
                            ));
                        }
                    }
                    let mut out = Map::new();
                    for (key, input) in fields {
                        match given.get(key) {
                            Some(value) => {
                                out.insert(
                                    key.clone(),
                                    coerce_value(value, &input.ty)
                                        .map_err(|e| format!("{key}: {e}"))?,
                                );
                            }
                            None => match default(input) {
                                Some(value) => drop(out.insert(key.clone(), value)),
                                None if !input.ty.nullable => {
                                    return Err(format!(
                                        "Argument '{key}' on InputObject '{name}' is required. Expected type {}",
                                        input.ty
                                    ));
                                }
                                None => {}
                            },
                        }
                    }
                    Ok(Value::Object(out))
                }
                _ => Err(wrong()),
            },
            // Other scalars travel as texts (URI, DateTime, GitObjectID, Base64String, …) or numbers (BigInt).
            _ => match value {
                Value::String(_) | Value::Number(_) => Ok(value.clone()),
                _ => Err(wrong()),
            },
        },
    }
}

/// The default of an argument.
pub(super) fn default(input: &Input) -> Option<Value> {
    input
        .default
        .clone()
        .and_then(|value| value.into_json().ok())
}
