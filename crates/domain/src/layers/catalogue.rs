//! Merges the built-in files of layers with a repository's own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::pin::README_PATH;
use super::role::{self, Role, built_in, own_roles};
use super::spelling::{ROLE_FOLDERS, USUAL_FOLDER, layer_folders, usual_role};
use super::texts::{self, ROLES};
use crate::Diagnostic;
use crate::exchange::{LABELS_PATH, Layout};
use crate::model::Tree;
use crate::plan::{LAYERS, ROLE_LAYERS};
use crate::prompt::RULES_PATH;

/// The files of a repository's layers: the built-in ones, replaced by those of the default branch.
#[derive(Debug, Clone)]
pub struct Catalogue {
    pub(super) layout: Layout,
    tree: Tree,
    roles: Vec<Role>,
    diagnostics: Vec<Diagnostic>,
}

/// The folder of a layer's files in a repository.
struct Home {
    folder: String,
    /// The folder's own name.
    name: String,
    /// Whether the repository has its own prompt.
    has_prompt: bool,
}

impl Home {
    /// The first folder with a prompt, or else the first with any file of the layer, or else the usual one. A role
    /// alone does not decide, because it is found in any folder.
    fn of(tree: &Tree, layer: &str) -> Self {
        let candidates = layer_folders(layer);
        let has_prompt = |(folder, name): &&(String, String)| has_own_prompt(tree, folder, name);
        let has_anything = |(folder, _): &&(String, String)| {
            let mut files = tree
                .below(folder)
                .map(|(path, _)| &path[folder.len() + 1..]);
            files.any(|file| {
                file == "contracts.yml"
                    || file.starts_with("tasks/")
                    || file.starts_with("schemas/")
            })
        };
        let own = candidates.iter().find(has_prompt);
        let chosen = own.or_else(|| candidates.iter().find(has_anything));
        let (folder, name) = chosen.unwrap_or(&candidates[0]).clone();
        Self {
            folder,
            name,
            has_prompt: own.is_some(),
        }
    }
}

impl Catalogue {
    /// The files of a repository with this default branch and this layout.
    #[must_use]
    pub fn of(tree: &Tree, layout: Layout) -> Self {
        let (roles, diagnostics) = role::read_roles(tree);
        let whole = if has_own(tree) {
            laid_out(tree, layout)
        } else {
            // Most repositories have no layer files of their own, and all of them share one tree.
            tree.laid_over(built_in_files(layout))
        };
        Self {
            layout,
            tree: whole,
            roles,
            diagnostics,
        }
    }

    /// All files: the default branch for [`assemble_prompt`](crate::prompt::assemble_prompt).
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The mistakes in the repository's own roles.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// All roles, by layer and name.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// A role of a layer, in the plan's spelling.
    #[must_use]
    pub fn role(&self, layer: &str, name: &str) -> Option<&Role> {
        self.roles
            .iter()
            .find(|role| role.layer == layer && role.name == name)
    }

    /// The built-in text of a role.
    #[must_use]
    pub fn built_in_role(layer: &str, name: &str) -> Option<&'static str> {
        built_in(layer, name)
    }

    /// The readable copies for the ledger, by path: all texts that layers get in this repository.
    #[must_use]
    pub fn copies(&self) -> BTreeMap<String, String> {
        let mut copies = BTreeMap::new();
        let mut add = |path: &str, to: String| {
            if let Some(text) = self.tree.text(path) {
                copies.insert(to, text.to_owned());
            }
        };
        for (path, _) in self.tree.below(USUAL_FOLDER) {
            add(path, path.to_owned());
        }
        for layer in LAYERS {
            for (folder, _) in layer_folders(layer) {
                for (path, _) in self.tree.below(&folder) {
                    add(path, path.to_owned());
                }
            }
        }
        for role in &self.roles {
            let path = usual_role(role.layer, &role.name);
            add(
                &path,
                format!(".jules/roles/{}/{}/role.yml", role.layer, role.name),
            );
        }
        add(RULES_PATH, RULES_PATH.to_owned());
        add(LABELS_PATH, LABELS_PATH.to_owned());
        copies.insert(README_PATH.to_owned(), texts::README.to_owned());
        copies
    }
}

/// Whether a folder has a prompt of a layer. `name`: the folder's own name.
pub(super) fn has_own_prompt(tree: &Tree, folder: &str, name: &str) -> bool {
    let prompts = [
        &format!("{name}_prompt.j2"),
        "prompt_assembly.yml",
        "prompt.yml",
    ];
    prompts
        .iter()
        .any(|file| tree.get(&format!("{folder}/{file}")).is_some())
}

/// Whether a repository has files in any folder of layers or roles.
fn has_own(tree: &Tree) -> bool {
    ROLE_FOLDERS
        .iter()
        .any(|folder| tree.below(folder).next().is_some() || tree.get(folder).is_some())
}

/// The files of a repository without any of its own.
fn built_in_files(layout: Layout) -> &'static Tree {
    static FLAT: LazyLock<Tree> = LazyLock::new(|| laid_out(&Tree::new(), Layout::Flat));
    static WORKSTREAMS: LazyLock<Tree> =
        LazyLock::new(|| laid_out(&Tree::new(), Layout::Workstreams));
    match layout {
        Layout::Flat => &FLAT,
        Layout::Workstreams => &WORKSTREAMS,
    }
}

/// The built-in files, replaced by a repository's own.
fn laid_out(tree: &Tree, layout: Layout) -> Tree {
    let mut whole = tree.clone();
    let homes: BTreeMap<&str, Home> = LAYERS
        .into_iter()
        .map(|layer| (layer, Home::of(tree, layer)))
        .collect();
    for (path, text) in texts::layer_files(layout) {
        let rest = path
            .strip_prefix(USUAL_FOLDER)
            .and_then(|rest| rest.strip_prefix('/'));
        let Some((layer, file)) = rest.and_then(|rest| rest.split_once('/')) else {
            continue;
        };
        let Some(home) = homes.get(layer) else {
            continue;
        };
        let is_prompt = file == format!("{layer}_prompt.j2");
        if is_prompt && home.has_prompt {
            continue;
        }
        let file = if is_prompt {
            format!("{}_prompt.j2", home.name)
        } else {
            file.to_owned()
        };
        let target = format!("{}/{file}", home.folder);
        if whole.get(&target).is_some() {
            continue;
        }
        // A file in a folder with another spelling is the repository's own, too.
        let elsewhere = layer_folders(layer)
            .into_iter()
            .find_map(|(folder, _)| tree.get(&format!("{folder}/{file}")));
        match elsewhere {
            Some(entry) => whole.insert(target, entry.clone()),
            None => whole.insert_text(target, &with_paths(&text, &homes)),
        }
    }
    for (path, text) in [(RULES_PATH, texts::RULES.to_owned()), texts::label_file()] {
        if whole.get(path).is_none() {
            whole.insert_text(path, &text);
        }
    }
    for layer in ROLE_LAYERS {
        add_roles(&mut whole, tree, layer, &homes[layer]);
    }
    whole
}

/// A built-in text with its paths changed to this repository's folders.
fn with_paths(text: &str, homes: &BTreeMap<&str, Home>) -> String {
    let mut text = text.to_owned();
    for (layer, home) in homes {
        let usual = format!("{USUAL_FOLDER}/{layer}/");
        text = text.replace(&usual, &format!("{}/", home.folder));
    }
    text
}

/// Adds every role at its usual path, and where the older form of prompts looks for it.
fn add_roles(whole: &mut Tree, tree: &Tree, layer: &str, home: &Home) {
    let own = own_roles(tree, layer);
    let built_in = ROLES.iter().filter(|(one, _, _)| *one == layer);
    let mut texts = Tree::new();
    for (_, role, text) in built_in {
        texts.insert_text(*role, text);
    }
    for (role, path) in &own {
        if let Some(entry) = tree.get(path) {
            texts.insert(role.clone(), entry.clone());
        }
    }
    for (role, entry) in texts.iter() {
        let mut places = vec![usual_role(layer, role)];
        if home.has_prompt {
            let folder = &home.folder;
            places.push(format!("{folder}/{role}/role.yml"));
            places.push(format!("{folder}/roles/{role}/role.yml"));
        }
        for place in places {
            if whole.get(&place).is_none() {
                whole.insert(place, entry.clone());
            }
        }
    }
}
