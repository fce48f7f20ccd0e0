//! Which personas a plan may name, and what is said of those that it cannot.

use std::collections::{BTreeMap, BTreeSet};

use super::constants::{PERSONAS_FOLDER, RESERVED_IDS};
use super::persona::{
    PROMPT_FILES, Persona, folder_of, folder_switched_off, is_id, is_prompt_switched_off,
};
use super::section::Reader;
use super::suggest::closest;
use crate::model::{PersonaId, Tree};

/// The personas of a repository, readable or not.
pub(super) struct Known<'t> {
    personas: &'t BTreeMap<PersonaId, Persona>,
    /// Every folder that could be a persona's.
    folders: BTreeSet<&'t str>,
    /// The files that lie directly in each of them.
    files: BTreeMap<&'t str, Vec<&'t str>>,
    /// Where what was archived lies, by id.
    archived: BTreeMap<&'t str, &'t str>,
    /// The prompts of personas that were switched off by renaming, by id.
    off: BTreeMap<&'t str, &'t str>,
}

impl<'t> Known<'t> {
    pub(super) fn of(tree: &'t Tree, personas: &'t BTreeMap<PersonaId, Persona>) -> Self {
        let mut folders = BTreeSet::new();
        let mut files: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut archived = BTreeMap::new();
        let mut off = BTreeMap::new();
        for (path, _) in tree.below(PERSONAS_FOLDER) {
            let Some((folder, rest)) = folder_of(path) else {
                continue;
            };
            folders.insert(folder);
            let of_folder = folder_switched_off(folder).filter(|_| PROMPT_FILES.contains(&rest));
            let of_prompt = is_id(folder) && !rest.contains('/') && is_prompt_switched_off(rest);
            if let Some(id) = of_folder.or(of_prompt.then_some(folder)) {
                off.entry(id).or_insert(path);
            }
            // A folder in the place of a prompt is a mistake of that persona.
            let name = rest.split('/').next().unwrap_or_default();
            if name == rest || PROMPT_FILES.contains(&name) {
                files.entry(folder).or_default().push(name);
            }
            if folder == "_archived"
                && let Some((id, _)) = rest.split_once('/')
            {
                archived.insert(id, path);
            }
        }
        Self {
            personas,
            folders,
            files,
            archived,
            off,
        }
    }

    /// What is said of naming `id`, at the place that names it. A persona that was switched off is no mistake.
    pub(super) fn remark(&self, id: &str, reader: &mut Reader<'_>, at: usize, key: &str) {
        let Some((message, help)) = self.complaint(id) else {
            return;
        };
        let files = self.files.get(id).map_or(&[][..], |files| &files[..]);
        let has_prompt = files.iter().any(|file| PROMPT_FILES.contains(file));
        match self.off.get(id).filter(|_| !has_prompt) {
            Some(path) => {
                let name = path.rsplit('/').next().unwrap_or_default();
                let way = if PROMPT_FILES.contains(&name) {
                    format!("call its folder `{id}` again")
                } else {
                    "call its prompt `prompt.md.j2` or `prompt.md` again".to_owned()
                };
                reader.warning(
                    at,
                    key,
                    format!("the persona `{id}` is switched off: its prompt is `{path}`"),
                    format!("its turns are left out; to switch it on, {way}"),
                );
            }
            None => reader.error(at, key, message, help),
        }
    }

    /// The persona, where it can be read.
    pub(super) fn get(&self, id: &str) -> Option<&'t Persona> {
        self.personas.get(id)
    }

    /// What is wrong with naming `id`, and how to fix it.
    fn complaint(&self, id: &str) -> Option<(String, String)> {
        if self.personas.contains_key(id) {
            return None;
        }
        if RESERVED_IDS.contains(&id) {
            return Some((
                format!("`{id}` is a command and cannot be a persona"),
                "give the persona another id".to_owned(),
            ));
        }
        if let Some(layer) = id
            .split('/')
            .next()
            .filter(|l| super::LAYERS.contains(l) && id != *l)
        {
            return Some((
                format!("`{id}` is a role of a layer, not a persona"),
                format!("write `layer:{layer}`; it starts every enabled role"),
            ));
        }
        if super::LAYERS.contains(&id) && !self.folders.contains(id) {
            return Some((
                format!("there is no persona `{id}`"),
                format!("write `layer:{id}` for the layer"),
            ));
        }
        if let Some(rest) = id.strip_prefix("phileas:") {
            let help = match self.personas.contains_key(rest) {
                true => format!("write `{rest}`"),
                false => "write the name of a folder below `.jules/personas`".to_owned(),
            };
            return Some((format!("`{id}` is a label, not a persona"), help));
        }
        if !is_id(id) {
            return Some((
                format!("`{id}` cannot be a persona's id"),
                "write the name of a folder below `.jules/personas`".to_owned(),
            ));
        }
        if self.folders.contains(id) {
            let files = self.files.get(id).map_or(&[][..], |files| &files[..]);
            if !files.iter().any(|file| PROMPT_FILES.contains(file)) {
                return Some(without_prompt(id, files));
            }
            return Some((
                format!("the persona `{id}` cannot be read"),
                format!("fix what is said of the files in `{PERSONAS_FOLDER}/{id}`"),
            ));
        }
        if let Some(path) = self.archived.get(id) {
            return Some((
                format!("the persona `{id}` is archived"),
                format!("take it out here, or move `{path}` back"),
            ));
        }
        let ids = self.personas.keys().map(PersonaId::as_str);
        let help = match closest(id, ids) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!(
                "write its prompt to `{PERSONAS_FOLDER}/{id}/prompt.md`, or take it out here"
            ),
        };
        Some((format!("there is no persona `{id}`"), help))
    }
}

/// A folder in which no prompt lies, or one under another name.
fn without_prompt(id: &str, files: &[&str]) -> (String, String) {
    let folder = format!("{PERSONAS_FOLDER}/{id}");
    let what = format!("there is no prompt in `{folder}`");
    let meant = files
        .iter()
        .find(|file| closest(file, PROMPT_FILES.iter().copied()).is_some());
    let help = match meant {
        Some(file) => format!("rename `{file}` there to `prompt.md`"),
        None => format!("write it to `{folder}/prompt.md`, or take `{id}` out here"),
    };
    (what, help)
}
