//! Edits artifacts: one value in place, or the whole document.

use crate::yaml::{Node, Value, quoted};

/// The document with a top-level scalar replaced, or the key added. Comments are kept if the edit is possible in place.
/// `yaml` is the new value as YAML.
pub(super) fn set_key(text: &str, root: &Node, key: &str, yaml: &str) -> String {
    let mut expected = root.clone();
    put_key(&mut expected, key, parse_scalar(yaml));
    let same = |edited: &String| {
        let (read, mistakes) = crate::yaml::parse(edited);
        mistakes.is_empty() && read.is_some_and(|read| read.json() == expected.json())
    };
    // An indented map, or an end-of-document mark below it, leaves no place for a new key.
    in_place(text, root, key, yaml)
        .filter(same)
        .unwrap_or_else(|| emit_yaml(&expected))
}

/// The same by changing only the bytes of the value; `None` if its byte range is unknown.
fn in_place(text: &str, root: &Node, key: &str, yaml: &str) -> Option<String> {
    let mut edited = text.to_owned();
    match root.get(key) {
        Some(node) => {
            let nested = matches!(node.value, Value::List(_) | Value::Map(_));
            if nested || node.range.is_empty() {
                return None;
            }
            edited.replace_range(node.range.clone(), yaml);
        }
        None if text.get(root.range.start..)?.starts_with('{') => {
            edited.insert_str(root.range.start + 1, &format!("{key}: {yaml}, "));
        }
        None => {
            if !edited.ends_with('\n') {
                edited.push('\n');
            }
            edited.push_str(&format!("{key}: {yaml}\n"));
        }
    }
    Some(edited)
}

/// Parses a value.
fn parse_scalar(yaml: &str) -> Value {
    crate::yaml::parse(yaml)
        .0
        .map_or(Value::Null, |node| node.value)
}

/// A node without a position.
pub(super) fn new_node(value: Value) -> Node {
    Node {
        line: 1,
        column: 1,
        range: 0..0,
        value,
    }
}

/// A text node without a position.
pub(super) fn text_node(text: impl Into<String>) -> Node {
    new_node(Value::Text(text.into()))
}

/// Sets a top-level key; a new key is added at the end.
pub(super) fn put_key(root: &mut Node, key: &str, value: Value) {
    let Value::Map(entries) = &mut root.value else {
        return;
    };
    match entries
        .iter_mut()
        .find(|(name, _)| name.text() == Some(key))
    {
        Some((_, old)) => *old = new_node(value),
        None => entries.push((text_node(key), new_node(value))),
    }
}

/// Removes a top-level key.
pub(super) fn remove_key(root: &mut Node, key: &str) {
    if let Value::Map(entries) = &mut root.value {
        entries.retain(|(name, _)| name.text() != Some(key));
    }
}

/// The document in block style, with all texts in double quotes. Comments are lost.
pub(crate) fn emit_yaml(root: &Node) -> String {
    let mut out = String::new();
    emit_block(root, 0, &mut out);
    out
}

fn emit_block(node: &Node, depth: usize, out: &mut String) {
    match &node.value {
        Value::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                indent(depth, out);
                emit_entry(key, value, depth, out);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for item in items {
                indent(depth, out);
                out.push_str("- ");
                match &item.value {
                    Value::Map(entries) if !entries.is_empty() => {
                        for (index, (key, value)) in entries.iter().enumerate() {
                            if index > 0 {
                                indent(depth + 1, out);
                            }
                            emit_entry(key, value, depth + 1, out);
                        }
                    }
                    Value::List(inner) if !inner.is_empty() => {
                        // Lists in lists are rare; they are written in flow style.
                        out.push_str(&item.json().to_string());
                        out.push('\n');
                    }
                    _ => {
                        out.push_str(&emit_inline(item));
                        out.push('\n');
                    }
                }
            }
        }
        _ => {
            indent(depth, out);
            out.push_str(&emit_inline(node));
            out.push('\n');
        }
    }
}

fn emit_entry(key: &Node, value: &Node, depth: usize, out: &mut String) {
    let name = key.text().unwrap_or_default();
    let plain = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
        && !matches!(parse_scalar(name), Value::Null | Value::Flag(_));
    if plain {
        out.push_str(name);
    } else {
        out.push_str(&quoted(name));
    }
    out.push(':');
    let nested = match &value.value {
        Value::Map(entries) => !entries.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    };
    if nested {
        out.push('\n');
        emit_block(value, depth + 1, out);
    } else {
        out.push(' ');
        out.push_str(&emit_inline(value));
        out.push('\n');
    }
}

fn emit_inline(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Flag(flag) => flag.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        // Dates are written without quotes, as people write them.
        Value::Text(text) if super::values::is_date(text) => text.clone(),
        Value::Text(text) => quoted(text),
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}

fn indent(depth: usize, out: &mut String) {
    out.push_str(&"  ".repeat(depth));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    fn root(text: &str) -> Node {
        parse(text).0.unwrap()
    }

    #[test]
    fn one_value_is_replaced_and_the_rest_stays() {
        for (before, key, value, after) in [
            (
                "a: 1 # one\nb: \"\"  # two\nc: 3\n",
                "b",
                "\"x\"",
                "a: 1 # one\nb: \"x\"  # two\nc: 3\n",
            ),
            (
                "a: ü\nb: 'ä' # two\n",
                "b",
                "\"x\"",
                "a: ü\nb: \"x\" # two\n",
            ),
            ("a: 1\nb: plain text\nc: 3", "b", "2", "a: 1\nb: 2\nc: 3"),
            (
                "a: one two # one\nb: 'it''s' # b\n",
                "a",
                "2",
                "a: 2 # one\nb: 'it''s' # b\n",
            ),
            ("a: 1\nb: 'it''s' # b\n", "b", "2", "a: 1\nb: 2 # b\n"),
            ("a: \"x \\\" \\\\\" # a\n", "a", "2", "a: 2 # a\n"),
            ("a: 1", "b", "2", "a: 1\nb: 2\n"),
            ("{a: 1}", "b", "2", "{b: 2, a: 1}"),
            ("a: [1]\nb:\n  c: 1\n", "a", "2", "a: 2\nb:\n  c: 1\n"),
            ("a:\nb: 1\n", "a", "2", "a: 2\nb: 1\n"),
        ] {
            assert_eq!(
                set_key(before, &root(before), key, value),
                after,
                "{before}"
            );
        }
        for before in [
            "a: |\n  x\n  y\nb: 1\n",
            "a: >-\n  x\n\nb: 1\n",
            "b: 1\na: |\n  x\n",
        ] {
            let after = set_key(before, &root(before), "a", "\"z\"");
            assert_eq!(
                root(&after).json(),
                serde_json::json!({"a": "z", "b": 1}),
                "{after}"
            );
        }
        for before in [
            "  b: 1\n  c: 2\n",
            "b: 1\nc: 2\n...\n",
            "---\nb: 1\nc: 2\n... # end",
        ] {
            let after = set_key(before, &root(before), "a", "\"z\"");
            let (read, mistakes) = parse(&after);
            assert_eq!(mistakes, [], "{after}");
            assert_eq!(
                read.unwrap().json(),
                serde_json::json!({"a": "z", "b": 1, "c": 2}),
                "{after}"
            );
        }
    }

    #[test]
    fn what_is_written_is_read_as_it_was() {
        let text = "a: 1\nb: ['x', {c: d, e: []}, [1, [2]], {}]\nf: {g: 1.5, h: null, \"1\": true, 'null': 2026-01-05}\n\"é \": \"\\n# :\"\n";
        let node = root(text);
        let emitted = emit_yaml(&node);
        assert_eq!(root(&emitted).json(), node.json(), "{emitted}");
        assert_eq!(emit_yaml(&root(&emitted)), emitted);
    }
}
