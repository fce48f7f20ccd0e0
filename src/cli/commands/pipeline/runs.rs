//! The folder of the runs, and the files that changed in its work tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phileas_domain::pipeline::Run;

use crate::adapters::pipeline::{RUNS_FOLDER, Runs, RunsError};
use crate::cli::arguments::{RunLocation, RunsLocation};
use crate::cli::context::subprocess::{failure_words, other_program};
use crate::cli::exit::CliError;

/// Opens the folder of the runs.
pub(crate) fn open_runs(place: &RunsLocation) -> Result<Runs, CliError> {
    Ok(match &place.pipeline_dir {
        Some(folder) => Runs::in_folder(folder),
        None => {
            let root = git_output(Path::new("."), &["rev-parse", "--show-toplevel"]).ok();
            let root = root.map(|text| PathBuf::from(text.trim_end()));
            // In the work tree's own folder, print names as short as people write them.
            let here =
                std::env::current_dir().map_err(|error| CliError::usage(error.to_string()))?;
            let elsewhere = root.filter(|root| *root != here);
            Runs::in_folder(elsewhere.unwrap_or_default().join(RUNS_FOLDER))
        }
    })
}

/// Paths that differ from the commit where the branch began: committed, staged, changed or new.
pub(super) fn changed_paths(runs: &Runs, base: Option<&str>) -> Result<Vec<String>, CliError> {
    let inside = runs
        .folder()
        .parent()
        .filter(|folder| *folder != Path::new(""));
    let inside = inside.unwrap_or(Path::new("."));
    let root = worktree_root(inside)?;
    let root = Path::new(root.trim_end());
    let since = base_commit(root, base)?;
    let mut paths = BTreeSet::new();
    let committed = ["diff", "--name-only", "--no-renames", "-z", &since, "--"];
    let staged = [
        "diff",
        "--name-only",
        "--no-renames",
        "-z",
        "--cached",
        &since,
        "--",
    ];
    let new = ["ls-files", "--others", "--exclude-standard", "-z"];
    for command in [&committed[..], &staged[..], &new[..]] {
        let listed = git_output(root, command)?;
        let listed = listed.split('\0').filter(|path| !path.is_empty());
        paths.extend(listed.map(str::to_owned));
    }
    Ok(paths.into_iter().collect())
}

/// The root of the work tree that contains the runs.
fn worktree_root(inside: &Path) -> Result<String, CliError> {
    git_output(inside, &["rev-parse", "--show-toplevel"]).map_err(|error| {
        let here = if inside == Path::new(".") {
            "this folder".to_owned()
        } else {
            inside.display().to_string()
        };
        let said = error.message;
        CliError::usage(if said.contains("not a git repository") {
            format!(
                "{here} is in no git work tree, and the stage `implement` is checked against what git sees as changed; go \
                 into the work tree of the repository, or make one (git init)"
            )
        } else {
            // A bare repository, or one of another user.
            format!(
                "git does not tell the work tree of {here}, and the stage `implement` is checked against what it sees as \
                 changed; fix what it reports: {said}"
            )
        })
    })
}

/// The commit from which the work began.
fn base_commit(root: &Path, base: Option<&str>) -> Result<String, CliError> {
    let commit = |name: &str| {
        let whole = format!("{name}^{{commit}}");
        git_output(
            root,
            &[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &whole,
            ],
        )
        .ok()
    };
    let known = [
        "refs/remotes/origin/HEAD",
        "refs/heads/main",
        "refs/heads/master",
    ];
    if commit("HEAD").is_none() {
        let branch = git_output(root, &["symbolic-ref", "--quiet", "--short", "HEAD"]).ok();
        let branch = branch.map(|name| format!("the branch `{}`", name.trim_end()));
        return Err(CliError::usage(format!(
            "{} has no commit, so the changes since its beginning are unknown; commit first, or check out the branch of \
             the work (git switch)",
            branch.unwrap_or_else(|| "what is checked out".to_owned())
        )));
    }
    let base = match base {
        Some(base) => Some(commit(base).ok_or_else(|| {
            CliError::usage(format!(
                "--base: there is no commit `{base}` here; name a branch or a commit that git branch --all or git log shows, \
                 or get it first (git fetch)"
            ))
        })?),
        None => known.iter().find_map(|name| commit(name)),
    };
    let Some(base) = base else {
        return Ok("HEAD".to_owned());
    };
    git_output(root, &["merge-base", base.trim_end(), "HEAD"])
        .map(|text| text.trim_end().to_owned())
        .map_err(|_| {
            let wrong = "the branch has no commit in common with where it is said to begin";
            CliError::usage(format!(
                "{wrong}; name its beginning with --base, or get the history that is missing (git fetch --unshallow)"
            ))
        })
}

fn git_output(dir: &Path, arguments: &[&str]) -> Result<String, CliError> {
    let output = other_program("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        .output()
        .map_err(|error| CliError::usage(format!("git cannot be run: {error}; install it")))?;
    if !output.status.success() {
        return Err(CliError::usage(format!(
            "git {}: {}",
            arguments.first().copied().unwrap_or_default(),
            failure_words(&output)
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| CliError::usage("a changed path is not UTF-8; give the file another name"))
}

/// The run of an issue.
pub(crate) fn open_run(place: &RunLocation) -> Result<(Runs, Run), CliError> {
    let (runs, run) = find_run(place)?;
    match run {
        Some(run) => Ok((runs, run)),
        None => {
            let folder = runs.folder().join(place.issue.as_str());
            Err(RunsError::NoRun(folder).into())
        }
    }
}

/// The run of an issue, or an empty one for an issue without a run.
pub(crate) fn open_or_empty_run(place: &RunLocation) -> Result<(Runs, Run), CliError> {
    let (runs, run) = find_run(place)?;
    let settings = runs.read_settings()?;
    let run = run.unwrap_or_else(|| Run::read_run(place.issue.clone(), &[], settings));
    Ok((runs, run))
}

fn find_run(place: &RunLocation) -> Result<(Runs, Option<Run>), CliError> {
    let runs = open_runs(&place.place)?;
    let run = runs.run(&place.issue, runs.read_settings()?)?;
    if run.is_none() && runs.is_archived(&place.issue)? {
        return Err(CliError::usage(format!(
            "the run of {} is archived in {}",
            place.issue,
            runs.folder().join("completed").display()
        )));
    }
    Ok((runs, run))
}
