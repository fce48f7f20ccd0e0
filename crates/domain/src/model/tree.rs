//! The files of one commit, as far as they were read.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What a tree entry is. Only regular files are ever read as text; links and submodules are findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// `100644` or `100755`.
    File,
    /// `120000`: a symbolic link. Never followed.
    Link,
    /// `160000`: a submodule.
    Submodule,
    /// A pipe, a socket or a device in a folder. git holds none of them.
    Special,
}

/// One file of a [`Tree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub mode: Mode,
    /// Its blob id in lower-case hexadecimal; empty where the files did not come from git.
    pub oid: String,
    /// Size in bytes.
    pub size: u64,
    /// Its text, once read. `None`: listed but not read, binary, or larger than its limit.
    pub text: Option<Arc<str>>,
}

/// The files of one commit below the paths that phileas looks at, keyed by path from the repository's root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<String, Entry>,
}

impl Tree {
    /// A tree without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tree of readable regular files, for tests, examples and local folders.
    #[must_use]
    pub fn of_texts<P: Into<String>, T: AsRef<str>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let mut tree = Self::new();
        for (path, text) in files {
            tree.insert_text(path, text.as_ref());
        }
        tree
    }

    /// Adds or replaces an entry.
    pub fn insert(&mut self, path: impl Into<String>, entry: Entry) {
        self.entries.insert(path.into(), entry);
    }

    /// Adds or replaces a readable regular file.
    pub fn insert_text(&mut self, path: impl Into<String>, text: &str) {
        let entry = Entry {
            mode: Mode::File,
            oid: String::new(),
            size: text.len() as u64,
            text: Some(text.into()),
        };
        self.insert(path, entry);
    }

    /// Removes an entry, where there is one.
    pub fn remove(&mut self, path: &str) {
        self.entries.remove(path);
    }

    /// The tree with files written and (without a text) removed.
    #[must_use]
    pub fn with(&self, files: &BTreeMap<String, Option<String>>) -> Self {
        let mut next = self.clone();
        for (path, text) in files {
            match text {
                Some(text) => next.insert_text(path, text),
                None => drop(next.entries.remove(path)),
            }
        }
        next
    }

    /// The entry at a path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// The text of a regular file that was read.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        let entry = self.entries.get(path)?;
        (entry.mode == Mode::File)
            .then_some(entry.text.as_deref())
            .flatten()
    }

    /// What stands where a folder would have to be for anything to lie at `path`: the entry nearest to the root, with
    /// its own path. A file, a link and a submodule are in the way alike.
    #[must_use]
    pub fn in_the_way(&self, path: &str) -> Option<(&str, &Entry)> {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        above
            .filter_map(|folder| self.entries.get_key_value(folder))
            .map(|(place, entry)| (place.as_str(), entry))
            .next()
    }

    /// All entries below `folder` (without its final slash), in byte order of their paths.
    pub fn below<'a>(
        &'a self,
        folder: &str,
    ) -> impl Iterator<Item = (&'a str, &'a Entry)> + use<'a> {
        let prefix = format!("{folder}/");
        self.entries
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(|(path, entry)| (path.as_str(), entry))
    }

    /// All entries in byte order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries
            .iter()
            .map(|(path, entry)| (path.as_str(), entry))
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_way_is_the_one_nearest_to_the_root() {
        let tree = Tree::of_texts([("a/b", "1"), ("a/b/c", "2"), ("ab", "3")]);
        let way = |path| tree.in_the_way(path).map(|(place, _)| place);
        assert_eq!(way("a/b/c/d"), Some("a/b"));
        assert_eq!(way("a/b"), None);
        assert_eq!(way("a/c"), None);
        assert_eq!(way("ab/c"), Some("ab"));
    }

    #[test]
    fn below_takes_whole_path_parts() {
        let tree = Tree::of_texts([("a/b", "1"), ("ab/c", "2"), ("a/c/d", "3")]);
        assert_eq!(
            tree.below("a").map(|(path, _)| path).collect::<Vec<_>>(),
            ["a/b", "a/c/d"]
        );
    }
}
