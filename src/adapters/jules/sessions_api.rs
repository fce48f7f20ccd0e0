//! The sessions API of an account, with every text, for the MCP tools and commands that use Jules directly.

use std::collections::BTreeSet;

use async_trait::async_trait;
use phileas_domain::engine::CreateFailure;
use phileas_domain::jobs::AccountSession;
use phileas_domain::model::RepositoryName;

use super::client::Client;
use super::error::{ApiError, not_found_as_none, unusable_id_failure};
use super::query::{MAX_PAGE_SIZE, PageQuery, PageSize};
use super::translate;
use super::wire::{self, NewSession};
use crate::runtime::ports::Failure;
use crate::runtime::ports::sessions_api::{
    JobActivity, JobPage, JobSource, NewJob, SessionsApi, SourcePage,
};

/// The filter that shows archived sessions, and only those.
const ARCHIVED: &str = "archived = true";

impl Client {
    async fn list_page(&self, page: Option<&str>, archived: bool) -> Result<JobPage, ApiError> {
        let mut size = PageSize::default();
        loop {
            let query = PageQuery {
                filter: archived.then_some(ARCHIVED),
                page_size: Some(size.get()),
                page_token: page,
            };
            match self.list_sessions(query).await {
                Err(error) if size.shrink_on(&error) => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    let sessions = read.sessions.into_iter();
                    let mut jobs: Vec<AccountSession> =
                        sessions.filter_map(translate::account_session).collect();
                    jobs.iter_mut().for_each(|job| job.archived |= archived);
                    return Ok(JobPage {
                        jobs,
                        next: non_empty(read.next_page_token),
                        is_of_one_list: true,
                    });
                }
            }
        }
    }

    async fn all_activities(&self, id: &str) -> Result<Vec<JobActivity>, ApiError> {
        let mut seen = BTreeSet::new();
        let mut activities: Vec<JobActivity> = Vec::new();
        self.each_activity(id, None, |activity| {
            let activity = job_activity(&activity);
            if seen.insert(activity.id.clone()) {
                activities.push(activity);
            }
        })
        .await?;
        // Jules promises no order; an activity without a time stays beside its neighbour.
        let mut last = None;
        for activity in &mut activities {
            activity.at = activity.at.or(last);
            last = activity.at;
        }
        activities.sort_by_key(|activity| activity.at);
        Ok(activities)
    }
}

#[async_trait]
impl SessionsApi for Client {
    async fn create_job(&self, new: NewJob) -> Result<AccountSession, CreateFailure> {
        let session = NewSession {
            prompt: new.prompt,
            title: new.title,
            source: new
                .source
                .as_ref()
                .map(|(repository, branch)| (translate::source_name(repository), branch.clone())),
            open_pull: new.open_pull,
            require_plan_approval: new.require_plan_approval,
            environment_variables: false,
        };
        let created = self.create_session(&session, None).await;
        let now = self.recent.estimated_now(self.stopwatch.elapsed());
        let created = created.map_err(|error| error.create_failure(now))?;
        let mut job = translate::account_session(created).ok_or_else(unusable_id_failure)?;
        if let Some((repository, branch)) = new.source {
            job.repository.get_or_insert(repository);
            job.branch.get_or_insert(branch);
        }
        Ok(job)
    }

    async fn read_job(&self, id: &str) -> Result<Option<AccountSession>, Failure> {
        let read = not_found_as_none(self.get_session(id).await)?;
        Ok(read.and_then(translate::account_session))
    }

    async fn list_jobs(
        &self,
        _account_of: Option<&RepositoryName>,
        page: Option<&str>,
        archived: bool,
    ) -> Result<JobPage, Failure> {
        Ok(self.list_page(page, archived).await?)
    }

    async fn read_job_activities(&self, id: &str) -> Result<Option<Vec<JobActivity>>, Failure> {
        Ok(not_found_as_none(self.all_activities(id).await)?)
    }

    async fn send_message(&self, id: &str, text: &str) -> Result<(), Failure> {
        Ok(self.send_message(id, text).await?)
    }

    async fn approve_job_plan(&self, id: &str) -> Result<(), Failure> {
        self.approve_plan(id).await?;
        Ok(())
    }

    async fn archive_job(&self, id: &str) -> Result<(), Failure> {
        self.archive_session(id).await?;
        Ok(())
    }

    async fn list_sources(
        &self,
        _account_of: Option<&RepositoryName>,
        page: Option<&str>,
    ) -> Result<SourcePage, Failure> {
        let query = PageQuery {
            filter: None,
            page_size: Some(MAX_PAGE_SIZE),
            page_token: page,
        };
        let read = self.list_sources(query).await?;
        Ok(SourcePage {
            sources: read.sources.iter().filter_map(source_from).collect(),
            next: non_empty(read.next_page_token),
        })
    }
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn job_activity(activity: &wire::Activity) -> JobActivity {
    JobActivity {
        id: translate::activity_id(activity),
        at: activity.create_time.parse().ok(),
        kind: translate::activity_kind(&activity.kind),
        changes: activity
            .change_set()
            .cloned()
            .and_then(translate::changes_of),
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
