//! Resolves the fields of the query root, repositories, accounts and references.

use serde_json::{Value, json};

use super::connection::{Names, connection, names};
use super::execute::{Args, Fault, Run};
use super::thing::{Thing, Val};
use crate::github::limits::Resource;
use crate::github::object::Oid;
use crate::github::render::{WEB, stamp};
use crate::github::rest::Need;
use crate::github::{RepoId, Role, node};

/// The most commits of one history.
const MAX_HISTORY: usize = 10_000;

type Resolved = Result<Val, Fault>;

impl Run<'_> {
    /// The value of a field.
    pub(super) fn resolve(
        &mut self,
        thing: &Thing,
        type_name: &str,
        field: &str,
        args: &Args,
    ) -> Resolved {
        match thing {
            Thing::Query => self.query(field, args),
            Thing::Mutation => self.mutate(field, args),
            Thing::Made(_, fields) => Ok(fields.get(field).cloned().unwrap_or(Val::NULL)),
            Thing::Repository(repo) => self.repository_field(*repo, field, args),
            Thing::Account(id) => Ok(self.account_field(*id, field)),
            Thing::Ref(repo, name) => self.ref_field(*repo, name, field, args),
            Thing::Object(repo, oid) => self.object_field(*repo, *oid, type_name, field, args),
            Thing::Entry(repo, path, entry) => self.entry_field(*repo, path, entry, field),
            Thing::Person(signature) => Ok(self.person_field(signature, field)),
            Thing::Rollup(repo, oid) => self.rollup_field(*repo, *oid, field, args),
            Thing::CheckRun(repo, run) => self.check_run_field(*repo, run, field, args),
            Thing::Status(repo, status) => Ok(self.status_field(*repo, status, field)),
            Thing::Issue(repo, number) => self.thread_field(*repo, *number, false, field, args),
            Thing::Pull(repo, number) => self.thread_field(*repo, *number, true, field, args),
            Thing::Comment(repo, id) => self.comment_field(*repo, *id, field, args),
            Thing::Label(repo, name) => self.label_field(*repo, name, field),
            Thing::Event(repo, number, event) => self.event_field(*repo, *number, event, field),
            Thing::Review(repo, number, review) => self.review_field(*repo, *number, review, field),
            Thing::ReviewThread(repo, number, first) => {
                self.review_thread_field(*repo, *number, first, field, args)
            }
            Thing::ReviewComment(repo, comment) => {
                Ok(self.review_comment_field(*repo, comment, field))
            }
            Thing::PullCommit(repo, number, oid) => Ok(match field {
                "id" => node::encode_object("PURC", *repo, *oid).into(),
                "commit" => Val::Thing(Thing::Object(*repo, *oid)),
                _ => self
                    .model
                    .web_url(*repo, &format!("/pull/{number}/commits/{oid}"))
                    .into(),
            }),
            Thing::File(repo, difference) => {
                let figures = self
                    .model
                    .objects(*repo)
                    .map(|objects| objects.patch(difference));
                let (_, added, removed) = figures.unwrap_or_default();
                Ok(match field {
                    "path" => difference.path.as_str().into(),
                    "additions" => added.into(),
                    "deletions" => removed.into(),
                    _ => match difference.status() {
                        "added" => "ADDED",
                        "removed" => "DELETED",
                        _ => "MODIFIED",
                    }
                    .into(),
                })
            }
            Thing::Edit(repo, edit) => Ok(match field {
                "id" => node::encode("UCE", *repo, edit.id).into(),
                "createdAt" | "editedAt" | "updatedAt" => stamp(edit.at).into(),
                "editor" => Val::Thing(Thing::Account(edit.editor)),
                "diff" => edit.text.as_str().into(),
                _ => Val::NULL,
            }),
            Thing::Reaction(repo, reaction) => Ok(match field {
                "id" => node::encode("REA", *repo, reaction.id).into(),
                "databaseId" => reaction.id.into(),
                "content" => reaction_word(&reaction.content).into(),
                "user" => Val::Thing(Thing::Account(reaction.account)),
                _ => stamp(reaction.at).into(),
            }),
            Thing::ReviewRequest(repo, account) => Ok(match field {
                "id" => node::encode("RR", *repo, *account).into(),
                _ => Val::Thing(Thing::Account(*account)),
            }),
        }
    }

    fn query(&mut self, field: &str, args: &Args) -> Resolved {
        match field {
            "viewer" => Ok(Val::Thing(Thing::Account(self.identity.account))),
            "rateLimit" => Ok(Val::Thing(self.rate_limit())),
            "user" => {
                let login = args.text("login").unwrap_or_default();
                let found = self.model.find_account(login);
                found
                    .map(|id| Val::Thing(Thing::Account(id)))
                    .ok_or_else(|| {
                        Fault::new(
                            "NOT_FOUND",
                            format!("Could not resolve to a User with the login of '{login}'."),
                        )
                    })
            }
            "repository" => {
                let (owner, name) = (
                    args.text("owner").unwrap_or_default(),
                    args.text("name").unwrap_or_default(),
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
                    .permit(Some(self.identity), found, Need::Read("metadata"))
                    .map_err(|_| missing())?;
                Ok(Val::Thing(Thing::Repository(found)))
            }
            "node" => {
                let id = args.text("id").unwrap_or_default();
                self.node(id)
                    .map(Val::Thing)
                    .ok_or_else(|| unknown_node(id))
            }
            "nodes" => {
                let ids = args.words("ids").unwrap_or_default();
                let found = ids
                    .into_iter()
                    .map(|id| Val::thing(self.node(id)))
                    .collect();
                Ok(Val::List(found))
            }
            other => Err(Fault::new(
                "INTERNAL",
                format!("The model does not serve Query.{other}"),
            )),
        }
    }

    fn rate_limit(&mut self) -> Thing {
        let limit = self.knobs.primary_limit;
        let standing =
            self.model
                .limits
                .standing(&self.identity.name, Resource::Graphql, limit, self.now);
        Thing::Made(
            "RateLimit",
            [
                ("limit", Val::from(standing.limit)),
                ("cost", Val::from(self.cost)),
                ("nodeCount", Val::from(0)),
                ("remaining", Val::from(standing.remaining())),
                ("resetAt", Val::from(stamp(standing.reset))),
                ("used", Val::from(standing.used)),
            ]
            .into(),
        )
    }

    /// The object of a node id, when the caller may see it.
    pub(super) fn node(&self, id: &str) -> Option<Thing> {
        let (prefix, repo, rest) = node::decode(id)?;
        let number = node::number(&rest);
        if matches!(prefix, "U" | "BOT") {
            return self
                .model
                .accounts
                .contains_key(&number?)
                .then(|| number.map(Thing::Account))?;
        }
        self.model
            .permit(Some(self.identity), repo, Need::Read("metadata"))
            .ok()?;
        let repository = self.repository(repo).ok()?;
        match prefix {
            "R" => Some(Thing::Repository(repo)),
            "I" => repository
                .issues
                .contains_key(&number?)
                .then(|| number.map(|n| Thing::Issue(repo, n)))?,
            "PR" => repository
                .pulls
                .contains_key(&number?)
                .then(|| number.map(|n| Thing::Pull(repo, n)))?,
            "IC" => repository
                .comments
                .contains_key(&number?)
                .then(|| number.map(|n| Thing::Comment(repo, n)))?,
            "LA" => {
                let found = repository
                    .labels
                    .iter()
                    .find(|(_, label)| Some(label.id) == number);
                found.map(|(key, _)| Thing::Label(repo, key.clone()))
            }
            "REF" => {
                let name = String::from_utf8(rest).ok()?;
                repository
                    .refs
                    .contains_key(&name)
                    .then_some(Thing::Ref(repo, name))
            }
            "C" | "T" | "B" => {
                let oid = Oid::from_bytes(rest.try_into().ok()?);
                self.model
                    .objects(repo)?
                    .get(oid)
                    .map(|_| Thing::Object(repo, oid))
            }
            "PRR" => repository.pulls.values().find_map(|pull| {
                let review = pull
                    .reviews
                    .iter()
                    .find(|review| Some(review.id) == number)?;
                Some(Thing::Review(repo, pull.number, review.clone()))
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
                    Some(Thing::Event(repo, thread.number, event.clone()))
                })
            }
        }
    }

    /// Refuses a field for which the token lacks a permission.
    pub(super) fn needs(&self, repo: RepoId, need: Need) -> Result<(), Fault> {
        self.model
            .permit(Some(self.identity), repo, need)
            .map_err(|refusal| Fault::new("FORBIDDEN", refusal.message))
    }

    fn repository_field(&mut self, repo: RepoId, field: &str, args: &Args) -> Resolved {
        match field {
            "ref" | "refs" | "object" => self.needs(repo, Need::Read("contents"))?,
            "pullRequest" | "pullRequests" => self.needs(repo, Need::Read("pull_requests"))?,
            "issue" | "issues" => self.needs(repo, Need::Read("issues"))?,
            _ => {}
        }
        let repository = self.repository(repo)?;
        let web = self.model.web_url(repo, "");
        Ok(match field {
            "id" => node::encode("R", repo, 0).into(),
            "databaseId" => repo.0.into(),
            "name" => repository.name.as_str().into(),
            "nameWithOwner" => {
                format!("{}/{}", self.model.login(repository.owner), repository.name).into()
            }
            "owner" => Val::Thing(Thing::Account(repository.owner)),
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
            "createdAt" => stamp(repository.created_at).into(),
            "updatedAt" => stamp(repository.updated_at).into(),
            "pushedAt" => stamp(repository.pushed_at).into(),
            "url" => web.into(),
            "resourcePath" => web.trim_start_matches(WEB).into(),
            "viewerPermission" => match self.viewer_role(repo) {
                Role::None => Val::NULL,
                role => role.name().to_uppercase().into(),
            },
            "defaultBranchRef" => {
                let name = format!("refs/heads/{}", repository.default_branch);
                Val::thing(
                    repository
                        .refs
                        .contains_key(&name)
                        .then_some(Thing::Ref(repo, name)),
                )
            }
            _ => return self.repository_object(repo, field, args),
        })
    }

    /// A field of a repository that leads to other objects.
    fn repository_object(&mut self, repo: RepoId, field: &str, args: &Args) -> Resolved {
        let repository = self.repository(repo)?;
        Ok(match field {
            "ref" => {
                let asked = args.text("qualifiedName").unwrap_or_default();
                let candidates = [
                    asked.to_owned(),
                    format!("refs/heads/{asked}"),
                    format!("refs/tags/{asked}"),
                    format!("refs/{asked}"),
                ];
                let found = candidates
                    .into_iter()
                    .find(|name| repository.refs.contains_key(name));
                Val::thing(found.map(|name| Thing::Ref(repo, name)))
            }
            "refs" => {
                let prefix = args.text("refPrefix").unwrap_or_default();
                let part = args.text("query").unwrap_or_default();
                let items = repository
                    .refs
                    .keys()
                    .filter(|name| {
                        name.strip_prefix(prefix)
                            .is_some_and(|rest| rest.contains(part))
                    })
                    .map(|name| Val::Thing(Thing::Ref(repo, name.clone())))
                    .collect();
                connection("refs", names!("Ref"), items, args)?
            }
            "object" => Val::thing(self.object_named(repo, args)?),
            "pullRequest" => {
                let number = args.number("number").unwrap_or_default();
                if !repository.pulls.contains_key(&number) {
                    return Err(Fault::new(
                        "NOT_FOUND",
                        format!("Could not resolve to a PullRequest with the number of {number}."),
                    ));
                }
                Val::Thing(Thing::Pull(repo, number))
            }
            "issue" => {
                let number = args.number("number").unwrap_or_default();
                if !repository.issues.contains_key(&number) {
                    return Err(Fault::new(
                        "NOT_FOUND",
                        format!("Could not resolve to an Issue with the number of {number}."),
                    ));
                }
                Val::Thing(Thing::Issue(repo, number))
            }
            "issueOrPullRequest" => {
                let number = args.number("number").unwrap_or_default();
                if repository.issues.contains_key(&number) {
                    Val::Thing(Thing::Issue(repo, number))
                } else if repository.pulls.contains_key(&number) {
                    Val::Thing(Thing::Pull(repo, number))
                } else {
                    let text = format!(
                        "Could not resolve to an issue or pull request with the number of {number}."
                    );
                    return Err(Fault::new("NOT_FOUND", text));
                }
            }
            "pullRequests" => self.pull_requests(repo, args)?,
            "issues" => self.issues(repo, args)?,
            "label" => {
                let key = args.text("name").unwrap_or_default().to_lowercase();
                Val::thing(
                    repository
                        .labels
                        .contains_key(&key)
                        .then_some(Thing::Label(repo, key)),
                )
            }
            "labels" => {
                let query = args.text("query").map(str::to_lowercase);
                let items = repository
                    .labels
                    .keys()
                    .filter(|name| {
                        query
                            .as_ref()
                            .is_none_or(|query| name.contains(query.as_str()))
                    })
                    .map(|name| Val::Thing(Thing::Label(repo, name.clone())))
                    .collect();
                connection("labels", names!("Label"), items, args)?
            }
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve Repository.{other}"),
                ));
            }
        })
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
        let repository = self.repository(repo)?;
        let target = repository.refs.get(name).copied();
        let cut = name.match_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
        let (prefix, short) = name.split_at(cut);
        Ok(match field {
            "id" => node::encode_ref(repo, name).into(),
            "name" => short.into(),
            "prefix" => prefix.into(),
            "target" => Val::thing(target.map(|oid| Thing::Object(repo, oid))),
            "repository" => Val::Thing(Thing::Repository(repo)),
            "associatedPullRequests" => {
                let items = repository
                    .pulls
                    .values()
                    .filter(|pull| pull.head.branch == short)
                    .map(|pull| Val::Thing(Thing::Pull(repo, pull.number)))
                    .collect();
                connection("associatedPullRequests", names!("PullRequest"), items, args)?
            }
            "compare" => {
                let head = args.text("headRef").unwrap_or_default();
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
                Val::Thing(Thing::Made(
                    "Comparison",
                    [
                        ("aheadBy", Val::from(ahead.len())),
                        ("behindBy", Val::from(behind)),
                        ("status", Val::from(status)),
                        ("baseTarget", Val::Thing(Thing::Object(repo, base))),
                        ("headTarget", Val::Thing(Thing::Object(repo, head))),
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
    fn object_named(&self, repo: RepoId, args: &Args) -> Result<Option<Thing>, Fault> {
        let repository = self.repository(repo)?;
        let Some(objects) = self.model.objects(repo) else {
            return Ok(None);
        };
        if let Some(oid) = args.text("oid") {
            let oid: Option<Oid> = oid.parse().ok();
            return Ok(oid
                .filter(|oid| objects.get(*oid).is_some())
                .map(|oid| Thing::Object(repo, oid)));
        }
        let Some(expression) = args.text("expression") else {
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
            None => Some(Thing::Object(repo, at)),
            Some(path) => objects
                .at_path(at, path)
                .map(|(_, oid)| Thing::Object(repo, oid)),
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
pub(super) fn bounded<T>(mut list: Vec<T>) -> Vec<T> {
    list.truncate(MAX_HISTORY);
    list
}

/// The names of the connection of a commit's history, whose edges are those of commits.
pub(super) const HISTORY: Names = Names {
    connection: "CommitHistoryConnection",
    edge: "CommitEdge",
};

/// The value of an optional text; JSON null without one.
pub(super) fn optional(value: Option<String>) -> Val {
    Val::Json(value.map_or(Value::Null, |text| json!(text)))
}
