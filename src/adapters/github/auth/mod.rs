//! Credentials: tokens, Apps and their installations, and what each may do.

pub mod account;
pub mod app;
pub(crate) mod conversion;
pub(crate) mod installation;
pub(crate) mod rights;
pub mod token;
pub(crate) mod token_source;
