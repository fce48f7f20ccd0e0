//! Checks the contracts and tasks that a repository has in place of the built-in ones.

use std::collections::BTreeSet;

use super::catalogue::has_own_prompt;
use super::spelling::{USUAL_FOLDER, layer_folders, layer_spellings};
use super::texts::LAYER_FILES;
use crate::Diagnostic;
use crate::model::{TEXT_LIMIT_BYTES, Tree};
use crate::plan::LAYERS;
use crate::yaml;

/// The name of a layer's contract.
const CONTRACTS: &str = "contracts.yml";

/// Mistakes in a repository's own contracts and tasks. A prompt includes these files as they are, so a file that is empty
/// or of another layer would remove the agent's limits, and no message would say so.
#[must_use]
pub fn check_layer_files(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for layer in LAYERS {
        let own = check_own_files(tree, layer).into_iter();
        found.extend(own.flat_map(|(_, mistakes)| mistakes));
    }
    found.extend(unknown_layers(tree));
    found
}

/// The mistakes in a layer's own contracts and tasks that one of these included files has.
#[must_use]
pub fn check_included_files<'p>(
    tree: &Tree,
    layer: &str,
    included: impl Iterator<Item = &'p str> + Clone,
) -> Vec<Diagnostic> {
    let own = check_own_files(tree, layer).into_iter();
    let folders = layer_folders(layer);
    // A file in a folder with another spelling is included from the layer's own folder.
    let is_included = |file: &str| {
        let mut paths = folders.iter().map(|(folder, _)| format!("{folder}/{file}"));
        paths.any(|own| included.clone().any(|path| path == own))
    };
    own.filter(|(file, _)| is_included(file))
        .flat_map(|(_, mistakes)| mistakes)
        .collect()
}

/// The contracts and tasks of a layer, by their paths in its folder, and the mistakes in each.
fn check_own_files<'t>(tree: &'t Tree, layer: &str) -> Vec<(&'t str, Vec<Diagnostic>)> {
    let mut found = Vec::new();
    let folders = layer_folders(layer);
    let has_prompt = |(folder, name): &(String, String)| has_own_prompt(tree, folder, name);
    let own_prompt = folders.iter().any(has_prompt);
    for (folder, _) in &folders {
        let paths = tree.below(folder);
        let files = paths.filter_map(|(path, _)| own_file(&path[folder.len() + 1..]));
        for file in BTreeSet::from_iter(files) {
            let is_task = file != CONTRACTS;
            let path = format!("{folder}/{file}");
            // A repository's own prompt may include any file. A label chooses the task of an implementer.
            let mistakes =
                if is_task && !own_prompt && layer != "implementer" && !is_built_in(layer, file) {
                    vec![unread_task(&path, layer)]
                } else {
                    check_file(tree, &path, layer, is_task)
                };
            found.push((file, mistakes));
        }
    }
    found
}

/// The contract or task that a path in a layer's folder belongs to. A folder in the place of such a file is a mistake.
fn own_file(path: &str) -> Option<&str> {
    let Some((first, rest)) = path.split_once('/') else {
        return (path == CONTRACTS).then_some(path);
    };
    if first == CONTRACTS {
        return Some(first);
    }
    let task = rest.split('/').next().filter(|_| first == "tasks")?;
    let file = match task.ends_with(".yml") {
        true => &path[..first.len() + 1 + task.len()],
        false => path,
    };
    file.ends_with(".yml").then_some(file)
}

fn is_built_in(layer: &str, file: &str) -> bool {
    LAYER_FILES
        .iter()
        .any(|(of, name, _)| *of == layer && *name == file)
}

fn check_file(tree: &Tree, path: &str, layer: &str, is_task: bool) -> Vec<Diagnostic> {
    let text = match tree.read_text(path, "it", TEXT_LIMIT_BYTES) {
        Ok(text) => text.unwrap_or_default(),
        Err(wrong) => return vec![*wrong],
    };
    let (root, mistakes) = yaml::parse(text);
    if !mistakes.is_empty() {
        let mistakes = mistakes.into_iter().map(|one| one.diagnostic(path));
        return mistakes.collect();
    }
    let what = if is_task { "task" } else { "contract" };
    let Some(root) = root else {
        let message = format!("it is empty, so the prompts of `{layer}` would have no {what}");
        let help = format!("write the {what}, or remove the file to use the one of phileas");
        return vec![Diagnostic::error(path, message).help(help)];
    };
    let Some(named) = root.get("layer") else {
        return Vec::new();
    };
    let text = named.text().unwrap_or_default();
    if layer_spellings(layer).iter().any(|name| name == text) {
        return Vec::new();
    }
    let message = format!(
        "`layer` is `{}`, but the file is in the folder of `{layer}`",
        text.escape_debug()
    );
    let one = Diagnostic::error(path, message).at(named.line, named.column);
    vec![
        one.key("layer")
            .help(format!("write `layer: {layer}`, or move the file")),
    ]
}

fn unread_task(path: &str, layer: &str) -> Diagnostic {
    let names: Vec<String> = LAYER_FILES
        .iter()
        .filter(|(of, name, _)| *of == layer && name.starts_with("tasks/"))
        .map(|(_, name, _)| format!("`{name}`"))
        .collect();
    let message = format!("no prompt of `{layer}` includes this task");
    Diagnostic::warning(path, message).help(format!(
        "use {}, or include it in `{layer}_prompt.j2` beside it",
        names.join(" or ")
    ))
}

/// Warns about folders that have no layer's name.
fn unknown_layers(tree: &Tree) -> Vec<Diagnostic> {
    let known: Vec<String> = LAYERS.into_iter().flat_map(layer_spellings).collect();
    let folders: BTreeSet<&str> = tree
        .below(USUAL_FOLDER)
        .filter_map(|(path, _)| path[USUAL_FOLDER.len() + 1..].split_once('/'))
        .filter(|(_, file)| {
            *file == "contracts.yml" || file.starts_with("tasks/") || file.ends_with("_prompt.j2")
        })
        .map(|(folder, _)| folder)
        .filter(|folder| known.iter().all(|name| name != folder))
        .collect();
    folders
        .into_iter()
        .map(|folder| {
            let path = format!("{USUAL_FOLDER}/{folder}");
            let message = format!("there is no layer `{folder}`, so nothing reads these files");
            let help = format!("the layers are {}", LAYERS.join(", "));
            Diagnostic::warning(&path, message).help(help)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_the_place_of_a_contract_is_named_once() {
        let files =
            ["a", "b"].map(|file| (format!(".jules/layers/decider/contracts.yml/{file}"), ""));
        let found = check_layer_files(&Tree::from_texts(files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].message, "it is a folder");
    }

    #[test]
    fn mistakes_of_an_included_file_are_those_of_its_layer() {
        let files = ["observers", "decider"]
            .map(|layer| (format!(".jules/layers/{layer}/contracts.yml"), ""));
        let tree = Tree::from_texts(files);
        let found = |path| check_included_files(&tree, "observers", [path].into_iter()).len();
        assert_eq!(found(".jules/layers/observers/contracts.yml"), 1);
        assert_eq!(found(".jules/layers/decider/contracts.yml"), 0);
    }

    #[test]
    fn tasks_without_a_file_are_no_mistake() {
        let tree = Tree::from_texts([(".jules/layers/decider/tasks", "a file")]);
        assert_eq!(check_layer_files(&tree), Vec::new());
    }

    #[test]
    fn contracts_and_tasks_of_a_repository_are_checked() {
        let built_in =
            LAYER_FILES.map(|(layer, file, text)| (format!(".jules/layers/{layer}/{file}"), text));
        assert_eq!(check_layer_files(&Tree::from_texts(built_in)), Vec::new());
        let wrong = [
            ("layers/observers/contracts.yml", "", "it is empty"),
            (
                "layers/observers/contracts.yml",
                "# nothing\n",
                "it is empty",
            ),
            ("layers/observers/contracts.yml", "layer: [", ""),
            (
                "layers/observers/contracts.yml",
                "layer: decider\n",
                "`layer` is `decider`",
            ),
            (
                "roles/observer/contracts.yml",
                "layer: decider\n",
                "`layer` is `decider`",
            ),
            (
                "layers/planner/tasks/expand_requirement.yml",
                "\n",
                "have no task",
            ),
            (
                "layers/observers/tasks/look.yml",
                "task: look\n",
                "includes this task",
            ),
            (
                "layers/observers/tasks/more/look.yml",
                "task: look\n",
                "includes this task",
            ),
            (
                "layers/watchers/contracts.yml",
                "layer: watchers\n",
                "no layer `watchers`",
            ),
        ];
        for (file, text, message) in wrong {
            let found = check_layer_files(&Tree::from_texts([(format!(".jules/{file}"), text)]));
            assert_eq!(found.len(), 1, "{file}: {text:?}: {found:?}");
            assert!(found[0].to_string().contains(message), "{}", found[0]);
        }
        for (file, text) in [
            ("roles/deciders/contracts.yml", "layer: deciders\n"),
            ("layers/implementer/tasks/chores.yml", "task: chores\n"),
            ("layers/observers/roles/docs/role.yml", ""),
            ("layers/shared/part.j2", "text"),
            ("layers/observers/tasks/.gitkeep", ""),
            ("layers/observers/tasks/README.md", "a: b: c"),
        ] {
            let found = check_layer_files(&Tree::from_texts([(format!(".jules/{file}"), text)]));
            assert_eq!(found, Vec::new(), "{file}");
        }
        for prompt in [
            "layers/observers/observers_prompt.j2",
            "roles/observers/prompt.yml",
        ] {
            let own_prompt = [
                (format!(".jules/{prompt}"), "ours"),
                (
                    ".jules/layers/observers/tasks/look.yml".to_owned(),
                    "task: look\n",
                ),
            ];
            assert_eq!(check_layer_files(&Tree::from_texts(own_prompt)), Vec::new());
        }
    }
}
