//! Resolves the fields of issues, pull requests, comments, reviews and timelines.

use jiff::Timestamp;

use super::connection::{connection, names};
use super::execute::{Args, Fault, Run};
use super::resolve::{optional, reaction_word};
use super::thing::{Thing, Val};
use crate::github::render::stamp;
use crate::github::repository::{Edit, Happening, Reaction, Review, Thread, TimelineEvent};
use crate::github::{Pull, RepoId, Repository, Role, State, Verdict, node};

type Resolved = Result<Val, Fault>;

fn gone(what: &str) -> Fault {
    Fault::new("NOT_FOUND", format!("Could not resolve to a {what}"))
}

impl Run<'_> {
    pub(super) fn pull_requests(&self, repo: RepoId, args: &Args) -> Resolved {
        let repository = self.repository(repo)?;
        let states = args.words("states");
        let labels: Option<Vec<String>> = args
            .words("labels")
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
                args.text("headRefName")
                    .is_none_or(|name| pull.head.branch == name)
            })
            .filter(|pull| {
                args.text("baseRefName")
                    .is_none_or(|name| pull.base.branch == name)
            })
            .filter(|pull| {
                labels
                    .as_ref()
                    .is_none_or(|any| any.iter().any(|label| pull.labels.contains(label)))
            })
            .collect();
        sort(&mut found, args, |pull| &pull.thread);
        let items = found
            .into_iter()
            .map(|pull| Val::Thing(Thing::Pull(repo, pull.number)))
            .collect();
        connection("pullRequests", names!("PullRequest"), items, args)
    }

    pub(super) fn issues(&self, repo: RepoId, args: &Args) -> Resolved {
        let repository = self.repository(repo)?;
        let filter = args.get("filterBy");
        let list = |name: &str| -> Option<Vec<String>> {
            let given = args
                .words(name)
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
                    .is_none_or(|states| states.iter().any(|s| s == word(issue.state)))
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
        sort(&mut found, args, |thread| thread);
        let items = found
            .into_iter()
            .map(|issue| Val::Thing(Thing::Issue(repo, issue.number)))
            .collect();
        connection("issues", names!("Issue"), items, args)
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
        let repository = self.repository(repo)?;
        let thread = repository.thread(number).ok_or_else(|| gone("Issue"))?;
        let kind = if is_pull { "pull" } else { "issues" };
        Ok(match field {
            "id" => node::encode(if is_pull { "PR" } else { "I" }, repo, number).into(),
            "databaseId" => (thread.id % 2_147_483_647).into(),
            "fullDatabaseId" => thread.id.to_string().into(),
            "number" => number.into(),
            "title" => thread.title.as_str().into(),
            "body" | "bodyText" => thread.body.as_deref().unwrap_or_default().into(),
            "stateReason" => optional(
                thread
                    .state_reason
                    .as_ref()
                    .map(|reason| reason.to_uppercase()),
            ),
            "state" => match repository.pulls.get(&number) {
                Some(pull) => pull_state(pull).into(),
                None => word(thread.state).into(),
            },
            "closed" => (thread.state == State::Closed).into(),
            "closedAt" => optional(thread.closed_at.map(stamp)),
            "createdAt" | "publishedAt" => stamp(thread.created_at).into(),
            "updatedAt" => stamp(thread.updated_at).into(),
            "lastEditedAt" => optional(thread.last_edited_at.map(stamp)),
            "includesCreatedEdit" => (!thread.edits.is_empty()).into(),
            "editor" => Val::thing(thread.edits.last().map(|edit| Thing::Account(edit.editor))),
            "author" => Val::Thing(Thing::Account(thread.author)),
            "viewerDidAuthor" => (thread.author == self.identity.account).into(),
            "authorAssociation" => self.model.association(repository, thread.author).into(),
            "url" => self
                .model
                .web_url(repo, &format!("/{kind}/{number}"))
                .into(),
            "resourcePath" => format!("/{}/{kind}/{number}", self.model.full_name(repo)).into(),
            "repository" => Val::Thing(Thing::Repository(repo)),
            "locked" => thread.locked.into(),
            "labels" => {
                let items = thread
                    .labels
                    .iter()
                    .map(|name| Val::Thing(Thing::Label(repo, name.clone())))
                    .collect();
                connection("labels", names!("Label"), items, args)?
            }
            "assignees" => {
                let items = thread
                    .assignees
                    .iter()
                    .map(|id| Val::Thing(Thing::Account(*id)))
                    .collect();
                connection("assignees", names!("User"), items, args)?
            }
            "comments" => {
                let mut ids: Vec<_> = thread
                    .comments
                    .iter()
                    .filter_map(|id| repository.comments.get(id))
                    .map(|comment| (comment.updated_at, comment.id))
                    .collect();
                let order = args.get("orderBy");
                let by_update = self.knobs.comments_by_update && !ids.is_sorted();
                if order["field"] == "UPDATED_AT"
                    || self.knobs.acts("comments-by-update", by_update)
                {
                    ids.sort_unstable();
                }
                if order["direction"] == "DESC" {
                    ids.reverse();
                }
                let items = ids
                    .into_iter()
                    .map(|(_, id)| Val::Thing(Thing::Comment(repo, id)))
                    .collect();
                connection("comments", names!("IssueComment"), items, args)?
            }
            "userContentEdits" => edits(repo, &thread.edits, args)?,
            "reactions" => reactions(repo, &thread.reactions, args)?,
            "timelineItems" => self.timeline(repo, repository, thread, is_pull, args)?,
            _ => {
                let pull = repository
                    .pulls
                    .get(&number)
                    .ok_or_else(|| gone("PullRequest"))?;
                self.pull_field(repo, repository, pull, field, args)?
            }
        })
    }

    fn timeline(
        &self,
        repo: RepoId,
        repository: &Repository,
        thread: &Thread,
        is_pull: bool,
        args: &Args,
    ) -> Resolved {
        let kinds = args.words("itemTypes");
        let since: Option<Timestamp> = args.text("since").and_then(|text| text.parse().ok());
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
                Happening::Commented(id) => Some(Thing::Comment(repo, *id)),
                Happening::Reviewed(id) => {
                    let pull = repository.pulls.get(&thread.number)?;
                    let review = pull.reviews.iter().find(|review| review.id == *id)?;
                    Some(Thing::Review(repo, thread.number, review.clone()))
                }
                Happening::Committed(oid) => Some(Thing::PullCommit(repo, thread.number, *oid)),
                _ => Some(Thing::Event(repo, thread.number, event.clone())),
            })
            .map(Val::Thing)
            .collect();
        let names = if is_pull {
            names!("PullRequestTimelineItems")
        } else {
            names!("IssueTimelineItems")
        };
        let mut page = connection("timelineItems", names, items, args)?;
        if let Val::Thing(Thing::Made(_, fields)) = &mut page {
            fields.insert("updatedAt", stamp(thread.updated_at).into());
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
        let repository = self.repository(repo)?;
        let pull = repository
            .pulls
            .get(&number)
            .ok_or_else(|| gone("PullRequest"))?;
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
            Val::thing(
                repository
                    .refs
                    .contains_key(&full)
                    .then_some(Thing::Ref(repo, full)),
            )
        };
        Ok(match field {
            "isDraft" => pull.draft.into(),
            "merged" => pull.merged.is_some().into(),
            "mergedAt" => optional(pull.merged.as_ref().map(|merge| stamp(merge.at))),
            "mergedBy" => Val::thing(pull.merged.as_ref().map(|merge| Thing::Account(merge.by))),
            "mergeCommit" => Val::thing(
                pull.merged
                    .as_ref()
                    .map(|merge| Thing::Object(repo, merge.commit)),
            ),
            "headRefName" => pull.head.branch.as_str().into(),
            "headRefOid" => pull.head.oid.to_string().into(),
            "headRef" => branch(&pull.head.branch),
            "statusCheckRollup" => {
                let known = crate::github::rest::rollup(repository, pull.head.oid).is_some();
                Val::thing(known.then_some(Thing::Rollup(repo, pull.head.oid)))
            }
            "baseRefName" => pull.base.branch.as_str().into(),
            "baseRefOid" => {
                let now = repository.branch(&pull.base.branch);
                let moved = now.filter(|_| self.knobs.base_oid_follows);
                let base = moved.unwrap_or(pull.base.oid);
                self.knobs.acts("base-oid-follows", base != pull.base.oid);
                base.to_string().into()
            }
            "baseRef" => branch(&pull.base.branch),
            "headRepository" | "baseRepository" => Val::Thing(Thing::Repository(repo)),
            "headRepositoryOwner" => Val::Thing(Thing::Account(repository.owner)),
            "isCrossRepository" | "maintainerCanModify" | "isInMergeQueue" => false.into(),
            "reviewDecision" => optional(review_decision(pull).map(str::to_owned)),
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
        let review = |review: &Review| Val::Thing(Thing::Review(repo, number, review.clone()));
        Ok(match field {
            "reviews" => {
                let states = args.words("states");
                let author = args.text("author");
                let items = pull
                    .reviews
                    .iter()
                    .filter(|one| {
                        states
                            .as_ref()
                            .is_none_or(|states| states.contains(&review_state(one)))
                    })
                    .filter(|one| {
                        author.is_none_or(|login| {
                            self.model.login(one.author).eq_ignore_ascii_case(login)
                        })
                    })
                    .map(review)
                    .collect();
                connection("reviews", names!("PullRequestReview"), items, args)?
            }
            "latestReviews" | "latestOpinionatedReviews" => {
                let mut latest: Vec<&Review> = Vec::new();
                for one in &pull.reviews {
                    if field == "latestOpinionatedReviews" && one.verdict == Verdict::Comment {
                        continue;
                    }
                    let writes = self.model.role(repo, one.author) >= Role::Write;
                    if args.get("writersOnly").as_bool() == Some(true) && !writes {
                        continue;
                    }
                    latest.retain(|other| other.author != one.author);
                    latest.push(one);
                }
                connection(
                    field,
                    names!("PullRequestReview"),
                    latest.into_iter().map(review).collect(),
                    args,
                )?
            }
            "reviewThreads" => self.review_threads(repo, pull, args)?,
            "reviewRequests" => {
                let items = pull
                    .requested_reviewers
                    .iter()
                    .map(|id| Val::Thing(Thing::ReviewRequest(repo, *id)))
                    .collect();
                connection("reviewRequests", names!("ReviewRequest"), items, args)?
            }
            "files" => {
                let files = self.model.pull_files(repository, pull);
                let items = files
                    .into_iter()
                    .map(|file| Val::Thing(Thing::File(repo, file)))
                    .collect();
                connection("files", names!("PullRequestChangedFile"), items, args)?
            }
            "commits" => {
                let commits = self.model.pull_commits(repository, pull);
                let items = commits
                    .into_iter()
                    .map(|oid| Val::Thing(Thing::PullCommit(repo, number, oid)))
                    .collect();
                connection("commits", names!("PullRequestCommit"), items, args)?
            }
            "additions" => self.model.pull_figures(repository, pull).0.into(),
            "deletions" => self.model.pull_figures(repository, pull).1.into(),
            "changedFiles" => self.model.pull_figures(repository, pull).2.into(),
            "autoMergeRequest" => match &pull.auto_merge {
                None => Val::NULL,
                Some(method) => Val::Thing(Thing::Made(
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
        let repository = self.repository(repo)?;
        let comment = repository
            .comments
            .get(&id)
            .ok_or_else(|| gone("IssueComment"))?;
        let on_pull = repository.pulls.contains_key(&comment.number);
        let kind = if on_pull { "pull" } else { "issues" };
        Ok(match field {
            "id" => node::encode("IC", repo, id).into(),
            "databaseId" => (id % 2_147_483_647).into(),
            "fullDatabaseId" => id.to_string().into(),
            "body" | "bodyText" => comment.body.as_str().into(),
            "author" => Val::Thing(Thing::Account(comment.author)),
            "authorAssociation" => self.model.association(repository, comment.author).into(),
            "createdAt" | "publishedAt" => stamp(comment.created_at).into(),
            "updatedAt" => stamp(comment.updated_at).into(),
            "lastEditedAt" => optional(comment.edits.last().map(|edit| stamp(edit.at))),
            "editor" => Val::thing(comment.edits.last().map(|edit| Thing::Account(edit.editor))),
            "includesCreatedEdit" => (!comment.edits.is_empty()).into(),
            "isMinimized" => false.into(),
            "viewerDidAuthor" => (comment.author == self.identity.account).into(),
            "url" => self
                .model
                .web_url(
                    repo,
                    &format!("/{kind}/{}#issuecomment-{id}", comment.number),
                )
                .into(),
            "reactions" => reactions(repo, &comment.reactions, args)?,
            "userContentEdits" => edits(repo, &comment.edits, args)?,
            "repository" => Val::Thing(Thing::Repository(repo)),
            "pullRequest" => Val::thing(on_pull.then_some(Thing::Pull(repo, comment.number))),
            "issue" if on_pull => Val::Thing(Thing::Pull(repo, comment.number)),
            "issue" => Val::Thing(Thing::Issue(repo, comment.number)),
            other => {
                return Err(Fault::new(
                    "INTERNAL",
                    format!("The model does not serve IssueComment.{other}"),
                ));
            }
        })
    }

    pub(super) fn label_field(&self, repo: RepoId, name: &str, field: &str) -> Resolved {
        let repository = self.repository(repo)?;
        let label = repository.labels.get(name).ok_or_else(|| gone("Label"))?;
        Ok(match field {
            "id" => node::encode("LA", repo, label.id).into(),
            "name" => label.name.as_str().into(),
            "color" => label.color.as_str().into(),
            "description" => optional(label.description.clone()),
            "isDefault" => false.into(),
            "url" => self
                .model
                .web_url(repo, &format!("/labels/{}", label.name))
                .into(),
            _ => stamp(label.created_at).into(),
        })
    }

    pub(super) fn review_field(
        &self,
        repo: RepoId,
        number: u64,
        review: &Review,
        field: &str,
    ) -> Resolved {
        let repository = self.repository(repo)?;
        Ok(match field {
            "id" => node::encode("PRR", repo, review.id).into(),
            "databaseId" => (review.id % 2_147_483_647).into(),
            "fullDatabaseId" => review.id.to_string().into(),
            "author" => Val::Thing(Thing::Account(review.author)),
            "authorAssociation" => self.model.association(repository, review.author).into(),
            "state" => review_state(review).into(),
            "body" => review.body.as_str().into(),
            "createdAt" | "submittedAt" => stamp(review.at).into(),
            "commit" => Val::Thing(Thing::Object(repo, review.commit)),
            _ => self
                .model
                .web_url(
                    repo,
                    &format!("/pull/{number}#pullrequestreview-{}", review.id),
                )
                .into(),
        })
    }

    pub(super) fn event_field(
        &self,
        repo: RepoId,
        number: u64,
        event: &TimelineEvent,
        field: &str,
    ) -> Resolved {
        let repository = self.repository(repo)?;
        let prefix = match &event.what {
            Happening::Labeled(_) => "LE",
            Happening::Unlabeled(_) => "UNLE",
            Happening::Renamed { .. } => "RTE",
            Happening::Closed => "CE",
            Happening::Reopened => "REE",
            Happening::Merged(_) => "ME",
            Happening::ForcePushed(..) => "HRFPE",
            Happening::ReadyForReview => "RFRE",
            Happening::ConvertedToDraft => "CTDE",
            Happening::ReviewRequested(_) => "RRE",
            _ => "EV",
        };
        Ok(match (field, &event.what) {
            ("id", _) => node::encode(prefix, repo, event.id).into(),
            ("databaseId", _) => (event.id % 2_147_483_647).into(),
            ("actor", _) => Val::Thing(Thing::Account(event.actor)),
            ("createdAt", _) => stamp(event.at).into(),
            ("label", Happening::Labeled(label) | Happening::Unlabeled(label)) => {
                let key = label.name.to_lowercase();
                if repository.labels.contains_key(&key) {
                    Val::Thing(Thing::Label(repo, key))
                } else {
                    // The label is deleted; the event still holds its data.
                    let fields = [
                        ("id", Val::from(node::encode("LA", repo, label.id))),
                        ("name", Val::from(label.name.as_str())),
                        ("color", Val::from(label.color.as_str())),
                        ("isDefault", Val::from(false)),
                        ("url", Val::from(self.model.web_url(repo, "/labels"))),
                    ];
                    Val::Thing(Thing::Made("Label", fields.into()))
                }
            }
            ("previousTitle", Happening::Renamed { from, .. }) => from.as_str().into(),
            ("currentTitle", Happening::Renamed { to, .. }) => to.as_str().into(),
            ("stateReason", _) => {
                let reason = repository
                    .thread(number)
                    .and_then(|thread| thread.state_reason.as_ref());
                optional(reason.map(|reason| reason.to_uppercase()))
            }
            ("commit", Happening::Merged(oid)) => Val::Thing(Thing::Object(repo, *oid)),
            ("beforeCommit", Happening::ForcePushed(oid, _))
            | ("afterCommit", Happening::ForcePushed(_, oid)) => {
                Val::Thing(Thing::Object(repo, *oid))
            }
            ("mergeRefName" | "currentRefName" | "previousRefName", _) => repository
                .pulls
                .get(&number)
                .map_or("", |pull| &pull.base.branch)
                .into(),
            ("requestedReviewer", Happening::ReviewRequested(account)) => {
                Val::Thing(Thing::Account(*account))
            }
            ("url", _) => self
                .model
                .web_url(repo, &format!("/issues/{number}#event-{}", event.id))
                .into(),
            _ => Val::NULL,
        })
    }
}

fn word(state: State) -> &'static str {
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
        word(pull.state)
    }
}

fn review_state(review: &Review) -> &'static str {
    if review.dismissed {
        "DISMISSED"
    } else {
        review.verdict.state()
    }
}

/// The review decision that follows from each reviewer's latest review.
fn review_decision(pull: &Pull) -> Option<&'static str> {
    let mut latest: Vec<&Review> = Vec::new();
    for review in pull
        .reviews
        .iter()
        .filter(|review| review.verdict != Verdict::Comment && !review.dismissed)
    {
        latest.retain(|other| other.author != review.author);
        latest.push(review);
    }
    if latest
        .iter()
        .any(|review| review.verdict == Verdict::RequestChanges)
    {
        Some("CHANGES_REQUESTED")
    } else if latest
        .iter()
        .any(|review| review.verdict == Verdict::Approve)
    {
        Some("APPROVED")
    } else {
        (!pull.requested_reviewers.is_empty()).then_some("REVIEW_REQUIRED")
    }
}

fn sort<T>(found: &mut [T], args: &Args, thread: impl Fn(&T) -> &Thread) {
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

fn edits(repo: RepoId, edits: &[Edit], args: &Args) -> Resolved {
    // Newest first, as GitHub lists them.
    let items = edits
        .iter()
        .rev()
        .map(|edit| Val::Thing(Thing::Edit(repo, edit.clone())))
        .collect();
    connection("userContentEdits", names!("UserContentEdit"), items, args)
}

fn reactions(repo: RepoId, all: &[Reaction], args: &Args) -> Resolved {
    let content = args.text("content");
    let items = all
        .iter()
        .filter(|reaction| {
            content.is_none_or(|content| reaction_word(&reaction.content) == content)
        })
        .map(|reaction| Val::Thing(Thing::Reaction(repo, reaction.clone())))
        .collect();
    connection("reactions", names!("Reaction"), items, args)
}

/// The value of `itemTypes` that selects an event.
fn item_type(what: &Happening) -> &'static str {
    match what {
        Happening::Labeled(_) => "LABELED_EVENT",
        Happening::Unlabeled(_) => "UNLABELED_EVENT",
        Happening::Renamed { .. } => "RENAMED_TITLE_EVENT",
        Happening::Closed => "CLOSED_EVENT",
        Happening::Reopened => "REOPENED_EVENT",
        Happening::Merged(_) => "MERGED_EVENT",
        Happening::Commented(_) => "ISSUE_COMMENT",
        Happening::Reviewed(_) => "PULL_REQUEST_REVIEW",
        Happening::Committed(_) => "PULL_REQUEST_COMMIT",
        Happening::ForcePushed(..) => "HEAD_REF_FORCE_PUSHED_EVENT",
        Happening::ReadyForReview => "READY_FOR_REVIEW_EVENT",
        Happening::ConvertedToDraft => "CONVERT_TO_DRAFT_EVENT",
        Happening::BaseChanged => "BASE_REF_CHANGED_EVENT",
        Happening::ReviewRequested(_) => "REVIEW_REQUESTED_EVENT",
    }
}
