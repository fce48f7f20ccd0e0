//! The served part of GitHub's schema, and lookups of its types.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use async_graphql_parser::parse_schema;
use async_graphql_parser::types::{
    BaseType, InputValueDefinition, Type, TypeKind, TypeSystemDefinition,
};
use async_graphql_value::ConstValue;

/// The schema's text. Its names, arguments and types are those of GitHub's published schema.
const TEXT: &str = include_str!("schema.graphql");

/// An argument or a field of an input object.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) ty: Type,
    pub(super) default: Option<ConstValue>,
}

/// A field of an object or interface.
#[derive(Debug)]
pub(super) struct FieldType {
    pub(super) arguments: BTreeMap<String, Input>,
    pub(super) ty: Type,
}

/// What a type is.
#[derive(Debug)]
pub(super) enum Kind {
    Scalar,
    Object {
        fields: HashMap<String, FieldType>,
        implements: BTreeSet<String>,
    },
    Interface {
        fields: HashMap<String, FieldType>,
    },
    Union {
        members: BTreeSet<String>,
    },
    Enum {
        values: BTreeSet<String>,
    },
    Input {
        fields: BTreeMap<String, Input>,
    },
}

/// All types by their names.
#[derive(Debug)]
pub(super) struct Schema {
    types: HashMap<String, Kind>,
}

/// The schema, read once a process.
pub(super) fn shared_schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(Schema::parse_schema)
}

fn input_fields<'a>(
    list: impl IntoIterator<Item = &'a async_graphql_parser::Positioned<InputValueDefinition>>,
) -> BTreeMap<String, Input> {
    list.into_iter()
        .map(|input| {
            let default = input
                .node
                .default_value
                .as_ref()
                .map(|value| value.node.clone());
            (
                input.node.name.node.to_string(),
                Input {
                    ty: input.node.ty.node.clone(),
                    default,
                },
            )
        })
        .collect()
}

impl Schema {
    fn parse_schema() -> Self {
        let document = parse_schema(TEXT).expect("the schema that is compiled in can be parsed");
        let mut types: HashMap<String, Kind> = ["String", "Int", "Float", "Boolean", "ID"]
            .map(|name| (name.to_owned(), Kind::Scalar))
            .into();
        for definition in document.definitions {
            let TypeSystemDefinition::Type(definition) = definition else {
                continue;
            };
            let definition = definition.node;
            let fields = |list: Vec<
                async_graphql_parser::Positioned<async_graphql_parser::types::FieldDefinition>,
            >| {
                list.into_iter()
                    .map(|field| {
                        let arguments = input_fields(&field.node.arguments);
                        (
                            field.node.name.node.to_string(),
                            FieldType {
                                arguments,
                                ty: field.node.ty.node,
                            },
                        )
                    })
                    .collect()
            };
            let names = |list: Vec<async_graphql_parser::Positioned<async_graphql_value::Name>>| {
                list.into_iter().map(|name| name.node.to_string()).collect()
            };
            let kind = match definition.kind {
                TypeKind::Scalar => Kind::Scalar,
                TypeKind::Object(object) => Kind::Object {
                    fields: fields(object.fields),
                    implements: names(object.implements),
                },
                TypeKind::Interface(interface) => Kind::Interface {
                    fields: fields(interface.fields),
                },
                TypeKind::Union(union) => Kind::Union {
                    members: names(union.members),
                },
                TypeKind::Enum(list) => Kind::Enum {
                    values: list
                        .values
                        .into_iter()
                        .map(|value| value.node.value.node.to_string())
                        .collect(),
                },
                TypeKind::InputObject(object) => Kind::Input {
                    fields: input_fields(&object.fields),
                },
            };
            types.insert(definition.name.node.to_string(), kind);
        }
        Self { types }
    }

    pub(super) fn type_kind(&self, name: &str) -> Option<&Kind> {
        self.types.get(name)
    }

    /// A field of an object or interface.
    pub(super) fn find_field(&self, of: &str, name: &str) -> Option<&FieldType> {
        match self.type_kind(of)? {
            Kind::Object { fields, .. } | Kind::Interface { fields } => fields.get(name),
            _ => None,
        }
    }

    /// Whether values of this type have fields to select.
    pub(super) fn is_composite(&self, name: &str) -> bool {
        matches!(
            self.type_kind(name),
            Some(Kind::Object { .. } | Kind::Interface { .. } | Kind::Union { .. })
        )
    }

    /// Whether an object of this concrete type meets a type condition.
    pub(super) fn is_a(&self, concrete: &str, condition: &str) -> bool {
        concrete == condition
            || matches!(self.type_kind(concrete), Some(Kind::Object { implements, .. }) if implements.contains(condition))
            || matches!(self.type_kind(condition), Some(Kind::Union { members }) if members.contains(concrete))
    }
}

/// The name at the core of a type.
pub(super) fn core_type_name(ty: &Type) -> &str {
    match &ty.base {
        BaseType::Named(name) => name.as_str(),
        BaseType::List(inner) => core_type_name(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_named_exists() {
        let schema = shared_schema();
        for (name, kind) in &schema.types {
            let (Kind::Object { fields, .. } | Kind::Interface { fields }) = kind else {
                continue;
            };
            for (field, ty) in fields {
                assert!(
                    schema.type_kind(core_type_name(&ty.ty)).is_some(),
                    "{name}.{field}"
                );
                for (argument, input) in &ty.arguments {
                    assert!(
                        schema.type_kind(core_type_name(&input.ty)).is_some(),
                        "{name}.{field}({argument})"
                    );
                }
            }
        }
        assert!(schema.is_a("Bot", "Actor") && schema.is_a("LabeledEvent", "IssueTimelineItems"));
        assert!(!schema.is_a("Label", "Actor"));
    }
}
