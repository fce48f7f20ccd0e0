//! Resolves the fields of the query root, repositories, accounts and references.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::connection::{Names, names, page_connection};
use super::execute::{Args, Fault, Run};
use super::graph_object::{GraphObject, Val};
use crate::github::limits::Resource;
use crate::github::object::Oid;
use crate::github::render::{WEB, format_timestamp};
use crate::github::rest::RequiredAccess;
use crate::github::{RepoId, Role, node_id};

/// The most commits of one history.
const MAX_HISTORY: usize = 10_000;

type Resolved = Result<Val, Fault>;

impl Run<'_> {
    /// The value of a field.
    pub(super) fn resolve_field(
        &mut self,
        thing: &GraphObject,
        type_name: &str,
        field: &str,
        args: &Args,
    ) -> Resolved {
        match thing {
            GraphObject::Query => self.resolve_query(field, args),
            GraphObject::Mutation => self.resolve_mutation(field, args),
            GraphObject::Made(_, fields) => Ok(fields.get(field).cloned().unwrap_or(Val::NULL)),
            GraphObject::Repository(repo) => self.repository_field(*repo, field, args),
            GraphObject::Account(id) => Ok(self.account_field(*id, field)),
            GraphObject::Ref(repo, name) => self.ref_field(*repo, name, field, args),
            GraphObject::Object(repo, oid) => {
                self.object_field(*repo, *oid, type_name, field, args)
            }
            GraphObject::Entry(repo, path, entry) => self.entry_field(*repo, path, entry, field),
            GraphObject::Person(signature) => Ok(self.person_field(signature, field)),
            GraphObject::Rollup(repo, oid) => self.rollup_field(*repo, *oid, field, args),
            GraphObject::CheckRun(repo, run) => self.check_run_field(*repo, run, field, args),
            GraphObject::Status(repo, status) => Ok(self.status_field(*repo, status, field)),
            GraphObject::Issue(repo, number) => {
                self.thread_field(*repo, *number, false, field, args)
            }
            GraphObject::Pull(repo, number) => self.thread_field(*repo, *number, true, field, args),
            GraphObject::Comment(repo, id) => self.comment_field(*repo, *id, field, args),
            GraphObject::Label(repo, name) => self.label_field(*repo, name, field),
            GraphObject::Event(repo, number, event) => {
                self.event_field(*repo, *number, event, field)
            }
            GraphObject::Review(repo, number, review) => {
                self.review_field(*repo, *number, review, field)
            }
            GraphObject::ReviewThread(repo, number, first) => {
                self.review_thread_field(*repo, *number, first, field, args)
            }
            GraphObject::ReviewComment(repo, comment) => {
                Ok(self.review_comment_field(*repo, comment, field))
            }
            GraphObject::PullCommit(repo, number, oid) => Ok(match field {
                "id" => node_id::encode_object("PURC", *repo, *oid).into(),
                "commit" => Val::Object(GraphObject::Object(*repo, *oid)),
                _ => self
                    .model
                    .web_url(*repo, &format!("/pull/{number}/commits/{oid}"))
                    .into(),
            }),
            GraphObject::File(repo, difference) => {
                let figures = self
                    .model
                    .objects(*repo)
                    .map(|objects| objects.file_patch(difference));
                let (_, added, removed) = figures.unwrap_or_default();
                Ok(match field {
                    "path" => difference.path.as_str().into(),
                    "additions" => added.into(),
                    "deletions" => removed.into(),
                    _ => match difference.status_name() {
                        "added" => "ADDED",
                        "removed" => "DELETED",
                        _ => "MODIFIED",
                    }
                    .into(),
                })
            }
            GraphObject::Edit(repo, edit) => Ok(match field {
                "id" => node_id::encode_id("UCE", *repo, edit.id).into(),
                "createdAt" | "editedAt" | "updatedAt" => format_timestamp(edit.at).into(),
                "editor" => Val::Object(GraphObject::Account(edit.editor)),
                "diff" => edit.text.as_str().into(),
                _ => Val::NULL,
            }),
            GraphObject::Reaction(repo, reaction) => Ok(match field {
                "id" => node_id::encode_id("REA", *repo, reaction.id).into(),
                "databaseId" => reaction.id.into(),
                "content" => reaction_word(&reaction.content).into(),
                "user" => Val::Object(GraphObject::Account(reaction.account)),
                _ => format_timestamp(reaction.at).into(),
            }),
            GraphObject::ReviewRequest(repo, account) => Ok(match field {
                "id" => node_id::encode_id("RR", *repo, *account).into(),
                _ => Val::Object(GraphObject::Account(*account)),
            }),
        }
    }

    fn resolve_query(&mut self, field: &str, args: &Args) -> Resolved {
        match field {
            "viewer" => Ok(self.viewer()),
            "rateLimit" => Ok(Val::Object(self.rate_limit())),
            "user" => {
                let login = args.text_arg("login").unwrap_or_default();
                let found = self.model.find_account(login);
                found
                    .map(|id| Val::Object(GraphObject::Account(id)))
                    .ok_or_else(|| {
                        Fault::new(
                            "NOT_FOUND",
                            format!("Could not resolve to a User with the login of '{login}'."),
                        )
                    })
            }
            "repository" => {
                let (owner, name) = (
                    args.text_arg("owner").unwrap_or_default(),
                    args.text_arg("name").unwrap_or_default(),
                );
                let missing = || {
                    let text = format!(
                        "Could not resolve to a Repository with the name '{owner}/{name}'."
                    );
                    Fault::new("NOT_FOUND", text)
                };
                let follow = args.get("followRenames").as_bool().unwrap_or(true);
                let found = self
                    .model
                    .repository_by_name(owner, name)
                    .or_else(|| {
                        self.model
                            .repository_by_former_name(owner, name)
                            .filter(|_| follow)
                    })
                    .ok_or_else(missing)?;
                self.model
                    .check_access(Some(self.identity), found, RequiredAccess::Read("metadata"))
                    .map_err(|_| missing())?;
                Ok(Val::Object(GraphObject::Repository(found)))
            }
            "node" => {
                let id = args.text_arg("id").unwrap_or_default();
                self.find_node(id)
                    .map(Val::Object)
                    .ok_or_else(|| unknown_node(id))
            }
            "nodes" => {
                let ids = args.words_arg("ids").unwrap_or_default();
                let found = ids
                    .into_iter()
                    .map(|id| Val::optional_object(self.find_node(id)))
                    .collect();
                Ok(Val::List(found))
            }
            other => Err(Fault::new(
                "INTERNAL",
                format!("The model does not serve Query.{other}"),
            )),
        }
    }

    fn rate_limit(&mut self) -> GraphObject {
        let limit = self.knobs.primary_limit;
        let limit_status =
            self.model
                .limits
                .limit_status(&self.identity.name, Resource::Graphql, limit, self.now);
        GraphObject::Made(
            "RateLimit",
            [
                ("limit", Val::from(limit_status.limit)),
                ("cost", Val::from(self.cost)),
                ("nodeCount", Val::from(0)),
                ("remaining", Val::from(limit_status.remaining_points())),
                ("resetAt", Val::from(format_timestamp(limit_status.reset))),
                ("used", Val::from(limit_status.used)),
            ]
            .into(),
        )
    }

    /// The object of a node id, when the caller may see it.
    pub(super) fn find_node(&self, id: &str) -> Option<GraphObject> {
        let (prefix, repo, rest) = node_id::decode_id(id)?;
        let number = node_id::id_number(&rest);
        if matches!(prefix, "U" | "BOT") {
            return self
                .model
                .accounts
                .contains_key(&number?)
                .then(|| number.map(GraphObject::Account))?;
        }
        self.model
            .check_access(Some(self.identity), repo, RequiredAccess::Read("metadata"))
            .ok()?;
        let repository = self.visible_repository(repo).ok()?;
        match prefix {
            "R" => Some(GraphObject::Repository(repo)),
            "I" => repository
                .issues
                .contains_key(&number?)
                .then(|| number.map(|n| GraphObject::Issue(repo, n)))?,
            "PR" => repository
                .pulls
                .contains_key(&number?)
                .then(|| number.map(|n| GraphObject::Pull(repo, n)))?,
            "IC" => repository
                .comments
                .contains_key(&number?)
                .then(|| number.map(|n| GraphObject::Comment(repo, n)))?,
            "LA" => {
                let found = repository
                    .labels
                    .iter()
                    .find(|(_, label)| Some(label.id) == number);
                found.map(|(key, _)| GraphObject::Label(repo, key.clone()))
            }
            "REF" => {
                let name = String::from_utf8(rest).ok()?;
                repository
                    .refs
                    .contains_key(&name)
                    .then_some(GraphObject::Ref(repo, name))
            }
            "C" | "T" | "B" => {
                let oid = Oid::from_bytes(rest.try_into().ok()?);
                self.model
                    .objects(repo)?
                    .get(oid)
                    .map(|_| GraphObject::Object(repo, oid))
            }
            "PRR" => repository.pulls.values().find_map(|pull| {
                let review = pull
                    .reviews
                    .iter()
                    .find(|review| Some(review.id) == number)?;
                Some(GraphObject::Review(repo, pull.number, review.clone()))
            }),
            _ => {
                let threads = repository
                    .issues
                    .values()
                    .map(|issue| &issue.thread)
                    .chain(repository.pulls.values().map(|pull| &pull.thread));
                threads.into_iter().find_map(|thread| {
                    let event = thread
                        .timeline
                        .iter()
                        .find(|event| Some(event.id) == number)?;
                    Some(GraphObject::Event(repo, thread.number, event.clone()))
                })
            }
        }
    }

    /// Refuses a field for which the token lacks a permission.
    pub(super) fn check_permission(&self, repo: RepoId, need: RequiredAccess) -> Result<(), Fault> {
        self.model
            .check_access(Some(self.identity), repo, need)
            .map_err(|refusal| Fault::new("FORBIDDEN", refusal.message))
    }

    fn repository_field(&mut self, repo: RepoId, field: &str, args: &Args) -> Resolved {
        match field {
            "ref" | "refs" | "object" => {
                self.check_permission(repo, RequiredAccess::Read("contents"))?
            }
            "pullRequest" | "pullRequests" => {
                self.check_permission(repo, RequiredAccess::Read("pull_requests"))?
            }
            "issue" | "issues" => self.check_permission(repo, RequiredAccess::Read("issues"))?,
            _ => {}
        }
        let repository = self.visible_repository(repo)?;
        let web = self.model.web_url(repo, "");
        Ok(match field {
            "id" => node_id::encode_id("R", repo, 0).into(),
            "databaseId" => repo.0.into(),
            "name" => repository.name.as_str().into(),
            "nameWithOwner" => {
                format!("{}/{}", self.model.login(repository.owner), repository.name).into()
            }
            "owner" => Val::Object(GraphObject::Account(repository.owner)),
            "isPrivate" => repository.private.into(),
            "isArchived" => repository.archived.into(),
            "isDisabled" | "isFork" | "autoMergeAllowed" => false.into(),
            "mergeCommitAllowed" | "squashMergeAllowed" | "rebaseMergeAllowed" => true.into(),
            "isEmpty" => repository.refs.is_empty().into(),
            "visibility" => if repository.private {
                "PRIVATE"
            } else {
                "PUBLIC"
            }
            .into(),
            "description" => repository.description.clone().into(),
            "createdAt" => format_timestamp(repository.created_at).into(),
            "updatedAt" => format_timestamp(repository.updated_at).into(),
            "pushedAt" => format_timestamp(repository.pushed_at).into(),
            "url" => web.into(),
            "resourcePath" => web.trim_start_matches(WEB).into(),
            "viewerPermission" => match self.viewer_role(repo) {
                Role::None => Val::NULL,
                role => role.role_name().to_uppercase().into(),
            },
            "defaultBranchRef" => {
                let name = format!("refs/heads/{}", repository.default_branch);
                Val::optional_object(
                    repository
                        .refs
                        .contains_key(&name)
                        .then_some(GraphObject::Ref(repo, name)),
                )
            }
            _ => return self.repository_object(repo, field, args),
        })
    }

    /// A field of a repository that leads to other objects.
    fn repository_object(&mut self, repo: RepoId, field: &str, args: &Args) -> Resolved {
        let repository = self.visible_repository(repo)?;
        Ok(match field {
            "ref" => {
                let asked = args.text_arg("qualifiedName").unwrap_or_default();
                let candidates = [
                    asked.to_owned(),
                    format!("refs/heads/{asked}"),
                    format!("refs/tags/{asked}"),
                    format!("refs/{asked}"),
                ];
                let found = candidates
                    .into_iter()
                    .find(|name| repository.refs.contains_key(name));
                Val::optional_object(found.map(|name| GraphObject::Ref(repo, name)))
            }
            "refs" => {
                let prefix = args.text_arg("refPrefix").unwrap_or_default();
                let part = args.text_arg("query").unwrap_or_default();
                let items = repository
                    .refs
                    .keys()
                    .filter(|name| {
                        name.strip_prefix(prefix)
                            .is_some_and(|rest| rest.contains(part))
                    })
                    .map(|name| Val::Object(GraphObject::Ref(repo, name.clone())))
                    .collect();
                page_connection("refs", names!("Ref"), items, args)?
            }
            "object" => Val::optional_object(self.object_named(repo, args)?),
            "pullRequest" => {
                let number = args.number_arg("number").unwrap_or_default();
                if !repository.pulls.contains_key(&number) {
                    return Err(Fault::new(
                        "NOT_FOUND",
                        format!("Could not resolve to a PullRequest with the number of {number}."),
                    ));
                }
                Val::Object(GraphObject::Pull(repo, number))
            }
            "issue" => {
                let number = args.number_arg("number").unwrap_or_default();
                if !repository.issues.contains_key(&number) {
                    return Err(Fault::new(
                        "NOT_FOUND",
                        format!("Could not resolve to an Issue with the number of {number}."),
                    ));
                }
                Val::Object(GraphObject::Issue(repo, number))
            }
            "issueOrPullRequest" => {
                let number = args.number_arg("number").unwrap_or_default();
                if repository.issues.contains_key(&number) {
                    Val::Object(GraphObject::Issue(repo, number))
                } else if repository.pulls.contains_key(&number) {
                    Val::Object(GraphObject::Pull(repo, number))
                } else {
                    let text = format!(
                        "Could not resolve to an issue or pull request with the number of {number}."
                    );
                    return Err(Fault::new("NOT_FOUND", text));
                }
            }
            "pullRequests" => self.pull_requests(repo, args)?,
            "issues" => self.resolve_issues(repo, args)?,
            "label" => {
                let key = args.text_arg("name").unwrap_or_default().to_lowercase();
                Val::optional_object(
                    repository
                        .labels
                        .contains_key(&key)
                        .then_some(GraphObject::Label(repo, key)),
                )
            }
            "labels" => {
                let query = args.text_arg("query").map(str::to_lowercase);
                let items = repository
                    .labels
                    .keys()
                    .filter(|name| {
                        query
                            .as_ref()
                            .is_none_or(|query| name.contains(query.as_str()))
                    })
                    .map(|name| Val::Object(GraphObject::Label(repo, name.clone())))
                    .collect();
                page_connection("labels", names!("Label"), items, args)?
            }
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve Repository.{other}"),
                ));
            }
        })
    }

    /// The account of the token. GitHub shows an App's as a user, with the suffix that other fields leave out.
    fn viewer(&self) -> Val {
        let id = self.identity.account;
        let accounts = &self.model.accounts;
        let Some(account) = accounts
            .get(&id)
            .filter(|one| one.bare_login() != one.login)
        else {
            return Val::Object(GraphObject::Account(id));
        };
        let names = [
            "id",
            "databaseId",
            "email",
            "url",
            "resourcePath",
            "avatarUrl",
            "createdAt",
        ];
        let mut fields: BTreeMap<&'static str, Val> = names
            .into_iter()
            .map(|name| (name, self.account_field(id, name)))
            .collect();
        fields.insert("login", account.login.as_str().into());
        fields.insert("isViewer", true.into());
        Val::Object(GraphObject::Made("User", fields))
    }

    fn viewer_role(&self, repo: RepoId) -> Role {
        match &self.identity.kind {
            kind if kind.is_person() => self.model.role(repo, self.identity.account),
            _ => Role::Write,
        }
    }

    pub(super) fn account_field(&self, id: u64, field: &str) -> Val {
        let Some(account) = self.model.accounts.get(&id) else {
            return Val::NULL;
        };
        match field {
            "id" => self.model.account_node(id).into(),
            "databaseId" => id.into(),
            // GraphQL shows a bot without the suffix that REST gives it.
            "login" => account.bare_login().into(),
            "email" => "".into(),
            "url" | "resourcePath" => {
                let path = match account.login.strip_suffix("[bot]") {
                    Some(app) => format!("/apps/{app}"),
                    None => format!("/{}", account.login),
                };
                if field == "url" {
                    format!("{WEB}{path}").into()
                } else {
                    path.into()
                }
            }
            "avatarUrl" => format!("https://avatars.githubusercontent.com/u/{id}?v=4").into(),
            "createdAt" => "2020-01-01T00:00:00Z".into(),
            "isViewer" => (id == self.identity.account).into(),
            _ => Val::NULL,
        }
    }

    fn ref_field(&mut self, repo: RepoId, name: &str, field: &str, args: &Args) -> Resolved {
        let repository = self.visible_repository(repo)?;
        let target = repository.refs.get(name).copied();
        let cut = name.match_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
        let (prefix, short) = name.split_at(cut);
        Ok(match field {
            "id" => node_id::encode_ref(repo, name).into(),
            "name" => short.into(),
            "prefix" => prefix.into(),
            "target" => Val::optional_object(target.map(|oid| GraphObject::Object(repo, oid))),
            "repository" => Val::Object(GraphObject::Repository(repo)),
            "associatedPullRequests" => {
                let items = repository
                    .pulls
                    .values()
                    .filter(|pull| pull.head.branch == short)
                    .map(|pull| Val::Object(GraphObject::Pull(repo, pull.number)))
                    .collect();
                page_connection("associatedPullRequests", names!("PullRequest"), items, args)?
            }
            "compare" => {
                let head = args.text_arg("headRef").unwrap_or_default();
                let other = repository
                    .branch(head.trim_start_matches("refs/heads/"))
                    .or_else(|| head.parse().ok());
                let (Some(base), Some(head)) = (target, other) else {
                    return Ok(Val::NULL);
                };
                let Some(objects) = self.model.objects(repo) else {
                    return Ok(Val::NULL);
                };
                let ahead = objects.missing_from(Some(base), head);
                let behind = objects.missing_from(Some(head), base).len();
                let status = match (ahead.len(), behind) {
                    (0, 0) => "IDENTICAL",
                    (_, 0) => "AHEAD",
                    (0, _) => "BEHIND",
                    _ => "DIVERGED",
                };
                Val::Object(GraphObject::Made(
                    "Comparison",
                    [
                        ("aheadBy", Val::from(ahead.len())),
                        ("behindBy", Val::from(behind)),
                        ("status", Val::from(status)),
                        ("baseTarget", Val::Object(GraphObject::Object(repo, base))),
                        ("headTarget", Val::Object(GraphObject::Object(repo, head))),
                    ]
                    .into(),
                ))
            }
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve Ref.{other}"),
                ));
            }
        })
    }

    /// The object that `object(oid:)` or `object(expression:)` names: a commit, `branch:path`, or a branch.
    fn object_named(&self, repo: RepoId, args: &Args) -> Result<Option<GraphObject>, Fault> {
        let repository = self.visible_repository(repo)?;
        let Some(objects) = self.model.objects(repo) else {
            return Ok(None);
        };
        if let Some(oid) = args.text_arg("oid") {
            let oid: Option<Oid> = oid.parse().ok();
            return Ok(oid
                .filter(|oid| objects.get(*oid).is_some())
                .map(|oid| GraphObject::Object(repo, oid)));
        }
        let Some(expression) = args.text_arg("expression") else {
            return Ok(None);
        };
        let (name, path) = expression
            .split_once(':')
            .map_or((expression, None), |(name, path)| (name, Some(path)));
        let branch = if name == "HEAD" {
            repository.default_branch.as_str()
        } else {
            name
        };
        let found = [
            branch.to_owned(),
            format!("refs/heads/{branch}"),
            format!("refs/tags/{branch}"),
        ]
        .iter()
        .find_map(|name| repository.refs.get(name).copied())
        .or_else(|| name.parse().ok().filter(|oid| objects.get(*oid).is_some()));
        let Some(at) = found else { return Ok(None) };
        Ok(match path {
            None => Some(GraphObject::Object(repo, at)),
            Some(path) => objects
                .at_path(at, path)
                .map(|(_, oid)| GraphObject::Object(repo, oid)),
        })
    }
}

/// The error for an unknown node id.
pub(super) fn unknown_node(id: &str) -> Fault {
    Fault::new(
        "NOT_FOUND",
        format!("Could not resolve to a node with the global id of '{id}'"),
    )
}

/// The name of a reaction in GraphQL.
pub(super) fn reaction_word(content: &str) -> String {
    match content {
        "+1" => "THUMBS_UP".to_owned(),
        "-1" => "THUMBS_DOWN".to_owned(),
        other => other.to_uppercase(),
    }
}

/// The first commits of a history.
pub(super) fn truncate_history<T>(mut list: Vec<T>) -> Vec<T> {
    list.truncate(MAX_HISTORY);
    list
}

/// The names of the connection of a commit's history, whose edges are those of commits.
pub(super) const HISTORY: Names = Names {
    connection: "CommitHistoryConnection",
    edge: "CommitEdge",
};

/// The value of an optional text; JSON null without one.
pub(super) fn optional_text(value: Option<String>) -> Val {
    Val::Json(value.map_or(Value::Null, |text| json!(text)))
}
