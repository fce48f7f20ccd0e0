//! The values that people wrote into `vars.toml`, `secrets.toml` or `env.toml`.

use std::collections::BTreeMap;

use super::limits::VARIABLES_LIMIT;
use super::text::{Notes, table_entries};
use super::variable::{name_complaint, value_complaint};
use crate::Diagnostic;
use crate::diagnostic::line_and_column;
use toml::Spanned;
use toml::de::DeValue;

/// The values of one file by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) file: String,
    pub(super) values: BTreeMap<String, Setting>,
}

/// What a file says of one variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) value: String,
    pub(super) note: String,
    /// Line and column of its name.
    pub(super) at: (u32, u32),
}

/// Reads a file: `[NAME]` with `value` and `note`, or `NAME = value`. Numbers and `true` count as they are written.
pub(super) fn read_settings(file: &str, text: &str) -> (Settings, Vec<Diagnostic>) {
    let (mut notes, table) = Notes::parse_toml(file, text);
    let mut settings = Settings {
        file: file.to_owned(),
        values: BTreeMap::new(),
    };
    let Some(table) = table else {
        return (settings, notes.diagnostics);
    };
    for (name, at, value) in table_entries(table.get_ref()) {
        if let Some((message, help)) = name_complaint(name) {
            notes.report_error(&at, name, message, help);
            continue;
        }
        if settings.values.len() >= VARIABLES_LIMIT {
            let message = format!("more than {VARIABLES_LIMIT} variables");
            notes.report_error(&at, name, message, "remove those that are not needed");
            break;
        }
        let mut setting = Setting {
            value: String::new(),
            note: String::new(),
            at: line_and_column(text, at.start),
        };
        match value.get_ref() {
            DeValue::Table(table) => {
                for (key, at, value) in table_entries(table) {
                    let path = format!("{name}.{key}");
                    match key {
                        "value" => setting.value = written_value(&mut notes, text, &path, value),
                        "note" => {
                            let note = notes.text_of(&path, value).unwrap_or_default();
                            note.clone_into(&mut setting.note);
                        }
                        _ => notes.report_error(
                            &at,
                            &path,
                            format!("unknown key `{key}`"),
                            "the keys are `value` and `note`; a variable of its own has its own `[NAME]`",
                        ),
                    }
                }
            }
            _ => setting.value = written_value(&mut notes, text, name, value),
        }
        settings.values.insert(name.to_owned(), setting);
    }
    (settings, notes.diagnostics)
}

/// A value as the environment gets it.
fn written_value(
    notes: &mut Notes<'_>,
    text: &str,
    key: &str,
    value: &Spanned<DeValue<'_>>,
) -> String {
    let value_text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
            text.get(value.span()).unwrap_or_default().to_owned()
        }
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            let help = "write a text between double quotes";
            notes.report_error(
                &value.span(),
                key,
                "this is not a value for a variable",
                help,
            );
            String::new()
        }
    };
    if let Some((message, help)) = value_complaint(&value_text) {
        notes.report_error(&value.span(), key, message, help);
    }
    value_text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_every_form() {
        let text = "E = \"plain\"\n[A]\nvalue = \"1\"\nnote = \"n\"\n[B]\nvalue = 22\n[C]\n[D]\nvalue = true\n";
        let (settings, found) = read_settings("vars.toml", text);
        assert_eq!(found, []);
        let values: Vec<_> = settings
            .values
            .iter()
            .map(|(name, s)| (name.as_str(), s.value.as_str(), s.note.as_str(), s.at.0))
            .collect();
        assert_eq!(
            values,
            [
                ("A", "1", "n", 2),
                ("B", "22", "", 5),
                ("C", "", "", 7),
                ("D", "true", "", 8),
                ("E", "plain", "", 1),
            ]
        );
    }

    #[test]
    fn every_mistake_has_its_place_and_no_value_is_told() {
        for (text, begins) in [
            (
                "[A]\nvalue = [\"s3cret\"]",
                "v:2:9: error: this is not a value for a variable (at A.value)",
            ),
            (
                "[A]\nvalue = 2026-01-05",
                "v:2:9: error: this is not a value",
            ),
            (
                "[A]\nvalue = \"s3cret\\u0000\"",
                "v:2:9: error: the value holds a NUL",
            ),
            (
                "[A]\nnote = 3",
                "v:2:8: error: this is not a text (at A.note)",
            ),
            (
                "[A]\nvaxlue = \"s3cret\"",
                "v:2:1: error: unknown key `vaxlue` (at A.vaxlue)",
            ),
            ("PATH = \"s3cret\"", "v:1:1: error: `PATH` steers"),
            ("[A]\nvalue = \"s3cret", "v:2:"),
            ("[A]\nvalue = s3cret", "v:2:9: error"),
        ] {
            let (_, found) = read_settings("v", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            let said = found[0].to_string();
            assert!(said.starts_with(begins), "{text}: {said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
        let many: String = (0..=VARIABLES_LIMIT)
            .map(|n| format!("X{n} = \"\"\n"))
            .collect();
        assert!(
            read_settings("v", &many).1[0]
                .message
                .contains(&format!("more than {VARIABLES_LIMIT} variables"))
        );
    }
}
