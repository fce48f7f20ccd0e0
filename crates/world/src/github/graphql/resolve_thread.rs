//! Resolves the fields of issues, pull requests, comments and timelines.

use jiff::Timestamp;

use super::connection::{names, page_connection};
use super::execute::{Args, Fault, Run};
use super::graph_object::{GraphObject, Val};
use super::resolve::{optional_text, reaction_word};
use super::resolve_review::review_decision;
use crate::github::render::format_timestamp;
use crate::github::repository::{Edit, Reaction, Thread, TimelineEvent, TimelineKind};
use crate::github::{Pull, RepoId, Repository, State, node_id};

type Resolved = Result<Val, Fault>;

fn missing_object(what: &str) -> Fault {
    Fault::new("NOT_FOUND", format!("Could not resolve to a {what}"))
}

impl Run<'_> {
    pub(super) fn pull_requests(&self, repo: RepoId, args: &Args) -> Resolved {
        let repository = self.visible_repository(repo)?;
        let states = args.words_arg("states");
        let labels: Option<Vec<String>> = args
            .words_arg("labels")
            .map(|names| names.iter().map(|name| name.to_lowercase()).collect());
        let mut found: Vec<&Pull> = repository
            .pulls
            .values()
            .map(AsRef::as_ref)
            .filter(|pull| {
                states
                    .as_ref()
                    .is_none_or(|states| states.contains(&pull_state(pull)))
            })
            .filter(|pull| {
                args.text_arg("headRefName")
                    .is_none_or(|name| pull.head.branch == name)
            })
            .filter(|pull| {
                args.text_arg("baseRefName")
                    .is_none_or(|name| pull.base.branch == name)
            })
            .filter(|pull| {
                labels
                    .as_ref()
                    .is_none_or(|any| any.iter().any(|label| pull.labels.contains(label)))
            })
            .collect();
        sort_threads(&mut found, args, |pull| &pull.thread);
        let items = found
            .into_iter()
            .map(|pull| Val::Object(GraphObject::Pull(repo, pull.number)))
            .collect();
        page_connection("pullRequests", names!("PullRequest"), items, args)
    }

    pub(super) fn resolve_issues(&self, repo: RepoId, args: &Args) -> Resolved {
        let repository = self.visible_repository(repo)?;
        let filter = args.get("filterBy");
        let list = |name: &str| -> Option<Vec<String>> {
            let given = args
                .words_arg(name)
                .map(|words| words.iter().map(|word| (*word).to_owned()).collect());
            given.or_else(|| {
                let words = filter[name].as_array()?;
                Some(
                    words
                        .iter()
                        .filter_map(|word| word.as_str().map(str::to_owned))
                        .collect(),
                )
            })
        };
        let (states, labels) = (list("states"), list("labels"));
        let since: Option<Timestamp> = filter["since"].as_str().and_then(|text| text.parse().ok());
        let author = filter["createdBy"].as_str();
        let mut found: Vec<&Thread> = repository
            .issues
            .values()
            .map(|issue| &issue.thread)
            .filter(|issue| {
                states
                    .as_ref()
                    .is_none_or(|states| states.iter().any(|s| s == state_name(issue.state)))
            })
            .filter(|issue| {
                labels.as_ref().is_none_or(|any| {
                    any.iter()
                        .any(|label| issue.labels.contains(&label.to_lowercase()))
                })
            })
            .filter(|issue| since.is_none_or(|since| issue.updated_at >= since))
            .filter(|issue| {
                author
                    .is_none_or(|login| self.model.login(issue.author).eq_ignore_ascii_case(login))
            })
            .collect();
        sort_threads(&mut found, args, |thread| thread);
        let items = found
            .into_iter()
            .map(|issue| Val::Object(GraphObject::Issue(repo, issue.number)))
            .collect();
        page_connection("issues", names!("Issue"), items, args)
    }

    pub(super) fn thread_field(
        &mut self,
        repo: RepoId,
        number: u64,
        is_pull: bool,
        field: &str,
        args: &Args,
    ) -> Resolved {
        if is_pull && matches!(field, "mergeable" | "mergeStateStatus") {
            return self.merge_state(repo, number, field);
        }
        let repository = self.visible_repository(repo)?;
        let thread = repository
            .thread(number)
            .ok_or_else(|| missing_object("Issue"))?;
        let kind = if is_pull { "pull" } else { "issues" };
        Ok(match field {
            "id" => node_id::encode_id(if is_pull { "PR" } else { "I" }, repo, number).into(),
            "databaseId" => (thread.id % 2_147_483_647).into(),
            "fullDatabaseId" => thread.id.to_string().into(),
            "number" => number.into(),
            "title" => thread.title.as_str().into(),
            "body" | "bodyText" => thread.body.as_deref().unwrap_or_default().into(),
            "stateReason" => optional_text(
                thread
                    .state_reason
                    .as_ref()
                    .map(|reason| reason.to_uppercase()),
            ),
            "state" => match repository.pulls.get(&number) {
                Some(pull) => pull_state(pull).into(),
                None => state_name(thread.state).into(),
            },
            "closed" => (thread.state == State::Closed).into(),
            "closedAt" => optional_text(thread.closed_at.map(format_timestamp)),
            "createdAt" | "publishedAt" => format_timestamp(thread.created_at).into(),
            "updatedAt" => format_timestamp(thread.updated_at).into(),
            "lastEditedAt" => optional_text(thread.last_edited_at.map(format_timestamp)),
            "includesCreatedEdit" => (!thread.edits.is_empty()).into(),
            "editor" => Val::optional_object(
                thread
                    .edits
                    .last()
                    .map(|edit| GraphObject::Account(edit.editor)),
            ),
            "author" => Val::Object(GraphObject::Account(thread.author)),
            "viewerDidAuthor" => (thread.author == self.identity.account).into(),
            "authorAssociation" => self
                .model
                .author_association(repository, thread.author)
                .into(),
            "url" => self
                .model
                .web_url(repo, &format!("/{kind}/{number}"))
                .into(),
            "resourcePath" => format!("/{}/{kind}/{number}", self.model.full_name(repo)).into(),
            "repository" => Val::Object(GraphObject::Repository(repo)),
            "locked" => thread.locked.into(),
            _ => self.thread_connection(repo, thread, is_pull, field, args)?,
        })
    }

    /// A field of an issue or pull request that lists what belongs to it, or else a field of pull requests alone.
    fn thread_connection(
        &self,
        repo: RepoId,
        thread: &Thread,
        is_pull: bool,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let repository = self.visible_repository(repo)?;
        Ok(match field {
            "labels" => {
                let items = thread
                    .labels
                    .iter()
                    .map(|name| Val::Object(GraphObject::Label(repo, name.clone())))
                    .collect();
                page_connection("labels", names!("Label"), items, args)?
            }
            "assignees" => {
                let items = thread
                    .assignees
                    .iter()
                    .map(|id| Val::Object(GraphObject::Account(*id)))
                    .collect();
                page_connection("assignees", names!("User"), items, args)?
            }
            "comments" => self.thread_comments(repo, repository, thread, args)?,
            "userContentEdits" => edits_connection(repo, &thread.edits, args)?,
            "reactions" => reactions_connection(repo, &thread.reactions, args)?,
            "timelineItems" => self.resolve_timeline(repo, repository, thread, is_pull, args)?,
            _ => {
                let pull = repository
                    .pulls
                    .get(&thread.number)
                    .ok_or_else(|| missing_object("PullRequest"))?;
                self.pull_field(repo, repository, pull, field, args)?
            }
        })
    }

    fn thread_comments(
        &self,
        repo: RepoId,
        repository: &Repository,
        thread: &Thread,
        args: &Args,
    ) -> Resolved {
        let mut ids: Vec<_> = thread
            .comments
            .iter()
            .filter_map(|id| repository.comments.get(id))
            .map(|comment| (comment.updated_at, comment.id))
            .collect();
        let order = args.get("orderBy");
        let by_update = self.knobs.comments_by_update && !ids.is_sorted();
        if order["field"] == "UPDATED_AT" || self.knobs.count_use("comments-by-update", by_update) {
            ids.sort_unstable();
        }
        if order["direction"] == "DESC" {
            ids.reverse();
        }
        let items = ids
            .into_iter()
            .map(|(_, id)| Val::Object(GraphObject::Comment(repo, id)))
            .collect();
        page_connection("comments", names!("IssueComment"), items, args)
    }

    fn resolve_timeline(
        &self,
        repo: RepoId,
        repository: &Repository,
        thread: &Thread,
        is_pull: bool,
        args: &Args,
    ) -> Resolved {
        let kinds = args.words_arg("itemTypes");
        let since: Option<Timestamp> = args.text_arg("since").and_then(|text| text.parse().ok());
        let items: Vec<Val> = thread
            .timeline
            .iter()
            .filter(|event| {
                kinds
                    .as_ref()
                    .is_none_or(|kinds| kinds.contains(&item_type(&event.what)))
            })
            .filter(|event| since.is_none_or(|since| event.at >= since))
            .filter_map(|event| match &event.what {
                TimelineKind::Commented(id) => Some(GraphObject::Comment(repo, *id)),
                TimelineKind::Reviewed(id) => {
                    let pull = repository.pulls.get(&thread.number)?;
                    let review = pull.reviews.iter().find(|review| review.id == *id)?;
                    Some(GraphObject::Review(repo, thread.number, review.clone()))
                }
                TimelineKind::Committed(oid) => {
                    Some(GraphObject::PullCommit(repo, thread.number, *oid))
                }
                _ => Some(GraphObject::Event(repo, thread.number, event.clone())),
            })
            .map(Val::Object)
            .collect();
        let names = if is_pull {
            names!("PullRequestTimelineItems")
        } else {
            names!("IssueTimelineItems")
        };
        let mut page = page_connection("timelineItems", names, items, args)?;
        if let Val::Object(GraphObject::Made(_, fields)) = &mut page {
            fields.insert("updatedAt", format_timestamp(thread.updated_at).into());
        }
        Ok(page)
    }

    fn merge_state(&mut self, repo: RepoId, number: u64, field: &str) -> Resolved {
        // Only an open pull request has a mergeable state.
        let is_open = |pull: &Pull| pull.state == State::Open;
        if !self.model.pull(repo, number).is_some_and(is_open) {
            return Ok("UNKNOWN".into());
        }
        let known = match self.mergeable.get(&(repo, number)) {
            Some(known) => *known,
            None => {
                let known = self.model.mergeable_now(repo, number, self.knobs);
                self.mergeable.insert((repo, number), known);
                known
            }
        };
        let repository = self.visible_repository(repo)?;
        let pull = repository
            .pulls
            .get(&number)
            .ok_or_else(|| missing_object("PullRequest"))?;
        Ok(match (field, known) {
            (_, None) => "UNKNOWN".into(),
            ("mergeable", Some(true)) => "MERGEABLE".into(),
            ("mergeable", Some(false)) => "CONFLICTING".into(),
            (_, Some(false)) => "DIRTY".into(),
            _ if pull.draft => "DRAFT".into(),
            _ => self
                .model
                .merge_state(repository, pull)
                .to_uppercase()
                .into(),
        })
    }

    fn pull_field(
        &self,
        repo: RepoId,
        repository: &Repository,
        pull: &Pull,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let branch = |name: &str| {
            let full = format!("refs/heads/{name}");
            Val::optional_object(
                repository
                    .refs
                    .contains_key(&full)
                    .then_some(GraphObject::Ref(repo, full)),
            )
        };
        Ok(match field {
            "isDraft" => pull.draft.into(),
            "merged" => pull.merged.is_some().into(),
            "mergedAt" => {
                optional_text(pull.merged.as_ref().map(|merge| format_timestamp(merge.at)))
            }
            "mergedBy" => Val::optional_object(
                pull.merged
                    .as_ref()
                    .map(|merge| GraphObject::Account(merge.by)),
            ),
            "mergeCommit" => Val::optional_object(
                pull.merged
                    .as_ref()
                    .map(|merge| GraphObject::Object(repo, merge.commit)),
            ),
            "headRefName" => pull.head.branch.as_str().into(),
            "headRefOid" => pull.head.oid.to_string().into(),
            "headRef" => branch(&pull.head.branch),
            "statusCheckRollup" => {
                let known = crate::github::rest::checks_rollup(repository, pull.head.oid).is_some();
                Val::optional_object(known.then_some(GraphObject::Rollup(repo, pull.head.oid)))
            }
            "baseRefName" => pull.base.branch.as_str().into(),
            "baseRefOid" => {
                let now = repository.branch(&pull.base.branch);
                let moved = now.filter(|_| self.knobs.base_oid_follows);
                let base = moved.unwrap_or(pull.base.oid);
                self.knobs
                    .count_use("base-oid-follows", base != pull.base.oid);
                base.to_string().into()
            }
            "baseRef" => branch(&pull.base.branch),
            "headRepository" | "baseRepository" => Val::Object(GraphObject::Repository(repo)),
            "headRepositoryOwner" => Val::Object(GraphObject::Account(repository.owner)),
            "isCrossRepository" | "maintainerCanModify" | "isInMergeQueue" => false.into(),
            "reviewDecision" => optional_text(review_decision(pull).map(str::to_owned)),
            _ => self.pull_parts(repo, repository, pull, field, args)?,
        })
    }

    /// A field of a pull request that shows its reviews, files, commits or figures.
    fn pull_parts(
        &self,
        repo: RepoId,
        repository: &Repository,
        pull: &Pull,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let number = pull.number;
        Ok(match field {
            "reviews" => self.all_reviews(repo, pull, args)?,
            "latestReviews" | "latestOpinionatedReviews" => {
                self.latest_reviews(repo, pull, field, args)?
            }
            "reviewThreads" => self.review_threads(repo, pull, args)?,
            "reviewRequests" => {
                let items = pull
                    .requested_reviewers
                    .iter()
                    .map(|id| Val::Object(GraphObject::ReviewRequest(repo, *id)))
                    .collect();
                page_connection("reviewRequests", names!("ReviewRequest"), items, args)?
            }
            "files" => {
                let files = self.model.pull_files(repository, pull);
                let items = files
                    .into_iter()
                    .map(|file| Val::Object(GraphObject::File(repo, file)))
                    .collect();
                page_connection("files", names!("PullRequestChangedFile"), items, args)?
            }
            "commits" => {
                let commits = self.model.pull_commits(repository, pull);
                let items = commits
                    .into_iter()
                    .map(|oid| Val::Object(GraphObject::PullCommit(repo, number, oid)))
                    .collect();
                page_connection("commits", names!("PullRequestCommit"), items, args)?
            }
            "additions" => self.model.pull_figures(repository, pull).0.into(),
            "deletions" => self.model.pull_figures(repository, pull).1.into(),
            "changedFiles" => self.model.pull_figures(repository, pull).2.into(),
            "autoMergeRequest" => match &pull.auto_merge {
                None => Val::NULL,
                Some(method) => Val::Object(GraphObject::Made(
                    "AutoMergeRequest",
                    [
                        ("mergeMethod", Val::from(method.as_str())),
                        ("enabledAt", Val::NULL),
                        ("enabledBy", Val::NULL),
                    ]
                    .into(),
                )),
            },
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve PullRequest.{other}"),
                ));
            }
        })
    }

    pub(super) fn comment_field(
        &self,
        repo: RepoId,
        id: u64,
        field: &str,
        args: &Args,
    ) -> Resolved {
        let repository = self.visible_repository(repo)?;
        let comment = repository
            .comments
            .get(&id)
            .ok_or_else(|| missing_object("IssueComment"))?;
        let on_pull = repository.pulls.contains_key(&comment.number);
        let kind = if on_pull { "pull" } else { "issues" };
        Ok(match field {
            "id" => node_id::encode_id("IC", repo, id).into(),
            "databaseId" => (id % 2_147_483_647).into(),
            "fullDatabaseId" => id.to_string().into(),
            "body" | "bodyText" => comment.body.as_str().into(),
            "author" => Val::Object(GraphObject::Account(comment.author)),
            "authorAssociation" => self
                .model
                .author_association(repository, comment.author)
                .into(),
            "createdAt" | "publishedAt" => format_timestamp(comment.created_at).into(),
            "updatedAt" => format_timestamp(comment.updated_at).into(),
            "lastEditedAt" => {
                optional_text(comment.edits.last().map(|edit| format_timestamp(edit.at)))
            }
            "editor" => Val::optional_object(
                comment
                    .edits
                    .last()
                    .map(|edit| GraphObject::Account(edit.editor)),
            ),
            "includesCreatedEdit" => (!comment.edits.is_empty()).into(),
            "isMinimized" => comment.minimized.into(),
            "viewerDidAuthor" => (comment.author == self.identity.account).into(),
            "url" => self
                .model
                .web_url(
                    repo,
                    &format!("/{kind}/{}#issuecomment-{id}", comment.number),
                )
                .into(),
            "reactions" => reactions_connection(repo, &comment.reactions, args)?,
            "userContentEdits" => edits_connection(repo, &comment.edits, args)?,
            "repository" => Val::Object(GraphObject::Repository(repo)),
            "pullRequest" => {
                Val::optional_object(on_pull.then_some(GraphObject::Pull(repo, comment.number)))
            }
            "issue" if on_pull => Val::Object(GraphObject::Pull(repo, comment.number)),
            "issue" => Val::Object(GraphObject::Issue(repo, comment.number)),
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve IssueComment.{other}"),
                ));
            }
        })
    }

    pub(super) fn label_field(&self, repo: RepoId, name: &str, field: &str) -> Resolved {
        let repository = self.visible_repository(repo)?;
        let label = repository
            .labels
            .get(name)
            .ok_or_else(|| missing_object("Label"))?;
        Ok(match field {
            "id" => node_id::encode_id("LA", repo, label.id).into(),
            "name" => label.name.as_str().into(),
            "color" => label.color.as_str().into(),
            "description" => optional_text(label.description.clone()),
            "isDefault" => false.into(),
            "url" => self
                .model
                .web_url(repo, &format!("/labels/{}", label.name))
                .into(),
            _ => format_timestamp(label.created_at).into(),
        })
    }

    pub(super) fn event_field(
        &self,
        repo: RepoId,
        number: u64,
        event: &TimelineEvent,
        field: &str,
    ) -> Resolved {
        let repository = self.visible_repository(repo)?;
        let prefix = match &event.what {
            TimelineKind::Labeled(_) => "LE",
            TimelineKind::Unlabeled(_) => "UNLE",
            TimelineKind::Renamed { .. } => "RTE",
            TimelineKind::Closed => "CE",
            TimelineKind::Reopened => "REE",
            TimelineKind::Merged(_) => "ME",
            TimelineKind::ForcePushed(..) => "HRFPE",
            TimelineKind::ReadyForReview => "RFRE",
            TimelineKind::ConvertedToDraft => "CTDE",
            TimelineKind::ReviewRequested(_) => "RRE",
            _ => "EV",
        };
        Ok(match (field, &event.what) {
            ("id", _) => node_id::encode_id(prefix, repo, event.id).into(),
            ("databaseId", _) => (event.id % 2_147_483_647).into(),
            ("actor", _) => Val::Object(GraphObject::Account(event.actor)),
            ("createdAt", _) => format_timestamp(event.at).into(),
            ("label", TimelineKind::Labeled(label) | TimelineKind::Unlabeled(label)) => {
                let key = label.name.to_lowercase();
                if repository.labels.contains_key(&key) {
                    Val::Object(GraphObject::Label(repo, key))
                } else {
                    // The label is deleted; the event still holds its data.
                    let fields = [
                        ("id", Val::from(node_id::encode_id("LA", repo, label.id))),
                        ("name", Val::from(label.name.as_str())),
                        ("color", Val::from(label.color.as_str())),
                        ("isDefault", Val::from(false)),
                        ("url", Val::from(self.model.web_url(repo, "/labels"))),
                    ];
                    Val::Object(GraphObject::Made("Label", fields.into()))
                }
            }
            ("previousTitle", TimelineKind::Renamed { from, .. }) => from.as_str().into(),
            ("currentTitle", TimelineKind::Renamed { to, .. }) => to.as_str().into(),
            ("stateReason", _) => {
                let reason = repository
                    .thread(number)
                    .and_then(|thread| thread.state_reason.as_ref());
                optional_text(reason.map(|reason| reason.to_uppercase()))
            }
            ("commit", TimelineKind::Merged(oid)) => Val::Object(GraphObject::Object(repo, *oid)),
            ("beforeCommit", TimelineKind::ForcePushed(oid, _))
            | ("afterCommit", TimelineKind::ForcePushed(_, oid)) => {
                Val::Object(GraphObject::Object(repo, *oid))
            }
            ("mergeRefName" | "currentRefName" | "previousRefName", _) => repository
                .pulls
                .get(&number)
                .map_or("", |pull| &pull.base.branch)
                .into(),
            ("requestedReviewer", TimelineKind::ReviewRequested(account)) => {
                Val::Object(GraphObject::Account(*account))
            }
            ("url", _) => self
                .model
                .web_url(repo, &format!("/issues/{number}#event-{}", event.id))
                .into(),
            _ => Val::NULL,
        })
    }
}

fn state_name(state: State) -> &'static str {
    if state == State::Open {
        "OPEN"
    } else {
        "CLOSED"
    }
}

fn pull_state(pull: &Pull) -> &'static str {
    if pull.merged.is_some() {
        "MERGED"
    } else {
        state_name(pull.state)
    }
}

fn sort_threads<T>(found: &mut [T], args: &Args, thread: impl Fn(&T) -> &Thread) {
    let order = args.get("orderBy");
    match order["field"].as_str() {
        Some("UPDATED_AT") => found.sort_by_key(|one| (thread(one).updated_at, thread(one).number)),
        Some("COMMENTS") => {
            found.sort_by_key(|one| (thread(one).comments.len(), thread(one).number))
        }
        _ => found.sort_by_key(|one| (thread(one).created_at, thread(one).number)),
    }
    if order["direction"] == "DESC" {
        found.reverse();
    }
}

fn edits_connection(repo: RepoId, edits: &[Edit], args: &Args) -> Resolved {
    // Newest first, as GitHub lists them.
    let items = edits
        .iter()
        .rev()
        .map(|edit| Val::Object(GraphObject::Edit(repo, edit.clone())))
        .collect();
    page_connection("userContentEdits", names!("UserContentEdit"), items, args)
}

fn reactions_connection(repo: RepoId, all: &[Reaction], args: &Args) -> Resolved {
    let content = args.text_arg("content");
    let items = all
        .iter()
        .filter(|reaction| {
            content.is_none_or(|content| reaction_word(&reaction.content) == content)
        })
        .map(|reaction| Val::Object(GraphObject::Reaction(repo, reaction.clone())))
        .collect();
    page_connection("reactions", names!("Reaction"), items, args)
}

/// The value of `itemTypes` that selects an event.
fn item_type(what: &TimelineKind) -> &'static str {
    match what {
        TimelineKind::Labeled(_) => "LABELED_EVENT",
        TimelineKind::Unlabeled(_) => "UNLABELED_EVENT",
        TimelineKind::Renamed { .. } => "RENAMED_TITLE_EVENT",
        TimelineKind::Closed => "CLOSED_EVENT",
        TimelineKind::Reopened => "REOPENED_EVENT",
        TimelineKind::Merged(_) => "MERGED_EVENT",
        TimelineKind::Commented(_) => "ISSUE_COMMENT",
        TimelineKind::Reviewed(_) => "PULL_REQUEST_REVIEW",
        TimelineKind::Committed(_) => "PULL_REQUEST_COMMIT",
        TimelineKind::ForcePushed(..) => "HEAD_REF_FORCE_PUSHED_EVENT",
        TimelineKind::ReadyForReview => "READY_FOR_REVIEW_EVENT",
        TimelineKind::ConvertedToDraft => "CONVERT_TO_DRAFT_EVENT",
        TimelineKind::BaseChanged => "BASE_REF_CHANGED_EVENT",
        TimelineKind::ReviewRequested(_) => "REVIEW_REQUESTED_EVENT",
    }
}
