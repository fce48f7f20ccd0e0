//! The files that `phileas init` writes: the workflow, the plan and two personas; also the labels, and
//! what `phileas deinit` may remove again. Values in, texts out.

mod home;
mod labels;
mod layers;
mod packs;
mod plan;
mod repository_files;
mod seal;
mod upgrade;
mod workflow;

use std::collections::BTreeSet;

use phileas_domain::layers::CONFIG_PIN_PATH;
use phileas_domain::model::Tree;
use phileas_domain::plan::{CONFIG_PATH, SCHEDULES_PATH};

pub use home::{HOME, schema_address};
pub use labels::{Labels, MAX_DESCRIPTION_CHARS, changes, has_work, wanted};
pub use packs::{PACKS, Pack};
pub use plan::{has_schema_line, named_by};
pub use repository_files::RepositoryFiles;
pub use seal::{Seal, seal_of};
pub use upgrade::sealed_files;
pub use workflow::{
    COMMIT_BLANK, MAX_CHECKS, Pin, PinError, WORKFLOW_PATH, WORKFLOWS_FOLDER, blank_hint,
    cron_minute, runs_on_push, workflow_hints,
};

/// The branch from which `phileas init` opens its pull request.
pub const INIT_BRANCH: &str = "phileas/init";
/// The branch of the pull request that `upgrade` opens; the version stands behind it.
pub const UPGRADE_BRANCH: &str = "phileas/upgrade-";
/// The branch from which `phileas deinit` opens its pull request.
pub const DEINIT_BRANCH: &str = "phileas/deinit";
/// The environment that holds the Jules key.
pub const ENVIRONMENT: &str = "jules";

/// The folder of the roles that a repository has copied or created.
const ROLES_FOLDER: &str = ".jlo/roles";

/// A file that a beginning consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarterFile {
    /// Where.
    pub path: String,
    /// What it is for, in a few words.
    pub purpose: &'static str,
    /// What becomes of it.
    pub change: FileChange,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It is new, with this text.
    Write(String),
    /// It is there as it would be written, and git does not know it yet: an earlier run came no further.
    Stage,
    /// Something stands there; it stays as it is. What a person may want to do by hand.
    Leave(Vec<String>),
}

/// What to write into a repository. Nothing that is there is changed: a plan that exists keeps its personas, and
/// personas that exist get a plan. `layers`: what the layers need instead of a plan of personas.
#[must_use]
pub fn parts(found: &RepositoryFiles, pin: &Pin, layers: bool) -> Vec<StarterFile> {
    let mut half_done: BTreeSet<&str> = found
        .untracked
        .iter()
        .map(String::as_str)
        .filter(|path| is_of_a_beginning(path))
        .collect();
    // What each of them is depends on which others are there, so those that are not ours count as there from then on.
    loop {
        let mut parts = missing_files(&without_files(found, &half_done), pin, layers);
        let again: BTreeSet<&str> = half_done
            .iter()
            .copied()
            .filter(|path| {
                let text = text_at(found, path).map(|text| FileChange::Write(text.to_owned()));
                let part = parts.iter().find(|part| part.path == *path);
                text.is_some_and(|text| part.is_some_and(|part| part.change == text))
            })
            .collect();
        if again.len() == half_done.len() {
            for part in &mut parts {
                if again.contains(part.path.as_str()) {
                    part.change = FileChange::Stage;
                }
            }
            return parts;
        }
        half_done = again;
    }
}

/// Whether a beginning may have a file at a path.
fn is_of_a_beginning(path: &str) -> bool {
    [WORKFLOW_PATH, SCHEDULES_PATH, CONFIG_PATH, CONFIG_PIN_PATH].contains(&path)
        || plan::STARTERS
            .iter()
            .any(|starter| plan::prompt_path(starter.id) == path)
}

fn text_at<'a>(found: &'a RepositoryFiles, path: &str) -> Option<&'a str> {
    let workflow = found.workflows.get(path).map(String::as_str);
    workflow.or_else(|| found.tree.text(path))
}

fn without_files(found: &RepositoryFiles, paths: &BTreeSet<&str>) -> RepositoryFiles {
    let mut found = found.clone();
    for path in paths {
        found.tree.remove(path);
        found.workflows.remove(*path);
    }
    found
}

/// The files of a beginning, by what is there.
fn missing_files(found: &RepositoryFiles, pin: &Pin, layers: bool) -> Vec<StarterFile> {
    let mut parts = Vec::new();
    let purpose = "runs phileas every hour, and when something happens";
    let fate = match found.workflows.get(WORKFLOW_PATH) {
        Some(text) => {
            let mut hints = workflow_hints(text);
            hints.extend(pin.pin_hint(text));
            FileChange::Leave(hints)
        }
        None => FileChange::Write(seal::sealed(&workflow::text(found, pin))),
    };
    parts.push(StarterFile {
        path: WORKFLOW_PATH.to_owned(),
        purpose,
        change: fate,
    });
    if layers {
        parts.extend(of_layers(found));
        return parts;
    }
    let purpose = "who works and when";
    if found.tree.get(SCHEDULES_PATH).is_some() {
        parts.push(StarterFile {
            path: SCHEDULES_PATH.to_owned(),
            purpose,
            change: FileChange::Leave(plan::plan_hints(
                found.tree.text(SCHEDULES_PATH).unwrap_or(""),
            )),
        });
        parts.extend(existing_prompts(found));
        return parts;
    }
    let own = plan::schedulable_personas(&found.tree);
    let cycle = if own.is_empty() {
        plan::STARTERS.map(|starter| starter.id.to_owned()).to_vec()
    } else {
        own.clone()
    };
    parts.push(StarterFile {
        path: SCHEDULES_PATH.to_owned(),
        purpose,
        change: FileChange::Write(seal::sealed(&plan::text(&cycle))),
    });
    if own.is_empty() {
        for starter in plan::STARTERS {
            let path = plan::prompt_path(starter.id);
            let fate = if found.tree.get(&path).is_some() {
                FileChange::Leave(vec![
                    "phileas validate says what keeps it from being read".to_owned(),
                ])
            } else {
                FileChange::Write(seal::sealed(starter.prompt))
            };
            parts.push(StarterFile {
                path,
                purpose: starter.purpose,
                change: fate,
            });
        }
    }
    parts
}

/// The prompts of a beginning that are there.
fn existing_prompts(found: &RepositoryFiles) -> impl Iterator<Item = StarterFile> {
    plan::STARTERS.into_iter().filter_map(|starter| {
        let path = plan::prompt_path(starter.id);
        found.tree.get(&path)?;
        Some(StarterFile {
            path,
            purpose: starter.purpose,
            change: FileChange::Leave(Vec::new()),
        })
    })
}

fn of_layers(found: &RepositoryFiles) -> [StarterFile; 2] {
    let part = |path: &str, purpose, text: String| StarterFile {
        path: path.to_owned(),
        purpose,
        change: match found.tree.get(path) {
            Some(_) => FileChange::Leave(Vec::new()),
            None => FileChange::Write(text),
        },
    };
    [
        part(
            CONFIG_PATH,
            "who works in the layers, and when",
            seal::sealed(&layers::config(&found.repository)),
        ),
        part(
            CONFIG_PIN_PATH,
            "which version wrote what; phileas upgrade goes by it",
            layers::pin(),
        ),
    ]
}

/// The tree of a repository after its beginning was written.
#[must_use]
pub fn tree_after(found: &RepositoryFiles, parts: &[StarterFile]) -> Tree {
    let mut tree = found.tree.clone();
    for part in parts {
        if let FileChange::Write(text) = &part.change
            && (part.path.starts_with(".jules/") || part.path.starts_with(".jlo/"))
        {
            tree.insert_text(part.path.clone(), text);
        }
    }
    tree
}

/// A file that `phileas init` once wrote, and whether it may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remnant {
    /// Where.
    pub path: String,
    /// `None`: nothing speaks against it. Else why it stays.
    pub stays: Option<String>,
}

/// Which starter files are still there. Files without a seal of phileas are left alone, but for the two that
/// belong to phileas by their name.
#[must_use]
pub fn find_remnants(found: &RepositoryFiles) -> Vec<Remnant> {
    let mut remnants = Vec::new();
    if let Some(text) = found.workflows.get(WORKFLOW_PATH) {
        remnants.push(build_remnant(WORKFLOW_PATH, text));
    }
    let mut kept_plan = None;
    if let Some(text) = found.tree.text(SCHEDULES_PATH) {
        let plan = build_remnant(SCHEDULES_PATH, text);
        kept_plan = plan.stays.is_some().then_some(text);
        remnants.push(plan);
    }
    if let Some(text) = found.tree.text(CONFIG_PATH) {
        let config = build_remnant(CONFIG_PATH, text);
        // The pin is about what phileas wrote beside it; copies of roles are the repository's from then on.
        let pin = found.tree.get(CONFIG_PIN_PATH).map(|_| Remnant {
            path: CONFIG_PIN_PATH.to_owned(),
            stays: config
                .stays
                .is_some()
                .then(|| format!("it belongs to {CONFIG_PATH}")),
        });
        remnants.push(config);
        remnants.extend(pin);
    }
    for (path, entry) in found.tree.iter() {
        let Some(id) = plan::persona_of(path) else {
            continue;
        };
        let text = entry.text.as_deref().unwrap_or("");
        // `phileas persona add` writes its prompts without a seal.
        if seal_of(text) == Seal::None && Pack::named(id).is_none() {
            continue;
        }
        let mut one = build_remnant(path, text);
        if one.stays.is_none() && kept_plan.is_some() && named_by(&found.tree, id) {
            one.stays = Some("the plan that stays names it".to_owned());
        }
        remnants.push(one);
    }
    for (path, _) in found.tree.below(ROLES_FOLDER) {
        remnants.push(Remnant {
            path: path.to_owned(),
            stays: Some("it belongs to a role of this repository".to_owned()),
        });
    }
    remnants
}

fn build_remnant(path: &str, text: &str) -> Remnant {
    let stays = match seal_of(text) {
        Seal::Unchanged => None,
        Seal::Changed => Some("it was changed since phileas init wrote it".to_owned()),
        Seal::None => Some("phileas init did not write it".to_owned()),
    };
    Remnant {
        path: path.to_owned(),
        stays,
    }
}

#[cfg(test)]
mod tests;
