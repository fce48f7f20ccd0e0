//! Checks the contracts and tasks that a repository has in place of the built-in ones.

use std::collections::BTreeSet;

use super::catalogue::has_own_prompt;
use super::spelling::{USUAL_FOLDER, layer_folders, layer_spellings};
use super::texts::LAYER_FILES;
use crate::Diagnostic;
use crate::model::Tree;
use crate::plan::LAYERS;
use crate::yaml;

/// Mistakes in a repository's own contracts and tasks. A prompt includes these files as they are, so a file that is empty
/// or of another layer would remove the agent's limits, and no message would say so.
#[must_use]
pub fn check_layer_files(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for layer in LAYERS {
        let folders = layer_folders(layer);
        let has_prompt = |(folder, name): &(String, String)| has_own_prompt(tree, folder, name);
        let own_prompt = folders.iter().any(has_prompt);
        for (folder, _) in &folders {
            for (path, entry) in tree.below(folder) {
                let file = &path[folder.len() + 1..];
                let is_task = file.starts_with("tasks/") && file.ends_with(".yml");
                if file != "contracts.yml" && !is_task {
                    continue;
                }
                // A repository's own prompt may include any file. A label chooses the task of an implementer.
                if is_task && !own_prompt && layer != "implementer" && !is_built_in(layer, file) {
                    found.push(unread_task(path, layer));
                } else {
                    found.extend(check_file(path, layer, entry.text.as_deref(), is_task));
                }
            }
        }
    }
    found.extend(unknown_layers(tree));
    found
}

fn is_built_in(layer: &str, file: &str) -> bool {
    LAYER_FILES
        .iter()
        .any(|(of, name, _)| *of == layer && *name == file)
}

fn check_file(path: &str, layer: &str, text: Option<&str>, is_task: bool) -> Vec<Diagnostic> {
    let Some(text) = text else {
        let message = "it was not read: it is not a regular file, is not text, or is too large";
        return vec![Diagnostic::error(path, message).help("put a text file here")];
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
