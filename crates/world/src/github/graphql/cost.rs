//! Computes the cost of a query by GitHub's published formula.
//! <https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#predicting-the-point-value-of-a-query>

use async_graphql_parser::types::{
    ExecutableDocument, OperationDefinition, Selection, SelectionSet,
};
use async_graphql_value::Value as Written;
use serde_json::{Map, Value};

/// Requests that one point pays for.
const PER_POINT: u64 = 100;

/// An operation with its variables.
pub(super) struct Asked<'a> {
    pub(super) document: &'a ExecutableDocument,
    pub(super) variables: &'a Map<String, Value>,
}

impl Asked<'_> {
    /// The points of an operation: a point for each hundred requests that fill its connections when every enclosing
    /// connection is full; at least one point.
    pub(super) fn points(&self, operation: &OperationDefinition) -> u64 {
        let requests = self.requests(&operation.selection_set.node, 1);
        ((requests + PER_POINT / 2) / PER_POINT).max(1)
    }

    /// The requests for the connections of a selection that this many objects contain.
    fn requests(&self, set: &SelectionSet, objects: u64) -> u64 {
        let all = set.items.iter().map(|one| &one.node);
        all.filter(|one| !self.is_left_out(one))
            .map(|one| match one {
                Selection::Field(field) => {
                    let field = &field.node;
                    let sizes = ["first", "last"].map(|name| field.get_argument(name));
                    let size = sizes
                        .into_iter()
                        .flatten()
                        .filter_map(|size| self.number(&size.node))
                        .max();
                    let within = objects.saturating_mul(size.unwrap_or(1));
                    let own = if size.is_some() { objects } else { 0 };
                    own.saturating_add(self.requests(&field.selection_set.node, within))
                }
                Selection::InlineFragment(fragment) => {
                    self.requests(&fragment.node.selection_set.node, objects)
                }
                Selection::FragmentSpread(spread) => {
                    let fragments = &self.document.fragments;
                    let fragment = fragments.get(&spread.node.fragment_name.node);
                    fragment.map_or(0, |fragment| {
                        self.requests(&fragment.node.selection_set.node, objects)
                    })
                }
            })
            .fold(0, u64::saturating_add)
    }

    fn is_left_out(&self, selection: &Selection) -> bool {
        selection.directives().iter().any(|directive| {
            let given = directive.node.get_argument("if");
            let yes = given.is_some_and(|value| self.value(&value.node) == Value::Bool(true));
            match directive.node.name.node.as_str() {
                "skip" => yes,
                "include" => !yes,
                _ => false,
            }
        })
    }

    fn number(&self, written: &Written) -> Option<u64> {
        self.value(written).as_u64()
    }

    fn value(&self, written: &Written) -> Value {
        match written {
            Written::Variable(name) => self.variables.get(name.as_str()).cloned(),
            other => other.clone().into_json().ok(),
        }
        .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use async_graphql_parser::parse_query;
    use serde_json::json;

    use super::*;

    fn points(text: &str, variables: Value) -> u64 {
        let document = parse_query(text).unwrap();
        let Value::Object(variables) = variables else {
            panic!("variables are an object");
        };
        let (_, operation) = document.operations.iter().next().unwrap();
        let asked = Asked {
            document: &document,
            variables: &variables,
        };
        asked.points(&operation.node)
    }

    /// GitHub's own example: 1 + 100 + 5,000 requests.
    #[test]
    fn the_documented_example_costs_what_is_documented() {
        let text = "query { viewer { repositories(first: 100) { edges { node { issues(first: 50) { edges { node { \
                    labels(first: 60) { edges { node { id } } } } } } } } } } }";
        assert_eq!(points(text, json!({})), 51);
        assert_eq!(points("query { viewer { login } }", json!({})), 1);
    }

    #[test]
    fn fragments_and_variables_count_and_what_is_left_out_does_not() {
        let text = "query($n: Int!, $more: Boolean!) { repository { \
                    issues(first: $n) { nodes { ...Talk } } } } \
                    fragment Talk on Issue { comments(last: 10) { nodes { id } } \
                    ... on Issue { labels(first: 5) @include(if: $more) { nodes { id } } } }";
        assert_eq!(points(text, json!({"n": 100, "more": true})), 2);
        assert_eq!(points(text, json!({"n": 100, "more": false})), 1);
        assert_eq!(points(text, json!({"n": 74, "more": true})), 1);
        assert_eq!(points(text, json!({"n": 75, "more": true})), 2);
    }
}
