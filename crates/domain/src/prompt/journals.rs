//! Quotes a persona's journal: what it wrote at the end of its last turns.

use super::fence::Fence;
use super::limits::{ENTRY_LIMIT_BYTES, JOURNALS_LIMIT, JOURNALS_LIMIT_BYTES};
use super::untrusted::{clean_line, cut_bytes};
use crate::model::{Mode, PersonaId, Tree};

/// The paths of the persona's last [`JOURNALS_LIMIT`] journal entries, oldest first: regular `.md` files directly in
/// its `journals` folder, sorted by name. Names begin with the date, which is more reliable than what agents write into
/// the date key. A dispatch needs their texts.
#[must_use]
pub fn journals_to_read(tree: &Tree, persona: &PersonaId) -> Vec<String> {
    let folder = format!(".jules/personas/{persona}/journals");
    let mut paths: Vec<String> = tree
        .below(&folder)
        .filter(|(path, entry)| {
            entry.mode == Mode::File
                && path.ends_with(".md")
                && !path[folder.len() + 1..].contains('/')
        })
        .map(|(path, _)| path.to_owned())
        .collect();
    paths.split_off(paths.len().saturating_sub(JOURNALS_LIMIT))
}

/// A persona's journal as its prompt shows it, and the paths of the entries; empty if there are none. The fence's
/// boundary is constant, so this is for display only.
#[must_use]
pub fn shown_journal(tree: &Tree, persona: &PersonaId) -> (String, Vec<String>) {
    let fence = Fence::with_boundary(&[0; 32], persona.as_str());
    journal_entries(tree, persona, &fence)
}

/// The entries in one fence, oldest first, each under its heading, and the paths of these entries; empty if there are
/// none.
pub(super) fn journal_entries(
    tree: &Tree,
    persona: &PersonaId,
    fence: &Fence,
) -> (String, Vec<String>) {
    let mut entries = Vec::new();
    let mut paths = Vec::new();
    let mut room = JOURNALS_LIMIT_BYTES;
    for path in journals_to_read(tree, persona).into_iter().rev() {
        let text = tree.text(&path).map(without_frontmatter);
        if text.is_some_and(|text| text.trim().is_empty()) {
            continue;
        }
        let file = clean_line(path.rsplit('/').next().unwrap_or(&path));
        let body = text.map_or_else(
            || "(not read: too large, or not text)".to_owned(),
            |text| cut_bytes(text.trim(), ENTRY_LIMIT_BYTES),
        );
        let entry = format!("--- Journal Entry: {file} ---\n{body}");
        if entry.len() > room {
            break;
        }
        room -= entry.len();
        entries.push(entry);
        paths.push(path);
    }
    if entries.is_empty() {
        return (String::new(), paths);
    }
    entries.reverse();
    (
        fence.fenced_block("journal entries of earlier turns", &entries.join("\n\n")),
        paths,
    )
}

/// The text below a leading block between two `---` lines, or the whole text if there is none.
pub(super) fn without_frontmatter(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return text;
    };
    let mut at = first.len();
    for line in lines {
        at += line.len();
        if line.trim_end() == "---" {
            return &text[at..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(n: usize) -> String {
        format!(".jules/personas/a/journals/2026-01-{n:02}-0900-Title.md")
    }

    fn fence() -> std::sync::Arc<Fence> {
        Fence::for_persona(&[1; 32], &"a".into(), &"t".into())
    }

    #[test]
    fn the_last_ten_by_name() {
        let mut tree = Tree::from_texts((1..=12).map(|n| (path(n), format!("entry {n}"))));
        tree.insert_text(".jules/personas/a/journals/old/2027.md", "deeper");
        tree.insert_text(".jules/personas/a/journals/2027.txt", "no entry");
        tree.insert_text(".jules/personas/ab/journals/2027.md", "of another");
        let link = crate::model::Entry {
            mode: Mode::Link,
            oid: String::new(),
            size: 1,
            text: None,
        };
        tree.insert(".jules/personas/a/journals/2028.md", link);
        assert_eq!(
            journals_to_read(&tree, &"a".into()),
            (3..=12).map(path).collect::<Vec<_>>()
        );
    }

    #[test]
    fn the_oldest_give_way_when_all_together_are_too_long() {
        let tree = Tree::from_texts((1..=10).map(|n| (path(n), "x".repeat(ENTRY_LIMIT_BYTES * 2))));
        let (text, paths) = journal_entries(&tree, &"a".into(), &fence());
        assert!(text.len() < JOURNALS_LIMIT_BYTES + 1000);
        assert_eq!(paths.first(), Some(&path(10)));
        assert_eq!(paths.len(), 5);
        assert!(text.contains("(cut after 4096 bytes)"));
        assert!(text.contains("2026-01-10") && !text.contains("2026-01-05"));
    }

    #[test]
    fn frontmatter_is_stripped_where_it_is_one() {
        for (text, body) in [
            ("---\ntitle: x\n---\nBody\n---\nmore", "Body\n---\nmore"),
            ("---\r\ntitle: x\r\n---\r\nBody", "Body"),
            ("\u{feff}---\na: b\n---\nBody", "Body"),
            ("--- not\nBody", "--- not\nBody"),
            ("---\nnever closed", "---\nnever closed"),
            ("", ""),
        ] {
            assert_eq!(without_frontmatter(text), body, "{text:?}");
        }
    }

    #[test]
    fn an_unread_entry_is_named_and_an_empty_one_is_not() {
        let mut tree = Tree::from_texts([(path(1), "---\na: b\n---\n\n")]);
        assert_eq!(journal_entries(&tree, &"a".into(), &fence()).0, "");
        let unread = crate::model::Entry {
            mode: Mode::File,
            oid: String::new(),
            size: 1,
            text: None,
        };
        tree.insert(path(2), unread);
        assert!(
            journal_entries(&tree, &"a".into(), &fence())
                .0
                .contains("2026-01-02-0900-Title.md ---\n(not read")
        );
    }
}
