//! Reading a text.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::scalar::{plain_scalar, written};
use super::{Node, Value};
use crate::Diagnostic;

/// Values of one text, those in lists and maps counted.
pub(crate) const NODES_LIMIT: usize = 4_000;
/// How deep a text may nest lists and maps.
pub(crate) const DEPTH_LIMIT: usize = 12;

/// A mistake of the YAML itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

impl Mistake {
    /// The same as a finding about a file.
    pub(crate) fn diagnostic(self, file: &str) -> Diagnostic {
        let said = Diagnostic::error(file, self.message);
        said.at(self.line, self.column).help(self.help)
    }
}

/// Reads a document. Where its form is broken, nothing of it is read, and the one mistake says where.
pub(crate) fn parse(text: &str) -> (Option<Node>, Vec<Mistake>) {
    parse_from(text, 1)
}

/// Reads a document that begins on a line of its file, counted from 1. All lines are those of the file.
pub(crate) fn parse_from(text: &str, first_line: u32) -> (Option<Node>, Vec<Mistake>) {
    let above = first_line.saturating_sub(1);
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(mut mistake) = conflict(body) {
        mistake.line = mistake.line.saturating_add(above);
        return (None, vec![mistake]);
    }
    let mut reader = Reader {
        text,
        offsets: Offsets::of(body, text.len() - body.len()),
        open: Vec::new(),
        root: None,
        mistakes: Vec::new(),
        nodes: 0,
        above,
    };
    for event in Parser::new_from_str(body) {
        let (event, span) = match event {
            Ok(read) => read,
            Err(error) => {
                let at = error.marker();
                let line = reader.file_line(at.line().max(1));
                reader.mistakes.push(Mistake {
                    line,
                    column: number(at.col() + 1),
                    message: format!("this is not YAML: {}", error.info()),
                    help: fix_of(body, at.line().max(1) - 1),
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
        help: "keep one of the two sides, and remove the lines of the marks",
    })
}

const USUAL_FIX: &str = "quote texts that hold `: ` or ` #`, and indent with spaces";

/// How a text is fixed that is no YAML from a line on. `line`: counted from 0.
fn fix_of(text: &str, line: usize) -> &'static str {
    let here = fix_of_line(text.lines().nth(line).unwrap_or_default());
    // A list or a map that is not closed is noticed on a later line.
    let mut above = text
        .lines()
        .take(line)
        .collect::<Vec<_>>()
        .into_iter()
        .rev();
    let open = above.find(|line| !line.trim().is_empty()).filter(|line| {
        let end = line.trim_end();
        !end.ends_with([']', '}']) && line.contains(['[', '{'])
    });
    match open.map(fix_of_line) {
        Some(fix) if here == USUAL_FIX => fix,
        _ => here,
    }
}

/// How a line is fixed: by the character that its value begins with, where that cannot begin a text (YAML 1.2.2, section
/// 5.3, <https://yaml.org/spec/1.2.2/#53-indicator-characters>).
fn fix_of_line(line: &str) -> &'static str {
    let mut value = line.trim_start();
    if line.len() > value.len() && line[..line.len() - value.len()].contains('\t') {
        return "indent with spaces, not with tabs";
    }
    while let Some(item) = value.strip_prefix("- ") {
        value = item.trim_start();
    }
    // A key has no quotes and no blanks in what phileas reads.
    if let Some((key, rest)) = value.split_once(": ")
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    {
        value = rest.trim_start();
    }
    match value.chars().next() {
        Some('`') => "a text cannot begin with a backtick: put it between single quotes",
        Some('@') => "a text cannot begin with `@`: put it between single quotes",
        Some('%') => "a text cannot begin with `%`: put it between single quotes",
        Some('*') => "a text cannot begin with `*`: put it between single quotes",
        Some('&') => "a text cannot begin with `&`: put it between single quotes",
        Some('!') => "a text cannot begin with `!`: put it between single quotes",
        Some('|' | '>') => "a text cannot begin with `|` or `>`: put it between single quotes",
        Some('[') => "`[` begins a list: close it with `]`, or put a text between single quotes",
        Some('{') => "`{` begins a map: close it with `}`, or put a text between single quotes",
        Some(']' | '}' | ',') => {
            "a text cannot begin with `]`, `}` or `,`: put it between single quotes"
        }
        Some('"') => {
            "close the double quotes at the end of the text, and write `\\\"` for one inside"
        }
        Some('\'') => {
            "close the single quotes at the end of the text, and write `''` for one inside"
        }
        _ => USUAL_FIX,
    }
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
    /// The lines of the file above the text.
    above: u32,
}

/// Reading cannot go on; a mistake says why.
struct ReadStopped;

impl Reader<'_> {
    /// The line of the file, from the line of the text.
    fn file_line(&self, line: usize) -> u32 {
        number(line).saturating_add(self.above)
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), ReadStopped> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(_) => {
                if self.root.is_some() {
                    self.mistake(
                        span,
                        "there is a second document in it",
                        "keep one document in a file",
                    );
                    return Err(ReadStopped);
                }
            }
            Event::Alias(_) => {
                self.mistake(
                    span,
                    "aliases are not read",
                    "write the value itself; a text that begins with `*` stands between single quotes",
                );
                self.put(span, Value::Null)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.marks(span, anchor, tag.is_some());
                let start = self.offsets.byte(span.start.index(), self.text.len());
                let end = written(&self.text[start..], &text, style).map(|length| start + length);
                let value = match style {
                    ScalarStyle::Plain => plain_scalar(&text),
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
                "write the value where it is meant; a text that begins with `&` stands between single quotes",
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

    fn mistake(&mut self, span: Span, message: &str, help: &'static str) {
        let line = self.file_line(span.start.line());
        self.mistakes.push(Mistake {
            line,
            column: number(span.start.col() + 1),
            message: message.to_owned(),
            help,
        });
    }

    fn node(&mut self, span: Span, value: Value) -> Result<Node, ReadStopped> {
        self.nodes += 1;
        if self.nodes > NODES_LIMIT {
            let message = format!("there are more than {NODES_LIMIT} values in it");
            self.mistake(span, &message, "say it shorter");
            return Err(ReadStopped);
        }
        let start = self.offsets.byte(span.start.index(), self.text.len());
        let end = self.offsets.byte(span.end.index(), self.text.len());
        Ok(Node {
            line: self.file_line(span.start.line()),
            column: number(span.start.col() + 1),
            range: start..end.max(start),
            value,
        })
    }

    fn put(&mut self, span: Span, value: Value) -> Result<(), ReadStopped> {
        let node = self.node(span, value)?;
        self.place(node);
        Ok(())
    }

    fn begin(&mut self, span: Span, value: Value) -> Result<(), ReadStopped> {
        if self.open.len() >= DEPTH_LIMIT {
            let message = format!("lists and maps are nested more than {DEPTH_LIMIT} deep");
            self.mistake(span, &message, "say it flatter");
            return Err(ReadStopped);
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
                        Some((format!("{name} is a key, and not text"), "quote it"))
                    }
                    None => None,
                };
                if let Some((message, help)) = wrong {
                    self.mistakes.push(Mistake {
                        line: node.line,
                        column: node.column,
                        message,
                        help,
                    });
                }
                open.key = Some(node);
            }
            _ => {}
        }
    }
}
