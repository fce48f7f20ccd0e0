//! Creates, changes and moves tasks and sprint files in a work tree, one change at a time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use phileas_domain::board::{Change, SPRINTS_FOLDER, TASKS_FOLDER};
use tempfile::{NamedTempFile, TempPath};

use super::change_files::{ChangeError, CreatedFolders};
use super::same_file::{differ_in_case, is_same_file};
use super::write::{FileError, STAGED_PREFIX, is_disk_full, refuse_outside_path, stage_file};

/// The most sprint folders that are listed.
const SPRINTS_LIMIT: usize = 5_000;

/// The names of the sprint folders, including empty ones, which no commit contains.
///
/// # Errors
///
/// When the folder cannot be listed.
pub fn sprint_folders(root: &Path) -> Result<BTreeSet<String>, FileError> {
    let path = root.join(SPRINTS_FOLDER);
    let failed = |source| FileError {
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

/// Creates the folder of tasks and locks it; waits while another process has the lock. Dropping the value releases
/// it.
///
/// # Errors
///
/// What the system says.
pub fn lock_tasks(root: &Path) -> Result<File, FileError> {
    refuse_outside_path(root, TASKS_FOLDER)?;
    let path = root.join(TASKS_FOLDER);
    let failed = |source| FileError {
        path: path.clone(),
        source,
    };
    fs::create_dir_all(&path).map_err(failed)?;
    let folder = File::open(&path).map_err(failed)?;
    folder.lock().map_err(failed)?;
    Ok(folder)
}

/// Makes a change completely or not at all. It overwrites only files that it names.
///
/// On file systems that ignore case, the new path of a file may be its old one in other letters. Then only the
/// letters change.
///
/// A file that is moved and changed is moved first: a process that dies in between leaves a task in its new state
/// with an old `status`, which can be repaired, and never a task in two states.
///
/// # Errors
///
/// When a file exists at the new path, a path leads through a link, or the system refuses.
pub fn apply_change(root: &Path, wanted: &Change) -> Result<(), FileError> {
    let mut made = CreatedFolders::default();
    let done =
        Prepared::new(root, wanted, &mut made).and_then(|prepared| prepared.apply_change(root));
    if done.is_err() {
        made.take_back();
    }
    done.map(drop)
}

/// Makes changes, with a result for each: one that fails does not stop the others. If there is no room for one of
/// them, none is made.
///
/// # Errors
///
/// When there is no room.
pub fn apply_changes(
    root: &Path,
    wanted: &[Change],
) -> Result<Vec<Result<(), FileError>>, ChangeError> {
    let mut made = CreatedFolders::default();
    let mut prepared = Vec::new();
    for one in wanted {
        match Prepared::new(root, one, &mut made) {
            Err(error) if is_no_room(&error) => {
                drop(prepared);
                made.take_back();
                return Err(error.into());
            }
            one => prepared.push(one),
        }
    }
    let mut results = Vec::new();
    let mut done: Vec<Done<'_>> = Vec::new();
    let mut rest = prepared.into_iter();
    while let Some(one) = rest.next() {
        match one.and_then(|one| one.apply_change(root)) {
            Ok(one) => {
                done.push(one);
                results.push(Ok(()));
            }
            Err(error) if is_no_room(&error) => {
                let back = done.into_iter().rev().map(|one| one.put_back(root));
                let left = back.filter_map(Result::err).map(|error| error.path);
                let left = left.collect();
                // Their staged texts are in the created folders.
                drop(rest);
                made.take_back();
                return Err(ChangeError {
                    error,
                    left,
                    kept_in: None,
                });
            }
            Err(error) => results.push(Err(error)),
        }
    }
    // Remove folders that were created for failed changes.
    made.take_back();
    Ok(results)
}

fn is_no_room(error: &FileError) -> bool {
    is_disk_full(&error.source)
}

/// A change whose new text is already on the disk, beside its target.
struct Prepared<'c> {
    wanted: &'c Change,
    /// `None`: the file already has this text.
    text: Option<NamedTempFile>,
    /// A second name of the changed file, by which it can be restored.
    old: Option<TempPath>,
}

/// A change that was made.
struct Done<'c> {
    wanted: &'c Change,
    old: Option<TempPath>,
}

impl<'c> Prepared<'c> {
    fn new(root: &Path, wanted: &'c Change, made: &mut CreatedFolders) -> Result<Self, FileError> {
        let to = root.join(&wanted.to);
        let from = wanted.from.as_ref().map(|from| root.join(from));
        let failed = |source| FileError {
            path: to.clone(),
            source,
        };
        refuse_outside_path(root, &wanted.to)?;
        if let Some(from) = &wanted.from {
            refuse_outside_path(root, from)?;
        }
        check_target_free(root, wanted)?;
        let folder = to.parent().unwrap_or(root);
        made.make_folders(folder)?;
        let is_unchanged =
            |from: &PathBuf| fs::read(from).is_ok_and(|bytes| bytes == wanted.text.as_bytes());
        let text = match &from {
            Some(from) if *from != to && is_unchanged(from) => None,
            _ => {
                let like = from.as_ref().unwrap_or(&to);
                let permissions = fs::metadata(like).map(|meta| meta.permissions()).ok();
                Some(stage_file(folder, &wanted.text, permissions).map_err(failed)?)
            }
        };
        let old = match &from {
            // The system may refuse it for the folder that the file leaves, so name that file.
            Some(from) => Some(second_name(from).map_err(|source| FileError {
                path: from.clone(),
                source,
            })?),
            None => None,
        };
        Ok(Self { wanted, text, old })
    }

    fn apply_change(self, root: &Path) -> Result<Done<'c>, FileError> {
        let Self { wanted, text, old } = self;
        let to = root.join(&wanted.to);
        let failed = |source| FileError {
            path: to.clone(),
            source,
        };
        // Another change may have created the file since.
        check_target_free(root, wanted)?;
        move_file(root, wanted.from.as_deref(), &wanted.to).map_err(failed)?;
        if let Some(Err(error)) = text.map(|text| text.persist(&to)) {
            // A failed restore matters less than the reason for it.
            if let Some(from) = &wanted.from {
                let _stays = move_file(root, Some(&wanted.to), from);
            }
            return Err(failed(error.error));
        }
        Ok(Done { wanted, old })
    }
}

impl Done<'_> {
    fn put_back(self, root: &Path) -> Result<(), FileError> {
        let to = root.join(&self.wanted.to);
        let back = match (&self.wanted.from, self.old) {
            (Some(from), Some(old)) => {
                move_file(root, Some(&self.wanted.to), from).and_then(|()| {
                    let from = root.join(from);
                    // A rename between two names of one file does nothing.
                    if is_same_file(&old, &from) {
                        return Ok(());
                    }
                    old.persist(from).map_err(|error| error.error)
                })
            }
            _ => fs::remove_file(&to),
        };
        back.map_err(|source| FileError { path: to, source })
    }
}

/// Checks that no other file is at the target; the file itself in other letters is allowed.
fn check_target_free(root: &Path, wanted: &Change) -> Result<(), FileError> {
    let to = root.join(&wanted.to);
    let is_same_file =
        |from: &String| differ_in_case(from, &wanted.to) && is_same_file(&root.join(from), &to);
    let is_own = |from: &String| *from == wanted.to || is_same_file(from);
    if to.symlink_metadata().is_err() || wanted.from.as_ref().is_some_and(is_own) {
        return Ok(());
    }
    let what = "it is there already, and nothing is written over";
    let source = io::Error::new(io::ErrorKind::AlreadyExists, what);
    Err(FileError { path: to, source })
}

/// Moves a file, or changes the letters of its path.
fn move_file(root: &Path, from: Option<&str>, to: &str) -> io::Result<()> {
    let Some(from) = from.filter(|from| *from != to) else {
        return Ok(());
    };
    let (old, new) = (root.join(from), root.join(to));
    if differ_in_case(from, to) && is_same_file(&old, &new) {
        return rename_case(root, from, to);
    }
    fs::rename(old, new)
}

/// Creates a hard link beside a file, or a copy if the file system has no hard links.
fn second_name(path: &Path) -> io::Result<TempPath> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = |take: fn(&Path, &Path) -> io::Result<()>| {
        tempfile::Builder::new()
            .prefix(STAGED_PREFIX)
            .make_in(folder, |new| take(path, new))
    };
    let named = name(|path, new| fs::hard_link(path, new))
        .or_else(|_| name(|path, new| fs::copy(path, new).map(drop)))?;
    Ok(named.into_temp_path())
}

/// Changes the letters of each part of a file's path, from the root down.
fn rename_case(root: &Path, from: &str, to: &str) -> io::Result<()> {
    let mut folder = root.to_owned();
    for (old, new) in from.split('/').zip(to.split('/')) {
        if old != new {
            fs::rename(folder.join(old), folder.join(new))?;
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
        apply_change(root.path(), &wanted(None, a, "1")).unwrap();
        let again = apply_change(root.path(), &wanted(None, a, "2")).unwrap_err();
        assert!(
            again.to_string().contains("nothing is written over"),
            "{again}"
        );
        apply_change(root.path(), &wanted(Some(a), a, "2")).unwrap();
        apply_change(root.path(), &wanted(Some(a), b, "3")).unwrap();
        assert!(!root.path().join(a).exists());
        assert_eq!(fs::read_to_string(root.path().join(b)).unwrap(), "3");
        apply_change(root.path(), &wanted(None, a, "1")).unwrap();
        assert!(apply_change(root.path(), &wanted(Some(a), b, "1")).is_err());
        assert_eq!(fs::read_to_string(root.path().join(a)).unwrap(), "1");
        assert!(apply_change(root.path(), &wanted(None, "../x.md", "1")).is_err());
    }

    #[test]
    fn a_file_that_cannot_leave_its_folder_is_named() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (".jules/tasks/todo/a.md", ".jules/tasks/done/a.md");
        let error = apply_change(root.path(), &wanted(Some(from), to, "1")).unwrap_err();
        assert_eq!(error.path, root.path().join(from));
    }

    /// A second name of one file stands for the same name in other letters, which this file system may tell apart.
    #[cfg(unix)]
    #[test]
    fn a_file_whose_name_only_changes_its_letters_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (".jules/tasks/todo/A-b.md", ".jules/tasks/todo/a-b.md");
        apply_change(root.path(), &wanted(None, old, "1")).unwrap();
        let text = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
        // Where they are two files, nothing is written over.
        fs::write(root.path().join(new), "2").unwrap();
        assert!(apply_change(root.path(), &wanted(Some(old), new, "3")).is_err());
        assert_eq!((text(old), text(new)), ("1".to_owned(), "2".to_owned()));
        fs::remove_file(root.path().join(new)).unwrap();
        fs::hard_link(root.path().join(old), root.path().join(new)).unwrap();
        apply_change(root.path(), &wanted(Some(old), new, "3")).unwrap();
        assert_eq!(text(new), "3");
    }

    #[test]
    fn parts_of_a_path_get_other_letters_from_the_root_down() {
        let root = tempfile::tempdir().unwrap();
        let (old, new) = (".jules/tasks/Todo/A.md", ".jules/tasks/todo/a.md");
        apply_change(root.path(), &wanted(None, old, "1")).unwrap();
        assert!(differ_in_case(old, new) && !differ_in_case(new, new));
        assert!(!is_same_file(
            &root.path().join(old),
            &root.path().join("x")
        ));
        rename_case(root.path(), old, new).unwrap();
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
        assert!(apply_change(root.path(), &new).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
