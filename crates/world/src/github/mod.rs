//! A model of GitHub: REST, GraphQL, webhooks and git over smart HTTP above real git objects in memory.
//!
//! [`Model`] gives typed access for tests and judges; `Model::handle_request` answers requests as
//! `api.github.com` does.

pub mod account;
mod acts;
pub(crate) mod bare_repository;
mod deliveries;
mod downloads;
mod graphql;
pub mod hook;
mod limit_replies;
mod limits;
mod model;
mod new_app;
pub mod node_id;
pub mod object;
pub mod objects;
mod render;
mod reply;
mod repo_id;
pub mod repository;
mod rest;
mod smart_http;
mod snapshots;

pub use account::{Access, Account, AccountKind, Identity, Role, TokenKind};
pub use acts::{ActError, LineRemark, MergeMethod};
pub use hook::{Delivery, DeliveryStatus};
pub use model::Model;
pub use new_app::{AppKey, NewApp};
pub use object::Oid;
pub use repo_id::RepoId;
pub use repository::{
    CheckOutput, CheckRemark, NewPull, Pull, Repository, State, TimelineEvent, TimelineKind,
    Verdict,
};
