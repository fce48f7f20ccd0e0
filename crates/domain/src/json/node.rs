//! A parsed JSON text: each value with its byte offset, each number as written.

use std::borrow::Cow;

/// A value and the byte offset at which it begins.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) at: usize,
    pub(crate) value: Value<'t>,
}

/// A JSON value.
#[derive(Debug)]
pub(crate) enum Value<'t> {
    Null,
    Bool(bool),
    /// The digits as they were written.
    Number(&'t str),
    Text(Cow<'t, str>),
    List(Vec<Node<'t>>),
    Object(Vec<Member<'t>>),
}

/// A key of an object, the byte offset at which it begins, and its value.
#[derive(Debug)]
pub(crate) struct Member<'t> {
    pub(crate) at: usize,
    pub(crate) key: Cow<'t, str>,
    pub(crate) node: Node<'t>,
}

impl Value<'_> {
    /// What it is, for messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl Node<'_> {
    /// The place of the value at a path of keys and indices, or of the nearest one above it.
    pub(crate) fn nearest(&self, path: &[String]) -> usize {
        let Some((first, rest)) = path.split_first() else {
            return self.at;
        };
        let child = match &self.value {
            Value::Object(members) => members
                .iter()
                .find(|member| member.key == first.as_str())
                .map(|member| &member.node),
            Value::List(items) => first.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        };
        child.map_or(self.at, |child| child.nearest(rest))
    }
}
