//! Google's Jules over its REST API `v1alpha`.
//!
//! | file | question it answers |
//! |---|---|
//! | [`routes`] | which methods does the API have? |
//! | [`client`] | how is one of them called? |
//! | [`wire`] | what does it send and answer? |
//! | [`key`], [`base`] | with which credential, and where? |
//! | [`error`], [`retry`] | what does a failure mean, and is it tried again? |
//! | [`listing`], [`activities`] | how are long lists read without believing too much? |
//! | [`listing_cache`] | how do many repositories get by with one listing a minute? |
//! | `verbatim.rs` | what does it answer to a request of one's own making? |
//! | [`port`] | how does the runtime see it? |
//! | [`account`] | how does it look to those who watch sessions of whatever repository? |
//! | [`hire`] | how does somebody see it who hires it by hand? |
//!
//! The API is alpha and partly undocumented; what is marked as seen was reported by its users, not promised.

pub mod account;
mod account_listing;
pub mod activities;
mod activity_cache;
pub mod base;
pub mod client;
pub mod error;
pub mod hire;
pub mod key;
pub mod listing;
pub mod listing_cache;
mod patch;
pub mod port;
pub mod query;
mod recent;
pub mod retry;
pub mod routes;
pub mod settings;
mod translate;
mod verbatim;
pub mod wire;

#[cfg(test)]
mod tests;

pub use crate::adapters::pause::{Pause, SystemPause};
pub use base::Base;
pub use client::Client;
pub use error::ApiError;
pub use key::JulesKey;
pub use port::RepositoryJules;
pub use query::PageQuery;
pub use settings::Settings;
