//! Copies the objects and references of a push from disk into the model.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use flate2::read::ZlibDecoder;
use jiff::Timestamp;

use super::git;
use super::refusal::GitRefusal;
use crate::github::objects::Objects;
use crate::github::{ActError, Model, Oid, RepoId, bare_repository, object::Object};

/// The largest object that is read, in bytes.
const MAX_OBJECT: u64 = 256 * 1024 * 1024;
/// The references of pull requests, which belong to the model.
const PULLS: &str = "refs/pull/";

impl Model {
    /// Copies the folder's objects and references into the model after a push, and applies the
    /// consequences of the push.
    pub(super) fn take_in(
        &mut self,
        repo: RepoId,
        dir: &Path,
        actor: u64,
        now: Timestamp,
    ) -> Result<BTreeMap<String, ActError>, GitRefusal> {
        let mut pushed = read_references(dir)?;
        let Some(repository) = self.repository(repo) else {
            return Ok(BTreeMap::new());
        };
        let before = repository.refs.clone();
        let mut changed: BTreeMap<String, Oid> = pushed
            .iter()
            .filter(|(name, oid)| before.get(*name) != Some(*oid))
            .map(|(name, oid)| (name.clone(), *oid))
            .collect();
        let fresh = read_new(dir, self.objects_mut(repo), changed.values().copied())
            .map_err(|what| GitRefusal::internal_error("hold what was pushed", what))?;
        let objects = self.objects_mut(repo);
        for object in fresh {
            objects.store_object(object);
        }
        let names: BTreeSet<String> = before.keys().chain(pushed.keys()).cloned().collect();
        let mut refused = BTreeMap::new();
        for name in names {
            let change = (before.get(&name).copied(), pushed.get(&name).copied());
            if let Err(error) = self.enforce_rules(repo, &name, change, actor) {
                changed.remove(&name);
                if let (Some(old), None) = change {
                    // It is not deleted.
                    pushed.insert(name.clone(), old);
                }
                refused.insert(name, error);
            }
        }
        self.apply_ref_changes(repo, &before, &pushed, changed, actor, now)
            .map_err(|error| GitRefusal::internal_error("move a reference", error))?;
        Ok(refused)
    }

    fn apply_ref_changes(
        &mut self,
        repo: RepoId,
        before: &BTreeMap<String, Oid>,
        pushed: &BTreeMap<String, Oid>,
        changed: BTreeMap<String, Oid>,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        for name in before.keys().filter(|name| !pushed.contains_key(*name)) {
            self.delete_ref(repo, name, actor, now)?;
        }
        for (name, oid) in changed {
            if before.contains_key(&name) {
                // Git has already decided whether the move was allowed.
                self.update_ref(repo, &name, oid, true, actor, now)?;
            } else {
                self.choose_default(repo, &name);
                self.create_ref(repo, &name, oid, actor, now)?;
            }
        }
        Ok(())
    }

    /// The first branch of an empty repository becomes its default branch, as on GitHub.
    fn choose_default(&mut self, repo: RepoId, name: &str) {
        if let Some(branch) = name.strip_prefix("refs/heads/")
            && let Some(repository) = self.repository_mut(repo)
            && repository.branches().next().is_none()
        {
            branch.clone_into(&mut repository.default_branch);
        }
    }
}

/// The references of a folder, without those of pull requests.
fn read_references(dir: &Path) -> Result<BTreeMap<String, Oid>, GitRefusal> {
    let mut command = git::git_command(dir);
    command.args(["for-each-ref", "--format=%(objectname) %(refname)"]);
    let output = git::run_command(command, &[])?;
    let text = String::from_utf8(output).map_err(|_| {
        GitRefusal::internal_error("hold what was pushed", "a reference that is not UTF-8")
    })?;
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(_, name)| !name.starts_with(PULLS))
        .map(|(oid, name)| match oid.parse() {
            Ok(oid) => Ok((name.to_owned(), oid)),
            Err(error) => Err(GitRefusal::internal_error("read a reference", error)),
        })
        .collect()
}

/// Everything below these objects that is on disk and not in the model.
fn read_new(
    dir: &Path,
    objects: &Objects,
    from: impl Iterator<Item = Oid>,
) -> Result<Vec<Object>, String> {
    let mut waiting: Vec<Oid> = from.collect();
    let mut seen = BTreeSet::new();
    let mut fresh = Vec::new();
    while let Some(oid) = waiting.pop() {
        if objects.get(oid).is_some() || !seen.insert(oid) {
            continue;
        }
        let object = read_loose(dir, oid)?;
        waiting.extend(bare_repository::referenced_objects(&object));
        fresh.push(object);
    }
    Ok(fresh)
}

fn read_loose(dir: &Path, oid: Oid) -> Result<Object, String> {
    let fail = |what: &str| format!("object {oid}: {what}");
    let file = File::open(bare_repository::loose_path(dir, oid))
        .map_err(|error| fail(&error.to_string()))?;
    let mut content = Vec::new();
    ZlibDecoder::new(file)
        .take(MAX_OBJECT)
        .read_to_end(&mut content)
        .map_err(|error| fail(&error.to_string()))?;
    let end = content
        .iter()
        .position(|&byte| byte == 0)
        .ok_or_else(|| fail("it has no head"))?;
    let head = std::str::from_utf8(&content[..end]).map_err(|_| fail("its head is not text"))?;
    let kind = head.split(' ').next().unwrap_or_default().to_owned();
    let body = Bytes::from(content).slice(end + 1..);
    let object = Object::decode(&kind, body).map_err(|error| fail(&error))?;
    // An object that the model encodes differently from git would get another name there.
    if object.oid() == oid {
        Ok(object)
    } else {
        Err(fail("the model cannot hold it without changing it"))
    }
}
