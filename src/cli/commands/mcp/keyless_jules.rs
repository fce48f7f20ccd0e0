//! Jules without a key: a tool that needs Jules reports the missing key, and other tools work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use phileas_domain::engine::CreateFailure;
use phileas_domain::jobs::AccountSession;

use crate::runtime::ports::sessions_api::{JobActivity, JobPage, NewJob, SessionsApi, SourcePage};
use crate::runtime::ports::{Disposition, Failure};

/// Answers every call with the reason for the missing key. Copies share whether there was a call.
#[derive(Debug, Clone)]
pub(super) struct KeylessJules {
    why: String,
    called: Arc<AtomicBool>,
}

impl KeylessJules {
    pub(super) fn new(why: String) -> Self {
        Self {
            why,
            called: Arc::default(),
        }
    }

    /// Whether a tool has called Jules.
    pub(super) fn was_called(&self) -> bool {
        self.called.load(Ordering::Relaxed)
    }

    fn credential_failure(&self) -> Failure {
        self.called.store(true, Ordering::Relaxed);
        Failure {
            disposition: Disposition::Denied,
            detail: self.why.clone(),
        }
    }
}

#[async_trait]
impl SessionsApi for KeylessJules {
    async fn create_job(&self, _new: NewJob) -> Result<AccountSession, CreateFailure> {
        let detail = self.credential_failure().detail;
        Err(CreateFailure::Credential { detail })
    }

    async fn read_job(&self, _id: &str) -> Result<Option<AccountSession>, Failure> {
        Err(self.credential_failure())
    }

    async fn list_jobs(&self, _page: Option<&str>, _archived: bool) -> Result<JobPage, Failure> {
        Err(self.credential_failure())
    }

    async fn read_job_activities(&self, _id: &str) -> Result<Option<Vec<JobActivity>>, Failure> {
        Err(self.credential_failure())
    }

    async fn send_message(&self, _id: &str, _text: &str) -> Result<(), Failure> {
        Err(self.credential_failure())
    }

    async fn approve_job_plan(&self, _id: &str) -> Result<(), Failure> {
        Err(self.credential_failure())
    }

    async fn archive_job(&self, _id: &str) -> Result<(), Failure> {
        Err(self.credential_failure())
    }

    async fn list_sources(&self, _page: Option<&str>) -> Result<SourcePage, Failure> {
        Err(self.credential_failure())
    }
}
