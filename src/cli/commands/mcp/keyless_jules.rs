//! Jules without a key: a tool that needs Jules reports the missing key, and other tools work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use phileas_domain::engine::CreateFailure;
use phileas_domain::jobs::AccountSession;

use crate::runtime::ports::sessions_api::{
    BoxedAnswer, JobActivity, JobPage, NewJob, SessionsApi, SourcePage,
};
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

    fn denied_answer<T: Send + 'static>(&self) -> BoxedAnswer<'_, Result<T, Failure>> {
        let failure = self.credential_failure();
        Box::pin(async { Err(failure) })
    }
}

impl SessionsApi for KeylessJules {
    fn create_job(&self, _new: NewJob) -> BoxedAnswer<'_, Result<AccountSession, CreateFailure>> {
        let detail = self.credential_failure().detail;
        Box::pin(async { Err(CreateFailure::Credential { detail }) })
    }

    fn read_job<'a>(
        &'a self,
        _id: &'a str,
    ) -> BoxedAnswer<'a, Result<Option<AccountSession>, Failure>> {
        self.denied_answer()
    }

    fn list_jobs<'a>(
        &'a self,
        _page: Option<&'a str>,
        _archived: bool,
    ) -> BoxedAnswer<'a, Result<JobPage, Failure>> {
        self.denied_answer()
    }

    fn read_job_activities<'a>(
        &'a self,
        _id: &'a str,
    ) -> BoxedAnswer<'a, Result<Option<Vec<JobActivity>>, Failure>> {
        self.denied_answer()
    }

    fn send_message<'a>(
        &'a self,
        _id: &'a str,
        _text: &'a str,
    ) -> BoxedAnswer<'a, Result<(), Failure>> {
        self.denied_answer()
    }

    fn approve_job_plan<'a>(&'a self, _id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>> {
        self.denied_answer()
    }

    fn archive_job<'a>(&'a self, _id: &'a str) -> BoxedAnswer<'a, Result<(), Failure>> {
        self.denied_answer()
    }

    fn list_sources<'a>(
        &'a self,
        _page: Option<&'a str>,
    ) -> BoxedAnswer<'a, Result<SourcePage, Failure>> {
        self.denied_answer()
    }
}
