//! Reads a stream's roster: `scheduled.toml` of the workstreams layout.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::values;
use crate::diagnostic::Diagnostic;
use crate::plan::duplicate;
use crate::plan::suggest::closest;

/// The roles that work in a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roster {
    /// Whether the stream is enabled at all.
    pub enabled: bool,
    /// Its observers, in order.
    pub observers: Vec<String>,
    /// Its deciders, in order; without any, people decide.
    pub deciders: Vec<String>,
}

/// The layers that a roster lists.
const LAYERS: [&str; 3] = ["observers", "deciders", "innovators"];
const KEYS: [&str; 5] = ["version", "enabled", "observers", "deciders", "innovators"];

/// Reads a roster; `None` if it is no TOML.
pub(super) fn read_roster(file: &str, text: &str) -> (Option<Roster>, Vec<Diagnostic>) {
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let span = error.span().unwrap_or_default();
            let wrong = duplicate(error.message(), text, span.start);
            let one = Diagnostic::error(file, format!("this is not TOML: {wrong}"));
            let one = one.at_offset(text, span.start);
            return (None, vec![one.help("quote texts, and write `key = value`")]);
        }
    };
    let whole = table.span();
    let mut reader = Reader {
        file,
        text,
        diagnostics: Vec::new(),
    };
    let roster = reader.read_table(table.get_ref(), whole);
    (Some(roster), reader.diagnostics)
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn report(&mut self, at: Range<usize>, key: &str, message: impl Into<String>, help: &str) {
        let one = Diagnostic::error(self.file, message)
            .at_offset(self.text, at.start)
            .key(key)
            .help(help);
        self.diagnostics.push(one);
    }

    fn read_table(&mut self, table: &DeTable<'_>, whole: Range<usize>) -> Roster {
        self.report_unknown_keys(table, &KEYS, "");
        let mut roster = Roster::default();
        match table
            .get("version")
            .map(|value| (value.get_ref(), value.span()))
        {
            Some((DeValue::Integer(number), _)) if number.as_str() == "1" => {}
            Some((_, at)) => self.report(at, "version", "this version is not known", "write 1"),
            None => self.report(
                whole.clone(),
                "version",
                "`version` is missing",
                "write `version = 1`",
            ),
        }
        match table
            .get("enabled")
            .map(|value| (value.get_ref(), value.span()))
        {
            Some((DeValue::Boolean(enabled), _)) => roster.enabled = *enabled,
            Some((_, at)) => self.report(
                at,
                "enabled",
                "it is not a truth value",
                "write true or false",
            ),
            None => self.report(
                whole.clone(),
                "enabled",
                "`enabled` is missing",
                "write `enabled = true`",
            ),
        }
        for layer in LAYERS {
            let roles = match table.get(layer) {
                Some(value) => self.read_layer(value, layer),
                None if layer == "innovators" => Vec::new(),
                None => {
                    let wrong = format!("`[{layer}]` is missing");
                    let help = "write the table with `roles = []`";
                    self.report(whole.clone(), layer, wrong, help);
                    Vec::new()
                }
            };
            match layer {
                "observers" => roster.observers = roles,
                "deciders" => roster.deciders = roles,
                _ => {}
            }
        }
        if roster.enabled && roster.observers.is_empty() {
            let at = table.get("enabled").map_or(whole, Spanned::span);
            let wrong = "it is enabled, and has no observers";
            let help = "name an observer, or write `enabled = false`";
            self.report(at, "enabled", wrong, help);
        }
        roster
    }

    fn read_layer(&mut self, value: &Spanned<DeValue<'_>>, layer: &str) -> Vec<String> {
        let key = format!("{layer}.roles");
        let Some(table) = value.get_ref().as_table() else {
            self.report(
                value.span(),
                layer,
                "it is not a table",
                "write `roles = []` below it",
            );
            return Vec::new();
        };
        self.report_unknown_keys(table, &["roles"], layer);
        let Some(roles) = table.get("roles") else {
            self.report(
                value.span(),
                &key,
                "`roles` is missing",
                "write `roles = []`",
            );
            return Vec::new();
        };
        let Some(items) = roles.get_ref().as_array() else {
            self.report(
                roles.span(),
                &key,
                "it is not a list",
                "write the roles in brackets",
            );
            return Vec::new();
        };
        self.read_roles(items, &key)
    }

    /// The names of the enabled roles of a list.
    fn read_roles(&mut self, items: &DeArray<'_>, key: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let key = format!("{key}[{index}]");
            // Older forms wrote `{ name = "…", enabled = true }`.
            let (name, on) = match item.get_ref() {
                DeValue::Table(entry) => (
                    entry.get("name").and_then(|name| name.get_ref().as_str()),
                    entry.get("enabled").and_then(|on| on.get_ref().as_bool()) != Some(false),
                ),
                other => (other.as_str(), true),
            };
            match name {
                Some(name) if !values::is_name(name) => {
                    let wrong = format!("`{}` cannot be a role", name.escape_debug());
                    self.report(
                        item.span(),
                        &key,
                        wrong,
                        "a role has letters, digits, `-` and `_`",
                    );
                }
                Some(name) if !seen.insert(name.to_owned()) => {
                    let wrong = format!("`{name}` is there twice");
                    self.report(item.span(), &key, wrong, "name each role once");
                }
                Some(name) if on => names.push(name.to_owned()),
                Some(_) => {}
                None => self.report(
                    item.span(),
                    &key,
                    "it names no role",
                    "write the role's name",
                ),
            }
        }
        names
    }

    fn report_unknown_keys(&mut self, table: &DeTable<'_>, known: &[&str], within: &str) {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let help = match closest(name, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "remove it".to_owned(),
            };
            let path = if within.is_empty() {
                name.to_owned()
            } else {
                format!("{within}.{name}")
            };
            let wrong = format!("unknown key `{name}`");
            self.report(key.span(), &path, wrong, &help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostics_of(text: &str) -> Vec<String> {
        let (_, found) = read_roster("s.toml", text);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn both_forms_of_roles_are_read() {
        let text = "version = 1\nenabled = true\n[observers]\nroles = [\"qa\", { name = \"cov\", enabled = true }, { name = \"x\", enabled = false }]\n[deciders]\nroles = [\"triage_generic\"]\n";
        let (roster, wrong) = read_roster("s.toml", text);
        assert_eq!(wrong, []);
        let expected = Roster {
            enabled: true,
            observers: vec!["qa".to_owned(), "cov".to_owned()],
            deciders: vec!["triage_generic".to_owned()],
        };
        assert_eq!(roster, Some(expected));
    }

    #[test]
    fn every_mistake_has_its_place() {
        let rest = "[observers]\nroles = [\"a\"]\n[deciders]\nroles = []\n";
        for (text, word) in [
            (format!("enabled = true\n{rest}"), "`version` is missing"),
            (format!("version = 2\nenabled = true\n{rest}"), "s.toml:1:11: error: this version is not known"),
            (format!("version = 1\n{rest}"), "`enabled` is missing"),
            (format!("version = 1\nenabled = 1\n{rest}"), "s.toml:2:11: error: it is not a truth value"),
            (format!("version = 1\nenabled = true\nenable = 1\n{rest}"), "did you mean `enabled`?"),
            ("version = 1\nenabled = false\n[deciders]\nroles = []\n".to_owned(), "`[observers]` is missing"),
            ("version = 1\nenabled = true\n[observers]\nroles = []\n[deciders]\nroles = []\n".to_owned(), "has no observers"),
            ("version = 1\nenabled = true\n[observers]\nroles = [\"a\", \"a\"]\n[deciders]\nroles = []\n".to_owned(), ":4:15: error: `a` is there twice"),
            ("version = 1\nenabled = true\n[observers]\nroles = [\"a\", \"../b\", 3]\n[deciders]\nroles = []\n".to_owned(), "`../b` cannot be a role"),
            ("version = 1\nenabled = true\n[observers]\nroles = [\"a\"]\nrole = 1\n[deciders]\nroles = []\n".to_owned(), "(at observers.role); did you mean `roles`?"),
            ("version = 1\nenabled = true\nobservers = 1\ndeciders = {}\n".to_owned(), "it is not a table"),
            ("version = \n".to_owned(), "not TOML"),
        ] {
            let found = diagnostics_of(&text);
            assert!(found.iter().any(|one| one.contains(word)), "{word}: {found:?}");
        }
    }
}
