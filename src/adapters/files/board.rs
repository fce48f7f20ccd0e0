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
/// On file systems that do not tell `Todo` from `todo` the new place of a file may be its old one in other letters; then
/// the letters are changed, and the file stays.
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
        if let Some(from) = &wanted.from
            && differ_in_case(from, &wanted.to)
            && is_same(&root.join(from), &to)
        {
            linked(root, from)?;
            recase(root, from, &wanted.to)?;
            return change(root, &wanted.to, Some(&wanted.text));
        }
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

/// Whether two paths are one to a file system that does not tell capitals from small letters.
pub(super) fn differ_in_case(one: &str, other: &str) -> bool {
    one != other && one.to_lowercase() == other.to_lowercase()
}

/// Whether two paths lead to one file.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let mark = |path: &Path| path.symlink_metadata().map(|meta| (meta.dev(), meta.ino()));
        matches!((mark(one), mark(other)), (Ok(one), Ok(other)) if one == other)
    }
    #[cfg(not(unix))]
    {
        matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
    }
}

/// Gives each part of a path that leads to a file other letters, from the root down.
fn recase(root: &Path, from: &str, to: &str) -> Result<(), ReadError> {
    let mut folder = root.to_owned();
    for (old, new) in from.split('/').zip(to.split('/')) {
        if old != new {
            let (old, new) = (folder.join(old), folder.join(new));
            fs::rename(&old, &new).map_err(|source| ReadError { path: old, source })?;
        }
        folder.push(new);
    }
    Ok(())
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

    /// A second name of one file stands for the same name in other letters, which this file system may tell apart.
    #[cfg(unix)]
    #[test]
    fn a_file_whose_name_only_changes_its_letters_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (".jules/tasks/todo/A-b.md", ".jules/tasks/todo/a-b.md");
        carry_out(root.path(), &wanted(None, old, "1")).unwrap();
        let text = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
        // Where they are two files, nothing is written over.
        fs::write(root.path().join(new), "2").unwrap();
        assert!(carry_out(root.path(), &wanted(Some(old), new, "3")).is_err());
        assert_eq!((text(old), text(new)), ("1".to_owned(), "2".to_owned()));
        fs::remove_file(root.path().join(new)).unwrap();
        fs::hard_link(root.path().join(old), root.path().join(new)).unwrap();
        carry_out(root.path(), &wanted(Some(old), new, "3")).unwrap();
        assert_eq!(text(new), "3");
    }

    #[test]
    fn parts_of_a_path_get_other_letters_from_the_root_down() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (".jules/tasks/Todo/A.md", ".jules/tasks/todo/a.md");
        carry_out(root.path(), &wanted(None, old, "1")).unwrap();
        assert!(differ_in_case(old, new) && !differ_in_case(new, new));
        assert!(!is_same(&root.path().join(old), &root.path().join("x")));
        recase(root.path(), old, new).unwrap();
        assert_eq!(fs::read_to_string(root.path().join(new)).unwrap(), "1");
        let names = fs::read_dir(root.path().join(TASKS_FOLDER)).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["todo"]);
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
