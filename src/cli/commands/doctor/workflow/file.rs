//! What a workflow file says, as far as it matters to phileas.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// The longest workflow file that is read, in bytes.
const MAX_BYTES: u64 = 512 * 1024;

/// A workflow that calls phileas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) path: String,
    /// The events that call it.
    pub(crate) triggers: BTreeSet<String>,
    pub(crate) crons: Vec<String>,
    /// Whether a newer run ends an older one.
    pub(crate) cancels: bool,
}

/// The workflow files of a folder that call phileas.
pub(crate) fn of_folder(dir: &Path) -> Vec<File> {
    let Ok(entries) = std::fs::read_dir(dir.join(FOLDER)) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .metadata()
                .is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_BYTES)
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_workflow(name))
        .collect();
    names.sort_unstable();
    let files = names.iter().take(MAX_FILES).filter_map(|name| {
        let text = std::fs::read_to_string(dir.join(FOLDER).join(name)).ok()?;
        File::read(&format!("{FOLDER}/{name}"), &text)
    });
    files.collect()
}

/// Whether GitHub takes a file of this name for a workflow.
pub(super) fn is_workflow(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|end| end == "yml" || end == "yaml")
}

impl File {
    /// Reads a file; `None` where it is no workflow, or one that does not call phileas.
    pub(super) fn read(path: &str, text: &str) -> Option<Self> {
        if phileas_domain::yaml_too_deep(text).is_some() {
            return None;
        }
        let whole: Value = serde_yaml::from_str(text).ok()?;
        let steps = whole["jobs"].as_object()?.values();
        let calls = steps
            .flat_map(|job| job["steps"].as_array().into_iter().flatten())
            .any(is_ours);
        if !calls {
            return None;
        }
        // By the older YAML a bare `on` is the truth.
        let on = [&whole["on"], &whole["true"]]
            .into_iter()
            .find(|on| !on.is_null())?;
        let triggers = match on {
            Value::String(one) => BTreeSet::from([one.clone()]),
            Value::Array(several) => several
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Value::Object(each) => each.keys().cloned().collect(),
            _ => BTreeSet::new(),
        };
        let crons = on["schedule"].as_array().into_iter().flatten();
        let crons = crons
            .filter_map(|one| one["cron"].as_str())
            .map(str::to_owned)
            .collect();
        let jobs = whole["jobs"].as_object()?.values();
        let cancels = std::iter::once(&whole)
            .chain(jobs)
            .any(|level| level["concurrency"]["cancel-in-progress"] == Value::Bool(true));
        Some(Self {
            path: path.to_owned(),
            triggers,
            crons,
            cancels,
        })
    }
}

/// Whether a step is the action, or runs the program.
fn is_ours(step: &Value) -> bool {
    let uses = step["uses"].as_str().is_some_and(|uses| {
        let place = uses.split('@').next().unwrap_or(uses);
        place.trim_end_matches('/').rsplit('/').next() == Some("phileas")
    });
    let runs = step["run"].as_str().is_some_and(|run| {
        ["phileas tick", "phileas action"]
            .iter()
            .any(|call| run.contains(call))
    });
    uses || runs
}

/// The folder of workflows.
pub(crate) const FOLDER: &str = ".github/workflows";

/// The most workflow files that are read.
pub(crate) const MAX_FILES: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_in_all_three_forms() {
        let read = |on: &str| {
            let text = format!("on: {on}\njobs:\n  a:\n    steps:\n      - uses: o/phileas@v1\n");
            File::read("x.yml", &text).unwrap()
        };
        assert!(read("push").triggers.contains("push"));
        assert_eq!(read("[push, issues]").triggers.len(), 2);
        let whole = read("\n  schedule:\n    - cron: '1 * * * *'\n  issues:");
        assert_eq!(whole.crons, ["1 * * * *"]);
        assert!(whole.triggers.contains("issues") && !whole.cancels);
    }

    #[test]
    fn other_workflows_are_none_of_ours() {
        let other = "on: push\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n";
        assert_eq!(File::read("x.yml", other), None);
        assert_eq!(File::read("x.yml", "- a\n"), None);
        let runs = "on: push\nconcurrency: { cancel-in-progress: true }\njobs:\n  a:\n    steps:\n      - run: phileas tick\n";
        assert!(File::read("x.yml", runs).unwrap().cancels);
    }
}
