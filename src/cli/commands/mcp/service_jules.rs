//! Jules for the tools of a service: every key of its repositories, each for its own jobs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use phileas_domain::engine::CreateFailure;
use phileas_domain::jobs::AccountSession;

use crate::runtime::ports::sessions_api::{JobActivity, JobPage, NewJob, SessionsApi, SourcePage};
use crate::runtime::ports::{Disposition, Failure};
use crate::server::accounts::keys::KeyClient;
use crate::server::repositories::Repositories;

/// How many jobs are cached with their keys. For other jobs each key is asked in turn.
const MAX_KNOWN: usize = 10_000;

/// The account of one key.
type Account = Arc<dyn SessionsApi>;

/// All keys of a service, as its ticks use them.
pub(super) struct ServiceJules {
    repositories: Arc<Repositories>,
    /// The number of the key for each job.
    known: Mutex<BTreeMap<String, u64>>,
}

impl ServiceJules {
    pub(super) fn new(repositories: Arc<Repositories>) -> Self {
        Self {
            repositories,
            known: Mutex::default(),
        }
    }

    /// Each key once, by its number.
    fn distinct_keys(&self) -> Result<BTreeMap<u64, KeyClient>, Failure> {
        let keys = self.repositories.jules_keys();
        if keys.is_empty() {
            return Err(Failure {
                disposition: Disposition::Denied,
                detail: "no repository of this service has a Jules key yet".to_owned(),
            });
        }
        Ok(keys)
    }

    fn remember_key(&self, job: &str, key: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            // The smallest ids are not the oldest; any choice is fine.
            known.pop_first();
        }
        known.insert(job.to_owned(), key);
    }

    fn remembered_key(&self, job: &str) -> Option<u64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(job).copied()
    }

    /// The job and its account. `None`: no key knows it. A failed key is reported only if no other key knows the job.
    async fn find_job(&self, id: &str) -> Result<Option<(AccountSession, Account)>, Failure> {
        let keys = self.distinct_keys()?;
        let first = self.remembered_key(id).and_then(|number| {
            let key = keys.get(&number)?;
            Some((number, key.clone()))
        });
        let others = keys
            .iter()
            .filter(|(number, _)| first.as_ref().map(|(first, _)| first) != Some(number))
            .map(|(number, key)| (*number, key.clone()));
        let mut failed = None;
        for (number, key) in first.clone().into_iter().chain(others) {
            let account: Account = key.client;
            match account.read_job(id).await {
                Ok(Some(job)) => {
                    self.remember_key(id, number);
                    return Ok(Some((job, account)));
                }
                Ok(None) => {}
                Err(failure) => failed = Some(failure),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// The account of a job.
    async fn account_of_job(&self, id: &str) -> Result<Account, Failure> {
        let found = self.find_job(id).await?;
        found.map(|(_, account)| account).ok_or_else(|| Failure {
            disposition: Disposition::NotFound,
            detail: format!("no Jules key of this service knows job {id}"),
        })
    }

    /// Parses the name of a page in a listing over all keys. A page of the key at `place` is named `<place> <its own
    /// name>`.
    fn parse_page<'p>(&self, page: Option<&'p str>) -> Result<KeyPage<'p>, Failure> {
        let keys: Vec<KeyClient> = self.distinct_keys()?.into_values().collect();
        let (at, token) = match page.and_then(|page| page.split_once(' ')) {
            Some((at, token)) => (at.parse().unwrap_or(keys.len()), token),
            None => (0, ""),
        };
        let key = keys.get(at).ok_or_else(|| Failure {
            disposition: Disposition::Refused,
            detail:
                "the keys of this service have changed meanwhile; list from the first page again"
                    .to_owned(),
        })?;
        Ok(KeyPage {
            at,
            is_last: at + 1 == keys.len(),
            account: Arc::clone(&key.client) as Account,
            token: Some(token).filter(|token| !token.is_empty()),
        })
    }
}

/// One page of one key.
struct KeyPage<'p> {
    at: usize,
    is_last: bool,
    account: Account,
    token: Option<&'p str>,
}

impl KeyPage<'_> {
    /// The name of the page after this one.
    fn next_page_name(&self, next: Option<String>) -> Option<String> {
        match next {
            Some(next) => Some(format!("{} {next}", self.at)),
            None => (!self.is_last).then(|| format!("{} ", self.at + 1)),
        }
    }
}

#[async_trait]
impl SessionsApi for ServiceJules {
    async fn create_job(&self, new: NewJob) -> Result<AccountSession, CreateFailure> {
        let (repository, _) = new.source.as_ref().ok_or_else(|| CreateFailure::Refused {
            detail: "a service creates no job without a repository; name one".to_owned(),
        })?;
        let key = self.repositories.key_of(repository);
        let key = key.map_err(|no_key| CreateFailure::Credential {
            detail: no_key.to_string(),
        })?;
        let number = key.number;
        let job = key.client.create_job(new).await?;
        self.remember_key(job.id.as_str(), number);
        Ok(job)
    }

    async fn read_job(&self, id: &str) -> Result<Option<AccountSession>, Failure> {
        Ok(self.find_job(id).await?.map(|(job, _)| job))
    }

    async fn list_jobs(&self, page: Option<&str>, archived: bool) -> Result<JobPage, Failure> {
        let place = self.parse_page(page)?;
        let JobPage { jobs, next } = place.account.list_jobs(place.token, archived).await?;
        let next = place.next_page_name(next);
        Ok(JobPage { jobs, next })
    }

    async fn read_job_activities(&self, id: &str) -> Result<Option<Vec<JobActivity>>, Failure> {
        match self.find_job(id).await? {
            Some((_, account)) => account.read_job_activities(id).await,
            None => Ok(None),
        }
    }

    async fn send_message(&self, id: &str, text: &str) -> Result<(), Failure> {
        self.account_of_job(id).await?.send_message(id, text).await
    }

    async fn approve_job_plan(&self, id: &str) -> Result<(), Failure> {
        self.account_of_job(id).await?.approve_job_plan(id).await
    }

    async fn archive_job(&self, id: &str) -> Result<(), Failure> {
        self.account_of_job(id).await?.archive_job(id).await
    }

    async fn list_sources(&self, page: Option<&str>) -> Result<SourcePage, Failure> {
        let place = self.parse_page(page)?;
        let SourcePage { sources, next } = place.account.list_sources(place.token).await?;
        let next = place.next_page_name(next);
        Ok(SourcePage { sources, next })
    }
}
