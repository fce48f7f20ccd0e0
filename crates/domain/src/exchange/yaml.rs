//! YAML with the place of every value.
//!
//! Read is what artifacts need: one document of maps, lists and scalars of YAML 1.2's core schema. Anchors, aliases,
//! tags, further documents and doubled keys are mistakes: an alias can make a small file huge, and each of the others
//! means different things to different readers.

use std::collections::BTreeMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Number};

use super::limits::{DEPTH_LIMIT, NODES_LIMIT};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// Line, from 1.
    pub(super) line: u32,
    /// Column in characters, from 1.
    pub(super) column: u32,
    /// The bytes of the file that write it; of a list or map only its beginning, of a block of text nothing.
    pub(super) range: Range<usize>,
    /// What it is.
    pub(super) value: Value,
}

/// What a [`Node`] is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// A mistake of the YAML itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) message: String,
    pub(super) mend: &'static str,
}

impl Node {
    /// The value of a key, where this is a map.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else {
            return None;
        };
        let found = entries.iter().find(|(name, _)| name.text() == Some(key));
        found.map(|(_, value)| value)
    }

    /// The text, where this is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, where this is a whole one.
    pub(super) fn integer(&self) -> Option<i64> {
        match self.value {
            Value::Integer(number) => Some(number),
            // JSON knows one kind of number, and 2.0 is whole.
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                Some(number as i64)
            }
            _ => None,
        }
    }

    /// The elements, where this is a list; else none.
    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The same value in JSON. Keys that are no texts, and numbers that JSON has no word for, become texts.
    pub(super) fn json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Flag(flag) => Json::Bool(*flag),
            Value::Integer(number) => Json::from(*number),
            Value::Float(number) => Number::from_f64(*number)
                .map_or_else(|| Json::String(number.to_string()), Json::Number),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Node::json).collect(),
            Value::Map(entries) => {
                let entry = |(key, value): &(Node, Node)| {
                    let key = match key.text() {
                        Some(text) => text.to_owned(),
                        None => key.json().to_string(),
                    };
                    (key, value.json())
                };
                Json::Object(entries.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }

    /// What it is, for people.
    pub(super) fn is_called(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Flag(_) => "a truth value",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// Reads a document. Where its form is broken, nothing of it is read, and the one mistake says where.
pub(super) fn parse(text: &str) -> (Option<Node>, Vec<Mistake>) {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(mistake) = conflict(body) {
        return (None, vec![mistake]);
    }
    let mut reader = Reader {
        text,
        offsets: Offsets::of(body, text.len() - body.len()),
        open: Vec::new(),
        root: None,
        mistakes: Vec::new(),
        nodes: 0,
    };
    for event in Parser::new_from_str(body) {
        let (event, span) = match event {
            Ok(read) => read,
            Err(error) => {
                let at = error.marker();
                reader.mistakes.push(Mistake {
                    line: number(at.line()).max(1),
                    column: number(at.col() + 1),
                    message: format!("this is no YAML: {}", error.info()),
                    mend: "quote texts that hold `: ` or ` #`, and indent with spaces",
                });
                return (None, reader.mistakes);
            }
        };
        if reader.take(event, span).is_err() {
            return (None, reader.mistakes);
        }
    }
    (reader.root, reader.mistakes)
}

/// A text as YAML, on one line, in double quotes.
pub(super) fn quoted(text: &str) -> String {
    // JSON's texts are YAML's, but for what YAML counts as breaks.
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{85}', "\\N")
        .replace('\u{2028}', "\\L")
        .replace('\u{2029}', "\\P")
        .replace('\u{7f}', "\\x7f")
}

fn conflict(text: &str) -> Option<Mistake> {
    let marks = ["<<<<<<< ", ">>>>>>> "];
    let line = (1..)
        .zip(text.lines())
        .find(|(_, line)| marks.iter().any(|mark| line.starts_with(mark)))?
        .0;
    Some(Mistake {
        line,
        column: 1,
        message: "there are marks of a merge conflict in it".to_owned(),
        mend: "keep one of the two sides, and remove the lines of the marks",
    })
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Where characters begin: the parser counts characters.
enum Offsets {
    Same { base: usize },
    Listed(Vec<usize>),
}

impl Offsets {
    fn of(text: &str, base: usize) -> Self {
        if text.is_ascii() {
            Self::Same { base }
        } else {
            Self::Listed(text.char_indices().map(|(at, _)| base + at).collect())
        }
    }

    fn byte(&self, index: usize, length: usize) -> usize {
        match self {
            Self::Same { base } => (base + index).min(length),
            Self::Listed(listed) => listed.get(index).copied().unwrap_or(length),
        }
    }
}

/// A list or a map whose end has not come.
struct Open {
    node: Node,
    /// The key whose value comes next.
    key: Option<Node>,
    /// Keys that were there, and their lines.
    seen: BTreeMap<String, u32>,
}

struct Reader<'t> {
    text: &'t str,
    offsets: Offsets,
    open: Vec<Open>,
    root: Option<Node>,
    mistakes: Vec<Mistake>,
    nodes: usize,
}

/// Reading cannot go on; a mistake says why.
struct Stopped;

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Stopped> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                if self.root.is_some() {
                    self.mistake(
                        span,
                        "there is a second document in it",
                        "keep one document in a file",
                    );
                    return Err(Stopped);
                }
            }
            Event::Alias(_) => {
                self.mistake(span, "aliases are not read", "write the value itself");
                self.put(span, Value::Null)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.marks(span, anchor, tag.is_some());
                let start = self.offsets.byte(span.start.index(), self.text.len());
                let end = written(&self.text[start..], &text, style).map(|length| start + length);
                let value = match style {
                    ScalarStyle::Plain => plain(&text),
                    _ => Value::Text(text.into_owned()),
                };
                let mut node = self.node(span, value)?;
                match style {
                    // Where a block begins, the parser does not tell.
                    ScalarStyle::Literal | ScalarStyle::Folded => node.range = start..start,
                    _ => node.range.end = end.unwrap_or(node.range.end),
                }
                self.place(node);
            }
            Event::SequenceStart(anchor, tag) => {
                self.marks(span, anchor, tag.is_some());
                self.begin(span, Value::List(Vec::new()))?;
            }
            Event::MappingStart(anchor, tag) => {
                self.marks(span, anchor, tag.is_some());
                self.begin(span, Value::Map(Vec::new()))?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    self.place(open.node);
                }
            }
        }
        Ok(())
    }

    fn marks(&mut self, span: Span, anchor: usize, tag: bool) {
        if anchor > 0 {
            self.mistake(
                span,
                "anchors are not read",
                "write the value where it is meant",
            );
        }
        if tag {
            self.mistake(
                span,
                "tags are not read",
                "quote a text; write numbers without a tag",
            );
        }
    }

    fn mistake(&mut self, span: Span, message: &str, mend: &'static str) {
        self.mistakes.push(Mistake {
            line: number(span.start.line()),
            column: number(span.start.col() + 1),
            message: message.to_owned(),
            mend,
        });
    }

    fn node(&mut self, span: Span, value: Value) -> Result<Node, Stopped> {
        self.nodes += 1;
        if self.nodes > NODES_LIMIT {
            let message = format!("there are more than {NODES_LIMIT} values in it");
            self.mistake(span, &message, "say it shorter");
            return Err(Stopped);
        }
        let start = self.offsets.byte(span.start.index(), self.text.len());
        let end = self.offsets.byte(span.end.index(), self.text.len());
        Ok(Node {
            line: number(span.start.line()),
            column: number(span.start.col() + 1),
            range: start..end.max(start),
            value,
        })
    }

    fn put(&mut self, span: Span, value: Value) -> Result<(), Stopped> {
        let node = self.node(span, value)?;
        self.place(node);
        Ok(())
    }

    fn begin(&mut self, span: Span, value: Value) -> Result<(), Stopped> {
        if self.open.len() >= DEPTH_LIMIT {
            let message = format!("lists and maps are nested more than {DEPTH_LIMIT} deep");
            self.mistake(span, &message, "say it flatter");
            return Err(Stopped);
        }
        let node = self.node(span, value)?;
        self.open.push(Open {
            node,
            key: None,
            seen: BTreeMap::new(),
        });
        Ok(())
    }

    /// Puts a whole value where it belongs.
    fn place(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match (&mut open.node.value, open.key.take()) {
            (Value::List(items), _) => items.push(node),
            (Value::Map(entries), Some(key)) => entries.push((key, node)),
            (Value::Map(_), None) => {
                let name = node.json().to_string();
                let wrong = match open.seen.insert(name.clone(), node.line) {
                    Some(first) => Some((
                        format!("the key {name} is there twice, first on line {first}"),
                        "keep one of them",
                    )),
                    None if node.text().is_none() => {
                        Some((format!("{name} is a key, and no text"), "quote it"))
                    }
                    None => None,
                };
                if let Some((message, mend)) = wrong {
                    self.mistakes.push(Mistake {
                        line: node.line,
                        column: node.column,
                        message,
                        mend,
                    });
                }
                open.key = Some(node);
            }
            _ => {}
        }
    }
}

/// How many bytes at the beginning of `rest` write a scalar, where they are told by themselves: the parser's own end may
/// lie behind a comment.
fn written(rest: &str, value: &str, style: ScalarStyle) -> Option<usize> {
    match style {
        ScalarStyle::Plain => rest.starts_with(value).then_some(value.len()),
        ScalarStyle::DoubleQuoted => {
            let mut escaped = false;
            let inside = rest.strip_prefix('"')?;
            let end = inside.bytes().position(|b| {
                let ends = b == b'"' && !escaped;
                escaped = b == b'\\' && !escaped;
                ends
            });
            end.map(|end| end + 2)
        }
        ScalarStyle::SingleQuoted => {
            let mut inside = rest.strip_prefix('\'')?;
            loop {
                let (_, after) = inside.split_once('\'')?;
                match after.strip_prefix('\'') {
                    // Two of them write one.
                    Some(further) => inside = further,
                    None => return Some(rest.len() - after.len()),
                }
            }
        }
        ScalarStyle::Literal | ScalarStyle::Folded => None,
    }
}

/// What an unquoted scalar means in YAML 1.2's core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Flag(true),
        "false" | "False" | "FALSE" => return Value::Flag(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Value::Float(f64::INFINITY);
    }
    let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok();
    if let Some(number) = text.strip_prefix("0x").and_then(|rest| radix(rest, 16)) {
        return Value::Integer(number);
    }
    if let Some(number) = text.strip_prefix("0o").and_then(|rest| radix(rest, 8)) {
        return Value::Integer(number);
    }
    let digit = unsigned
        .strip_prefix('.')
        .unwrap_or(unsigned)
        .starts_with(|c: char| c.is_ascii_digit());
    let figures = unsigned
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if digit && figures {
        if let Ok(number) = text.parse::<i64>() {
            return Value::Integer(number);
        }
        if let Ok(number) = text.parse::<f64>() {
            return Value::Float(number);
        }
    }
    Value::Text(text.to_owned())
}

#[cfg(test)]
mod tests;
