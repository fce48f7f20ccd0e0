//! The object database of one repository: lookups, history, diffs, merges.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::object::{Commit, Entry, Mode, Object, Oid};

/// The most ancestors that a walk visits; far more than a simulated repository holds.
pub const MAX_WALK: usize = 200_000;

/// Reached by the one, by the other, by both.
const ONE: u8 = 1;
const OTHER: u8 = 2;
const BOTH: u8 = 3;

/// The objects of one repository.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    all: HashMap<Oid, Object>,
}

/// What a change does to one path.
pub type PathChange = Option<(Mode, Oid)>;

/// One file that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path from the root.
    pub path: String,
    /// The file before, absent when it is new.
    pub old: PathChange,
    /// The file after, absent when it was removed.
    pub new: PathChange,
}

impl Difference {
    /// `added`, `removed` or `modified`.
    #[must_use]
    pub fn status_name(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "modified",
        }
    }
}

impl Objects {
    /// Stores an object and gives its name.
    pub fn store_object(&mut self, object: Object) -> Oid {
        let oid = object.oid();
        self.all.entry(oid).or_insert(object);
        oid
    }

    /// Stores a file's content.
    pub fn put_blob(&mut self, content: impl Into<Bytes>) -> Oid {
        self.store_object(Object::Blob(content.into()))
    }

    /// The object of this name.
    #[must_use]
    pub fn get(&self, oid: Oid) -> Option<&Object> {
        self.all.get(&oid)
    }

    /// All objects in the order of their names.
    #[must_use]
    pub fn sorted_objects(&self) -> Vec<(Oid, &Object)> {
        let mut all: Vec<_> = self
            .all
            .iter()
            .map(|(oid, object)| (*oid, object))
            .collect();
        all.sort_by_key(|(oid, _)| *oid);
        all
    }

    /// The content of a file.
    #[must_use]
    pub fn blob(&self, oid: Oid) -> Option<&Bytes> {
        match self.get(oid)? {
            Object::Blob(content) => Some(content),
            _ => None,
        }
    }

    /// The entries of a tree.
    #[must_use]
    pub fn tree(&self, oid: Oid) -> Option<&Arc<[Entry]>> {
        match self.get(oid)? {
            Object::Tree(entries) => Some(entries),
            _ => None,
        }
    }

    /// A commit.
    #[must_use]
    pub fn commit(&self, oid: Oid) -> Option<&Arc<Commit>> {
        match self.get(oid)? {
            Object::Commit(commit) => Some(commit),
            _ => None,
        }
    }

    /// The tree of a commit, or the tree itself.
    #[must_use]
    pub fn tree_of(&self, oid: Oid) -> Option<Oid> {
        match self.get(oid)? {
            Object::Commit(commit) => Some(commit.tree),
            Object::Tree(_) => Some(oid),
            _ => None,
        }
    }

    /// The entry at a path below a tree or commit; the root for an empty path.
    #[must_use]
    pub fn at_path(&self, from: Oid, path: &str) -> Option<(Mode, Oid)> {
        let mut found = (Mode::Directory, self.tree_of(from)?);
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let entry = self
                .tree(found.1)?
                .iter()
                .find(|entry| entry.name == part)?;
            found = (entry.mode, entry.oid);
        }
        Some(found)
    }

    /// Every file below a tree, with its path from there, in the order of a walk.
    #[must_use]
    pub fn list_files(&self, tree: Oid) -> Vec<(String, Mode, Oid)> {
        let mut found = Vec::new();
        self.walk_tree(tree, "", false, &mut found);
        found
    }

    /// Every entry below a tree, directories too, in the order of a walk.
    #[must_use]
    pub fn entries_below(&self, tree: Oid) -> Vec<(String, Mode, Oid)> {
        let mut found = Vec::new();
        self.walk_tree(tree, "", true, &mut found);
        found
    }

    fn walk_tree(
        &self,
        tree: Oid,
        prefix: &str,
        directories: bool,
        found: &mut Vec<(String, Mode, Oid)>,
    ) {
        let Some(entries) = self.tree(tree) else {
            return;
        };
        for entry in entries.iter() {
            let path = format!("{prefix}{}", entry.name);
            if entry.mode != Mode::Directory || directories {
                found.push((path.clone(), entry.mode, entry.oid));
            }
            if entry.mode == Mode::Directory {
                self.walk_tree(entry.oid, &format!("{path}/"), directories, found);
            }
        }
    }

    /// A tree with these paths changed; untouched directories are shared with the old tree.
    pub fn changed_tree(
        &mut self,
        base: Option<Oid>,
        changes: &BTreeMap<String, PathChange>,
    ) -> Oid {
        let changes: Vec<(&str, PathChange)> = changes
            .iter()
            .map(|(path, change)| (path.as_str(), *change))
            .collect();
        let tree = self.change_below(base, &changes);
        tree.unwrap_or_else(|| self.store_object(Object::sorted_tree(Vec::new())))
    }

    fn change_below(&mut self, base: Option<Oid>, changes: &[(&str, PathChange)]) -> Option<Oid> {
        let mut entries: BTreeMap<String, (Mode, Oid)> = base
            .and_then(|oid| self.tree(oid))
            .map(|entries| {
                entries
                    .iter()
                    .map(|e| (e.name.clone(), (e.mode, e.oid)))
                    .collect()
            })
            .unwrap_or_default();
        let mut below: BTreeMap<&str, Vec<(&str, PathChange)>> = BTreeMap::new();
        for (path, change) in changes {
            match path.split_once('/') {
                Some((directory, rest)) => {
                    below.entry(directory).or_default().push((rest, *change))
                }
                None => match change {
                    Some(file) => drop(entries.insert((*path).to_owned(), *file)),
                    None => drop(entries.remove(*path)),
                },
            }
        }
        for (directory, changes) in below {
            let old = entries
                .get(directory)
                .filter(|(mode, _)| *mode == Mode::Directory)
                .map(|(_, oid)| *oid);
            match self.change_below(old, &changes) {
                Some(tree) => drop(entries.insert(directory.to_owned(), (Mode::Directory, tree))),
                None if old.is_some() => drop(entries.remove(directory)),
                None => {}
            }
        }
        if entries.is_empty() {
            return None;
        }
        let entries = entries
            .into_iter()
            .map(|(name, (mode, oid))| Entry { mode, name, oid })
            .collect();
        Some(self.store_object(Object::sorted_tree(entries)))
    }

    /// The files that differ between two trees or commits, by path; `None` stands for an empty tree.
    #[must_use]
    pub fn diff_trees(&self, old: Option<Oid>, new: Option<Oid>) -> Vec<Difference> {
        let mut found = Vec::new();
        let (old, new) = (
            old.and_then(|oid| self.tree_of(oid)),
            new.and_then(|oid| self.tree_of(oid)),
        );
        self.differ_below(old, new, "", &mut found);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    fn differ_below(
        &self,
        old: Option<Oid>,
        new: Option<Oid>,
        prefix: &str,
        found: &mut Vec<Difference>,
    ) {
        if old == new {
            return;
        }
        let read = |oid: Option<Oid>| -> BTreeMap<&str, (Mode, Oid)> {
            oid.and_then(|oid| self.tree(oid))
                .map(|entries| {
                    entries
                        .iter()
                        .map(|e| (e.name.as_str(), (e.mode, e.oid)))
                        .collect()
                })
                .unwrap_or_default()
        };
        let (old, new) = (read(old), read(new));
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for name in names {
            let (before, after) = (old.get(name).copied(), new.get(name).copied());
            if before == after {
                continue;
            }
            let directory = |side: PathChange| {
                side.filter(|(mode, _)| *mode == Mode::Directory)
                    .map(|(_, oid)| oid)
            };
            let file = |side: PathChange| side.filter(|(mode, _)| *mode != Mode::Directory);
            let path = format!("{prefix}{name}");
            if file(before) != file(after) {
                found.push(Difference {
                    path: path.clone(),
                    old: file(before),
                    new: file(after),
                });
            }
            self.differ_below(
                directory(before),
                directory(after),
                &format!("{path}/"),
                found,
            );
        }
    }

    /// All ancestors of a commit, itself included, newest first as `git log` shows them.
    #[must_use]
    pub fn commit_history(&self, from: Oid) -> Vec<Oid> {
        self.order_commits(from, |_| true)
    }

    fn history_within(&self, from: Oid, among: &BTreeSet<Oid>) -> Vec<Oid> {
        self.order_commits(from, |oid| among.contains(&oid))
    }

    fn order_commits(&self, from: Oid, wanted: impl Fn(Oid) -> bool) -> Vec<Oid> {
        let mut waiting = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        // Equal times keep the order of discovery, so that a child precedes its parent.
        let mut rank = u64::MAX;
        let mut enter = |oid: Oid, waiting: &mut BTreeSet<(jiff::Timestamp, u64, Oid)>| {
            if let Some(commit) = self.commit(oid)
                && wanted(oid)
                && seen.insert(oid)
            {
                rank -= 1;
                waiting.insert((commit.committer.when, rank, oid));
            }
        };
        enter(from, &mut waiting);
        while let Some((_, _, oid)) = waiting.pop_last() {
            found.push(oid);
            if found.len() >= MAX_WALK {
                break;
            }
            for parent in self
                .commit(oid)
                .map(|commit| commit.parents.as_slice())
                .unwrap_or_default()
            {
                enter(*parent, &mut waiting);
            }
        }
        found
    }

    /// Whether `old` is `new` or one of its ancestors.
    #[must_use]
    pub fn is_ancestor(&self, old: Oid, new: Oid) -> bool {
        let mut waiting = vec![new];
        let mut seen = BTreeSet::new();
        while let Some(oid) = waiting.pop() {
            if oid == old {
                return true;
            }
            if seen.len() >= MAX_WALK || !seen.insert(oid) {
                continue;
            }
            if let Some(commit) = self.commit(oid) {
                waiting.extend(&commit.parents);
            }
        }
        false
    }

    /// The newest common ancestor of two commits.
    #[must_use]
    pub fn merge_base(&self, one: Oid, other: Oid) -> Option<Oid> {
        let sides = self.mark_ancestors(one, other);
        let common = |oid: &Oid| sides.get(oid) == Some(&BOTH);
        if common(&one) {
            return Some(one);
        }
        if common(&other) {
            return Some(other);
        }
        let when = |oid: &Oid| self.commit(*oid).map(|commit| commit.committer.when);
        let all: Vec<Oid> = sides.keys().filter(|oid| common(oid)).copied().collect();
        let newest = all.iter().map(when).max()?;
        let newest: Vec<Oid> = all.into_iter().filter(|oid| when(oid) == newest).collect();
        // Commits of the same second may descend from one another: the last of them counts.
        let is_last = |oid: &Oid| {
            !newest
                .iter()
                .any(|later| later != oid && self.is_ancestor(*oid, *later))
        };
        newest.iter().copied().filter(is_last).min()
    }

    /// Commits of `new` that `old` does not have, newest first.
    #[must_use]
    pub fn missing_from(&self, old: Option<Oid>, new: Oid) -> Vec<Oid> {
        let Some(old) = old.filter(|old| self.commit(*old).is_some()) else {
            return self.commit_history(new);
        };
        // The common case: a branch that was only pushed forward.
        let mut line = Vec::new();
        let mut at = new;
        while at != old {
            let Some([parent]) = self.commit(at).map(|commit| commit.parents.as_slice()) else {
                let sides = self.mark_ancestors(old, new);
                let missing: BTreeSet<Oid> = sides
                    .into_iter()
                    .filter(|(_, side)| *side == OTHER)
                    .map(|(oid, _)| oid)
                    .collect();
                return self.history_within(new, &missing);
            };
            line.push(at);
            at = *parent;
        }
        line
    }

    /// Marks which ancestors each of two commits reaches, as far back as needed.
    fn mark_ancestors(&self, one: Oid, other: Oid) -> BTreeMap<Oid, u8> {
        let when = |oid: Oid| self.commit(oid).map(|commit| commit.committer.when);
        let mut sides: BTreeMap<Oid, u8> = BTreeMap::new();
        let mut waiting = BTreeSet::new();
        for (oid, side) in [(one, ONE), (other, OTHER)] {
            *sides.entry(oid).or_default() |= side;
            waiting.insert((when(oid), oid));
        }
        while let Some((time, oid)) = waiting.pop_last() {
            let side = sides[&oid];
            for parent in self
                .commit(oid)
                .map(|commit| commit.parents.as_slice())
                .unwrap_or_default()
            {
                let known = sides.entry(*parent).or_default();
                if *known | side != *known {
                    *known |= side;
                    waiting.insert((when(*parent), *parent));
                }
            }
            // The remaining commits can only mark commits that are not younger.
            let settled = side == BOTH
                && waiting.iter().all(|(_, oid)| sides[oid] == BOTH)
                && !sides
                    .iter()
                    .any(|(oid, side)| *side != BOTH && when(*oid) <= time);
            if settled || sides.len() >= MAX_WALK {
                break;
            }
        }
        sides
    }

    /// The tree with the changes of both sides since the base, or the paths that both changed differently.
    ///
    /// # Errors
    /// The conflicting paths; files are not merged line by line.
    pub fn merged_tree(
        &mut self,
        base: Option<Oid>,
        ours: Oid,
        theirs: Oid,
    ) -> Result<Oid, Vec<String>> {
        let mine: BTreeMap<String, PathChange> = self
            .diff_trees(base, Some(ours))
            .into_iter()
            .map(|d| (d.path, d.new))
            .collect();
        let changes: BTreeMap<String, PathChange> = self
            .diff_trees(base, Some(theirs))
            .into_iter()
            .map(|d| (d.path, d.new))
            .collect();
        let conflicts: Vec<String> = changes
            .iter()
            .filter(|(path, change)| mine.get(*path).is_some_and(|other| other != *change))
            .map(|(path, _)| path.clone())
            .collect();
        if conflicts.is_empty() {
            Ok(self.changed_tree(self.tree_of(ours), &changes))
        } else {
            Err(conflicts)
        }
    }

    /// The unified diff of one file's change, without the `diff --git` line, and the numbers of
    /// lines added and removed.
    #[must_use]
    pub fn file_patch(&self, difference: &Difference) -> (String, usize, usize) {
        let text = |side: PathChange| {
            side.and_then(|(_, oid)| self.blob(oid))
                .map_or(&b""[..], |content| content)
        };
        let (old, new) = (text(difference.old), text(difference.new));
        let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
            return (String::new(), 0, 0);
        };
        let patch = diffy::create_patch(old, new);
        let lines = || patch.hunks().iter().flat_map(diffy::Hunk::lines);
        let added = lines().filter(|line| matches!(line, diffy::Line::Insert(_)));
        let removed = lines().filter(|line| matches!(line, diffy::Line::Delete(_)));
        // GitHub leaves out the two lines with the names of the files.
        let text = patch.to_string();
        let hunks = text.splitn(3, '\n').nth(2).unwrap_or_default();
        (hunks.to_owned(), added.count(), removed.count())
    }

    /// The change between two trees or commits as `git diff` writes it.
    #[must_use]
    pub fn unified_diff(&self, old: Option<Oid>, new: Option<Oid>) -> String {
        let mut out = String::new();
        for difference in self.diff_trees(old, new) {
            let path = &difference.path;
            out += &format!("diff --git a/{path} b/{path}\n");
            let name = |side: PathChange| side.map_or(Oid::ZERO, |(_, oid)| oid);
            let mode = |side: PathChange| side.map_or("100644", |(mode, _)| mode.in_tree());
            match (difference.old, difference.new) {
                (None, new) => out += &format!("new file mode {}\n", mode(new)),
                (old, None) => out += &format!("deleted file mode {}\n", mode(old)),
                (Some((before, _)), Some((after, _))) if before != after => {
                    out += &format!(
                        "old mode {}\nnew mode {}\n",
                        before.in_tree(),
                        after.in_tree()
                    );
                }
                _ => {}
            }
            let short = |side: PathChange| name(side).to_string()[..7].to_owned();
            out += &format!(
                "index {}..{}\n",
                short(difference.old),
                short(difference.new)
            );
            let (patch, added, removed) = self.file_patch(&difference);
            if added + removed > 0 {
                let from = difference
                    .old
                    .map_or("/dev/null".to_owned(), |_| format!("a/{path}"));
                let to = difference
                    .new
                    .map_or("/dev/null".to_owned(), |_| format!("b/{path}"));
                out += &format!("--- {from}\n+++ {to}\n{patch}");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit_tree(
        objects: &mut Objects,
        base: Option<Oid>,
        files: &[(&str, Option<&str>)],
    ) -> Oid {
        let changes = files
            .iter()
            .map(|(path, text)| {
                (
                    (*path).to_owned(),
                    text.map(|text| (Mode::File, objects.put_blob(text.to_owned()))),
                )
            })
            .collect();
        objects.changed_tree(base, &changes)
    }

    #[test]
    fn trees_change_below_and_empty_directories_vanish() {
        let mut objects = Objects::default();
        let first = commit_tree(
            &mut objects,
            None,
            &[("a/b/c.txt", Some("1\n")), ("d.txt", Some("2\n"))],
        );
        let second = commit_tree(
            &mut objects,
            Some(first),
            &[("a/b/c.txt", None), ("e/f", Some("3\n"))],
        );
        let paths: Vec<_> = objects
            .list_files(second)
            .into_iter()
            .map(|(path, ..)| path)
            .collect();
        assert_eq!(paths, ["d.txt", "e/f"]);
        let changed: Vec<_> = objects
            .diff_trees(Some(first), Some(second))
            .into_iter()
            .map(|d| (d.path.clone(), d.status_name()))
            .collect();
        assert_eq!(
            changed,
            [
                ("a/b/c.txt".to_owned(), "removed"),
                ("e/f".to_owned(), "added")
            ]
        );
        assert!(
            objects
                .unified_diff(Some(first), Some(second))
                .contains("--- /dev/null\n+++ b/e/f\n@@ -0,0 +1 @@\n+3\n")
        );
    }

    #[test]
    fn common_ancestors_are_found_across_merges() {
        let mut objects = Objects::default();
        let tree = commit_tree(&mut objects, None, &[("a", Some("1"))]);
        let mut commit = |parents: &[Oid], second: i64| {
            let when = jiff::Timestamp::from_second(second).unwrap();
            let who = crate::github::object::Signature::new("A", "a@example.com", when);
            objects.store_object(Object::Commit(Arc::new(Commit {
                tree,
                parents: parents.to_vec(),
                author: who.clone(),
                committer: who,
                message: format!("{parents:?}"),
                more_headers: String::new(),
            })))
        };
        // All in one second on purpose, but for the last two.
        let root = commit(&[], 1);
        let a = commit(&[root], 1);
        let b = commit(&[a], 1);
        let c = commit(&[a, root], 2);
        let m = commit(&[b, c], 3);
        let d = commit(&[c], 4);
        assert_eq!(objects.merge_base(b, c), Some(a));
        assert_eq!(objects.merge_base(m, d), Some(c));
        assert_eq!(objects.merge_base(a, m), Some(a));
        assert_eq!(objects.missing_from(Some(a), m), [m, c, b]);
        assert_eq!(objects.missing_from(Some(m), d), [d]);
        assert_eq!(objects.missing_from(Some(root), b), [b, a]);
        assert_eq!(objects.missing_from(Some(m), a), []);
        assert_eq!(objects.commit_history(m).len(), 5);
    }

    #[test]
    fn a_merge_joins_different_files_and_refuses_the_same() {
        let mut objects = Objects::default();
        let base = commit_tree(&mut objects, None, &[("a", Some("1")), ("b", Some("1"))]);
        let ours = commit_tree(&mut objects, Some(base), &[("a", Some("2"))]);
        let theirs = commit_tree(&mut objects, Some(base), &[("b", Some("2"))]);
        let both = objects.merged_tree(Some(base), ours, theirs).unwrap();
        assert_eq!(
            both,
            commit_tree(
                &mut objects,
                Some(base),
                &[("a", Some("2")), ("b", Some("2"))]
            )
        );
        let other = commit_tree(&mut objects, Some(base), &[("a", Some("3"))]);
        assert_eq!(
            objects.merged_tree(Some(base), ours, other),
            Err(vec!["a".to_owned()])
        );
    }
}
