//! The files of one commit, as far as phileas has read them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Diagnostic, NotUtf8};

/// The largest file that is read as text, in bytes. A reader of one kind of file may have a lower limit.
pub const TEXT_LIMIT_BYTES: u64 = 1 << 20;

/// What a tree entry is. Only regular files are ever read as text; links and submodules are findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    /// `100644` or `100755`.
    File,
    /// `120000`: a symbolic link. Never followed.
    Link,
    /// `160000`: a submodule.
    Submodule,
    /// A pipe, a socket or a device in a folder. git holds none of them.
    Special,
    /// An empty folder with the name of a file. git holds none.
    Folder,
}

/// One file of a [`Tree`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// The files of one commit below the paths that phileas reads, keyed by path from the repository's root.
///
/// A local folder is read as a whole. A tick reads a commit on GitHub in parts. Such a tree knows its unread paths, so that
/// a caller requests them instead of treating them as missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    entries: BTreeMap<String, Entry>,
    /// `None`: the tree is whole.
    parts: Option<Arc<Parts>>,
    /// The files of a local folder that are not UTF-8, with the place of the first wrong byte.
    #[serde(skip)]
    not_utf8: BTreeMap<String, NotUtf8>,
}

/// What is known of a tree that was read in parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Parts {
    paths: BTreeMap<String, PathState>,
    /// Files whose text was requested, with or without success.
    read: BTreeSet<String>,
}

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum PathState {
    /// There is nothing.
    Missing,
    /// There is something.
    Exists,
    /// It is a folder, and its direct entries are known.
    Listed,
}

impl Tree {
    /// A tree without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tree of readable regular files, for tests, examples and local folders.
    #[must_use]
    pub fn from_texts<P: Into<String>, T: AsRef<str>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let mut tree = Self::new();
        for (path, text) in files {
            tree.insert_text(path, text.as_ref());
        }
        tree
    }

    /// A tree of which nothing is known yet.
    #[must_use]
    pub fn in_parts() -> Self {
        Self {
            parts: Some(Arc::default()),
            ..Self::default()
        }
    }

    /// Whether parts of it may be unread.
    #[must_use]
    pub fn is_in_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// The same tree, with what is unread taken for missing.
    #[must_use]
    pub fn as_whole(mut self) -> Self {
        self.parts = None;
        self
    }

    /// Notes that nothing is at a path.
    pub fn note_missing(&mut self, path: &str) {
        self.note_status(path, PathState::Missing);
    }

    /// Notes that something is at a path, which is not read.
    pub fn note_exists(&mut self, path: &str) {
        self.note_status(path, PathState::Exists);
    }

    /// Notes that a path is a folder whose direct entries are all known.
    pub fn note_listed(&mut self, path: &str) {
        self.note_status(path, PathState::Listed);
    }

    /// Notes that the text of a file was asked for.
    pub fn note_read(&mut self, path: &str) {
        if let Some(parts) = &mut self.parts {
            Arc::make_mut(parts).read.insert(path.to_owned());
        }
    }

    /// Notes where a file that was read is not UTF-8.
    pub fn note_not_utf8(&mut self, path: &str, place: NotUtf8) {
        self.not_utf8.insert(path.to_owned(), place);
    }

    fn note_status(&mut self, path: &str, place: PathState) {
        if let Some(parts) = &mut self.parts {
            let known = Arc::make_mut(parts).paths.entry(path.to_owned());
            let known = known.or_insert(place);
            *known = place.max(*known);
        }
    }

    /// Whether a file may be at a path, or a text in it, that was never asked for. Never so in a whole tree.
    #[must_use]
    pub fn is_unread(&self, path: &str) -> bool {
        let Some(parts) = &self.parts else {
            return false;
        };
        if parts.read.contains(path) {
            return false;
        }
        match self.entries.get(path) {
            Some(entry) => entry.mode == Mode::File && entry.text.is_none(),
            None => {
                !self.is_missing(parts, path) && parts.paths.get(path) != Some(&PathState::Listed)
            }
        }
    }

    /// Whether a folder may be at a path whose entries were never asked for. Never so in a whole tree.
    #[must_use]
    pub fn is_unlisted(&self, folder: &str) -> bool {
        let Some(parts) = &self.parts else {
            return false;
        };
        !parts.read.contains(folder)
            && !self.entries.contains_key(folder)
            && !self.is_missing(parts, folder)
            && parts.paths.get(folder) != Some(&PathState::Listed)
    }

    /// Whether it is known that nothing is at a path.
    fn is_missing(&self, parts: &Parts, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at);
        let mut parent = None;
        for end in ends.chain([path.len()]) {
            let here = &path[..end];
            let place = parts.paths.get(here);
            let is_file = end < path.len() && self.entries.contains_key(here);
            let is_left_out = parent == Some(&PathState::Listed)
                && place.is_none()
                && !self.entries.contains_key(here);
            if is_file || is_left_out || place == Some(&PathState::Missing) {
                return true;
            }
            parent = place;
        }
        false
    }

    /// Adds the files of another read of the same commit.
    pub fn take_in(&mut self, other: &Self) {
        for (path, entry) in &other.entries {
            self.entries.insert(path.clone(), entry.clone());
        }
        let Some(parts) = &other.parts else {
            return;
        };
        for (path, place) in &parts.paths {
            self.note_status(path, *place);
        }
        for path in &parts.read {
            self.note_read(path);
        }
    }

    /// This tree, with the files of another where it has none itself.
    #[must_use]
    pub fn laid_over(&self, other: &Self) -> Self {
        let mut whole = other.clone();
        whole.parts = self.parts.clone();
        whole.not_utf8.extend(self.not_utf8.clone());
        for (path, entry) in &self.entries {
            whole.insert(path.clone(), entry.clone());
        }
        whole
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

    /// Whether a path is a folder, as far as it is known.
    #[must_use]
    pub fn is_folder(&self, path: &str) -> bool {
        let is_empty = self.get(path).is_some_and(|one| one.mode == Mode::Folder);
        is_empty || self.below(path).next().is_some()
    }

    /// Whether anything is at a path.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.get(path).is_some() || self.is_folder(path)
    }

    /// The text of a regular file of at most `limit` bytes. `None`: nothing is at the path. `subject`: what the messages
    /// call it, such as `the plan`.
    ///
    /// # Errors
    ///
    /// What is there in place of such a file, and how to fix it.
    pub fn read_text(
        &self,
        path: &str,
        subject: &str,
        limit: u64,
    ) -> Result<Option<&str>, Box<Diagnostic>> {
        let error = |problem: &str, help: &str| {
            let message = format!("{subject} is {problem}");
            Box::new(Diagnostic::error(path, message).help(help))
        };
        if self.is_folder(path) {
            return Err(error("a folder", "put a file here"));
        }
        let Some(entry) = self.get(path) else {
            return Ok(None);
        };
        // A text that was added by itself has no size.
        let read = entry.text.as_ref().map_or(0, |text| text.len() as u64);
        match entry.mode {
            Mode::Link => Err(error(
                "a symbolic link, and links are not followed",
                "put the file itself here",
            )),
            Mode::Submodule => Err(error("a submodule, and not a file", "put a file here")),
            Mode::Special | Mode::Folder => Err(error("not a file", "put a file here")),
            Mode::File if entry.size.max(read) > limit => {
                Err(error(&format!("larger than {limit} bytes"), "shorten it"))
            }
            Mode::File => entry.text.as_deref().map(Some).ok_or_else(|| {
                let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                match self.not_utf8.get(path) {
                    Some(place) => {
                        let error = error("not text in UTF-8", "save it as UTF-8");
                        Box::new(error.at(number(place.line), number(place.column)))
                    }
                    None => error("not text in UTF-8, or was not read", "save it as UTF-8"),
                }
            }),
        }
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

    /// The same tree with these files only. What is known of other paths stays as it is.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.entries.iter().filter(|(path, _)| keep(path));
        Self {
            entries: kept
                .map(|(path, entry)| (path.clone(), entry.clone()))
                .collect(),
            parts: self.parts.clone(),
            not_utf8: self.not_utf8.clone(),
        }
    }

    /// The SHA-256 of everything in it, in lower-case hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut feed = |bytes: &[u8]| {
            hash.update(bytes.len().to_le_bytes());
            hash.update(bytes);
        };
        for (path, entry) in &self.entries {
            feed(path.as_bytes());
            feed(&[entry.mode as u8, u8::from(entry.text.is_some())]);
            feed(&entry.size.to_le_bytes());
            feed(entry.text.as_deref().unwrap_or_default().as_bytes());
        }
        if let Some(parts) = &self.parts {
            feed(b"in parts");
            for (path, place) in &parts.paths {
                feed(path.as_bytes());
                feed(&[*place as u8]);
            }
            feed(b"read");
            parts.read.iter().for_each(|path| feed(path.as_bytes()));
        }
        HEXLOWER.encode(&hash.finalize())
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
    fn what_is_in_the_place_of_a_text_is_named() {
        let mut tree = Tree::from_texts([("text", "1"), ("folder/a", "2")]);
        let file = tree.get("text").cloned().unwrap();
        let entry = |mode| Entry {
            mode,
            text: None,
            ..file.clone()
        };
        tree.insert("empty", entry(Mode::Folder));
        tree.insert("link", entry(Mode::Link));
        tree.insert("other", entry(Mode::Submodule));
        tree.insert("pipe", entry(Mode::Special));
        tree.insert("unread", entry(Mode::File));
        tree.insert("latin", entry(Mode::File));
        let (line, column) = (2, 4);
        tree.note_not_utf8("latin", NotUtf8 { line, column });
        assert_eq!(tree.read_text("text", "it", 1), Ok(Some("1")));
        assert_eq!(tree.read_text("absent", "it", 1), Ok(None));
        assert!(!tree.has("absent"));
        for (path, limit, expected) in [
            (
                "text",
                0,
                "text: error: it is larger than 0 bytes; shorten it",
            ),
            (
                "folder",
                1,
                "folder: error: it is a folder; put a file here",
            ),
            ("empty", 1, "empty: error: it is a folder; put a file here"),
            (
                "latin",
                1,
                "latin:2:4: error: it is not text in UTF-8; save it as UTF-8",
            ),
            (
                "link",
                1,
                "link: error: it is a symbolic link, and links are not followed; put the file itself here",
            ),
            (
                "other",
                1,
                "other: error: it is a submodule, and not a file; put a file here",
            ),
            ("pipe", 1, "pipe: error: it is not a file; put a file here"),
            (
                "unread",
                1,
                "unread: error: it is not text in UTF-8, or was not read; save it as UTF-8",
            ),
        ] {
            assert!(tree.has(path), "{path}");
            let error = tree.read_text(path, "it", limit).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn what_is_in_the_way_is_the_one_nearest_to_the_root() {
        let tree = Tree::from_texts([("a/b", "1"), ("a/b/c", "2"), ("ab", "3")]);
        let way = |path| tree.in_the_way(path).map(|(place, _)| place);
        assert_eq!(way("a/b/c/d"), Some("a/b"));
        assert_eq!(way("a/b"), None);
        assert_eq!(way("a/c"), None);
        assert_eq!(way("ab/c"), Some("ab"));
    }

    #[test]
    fn a_partial_tree_distinguishes_missing_and_unread_paths() {
        let mut tree = Tree::in_parts();
        assert!(tree.is_unread("a/b.md") && tree.is_unlisted("a"));
        tree.note_listed("a");
        tree.note_exists("a/b.md");
        tree.note_exists("a/sub");
        tree.insert_text("a/c.md", "1");
        let listed = Entry {
            text: None,
            ..tree.get("a/c.md").unwrap().clone()
        };
        tree.insert("a/d.md", listed);
        for (path, unread) in [
            ("a/b.md", true),
            ("a/c.md", false),
            ("a/c.md/x", false),
            ("a/d.md", true),
            ("a/gone.md", false),
            ("a/gone/x.md", false),
            ("a/sub/x.md", true),
            ("b/x.md", true),
        ] {
            assert_eq!(tree.is_unread(path), unread, "{path}");
        }
        assert!(tree.is_unlisted("a/sub") && !tree.is_unlisted("a") && !tree.is_unlisted("a/no"));
        tree.note_read("a/d.md");
        tree.note_missing("b");
        assert!(!tree.is_unread("a/d.md") && !tree.is_unread("b/x.md"));
        let mut read = Tree::in_parts();
        read.note_listed("a/sub");
        read.insert_text("a/sub/x.md", "2");
        tree.take_in(&read);
        assert_eq!(tree.text("a/sub/x.md"), Some("2"));
        assert!(!tree.is_unlisted("a/sub") && !tree.is_unread("a/sub/y.md"));
        let whole = Tree::from_texts([("a/c.md", "1")]);
        assert!(!whole.is_unread("x") && !whole.is_unlisted("x"));
        assert!(!tree.as_whole().is_unread("a/b.md"));
    }

    #[test]
    fn below_takes_whole_path_parts() {
        let tree = Tree::from_texts([("a/b", "1"), ("ab/c", "2"), ("a/c/d", "3")]);
        assert_eq!(
            tree.below("a").map(|(path, _)| path).collect::<Vec<_>>(),
            ["a/b", "a/c/d"]
        );
    }
}
