//! Does a pull request change anything?

use super::changed_file::ChangedFile;

/// Why a pull request changes nothing that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOp {
    /// It has no changed file, or only its persona's own journal.
    Empty,
    /// It changes white space alone. That may be meant, so such a pull request is never closed.
    WhiteSpace,
}

/// Whether a pull request of a persona changes nothing that counts. `files`: all of its files, compared with the merge
/// base. Tasks and sprint files are work.
#[must_use]
pub fn no_op(files: &[ChangedFile<'_>], persona: &str) -> Option<NoOp> {
    if files.iter().all(|file| is_own_journal(file.path, persona)) {
        return Some(NoOp::Empty);
    }
    let changes_white_space = |file: &ChangedFile<'_>| match file.patch {
        Some(patch) => changes_only_white_space(patch),
        // A renamed, binary or large file has no hunks.
        None => false,
    };
    files
        .iter()
        .all(changes_white_space)
        .then_some(NoOp::WhiteSpace)
}

/// The journals of a persona's folder, and the one file that Jules' own personas write, such as `.jules/bolt.md`.
fn is_own_journal(path: &str, persona: &str) -> bool {
    let path = path.to_lowercase();
    let persona = persona.to_lowercase();
    path.starts_with(&format!(".jules/personas/{persona}/journals/"))
        || path == format!(".jules/{persona}.md")
}

/// Whether each run of changed lines has the same text before and after, white space left out. Moved lines lie in two
/// runs, so they are a change.
fn changes_only_white_space(patch: &str) -> bool {
    let (mut before, mut after) = (String::new(), String::new());
    for line in patch.lines().chain(["@@"]) {
        let text = |line: &str| line[1..].split_whitespace().collect::<String>();
        match line.as_bytes().first() {
            Some(b'-') => before.push_str(&text(line)),
            Some(b'+') => after.push_str(&text(line)),
            Some(b'\\') => {}
            _ if before != after => return false,
            _ => {
                before.clear();
                after.clear();
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file<'a>(path: &'a str, patch: Option<&'a str>) -> ChangedFile<'a> {
        ChangedFile {
            path,
            added: 1,
            removed: 1,
            patch,
        }
    }

    #[test]
    fn nothing_and_the_own_journal_alone_are_no_work() {
        assert_eq!(no_op(&[], "bolt"), Some(NoOp::Empty));
        for path in [
            ".jules/bolt.md",
            ".Jules/Bolt.md",
            ".jules/personas/bolt/journals/1.md",
        ] {
            assert_eq!(
                no_op(&[file(path, Some("@@\n+x"))], "bolt"),
                Some(NoOp::Empty),
                "{path}"
            );
            let with_work = [file(path, Some("@@\n+x")), file("src/a.rs", Some("@@\n+x"))];
            assert_eq!(no_op(&with_work, "bolt"), None, "{path}");
        }
    }

    #[test]
    fn tasks_sprints_and_journals_of_others_are_work() {
        for path in [
            ".jules/tasks/todo/1.md",
            ".jules/sprints/sprint-1/plan.md",
            ".jules/personas/other/journals/1.md",
            ".jules/palette.md",
            ".jules/bolt.md.rs",
        ] {
            assert_eq!(no_op(&[file(path, Some("@@\n+x"))], "bolt"), None, "{path}");
        }
    }

    #[test]
    fn white_space_alone_is_told_from_changes() {
        let of = |patch| no_op(&[file("src/a.rs", patch)], "bolt");
        for patch in [
            "@@ -1 +1 @@\n-a b\n+a  b",
            "@@ -1,2 +1,3 @@\n-fn a() {}\n+fn a()\n+{}\n c",
            "@@ -1 +1,2 @@\n a\n+\n+ \t",
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a",
        ] {
            assert_eq!(of(Some(patch)), Some(NoOp::WhiteSpace), "{patch}");
        }
        for patch in [
            "@@ -1 +1 @@\n-a\n+b",
            "@@ -1,3 +1,3 @@\n-a\n b\n+a",
            "@@ -1 +1,2 @@\n a\n+b",
            "@@ -1 +1 @@\n-a\n@@ -9 +8 @@\n+a",
        ] {
            assert_eq!(of(Some(patch)), None, "{patch}");
        }
        // A renamed or binary file says nothing of its lines.
        assert_eq!(of(None), None);
    }
}
