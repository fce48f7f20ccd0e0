//! Google's Jules over its REST API `v1alpha`.
//!
//! | file | question it answers |
//! |---|---|
//! | [`routes`] | which methods does the API have? |
//! | [`client`] | how is one of them called? |
//! | [`wire`] | what does it send and answer? |
//! | [`key`], [`api_url`] | with which credential, and where? |
//! | [`error`], [`retry`] | what does a failure mean, and is it tried again? |
//! | [`listing`], [`activities`] | how are long lists read safely? |
//! | [`listing_cache`] | how do many repositories share one listing a minute? |
//! | [`port`] | how does the runtime see it? |
//! | [`account`] | how do jobs read and steer sessions of any repository? |
//! | [`sessions_api`] | how do MCP tools and commands use Jules directly? |
//!
//! The API is alpha and partly undocumented. Behaviour marked as seen was reported by users, and Google does not
//! promise it.

pub mod account;
mod account_listing;
pub mod activities;
mod activity_cache;
pub mod api_url;
pub mod client;
pub mod error;
pub mod key;
pub mod listing;
pub mod listing_cache;
mod patch;
pub mod port;
pub mod query;
mod recent;
pub mod retry;
pub mod routes;
pub mod sessions_api;
pub mod settings;
mod translate;
pub mod wire;

#[cfg(test)]
mod tests;

pub use crate::adapters::pause::{Pause, SystemPause};
pub use api_url::Base;
pub use client::Client;
pub use error::ApiError;
pub use key::JulesKey;
pub use port::RepositoryJules;
pub use query::PageQuery;
pub use settings::Settings;
