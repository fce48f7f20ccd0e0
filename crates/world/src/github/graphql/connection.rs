//! Pages the items of a connection by cursor.

use data_encoding::BASE64;

use super::execute::{Args, Fault};
use super::graph_object::{GraphObject, Val};

/// Items that one page of a connection holds at most (GitHub's documentation).
const MAX_PAGE: u64 = 100;

/// The type names of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub(super) connection: &'static str,
    pub(super) edge: &'static str,
}

/// The names of a connection type.
macro_rules! names {
    ($name:literal) => {
        $crate::github::graphql::connection::Names {
            connection: concat!($name, "Connection"),
            edge: concat!($name, "Edge"),
        }
    };
}
pub(super) use names;

/// A page of a list, by `first`/`after` or `last`/`before`.
pub(super) fn page_connection(
    field: &str,
    names: Names,
    items: Vec<Val>,
    args: &Args,
) -> Result<Val, Fault> {
    let (first, last) = (args.number_arg("first"), args.number_arg("last"));
    let asked = [("first", first), ("last", last)];
    if first.is_none() && last.is_none() {
        return Err(Fault::new(
            "MISSING_PAGINATION_BOUNDARIES",
            format!(
                "You must provide a `first` or `last` value to properly paginate the `{field}` connection."
            ),
        ));
    }
    for (name, value) in asked {
        if let Some(value) = value.filter(|value| *value > MAX_PAGE) {
            return Err(Fault::new(
                "EXCESSIVE_PAGINATION",
                format!(
                    "Requesting {value} records on the `{field}` connection exceeds the `{name}` limit of {MAX_PAGE} records."
                ),
            ));
        }
    }
    let total = items.len();
    let mut from = 0;
    let mut until = total;
    if let Some(cursor) = args.text_arg("after") {
        from = cursor_position(cursor, field)?.min(total);
    }
    if let Some(cursor) = args.text_arg("before") {
        until = cursor_position(cursor, field)?
            .saturating_sub(1)
            .clamp(from, total);
    }
    let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    if let Some(first) = first {
        until = until.min(from.saturating_add(size(first)));
    }
    if let Some(last) = last {
        from = from.max(until.saturating_sub(size(last)));
    }
    let page: Vec<Val> = items.into_iter().skip(from).take(until - from).collect();
    let edges = page
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let fields = [
                ("node", node.clone()),
                ("cursor", Val::from(encode_cursor(from + index))),
            ];
            Val::Object(GraphObject::Made(names.edge, fields.into()))
        })
        .collect();
    let ends = |index: usize| {
        if page.is_empty() {
            Val::NULL
        } else {
            Val::from(encode_cursor(index))
        }
    };
    let info = GraphObject::Made(
        "PageInfo",
        [
            ("startCursor", ends(from)),
            ("endCursor", ends(until.saturating_sub(1))),
            ("hasNextPage", Val::from(until < total)),
            ("hasPreviousPage", Val::from(from > 0)),
        ]
        .into(),
    );
    Ok(Val::Object(GraphObject::Made(
        names.connection,
        [
            ("nodes", Val::List(page)),
            ("edges", Val::List(edges)),
            ("pageInfo", Val::Object(info)),
            ("totalCount", Val::from(total)),
            ("filteredCount", Val::from(total)),
            ("pageCount", Val::from(until - from)),
        ]
        .into(),
    )))
}

/// The cursor of the item at an index.
fn encode_cursor(index: usize) -> String {
    BASE64.encode(format!("cursor:v2:{}", index + 1).as_bytes())
}

/// The number of items up to a cursor, that item included.
fn cursor_position(cursor: &str, field: &str) -> Result<usize, Fault> {
    let text = BASE64
        .decode(cursor.as_bytes())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let number = text.and_then(|text| text.strip_prefix("cursor:v2:")?.parse().ok());
    number.ok_or_else(|| {
        Fault::new(
            "INVALID_CURSOR_ARGUMENTS",
            format!("`{cursor}` does not appear to be a valid cursor for `{field}`."),
        )
    })
}
