//! Answers one GraphQL request: parses it, checks its variables and cost, executes it.

use async_graphql_parser::Positioned;
use async_graphql_parser::types::{ExecutableDocument, OperationDefinition, OperationType};
use bytes::Bytes;
use http::{Request, Response};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{coerce, cost, execute};
use crate::github::limits::Resource;
use crate::github::reply::json_response;
use crate::github::rest::Refusal;
use crate::github::{Identity, Model};
use crate::knobs::Knobs;

/// The body of a request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueryBody {
    query: Option<String>,
    #[serde(default)]
    variables: Option<Map<String, Value>>,
    #[serde(default)]
    operation_name: Option<String>,
}

fn find_operation<'d>(
    document: &'d ExecutableDocument,
    name: Option<&str>,
) -> Option<(Option<&'d str>, &'d Positioned<OperationDefinition>)> {
    let mut all = document
        .operations
        .iter()
        .map(|(known, operation)| (known.map(|name| name.as_str()), operation));
    match name {
        Some(name) => all.find(|(known, _)| *known == Some(name)),
        None => all.next(),
    }
}

impl Model {
    /// Whether the body of a request holds a mutation.
    pub(crate) fn is_mutation(&mut self, body: &[u8]) -> bool {
        let Ok(asked) = serde_json::from_slice::<QueryBody>(body) else {
            return false;
        };
        let Some(document) = asked
            .query
            .and_then(|text| self.documents.parse(&text).ok())
        else {
            return false;
        };
        find_operation(&document.parsed, asked.operation_name.as_deref())
            .is_some_and(|(_, operation)| operation.node.ty == OperationType::Mutation)
    }

    /// Answers a request; also gives the names of its top-level fields.
    pub(crate) fn answer_graphql(
        &mut self,
        request: &Request<Bytes>,
        identity: Option<Identity>,
        now: Timestamp,
        knobs: &Knobs,
    ) -> (Response<Bytes>, Vec<String>) {
        let refuse = |status, text: &str| (Refusal::new(status, text).into_response(), Vec::new());
        let Some(identity) = identity else {
            return refuse(401, "This endpoint requires you to be authenticated.");
        };
        if request.method() != http::Method::POST {
            return refuse(404, "Not Found");
        }
        let Ok(asked) = serde_json::from_slice::<QueryBody>(request.body()) else {
            return refuse(400, "Problems parsing JSON");
        };
        let Some(text) = asked.query else {
            return refuse(
                400,
                "A query attribute must be specified and must be a string.",
            );
        };
        let failed =
            |errors: Vec<Value>| (json_response(200, &json!({"errors": errors})), Vec::new());
        let document = match self.documents.parse(&text) {
            Ok(document) => document,
            Err(error) => return failed(vec![error]),
        };
        let wanted = asked.operation_name.as_deref();
        let Some((name, operation)) = find_operation(&document.parsed, wanted) else {
            let name = asked.operation_name.unwrap_or_default();
            return failed(vec![
                json!({"message": format!("No operation named \"{name}\"")}),
            ]);
        };
        let fields = top_level(operation);
        let mistakes = document.validation_errors(operation, name);
        if !mistakes.is_empty() {
            return (json_response(200, &json!({"errors": mistakes})), fields);
        }
        let variables = match coerce_variables(operation, asked.variables.unwrap_or_default()) {
            Ok(variables) => variables,
            Err(error) => return (json_response(200, &json!({"errors": [error]})), fields),
        };
        let mutation = operation.node.ty == OperationType::Mutation;
        let asked = cost::CostQuery {
            document: &document.parsed,
            variables: &variables,
        };
        let cost = asked.query_points(&operation.node);
        // One point was counted when the request arrived.
        self.limits
            .count_more(&identity.name, Resource::Graphql, cost - 1);
        let mut run = execute::Run::new(self, knobs, &identity, now, &document.parsed, variables);
        run.cost = cost;
        let mut data = run.execute_operation(operation);
        let mut errors = run.errors;
        if !mutation
            && knobs.count_use(
                "graphql-partial",
                self.chance.happens(knobs.graphql_partial),
            )
        {
            errors.push(self.drop_branch(&mut data));
        }
        let mut body = json!({"data": data});
        if !errors.is_empty() {
            body["errors"] = errors.into();
        }
        (json_response(200, &body), fields)
    }

    /// Replaces one branch of an answer by null, as a failing part of GitHub does, and gives the error about it.
    fn drop_branch(&mut self, data: &mut Value) -> Value {
        let mut path: Vec<Value> = Vec::new();
        let mut pointer = String::new();
        // The parts of a repository are at the second level; one of them is lost.
        for _ in 0..2 {
            let Some(Value::Object(object)) = data.pointer(&pointer) else {
                break;
            };
            let parts = object
                .iter()
                .filter(|(_, value)| value.is_object())
                .map(|(key, _)| key.clone());
            let keys: Vec<String> = parts.collect();
            let Some(key) = self.chance.pick(&keys) else {
                break;
            };
            path.push(key.as_str().into());
            pointer = format!("{pointer}/{key}");
        }
        if let Some(lost) = data.pointer_mut(&pointer).filter(|_| !path.is_empty()) {
            *lost = Value::Null;
        }
        let id = format!("{:X}", self.chance.random_bits());
        json!({
            "path": path,
            "message": format!("Something went wrong while executing your query. Please include `{id}` when reporting this issue."),
        })
    }
}

fn top_level(operation: &Positioned<OperationDefinition>) -> Vec<String> {
    use async_graphql_parser::types::Selection;
    operation
        .node
        .selection_set
        .node
        .items
        .iter()
        .filter_map(|selection| match &selection.node {
            Selection::Field(field) => Some(field.node.name.node.to_string()),
            _ => None,
        })
        .collect()
}

fn coerce_variables(
    operation: &Positioned<OperationDefinition>,
    given: Map<String, Value>,
) -> Result<Map<String, Value>, Value> {
    let mut out = Map::new();
    for variable in &operation.node.variable_definitions {
        let name = variable.node.name.node.to_string();
        let ty = &variable.node.var_type.node;
        let value = match given.get(&name) {
            Some(value) => Some(value.clone()),
            None => variable
                .node
                .default_value
                .as_ref()
                .and_then(|value| value.node.clone().into_json().ok()),
        };
        let wrong = |problem: &str| {
            json!({
                "message": format!("Variable ${name} of type {ty} was provided invalid value"),
                "locations": [{"line": variable.pos.line, "column": variable.pos.column}],
                "extensions": {"value": given.get(&name), "problems": [{"path": [], "explanation": problem}]},
            })
        };
        match value {
            Some(value) => {
                out.insert(
                    name.clone(),
                    coerce::coerce_value(&value, ty).map_err(|text| wrong(&text))?,
                );
            }
            None if !ty.nullable => return Err(wrong("Expected value to not be null")),
            None => {}
        }
    }
    Ok(out)
}
