//! Jules for the tools of a service: every key of its repositories, each for its own jobs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use phileas_domain::engine::CreateFailure;
use phileas_domain::jobs::AccountSession;
use phileas_domain::model::RepositoryName;

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
            let detail = "no repository of this service has a Jules key yet".to_owned();
            return Err(denied(detail));
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

    /// The accounts that a listing reads, each with its page. The name of a page is the accounts' own, by their keys'
    /// numbers; an account that has no further page is not in it.
    fn account_pages(
        &self,
        account_of: Option<&RepositoryName>,
        page: Option<&str>,
    ) -> Result<Vec<AccountPage>, Failure> {
        let keys = match account_of {
            Some(repository) => {
                let key = self.repositories.key_of(repository);
                let key = key.map_err(|no_key| denied(no_key.to_string()))?;
                BTreeMap::from([(key.number, key)])
            }
            None => self.distinct_keys()?,
        };
        let tokens: BTreeMap<u64, Option<String>> = match page {
            Some(page) => serde_json::from_str(page).map_err(|_| keys_changed())?,
            None => keys.keys().map(|number| (*number, None)).collect(),
        };
        let pages = tokens.into_iter().map(|(number, token)| {
            let key = keys.get(&number).ok_or_else(keys_changed)?;
            Ok(AccountPage {
                number,
                account: Arc::clone(&key.client) as Account,
                token,
            })
        });
        pages.collect()
    }
}

/// One page of one account.
struct AccountPage {
    /// The number of its key.
    number: u64,
    account: Account,
    token: Option<String>,
}

/// The name of the pages after these ones. `None`: all accounts are read.
fn next_page_name(pages: &[AccountPage], next: Vec<Option<String>>) -> Option<String> {
    let numbers = pages.iter().map(|page| page.number);
    let further: BTreeMap<u64, String> = numbers
        .zip(next)
        .filter_map(|(number, next)| Some((number, next?)))
        .collect();
    (!further.is_empty()).then(|| serde_json::json!(further).to_string())
}

fn denied(detail: String) -> Failure {
    Failure {
        disposition: Disposition::Denied,
        detail,
    }
}

fn keys_changed() -> Failure {
    Failure {
        disposition: Disposition::Refused,
        detail: "the keys of this service have changed meanwhile; list from the first page again"
            .to_owned(),
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

    async fn list_jobs(
        &self,
        account_of: Option<&RepositoryName>,
        page: Option<&str>,
        archived: bool,
    ) -> Result<JobPage, Failure> {
        let pages = self.account_pages(account_of, page)?;
        let reads = pages.iter().map(|page| {
            page.account
                .list_jobs(None, page.token.as_deref(), archived)
        });
        let (jobs, next): (Vec<_>, _) = try_join_all(reads)
            .await?
            .into_iter()
            .map(|read| (read.jobs, read.next))
            .unzip();
        Ok(JobPage {
            jobs: jobs.concat(),
            next: next_page_name(&pages, next),
            is_of_one_list: pages.len() == 1,
        })
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

    async fn list_sources(
        &self,
        account_of: Option<&RepositoryName>,
        page: Option<&str>,
    ) -> Result<SourcePage, Failure> {
        let pages = self.account_pages(account_of, page)?;
        let reads = pages
            .iter()
            .map(|page| page.account.list_sources(None, page.token.as_deref()));
        let (sources, next): (Vec<_>, _) = try_join_all(reads)
            .await?
            .into_iter()
            .map(|read| (read.sources, read.next))
            .unzip();
        Ok(SourcePage {
            sources: sources.concat(),
            next: next_page_name(&pages, next),
        })
    }
}
