//! From the text to the tree.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::key::{push_index, push_key};
use super::node::{Member, Node, Value};
use crate::{Diagnostic, diagnostic};

/// How deep lists and objects may lie in each other.
const MAX_DEPTH: usize = 64;
/// Up to this many keys a second look at all of them is quicker than a set.
const FEW_KEYS: usize = 16;

/// Reads a whole text.
///
/// # Errors
///
/// One diagnostic where the text stops being JSON, or one for each key that an object has twice.
pub(crate) fn parse<'t>(file: &str, text: &'t str) -> Result<Node<'t>, Vec<Diagnostic>> {
    let mut parser = Parser {
        file,
        text,
        at: 0,
        open: Vec::new(),
        path: Vec::new(),
        doubles: Vec::new(),
    };
    let node = parser.document().map_err(|wrong| vec![wrong])?;
    if parser.doubles.is_empty() {
        Ok(node)
    } else {
        Err(parser.doubles)
    }
}

/// One part of a key path.
#[derive(Clone)]
enum Part<'t> {
    Key(Cow<'t, str>),
    Index(usize),
}

struct Parser<'t, 'f> {
    file: &'f str,
    text: &'t str,
    at: usize,
    /// Where the lists and objects begin that are not closed yet.
    open: Vec<usize>,
    path: Vec<Part<'t>>,
    doubles: Vec<Diagnostic>,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'t> Parser<'t, '_> {
    fn document(&mut self) -> Parsed<Node<'t>> {
        let node = self.value()?;
        self.space();
        if self.at < self.text.len() {
            return Err(self.wrong(self.at, "something follows after the end of the JSON value"));
        }
        Ok(node)
    }

    fn value(&mut self) -> Parsed<Node<'t>> {
        self.space();
        let at = self.at;
        let value = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.list()?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(_) => self.parse_literal()?,
            None => return Err(self.cut_off()),
        };
        Ok(Node { at, value })
    }

    fn object(&mut self) -> Parsed<Value<'t>> {
        self.enter()?;
        let mut members: Vec<Member<'t>> = Vec::new();
        let mut seen: BTreeSet<Cow<'t, str>> = BTreeSet::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.leave();
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let at = self.at;
            match self.peek() {
                Some(b'"') => {}
                None => return Err(self.cut_off()),
                Some(_) => return Err(self.wrong(at, "a key in double quotes should stand here")),
            }
            let key = self.string()?;
            self.path.push(Part::Key(key.clone()));
            let double = if members.len() < FEW_KEYS {
                members.iter().any(|member| member.key == key)
            } else {
                if seen.is_empty() {
                    seen.extend(members.iter().map(|member| member.key.clone()));
                }
                !seen.insert(key.clone())
            };
            if double {
                self.note_double(at, &key, &members);
            }
            self.space();
            match self.peek() {
                Some(b':') => self.at += 1,
                None => return Err(self.cut_off()),
                Some(_) => return Err(self.wrong(self.at, "`:` should follow the key")),
            }
            let node = self.value()?;
            self.path.pop();
            members.push(Member { at, key, node });
            if self.closed_by(b'}')? {
                return Ok(Value::Object(members));
            }
        }
    }

    fn list(&mut self) -> Parsed<Value<'t>> {
        self.enter()?;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.leave();
            return Ok(Value::List(items));
        }
        loop {
            self.path.push(Part::Index(items.len()));
            items.push(self.value()?);
            self.path.pop();
            if self.closed_by(b']')? {
                return Ok(Value::List(items));
            }
        }
    }

    /// After an item: whether the list or object ends here. Goes past the comma or the bracket.
    fn closed_by(&mut self, bracket: u8) -> Parsed<bool> {
        self.space();
        match self.peek() {
            Some(b',') => {
                let comma = self.at;
                self.at += 1;
                self.space();
                if self.peek() == Some(bracket) {
                    return Err(self
                        .wrong(comma, "a comma follows the last item")
                        .help("remove the comma"));
                }
                Ok(false)
            }
            Some(found) if found == bracket => {
                self.leave();
                Ok(true)
            }
            None => Err(self.cut_off()),
            Some(_) => Err(self.wrong(
                self.at,
                format!("`,` or `{}` should stand here", char::from(bracket)),
            )),
        }
    }

    fn enter(&mut self) -> Parsed<()> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.wrong(
                self.at,
                format!("lists and objects lie more than {MAX_DEPTH} deep in each other"),
            ));
        }
        self.open.push(self.at);
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.open.pop();
        self.at += 1;
    }

    fn string(&mut self) -> Parsed<Cow<'t, str>> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        let mut escaped = false;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(b'\n' | b'\r') => {
                    return Err(
                        self.wrong(start, "the text that begins here is not closed in its line")
                    );
                }
                Some(0..=0x1f) => {
                    return Err(self.wrong(at, "a control character stands in a text"));
                }
                Some(_) => at += 1,
                None => {
                    self.at = self.text.len();
                    return Err(self.cut_off());
                }
            }
        }
        self.at = at + 1;
        if escaped {
            let text = serde_json::from_str(&self.text[start..self.at]).map_err(|_| {
                self.wrong(
                    start,
                    "the text that begins here holds an impossible escape",
                )
            })?;
            Ok(Cow::Owned(text))
        } else {
            Ok(Cow::Borrowed(&self.text[start + 1..at]))
        }
    }

    fn number(&mut self) -> Parsed<&'t str> {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
            .count();
        let digits = &rest[..length];
        if !is_number(digits) {
            return Err(self.wrong(start, format!("`{digits}` is not a JSON number")));
        }
        self.at += length;
        Ok(digits)
    }

    fn parse_literal(&mut self) -> Parsed<Value<'t>> {
        let rest = &self.text[self.at..];
        for (word, value) in [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        let found: String = rest
            .chars()
            .take_while(|c| !c.is_whitespace())
            .take(20)
            .collect();
        Err(self.wrong(
            self.at,
            format!("a JSON value should stand here, not `{found}`"),
        ))
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.file, message)
            .at_offset(self.text, at)
            .key(self.key())
    }

    fn cut_off(&self) -> Diagnostic {
        let message = match self.open.last() {
            Some(&open) => {
                let (line, _) = diagnostic::line_and_column(self.text, open);
                let what = if self.text.as_bytes()[open] == b'{' {
                    "object"
                } else {
                    "list"
                };
                format!("the file is cut off: the {what} that begins in line {line} is not closed")
            }
            None => "the file is cut off".to_owned(),
        };
        self.wrong(self.text.len(), message)
    }

    fn note_double(&mut self, at: usize, key: &str, members: &[Member<'t>]) {
        let first = members.iter().find(|member| member.key == key);
        let line = first.map_or(0, |member| {
            diagnostic::line_and_column(self.text, member.at).0
        });
        let wrong = self
            .wrong(
                at,
                format!("the key `{key}` stands here a second time (first in line {line})"),
            )
            .help("keep one of the two");
        self.doubles.push(wrong);
    }

    fn key(&self) -> String {
        let mut key = String::new();
        for part in &self.path {
            match part {
                Part::Key(name) => push_key(&mut key, name),
                Part::Index(index) => push_index(&mut key, *index),
            }
        }
        key
    }
}

/// Whether a text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent
            .is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}
