//! Collects the plan's files in a domain [`Tree`]: regular files with their texts, links and submodules by kind.

use std::collections::BTreeSet;

use phileas_domain::board::{SPRINTS_FOLDER, TASKS_FOLDER};
use phileas_domain::model::{Entry, Mode, Tree};

use crate::adapters::github::wire::file::{EntryKind, File, Text};
use crate::adapters::github::wire::observation::DefaultCommit;

/// A blob that GitHub did not show whole, and the path of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadFile {
    pub(crate) path: String,
    pub(crate) oid: String,
    pub(crate) size: u64,
}

/// The files of a commit, and those whose text must still be fetched.
pub(crate) fn tree_of(commit: &DefaultCommit) -> (Tree, Vec<UnreadFile>) {
    let mut files = FileCollector::default();
    match &commit.jules {
        Some(folder) => files.note_entries(".jules", folder),
        None => files.tree.note_missing(".jules"),
    }
    for (path, file) in [
        (".jules/schedules.toml", &commit.schedules),
        (".jules/blocks", &commit.blocks),
        (".jules/partials", &commit.partials),
        (".jules/personas", &commit.personas),
        (".jlo/config.toml", &commit.config),
        (".jlo/roles", &commit.roles),
    ] {
        if let Some(file) = file {
            files.add_entry(path, file);
        }
    }
    files.into_parts()
}

/// The folders in which agents leave files for one another, if they exist.
pub(crate) fn working_folders(commit: &DefaultCommit) -> BTreeSet<String> {
    let folders = [
        (TASKS_FOLDER, &commit.tasks),
        (SPRINTS_FOLDER, &commit.sprints),
    ];
    let there = folders.into_iter().filter(|(_, listed)| {
        let listed = listed.as_ref();
        listed.is_some_and(|listed| listed.entry_kind() == EntryKind::Folder)
    });
    there.map(|(folder, _)| folder.to_owned()).collect()
}

/// Collects files from GitHub's answers.
pub(crate) struct FileCollector {
    tree: Tree,
    unread: Vec<UnreadFile>,
}

impl Default for FileCollector {
    fn default() -> Self {
        Self {
            tree: Tree::in_parts(),
            unread: Vec::new(),
        }
    }
}

impl FileCollector {
    /// The files, and those whose text must still be fetched.
    pub(crate) fn into_parts(self) -> (Tree, Vec<UnreadFile>) {
        (self.tree, self.unread)
    }

    /// Notes which entries a folder has, without adding them.
    fn note_entries(&mut self, path: &str, folder: &File) {
        if folder.listed.entry_kind() != EntryKind::Folder {
            self.tree.note_missing(path);
            return;
        }
        self.tree.note_listed(path);
        for entry in folder.folder_entries() {
            self.tree
                .note_exists(&format!("{path}/{}", entry.listed.name));
        }
    }

    /// Notes that a path was read completely, and adds it.
    pub(crate) fn note_read(&mut self, path: &str, file: Option<&File>) {
        self.tree.note_read(path);
        match file {
            Some(file) => self.add_entry(path, file),
            None => self.tree.note_missing(path),
        }
    }

    /// Adds a file, or everything below a folder.
    pub(crate) fn add_entry(&mut self, path: &str, file: &File) {
        let mode = match file.listed.entry_kind() {
            EntryKind::File => Mode::File,
            EntryKind::Link => Mode::Link,
            EntryKind::Submodule => Mode::Submodule,
            // The query limits the depth; deeper entries are not known here.
            EntryKind::Folder => {
                match file.is_listed() {
                    true => self.tree.note_listed(path),
                    false => self.tree.note_exists(path),
                }
                for entry in file.folder_entries() {
                    self.add_entry(&format!("{path}/{}", entry.listed.name), entry);
                }
                return;
            }
            EntryKind::Unknown => return,
        };
        let mut text = None;
        // Entries that are only listed have no object.
        if mode == Mode::File && file.object.is_some() {
            match file.blob_text() {
                Text::Whole(whole) => text = Some(whole.into()),
                Text::ReadBlob => self.unread.push(UnreadFile {
                    path: path.to_owned(),
                    oid: file.listed.oid.clone(),
                    size: file.byte_length(),
                }),
                Text::Binary => self.tree.note_read(path),
            }
        }
        let entry = Entry {
            mode,
            oid: file.listed.oid.clone(),
            size: file.byte_length(),
            text,
        };
        self.tree.insert(path, entry);
    }
}
