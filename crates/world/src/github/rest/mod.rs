//! REST as `api.github.com` answers it: routes, credentials, limits, paging, conditional requests.

mod actions;
mod apps;
mod auth;
mod call;
mod contents;
mod git;
mod handle;
mod issues;
mod manifests;
mod pulls;
mod repository;
mod routes;

pub(crate) use actions::checks_rollup;
pub(crate) use auth::RequiredAccess;
pub(crate) use call::{Call, Refusal, Reply};
pub(crate) use git::{from_base64, well_formed};
pub(crate) use issues::MAX_BODY;
