//! Checks a document against the schema before anything is resolved, with errors in GitHub's form.

use std::collections::BTreeSet;

use async_graphql_parser::types::{
    ExecutableDocument, OperationDefinition, OperationType, Selection, SelectionSet,
};
use async_graphql_parser::{Pos, Positioned};
use async_graphql_value::Value as AstValue;
use serde_json::{Value, json};

use super::schema::{core_type_name, shared_schema};

/// Depth of a selection beyond which a document is refused.
const MAX_DEPTH: usize = 30;

/// The root type of an operation.
pub(super) fn root_type(operation: &OperationDefinition) -> &'static str {
    if operation.ty == OperationType::Mutation {
        "Mutation"
    } else {
        "Query"
    }
}

/// All validation errors of one operation.
pub(super) fn validate_operation(
    document: &ExecutableDocument,
    operation: &Positioned<OperationDefinition>,
    name: Option<&str>,
) -> Vec<Value> {
    let label = match (operation.node.ty, name) {
        (OperationType::Mutation, None) => "anonymous mutation".to_owned(),
        (_, None) => "anonymous query".to_owned(),
        (_, Some(name)) => name.to_owned(),
    };
    let kind = if operation.node.ty == OperationType::Mutation {
        "mutation"
    } else {
        "query"
    };
    let begin = name.map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"));
    let mut check = Check {
        document,
        errors: Vec::new(),
        used: BTreeSet::new(),
    };
    check.check_selections(
        &operation.node.selection_set.node,
        root_type(&operation.node),
        &mut vec![begin.clone()],
    );
    let declared: BTreeSet<String> = operation
        .node
        .variable_definitions
        .iter()
        .map(|variable| variable.node.name.node.to_string())
        .collect();
    for (variable, pos) in std::mem::take(&mut check.used) {
        if !declared.contains(&variable) {
            let message = format!("Variable ${variable} is used by {label} but not declared");
            check.add_error(
                Pos {
                    line: pos.0,
                    column: pos.1,
                },
                std::slice::from_ref(&begin),
                "variableNotDefined",
                &message,
                json!({"variableName": variable}),
            );
        } else {
            check.used.insert((variable, (0, 0)));
        }
    }
    for variable in &operation.node.variable_definitions {
        let name = variable.node.name.node.to_string();
        if !check.used.iter().any(|(used, _)| *used == name) {
            let message = format!("Variable ${name} is declared by {label} but not used");
            check.add_error(
                variable.pos,
                std::slice::from_ref(&begin),
                "variableNotUsed",
                &message,
                json!({"variableName": name}),
            );
        }
        let ty = core_type_name(&variable.node.var_type.node);
        if shared_schema().type_kind(ty).is_none() {
            let message = format!("{ty} isn't a defined input type (on ${name})");
            check.add_error(
                variable.pos,
                std::slice::from_ref(&begin),
                "variableRequiresValidType",
                &message,
                json!({"typeName": ty, "variableName": name}),
            );
        }
    }
    check.errors
}

struct Check<'d> {
    document: &'d ExecutableDocument,
    errors: Vec<Value>,
    used: BTreeSet<(String, (usize, usize))>,
}

impl Check<'_> {
    fn add_error(&mut self, pos: Pos, path: &[String], code: &str, message: &str, more: Value) {
        let mut extensions = json!({"code": code});
        if let (Value::Object(extensions), Value::Object(more)) = (&mut extensions, more) {
            extensions.extend(more);
        }
        self.errors.push(json!({
            "path": path, "extensions": extensions, "locations": [{"line": pos.line, "column": pos.column}],
            "message": message,
        }));
    }

    fn check_selections(&mut self, set: &SelectionSet, of: &str, path: &mut Vec<String>) {
        if path.len() > MAX_DEPTH {
            self.add_error(
                Pos::default(),
                &path.clone(),
                "maxDepth",
                "Query has too great a depth",
                json!({}),
            );
            return;
        }
        for selection in &set.items {
            match &selection.node {
                Selection::Field(field) => {
                    let name = field.node.name.node.as_str();
                    path.push(field.node.response_key().node.to_string());
                    self.check_field(&field.node, field.pos, name, of, path);
                    path.pop();
                }
                Selection::InlineFragment(fragment) => {
                    let condition = fragment
                        .node
                        .type_condition
                        .as_ref()
                        .map(|on| on.node.on.node.to_string());
                    let on = condition.as_deref().unwrap_or(of);
                    if shared_schema().type_kind(on).is_none() {
                        let message =
                            format!("No such type {on}, so it can't be a fragment condition");
                        self.add_error(
                            fragment.pos,
                            &path.clone(),
                            "undefinedType",
                            &message,
                            json!({"typeName": on}),
                        );
                        continue;
                    }
                    self.check_selections(&fragment.node.selection_set.node, on, path);
                }
                Selection::FragmentSpread(spread) => {
                    let name = &spread.node.fragment_name.node;
                    match self.document.fragments.get(name) {
                        Some(fragment) => {
                            let on = fragment.node.type_condition.node.on.node.to_string();
                            self.check_selections(&fragment.node.selection_set.node, &on, path);
                        }
                        None => {
                            let message = format!("Fragment {name} was used, but not defined");
                            self.add_error(
                                spread.pos,
                                &path.clone(),
                                "useAndDefineFragment",
                                &message,
                                json!({"fragmentName": name.as_str()}),
                            );
                        }
                    }
                }
            }
        }
    }

    fn check_field(
        &mut self,
        field: &async_graphql_parser::types::Field,
        pos: Pos,
        name: &str,
        of: &str,
        path: &mut Vec<String>,
    ) {
        for (_, value) in &field.arguments {
            self.check_variables(&value.node, value.pos);
        }
        for directive in &field.directives {
            for (_, value) in &directive.node.arguments {
                self.check_variables(&value.node, value.pos);
            }
        }
        if name == "__typename" {
            return;
        }
        let Some(definition) = shared_schema().find_field(of, name) else {
            let message = format!("Field '{name}' doesn't exist on type '{of}'");
            self.add_error(
                pos,
                &path.clone(),
                "undefinedField",
                &message,
                json!({"typeName": of, "fieldName": name}),
            );
            return;
        };
        for (argument, _) in &field.arguments {
            let argument_name = argument.node.as_str();
            if !definition.arguments.contains_key(argument_name) {
                let message = format!("Field '{name}' doesn't accept argument '{argument_name}'");
                self.add_error(
                    argument.pos,
                    &path.clone(),
                    "argumentNotAccepted",
                    &message,
                    json!({"name": name, "typeName": "Field", "argumentName": argument_name}),
                );
            }
        }
        let missing: Vec<&str> = definition
            .arguments
            .iter()
            .filter(|(argument, input)| {
                !input.ty.nullable
                    && input.default.is_none()
                    && field.get_argument(argument).is_none()
            })
            .map(|(argument, _)| argument.as_str())
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "Field '{name}' is missing required arguments: {}",
                missing.join(", ")
            );
            self.add_error(
                pos,
                &path.clone(),
                "missingRequiredArguments",
                &message,
                json!({"className": "Field", "name": name, "arguments": missing.join(", ")}),
            );
        }
        let result = core_type_name(&definition.ty);
        let selects = !field.selection_set.node.items.is_empty();
        match (shared_schema().is_composite(result), selects) {
            (true, false) => {
                let message = format!(
                    "Field must have selections (field '{name}' returns {result} but has no selections. Did you mean '{name} {{ ... }}'?)"
                );
                self.add_error(
                    pos,
                    &path.clone(),
                    "selectionMismatch",
                    &message,
                    json!({"nodeName": format!("field '{name}'"), "typeName": result}),
                );
            }
            (false, true) => {
                let message = format!(
                    "Selections can't be made on scalars (field '{name}' returns {result} but has selections)"
                );
                self.add_error(
                    pos,
                    &path.clone(),
                    "selectionMismatch",
                    &message,
                    json!({"nodeName": format!("field '{name}'"), "typeName": result}),
                );
            }
            _ => self.check_selections(&field.selection_set.node, result, path),
        }
    }

    fn check_variables(&mut self, value: &AstValue, pos: Pos) {
        match value {
            AstValue::Variable(name) => {
                self.used.insert((name.to_string(), (pos.line, pos.column)));
            }
            AstValue::List(items) => items
                .iter()
                .for_each(|item| self.check_variables(item, pos)),
            AstValue::Object(fields) => fields
                .values()
                .for_each(|value| self.check_variables(value, pos)),
            _ => {}
        }
    }
}
