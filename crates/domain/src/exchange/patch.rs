//! Converts a session's patch into whole files, as imports need them.
//!
//! Jules returns one unified diff of all changes against the commit on which the session began. Each file's part is
//! parsed alone, so that a broken part does not affect the others.

use std::collections::{BTreeMap, BTreeSet};

use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};

use super::import::{ChangedFile, FileContent};
use super::limits::{CHANGE_FILES_LIMIT, PATCH_LIMIT_BYTES};
use crate::diagnostic::Diagnostic;
use crate::model::Mode;
use crate::patch::{HEADER, split_parts};

/// The longest header line of a part, in bytes: two paths of Linux' maximum length, and some words.
const HEADER_LIMIT_BYTES: usize = 2 * 4_096 + 64;
/// How much of a broken header line is reported.
const SHOWN_BYTES: usize = 200;
/// The folder that imports read. Of other files only the path is kept.
const ROOT: &str = ".jules/";

/// The paths whose text at the base commit is needed to apply the patch.
#[must_use]
pub fn base_paths(patch: &str) -> BTreeSet<String> {
    let parts = split_parts(patch).take(CHANGE_FILES_LIMIT);
    let bases = parts.filter_map(|part| match file_operation(&parse_file(part).ok()?) {
        Operation::Change { from, to } | Operation::Rename { from, to } if to.starts_with(ROOT) => {
            Some(from)
        }
        _ => None,
    });
    bases.collect()
}

/// The files of a patch. `base`: the texts of [`base_paths`] that could be read.
///
/// A file whose new text is uncertain is reported instead.
#[must_use]
pub fn apply_patch(
    patch: &str,
    base: &BTreeMap<String, String>,
) -> (Vec<ChangedFile>, Vec<Diagnostic>) {
    let mut files = Vec::new();
    let mut found = Vec::new();
    if patch.len() > PATCH_LIMIT_BYTES {
        let message = format!(
            "the patch has {} bytes, more than {PATCH_LIMIT_BYTES}; it is not read",
            patch.len()
        );
        let one = Diagnostic::error(ROOT.trim_end_matches('/'), message);
        return (files, vec![one.help("write only the files of the task")]);
    }
    // One more than the limit of imports, so that they notice the excess.
    for part in split_parts(patch).take(CHANGE_FILES_LIMIT + 1) {
        match parse_file(part) {
            Ok(file) => apply_file(&file, base, &mut files, &mut found),
            Err(why) => {
                let header = part.lines().next().unwrap_or_default();
                let place = header.strip_prefix(HEADER).unwrap_or(header);
                let place = place[..place.floor_char_boundary(SHOWN_BYTES)]
                    .escape_debug()
                    .to_string();
                let one =
                    Diagnostic::error(place, format!("its part of the patch is broken: {why}"));
                found.push(one.help("write the whole file"));
            }
        }
    }
    (files, found)
}

/// What a part of a patch does, with paths from the repository's root.
enum Operation {
    Create(String),
    Change { from: String, to: String },
    Rename { from: String, to: String },
    Remove(String),
}

fn apply_file(
    file: &FilePatch<'_, str>,
    base: &BTreeMap<String, String>,
    files: &mut Vec<ChangedFile>,
    found: &mut Vec<Diagnostic>,
) {
    let mut push = |path: &str, content| {
        files.push(ChangedFile {
            path: path.to_owned(),
            content,
        });
    };
    let mode = match file.new_mode() {
        Some(FileMode::Symlink) => Some(Mode::Link),
        Some(FileMode::Gitlink) => Some(Mode::Submodule),
        _ => None,
    };
    let (before, path) = match file_operation(file) {
        Operation::Remove(path) => return push(&path, FileContent::Removed),
        Operation::Create(path) => (Some(""), path),
        Operation::Change { from, to } => (base.get(&from).map(String::as_str), to),
        Operation::Rename { from, to } => {
            push(&from, FileContent::Removed);
            (base.get(&from).map(String::as_str), to)
        }
    };
    if let Some(mode) = mode {
        return push(&path, FileContent::Other(mode));
    }
    let PatchKind::Text(patch) = file.patch() else {
        return push(&path, FileContent::Other(Mode::File));
    };
    if !path.starts_with(ROOT) {
        return push(&path, FileContent::Text(String::new()));
    }
    let text = before.map(|before| diffy::apply(before, patch));
    match text {
        Some(Ok(text)) => push(&path, FileContent::Text(text)),
        Some(Err(_)) | None => {
            let path = path.escape_debug().to_string();
            let one =
                Diagnostic::error(path, "the file that it changes is another one at its base");
            found.push(one.help("write the whole file"));
        }
    }
}

fn parse_file(part: &str) -> Result<FilePatch<'_, str>, String> {
    let header = part.lines().next().unwrap_or_default();
    // The parser tries to divide two paths at every space, so its time grows with the square of the length.
    if header.len() > HEADER_LIMIT_BYTES {
        return Err(format!(
            "its first line has {} bytes, more than {HEADER_LIMIT_BYTES}",
            header.len()
        ));
    }
    let mut all = PatchSet::parse(part, ParseOptions::gitdiff());
    match all.next() {
        Some(Ok(file)) => Ok(file),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("there is nothing in it".to_owned()),
    }
}

fn file_operation(file: &FilePatch<'_, str>) -> Operation {
    let bare = |path: &str| {
        let rest = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
        rest.unwrap_or(path).to_owned()
    };
    match file.operation() {
        FileOperation::Delete(path) => Operation::Remove(bare(path)),
        FileOperation::Create(path) => Operation::Create(bare(path)),
        FileOperation::Modify { original, modified } => Operation::Change {
            from: bare(original),
            to: bare(modified),
        },
        // git writes these paths without a prefix.
        FileOperation::Rename { from, to } => Operation::Rename {
            from: from.to_string(),
            to: to.to_string(),
        },
        FileOperation::Copy { from, to } => Operation::Change {
            from: from.to_string(),
            to: to.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
diff --git a/.jules/exchange/events/pending/a.yml b/.jules/exchange/events/pending/a.yml
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/.jules/exchange/events/pending/a.yml
@@ -0,0 +1,2 @@
+id: abc123
+diff --git is no header here
diff --git a/.jules/workstations/qa/perspective.yml b/.jules/workstations/qa/perspective.yml
index 1111111..2222222 100644
--- a/.jules/workstations/qa/perspective.yml
+++ b/.jules/workstations/qa/perspective.yml
@@ -1,2 +1,2 @@
 a: 1
-b: 2
+b: 3
diff --git a/.jules/exchange/changes.yml b/.jules/exchange/changes.yml
deleted file mode 100644
index 1111111..0000000
--- a/.jules/exchange/changes.yml
+++ /dev/null
@@ -1 +0,0 @@
-x: 1
diff --git a/.jules/exchange/link.yml b/.jules/exchange/link.yml
new file mode 120000
index 0000000..3333333
--- /dev/null
+++ b/.jules/exchange/link.yml
@@ -0,0 +1 @@
+/etc/passwd
\\ No newline at end of file
diff --git a/src/lib.rs b/src/lib.rs
index 1111111..2222222 100644
--- a/src/lib.rs
+++ b/src/lib.rs
@@ -7 +7 @@
-old
+new
diff --git a/.jules/exchange/broken.yml b/.jules/exchange/broken.yml
index 1111111..2222222 100644
--- a/.jules/exchange/broken.yml
+++ b/.jules/exchange/broken.yml
@@ nonsense @@
+x
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..4444444
Binary files /dev/null and b/logo.png differ
";

    fn content<'f>(files: &'f [ChangedFile], path: &str) -> &'f FileContent {
        let found = files.iter().find(|one| one.path == path);
        &found.unwrap_or_else(|| panic!("{path}: {files:?}")).content
    }

    #[test]
    fn each_file_of_a_patch_is_made_whole_by_itself() {
        let memory = ".jules/workstations/qa/perspective.yml";
        let bases = base_paths(PATCH);
        assert_eq!(bases, BTreeSet::from([memory.to_owned()]));
        let base = BTreeMap::from([(memory.to_owned(), "a: 1\nb: 2\n".to_owned())]);
        let (files, found) = apply_patch(PATCH, &base);
        let text = |text: &str| FileContent::Text(text.to_owned());
        assert_eq!(
            *content(&files, ".jules/exchange/events/pending/a.yml"),
            text("id: abc123\ndiff --git is no header here\n")
        );
        assert_eq!(*content(&files, memory), text("a: 1\nb: 3\n"));
        assert_eq!(
            *content(&files, ".jules/exchange/changes.yml"),
            FileContent::Removed
        );
        assert_eq!(
            *content(&files, ".jules/exchange/link.yml"),
            FileContent::Other(Mode::Link)
        );
        assert_eq!(*content(&files, "src/lib.rs"), text(""));
        assert_eq!(*content(&files, "logo.png"), FileContent::Other(Mode::File));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].to_string().contains("broken.yml"), "{}", found[0]);
    }

    #[test]
    fn a_change_of_a_file_that_is_another_one_is_told_of() {
        let memory = ".jules/workstations/qa/perspective.yml";
        for base in [None, Some("x: 1\n")] {
            let base: BTreeMap<_, _> = base
                .map(|text| (memory.to_owned(), text.to_owned()))
                .into_iter()
                .collect();
            let (files, found) = apply_patch(PATCH, &base);
            assert!(!files.iter().any(|one| one.path == memory));
            assert!(found.iter().any(|one| one.file == memory), "{found:?}");
        }
    }

    #[test]
    fn a_renamed_file_leaves_its_old_place() {
        let patch = "\
diff --git a/.jules/exchange/a.yml b/.jules/exchange/b.yml
similarity index 100%
rename from .jules/exchange/a.yml
rename to .jules/exchange/b.yml
";
        let (files, found) = apply_patch(patch, &BTreeMap::new());
        assert_eq!(
            *content(&files, ".jules/exchange/a.yml"),
            FileContent::Removed
        );
        assert_eq!(found.len(), 1, "its text is not known");
    }

    #[test]
    fn what_is_too_large_is_not_looked_at() {
        let patch = format!("{PATCH}{}", "+x\n".repeat(PATCH_LIMIT_BYTES / 3));
        let (files, found) = apply_patch(&patch, &BTreeMap::new());
        assert_eq!((files, found.len()), (Vec::new(), 1));
        assert_eq!(apply_patch("", &BTreeMap::new()), (Vec::new(), Vec::new()));
        assert_eq!(apply_patch("nonsense", &BTreeMap::new()).0, Vec::new());
    }

    #[test]
    fn a_patch_is_as_large_as_it_may_be() {
        const BEGIN: &str = "\
diff --git a/src/big.txt b/src/big.txt
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/src/big.txt
@@ -0,0 +1 @@
+";
        for (size, expected) in [(PATCH_LIMIT_BYTES, (1, 0)), (PATCH_LIMIT_BYTES + 1, (0, 1))] {
            let filling = "x".repeat(size - BEGIN.len() - "\n".len());
            let (files, found) = apply_patch(&format!("{BEGIN}{filling}\n"), &BTreeMap::new());
            assert_eq!((files.len(), found.len()), expected, "{size}: {found:?}");
        }
    }

    /// The parser tries all ways to divide a header line, so a line with a hundred thousand spaces took minutes.
    #[test]
    fn a_first_line_without_end_is_refused() {
        let spaces = " ".repeat(100_000);
        let patch =
            format!("diff --git a/x{spaces}b/y\nnew file mode 100644\nindex 0000000..1111111\n");
        let (files, found) = apply_patch(&patch, &BTreeMap::new());
        assert_eq!(files, []);
        let said = found[0].to_string();
        assert!(said.contains("its first line has 1000"), "{said}");
        assert!(said.len() < 1_000, "{}", said.len());
    }
}
