//! The sessions API of an account, with every text, for the MCP tools and commands that use Jules directly.

use std::collections::BTreeSet;
use std::sync::Arc;

use phileas_domain::engine::CreateFailure;

use super::activities::MAX_PAGES;
use super::client::Client;
use super::error::{ApiError, Cause};
use super::query::{MAX_PAGE_SIZE, PageQuery, PageSize};
use super::wire::{self, Kind, NewSession, Output};
use super::{routes, translate};
use crate::runtime::ports::Failure;
use crate::runtime::ports::sessions_api::{
    BoxedAnswer, Changes, Job, JobActivity, JobActivityKind, JobPage, JobPull, JobSource, NewJob,
    SessionsApi, SourcePage,
};

/// The filter that shows archived sessions, and only those.
const ARCHIVED: &str = "archived = true";

/// An account: the client of one key.
#[derive(Debug, Clone)]
pub struct JulesSessions(Arc<Client>);

impl JulesSessions {
    /// The account of a client's key.
    #[must_use]
    pub fn new(client: Arc<Client>) -> Self {
        Self(client)
    }

    async fn list_page(&self, page: Option<&str>, archived: bool) -> Result<JobPage, ApiError> {
        let mut size = PageSize::default();
        loop {
            let query = PageQuery {
                filter: archived.then_some(ARCHIVED),
                page_size: Some(size.get()),
                page_token: page,
            };
            match self.0.list_sessions(query).await {
                Err(error) if size.shrink_on(&error) => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    let mut jobs: Vec<Job> = read.sessions.iter().map(job).collect();
                    jobs.iter_mut().for_each(|job| job.archived |= archived);
                    return Ok(JobPage {
                        jobs,
                        next: non_empty(read.next_page_token),
                    });
                }
            }
        }
    }

    async fn all_happenings(&self, id: &str) -> Result<Vec<JobActivity>, ApiError> {
        let mut seen = BTreeSet::new();
        let mut happenings: Vec<JobActivity> = Vec::new();
        let mut token = String::new();
        let mut size = PageSize::default();
        for _ in 0..MAX_PAGES {
            let query = PageQuery {
                filter: None,
                page_size: Some(size.get()),
                page_token: (!token.is_empty()).then_some(&token),
            };
            let page = match self.0.list_activities(id, query).await {
                Err(error) if size.shrink_on(&error) => continue,
                page => page?,
            };
            size.grow_back();
            for activity in &page.activities {
                let happening = activity_from(activity);
                if seen.insert(happening.id.clone()) {
                    happenings.push(happening);
                }
            }
            token = page.next_page_token;
            if token.is_empty() {
                // Jules promises no order; an activity without a time stays beside its neighbour.
                let mut last = None;
                for happening in &mut happenings {
                    happening.at = happening.at.or(last);
                    last = happening.at;
                }
                happenings.sort_by_key(|happening| happening.at);
                return Ok(happenings);
            }
        }
        Err(ApiError {
            route: routes::LIST_ACTIVITIES,
            cause: Cause::TooManyPages { pages: MAX_PAGES },
        })
    }
}

impl SessionsApi for JulesSessions {
    fn create(&self, new: NewJob) -> BoxedAnswer<'_, Result<Job, CreateFailure>> {
        Box::pin(async move {
            let (repository, branch) = new.source;
            let session = NewSession {
                prompt: new.prompt,
                title: new.title,
                source: Some((translate::source_name(&repository), branch.clone())),
                open_pull: new.open_pull,
                require_plan_approval: new.require_plan_approval,
                environment_variables: false,
            };
            let created = self.0.create_session(&session, None).await;
            let now = self.0.recent.estimated_now(self.0.stopwatch.elapsed());
            let mut job = job(&created.map_err(|error| error.create_failure(now))?);
            job.repository.get_or_insert(repository);
            job.branch.get_or_insert(branch);
            Ok(job)
        })
    }

    fn job<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<Option<Job>, Failure>> {
        Box::pin(async move {
            not_found_as_none(self.0.get_session(id).await.map(|session| job(&session)))
        })
    }

    fn jobs<'a>(
        &'a self,
        page: Option<&'a str>,
        archived: bool,
    ) -> BoxedAnswer<'a, Result<JobPage, Failure>> {
        Box::pin(async move { Ok(self.list_page(page, archived).await?) })
    }

    fn activities<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxedAnswer<'a, Result<Option<Vec<JobActivity>>, Failure>> {
        Box::pin(async move { not_found_as_none(self.all_happenings(id).await) })
    }

    fn send_message<'a>(
        &'a self,
        id: &'a str,
        text: &'a str,
    ) -> BoxedAnswer<'a, Result<(), Failure>> {
        Box::pin(async move { Ok(self.0.send_message(id, text).await?) })
    }

    fn approve<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>> {
        Box::pin(async move {
            self.0.approve_plan(id).await?;
            Ok(())
        })
    }

    fn archive<'a>(&'a self, id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>> {
        Box::pin(async move {
            self.0.archive_session(id).await?;
            Ok(())
        })
    }

    fn sources<'a>(
        &'a self,
        page: Option<&'a str>,
    ) -> BoxedAnswer<'a, Result<SourcePage, Failure>> {
        Box::pin(async move {
            let query = PageQuery {
                filter: None,
                page_size: Some(MAX_PAGE_SIZE),
                page_token: page,
            };
            let read = self.0.list_sources(query).await?;
            Ok(SourcePage {
                sources: read.sources.iter().filter_map(source_from).collect(),
                next: non_empty(read.next_page_token),
            })
        })
    }
}

/// Turns a 404 into `None`.
fn not_found_as_none<T>(answer: Result<T, ApiError>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(not_found_as_none) => Ok(Some(not_found_as_none)),
        Err(error) if error.is_status(404) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn job(session: &wire::Session) -> Job {
    let context = session.source_context.as_ref();
    let mut pulls: Vec<JobPull> = Vec::new();
    let mut changes = None;
    for output in &session.outputs {
        match output {
            Output::PullRequest(pull) if pulls.iter().all(|known| known.url != pull.url) => {
                pulls.push(JobPull {
                    url: pull.url.clone(),
                    title: pull.title.clone(),
                    named: translate::pull_named(&pull.url).map(|(name, number)| (name, number.0)),
                });
            }
            Output::ChangeSet(set) => changes = changes_of(set).or(changes),
            Output::PullRequest(_) | Output::Unknown(_) => {}
        }
    }
    Job {
        id: session.session_id().to_owned(),
        title: session.title.clone(),
        prompt: session.prompt.clone(),
        repository: context.and_then(|context| translate::repository_of(&context.source)),
        branch: context
            .and_then(|context| non_empty(context.github_repo_context.starting_branch.clone())),
        state: translate::session_state(&session.state),
        created_at: translate::created_at(session),
        updated_at: session.update_time.parse().ok(),
        url: session.url.clone(),
        archived: session.archived,
        pulls,
        changes,
    }
}

fn changes_of(set: &wire::ChangeSet) -> Option<Changes> {
    set.has_changes().then(|| Changes {
        patch: set.git_patch.unidiff_patch.clone(),
        base: set.git_patch.base_commit_id.clone(),
        message: set.git_patch.suggested_commit_message.clone(),
    })
}

fn activity_from(activity: &wire::Activity) -> JobActivity {
    let what = match &activity.kind {
        Kind::AgentMessaged(text) => JobActivityKind::JulesSaid(text.clone()),
        Kind::UserMessaged(text) => JobActivityKind::PersonSaid(text.clone()),
        Kind::PlanGenerated(plan) => {
            let mut steps: Vec<_> = plan.steps.iter().collect();
            steps.sort_by_key(|step| step.index);
            JobActivityKind::Planned {
                plan: plan.id.clone(),
                steps: steps
                    .into_iter()
                    .map(|step| (step.title.clone(), step.description.clone()))
                    .collect(),
            }
        }
        Kind::PlanApproved(plan) => JobActivityKind::Approved(plan.clone()),
        Kind::ProgressUpdated { title, description } => JobActivityKind::Progress(
            [title, description]
                .into_iter()
                .filter(|text| !text.is_empty())
                .cloned()
                .collect::<Vec<_>>()
                .join(": "),
        ),
        Kind::SessionCompleted => JobActivityKind::Completed,
        Kind::SessionFailed(reason) => JobActivityKind::Failed(reason.clone()),
        Kind::Unknown(name, _) => JobActivityKind::Other(name.clone()),
        Kind::Missing => JobActivityKind::Other(String::new()),
    };
    JobActivity {
        id: match activity.activity_id() {
            "" => format!("at-{}", activity.create_time),
            id => id.to_owned(),
        },
        at: activity.create_time.parse().ok(),
        what,
        changes: activity.change_set().and_then(changes_of),
    }
}

fn source_from(source: &wire::Source) -> Option<JobSource> {
    let repo = source.github_repo.as_ref();
    let named = repo.and_then(|repo| format!("{}/{}", repo.owner, repo.repo).parse().ok());
    Some(JobSource {
        repository: named.or_else(|| translate::repository_of(&source.name))?,
        private: repo.is_some_and(|repo| repo.is_private),
        default_branch: repo
            .and_then(|repo| repo.default_branch.as_ref())
            .map(|branch| branch.display_name.clone()),
        branches: repo
            .map(|repo| {
                repo.branches
                    .iter()
                    .map(|branch| branch.display_name.clone())
                    .collect()
            })
            .unwrap_or_default(),
    })
}
