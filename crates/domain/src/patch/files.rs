//! What a diff changes, a line for each file. Read by its headers alone; what files say is never believed.

use super::parts::{HEADER, split_parts};

/// The changes to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChange {
    /// Its path afterwards, or before where it is deleted.
    pub path: String,
    /// Lines that are added.
    pub added: usize,
    /// Lines that are taken away.
    pub removed: usize,
    /// Whether it is new, gone, or neither.
    pub change: ChangeKind,
    /// Whether its contents are no text.
    pub binary: bool,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was there and stays.
    #[default]
    Changed,
    /// It is new.
    Created,
    /// It is gone.
    Deleted,
}

/// Reads what a diff changes, in its order.
#[must_use]
pub fn changed_files(diff: &str) -> Vec<FileChange> {
    split_parts(diff).map(file_change).collect()
}

/// The part of a diff that changes this file, by its old or its new path.
#[must_use]
pub fn of_file<'d>(diff: &'d str, path: &str) -> Option<&'d str> {
    let path = path.trim_start_matches("./");
    let was = |line: &str| {
        let old = line
            .strip_prefix("--- a/")
            .or_else(|| line.strip_prefix("rename from "));
        old.is_some_and(|old| old.trim_end() == path)
    };
    split_parts(diff).find(|part| file_change(part).path == path || header_lines(part).any(was))
}

/// The lines of a part before its first hunk.
fn header_lines(part: &str) -> impl Iterator<Item = &str> {
    part.lines().take_while(|line| !line.starts_with("@@"))
}

fn file_change(part: &str) -> FileChange {
    let mut file = FileChange::default();
    let mut old = None;
    for line in header_lines(part) {
        if let Some(names) = line.strip_prefix(HEADER) {
            file.path = path_of(names);
        } else if line.starts_with("new file mode") {
            file.change = ChangeKind::Created;
        } else if line.starts_with("deleted file mode") {
            file.change = ChangeKind::Deleted;
        } else if line.starts_with("Binary files") || line.starts_with("GIT binary patch") {
            file.binary = true;
        } else if let Some(path) = line.strip_prefix("--- a/") {
            old = Some(path);
        } else if let Some(path) = line
            .strip_prefix("rename to ")
            .or_else(|| line.strip_prefix("+++ b/"))
        {
            // After a path with blanks git writes a tab.
            path.trim_end().clone_into(&mut file.path);
        }
    }
    if let Some(old) = old.filter(|_| file.change == ChangeKind::Deleted) {
        old.trim_end().clone_into(&mut file.path);
    }
    count_lines(part, &mut file);
    file
}

/// Counts lines by hunks and not by their look: `--- x` may be a line that is taken away.
fn count_lines(part: &str, file: &mut FileChange) {
    // Lines of the current hunk that are still to come, before and after.
    let (mut old, mut new) = (0_usize, 0_usize);
    for line in part.lines() {
        if old == 0 && new == 0 {
            if let Some(counts) = line.strip_prefix("@@ ") {
                (old, new) = hunk_counts(counts);
            }
            continue;
        }
        match line.as_bytes().first() {
            Some(b'+') => {
                file.added += 1;
                new = new.saturating_sub(1);
            }
            Some(b'-') => {
                file.removed += 1;
                old = old.saturating_sub(1);
            }
            Some(b'\\') => {}
            _ => {
                old = old.saturating_sub(1);
                new = new.saturating_sub(1);
            }
        }
    }
}

/// The second name of `a/x b/x`. Git quotes names with unusual characters; these stay quoted.
fn path_of(names: &str) -> String {
    let second = names.rsplit_once(" b/").map(|(_, path)| path);
    second.unwrap_or(names).to_owned()
}

/// How many lines a hunk `-1,3 +1,4 @@` has before and after.
fn hunk_counts(counts: &str) -> (usize, usize) {
    let mut parts = counts.split(' ');
    let mut count = |sign: char| {
        let range = parts.next().and_then(|part| part.strip_prefix(sign))?;
        match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1),
        }
    };
    (count('-').unwrap_or(0), count('+').unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/one.txt b/one.txt\nindex 1..2 100644\n--- a/one.txt\n+++ b/one.txt\n@@ -1 +1,2 @@\n-a\n+b\n+++ c\ndiff --git a/old b/new name\nsimilarity index 100%\nrename from old\nrename to new name\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/pic.png b/pic.png\nBinary files differ\n";

    #[test]
    fn lines_are_counted_by_hunks_and_not_by_their_look() {
        let diff = "diff --git a/a.md b/a.md\nindex 1..2 100644\n--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,3 @@ x\n \
                    one\n--- two\n+++ two\n+three\n\\ No newline at end of file\ndiff --git a/n b/n\nnew file mode \
                    100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\ndiff --git a/i.png b/i.png\ndeleted file mode \
                    100644\nBinary files a/i.png and /dev/null differ\n";
        let files = changed_files(diff);
        let told: Vec<_> = files
            .iter()
            .map(|file| {
                (
                    file.path.as_str(),
                    file.added,
                    file.removed,
                    file.change,
                    file.binary,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("a.md", 2, 1, ChangeKind::Changed, false),
                ("n", 1, 0, ChangeKind::Created, false),
                ("i.png", 0, 0, ChangeKind::Deleted, true),
            ]
        );
        assert!(changed_files("no diff at all\n+x").is_empty());
    }

    #[test]
    fn files_are_separated_by_their_headers() {
        let seen: Vec<_> = changed_files(PATCH)
            .into_iter()
            .map(|file| (file.path, file.added, file.removed))
            .collect();
        let file = |path: &str, added, removed| (path.to_owned(), added, removed);
        assert_eq!(
            seen,
            [
                file("one.txt", 2, 1),
                file("new name", 0, 0),
                file("gone", 0, 1),
                file("pic.png", 0, 0)
            ]
        );
    }

    #[test]
    fn one_file_is_found_by_either_name() {
        assert!(of_file(PATCH, "gone").unwrap().ends_with("-x\n"));
        assert_eq!(of_file(PATCH, "old"), of_file(PATCH, "new name"));
        assert_eq!(of_file(PATCH, "missing"), None);
    }
}
