//! The open questions, one file a subject.

mod asker;
mod finding;
mod github;
mod jules;
mod shape;
mod write;

pub(crate) use asker::Services;
pub(crate) use finding::{Finding, fault_plan_toml};

/// Why the questions cannot be asked at all.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Asks all questions that reading answers, and with `write` those that need a session and a branch.
pub(crate) async fn ask_all(services: Services, write: bool) -> Result<Vec<Finding>, Error> {
    // First of all, so that a refused credential is known before anything is asked.
    let (repository, pulls) = services.observe().await?;
    let mut asker = asker::Prober::new(services);
    let mut findings = Vec::new();
    let listed = jules::probe_jules(&mut asker, &mut findings).await;
    github::probe_github(&mut asker, &listed, &pulls, &mut findings).await;
    if write {
        write::probe_writes(&mut asker, &repository, &mut findings).await;
    }
    Ok(findings)
}
