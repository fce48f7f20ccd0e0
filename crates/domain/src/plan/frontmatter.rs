//! The YAML between two lines `---` at the head of a prompt.

use serde_json::{Map, Value};

use crate::yaml::{NESTING_LIMIT, too_deep};

/// A prompt's head and body.
#[derive(Debug, PartialEq)]
pub(crate) struct Frontmatter<'t> {
    /// The YAML.
    pub(crate) yaml: &'t str,
    /// The line of the file on which the YAML begins, from 1.
    pub(crate) line: u32,
    /// The byte of the file on which the YAML begins.
    pub(crate) start: usize,
    /// What follows the second `---`.
    pub(crate) body: &'t str,
    /// The line of the file on which the body begins, from 1.
    pub(crate) body_line: u32,
}

/// Why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The file does not begin with `---`.
    Start,
    /// No line `---` ends it.
    End,
}

/// A mistake in the YAML: its line and column in the file, and what is wrong.
#[derive(Debug, PartialEq)]
pub(super) struct YamlMistake {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) message: String,
}

impl<'t> Frontmatter<'t> {
    /// Takes a prompt apart. Blank lines and a byte order mark may stand before the first `---`.
    pub(crate) fn split(whole: &'t str) -> Result<Self, Missing> {
        let text = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let mut offset = 0;
        let mut yaml: Option<(usize, u32)> = None;
        for (line, part) in (1..).zip(text.split_inclusive('\n')) {
            let is_fence = part.trim_end() == "---";
            offset += part.len();
            match yaml {
                None if is_fence => yaml = Some((offset, line + 1)),
                None if part.trim().is_empty() => {}
                None => return Err(Missing::Start),
                Some((start, first)) if is_fence => {
                    return Ok(Self {
                        yaml: &text[start..offset - part.len()],
                        line: first,
                        start: whole.len() - text.len() + start,
                        body: &text[offset..],
                        body_line: line + 1,
                    });
                }
                Some(_) => {}
            }
        }
        Err(if yaml.is_some() {
            Missing::End
        } else {
            Missing::Start
        })
    }

    /// All keys.
    pub(super) fn keys(&self) -> Result<Map<String, Value>, YamlMistake> {
        if let Some((line, column)) = too_deep(self.yaml) {
            return Err(YamlMistake {
                line: self.line + line - 1,
                column,
                message: format!("lists and maps are nested more than {NESTING_LIMIT} deep"),
            });
        }
        let value: serde_yaml::Value =
            serde_yaml::from_str(self.yaml).map_err(|error| self.mistake(&error))?;
        let wrong = |message: &str| YamlMistake {
            line: self.line,
            column: 1,
            message: message.to_owned(),
        };
        match value {
            serde_yaml::Value::Null => Ok(Map::new()),
            serde_yaml::Value::Mapping(_) => match json(value) {
                Some(Value::Object(keys)) => Ok(keys),
                _ => Err(wrong(
                    "the frontmatter holds something other than texts, numbers, lists and maps",
                )),
            },
            _ => Err(wrong("the frontmatter is not a list of `key: value`")),
        }
    }

    /// Line and column in the file of the value of a key at the outer level.
    pub(super) fn place(&self, key: &str) -> (u32, u32) {
        let found = self.occurrences(key).next();
        found.unwrap_or((self.line, 1))
    }

    fn occurrences(&self, key: &str) -> impl Iterator<Item = (u32, u32)> {
        let forms = [
            format!("{key}:"),
            format!("\"{key}\":"),
            format!("'{key}':"),
        ];
        let first = self.line;
        self.yaml
            .lines()
            .zip(first..)
            .filter_map(move |(text, line)| {
                let form = forms.iter().find(|form| text.starts_with(form.as_str()))?;
                let space = text[form.len()..]
                    .chars()
                    .take_while(|c| c.is_whitespace())
                    .count();
                let column = form.chars().count() + space + 1;
                Some((line, u32::try_from(column).unwrap_or(1)))
            })
    }

    fn mistake(&self, error: &serde_yaml::Error) -> YamlMistake {
        let text = error.to_string();
        let place = |line: usize, column: usize| {
            let line = u32::try_from(line).unwrap_or(1).max(1);
            let column = u32::try_from(column).unwrap_or(1).max(1);
            (self.line + line - 1, column)
        };
        let begun = |what: &str| {
            let (line, column) = place_of_beginning(&text, what)?;
            Some(place(line, column))
        };
        if let Some((line, column)) =
            begun("parsing a flow ").or_else(|| begun("scanning a quoted scalar"))
        {
            return YamlMistake {
                line,
                column,
                message: NEVER_CLOSED.to_owned(),
            };
        }
        // The library adds the place in the YAML alone, which is not the file's.
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        let doubled = message
            .strip_prefix("duplicate entry with key \"")
            .and_then(|rest| rest.split('"').next())
            .map(str::to_owned);
        let mut places = doubled.iter().flat_map(|key| self.occurrences(key));
        let (first, duplicate) = (places.next(), places.next());
        let message = match (&doubled, first) {
            (Some(key), Some((line, _))) => format!("duplicate key `{key}`, first in line {line}"),
            _ => message.clone(),
        };
        let told = error.location().map(|at| place(at.line(), at.column()));
        let (line, column) = duplicate
            .map(|(line, _)| (line, 1))
            .or_else(|| begun("scanning a simple key"))
            .or(told)
            .unwrap_or((self.line, 1));
        YamlMistake {
            line,
            column,
            message,
        }
    }
}

/// What is said of a list in `[…]`, a map in `{…}`, or a text in quotes, whose end is missing.
pub(super) const NEVER_CLOSED: &str = "what begins here is never closed";

/// Where the library began with what it could not end: it tells that after the place where it stopped.
fn place_of_beginning(text: &str, what: &str) -> Option<(usize, usize)> {
    let (_, begun) = text.split_once(&format!("while {what}"))?;
    let (_, place) = begun.split_once(" at line ")?;
    let (line, column) = place.split_once(" column ")?;
    let digits = column.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((line.parse().ok()?, digits.parse().ok()?))
}

/// The same value for templates. Keys become texts; what JSON has no word for has none here.
fn json(value: serde_yaml::Value) -> Option<Value> {
    Some(match value {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(flag) => Value::Bool(flag),
        serde_yaml::Value::Number(number) => serde_json::to_value(number).ok()?,
        serde_yaml::Value::String(text) => Value::String(text),
        serde_yaml::Value::Sequence(items) => {
            Value::Array(items.into_iter().map(json).collect::<Option<_>>()?)
        }
        serde_yaml::Value::Mapping(map) => {
            let entry = |(key, value): (serde_yaml::Value, serde_yaml::Value)| {
                let key = match json(key)? {
                    Value::String(text) => text,
                    Value::Array(_) | Value::Object(_) => return None,
                    other => other.to_string(),
                };
                Some((key, json(value)?))
            };
            Value::Object(map.into_iter().map(entry).collect::<Option<_>>()?)
        }
        serde_yaml::Value::Tagged(tagged) => json(tagged.value)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_body_are_split_with_their_lines() {
        let split = Frontmatter::split("---\nid: a\nemoji: b\n---\nBody\n---\n").unwrap();
        assert_eq!((split.yaml, split.line), ("id: a\nemoji: b\n", 2));
        assert_eq!((split.body, split.body_line), ("Body\n---\n", 5));
        let split = Frontmatter::split("\u{feff}\r\n--- \r\nid: a\r\n---\r\nBody").unwrap();
        assert_eq!(
            (split.yaml, split.line, split.body, split.body_line),
            ("id: a\r\n", 3, "Body", 5)
        );
        assert_eq!(split.start, 3 + 2 + 6);
        assert_eq!(Frontmatter::split("---\n---").unwrap().yaml, "");
        assert_eq!(Frontmatter::split(""), Err(Missing::Start));
        assert_eq!(Frontmatter::split("Body\n---\n"), Err(Missing::Start));
        assert_eq!(Frontmatter::split("----\n"), Err(Missing::Start));
        assert_eq!(Frontmatter::split("---\nid: a\n"), Err(Missing::End));
    }

    #[test]
    fn mistakes_name_the_line_of_the_file() {
        let mistake = |text: &str| {
            let mistake = Frontmatter::split(text).unwrap().keys().unwrap_err();
            (mistake.line, mistake.column, mistake.message)
        };
        assert_eq!(
            mistake("\n---\nid: a\ntitle: b: c\n---\n"),
            (
                4,
                9,
                "mapping values are not allowed in this context".to_owned()
            )
        );
        let (line, column, message) = mistake("---\nid: a\nemoji: x\nid: b\n---\n");
        assert_eq!((line, column), (4, 1));
        assert!(message.contains("duplicate"), "{message}");
        assert_eq!(mistake("---\n- a\n---\n").0, 2);
        // What is never closed is told where it begins.
        assert_eq!(
            mistake("---\nid: [a\n---\n"),
            (2, 5, NEVER_CLOSED.to_owned())
        );
        for quote in ['"', '\''] {
            assert_eq!(
                mistake(&format!("---\nid: a\ntitle: {quote}b\nx: y\n---\n")),
                (3, 8, NEVER_CLOSED.to_owned())
            );
        }
        // A line without a colon is told itself, and not the line below it.
        let (line, column, message) = mistake("---\nid: a\nemoji\n---\n");
        assert_eq!((line, column), (3, 1), "{message}");
    }

    #[test]
    fn values_keep_their_types() {
        let keys = Frontmatter::split(
            "---\nid: a\nn: 3\nf: 1.5\nb: yes\nl: [1, {x: ~}]\n7: !t z\nd: 2026-01-05\n---\n",
        );
        let keys = keys.unwrap().keys().unwrap();
        assert_eq!(
            Value::Object(keys).to_string(),
            r#"{"id":"a","n":3,"f":1.5,"b":"yes","l":[1,{"x":null}],"7":"z","d":"2026-01-05"}"#
        );
    }

    #[test]
    fn places_are_those_of_the_values() {
        let split = Frontmatter::split("---\nid: a\n\"é\":  x\n---\n").unwrap();
        assert_eq!(split.place("id"), (2, 5));
        assert_eq!(split.place("é"), (3, 7));
        assert_eq!(split.place("gone"), (2, 1));
    }
}
