//! The tools that there are: those of phileas, and those of the repository before them.

use std::collections::{BTreeMap, BTreeSet};

use super::component::is_name;
use super::limits::COMPONENTS_LIMIT;
use super::meta::{self, Meta};
use super::{Component, Layout, Origin, fragment, text};
use crate::Diagnostic;
use crate::model::Tree;
use crate::plan::closest;

/// Reads the folder of a built-in component into the program.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$((
            $name,
            include_str!(concat!("catalogue/", $name, "/meta.toml")),
            include_str!(concat!("catalogue/", $name, "/install.sh")),
        )),*]
    };
}

const BUILT_IN: [(&str, &str, &str); 9] = built_in![
    "gh", "go", "just", "node", "pnpm", "python", "rust", "swift", "uv"
];

/// All tools that `tools.yml` may name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    entries: BTreeMap<String, Kept>,
    /// Names whose folders are there and wrong; what depends on them is not complained about again.
    broken: BTreeSet<String>,
}

/// A component, and where its dependencies stand.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) component: Component,
    pub(super) file: String,
    pub(super) dependencies_at: Vec<(u32, u32)>,
}

impl Catalogue {
    /// The tools of phileas.
    #[must_use]
    pub fn built_in() -> Self {
        let mut catalogue = Self::default();
        for (name, text, script) in BUILT_IN {
            let file = format!("{name}/meta.toml");
            let (meta, _) = meta::read_meta(&file, name, text, Origin::BuiltIn);
            let meta = meta.expect("the catalogue's own files are sound, which a test sees to");
            catalogue.keep_component(meta, file, script);
        }
        catalogue
    }

    /// The tools of phileas and those in the repository's `components`, which go before them. A tool with a mistake
    /// is left out.
    #[must_use]
    pub fn read_catalogue(tree: &Tree, layout: Layout) -> (Self, Vec<Diagnostic>) {
        let mut catalogue = Self::built_in();
        let mut found = Vec::new();
        let folder = layout.path("components");
        let names: BTreeSet<&str> = tree
            .below(&folder)
            .filter_map(|(path, _)| path.get(folder.len() + 1..)?.split_once('/'))
            .map(|(name, _)| name)
            .collect();
        if names.len() > COMPONENTS_LIMIT {
            let message = format!("more than {COMPONENTS_LIMIT} tools");
            found.push(Diagnostic::error(&folder, message).help("remove those that are not used"));
        }
        for name in names.into_iter().take(COMPONENTS_LIMIT) {
            let said = catalogue.read_component(tree, &folder, name);
            if said.iter().any(Diagnostic::is_error) {
                catalogue.broken.insert(name.to_owned());
                catalogue.entries.remove(name);
            }
            found.extend(said);
        }
        found.extend(catalogue.unknown_dependencies());
        (catalogue, found)
    }

    /// A tool by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Component> {
        self.find_kept(name).map(|kept| &kept.component)
    }

    /// All tools in the order of their names.
    pub fn components(&self) -> impl Iterator<Item = &Component> {
        self.entries.values().map(|kept| &kept.component)
    }

    /// All names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub(super) fn find_kept(&self, name: &str) -> Option<&Kept> {
        self.entries.get(name)
    }

    /// Whether a tool is missing because its own folder is wrong.
    pub(super) fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    fn keep_component(&mut self, meta: Meta, file: String, script: &str) {
        let mut component = meta.component;
        script.trim().clone_into(&mut component.fragment);
        let kept = Kept {
            component,
            file,
            dependencies_at: meta.dependencies_at,
        };
        self.entries.insert(kept.component.name.clone(), kept);
    }

    fn read_component(&mut self, tree: &Tree, folder: &str, name: &str) -> Vec<Diagnostic> {
        let file = format!("{folder}/{name}/meta.toml");
        let script_file = format!("{folder}/{name}/install.sh");
        if !is_name(name) {
            let message = format!("`{}` cannot be a tool's name", name.escape_debug());
            return vec![
                Diagnostic::error(format!("{folder}/{name}"), message)
                    .help("take letters, digits and `._-` for the folder's name"),
            ];
        }
        let mut found = Vec::new();
        let mut text_at = |path: &str, what: &str| match text::read_text(tree, path) {
            Ok(Some(text)) => Some(text),
            Ok(None) => {
                let message = format!("the tool `{name}` has no such file");
                found.push(Diagnostic::error(path, message).help(what));
                None
            }
            Err(said) => {
                found.push(said);
                None
            }
        };
        let about = text_at(&file, "write it; `summary = \"what it is\"` is enough");
        let script = text_at(
            &script_file,
            "write the bash that installs it; it may be empty",
        );
        let (Some(about), Some(script)) = (about, script) else {
            return found;
        };
        let (meta, said) = meta::read_meta(&file, name, about, Origin::Repository);
        found.extend(said);
        found.extend(fragment::check_fragment(&script_file, script));
        if let Some(meta) = meta {
            self.keep_component(meta, file, script);
        }
        found
    }

    fn unknown_dependencies(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for kept in self.entries.values() {
            let dependencies = kept.component.dependencies.iter();
            for ((index, name), at) in dependencies.enumerate().zip(&kept.dependencies_at) {
                if self.entries.contains_key(name) || self.is_broken(name) {
                    continue;
                }
                let meant = closest(name, self.names());
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("there are {}", self.names().collect::<Vec<_>>().join(", ")),
                };
                let message = format!("there is no tool `{}`", name.escape_debug());
                found.push(
                    Diagnostic::error(&kept.file, message)
                        .at(at.0, at.1)
                        .key(format!("dependencies[{index}]"))
                        .help(help),
                );
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> (Catalogue, Vec<String>) {
        let files = files
            .iter()
            .map(|(path, text)| (format!(".jlo/setup/components/{path}"), *text));
        let (catalogue, found) = Catalogue::read_catalogue(&Tree::from_texts(files), Layout::Split);
        (catalogue, found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_phileas_brings_is_sound() {
        let catalogue = Catalogue::built_in();
        assert!(catalogue.unknown_dependencies().is_empty());
        for component in catalogue.components() {
            let name = &component.name;
            assert!(!component.summary.is_empty(), "{name}");
            let said = fragment::check_fragment("install.sh", &component.fragment);
            assert!(said.is_empty(), "{name}: {said:?}");
            for variable in &component.variables {
                assert!(!variable.description.is_empty(), "{name}: {variable:?}");
            }
        }
        for name in ["gh", "just", "uv", "swift", "node", "rust", "go", "python"] {
            assert!(catalogue.get(name).is_some(), "{name}");
        }
        assert_eq!(catalogue.get("python").unwrap().dependencies, ["uv"]);
    }

    #[test]
    fn a_repository_adds_tools_and_replaces_them() {
        let (catalogue, found) = read(&[
            ("uv/meta.toml", "summary = \"ours\""),
            ("uv/install.sh", "\ntrue\n\n"),
            ("lint/meta.toml", "dependencies = [\"uv\"]"),
            ("lint/install.sh", ""),
        ]);
        assert!(found.is_empty(), "{found:?}");
        let uv = catalogue.get("uv").unwrap();
        assert_eq!(
            (uv.fragment.as_str(), uv.origin),
            ("true", Origin::Repository)
        );
        assert_eq!(catalogue.get("gh").unwrap().origin, Origin::BuiltIn);
    }

    #[test]
    fn what_is_wrong_with_a_tool_is_told_once() {
        for (files, begins, has) in [
            (
                &[("a/install.sh", "")][..],
                ".jlo/setup/components/a/meta.toml: error: the tool `a` has no such file",
                "summary",
            ),
            (
                &[("a/meta.toml", "")],
                ".jlo/setup/components/a/install.sh: error: the tool `a` has no such file",
                "bash",
            ),
            (
                &[("-a/meta.toml", "")],
                ".jlo/setup/components/-a: error: `-a` cannot be",
                "letters",
            ),
            (
                &[
                    ("a/meta.toml", "x = 1"),
                    ("a/install.sh", ""),
                    ("b/meta.toml", "dependencies = [\"a\"]"),
                    ("b/install.sh", ""),
                ],
                ".jlo/setup/components/a/meta.toml:1:1: error: unknown key `x`",
                "",
            ),
            (
                &[
                    ("a/meta.toml", "dependencies = [\"uw\"]"),
                    ("a/install.sh", ""),
                ],
                ".jlo/setup/components/a/meta.toml:1:17: error: there is no tool `uw` (at dependencies[0])",
                "did you mean `uv`?",
            ),
            (
                &[("a/meta.toml", ""), ("a/install.sh", "#!/bin/sh\n")],
                ".jlo/setup/components/a/install.sh:1:1: error",
                "first line",
            ),
        ] {
            let (_, found) = read(files);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(begins), "{}", found[0]);
            assert!(found[0].contains(has), "{}", found[0]);
        }
        let many: Vec<String> = (0..=COMPONENTS_LIMIT)
            .map(|n| format!("t{n}/meta.toml"))
            .collect();
        let many: Vec<(&str, &str)> = many.iter().map(|path| (path.as_str(), "")).collect();
        assert!(read(&many).1[0].contains(&format!("more than {COMPONENTS_LIMIT} tools")));
    }
}
