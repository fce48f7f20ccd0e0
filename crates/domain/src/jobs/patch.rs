//! What a diff in the format of `git diff` changes, a line for each file.

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
    pub fate: Fate,
    /// Whether its contents are no text.
    pub binary: bool,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fate {
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
pub fn files(diff: &str) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    // Lines of the current hunk that are still to come, before and after.
    let (mut old, mut new) = (0_usize, 0_usize);
    for line in diff.lines() {
        if old == 0 && new == 0 {
            if let Some(names) = line.strip_prefix("diff --git ") {
                files.push(FileChange {
                    path: path_of(names),
                    ..FileChange::default()
                });
                continue;
            }
            let Some(file) = files.last_mut() else {
                continue;
            };
            if line.starts_with("new file mode") {
                file.fate = Fate::Created;
            } else if line.starts_with("deleted file mode") {
                file.fate = Fate::Deleted;
            } else if line.starts_with("Binary files") || line.starts_with("GIT binary patch") {
                file.binary = true;
            } else if let Some(path) = line.strip_prefix("rename to ") {
                path.clone_into(&mut file.path);
            } else if let Some(path) = line.strip_prefix("+++ b/") {
                path.clone_into(&mut file.path);
            } else if let Some(counts) = line.strip_prefix("@@ ") {
                (old, new) = hunk(counts);
            }
            continue;
        }
        let Some(file) = files.last_mut() else { break };
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
    files
}

/// The second name of `a/x b/x`. Git quotes names with unusual characters; these stay quoted.
fn path_of(names: &str) -> String {
    let second = names.rsplit_once(" b/").map(|(_, path)| path);
    second.unwrap_or(names).to_owned()
}

/// How many lines a hunk `-1,3 +1,4 @@` has before and after.
fn hunk(counts: &str) -> (usize, usize) {
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

    #[test]
    fn lines_are_counted_by_hunks_and_not_by_their_look() {
        let diff = "diff --git a/a.md b/a.md\nindex 1..2 100644\n--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,3 @@ x\n \
                    one\n--- two\n+++ two\n+three\n\\ No newline at end of file\ndiff --git a/n b/n\nnew file mode \
                    100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\ndiff --git a/i.png b/i.png\ndeleted file mode \
                    100644\nBinary files a/i.png and /dev/null differ\n";
        let files = files(diff);
        let told: Vec<_> = files
            .iter()
            .map(|file| {
                (
                    file.path.as_str(),
                    file.added,
                    file.removed,
                    file.fate,
                    file.binary,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("a.md", 2, 1, Fate::Changed, false),
                ("n", 1, 0, Fate::Created, false),
                ("i.png", 0, 0, Fate::Deleted, true),
            ]
        );
        assert!(super::files("no diff at all\n+x").is_empty());
    }
}
