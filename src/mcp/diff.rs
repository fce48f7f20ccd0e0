//! A diff, file by file. Read by its headers alone; its contents are never believed.

use schemars::JsonSchema;
use serde::Serialize;

/// What begins a file's part.
const HEADER: &str = "diff --git ";

/// A file that is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct FileChange {
    /// Its path.
    pub(super) path: String,
    /// How many lines are added.
    pub(super) additions: usize,
    /// How many lines are removed.
    pub(super) deletions: usize,
}

/// The files of a diff, in its order.
pub(super) fn files(patch: &str) -> Vec<FileChange> {
    parts(patch).into_iter().map(change).collect()
}

/// The part of a diff that changes this file, by its old or its new path.
pub(super) fn of_file<'a>(patch: &'a str, path: &str) -> Option<&'a str> {
    let path = path.trim_start_matches("./");
    parts(patch).into_iter().find(|part| {
        change(part).path == path
            || header_lines(part).any(|line| {
                let old = line
                    .strip_prefix("--- a/")
                    .or_else(|| line.strip_prefix("rename from "));
                old.is_some_and(|old| old.trim_end() == path)
            })
    })
}

/// Each file's part. A line of a file's contents begins with a blank, `+`, `-` or `\`, so a header is always one.
fn parts(patch: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = patch
        .match_indices(&format!("\n{HEADER}"))
        .map(|(at, _)| at + 1)
        .collect();
    if patch.starts_with(HEADER) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &patch[*start..end])
        .collect()
}

fn header_lines(part: &str) -> impl Iterator<Item = &str> {
    part.lines().take_while(|line| !line.starts_with("@@"))
}

fn change(part: &str) -> FileChange {
    let named = |start: &str| {
        header_lines(part).find_map(|line| Some(line.strip_prefix(start)?.trim_end().to_owned()))
    };
    let path = named("+++ b/")
        .or_else(|| named("rename to "))
        .or_else(|| named("--- a/"))
        .or_else(|| {
            // A binary file or an empty one has no other line with its name.
            let line = part.lines().next()?.strip_prefix(HEADER)?;
            Some(line.rsplit_once(" b/")?.1.to_owned())
        })
        .unwrap_or_default();
    let body = part.lines().skip_while(|line| !line.starts_with("@@"));
    let (mut additions, mut deletions) = (0, 0);
    for line in body {
        match line.as_bytes().first() {
            Some(b'+') => additions += 1,
            Some(b'-') => deletions += 1,
            _ => {}
        }
    }
    FileChange {
        path,
        additions,
        deletions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/one.txt b/one.txt\nindex 1..2 100644\n--- a/one.txt\n+++ b/one.txt\n@@ -1 +1,2 @@\n-a\n+b\n+++ c\ndiff --git a/old b/new name\nsimilarity index 100%\nrename from old\nrename to new name\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/pic.png b/pic.png\nBinary files differ\n";

    #[test]
    fn files_are_told_apart_by_their_headers() {
        let seen: Vec<_> = files(PATCH)
            .into_iter()
            .map(|file| (file.path, file.additions, file.deletions))
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
        assert!(files("no diff at all").is_empty());
    }

    #[test]
    fn one_file_is_found_by_either_name() {
        assert!(of_file(PATCH, "gone").unwrap().ends_with("-x\n"));
        assert_eq!(of_file(PATCH, "old"), of_file(PATCH, "new name"));
        assert_eq!(of_file(PATCH, "missing"), None);
    }
}
