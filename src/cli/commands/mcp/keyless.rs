//! Jules where there is no key: who calls a tool that asks it hears so, and other tools do without.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use phileas_domain::engine::CreateFailure;

use crate::runtime::ports::hire::{Answer, Happening, HireJules, Job, JobPage, NewJob, SourcePage};
use crate::runtime::ports::{Disposition, Failure};

/// Answers everything with why there is no key. Copies share whether anything was asked.
#[derive(Debug, Clone)]
pub(super) struct Keyless {
    why: String,
    asked: Arc<AtomicBool>,
}

impl Keyless {
    pub(super) fn new(why: String) -> Self {
        Self {
            why,
            asked: Arc::default(),
        }
    }

    /// Whether a tool wanted Jules.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    fn denied(&self) -> Failure {
        self.asked.store(true, Ordering::Relaxed);
        Failure {
            disposition: Disposition::Denied,
            detail: self.why.clone(),
        }
    }

    fn no<T: Send + 'static>(&self) -> Answer<'_, Result<T, Failure>> {
        let failure = self.denied();
        Box::pin(async { Err(failure) })
    }
}

impl HireJules for Keyless {
    fn create(&self, _new: NewJob) -> Answer<'_, Result<Job, CreateFailure>> {
        let detail = self.denied().detail;
        Box::pin(async { Err(CreateFailure::Credential { detail }) })
    }

    fn job<'a>(&'a self, _id: &'a str) -> Answer<'a, Result<Option<Job>, Failure>> {
        self.no()
    }

    fn jobs<'a>(
        &'a self,
        _page: Option<&'a str>,
        _archived: bool,
    ) -> Answer<'a, Result<JobPage, Failure>> {
        self.no()
    }

    fn happenings<'a>(
        &'a self,
        _id: &'a str,
    ) -> Answer<'a, Result<Option<Vec<Happening>>, Failure>> {
        self.no()
    }

    fn say<'a>(&'a self, _id: &'a str, _text: &'a str) -> Answer<'a, Result<(), Failure>> {
        self.no()
    }

    fn approve<'a>(&'a self, _id: &'a str) -> Answer<'a, Result<(), Failure>> {
        self.no()
    }

    fn archive<'a>(&'a self, _id: &'a str) -> Answer<'a, Result<(), Failure>> {
        self.no()
    }

    fn sources<'a>(&'a self, _page: Option<&'a str>) -> Answer<'a, Result<SourcePage, Failure>> {
        self.no()
    }
}
