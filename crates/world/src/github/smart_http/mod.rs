//! Git over smart HTTP: fetching and pushing with the real git.
//!
//! A repository of the model is kept on disk as a bare one, brought up to date before each request, and served by
//! `git upload-pack` and `git receive-pack`; what a push leaves there is taken back into the model. All of it happens
//! within one request to the world, so that no other write can come between.

mod admission;
mod git;
mod intake;
mod refused;
mod report;
mod request;
mod serve;
mod shelf;

pub(crate) use request::service_of;
pub(crate) use shelf::Shelves;
