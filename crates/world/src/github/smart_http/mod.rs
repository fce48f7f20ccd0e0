//! Git over smart HTTP: fetching and pushing with the real git.
//!
//! The model writes a repository to disk as a bare one before each request. `git upload-pack` and `git receive-pack`
//! serve it, and the model reads back what a push changed. All of it happens within one request to the world, so that
//! no other write can interfere.

mod admission;
mod bare_repositories;
mod git;
mod intake;
mod refusal;
mod report;
mod request;
mod serve;

pub(crate) use bare_repositories::BareRepositories;
pub(crate) use request::service_of;
