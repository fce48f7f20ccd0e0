//! Where runs are, and what was changed in their work tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phileas_domain::pipeline::Run;

use crate::adapters::pipeline::{RUNS_FOLDER, Runs, RunsError};
use crate::cli::arguments::{RunPlace, RunsPlace};
use crate::cli::context::subprocess::other_program;
use crate::cli::exit::Stopped;

/// The runs that are meant.
pub(crate) fn runs(place: &RunsPlace) -> Result<Runs, Stopped> {
    Ok(match &place.pipeline_dir {
        Some(folder) => Runs::at(folder),
        None => {
            let root = git(Path::new("."), &["rev-parse", "--show-toplevel"]).ok();
            let root = root.map(|text| PathBuf::from(text.trim_end()));
            // In the work tree's own folder names stay as short as people write them.
            let here =
                std::env::current_dir().map_err(|error| Stopped::usage(error.to_string()))?;
            let elsewhere = root.filter(|root| *root != here);
            Runs::at(elsewhere.unwrap_or_default().join(RUNS_FOLDER))
        }
    })
}

/// Paths in the work tree that differ from where its branch began: committed, staged, changed or new.
pub(super) fn changed(runs: &Runs, base: Option<&str>) -> Result<Vec<String>, Stopped> {
    let inside = runs
        .folder()
        .parent()
        .filter(|folder| *folder != Path::new(""));
    let inside = inside.unwrap_or(Path::new("."));
    let root = root_of(inside)?;
    let root = Path::new(root.trim_end());
    let since = since(root, base)?;
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
        let listed = git(root, command)?;
        let listed = listed.split('\0').filter(|path| !path.is_empty());
        paths.extend(listed.map(str::to_owned));
    }
    Ok(paths.into_iter().collect())
}

/// The work tree that the runs lie in.
fn root_of(inside: &Path) -> Result<String, Stopped> {
    git(inside, &["rev-parse", "--show-toplevel"]).map_err(|error| {
        let here = if inside == Path::new(".") {
            "this folder".to_owned()
        } else {
            inside.display().to_string()
        };
        let said = error.message;
        Stopped::usage(if said.contains("not a git repository") {
            format!(
                "{here} is in no git work tree, and the stage `implement` is checked against what git sees as changed; go \
                 into the work tree of the repository, or make one (git init)"
            )
        } else {
            // A bare repository, or one that belongs to somebody else.
            format!(
                "git does not tell the work tree of {here}, and the stage `implement` is checked against what it sees as \
                 changed; mend what it says: {said}"
            )
        })
    })
}

/// The commit from which the work went off.
fn since(root: &Path, base: Option<&str>) -> Result<String, Stopped> {
    let commit = |name: &str| {
        let whole = format!("{name}^{{commit}}");
        git(
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
        let branch = git(root, &["symbolic-ref", "--quiet", "--short", "HEAD"]).ok();
        let branch = branch.map(|name| format!("the branch `{}`", name.trim_end()));
        return Err(Stopped::usage(format!(
            "{} has no commit, so nobody knows what was changed since it began; commit first, or check out the branch of \
             the work (git switch)",
            branch.unwrap_or_else(|| "what is checked out".to_owned())
        )));
    }
    let base = match base {
        Some(base) => Some(commit(base).ok_or_else(|| {
            Stopped::usage(format!(
                "--base: there is no commit `{base}` here; name a branch or a commit that git branch --all or git log shows, \
                 or get it first (git fetch)"
            ))
        })?),
        None => known.iter().find_map(|name| commit(name)),
    };
    let Some(base) = base else {
        return Ok("HEAD".to_owned());
    };
    git(root, &["merge-base", base.trim_end(), "HEAD"])
        .map(|text| text.trim_end().to_owned())
        .map_err(|_| {
            let wrong = "the branch has no commit in common with where it is said to begin";
            Stopped::usage(format!(
                "{wrong}; name its beginning with --base, or get the history that is missing (git fetch --unshallow)"
            ))
        })
}

fn git(dir: &Path, arguments: &[&str]) -> Result<String, Stopped> {
    let output = other_program("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        .output()
        .map_err(|error| Stopped::usage(format!("git cannot be run: {error}; install it")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it gave no reason");
        return Err(Stopped::usage(format!(
            "git {}: {first}",
            arguments.first().copied().unwrap_or_default()
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Stopped::usage("a changed path is no UTF-8; give the file another name"))
}

/// The run of an issue.
pub(crate) fn open(place: &RunPlace) -> Result<(Runs, Run), Stopped> {
    let (runs, run) = find(place)?;
    match run {
        Some(run) => Ok((runs, run)),
        None => {
            let folder = runs.folder().join(place.issue.as_str());
            Err(RunsError::NoRun(folder).into())
        }
    }
}

/// The run of an issue, or an empty one: somebody must begin.
pub(crate) fn begun_or_not(place: &RunPlace) -> Result<(Runs, Run), Stopped> {
    let (runs, run) = find(place)?;
    let settings = runs.settings()?;
    let run = run.unwrap_or_else(|| Run::read(place.issue.clone(), &[], settings));
    Ok((runs, run))
}

fn find(place: &RunPlace) -> Result<(Runs, Option<Run>), Stopped> {
    let runs = runs(&place.place)?;
    let run = runs.run(&place.issue, runs.settings()?)?;
    if run.is_none() && runs.is_archived(&place.issue)? {
        return Err(Stopped::usage(format!(
            "the run of {} was put away; look in {}",
            place.issue,
            runs.folder().join("completed").display()
        )));
    }
    Ok((runs, run))
}
