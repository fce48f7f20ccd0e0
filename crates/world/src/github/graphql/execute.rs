//! Executes an operation: fields, fragments, aliases, directives, null propagation.

use std::collections::BTreeMap;

use async_graphql_parser::types::{
    BaseType, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet, Type,
};
use async_graphql_parser::{Pos, Positioned};
use async_graphql_value::Value as AstValue;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::coerce::{coerce_value, default};
use super::graph_object::{GraphObject, Val};
use super::schema::shared_schema;
use super::validate::root_type;
use crate::github::{Identity, Model, RepoId, Repository};
use crate::knobs::Knobs;

/// Objects that one answer may hold (GitHub's documentation: 500,000 nodes).
const MAX_NODES: usize = 500_000;

/// An error at one field.
#[derive(Debug)]
pub(super) struct Fault {
    /// GitHub's `type`, for example `NOT_FOUND`.
    pub(super) kind: Option<&'static str>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: Some(kind),
            message: message.into(),
        }
    }
}

/// The coerced arguments of a field.
#[derive(Debug, Default)]
pub(super) struct Args(BTreeMap<String, Value>);

impl Args {
    pub(super) fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    pub(super) fn text_arg(&self, name: &str) -> Option<&str> {
        self.get(name).as_str()
    }

    pub(super) fn number_arg(&self, name: &str) -> Option<u64> {
        self.get(name).as_u64()
    }

    pub(super) fn words_arg(&self, name: &str) -> Option<Vec<&str>> {
        Some(
            self.get(name)
                .as_array()?
                .iter()
                .filter_map(Value::as_str)
                .collect(),
        )
    }
}

/// One execution.
pub(super) struct Run<'a> {
    pub(super) model: &'a mut Model,
    pub(super) knobs: &'a Knobs,
    pub(super) identity: &'a Identity,
    pub(super) now: Timestamp,
    /// Mutations show what they did at once; queries may lag.
    pub(super) fresh: bool,
    pub(super) errors: Vec<Value>,
    /// What it costs, in points.
    pub(super) cost: u64,
    /// Whether each pull request of this request can be merged. A request determines it once,
    /// however many fields show it.
    pub(super) mergeable: BTreeMap<(RepoId, u64), Option<bool>>,
    document: &'a ExecutableDocument,
    variables: Map<String, Value>,
    nodes: usize,
}

/// A null that its field does not allow: the parent becomes null.
struct Bubble;

/// One step of the path to a field. It becomes text only when an error reports it.
#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

type Path<'a> = Vec<Step<'a>>;

impl<'a> Run<'a> {
    pub(super) fn new(
        model: &'a mut Model,
        knobs: &'a Knobs,
        identity: &'a Identity,
        now: Timestamp,
        document: &'a ExecutableDocument,
        variables: Map<String, Value>,
    ) -> Self {
        Self {
            model,
            knobs,
            identity,
            now,
            fresh: false,
            errors: Vec::new(),
            cost: 1,
            mergeable: BTreeMap::new(),
            document,
            variables,
            nodes: 0,
        }
    }

    /// The repository as this run sees it.
    pub(super) fn visible_repository(&self, repo: RepoId) -> Result<&Repository, Fault> {
        let found = if self.fresh {
            self.model.repository(repo)
        } else {
            self.model.visible_repository(repo, self.knobs, self.now)
        };
        found.ok_or_else(|| Fault::new("NOT_FOUND", "Could not resolve to a Repository"))
    }

    /// Executes an operation and gives `data`.
    pub(super) fn execute_operation(
        &mut self,
        operation: &'a Positioned<OperationDefinition>,
    ) -> Value {
        let root = root_type(&operation.node);
        self.fresh = root == "Mutation";
        let thing = if self.fresh {
            GraphObject::Mutation
        } else {
            GraphObject::Query
        };
        match self.execute_selection(
            &thing,
            root,
            &[&operation.node.selection_set.node],
            &mut Path::new(),
        ) {
            Ok(data) => Value::Object(data),
            Err(Bubble) => Value::Null,
        }
    }

    fn execute_selection(
        &mut self,
        thing: &GraphObject,
        type_name: &str,
        sets: &[&'a SelectionSet],
        path: &mut Path<'a>,
    ) -> Result<Map<String, Value>, Bubble> {
        self.nodes += 1;
        let mut wanted: Vec<(&'a str, Vec<(&'a Field, Pos)>)> = Vec::new();
        for set in sets {
            self.collect_fields(set, type_name, &mut wanted);
        }
        let mut out = Map::with_capacity(wanted.len());
        for (key, fields) in wanted {
            let (field, pos) = fields[0];
            path.push(Step::Key(key));
            let value = self.execute_field(thing, type_name, field, pos, &fields, path);
            path.pop();
            out.insert(key.to_owned(), value?);
        }
        Ok(out)
    }

    fn collect_fields(
        &self,
        set: &'a SelectionSet,
        type_name: &str,
        wanted: &mut Vec<(&'a str, Vec<(&'a Field, Pos)>)>,
    ) {
        for selection in &set.items {
            if self.left_out(&selection.node) {
                continue;
            }
            match &selection.node {
                Selection::Field(field) => {
                    let key = field.node.response_key().node.as_str();
                    match wanted.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, fields)) => fields.push((&field.node, field.pos)),
                        None => wanted.push((key, vec![(&field.node, field.pos)])),
                    }
                }
                Selection::InlineFragment(fragment) => {
                    let on = fragment.node.type_condition.as_ref();
                    if on.is_none_or(|on| shared_schema().is_a(type_name, on.node.on.node.as_str()))
                    {
                        self.collect_fields(&fragment.node.selection_set.node, type_name, wanted);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let document = self.document;
                    if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node)
                        && shared_schema().is_a(
                            type_name,
                            fragment.node.type_condition.node.on.node.as_str(),
                        )
                    {
                        self.collect_fields(&fragment.node.selection_set.node, type_name, wanted);
                    }
                }
            }
        }
    }

    /// Whether `@skip` or `@include` leaves a selection out.
    fn left_out(&self, selection: &Selection) -> bool {
        selection.directives().iter().any(|directive| {
            let given = directive
                .node
                .get_argument("if")
                .map(|value| self.written_value(&value.node));
            let yes = given.and_then(|value| value.as_bool()).unwrap_or(false);
            match directive.node.name.node.as_str() {
                "skip" => yes,
                "include" => !yes,
                _ => false,
            }
        })
    }

    fn written_value(&self, written: &AstValue) -> Value {
        match written {
            AstValue::Variable(name) => self
                .variables
                .get(name.as_str())
                .cloned()
                .unwrap_or(Value::Null),
            AstValue::List(items) => items.iter().map(|item| self.written_value(item)).collect(),
            AstValue::Object(fields) => Value::Object(
                fields
                    .iter()
                    .filter(|(_, value)| !self.is_absent_variable(value))
                    .map(|(name, value)| (name.to_string(), self.written_value(value)))
                    .collect(),
            ),
            AstValue::Enum(name) => Value::String(name.to_string()),
            other => other.clone().into_json().unwrap_or(Value::Null),
        }
    }

    /// Whether a value is a variable that was not given.
    fn is_absent_variable(&self, written: &AstValue) -> bool {
        matches!(written, AstValue::Variable(name) if !self.variables.contains_key(name.as_str()))
    }

    fn coerce_arguments(&self, field: &Field, type_name: &str) -> Result<Args, Fault> {
        let mut args = Args::default();
        let Some(definition) = shared_schema().find_field(type_name, field.name.node.as_str())
        else {
            return Ok(args);
        };
        for (name, input) in &definition.arguments {
            let given = field
                .get_argument(name)
                .filter(|value| !self.is_absent_variable(&value.node));
            let value = match given {
                Some(value) => Some(
                    coerce_value(&self.written_value(&value.node), &input.ty).map_err(|text| {
                        Fault {
                            kind: None,
                            message: format!(
                                "Argument '{name}' on Field '{}' has an invalid value. {text}",
                                field.name.node
                            ),
                        }
                    })?,
                ),
                None => default(input),
            };
            if let Some(value) = value {
                args.0.insert(name.clone(), value);
            }
        }
        Ok(args)
    }

    fn execute_field(
        &mut self,
        thing: &GraphObject,
        type_name: &str,
        field: &'a Field,
        pos: Pos,
        all: &[(&'a Field, Pos)],
        path: &mut Path<'a>,
    ) -> Result<Value, Bubble> {
        let name = field.name.node.as_str();
        if name == "__typename" {
            return Ok(type_name.into());
        }
        let Some(definition) = shared_schema().find_field(type_name, name) else {
            return Ok(Value::Null);
        };
        let resolved = if self.nodes > MAX_NODES {
            Err(Fault::new(
                "MAX_NODE_LIMIT_EXCEEDED",
                "This query requests too many nodes",
            ))
        } else {
            self.coerce_arguments(field, type_name)
                .and_then(|args| self.resolve_field(thing, type_name, name, &args))
        };
        let value = match resolved {
            Ok(value) => value,
            Err(fault) => {
                self.record_error(&fault, pos, path);
                return if definition.ty.nullable {
                    Ok(Value::Null)
                } else {
                    Err(Bubble)
                };
            }
        };
        let sets: Vec<&'a SelectionSet> = all
            .iter()
            .map(|(field, _)| &field.selection_set.node)
            .collect();
        let before = self.errors.len();
        match self.complete_value(value, &definition.ty, &sets, path) {
            Ok(value) => Ok(value),
            Err(Bubble) => {
                if self.errors.len() == before {
                    let message =
                        format!("Cannot return null for non-nullable field {type_name}.{name}");
                    self.record_error(
                        &Fault {
                            kind: None,
                            message,
                        },
                        pos,
                        path,
                    );
                }
                if definition.ty.nullable {
                    Ok(Value::Null)
                } else {
                    Err(Bubble)
                }
            }
        }
    }

    fn complete_value(
        &mut self,
        value: Val,
        ty: &Type,
        sets: &[&'a SelectionSet],
        path: &mut Path<'a>,
    ) -> Result<Value, Bubble> {
        let completed = match (value, &ty.base) {
            (Val::Json(Value::Null), _) => Value::Null,
            (Val::List(items), BaseType::List(inner)) => {
                let mut out = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    path.push(Step::Index(index));
                    let item = self.complete_value(item, inner, sets, path);
                    path.pop();
                    out.push(item?);
                }
                Value::Array(out)
            }
            (Val::Object(thing), _) => {
                let type_name = thing.type_name(self.model);
                match self.execute_selection(&thing, type_name, sets, path) {
                    Ok(object) => Value::Object(object),
                    Err(Bubble) => Value::Null,
                }
            }
            (Val::Json(value), _) => value,
            (Val::List(_), _) => Value::Null,
        };
        if completed.is_null() && !ty.nullable {
            Err(Bubble)
        } else {
            Ok(completed)
        }
    }

    fn record_error(&mut self, fault: &Fault, pos: Pos, path: &Path<'_>) {
        let mut error = json!({});
        if let Some(kind) = fault.kind {
            error["type"] = kind.into();
        }
        error["path"] = path
            .iter()
            .map(|step| match step {
                Step::Key(key) => Value::from(*key),
                Step::Index(index) => Value::from(*index),
            })
            .collect();
        error["locations"] = json!([{"line": pos.line, "column": pos.column}]);
        error["message"] = fault.message.as_str().into();
        self.errors.push(error);
    }
}
