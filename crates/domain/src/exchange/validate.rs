//! An artifact against its shape: every mistake at once, each with its place and its help.

use super::limits::{LINE_LIMIT_CHARS, OUTPUT_LIMIT_CHARS, TEXT_LIMIT_CHARS};
use super::placeholder::left_behind;
use super::shape::{Is, Key, Kind, List, Need, Rule, Shape, Table};
use super::values;
use crate::diagnostic::Diagnostic;
use crate::plan::suggest::closest;
use crate::yaml::{Node, Value};

/// The largest number of an artifact; every reader of JSON can hold it.
pub(super) const NUMBER_LIMIT: i64 = 9_000_000_000_000_000;

/// What is wrong with the document of a file.
pub(super) fn validate_node(shape: &Shape, file: &str, root: &Node) -> Vec<Diagnostic> {
    let mut check = NodeCheck {
        file,
        renamed: shape.renamed,
        diagnostics: Vec::new(),
    };
    check.check_map(root, shape.keys, UnknownKeys::Refused, "");
    for rule in shape.rules {
        check.check_rule(root, rule);
    }
    check.diagnostics
}

/// What is wrong with a value of a kind.
pub(crate) fn validate_value(file: &str, node: &Node, kind: &'static Kind) -> Vec<Diagnostic> {
    let mut check = NodeCheck {
        file,
        renamed: &[],
        diagnostics: Vec::new(),
    };
    check.validate_value(node, kind, "");
    check.diagnostics
}

struct NodeCheck<'a> {
    file: &'a str,
    renamed: &'static [(&'static str, &'static str)],
    diagnostics: Vec<Diagnostic>,
}

/// What becomes of keys that are not known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnknownKeys {
    Refused,
    Kept,
}

impl NodeCheck<'_> {
    fn report(
        &mut self,
        at: &Node,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let one = Diagnostic::error(self.file, message)
            .at(at.line, at.column)
            .key(key)
            .help(help);
        self.diagnostics.push(one);
    }

    fn check_map(&mut self, node: &Node, keys: &'static [Key], others: UnknownKeys, path: &str) {
        let Value::Map(entries) = &node.value else {
            let names = keys.iter().filter(|key| key.need == Need::Always);
            let names: Vec<_> = names.map(|key| format!("`{}`", key.name)).collect();
            let wrong = format!("{} stands where a map belongs", node.is_called());
            self.report(
                node,
                path,
                wrong,
                format!("write the keys {}", names.join(", ")),
            );
            return;
        };
        for (name, value) in entries {
            let Some(name_text) = name.text() else {
                continue; // The reader of YAML has said so.
            };
            let at = join_keys(path, name_text);
            match keys.iter().find(|key| key.name == name_text) {
                Some(key) if key.need == Need::Nullable && value.value == Value::Null => {}
                Some(key) => self.validate_value(value, &key.kind, &at),
                None if others == UnknownKeys::Kept => {
                    self.check_misspelling(node, name, keys, &at)
                }
                None => {
                    let help = self.suggest_key(name_text, keys, path);
                    self.report(name, &at, format!("unknown key `{name_text}`"), help);
                }
            }
        }
        for key in keys.iter().filter(|key| key.need == Need::Always) {
            if node.get(key.name).is_none() {
                let at = join_keys(path, key.name);
                let wrong = format!("`{}` is missing", key.name);
                self.report(
                    node,
                    &at,
                    wrong,
                    format!("write {}", expected_form(&key.kind)),
                );
            }
        }
    }

    /// A key that is kept, and was probably meant for one that is not there.
    fn check_misspelling(&mut self, map: &Node, name: &Node, keys: &[Key], path: &str) {
        let absent = keys.iter().map(|key| key.name);
        let absent = absent.filter(|key| map.get(key).is_none());
        let text = name.text().unwrap_or_default();
        if let Some(meant) = closest(text, absent) {
            let one = Diagnostic::warning(self.file, format!("unknown key `{text}`"))
                .at(name.line, name.column)
                .key(path)
                .help(format!("did you mean `{meant}`?"));
            self.diagnostics.push(one);
        }
    }

    fn suggest_key(&self, name: &str, keys: &[Key], path: &str) -> String {
        let renamed = self.renamed.iter();
        let renamed = renamed.filter(|_| path.is_empty());
        if let Some((_, here)) = renamed.into_iter().find(|(there, _)| *there == name) {
            return format!("here it is called `{here}`");
        }
        match closest(name, keys.iter().map(|key| key.name)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "remove it: artifacts have the keys of their template and no others".to_owned(),
        }
    }

    fn validate_value(&mut self, node: &Node, kind: &'static Kind, path: &str) {
        match kind {
            Kind::Map(keys) => return self.check_map(node, keys, UnknownKeys::Refused, path),
            Kind::Open(keys) => return self.check_map(node, keys, UnknownKeys::Kept, path),
            Kind::Table(table) => return self.check_table(node, table, path),
            Kind::List(list) => return self.check_list(node, list, path),
            _ => {}
        }
        // The day that a template shows could name a role, and the schema takes it for one.
        let free = matches!(
            kind,
            Kind::Phrase | Kind::Passage | Kind::Verbatim | Kind::Spotted
        );
        let named = |text: &str| {
            free || matches!(kind, Kind::Role | Kind::Stream | Kind::Label) && values::is_name(text)
        };
        if let Some(text) = node.text().filter(|text| !named(text))
            && let Some(left) = left_behind(text)
        {
            let wrong = format!("the placeholder `{left}` was left in it");
            return self.report(node, path, wrong, format!("write {}", expected_form(kind)));
        }
        if let Err(wrong) = check_scalar(node, kind) {
            let help = match in_other_capitals(node, kind) {
                Some(word) => format!("write `{word}`"),
                None => format!("write {}", expected_form(kind)),
            };
            self.report(node, path, wrong, help);
        }
    }

    fn check_list(&mut self, node: &Node, list: &'static List, path: &str) {
        let Value::List(items) = &node.value else {
            let wrong = format!("{} stands where a list belongs", node.is_called());
            let help = if self.file.ends_with(".json") {
                "write a list in `[` and `]`"
            } else if list.least == 0 {
                "write a list, one entry a line after `- `, or `[]`"
            } else {
                "write a list, one entry a line after `- `"
            };
            return self.report(node, path, wrong, help);
        };
        if items.len() < list.least || items.len() > list.most {
            let wrong = format!("there are {} entries", items.len());
            let help = match (list.least, list.most) {
                (least, most) if least == most => format!("write exactly {least}"),
                (least, _) if items.len() < least => format!("write at least {least}"),
                (_, most) => format!("write at most {most}"),
            };
            self.report(node, path, wrong, help);
        }
        let has = |item: &Node| item.text().is_some_and(|text| list.one_of.contains(&text));
        if let Some(first) = list.one_of.first()
            && !items.iter().any(has)
        {
            let wrong = format!("`{first}` is not among them");
            self.report(node, path, wrong, format!("add `- {first}`"));
        }
        for (index, item) in items.iter().enumerate() {
            self.validate_value(item, list.of, &format!("{path}[{index}]"));
        }
    }

    fn check_table(&mut self, node: &Node, table: &'static Table, path: &str) {
        let Value::Map(entries) = &node.value else {
            let wrong = format!("{} stands where a map belongs", node.is_called());
            return self.report(node, path, wrong, "write a name and its value for each");
        };
        if entries.len() > table.most {
            let wrong = format!("there are {} entries", entries.len());
            self.report(node, path, wrong, format!("write at most {}", table.most));
        }
        for (name, value) in entries {
            let text = name.text().unwrap_or_default();
            let at = join_keys(path, text);
            if values::is_blank(text) || text.chars().count() > LINE_LIMIT_CHARS {
                let help = format!("write a name of at most {LINE_LIMIT_CHARS} characters");
                self.report(name, path, "this is not a name", help);
            }
            self.validate_value(value, table.of, &at);
        }
    }

    fn check_rule(&mut self, root: &Node, rule: &Rule) {
        let within = if rule.within.is_empty() {
            Some(root)
        } else {
            root.get(rule.within)
        };
        let Some(map) = within else { return };
        let holds = map.get(rule.when).is_some_and(|node| match rule.is {
            Is::True => node.value == Value::Flag(true),
            Is::Word(word) => node.text() == Some(word),
        });
        let then = map.get(rule.then);
        let says = |node: &Node| node.text().is_none_or(|text| !values::is_blank(text));
        if holds && !then.is_some_and(says) {
            let at = join_keys(rule.within, rule.then);
            let is = match rule.is {
                Is::True => "true",
                Is::Word(word) => word,
            };
            let wrong = format!("`{}` is {is}, and `{}` says nothing", rule.when, rule.then);
            self.report(then.unwrap_or(map), &at, wrong, "write the reason");
        }
    }
}

pub(super) fn join_keys(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// What is wrong with a value that is neither list nor map.
fn check_scalar(node: &Node, kind: &Kind) -> Result<(), String> {
    let not = |wanted: &str| {
        Err(format!(
            "{} stands where {wanted} belongs",
            node.is_called()
        ))
    };
    match kind {
        Kind::Version(version) => match node.integer() {
            Some(number) if number == *version => return Ok(()),
            Some(number) => return Err(format!("version {number} is not known")),
            None => return not("a number"),
        },
        Kind::Count => {
            return match node.integer() {
                Some(0..=NUMBER_LIMIT) => Ok(()),
                Some(number) => Err(format!("{number} is not a count")),
                None => not("a whole number"),
            };
        }
        Kind::Flag => {
            return match node.value {
                Value::Flag(_) => Ok(()),
                _ => not("a truth value"),
            };
        }
        Kind::Number(least, most) => {
            let number = match node.value {
                #[expect(clippy::cast_precision_loss, reason = "it is only compared")]
                Value::Integer(number) => number as f64,
                Value::Float(number) => number,
                _ => return not("a number"),
            };
            return if (*least..=*most).contains(&number) {
                Ok(())
            } else {
                Err(format!("{number} is out of range"))
            };
        }
        Kind::Spot(_) | Kind::Spotted if node.integer().is_some() => {
            return match node.integer() {
                Some(1..=NUMBER_LIMIT) => Ok(()),
                _ => Err("lines count from 1".to_owned()),
            };
        }
        _ => {}
    }
    let Some(text) = node.text() else {
        if matches!(kind, Kind::Id | Kind::Link) && node.integer().is_some() {
            return Err("without quotes this is a number, and not an id".to_owned());
        }
        return not("a text");
    };
    check_text(text, kind)
}

/// What is wrong with a text.
fn check_text(text: &str, kind: &Kind) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("`{}` is {what}", excerpt(text)));
    let limit = match kind {
        Kind::Text(_) | Kind::Prose | Kind::Passage => TEXT_LIMIT_CHARS,
        Kind::Verbatim => OUTPUT_LIMIT_CHARS,
        _ => LINE_LIMIT_CHARS,
    };
    let length = text.chars().count();
    if length > limit {
        return Err(format!("it has {length} characters, more than {limit}"));
    }
    match kind {
        Kind::Id if !values::is_id(text) => wrong("not an id"),
        Kind::Link if !text.is_empty() && !values::is_id(text) => wrong("not an id"),
        Kind::Role | Kind::Stream | Kind::Label if !values::is_name(text) => wrong("not a name"),
        Kind::Date if !values::is_date(text) => wrong("not a day"),
        Kind::Instant if !values::is_instant(text) => wrong("not an instant"),
        Kind::Commit if !values::is_commit(text) => wrong("not a commit"),
        Kind::Word(words) if !words.contains(&text) => wrong("none of the words it may be"),
        Kind::Line(_)
        | Kind::Text(_)
        | Kind::Command(_)
        | Kind::Spot(_)
        | Kind::Phrase
        | Kind::Passage
        | Kind::Spotted
            if values::is_blank(text) =>
        {
            Err("it says nothing".to_owned())
        }
        Kind::Line(_) | Kind::Command(_) | Kind::Spot(_) | Kind::Phrase | Kind::Spotted
            if values::has_breaks(text) =>
        {
            Err("it has several lines".to_owned())
        }
        Kind::Command(_) if values::starts_an_agent(text) => {
            wrong("a command that starts an agent")
        }
        _ => Ok(()),
    }
}

/// The word that a text is in other capitals, where the kind is one of some words.
pub(super) fn in_other_capitals(node: &Node, kind: &Kind) -> Option<&'static str> {
    let Kind::Word(words) = kind else {
        return None;
    };
    let text = node.text()?.trim();
    let mut words = words.iter().copied();
    words.find(|word| word.eq_ignore_ascii_case(text))
}

/// The beginning of a text, for a message.
fn excerpt(text: &str) -> String {
    const SHOWN_CHARS: usize = 60;
    let line: String = text.chars().take(SHOWN_CHARS).collect();
    let cut = if line.len() < text.len() { "…" } else { "" };
    format!("{}{cut}", line.escape_debug())
}

/// What is to be written, for a help.
fn expected_form(kind: &Kind) -> String {
    match kind {
        Kind::Version(version) => format!("{version}"),
        Kind::Id => "six lower-case letters and digits in quotes, such as \"a1b2c3\"".to_owned(),
        Kind::Link => "\"\" while it is open, else the id of the work item in quotes".to_owned(),
        Kind::Role => "the name of the role: letters, digits, `-` and `_`".to_owned(),
        Kind::Stream => "the name of the workstream: letters, digits, `-` and `_`".to_owned(),
        Kind::Label => "a label: letters, digits, `-` and `_`".to_owned(),
        Kind::Date => "the day in UTC, such as 2026-01-05".to_owned(),
        Kind::Instant => "the instant, such as 2026-01-05T10:00:00Z".to_owned(),
        Kind::Commit => "7 to 64 hexadecimal digits in quotes".to_owned(),
        Kind::Line(_) | Kind::Phrase => {
            format!("a text on one line, at most {LINE_LIMIT_CHARS} characters")
        }
        Kind::Text(_) | Kind::Prose | Kind::Passage => {
            format!("a text, at most {TEXT_LIMIT_CHARS} characters")
        }
        Kind::Verbatim => format!("a text, at most {OUTPUT_LIMIT_CHARS} characters"),
        Kind::Spotted => "a line's number from 1, or a text on one line".to_owned(),
        Kind::Number(least, most) if *most < 1e9 => format!("a number from {least} to {most}"),
        Kind::Number(least, _) => format!("a number from {least}"),
        Kind::Command(_) => "a command on one line that builds or tests".to_owned(),
        Kind::Spot(_) => "a line, a range such as \"10-20\", or a symbol".to_owned(),
        Kind::Word(words) => crate::plan::suggest::either_of(words.iter().copied()),
        Kind::Flag => "true or false".to_owned(),
        Kind::Count => "a whole number from 0".to_owned(),
        Kind::List(list) if list.least == 0 => "a list, or `[]`".to_owned(),
        Kind::List(_) => "a list".to_owned(),
        Kind::Map(_) | Kind::Open(_) | Kind::Table(_) => "a map".to_owned(),
    }
}
