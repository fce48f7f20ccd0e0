//! A workflow file, as far as it matters to phileas.

use std::collections::BTreeSet;
use std::path::Path;

use phileas_domain::model::parse_switch;
use serde_json::Value;

use crate::starter::COMMIT_BLANK;

/// The largest workflow file that is read, in bytes.
const MAX_BYTES: u64 = 512 * 1024;

/// A workflow that calls phileas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkflowFile {
    pub(crate) path: String,
    /// The events that trigger it.
    pub(crate) triggers: BTreeSet<String>,
    pub(crate) crons: Vec<String>,
    /// Whether a newer run cancels an older one.
    pub(crate) cancels: bool,
    /// Whether each run builds phileas from source.
    pub(crate) builds: bool,
    /// The first `uses:` of the action without a commit.
    pub(crate) unfilled: Option<UnfilledAction>,
}

/// A reference to the action that names no commit, and its position in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnfilledAction {
    pub(crate) uses: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Reads the workflow files of a folder that call phileas.
pub(crate) fn read_folder_workflows(dir: &Path) -> Vec<WorkflowFile> {
    let Ok(entries) = std::fs::read_dir(dir.join(WORKFLOWS_FOLDER)) else {
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
        .filter(|name| is_workflow_name(name))
        .collect();
    names.sort_unstable();
    let files = names.iter().take(MAX_FILES).filter_map(|name| {
        let text = std::fs::read_to_string(dir.join(WORKFLOWS_FOLDER).join(name)).ok()?;
        WorkflowFile::parse_workflow(&format!("{WORKFLOWS_FOLDER}/{name}"), &text)
    });
    files.collect()
}

/// Whether GitHub treats a file of this name as a workflow.
pub(super) fn is_workflow_name(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|end| end == "yml" || end == "yaml")
}

impl WorkflowFile {
    /// Parses a file. `None` if it is not a workflow, or does not call phileas.
    pub(super) fn parse_workflow(path: &str, text: &str) -> Option<Self> {
        if phileas_domain::yaml_too_deep(text).is_some() {
            return None;
        }
        let whole: Value = serde_yaml::from_str(text).ok()?;
        let jobs = whole["jobs"].as_object()?.values();
        let calls: Vec<&Value> = jobs
            .flat_map(|job| job["steps"].as_array().into_iter().flatten())
            .filter(|step| runs_phileas(step))
            .collect();
        if calls.is_empty() {
            return None;
        }
        // In YAML 1.1 a bare `on` is the boolean true.
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
            unfilled: calls.iter().find_map(|step| find_unfilled(step, text)),
            builds: calls.into_iter().any(builds_phileas),
        })
    }
}

/// The action of a step, where a person has not filled in its commit yet.
fn find_unfilled(step: &Value, text: &str) -> Option<UnfilledAction> {
    let uses = step["uses"].as_str()?;
    // A folder of the repository, and an image, have no commit.
    if uses.starts_with("./") || uses.starts_with("docker://") {
        return None;
    }
    let reference = uses.split_once('@').map_or("", |(_, reference)| reference);
    if !reference.is_empty() && reference != COMMIT_BLANK {
        return None;
    }
    let place = text.lines().enumerate().find_map(|(index, line)| {
        let value = line.trim_start().trim_start_matches(['-', ' ']);
        let value = value.strip_prefix("uses:")?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let rest = value.strip_prefix(uses)?.trim_start_matches(['"', '\'']);
        let is_whole = rest.trim().is_empty() || rest.trim_start().starts_with('#');
        let before = line.len() - value.len();
        is_whole.then(|| (index + 1, line[..before].chars().count() + 1))
    });
    let (line, column) = place.unwrap_or((1, 1));
    Some(UnfilledAction {
        uses: uses.to_owned(),
        line,
        column,
    })
}

/// Whether a step builds the action from source.
fn builds_phileas(step: &Value) -> bool {
    match &step["with"]["build-from-source"] {
        Value::Bool(builds) => *builds,
        Value::Number(number) => number.as_u64() == Some(1),
        Value::String(text) => parse_switch(text).unwrap_or(false),
        _ => false,
    }
}

/// Whether a step is the action, or runs the program.
fn runs_phileas(step: &Value) -> bool {
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
pub(crate) const WORKFLOWS_FOLDER: &str = ".github/workflows";

/// The most workflow files that are read.
pub(crate) const MAX_FILES: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_in_all_three_forms() {
        let read = |on: &str| {
            let text = format!("on: {on}\njobs:\n  a:\n    steps:\n      - uses: o/phileas@v1\n");
            WorkflowFile::parse_workflow("x.yml", &text).unwrap()
        };
        assert!(read("push").triggers.contains("push"));
        assert_eq!(read("[push, issues]").triggers.len(), 2);
        let whole = read("\n  schedule:\n    - cron: '1 * * * *'\n  issues:");
        assert_eq!(whole.crons, ["1 * * * *"]);
        assert!(whole.triggers.contains("issues") && !whole.cancels);
    }

    #[test]
    fn other_workflows_are_ignored() {
        let other = "on: push\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n";
        assert_eq!(WorkflowFile::parse_workflow("x.yml", other), None);
        assert_eq!(WorkflowFile::parse_workflow("x.yml", "- a\n"), None);
        let runs = "on: push\nconcurrency: { cancel-in-progress: true }\njobs:\n  a:\n    steps:\n      - run: phileas tick\n";
        assert!(WorkflowFile::parse_workflow("x.yml", runs).unwrap().cancels);
    }

    #[test]
    fn an_action_without_a_commit_is_found_where_it_stands() {
        let found = |uses: &str| {
            let text = format!(
                "on: push\njobs:\n  a:\n    steps:\n      - run: phileas tick\n      - uses: {uses}\n"
            );
            let file = WorkflowFile::parse_workflow("x.yml", &text).unwrap();
            let unfilled = file.unfilled?;
            Some((unfilled.line, unfilled.column, unfilled.uses))
        };
        for (uses, column) in [
            ("phileas/phileas@COMMIT # fill in", 15),
            ("\"phileas/phileas@COMMIT\"", 16),
            ("my/phileas@COMMIT", 15),
            ("phileas/phileas", 15),
            ("phileas/phileas@", 15),
        ] {
            let place = found(uses).map(|(line, column, _)| (line, column));
            assert_eq!(place, Some((6, column)), "{uses}");
        }
        for whole in [
            "phileas/phileas@v1",
            "my/other@COMMIT",
            "./.github/actions/phileas",
            "docker://ghcr.io/phileas/phileas",
        ] {
            assert_eq!(found(whole), None, "{whole}");
        }
        let text = "on: push\n# uses: phileas/phileas\njobs:\n  a:\n    steps:\n      - uses: phileas/phileas@v1\n      \
                    - name: x\n        uses: phileas/phileas # fill in\n";
        let file = WorkflowFile::parse_workflow("x.yml", text).unwrap();
        let unfilled = file.unfilled.map(|one| (one.line, one.column));
        assert_eq!(unfilled, Some((8, 15)));
    }

    #[test]
    fn a_build_is_known_by_the_input_of_the_action() {
        let builds = |step: &str| {
            let text = format!("on: push\njobs:\n  a:\n    steps:\n{step}");
            WorkflowFile::parse_workflow("x.yml", &text).unwrap().builds
        };
        let action = "      - uses: phileas/phileas@0123456\n";
        assert!(!builds(action));
        for (value, expected) in [
            ("true", true),
            ("\"yes\"", true),
            ("1", true),
            ("false", false),
            ("\"off\"", false),
            ("${{ vars.BUILD }}", false),
        ] {
            let with = format!("{action}        with:\n          build-from-source: {value}\n");
            assert_eq!(builds(&with), expected, "{value}");
        }
        let other = "      - uses: o/other@v1\n        with:\n          build-from-source: true\n";
        assert!(!builds(&format!("{other}{action}")));
    }
}
