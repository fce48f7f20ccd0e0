//! Resolves the fields of commits, trees, blobs and checks.

use super::connection::{names, page_connection};
use super::execute::{Args, Fault, Run};
use super::graph_object::{GraphObject, Val};
use super::resolve::{HISTORY, truncate_history};
use crate::github::object::{Entry, Mode, Object, Oid, Signature};
use crate::github::objects::Objects;
use crate::github::render::checks::{latest_runs, latest_statuses};
use crate::github::render::format_timestamp;
use crate::github::repository::{CheckRun, Status};
use crate::github::rest::checks_rollup;
use crate::github::{RepoId, node_id};

/// The longest text; longer ones are truncated (GitHub's documentation: 512 KB).
const MAX_TEXT: usize = 512_000;

type Resolved = Result<Val, Fault>;

impl Run<'_> {
    pub(super) fn object_field(
        &mut self,
        repo: RepoId,
        oid: Oid,
        kind: &str,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let prefix = match kind {
            "Commit" => "C",
            "Tree" => "T",
            "Tag" => "TA",
            _ => "B",
        };
        match field {
            "id" => return Ok(node_id::encode_object(prefix, repo, oid).into()),
            "oid" => return Ok(oid.to_string().into()),
            "abbreviatedOid" => return Ok(oid.to_string()[..7].into()),
            "repository" => return Ok(Val::Object(GraphObject::Repository(repo))),
            "commitUrl" | "url" => {
                return Ok(self.model.web_url(repo, &format!("/commit/{oid}")).into());
            }
            _ => {}
        }
        let Some(object) = self
            .model
            .objects(repo)
            .and_then(|objects| objects.get(oid))
            .cloned()
        else {
            return Ok(Val::NULL);
        };
        match object {
            Object::Commit(commit) => self.commit_field(repo, oid, &commit, field, args),
            Object::Tree(entries) => Ok(Val::List(
                entries
                    .iter()
                    .map(|entry| {
                        Val::Object(GraphObject::Entry(repo, entry.name.clone(), entry.clone()))
                    })
                    .collect(),
            )),
            Object::Blob(content) => {
                let text = std::str::from_utf8(&content)
                    .ok()
                    .filter(|text| !text.contains('\0'));
                Ok(match field {
                    "byteSize" => content.len().into(),
                    "isBinary" => text.is_none().into(),
                    "isTruncated" => (content.len() > MAX_TEXT).into(),
                    _ => match text {
                        Some(text) => {
                            let end = (0..=MAX_TEXT.min(text.len()))
                                .rev()
                                .find(|at| text.is_char_boundary(*at));
                            text[..end.unwrap_or(0)].into()
                        }
                        None => Val::NULL,
                    },
                })
            }
            Object::Tag(content) => {
                let text = String::from_utf8_lossy(&content).into_owned();
                let header = |name: &str| {
                    text.lines()
                        .find_map(|line| line.strip_prefix(name))
                        .map(str::to_owned)
                };
                Ok(match field {
                    "name" => header("tag ").unwrap_or_default().into(),
                    "message" => text
                        .split_once("\n\n")
                        .map_or("", |(_, message)| message)
                        .into(),
                    _ => Val::optional_object(
                        header("object ")
                            .and_then(|o| o.parse().ok())
                            .map(|oid| GraphObject::Object(repo, oid)),
                    ),
                })
            }
        }
    }

    fn commit_field(
        &mut self,
        repo: RepoId,
        oid: Oid,
        commit: &crate::github::object::Commit,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let Some(objects) = self.model.objects(repo) else {
            return Ok(Val::NULL);
        };
        let things = |list: Vec<Oid>| {
            list.into_iter()
                .map(|oid| Val::Object(GraphObject::Object(repo, oid)))
                .collect()
        };
        Ok(match field {
            "message" => commit.message.as_str().into(),
            "messageHeadline" => commit.headline().into(),
            "messageBody" => commit.body().into(),
            "committedDate" | "pushedDate" => format_timestamp(commit.committer.when).into(),
            "authoredDate" => format_timestamp(commit.author.when).into(),
            "author" => Val::Object(GraphObject::Person(commit.author.clone())),
            "committer" => Val::Object(GraphObject::Person(commit.committer.clone())),
            "parents" => page_connection(
                "parents",
                names!("Commit"),
                things(commit.parents.clone()),
                args,
            )?,
            "tree" => Val::Object(GraphObject::Object(repo, commit.tree)),
            "history" => commit_history(repo, objects, oid, args)?,
            "statusCheckRollup" => {
                let known = checks_rollup(self.visible_repository(repo)?, oid).is_some();
                Val::optional_object(known.then_some(GraphObject::Rollup(repo, oid)))
            }
            "file" => {
                let path = args.text_arg("path").unwrap_or_default();
                let name = path.rsplit('/').next().unwrap_or(path).to_owned();
                let found = objects.at_path(oid, path).filter(|_| !path.is_empty());
                Val::optional_object(found.map(|(mode, oid)| {
                    GraphObject::Entry(repo, path.to_owned(), Entry { mode, name, oid })
                }))
            }
            "additions" | "deletions" | "changedFilesIfAvailable" => {
                commit_figure(objects, commit.parents.first().copied(), oid, field)
            }
            "associatedPullRequests" => {
                let repository = self.visible_repository(repo)?;
                let items = repository
                    .pulls
                    .values()
                    .filter(|pull| {
                        pull.merged
                            .as_ref()
                            .is_some_and(|merge| merge.commit == oid)
                            || self.model.pull_commits(repository, pull).contains(&oid)
                    })
                    .map(|pull| Val::Object(GraphObject::Pull(repo, pull.number)))
                    .collect();
                page_connection("associatedPullRequests", names!("PullRequest"), items, args)?
            }
            "signature" => {
                if !self.model.verified.contains(&oid) {
                    return Ok(Val::NULL);
                }
                let fields = [
                    ("isValid", Val::from(true)),
                    ("state", Val::from("VALID")),
                    ("wasSignedByGitHub", Val::from(true)),
                ];
                // The interface has one implementation in the model.
                Val::Object(GraphObject::Made("GpgSignature", fields.into()))
            }
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve Commit.{other}"),
                ));
            }
        })
    }

    pub(super) fn entry_field(
        &self,
        repo: RepoId,
        path: &str,
        entry: &Entry,
        field: &str,
    ) -> Resolved {
        Ok(match field {
            "name" => entry.name.as_str().into(),
            "path" => path.into(),
            "type" => entry.mode.object_kind().into(),
            "mode" => i64::from_str_radix(entry.mode.in_tree(), 8)
                .unwrap_or_default()
                .into(),
            "oid" => entry.oid.to_string().into(),
            "object" => Val::optional_object(
                (entry.mode != Mode::Submodule).then_some(GraphObject::Object(repo, entry.oid)),
            ),
            "size" => {
                let content = self
                    .model
                    .objects(repo)
                    .and_then(|objects| objects.blob(entry.oid));
                content.map_or(0, bytes::Bytes::len).into()
            }
            "extension" => match entry.name.rsplit_once('.') {
                Some((_, extension)) if entry.mode != Mode::Directory => {
                    format!(".{extension}").into()
                }
                _ => "".into(),
            },
            "isGenerated" => false.into(),
            _ => Val::Object(GraphObject::Repository(repo)),
        })
    }

    pub(super) fn person_field(&self, person: &Signature, field: &str) -> Val {
        match field {
            "name" => person.name.as_str().into(),
            "email" => person.email.as_str().into(),
            "date" => format_timestamp(person.when).into(),
            // Only people have a user; commits of bots have none here.
            _ => {
                let account = self.model.account_of_signature(person);
                let user = account.filter(|id| {
                    self.model
                        .accounts
                        .get(id)
                        .is_some_and(|account| account.kind == crate::github::AccountKind::User)
                });
                Val::optional_object(user.map(GraphObject::Account))
            }
        }
    }

    pub(super) fn rollup_field(
        &self,
        repo: RepoId,
        oid: Oid,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let repository = self.visible_repository(repo)?;
        Ok(match field {
            "id" => node_id::encode_object("SCR", repo, oid).into(),
            "state" => checks_rollup(repository, oid).unwrap_or("EXPECTED").into(),
            "commit" => Val::Object(GraphObject::Object(repo, oid)),
            _ => {
                let runs = latest_runs(repository, oid)
                    .into_iter()
                    .map(|run| GraphObject::CheckRun(repo, run.clone()));
                let statuses = latest_statuses(repository, oid)
                    .into_iter()
                    .map(|s| GraphObject::Status(repo, s.clone()));
                let items = runs.chain(statuses).map(Val::Object).collect();
                page_connection("contexts", names!("StatusCheckRollupContext"), items, args)?
            }
        })
    }

    pub(super) fn check_run_field(
        &self,
        repo: RepoId,
        run: &CheckRun,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let made = |name, fields: Vec<(&'static str, Val)>| {
            Val::Object(GraphObject::Made(name, fields.into_iter().collect()))
        };
        Ok(match field {
            "id" => node_id::encode_id("CR", repo, run.id).into(),
            // The schema says Int, but real numbers of check runs exceed that type, so no client can rely on the field.
            "databaseId" => match i32::try_from(run.id) {
                Ok(_) => run.id.into(),
                Err(_) => Val::NULL,
            },
            "name" => run.name.as_str().into(),
            "status" => if run.conclusion.is_some() {
                "COMPLETED"
            } else {
                "IN_PROGRESS"
            }
            .into(),
            "conclusion" => super::resolve::optional_text(
                run.conclusion.as_ref().map(|word| word.to_uppercase()),
            ),
            "startedAt" => format_timestamp(run.started_at).into(),
            "completedAt" => super::resolve::optional_text(run.completed_at.map(format_timestamp)),
            "title" => super::resolve::optional_text(run.output.title.clone()),
            "summary" => super::resolve::optional_text(run.output.summary.clone()),
            "text" => Val::NULL,
            "annotations" => {
                let position = |line: u64| {
                    let fields = vec![("line", line.into()), ("column", Val::NULL)];
                    made("CheckAnnotationPosition", fields)
                };
                let remarks = run.output.annotations.iter().map(|remark| {
                    let (start, end) = (position(remark.line), position(remark.line));
                    let span = made("CheckAnnotationSpan", vec![("start", start), ("end", end)]);
                    let fields = vec![
                        ("path", remark.path.as_str().into()),
                        ("message", remark.message.as_str().into()),
                        ("location", span),
                    ];
                    made("CheckAnnotation", fields)
                });
                page_connection(
                    "annotations",
                    names!("CheckAnnotation"),
                    remarks.collect(),
                    args,
                )?
            }
            "checkSuite" => {
                let slug = Val::from(run.app.as_str());
                let app = made("App", vec![("slug", slug.clone()), ("name", slug)]);
                let fields = vec![
                    ("id", node_id::encode_id("CS", repo, run.suite).into()),
                    ("app", app),
                ];
                made("CheckSuite", fields)
            }
            _ => self.model.check_page(repo, run).into(),
        })
    }

    pub(super) fn status_field(&self, repo: RepoId, status: &Status, field: &str) -> Val {
        match field {
            "id" => node_id::encode_id("SC", repo, status.id).into(),
            "context" => status.context.as_str().into(),
            "state" => status.state.to_uppercase().into(),
            "description" => super::resolve::optional_text(status.description.clone()),
            "targetUrl" => super::resolve::optional_text(status.target_url.clone()),
            _ => format_timestamp(status.at).into(),
        }
    }
}

/// The history of a commit, as far as path and time ask for it.
fn commit_history(repo: RepoId, objects: &Objects, oid: Oid, args: &Args) -> Resolved {
    let path = args.text_arg("path");
    let touched = |oid: &Oid| {
        let Some(path) = path else { return true };
        let parent = objects
            .commit(*oid)
            .and_then(|commit| commit.parents.first().copied());
        objects.at_path(*oid, path) != parent.and_then(|parent| objects.at_path(parent, path))
    };
    let since = args.text_arg("since").and_then(|text| text.parse().ok());
    let list: Vec<Oid> = objects
        .commit_history(oid)
        .into_iter()
        .filter(touched)
        .filter(|oid| {
            since.is_none_or(|since| {
                objects
                    .commit(*oid)
                    .is_some_and(|c| c.committer.when >= since)
            })
        })
        .collect();
    let items = truncate_history(list)
        .into_iter()
        .map(|oid| Val::Object(GraphObject::Object(repo, oid)))
        .collect();
    page_connection("history", HISTORY, items, args)
}

/// The number of lines or files that a commit changes.
fn commit_figure(objects: &Objects, parent: Option<Oid>, oid: Oid, field: &str) -> Val {
    let differences = objects.diff_trees(parent, Some(oid));
    match field {
        "changedFilesIfAvailable" => differences.len().into(),
        _ => {
            let figures = differences
                .iter()
                .map(|difference| objects.file_patch(difference));
            let sum: usize = figures
                .map(|(_, more, less)| if field == "additions" { more } else { less })
                .sum();
            sum.into()
        }
    }
}
