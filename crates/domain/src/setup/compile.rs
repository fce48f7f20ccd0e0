//! From `tools.yml` to everything that is written.

use super::limits::{FILE_LIMIT_BYTES, VARIABLES_LIMIT};
use super::merge::{self, Merged, Valued, Written};
use super::settings::{self, Settings};
use super::{Catalogue, Class, Component, Layout, ignore, order, script, text, tools};
use crate::Diagnostic;
use crate::model::Tree;

const PLAIN_TOP: &str = "\
# Variables that the tools of tools.yml read and anybody may know. `phileas setup gen` puts them into install.sh, as far as
# they have a value. It writes this file, too, and keeps each `value` and `note`.
";
const SECRET_TOP: &str = "\
# Secrets that the tools of tools.yml read. Git ignores this file; Jules must be told them as variables of the repository's
# environment. `phileas setup gen` writes this file, and keeps each `value` and `note`.
";
const JOINED_TOP: &str = "\
# Variables that the tools of tools.yml read. Git ignores this file; Jules must be told the secret ones as variables of the
# repository's environment. `phileas setup gen` writes this file, and keeps each `value` and `note`.
";

/// Who may read a file, and whether it can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is committed.
    Open,
    /// Only its owner may read or write it: 0600.
    Private,
    /// A program.
    Executable,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// From the repository's root.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Who may read it.
    pub mode: Mode,
}

/// A set-up, compiled.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// Where it lies.
    pub layout: Layout,
    /// The tools in the order in which they are installed.
    pub order: Vec<Component>,
    /// The files to write. What keeps secrets from git is the first one.
    pub files: Vec<Output>,
    /// All files that hold secrets, whether they are written or left over from before.
    pub private: Vec<String>,
    /// The secrets that Jules must know, and whether each has a value here.
    pub secrets: Vec<(String, bool)>,
    /// Warnings.
    pub said: Vec<Diagnostic>,
}

/// Compiles the set-up of a repository. `published` are the names of variables that were secrets, and whose values may go
/// into files that are committed.
///
/// # Errors
///
/// Every mistake that was found, at least one of them an error; nothing may be written then.
pub fn compile_setup(tree: &Tree, published: &[String]) -> Result<Compiled, Vec<Diagnostic>> {
    let layout = Layout::detect(tree).map_err(|said| vec![said])?;
    let (catalogue, mut said) = Catalogue::read_catalogue(tree, layout);
    let mut wanted = Vec::new();
    let tools_file = layout.path("tools.yml");
    if let Some(text) = sort_components(text::read_text(tree, &tools_file), &mut said) {
        let (names, found) = tools::read_tools(&tools_file, text, &catalogue);
        wanted = names;
        said.extend(found);
    }
    let order = match order::sort_by_dependency(&catalogue, &wanted) {
        Ok(order) => order,
        Err(circle) => {
            said.push(circle);
            Vec::new()
        }
    };
    let written = read_written(tree, layout, &mut said);
    let (declared, raised) = merge::declared_variables(&order);
    for (name, tool) in raised {
        let message = format!(
            "`{name}` is a secret for one tool and not for another, `{tool}` among them; it is kept as a secret"
        );
        said.push(Diagnostic::warning(&tools_file, message).help("declare it alike"));
    }
    let merged = merge::merge_values(declared, &written, &catalogue, published);
    said.extend(merged.said.iter().cloned());
    let private = private_files(tree, layout);
    let ignored = ignore_private(tree, layout, &private, &mut said);
    if said.iter().any(Diagnostic::is_error) {
        said.sort();
        said.dedup();
        return Err(said);
    }
    let mut files = vec![Output {
        path: layout.path(".gitignore"),
        text: ignored,
        mode: Mode::Open,
    }];
    files.extend(settings_files(layout, &merged));
    let plain = |one: &&Valued| one.declared && one.variable.class == Class::Plain;
    files.push(Output {
        path: layout.path("install.sh"),
        text: script::render_script(&tools_file, &order, merged.variables.values().filter(plain)),
        mode: Mode::Executable,
    });
    let too_much = too_much(layout, &merged, &files);
    if !too_much.is_empty() {
        said.extend(too_much);
        said.sort();
        return Err(said);
    }
    let secret = |one: &&Valued| one.declared && one.variable.class == Class::Secret;
    let secrets = merged.variables.values().filter(secret);
    let secrets = secrets.map(|one| (one.variable.name.clone(), !one.value.is_empty()));
    Ok(Compiled {
        layout,
        files,
        private: private.iter().map(|name| layout.path(name)).collect(),
        secrets: secrets.collect(),
        order: order.into_iter().cloned().collect(),
        said,
    })
}

/// Notes what went wrong.
fn sort_components<'t>(
    read: Result<Option<&'t str>, Diagnostic>,
    said: &mut Vec<Diagnostic>,
) -> Option<&'t str> {
    read.unwrap_or_else(|wrong| {
        said.push(wrong);
        None
    })
}

fn read_written(tree: &Tree, layout: Layout, said: &mut Vec<Diagnostic>) -> Written {
    let mut read = |name: &str| {
        let file = layout.path(name);
        let Some(text) = sort_components(text::read_text(tree, &file), said) else {
            return Settings {
                file,
                ..Settings::default()
            };
        };
        let (settings, found) = settings::read_settings(&file, text);
        said.extend(found);
        settings
    };
    match layout {
        Layout::Split => Written {
            plain: read("vars.toml"),
            secret: read("secrets.toml"),
            older: read("env.toml"),
        },
        // One file for both kinds: nothing can be in the wrong one.
        Layout::Joined => Written {
            older: read("env.toml"),
            ..Written::default()
        },
    }
}

/// The names of the files that hold secrets.
fn private_files(tree: &Tree, layout: Layout) -> Vec<&'static str> {
    let mut private = vec![layout.private()];
    // The older file holds secrets as long as it is there.
    if layout == Layout::Split && tree.get(&layout.path("env.toml")).is_some() {
        private.push("env.toml");
    }
    private
}

/// What could be written and not be read again.
fn too_much(layout: Layout, merged: &Merged, files: &[Output]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let help = "make its values shorter, or have fewer tools that declare variables";
    // The script is never read.
    for file in files.iter().filter(|file| file.mode != Mode::Executable) {
        if file.text.len() > FILE_LIMIT_BYTES {
            let message = format!(
                "it would have {} bytes, more than {FILE_LIMIT_BYTES}: it could not be read again",
                file.text.len()
            );
            found.push(Diagnostic::error(&file.path, message).help(help));
        }
    }
    let count = |class| {
        let all = merged.variables.values();
        all.filter(|one| one.variable.class == class).count()
    };
    let (plain, secret) = (count(Class::Plain), count(Class::Secret));
    let counts = match layout {
        Layout::Split => vec![("vars.toml", plain), ("secrets.toml", secret)],
        Layout::Joined => vec![("env.toml", plain + secret)],
    };
    for (name, count) in counts.into_iter().filter(|(_, n)| *n > VARIABLES_LIMIT) {
        let message = format!(
            "it would have {count} variables, more than {VARIABLES_LIMIT}: it could not be read again"
        );
        found.push(Diagnostic::error(layout.path(name), message).help(help));
    }
    found
}

fn ignore_private(
    tree: &Tree,
    layout: Layout,
    private: &[&str],
    said: &mut Vec<Diagnostic>,
) -> String {
    let file = layout.path(".gitignore");
    let before = sort_components(text::read_text(tree, &file), said).unwrap_or_default();
    ignore::with_ignored(&file, before, private).unwrap_or_else(|wrong| {
        said.push(wrong);
        String::new()
    })
}

fn settings_files(layout: Layout, merged: &Merged) -> Vec<Output> {
    let of = |class| {
        let all = merged.variables.values();
        all.filter(move |one| one.variable.class == class)
    };
    let file = |name: &str, text, mode| Output {
        path: layout.path(name),
        text,
        mode,
    };
    match layout {
        Layout::Split => vec![
            file(
                "vars.toml",
                settings_text(PLAIN_TOP, of(Class::Plain)),
                Mode::Open,
            ),
            file(
                "secrets.toml",
                settings_text(SECRET_TOP, of(Class::Secret)),
                Mode::Private,
            ),
        ],
        Layout::Joined => {
            let text = settings_text(JOINED_TOP, merged.variables.values());
            vec![file("env.toml", text, Mode::Private)]
        }
    }
}

fn settings_text<'v>(top: &str, variables: impl Iterator<Item = &'v Valued>) -> String {
    let mut text = top.to_owned();
    for valued in variables {
        let variable = &valued.variable;
        text.push('\n');
        let about = if valued.declared {
            &variable.description
        } else {
            "No tool of tools.yml reads it."
        };
        if !about.is_empty() {
            text.push_str(&format!("# {about}\n"));
        }
        text.push_str(&format!(
            "[{}]\nvalue = {}\n",
            variable.name,
            quote_lines(&valued.value)
        ));
        if !valued.note.is_empty() {
            text.push_str(&format!("note = {}\n", quote_lines(&valued.note)));
        }
    }
    text
}

/// A basic string of TOML.
fn quote_lines(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
