//! Collects the plan's files in a domain [`Tree`]: regular files with their texts, links and submodules by kind.

use std::collections::BTreeSet;

use phileas_domain::board::{SPRINTS_FOLDER, TASKS_FOLDER};
use phileas_domain::model::{Entry, Mode, Tree};

use crate::adapters::github::wire::file::{File, Form, Text};
use crate::adapters::github::wire::observation::DefaultCommit;

/// A blob that GitHub did not show whole, and the path of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) path: String,
    pub(crate) oid: String,
    pub(crate) size: u64,
}

/// The files of a commit, and those whose text must still be fetched.
pub(crate) fn tree_of(commit: &DefaultCommit) -> (Tree, Vec<Unread>) {
    let mut files = Files::default();
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
            files.add(path, file);
        }
    }
    files.into_parts()
}

/// The folders in which agents leave files for one another, if they exist.
pub(crate) fn papers_of(commit: &DefaultCommit) -> BTreeSet<String> {
    let folders = [
        (TASKS_FOLDER, &commit.tasks),
        (SPRINTS_FOLDER, &commit.sprints),
    ];
    let there = folders.into_iter().filter(|(_, listed)| {
        let listed = listed.as_ref();
        listed.is_some_and(|listed| listed.form() == Form::Folder)
    });
    there.map(|(folder, _)| folder.to_owned()).collect()
}

/// Collects files from GitHub's answers.
pub(crate) struct Files {
    tree: Tree,
    unread: Vec<Unread>,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            tree: Tree::in_parts(),
            unread: Vec::new(),
        }
    }
}

impl Files {
    /// The files, and those whose text must still be fetched.
    pub(crate) fn into_parts(self) -> (Tree, Vec<Unread>) {
        (self.tree, self.unread)
    }

    /// Notes which entries a folder has, without adding them.
    fn note_entries(&mut self, path: &str, folder: &File) {
        if folder.listed.form() != Form::Folder {
            self.tree.note_missing(path);
            return;
        }
        self.tree.note_listed(path);
        for entry in folder.entries() {
            self.tree
                .note_exists(&format!("{path}/{}", entry.listed.name));
        }
    }

    /// Notes that a path was read completely, and adds it.
    pub(crate) fn note_read(&mut self, path: &str, file: Option<&File>) {
        self.tree.note_read(path);
        match file {
            Some(file) => self.add(path, file),
            None => self.tree.note_missing(path),
        }
    }

    /// Adds a file, or everything below a folder.
    pub(crate) fn add(&mut self, path: &str, file: &File) {
        let mode = match file.listed.form() {
            Form::File => Mode::File,
            Form::Link => Mode::Link,
            Form::Submodule => Mode::Submodule,
            // The query limits the depth; deeper entries are not known here.
            Form::Folder => {
                match file.is_listed() {
                    true => self.tree.note_listed(path),
                    false => self.tree.note_exists(path),
                }
                for entry in file.entries() {
                    self.add(&format!("{path}/{}", entry.listed.name), entry);
                }
                return;
            }
            Form::Unknown => return,
        };
        let mut text = None;
        // Entries that are only listed have no object.
        if mode == Mode::File && file.object.is_some() {
            match file.text() {
                Text::Whole(whole) => text = Some(whole.into()),
                Text::ReadBlob => self.unread.push(Unread {
                    path: path.to_owned(),
                    oid: file.listed.oid.clone(),
                    size: file.size(),
                }),
                Text::Binary => self.tree.note_read(path),
            }
        }
        let entry = Entry {
            mode,
            oid: file.listed.oid.clone(),
            size: file.size(),
            text,
        };
        self.tree.insert(path, entry);
    }
}
