//! Implements the runtime's port: Jules for one repository and one key.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{
    Activity, CreateFailure, CreateSession, ListingNeed, Repository, Session, Sessions,
};
use phileas_domain::model::{RepositoryName, SessionId};

use super::client::Client;
use super::error::not_found_as_none;
use super::recent::lock_mutex;
use super::translate;
use super::wire::NewSession;
use crate::runtime::ports::{Failure, Patch, ReadJules, WriteJules};

/// One repository's view of Jules. The client behind it is shared by all repositories of its key.
#[derive(Debug)]
pub struct RepositoryJules {
    client: Arc<Client>,
    repository: Mutex<translate::Repository>,
    /// The source's name as Jules last spelled it; its case may differ from GitHub's.
    source: Mutex<Option<String>>,
    /// When an event of the repository last arrived, by the client's stopwatch.
    last_event: Option<Duration>,
}

impl RepositoryJules {
    /// The view of a repository, by its configured name. Listings update it with GitHub's name.
    #[must_use]
    pub fn new(client: Arc<Client>, repository: RepositoryName) -> Self {
        Self {
            client,
            repository: Mutex::new(translate::Repository {
                id: None,
                name: repository.clone(),
                typed: repository,
            }),
            source: Mutex::new(None),
            last_event: None,
        }
    }

    /// Notes that an event of the repository arrived this long ago. An older shared listing is read again, within the
    /// key's budget of listings.
    #[must_use]
    pub fn heard_since(mut self, ago: Duration) -> Self {
        self.last_event = Some(self.client.stopwatch.elapsed().saturating_sub(ago));
        self
    }

    /// Notes a write, because earlier listings may not show it.
    fn note_write(&self) {
        if let Some(cache) = &self.client.listing_cache {
            cache.record_write(&self.repository().name, self.client.stopwatch.elapsed());
        }
    }

    fn now(&self) -> Option<Timestamp> {
        self.client
            .recent
            .estimated_now(self.client.stopwatch.elapsed())
    }

    fn repository(&self) -> translate::Repository {
        lock_mutex(&self.repository).clone()
    }

    fn new_session(&self, create: &CreateSession) -> NewSession {
        let known = lock_mutex(&self.source).clone();
        let source = known
            .filter(|known| translate::repository_of(known).as_ref() == Some(&create.source))
            .unwrap_or_else(|| translate::source_name(&create.source));
        NewSession {
            prompt: create.prompt.clone(),
            title: Some(create.title.clone()),
            source: Some((source, create.branch.to_string())),
            open_pull: create.open_pull,
            require_plan_approval: create.require_plan_approval,
            environment_variables: create.environment_variables,
        }
    }
}

impl ReadJules for RepositoryJules {
    async fn list_sessions(
        &self,
        repository: &Repository,
        need: &ListingNeed,
        now: Timestamp,
    ) -> Result<Sessions, Failure> {
        let known = {
            let mut known = lock_mutex(&self.repository);
            known.id = Some(repository.id);
            known.name = repository.name.clone();
            known.clone()
        };
        self.client
            .recent
            .note_time(now, self.client.stopwatch.elapsed());
        let listed = self
            .client
            .sessions_of(&known, need, now, self.last_event)
            .await?;
        if listed.source.is_some() {
            *lock_mutex(&self.source) = listed.source;
        }
        Ok(listed.sessions)
    }

    async fn read_session(&self, id: &SessionId) -> Result<Option<Session>, Failure> {
        let session = not_found_as_none(self.client.get_session(id.as_str()).await)?;
        let fallback = self.now().unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(
            session
                .map(|session| translate::domain_session(&session, &self.repository(), fallback)),
        )
    }

    async fn read_patch(&self, id: &SessionId) -> Result<Option<Patch>, Failure> {
        Ok(not_found_as_none(self.client.read_patch(id.as_str()).await)?.flatten())
    }

    async fn read_activities(&self, id: &SessionId) -> Result<Option<Vec<Activity>>, Failure> {
        Ok(self.client.read_activities(id.as_str()).await?)
    }
}

impl WriteJules for RepositoryJules {
    async fn create_session(&self, create: &CreateSession) -> Result<Session, CreateFailure> {
        let new = self.new_session(create);
        self.note_write();
        let created = self
            .client
            .create_session(&new, Some(create.not_after))
            .await;
        let session = created.map_err(|error| error.create_failure(self.now()))?;
        let fallback = self.now().unwrap_or(create.not_after);
        let mut session = translate::domain_session(&session, &self.repository(), fallback);
        session.source.get_or_insert_with(|| create.source.clone());
        Ok(session)
    }

    async fn send_message(&self, id: &SessionId, text: &str) -> Result<(), Failure> {
        self.note_write();
        Ok(self.client.send_message(id.as_str(), text).await?)
    }

    async fn approve_plan(&self, id: &SessionId) -> Result<(), Failure> {
        self.note_write();
        self.client.approve_plan(id.as_str()).await?;
        Ok(())
    }

    async fn archive_session(&self, id: &SessionId) -> Result<(), Failure> {
        self.note_write();
        self.client.archive_session(id.as_str()).await?;
        Ok(())
    }
}
