//! GitHub's JSON for commits, trees and diffs.

use serde_json::{Value, json};

use super::super::object::{Oid, Signature};
use super::super::objects::Difference;
use super::super::{Model, RepoId, node_id};
use super::{format_timestamp, path_segment};

impl Model {
    /// `verification`.
    pub(crate) fn verification_json(&self, oid: Oid) -> Value {
        let verified = self.verified.contains(&oid);
        json!({
            "verified": verified, "reason": if verified { "valid" } else { "unsigned" },
            "signature": verified.then_some("-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----"),
            "payload": verified.then_some(""), "verified_at": null,
        })
    }

    fn person_json(signature: &Signature) -> Value {
        json!({"name": signature.name, "email": signature.email, "date": format_timestamp(signature.when)})
    }

    /// The account that made commits under this address.
    pub(crate) fn account_of_signature(&self, signature: &Signature) -> Option<u64> {
        let id = signature.email.split_once('+')?.0.parse().ok()?;
        self.accounts
            .get(&id)
            .filter(|account| account.email() == signature.email)
            .map(|account| account.id)
    }

    /// `git-commit`.
    pub(crate) fn git_commit_json(&self, repo: RepoId, oid: Oid) -> Option<Value> {
        let commit = self.objects(repo)?.commit(oid)?;
        let url = self.repo_url(repo, &format!("/git/commits/{oid}"));
        let parents: Vec<Value> = commit
            .parents
            .iter()
            .map(|parent| {
                json!({
                    "sha": parent, "url": self.repo_url(repo, &format!("/git/commits/{parent}")),
                    "html_url": self.web_url(repo, &format!("/commit/{parent}")),
                })
            })
            .collect();
        Some(json!({
            "sha": oid, "node_id": node_id::encode_object("C", repo, oid), "url": url,
            "html_url": self.web_url(repo, &format!("/commit/{oid}")), "author": Self::person_json(&commit.author),
            "committer": Self::person_json(&commit.committer),
            "tree": {"sha": commit.tree, "url": self.repo_url(repo, &format!("/git/trees/{}", commit.tree))},
            "message": commit.message, "parents": parents, "verification": self.verification_json(oid),
        }))
    }

    /// `commit`; with its files and figures when asked for.
    pub(crate) fn commit_json(&self, repo: RepoId, oid: Oid, with_files: bool) -> Option<Value> {
        let objects = self.objects(repo)?;
        let commit = objects.commit(oid)?;
        let user = |signature: &Signature| {
            self.account_of_signature(signature)
                .map_or(Value::Null, |id| self.simple_user(id))
        };
        let parents: Vec<Value> = commit
            .parents
            .iter()
            .map(|parent| {
                json!({
                    "sha": parent, "url": self.repo_url(repo, &format!("/commits/{parent}")),
                    "html_url": self.web_url(repo, &format!("/commit/{parent}")),
                })
            })
            .collect();
        let url = self.repo_url(repo, &format!("/commits/{oid}"));
        let mut out = json!({
            "sha": oid, "node_id": node_id::encode_object("C", repo, oid), "url": url,
            "html_url": self.web_url(repo, &format!("/commit/{oid}")), "comments_url": format!("{url}/comments"),
            "commit": {
                "author": Self::person_json(&commit.author), "committer": Self::person_json(&commit.committer),
                "message": commit.message,
                "tree": {"sha": commit.tree, "url": self.repo_url(repo, &format!("/git/trees/{}", commit.tree))},
                "url": self.repo_url(repo, &format!("/git/commits/{oid}")), "comment_count": 0,
                "verification": self.verification_json(oid),
            },
            "author": user(&commit.author), "committer": user(&commit.committer), "parents": parents,
        });
        if with_files {
            let differences = objects.diff_trees(commit.parents.first().copied(), Some(oid));
            let files: Vec<Value> = differences
                .iter()
                .map(|d| self.file_json(repo, oid, d))
                .collect();
            let sum = |name: &str| {
                files
                    .iter()
                    .filter_map(|file| file[name].as_u64())
                    .sum::<u64>()
            };
            out["stats"] = json!({"additions": sum("additions"), "deletions": sum("deletions"), "total": sum("changes")});
            out["files"] = files.into();
        }
        Some(out)
    }

    /// `simple-commit`.
    pub(crate) fn simple_commit(&self, repo: RepoId, oid: Oid) -> Value {
        let Some(commit) = self.objects(repo).and_then(|objects| objects.commit(oid)) else {
            return Value::Null;
        };
        json!({
            "id": oid, "tree_id": commit.tree, "message": commit.message, "timestamp": format_timestamp(commit.committer.when),
            "author": {"name": commit.author.name, "email": commit.author.email},
            "committer": {"name": commit.committer.name, "email": commit.committer.email},
        })
    }

    /// `diff-entry`.
    pub(crate) fn file_json(&self, repo: RepoId, at: Oid, difference: &Difference) -> Value {
        let (patch, added, removed) = self
            .objects(repo)
            .map(|objects| objects.file_patch(difference))
            .unwrap_or_default();
        let side = difference
            .new
            .or(difference.old)
            .map_or(Oid::ZERO, |(_, oid)| oid);
        let path = difference
            .path
            .split('/')
            .map(path_segment)
            .collect::<Vec<_>>()
            .join("/");
        let mut out = json!({
            "sha": side, "filename": difference.path, "status": difference.status_name(), "additions": added,
            "deletions": removed, "changes": added + removed,
            "blob_url": self.web_url(repo, &format!("/blob/{at}/{path}")),
            "raw_url": self.web_url(repo, &format!("/raw/{at}/{path}")),
            "contents_url": self.repo_url(repo, &format!("/contents/{path}?ref={at}")),
        });
        if !patch.is_empty() {
            out["patch"] = patch.trim_end_matches('\n').into();
        }
        out
    }

    /// `git-ref`.
    pub(crate) fn ref_json(&self, repo: RepoId, name: &str, oid: Oid) -> Value {
        let kind = self
            .objects(repo)
            .and_then(|objects| objects.get(oid))
            .map_or("commit", |object| object.kind_name());
        json!({
            "ref": name, "node_id": node_id::encode_ref(repo, name), "url": self.repo_url(repo, &format!("/git/{name}")),
            "object": {"sha": oid, "type": kind, "url": self.repo_url(repo, &format!("/git/{kind}s/{oid}"))},
        })
    }
}
