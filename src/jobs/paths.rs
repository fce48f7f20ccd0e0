//! Knows where the files of jobs and events are, and which paths a caller may name.

use std::path::{Component, Path, PathBuf};

use super::{EventsFile, JobsFile};

/// The default folder of the files.
pub const FOLDER: &str = ".phileas";

/// The paths of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPaths {
    /// The jobs file.
    pub jobs: PathBuf,
    /// The events file.
    pub events: PathBuf,
    /// The monitor's memory.
    pub monitor: PathBuf,
    /// The watcher's memory.
    pub watcher: PathBuf,
}

impl Default for JobPaths {
    fn default() -> Self {
        Self::in_folder(Path::new(FOLDER))
    }
}

impl JobPaths {
    /// The files under their default names in a folder.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            jobs: folder.join("jobs.jsonl"),
            events: folder.join("events.jsonl"),
            monitor: folder.join("monitor.json"),
            watcher: folder.join("watcher.json"),
        }
    }

    /// Opens the jobs file.
    #[must_use]
    pub fn jobs_file(&self) -> JobsFile {
        JobsFile::new(&self.jobs)
    }

    /// Opens the events file.
    #[must_use]
    pub fn events_file(&self) -> EventsFile {
        EventsFile::new(&self.events)
    }
}

/// A caller named a path outside the root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{requested}` is not inside {}; name a file inside it", root.display())]
pub struct OutsideRootError {
    /// The path that the caller named.
    pub requested: String,
    /// The folder that must contain it.
    pub root: PathBuf,
}

/// Resolves a path that a caller names, and its links, if it is inside `root`. The file need not
/// exist.
///
/// # Errors
///
/// [`OutsideRootError`].
pub fn confine_path(root: &Path, asked: &str) -> Result<PathBuf, OutsideRootError> {
    let outside = || OutsideRootError {
        requested: asked.to_owned(),
        root: root.to_owned(),
    };
    let base = root.canonicalize().map_err(|_| outside())?;
    let path = base.join(asked);
    let plain = |part: Component<'_>| !matches!(part, Component::ParentDir);
    if asked.trim().is_empty() || asked.contains('\0') || !path.components().all(plain) {
        return Err(outside());
    }
    if path.file_name().is_none() || asked.ends_with('/') {
        return Err(outside());
    }
    // An existing part of the path may be a link that leads out, so the nearest existing folder is
    // resolved.
    let mut there = path.as_path();
    let real = loop {
        match there.canonicalize() {
            Ok(real) => break real,
            Err(_) if there.is_symlink() => return Err(outside()),
            Err(_) => there = there.parent().ok_or_else(outside)?,
        }
    };
    if real.starts_with(&base) && path.starts_with(&base) && real.components().next().is_some() {
        Ok(path)
    } else {
        Err(outside())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upstream defect 9: a caller could let the server write to any path.
    #[test]
    fn defect_09_a_caller_names_files_inside_the_root_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("in")).unwrap();
        std::os::unix::fs::symlink(folder.path(), root.join("out")).unwrap();
        std::os::unix::fs::symlink("/nowhere/x", root.join("dangling")).unwrap();
        let absolute = root.canonicalize().unwrap().join("a.jsonl");
        for good in [
            "jobs.jsonl",
            "in/jobs.jsonl",
            "new/deep/jobs.jsonl",
            absolute.to_str().unwrap(),
        ] {
            assert!(confine_path(&root, good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "..",
            "../jobs.jsonl",
            "in/../../jobs.jsonl",
            "/etc/passwd",
            "out/jobs.jsonl",
            "dangling",
            "in/",
            "a\0b",
        ] {
            assert!(confine_path(&root, bad).is_err(), "{bad:?}");
        }
    }
}
