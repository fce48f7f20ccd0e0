//! Tasks and papers in a work tree: made, changed and moved, one change at a time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use phileas_domain::board::{Change, SPRINTS_FOLDER, TASKS_FOLDER};

use super::{ReadError, change, linked};

/// No more folders of sprints than this are listed.
const SPRINTS_LIMIT: usize = 5_000;

/// The names of the folders of sprints, the empty ones too, which no commit holds.
///
/// # Errors
///
/// When the folder cannot be listed.
pub fn sprint_folders(root: &Path) -> Result<BTreeSet<String>, ReadError> {
    let path = root.join(SPRINTS_FOLDER);
    let failed = |source| ReadError {
        path: path.clone(),
        source,
    };
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Ok(BTreeSet::new());
    }
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(&path).map_err(failed)?.take(SPRINTS_LIMIT) {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Makes the folder of tasks and waits until nobody else changes what is in it; the right goes with the value.
///
/// # Errors
///
/// What the system says.
pub fn lock_tasks(root: &Path) -> Result<File, ReadError> {
    linked(root, TASKS_FOLDER)?;
    let path = root.join(TASKS_FOLDER);
    let failed = |source| ReadError {
        path: path.clone(),
        source,
    };
    fs::create_dir_all(&path).map_err(failed)?;
    let folder = File::open(&path).map_err(failed)?;
    folder.lock().map_err(failed)?;
    Ok(folder)
}

/// Carries out a change. Nothing is written over that it does not name.
///
/// A file that is moved and changed is moved first: whoever dies in between leaves a task in its new state with an old
/// `status`, which has one answer, and never a task in two states.
///
/// # Errors
///
/// When something is at the new place already, a path leads through a link, or the system says no.
pub fn carry_out(root: &Path, wanted: &Change) -> Result<(), ReadError> {
    let to = root.join(&wanted.to);
    let failed = |source| ReadError {
        path: to.clone(),
        source,
    };
    if wanted.from.as_ref() != Some(&wanted.to) {
        linked(root, &wanted.to)?;
        if to.symlink_metadata().is_ok() {
            let what = "it is there already, and nothing is written over";
            return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, what)));
        }
        if let Some(from) = &wanted.from {
            linked(root, from)?;
            fs::create_dir_all(to.parent().unwrap_or(root)).map_err(failed)?;
            fs::rename(root.join(from), &to).map_err(failed)?;
            if fs::read(&to).is_ok_and(|bytes| bytes == wanted.text.as_bytes()) {
                return Ok(());
            }
        }
    }
    change(root, &wanted.to, Some(&wanted.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(from: Option<&str>, to: &str, text: &str) -> Change {
        Change {
            from: from.map(str::to_owned),
            to: to.to_owned(),
            text: text.to_owned(),
            done: String::new(),
        }
    }

    #[test]
    fn a_change_touches_what_it_names_and_writes_over_nothing() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (".jules/tasks/todo/a.md", ".jules/tasks/done/a.md");
        carry_out(root.path(), &wanted(None, a, "1")).unwrap();
        let again = carry_out(root.path(), &wanted(None, a, "2")).unwrap_err();
        assert!(
            again.to_string().contains("nothing is written over"),
            "{again}"
        );
        carry_out(root.path(), &wanted(Some(a), a, "2")).unwrap();
        carry_out(root.path(), &wanted(Some(a), b, "3")).unwrap();
        assert!(!root.path().join(a).exists());
        assert_eq!(fs::read_to_string(root.path().join(b)).unwrap(), "3");
        carry_out(root.path(), &wanted(None, a, "1")).unwrap();
        assert!(carry_out(root.path(), &wanted(Some(a), b, "1")).is_err());
        assert_eq!(fs::read_to_string(root.path().join(a)).unwrap(), "1");
        assert!(carry_out(root.path(), &wanted(None, "../x.md", "1")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(".jules")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join(TASKS_FOLDER)).unwrap();
        assert!(lock_tasks(root.path()).is_err());
        let new = wanted(None, ".jules/tasks/todo/a.md", "1");
        assert!(carry_out(root.path(), &new).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
