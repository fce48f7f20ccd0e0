//! Writes a repository of the model as a bare repository on disk, with loose objects as git writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::object::{Mode, Object, Oid};
use super::objects::Objects;
use super::repository::Repository;

/// The configuration of every bare repository.
const CONFIG: &str =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n[gc]\n\tauto = 0\n";

/// The references that a git client sees: those of the repository, and the heads of its pull requests under
/// `refs/pull/{number}/head` as on GitHub.
pub(crate) fn advertised_refs(repository: &Repository, objects: &Objects) -> BTreeMap<String, Oid> {
    let pulls = repository
        .pulls
        .values()
        .map(|pull| (format!("refs/pull/{}/head", pull.number), pull.head.oid));
    repository
        .refs
        .iter()
        .map(|(name, oid)| (name.clone(), *oid))
        .chain(pulls)
        .filter(|(_, oid)| objects.get(*oid).is_some())
        .collect()
}

/// Lays out an empty bare repository in an existing folder.
pub(crate) fn lay_out(dir: &Path, default_branch: &str, more_config: &str) -> io::Result<()> {
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        fs::create_dir_all(dir.join(folder))?;
    }
    fs::write(dir.join("config"), format!("{CONFIG}{more_config}"))?;
    point_head(dir, default_branch)
}

/// Puts HEAD on a branch.
pub(crate) fn point_head(dir: &Path, default_branch: &str) -> io::Result<()> {
    fs::write(
        dir.join("HEAD"),
        format!("ref: refs/heads/{default_branch}\n"),
    )
}

/// Makes these the only references of the repository.
pub(crate) fn set_refs(dir: &Path, refs: &BTreeMap<String, Oid>) -> io::Result<()> {
    // Loose references would hide the packed ones.
    fs::remove_dir_all(dir.join("refs"))?;
    for folder in ["refs/heads", "refs/tags"] {
        fs::create_dir_all(dir.join(folder))?;
    }
    let lines: String = refs
        .iter()
        .map(|(name, oid)| format!("{oid} {name}\n"))
        .collect();
    fs::write(dir.join("packed-refs"), lines)
}

/// Writes everything that can be reached from these objects and is not in `written`, which grows by it.
///
/// # Errors
/// `InvalidData` when an object is missing in the model; otherwise the error of the file system.
pub(crate) fn write_objects(
    dir: &Path,
    objects: &Objects,
    from: impl IntoIterator<Item = Oid>,
    written: &mut BTreeSet<Oid>,
) -> io::Result<()> {
    let mut waiting: Vec<Oid> = from.into_iter().collect();
    // Only a complete closure counts as written: a failure in the middle must not hide a missing object.
    let mut fresh = BTreeSet::new();
    while let Some(oid) = waiting.pop() {
        if written.contains(&oid) || !fresh.insert(oid) {
            continue;
        }
        let object = objects.get(oid).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the model lacks object {oid}"),
            )
        })?;
        write_loose(dir, oid, object)?;
        waiting.extend(referenced_objects(object));
    }
    written.append(&mut fresh);
    Ok(())
}

/// The objects that an object names and that must be in the same repository.
pub(crate) fn referenced_objects(object: &Object) -> Vec<Oid> {
    match object {
        Object::Blob(_) => Vec::new(),
        Object::Tree(entries) => entries
            .iter()
            .filter(|entry| entry.mode != Mode::Submodule)
            .map(|entry| entry.oid)
            .collect(),
        Object::Commit(commit) => {
            let mut all = commit.parents.clone();
            all.push(commit.tree);
            all
        }
        Object::Tag(content) => std::str::from_utf8(content)
            .ok()
            .and_then(|text| text.lines().next()?.strip_prefix("object ")?.parse().ok())
            .into_iter()
            .collect(),
    }
}

/// The file of a loose object.
pub(crate) fn loose_path(dir: &Path, oid: Oid) -> PathBuf {
    let name = oid.to_string();
    let (fan, rest) = name.split_at(2);
    dir.join("objects").join(fan).join(rest)
}

fn write_loose(dir: &Path, oid: Oid, object: &Object) -> io::Result<()> {
    let path = loose_path(dir, oid);
    if path.exists() {
        return Ok(());
    }
    let folder = path.parent().expect("a loose object lies in a folder");
    fs::create_dir_all(folder)?;
    let content = object.encode();
    let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
    out.write_all(format!("{} {}\0", object.kind_name(), content.len()).as_bytes())?;
    out.write_all(&content)?;
    fs::write(path, out.finish()?)
}
