//! Finds a layer's folder, and the form of its prompt.

use crate::Diagnostic;
use crate::model::Tree;
use crate::plan::{LAYERS, closest};

/// The folders of layers, the usual one first.
const FOLDERS: [&str; 2] = [".jules/layers", ".jules/roles"];

/// The form of a layer's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `<layer>_prompt.j2`.
    Template,
    /// `prompt.yml` and `prompt_assembly.yml`.
    Pair,
}

/// A layer's folder.
#[derive(Debug, Clone)]
pub(super) struct Home {
    /// The layer's name in the plan's spelling.
    pub(super) layer: String,
    /// Its folder, without a final slash.
    pub(super) folder: String,
    /// The folder's own name.
    name: String,
    pub(super) form: Form,
}

/// A layer's name in the plan's spelling. Seed 000 writes `deciders`, seed 001 `decider`.
#[must_use]
pub fn canonical_layer(name: &str) -> Option<&'static str> {
    let bare = |name: &str| name.trim_end_matches('s').to_ascii_lowercase();
    LAYERS.into_iter().find(|known| bare(known) == bare(name))
}

impl Home {
    /// Finds the folder of a layer that has a prompt.
    pub(super) fn of(tree: &Tree, layer: &str) -> Result<Self, Diagnostic> {
        let Some(known) = canonical_layer(layer) else {
            let help = match closest(layer, LAYERS) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the layers are {}", LAYERS.join(", ")),
            };
            let message = format!("there is no layer `{}`", layer.escape_debug());
            return Err(Diagnostic::error(FOLDERS[0], message).help(help));
        };
        let bare = known.trim_end_matches('s');
        let other = if known == bare {
            format!("{bare}s")
        } else {
            bare.to_owned()
        };
        for folder in FOLDERS {
            for name in [known, &other] {
                let folder = format!("{folder}/{name}");
                let has = |file: &str| tree.get(&format!("{folder}/{file}")).is_some();
                let form = if has(&format!("{name}_prompt.j2")) {
                    Form::Template
                } else if has("prompt_assembly.yml") || has("prompt.yml") {
                    Form::Pair
                } else {
                    continue;
                };
                return Ok(Self {
                    layer: known.to_owned(),
                    name: name.to_owned(),
                    folder,
                    form,
                });
            }
        }
        let path = format!("{}/{known}/{known}_prompt.j2", FOLDERS[0]);
        Err(Diagnostic::error(path, format!("the layer `{known}` has no prompt"))
            .help("write it: a template that puts in what the agent needs, such as `{{ section(\"Role\", include_required(\".jlo/roles/\" ~ role ~ \"/role.yml\")) }}`"))
    }

    /// The path of the template with which the prompt begins.
    pub(super) fn entry_path(&self) -> String {
        match self.form {
            Form::Template => format!("{}/{}_prompt.j2", self.folder, self.name),
            Form::Pair => format!("{}/prompt_assembly.yml", self.folder),
        }
    }
}
