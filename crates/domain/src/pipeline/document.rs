//! A file's text as a tree of values with places, from JSON or YAML.

use super::artifact::Artifact;
use super::limits::ARTIFACT_LIMIT_BYTES;
use crate::json::{self, Value as Json};
use crate::yaml::{self, Node, Value};
use crate::{Diagnostic, utf8_text};

/// Reads a file, or the part of one that begins on a line; `None` where its form is broken.
pub(super) fn parse_document(
    artifact: Artifact,
    file: &str,
    (bytes, first_line): (&[u8], u32),
    found: &mut Vec<Diagnostic>,
) -> Option<Node> {
    if bytes.len() > ARTIFACT_LIMIT_BYTES {
        let wrong = format!("it has more than {ARTIFACT_LIMIT_BYTES} bytes, so it is not read");
        found.push(Diagnostic::error(file, wrong).help("shorten it"));
        return None;
    }
    let text = match utf8_text(bytes.to_vec()) {
        Ok(text) => text,
        Err(error) => {
            let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let wrong = Diagnostic::error(file, "it is not text in UTF-8")
                .at(place(error.line), place(error.column));
            found.push(wrong.help("save it as UTF-8"));
            return None;
        }
    };
    let body = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if body.trim().is_empty() {
        let wrong = Diagnostic::error(file, "there is nothing in it").at(1, 1);
        found.push(wrong.help(format!(
            "write what `phileas schema {}` describes",
            artifact.schema_name()
        )));
        return None;
    }
    if artifact.is_yaml() {
        let (root, mistakes) = yaml::parse_from(&text, first_line);
        let broken = !mistakes.is_empty();
        found.extend(mistakes.into_iter().map(|one| one.diagnostic(file)));
        return root.filter(|_| !broken);
    }
    let root = match json::parse(file, body) {
        Ok(root) => root,
        Err(wrong) => {
            let fixed = |one: Diagnostic| match one.help.as_str() {
                "" => one.help("write JSON as a program would; other readers refuse it, too"),
                _ => one,
            };
            found.extend(wrong.into_iter().map(fixed));
            return None;
        }
    };
    let mut places = TextCursor {
        file,
        text: body,
        at: 0,
        line: 1,
        column: 1,
        diagnostics: found,
    };
    Some(places.convert_node(&root))
}

/// Goes through a text from its beginning to its end, as its values do.
struct TextCursor<'t, 'f> {
    file: &'t str,
    text: &'t str,
    at: usize,
    line: u32,
    column: u32,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl TextCursor<'_, '_> {
    /// Line and column of an offset that is not before the last one.
    fn position(&mut self, offset: usize) -> (u32, u32) {
        for c in self.text[self.at..offset].chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.at = offset;
        (self.line, self.column)
    }

    fn convert_node(&mut self, node: &json::Node<'_>) -> Node {
        let (line, column) = self.position(node.at);
        let value = match &node.value {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Flag(*flag),
            Json::Number(digits) => self.convert_number(digits, (line, column)),
            Json::Text(text) => Value::Text(text.to_string()),
            Json::List(items) => {
                Value::List(items.iter().map(|item| self.convert_node(item)).collect())
            }
            Json::Object(members) => {
                let member = |member: &json::Member<'_>| {
                    let (line, column) = self.position(member.at);
                    let key = Node {
                        line,
                        column,
                        range: member.at..member.at,
                        value: Value::Text(member.key.to_string()),
                    };
                    (key, self.convert_node(&member.node))
                };
                Value::Map(members.iter().map(member).collect())
            }
        };
        Node {
            line,
            column,
            range: node.at..node.at,
            value,
        }
    }

    fn convert_number(&mut self, digits: &str, (line, column): (u32, u32)) -> Value {
        let number = json::number(digits);
        let whole = number.as_ref().and_then(serde_json::Number::as_i64);
        let fraction = || number.as_ref().filter(|number| number.is_f64())?.as_f64();
        match (whole, fraction()) {
            (Some(whole), _) => Value::Integer(whole),
            (None, Some(fraction)) => Value::Float(fraction),
            (None, None) => {
                let wrong = "this number would not be read as it is written by every reader";
                let wrong = Diagnostic::error(self.file, wrong).at(line, column);
                self.diagnostics
                    .push(wrong.help("write fewer digits, or a text in quotes"));
                Value::Null
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Node>, Vec<String>) {
        let mut found = Vec::new();
        let root = parse_document(
            Artifact::Plan,
            "plan.json",
            (text.as_bytes(), 1),
            &mut found,
        );
        (root, found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn values_keep_kind_and_place() {
        let (root, found) = read("\u{feff}{\"é\": [1, 2.5,\n  \"ü\"],\n \"b\": null, \"c\": true}");
        assert_eq!(found, [""; 0]);
        let root = root.unwrap();
        assert_eq!(
            root.json().to_string(),
            "{\"é\":[1,2.5,\"ü\"],\"b\":null,\"c\":true}"
        );
        let items = root.get("é").unwrap().items();
        assert_eq!((items[1].line, items[1].column), (1, 11));
        assert_eq!((items[2].line, items[2].column), (2, 3));
        let Value::Map(entries) = &root.value else {
            panic!()
        };
        assert_eq!((entries[1].0.line, entries[1].0.column), (3, 2));
    }

    #[test]
    fn what_is_no_document_is_told_with_its_place() {
        for (text, said) in [
            ("", "plan.json:1:1: error: there is nothing in it"),
            (" \n", "plan.json:1:1: error: there is nothing in it"),
            ("{\"a\": 1,}", "plan.json:1:8: error: a comma"),
            ("{\n\"a\": [1", "plan.json:2:8: error: the file is cut off"),
            ("{\"a\": 1, \"a\": 2}", "plan.json:1:10: error: the key `a`"),
            (
                "{\"a\": 18446744073709551615}",
                "plan.json:1:7: error: this number",
            ),
            (
                "{\"a\": 0.12345678901234567890}",
                "plan.json:1:7: error: this number",
            ),
            ("plan: 1", "plan.json:1:1: error: a JSON value"),
            ("{} {}", "plan.json:1:4: error: something follows"),
        ] {
            let (_, found) = read(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(said), "{text}: {found:?}");
        }
        let (root, found) = read(&" ".repeat(ARTIFACT_LIMIT_BYTES + 1));
        assert!(
            root.is_none() && found[0].contains("more than"),
            "{found:?}"
        );
    }
}
