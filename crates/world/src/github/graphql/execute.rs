//! Executes an operation: fields, fragments, aliases, directives, null propagation.

use std::collections::BTreeMap;

use async_graphql_parser::types::{
    BaseType, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet, Type,
};
use async_graphql_parser::{Pos, Positioned};
use async_graphql_value::Value as Written;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::coerce::{coerce, default};
use super::schema::schema;
use super::thing::{Thing, Val};
use super::validate::root;
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

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).as_str()
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name).as_u64()
    }

    pub(super) fn words(&self, name: &str) -> Option<Vec<&str>> {
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
    /// Whether each pull request of this request can be merged. A request determines it once, however many fields show it.
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
    pub(super) fn repository(&self, repo: RepoId) -> Result<&Repository, Fault> {
        let found = if self.fresh {
            self.model.repository(repo)
        } else {
            self.model.seen(repo, self.knobs, self.now)
        };
        found.ok_or_else(|| Fault::new("NOT_FOUND", "Could not resolve to a Repository"))
    }

    /// Executes an operation and gives `data`.
    pub(super) fn operation(&mut self, operation: &'a Positioned<OperationDefinition>) -> Value {
        let root = root(&operation.node);
        self.fresh = root == "Mutation";
        let thing = if self.fresh {
            Thing::Mutation
        } else {
            Thing::Query
        };
        match self.select(
            &thing,
            root,
            &[&operation.node.selection_set.node],
            &mut Path::new(),
        ) {
            Ok(data) => Value::Object(data),
            Err(Bubble) => Value::Null,
        }
    }

    fn select(
        &mut self,
        thing: &Thing,
        type_name: &str,
        sets: &[&'a SelectionSet],
        path: &mut Path<'a>,
    ) -> Result<Map<String, Value>, Bubble> {
        self.nodes += 1;
        let mut wanted: Vec<(&'a str, Vec<(&'a Field, Pos)>)> = Vec::new();
        for set in sets {
            self.collect(set, type_name, &mut wanted);
        }
        let mut out = Map::with_capacity(wanted.len());
        for (key, fields) in wanted {
            let (field, pos) = fields[0];
            path.push(Step::Key(key));
            let value = self.field(thing, type_name, field, pos, &fields, path);
            path.pop();
            out.insert(key.to_owned(), value?);
        }
        Ok(out)
    }

    fn collect(
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
                    if on.is_none_or(|on| schema().is_a(type_name, on.node.on.node.as_str())) {
                        self.collect(&fragment.node.selection_set.node, type_name, wanted);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let document = self.document;
                    if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node)
                        && schema().is_a(
                            type_name,
                            fragment.node.type_condition.node.on.node.as_str(),
                        )
                    {
                        self.collect(&fragment.node.selection_set.node, type_name, wanted);
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
                .map(|value| self.value(&value.node));
            let yes = given.and_then(|value| value.as_bool()).unwrap_or(false);
            match directive.node.name.node.as_str() {
                "skip" => yes,
                "include" => !yes,
                _ => false,
            }
        })
    }

    fn value(&self, written: &Written) -> Value {
        match written {
            Written::Variable(name) => self
                .variables
                .get(name.as_str())
                .cloned()
                .unwrap_or(Value::Null),
            Written::List(items) => items.iter().map(|item| self.value(item)).collect(),
            Written::Object(fields) => Value::Object(
                fields
                    .iter()
                    .filter(|(_, value)| !self.absent(value))
                    .map(|(name, value)| (name.to_string(), self.value(value)))
                    .collect(),
            ),
            Written::Enum(name) => Value::String(name.to_string()),
            other => other.clone().into_json().unwrap_or(Value::Null),
        }
    }

    /// Whether a value is a variable that was not given.
    fn absent(&self, written: &Written) -> bool {
        matches!(written, Written::Variable(name) if !self.variables.contains_key(name.as_str()))
    }

    fn arguments(&self, field: &Field, type_name: &str) -> Result<Args, Fault> {
        let mut args = Args::default();
        let Some(definition) = schema().field(type_name, field.name.node.as_str()) else {
            return Ok(args);
        };
        for (name, input) in &definition.arguments {
            let given = field
                .get_argument(name)
                .filter(|value| !self.absent(&value.node));
            let value = match given {
                Some(value) => Some(coerce(&self.value(&value.node), &input.ty).map_err(
                    |text| Fault {
                        kind: None,
                        message: format!(
                            "Argument '{name}' on Field '{}' has an invalid value. {text}",
                            field.name.node
                        ),
                    },
                )?),
                None => default(input),
            };
            if let Some(value) = value {
                args.0.insert(name.clone(), value);
            }
        }
        Ok(args)
    }

    fn field(
        &mut self,
        thing: &Thing,
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
        let Some(definition) = schema().field(type_name, name) else {
            return Ok(Value::Null);
        };
        let resolved = if self.nodes > MAX_NODES {
            Err(Fault::new(
                "MAX_NODE_LIMIT_EXCEEDED",
                "This query requests too many nodes",
            ))
        } else {
            self.arguments(field, type_name)
                .and_then(|args| self.resolve(thing, type_name, name, &args))
        };
        let value = match resolved {
            Ok(value) => value,
            Err(fault) => {
                self.fail(&fault, pos, path);
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
        match self.complete(value, &definition.ty, &sets, path) {
            Ok(value) => Ok(value),
            Err(Bubble) => {
                if self.errors.len() == before {
                    let message =
                        format!("Cannot return null for non-nullable field {type_name}.{name}");
                    self.fail(
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

    fn complete(
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
                    let item = self.complete(item, inner, sets, path);
                    path.pop();
                    out.push(item?);
                }
                Value::Array(out)
            }
            (Val::Thing(thing), _) => {
                let type_name = thing.type_name(self.model);
                match self.select(&thing, type_name, sets, path) {
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

    fn fail(&mut self, fault: &Fault, pos: Pos, path: &Path<'_>) {
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
