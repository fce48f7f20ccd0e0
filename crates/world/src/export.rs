//! Puts a world on disk: bare repositories that git accepts, trees of files, and the books.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::github::object::Object;
use crate::github::{Model, Oid, RepoId};
use crate::world::World;

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct ExportError {
    /// The file.
    pub path: String,
    /// Why.
    pub source: std::io::Error,
}

fn at<T>(path: &Path, result: std::io::Result<T>) -> Result<T, ExportError> {
    result.map_err(|source| ExportError {
        path: path.display().to_string(),
        source,
    })
}

impl World {
    /// Writes `DIR/git/` (a bare repository), `DIR/branches/<branch>/…` and `DIR/world.json`.
    ///
    /// With more than one repository the first keeps these places, and each of the others goes below
    /// `DIR/repositories/<owner>/<name>/`.
    ///
    /// # Errors
    /// Names the file that could not be written.
    pub fn export(&self, directory: &Path) -> Result<(), ExportError> {
        let repositories: Vec<RepoId> = self
            .github()
            .repositories()
            .map(|repository| repository.id)
            .collect();
        for (index, repo) in repositories.iter().enumerate() {
            let place = match index {
                0 => directory.to_path_buf(),
                _ => directory
                    .join("repositories")
                    .join(self.github().full_name(*repo)),
            };
            write_bare(self.github(), *repo, &place.join("git"))?;
            write_branches(self.github(), *repo, &place.join("branches"))?;
        }
        at(directory, fs::create_dir_all(directory))?;
        let path = directory.join("world.json");
        let mut text = serde_json::to_vec_pretty(&self.complete_books())
            .expect("books can be written as JSON");
        text.push(b'\n');
        at(&path, fs::write(&path, text))
    }
}

/// Writes a repository as a bare one: every object loose, references packed.
pub(crate) fn write_bare(model: &Model, repo: RepoId, directory: &Path) -> Result<(), ExportError> {
    let Some((repository, objects)) = model.repository(repo).zip(model.objects(repo)) else {
        return Ok(());
    };
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        let path = directory.join(folder);
        at(&path, fs::create_dir_all(&path))?;
    }
    let put = |name: &str, text: &str| {
        let path = directory.join(name);
        at(&path, fs::write(&path, text))
    };
    put(
        "HEAD",
        &format!("ref: refs/heads/{}\n", repository.default_branch),
    )?;
    put(
        "config",
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n",
    )?;
    let mut packed = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    for (name, oid) in &repository.refs {
        packed += &format!("{oid} {name}\n");
        if let Some(target) = peeled(objects.get(*oid)) {
            packed += &format!("^{target}\n");
        }
    }
    put("packed-refs", &packed)?;
    for (oid, object) in objects.sorted() {
        write_loose(directory, oid, object)?;
    }
    Ok(())
}

/// What an annotated tag stands for.
fn peeled(object: Option<&Object>) -> Option<Oid> {
    let Some(Object::Tag(content)) = object else {
        return None;
    };
    std::str::from_utf8(content)
        .ok()?
        .lines()
        .next()?
        .strip_prefix("object ")?
        .parse()
        .ok()
}

fn write_loose(directory: &Path, oid: Oid, object: &Object) -> Result<(), ExportError> {
    let name = oid.to_string();
    let (folder, rest) = name.split_at(2);
    let folder = directory.join("objects").join(folder);
    let path = folder.join(rest);
    let content = object.encode();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let packed = write!(encoder, "{} {}\0", object.kind(), content.len())
        .and_then(|()| encoder.write_all(&content))
        .and_then(|()| encoder.finish());
    at(&folder, fs::create_dir_all(&folder))?;
    at(&path, packed.and_then(|packed| fs::write(&path, packed)))
}

fn write_branches(model: &Model, repo: RepoId, directory: &Path) -> Result<(), ExportError> {
    let Some((repository, objects)) = model.repository(repo).zip(model.objects(repo)) else {
        return Ok(());
    };
    for (branch, head) in repository.branches() {
        let place = directory.join(branch);
        at(&place, fs::create_dir_all(&place))?;
        let Some(tree) = objects.tree_of(head) else {
            continue;
        };
        for (path, _, oid) in objects.files(tree) {
            // A pushed tree may hold names that would lead out of the folder.
            if path
                .split('/')
                .any(|part| part.is_empty() || matches!(part, "." | ".."))
            {
                continue;
            }
            let Some(content) = objects.blob(oid) else {
                continue;
            };
            let path = place.join(path);
            if let Some(parent) = path.parent() {
                at(parent, fs::create_dir_all(parent))?;
            }
            at(&path, fs::write(&path, content))?;
        }
    }
    Ok(())
}
