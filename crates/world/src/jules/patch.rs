//! Writes unified diffs between two states of files, as `git apply` takes them.

use std::collections::BTreeMap;

use bytes::Bytes;
use diffy::DiffOptions;
use sha1::{Digest, Sha1};

/// Lines of context around a change, git's default.
const CONTEXT: usize = 3;

/// The diff of all files; `None` on a side means that the file does not exist there.
pub(super) fn unified_diff(files: &BTreeMap<String, (Option<Bytes>, Option<Bytes>)>) -> String {
    files
        .iter()
        .map(|(path, (old, new))| file_diff(path, old.as_ref(), new.as_ref()))
        .collect()
}

fn file_diff(path: &str, old: Option<&Bytes>, new: Option<&Bytes>) -> String {
    if old == new {
        return String::new();
    }
    let mut text = format!("diff --git a/{path} b/{path}\n");
    let index = format!("index {}..{}", blob_id(old), blob_id(new));
    match (old, new) {
        (None, _) => text.push_str(&format!("new file mode 100644\n{index}\n")),
        (_, None) => text.push_str(&format!("deleted file mode 100644\n{index}\n")),
        _ => text.push_str(&format!("{index} 100644\n")),
    }
    let sides = (as_text(old), as_text(new));
    let (Some(before), Some(after)) = sides else {
        text.push_str(&format!(
            "Binary files {} and {} differ\n",
            header_name("a", path, old),
            header_name("b", path, new)
        ));
        return text;
    };
    let mut options = DiffOptions::new();
    options
        .set_context_len(CONTEXT)
        .set_original_filename(header_name("a", path, old))
        .set_modified_filename(header_name("b", path, new));
    let patch = options.create_patch(before, after);
    // git writes no `---` and `+++` where no line differs, for example for a new empty file.
    if !patch.hunks().is_empty() {
        text.push_str(&patch.to_string());
    }
    text
}

fn header_name(side: &str, path: &str, data: Option<&Bytes>) -> String {
    data.map_or_else(|| "/dev/null".to_owned(), |_| format!("{side}/{path}"))
}

fn as_text(data: Option<&Bytes>) -> Option<&str> {
    data.map_or(Some(""), |data| {
        std::str::from_utf8(data)
            .ok()
            .filter(|text| !text.contains('\0'))
    })
}

/// The abbreviated name of a blob, zeros for none.
fn blob_id(data: Option<&Bytes>) -> String {
    let Some(data) = data else {
        return "0000000".to_owned();
    };
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", data.len()));
    hash.update(data);
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()[..7]
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn to_bytes(text: &str) -> Option<Bytes> {
        Some(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn git_applies_what_is_written_here() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let long: String = (0..40).map(|line| format!("line {line}\n")).collect();
        let changed = long
            .replace("line 3\n", "line three\n")
            .replace("line 30\n", "");
        let files = BTreeMap::from([
            ("long.txt".to_owned(), (to_bytes(&long), to_bytes(&changed))),
            (
                "docs/new.md".to_owned(),
                (None, to_bytes("# New\n\nno newline at the end")),
            ),
            ("empty.txt".to_owned(), (None, to_bytes(""))),
            ("old.txt".to_owned(), (to_bytes("gone\n"), None)),
            (
                "ends.txt".to_owned(),
                (to_bytes("a\nb"), to_bytes("a\nb\n")),
            ),
            (
                "same.txt".to_owned(),
                (to_bytes("same\n"), to_bytes("same\n")),
            ),
        ]);
        for (path, (old, _)) in &files {
            if let Some(old) = old {
                std::fs::write(at(path), old).unwrap();
            }
        }
        let patch = unified_diff(&files);
        assert!(!patch.contains("same.txt"));
        assert!(!patch.contains("+++ b/empty.txt"), "{patch}");
        std::fs::write(at("p.diff"), &patch).unwrap();
        let applied = Command::new("git")
            .args(["apply", "--whitespace=nowarn", "p.diff"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(
            applied.status.success(),
            "{}\n{patch}",
            String::from_utf8_lossy(&applied.stderr)
        );
        for (path, (_, new)) in &files {
            assert_eq!(
                std::fs::read(at(path)).ok().map(Bytes::from),
                *new,
                "{path}"
            );
        }
    }
}
