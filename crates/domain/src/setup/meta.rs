//! Reading a component's `meta.toml`.

use std::ops::Range;

use super::limits::VARIABLES_LIMIT;
use super::text::{Notes, table_entries};
use super::variable::{name_complaint, value_complaint};
use super::{Class, Component, Origin, Variable};
use crate::Diagnostic;
use crate::diagnostic::line_and_column;
use crate::plan::closest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 7] = [
    "name",
    "summary",
    "dependencies",
    "paths",
    "vars",
    "secrets",
    "env",
];

/// What a `meta.toml` says.
pub(super) struct Meta {
    pub(super) component: Component,
    /// Line and column of each dependency.
    pub(super) dependencies_at: Vec<(u32, u32)>,
}

/// Reads the file of the component that a folder is named after. `None` where something is wrong.
pub(super) fn read_meta(
    file: &str,
    folder: &str,
    text: &str,
    origin: Origin,
) -> (Option<Meta>, Vec<Diagnostic>) {
    let (mut notes, table) = Notes::parse_toml(file, text);
    let Some(table) = table else {
        return (None, notes.diagnostics);
    };
    let (mut summary, mut paths, mut variables) = (String::new(), Vec::new(), Vec::new());
    let (mut dependencies, mut dependencies_at) = (Vec::new(), Vec::new());
    for (key, at, value) in table_entries(table.get_ref()) {
        match key {
            "name" => check_name(&mut notes, folder, value),
            "summary" => summary = read_line(&mut notes, key, value),
            "dependencies" => {
                (dependencies, dependencies_at) = read_dependencies(&mut notes, text, value);
            }
            "paths" => paths = read_paths(&mut notes, value),
            "vars" => read_variables(&mut notes, key, value, Class::Plain, &mut variables),
            "secrets" => read_variables(&mut notes, key, value, Class::Secret, &mut variables),
            "env" => read_variable_list(&mut notes, value, &mut variables),
            _ => {
                let help = match closest(key, KEYS) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("the keys are {}", KEYS.join(", ")),
                };
                notes.report_error(&at, key, format!("unknown key `{key}`"), help);
            }
        }
    }
    variables.sort_by(|one, other| one.name.cmp(&other.name));
    let sound = notes.diagnostics.is_empty();
    let meta = Meta {
        component: Component {
            name: folder.to_owned(),
            summary,
            dependencies,
            paths,
            variables,
            fragment: String::new(),
            origin,
        },
        dependencies_at,
    };
    (sound.then_some(meta), notes.diagnostics)
}

fn check_name(notes: &mut Notes<'_>, folder: &str, value: &Spanned<DeValue<'_>>) {
    let key = "name";
    if notes.text_of(key, value).is_some_and(|name| name != folder) {
        notes.report_error(
            &value.span(),
            key,
            "the name is not that of the folder",
            format!("write `name = \"{folder}\"`, or leave it out"),
        );
    }
}

/// The names of other components, each once, and the line and column of each.
fn read_dependencies(
    notes: &mut Notes<'_>,
    text: &str,
    value: &Spanned<DeValue<'_>>,
) -> (Vec<String>, Vec<(u32, u32)>) {
    let mut names: Vec<String> = Vec::new();
    let mut places = Vec::new();
    let texts = notes.texts_of("dependencies", value);
    for (index, (name, at)) in texts.into_iter().enumerate() {
        if names.iter().any(|known| known == name) {
            let key = format!("dependencies[{index}]");
            let message = format!("`{name}` is named twice");
            notes.report_error(&at, &key, message, "remove one");
        } else {
            names.push(name.to_owned());
            places.push(line_and_column(text, at.start));
        }
    }
    (names, places)
}

fn read_paths(notes: &mut Notes<'_>, value: &Spanned<DeValue<'_>>) -> Vec<String> {
    let mut paths = Vec::new();
    for (index, (path, at)) in notes.texts_of("paths", value).into_iter().enumerate() {
        if is_path(path) {
            paths.push(path.to_owned());
        } else {
            notes.report_error(
                &at,
                &format!("paths[{index}]"),
                "this is not a folder below the home folder",
                "write it without `~/`, of letters, digits and `._-/`, such as `.cargo/bin`",
            );
        }
    }
    paths
}

fn is_path(path: &str) -> bool {
    path.split('/').all(|part| {
        !matches!(part, "" | "." | "..")
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    })
}

/// A text on one line; it becomes a remark in files.
fn read_line(notes: &mut Notes<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> String {
    let Some(text) = notes.text_of(key, value) else {
        return String::new();
    };
    if text.contains(char::is_control) {
        let help = "write it on one line";
        notes.report_error(&value.span(), key, "this has more than one line", help);
        return String::new();
    }
    text.trim().to_owned()
}

/// `[vars]` and `[secrets]`: `NAME = { description = "…", default = "…" }`.
fn read_variables(
    notes: &mut Notes<'_>,
    key: &str,
    value: &Spanned<DeValue<'_>>,
    class: Class,
    into: &mut Vec<Variable>,
) {
    let Some(table) = notes.table_of(key, value) else {
        return;
    };
    for (name, at, value) in table_entries(table) {
        let key = format!("{key}.{name}");
        if let Some(table) = notes.table_of(&key, value) {
            read_variable(notes, &key, (name, &at), table, class, into);
        }
    }
}

/// `[[env]]`: the older form, with the name as a key.
fn read_variable_list(
    notes: &mut Notes<'_>,
    value: &Spanned<DeValue<'_>>,
    into: &mut Vec<Variable>,
) {
    let Some(items) = value.get_ref().as_array() else {
        let help = "write `[[env]]` before each variable, with `name = \"…\"` below it";
        notes.report_error(&value.span(), "env", "this is not a list of tables", help);
        return;
    };
    for (index, item) in items.iter().enumerate() {
        let key = format!("env[{index}]");
        let Some(table) = notes.table_of(&key, item) else {
            continue;
        };
        let name = table_entries(table)
            .into_iter()
            .find(|(key, _, _)| *key == "name");
        let Some((_, _, name)) = name else {
            let help = "write `name = \"UV_VERSION\"`";
            notes.report_error(&item.span(), &key, "the variable has no name", help);
            continue;
        };
        if let Some(text) = notes.text_of(&format!("{key}.name"), name) {
            let at = name.span();
            // This form cannot say what is secret. What has a default is not; of the rest the worst is thought, since
            // plain values come into the script, which is committed.
            let has_default = table_entries(table)
                .iter()
                .any(|(key, _, _)| *key == "default");
            let class = if has_default {
                Class::Plain
            } else {
                Class::Secret
            };
            read_variable(notes, &key, (text, &at), table, class, into);
        }
    }
}

fn read_variable(
    notes: &mut Notes<'_>,
    path: &str,
    (name, at): (&str, &Range<usize>),
    table: &DeTable<'_>,
    class: Class,
    into: &mut Vec<Variable>,
) {
    if let Some((message, help)) = name_complaint(name) {
        notes.report_error(at, path, message, help);
        return;
    }
    if into.iter().any(|known| known.name == name) {
        notes.report_error(
            at,
            path,
            format!("`{name}` is declared twice"),
            "remove one of the two",
        );
        return;
    }
    if into.len() >= VARIABLES_LIMIT {
        let message = format!("more than {VARIABLES_LIMIT} variables");
        notes.report_error(at, path, message, "declare fewer");
        return;
    }
    let mut variable = Variable {
        name: name.to_owned(),
        class,
        description: String::new(),
        default: String::new(),
    };
    for (key, at, value) in table_entries(table) {
        let whole = format!("{path}.{key}");
        match key {
            "name" if path.starts_with("env[") => {}
            "description" => variable.description = read_line(notes, &whole, value),
            "default" if class == Class::Secret => notes.report_error(
                &at,
                &whole,
                "a secret cannot have a default: this file is committed",
                "take it out; the value belongs in secrets.toml",
            ),
            "default" => {
                let text = notes.text_of(&whole, value).unwrap_or_default();
                if let Some((message, help)) = value_complaint(text) {
                    notes.report_error(&value.span(), &whole, message, help);
                }
                text.clone_into(&mut variable.default);
            }
            _ => notes.report_error(
                &at,
                &whole,
                format!("unknown key `{key}`"),
                "the keys are `description` and `default`",
            ),
        }
    }
    into.push(variable);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostics_of(text: &str) -> Vec<String> {
        let (meta, found) = read_meta("m", "uv", text, Origin::Repository);
        assert_eq!(meta.is_none(), !found.is_empty(), "{text}");
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn both_forms_of_variables_are_read() {
        let text = "name = \"uv\"\nsummary = \"Python\"\ndependencies = [\"gh\"]\npaths = [\".local/bin\"]\n\
                    [vars]\nUV_VERSION = { description = \"which\", default = \"0.7\" }\n\
                    [secrets.UV_TOKEN]\ndescription = \"key\"\n[[env]]\nname = \"UV_X\"\ndefault = \"1\"\n\
                    [[env]]\nname = \"UV_Y\"\n";
        let (meta, found) = read_meta("m", "uv", text, Origin::Repository);
        assert_eq!(found, []);
        let meta = meta.unwrap();
        assert_eq!(meta.dependencies_at, [(3, 17)]);
        let variables: Vec<_> = meta
            .component
            .variables
            .iter()
            .map(|v| (v.name.as_str(), v.class, v.default.as_str()))
            .collect();
        assert_eq!(
            variables,
            [
                ("UV_TOKEN", Class::Secret, ""),
                ("UV_VERSION", Class::Plain, "0.7"),
                ("UV_X", Class::Plain, "1"),
                // Its value would enter a script that is committed.
                ("UV_Y", Class::Secret, ""),
            ]
        );
    }

    #[test]
    fn every_mistake_has_its_place() {
        for (text, begins) in [
            (
                "name = \"uw\"",
                "m:1:8: error: the name is not that of the folder (at name)",
            ),
            ("summary = 3", "m:1:11: error: this is not a text"),
            (
                "summary = \"a\\nb\"",
                "m:1:11: error: this has more than one line",
            ),
            ("dependencies = \"gh\"", "m:1:16: error: this is not a list"),
            (
                "dependencies = [1]",
                "m:1:17: error: this is not a text (at dependencies[0])",
            ),
            (
                "dependencies = [\"a\", \"a\"]",
                "m:1:22: error: `a` is named twice",
            ),
            (
                "paths = [\"/usr/bin\"]",
                "m:1:10: error: this is not a folder below the home folder (at paths[0])",
            ),
            ("paths = [\"$X\"]", "m:1:10: error: this is not a folder"),
            (
                "paths = [\"a/../..\"]",
                "m:1:10: error: this is not a folder",
            ),
            ("vars = 3", "m:1:8: error: this is not a table (at vars)"),
            (
                "[vars]\nX = \"1\"",
                "m:2:5: error: this is not a table (at vars.X)",
            ),
            ("[vars]\nPATH = {}", "m:2:1: error: `PATH` steers"),
            ("[vars.\"a b\"]", "m:1:7: error: `a b` cannot be"),
            (
                "[vars.X]\ndefault = 3",
                "m:2:11: error: this is not a text (at vars.X.default)",
            ),
            (
                "[vars.X]\ndefault = \"\\u0000\"",
                "m:2:11: error: the value holds a NUL",
            ),
            (
                "[vars.X]\ndefxult = \"\"",
                "m:2:1: error: unknown key `defxult`",
            ),
            (
                "[vars.X]\n[secrets.X]",
                "m:2:10: error: `X` is declared twice",
            ),
            (
                "[secrets.X]\ndefault = \"s\"",
                "m:2:1: error: a secret cannot have a default",
            ),
            ("env = 3", "m:1:7: error: this is not a list of tables"),
            (
                "[[env]]\ndefault = \"x\"",
                "m:1:1: error: the variable has no name (at env[0])",
            ),
            (
                "summxry = \"\"",
                "m:1:1: error: unknown key `summxry` (at summxry); did you mean `summary`?",
            ),
            ("summary = ", "m:1:"),
        ] {
            let found = diagnostics_of(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(begins), "{text}: {}", found[0]);
        }
        let many: String = (0..=VARIABLES_LIMIT)
            .map(|n| format!("[vars.X{n}]\n"))
            .collect();
        assert!(
            diagnostics_of(&many)[0].contains(&format!("more than {VARIABLES_LIMIT} variables"))
        );
    }
}
