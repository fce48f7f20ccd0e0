//! Computes the cost of a query by GitHub's published formula.
//! <https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#predicting-the-point-value-of-a-query>

use async_graphql_parser::types::{
    ExecutableDocument, OperationDefinition, Selection, SelectionSet,
};
use async_graphql_value::Value as AstValue;
use serde_json::{Map, Value};

/// Requests that one point pays for.
const PER_POINT: u64 = 100;

/// An operation with its variables.
pub(super) struct CostQuery<'a> {
    pub(super) document: &'a ExecutableDocument,
    pub(super) variables: &'a Map<String, Value>,
}

impl CostQuery<'_> {
    /// The points of an operation: a point for each hundred requests that fill its connections when every enclosing
    /// connection is full; at least one point.
    pub(super) fn query_points(&self, operation: &OperationDefinition) -> u64 {
        let requests = self.connection_requests(&operation.selection_set.node, 1);
        ((requests + PER_POINT / 2) / PER_POINT).max(1)
    }

    /// The requests for the connections of a selection that this many objects contain.
    fn connection_requests(&self, set: &SelectionSet, objects: u64) -> u64 {
        let all = set.items.iter().map(|one| &one.node);
        all.filter(|one| !self.is_left_out(one))
            .map(|one| match one {
                Selection::Field(field) => {
                    let field = &field.node;
                    let sizes = ["first", "last"].map(|name| field.get_argument(name));
                    let size = sizes
                        .into_iter()
                        .flatten()
                        .filter_map(|size| self.number_value(&size.node))
                        .max();
                    let within = objects.saturating_mul(size.unwrap_or(1));
                    let own = if size.is_some() { objects } else { 0 };
                    own.saturating_add(self.connection_requests(&field.selection_set.node, within))
                }
                Selection::InlineFragment(fragment) => {
                    self.connection_requests(&fragment.node.selection_set.node, objects)
                }
                Selection::FragmentSpread(spread) => {
                    let fragments = &self.document.fragments;
                    let fragment = fragments.get(&spread.node.fragment_name.node);
                    fragment.map_or(0, |fragment| {
                        self.connection_requests(&fragment.node.selection_set.node, objects)
                    })
                }
            })
            .fold(0, u64::saturating_add)
    }

    fn is_left_out(&self, selection: &Selection) -> bool {
        selection.directives().iter().any(|directive| {
            let given = directive.node.get_argument("if");
            let yes =
                given.is_some_and(|value| self.written_value(&value.node) == Value::Bool(true));
            match directive.node.name.node.as_str() {
                "skip" => yes,
                "include" => !yes,
                _ => false,
            }
        })
    }

    fn number_value(&self, written: &AstValue) -> Option<u64> {
        self.written_value(written).as_u64()
    }

    fn written_value(&self, written: &AstValue) -> Value {
        match written {
            AstValue::Variable(name) => self.variables.get(name.as_str()).cloned(),
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

    fn cost_of(text: &str, variables: Value) -> u64 {
        let document = parse_query(text).unwrap();
        let Value::Object(variables) = variables else {
            panic!("variables are an object");
        };
        let (_, operation) = document.operations.iter().next().unwrap();
        let asked = CostQuery {
            document: &document,
            variables: &variables,
        };
        asked.query_points(&operation.node)
    }

    /// GitHub's own example: 1 + 100 + 5,000 requests.
    #[test]
    fn the_documented_example_costs_what_is_documented() {
        let text = "query { viewer { repositories(first: 100) { edges { node { issues(first: 50) { edges { node { \
                    labels(first: 60) { edges { node { id } } } } } } } } } } }";
        assert_eq!(cost_of(text, json!({})), 51);
        assert_eq!(cost_of("query { viewer { login } }", json!({})), 1);
    }

    #[test]
    fn fragments_and_variables_count_and_what_is_left_out_does_not() {
        let text = "query($n: Int!, $more: Boolean!) { repository { \
                    issues(first: $n) { nodes { ...Talk } } } } \
                    fragment Talk on Issue { comments(last: 10) { nodes { id } } \
                    ... on Issue { labels(first: 5) @include(if: $more) { nodes { id } } } }";
        assert_eq!(cost_of(text, json!({"n": 100, "more": true})), 2);
        assert_eq!(cost_of(text, json!({"n": 100, "more": false})), 1);
        assert_eq!(cost_of(text, json!({"n": 74, "more": true})), 1);
        assert_eq!(cost_of(text, json!({"n": 75, "more": true})), 2);
    }
}
